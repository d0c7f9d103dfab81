"""A dataset of decisions: a folder with one Parquet file for each game and table size, and an index, written last.

A row is a decision that a bot made itself: its view, its choice and the outcome. Rows are written and read a few
thousand at a time, so memory does not limit their number. Writing needs pyarrow. Reading also needs numpy.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.replay.replay import Replay
from arena.replay.steps import steps
from engine.game import Game
from engine.registry import GAMES

INDEX: Final = "dataset.json"
"""Name of the index of the files. A folder without it is incomplete."""
ROWS: Final = 4096
"""Number of rows written at once, and by default read at once."""
FORMAT: Final = 1


class DecisionRow(NamedTuple):
    """One decision."""

    match_id: int
    bot: str
    seat: int
    round: int
    """Number of the round, from 0."""
    decision: int
    """Number of the decision in the match, from 1."""
    features: bytes
    """The seat's observation, as described by `game.observation`: float32 in this machine's byte order."""
    mask: bytes
    """One byte for each action of the game, 1 if it was legal."""
    action: int
    points: int
    """The seat's points in the round."""
    place: int
    """Place in the match, 1 being the best."""


def decision_rows(replay: Replay, bot: str = "") -> Iterator[DecisionRow]:
    """Yield in order the decisions of a finished match that its bots made themselves. With `bot`, yield only that
    bot's.

    Choices of the server or a stand-in are left out. An interrupted match yields none, because it has no places.
    """
    header, places = replay.header, replay.result.places
    if not places:
        return
    made = steps(replay)
    names = [each.name for each in header.bots]
    points = {step.ended.round: step.ended.points for step in made if step.ended is not None}
    numbers = sum(field.size for field in header.game.observation(len(names)))
    for before, step in pairwise(made):
        choice = step.made
        if choice is None or choice.forced is not None or bot not in ("", names[choice.seat]):
            continue
        features = array("f", bytes(4 * numbers))
        before.state.vector_into(choice.seat, features)
        mask = bytearray(len(header.game.actions))
        for action in before.state.legal(choice.seat):
            mask[action] = 1
        yield DecisionRow(
            header.match_id,
            names[choice.seat],
            choice.seat,
            step.round,
            choice.decision,
            features.tobytes(),
            bytes(mask),
            choice.action,
            points[step.round][choice.seat],
            places[choice.seat],
        )


class DatasetError(ValueError):
    """Error of a folder that does not contain a complete dataset. The message names the folder and the problem."""


class DatasetWriter:
    """Writer of a dataset to a new folder. `close` completes the dataset."""

    def __init__(self, folder: Path, bot: str = "") -> None:
        """Write to a new or empty folder. With `bot`, write only that bot's decisions. Raises: DatasetError."""
        self._folder, self._bot = folder, bot
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise DatasetError(f"{folder} is not empty: name a folder for this dataset alone")
        except OSError as error:
            raise DatasetError(f"{folder} cannot be made: {error.strerror or error}") from error
        self._tables: dict[str, _TableWriter] = {}
        self.matches = 0

    @property
    def rows(self) -> int:
        """Number of decisions written so far."""
        return sum(table.rows for table in self._tables.values())

    def add(self, replay: Replay) -> None:
        """Add the decisions of a match."""
        game, seats = replay.header.game, len(replay.header.bots)
        name = f"{game.name}-{seats}"
        if name not in self._tables:
            self._tables[name] = _TableWriter(self._folder / f"{name}.parquet", game, seats)
        self._tables[name].add(decision_rows(replay, self._bot))
        self.matches += 1

    def close(self) -> None:
        """Finish the files, then write their index."""
        for table in self._tables.values():
            table.close()
        index = {
            "arena_dataset": FORMAT,
            "bot": self._bot,
            "matches": self.matches,
            "files": {table.file.name: table.rows for table in self._tables.values()},
        }
        whole = self._folder / INDEX
        started = whole.with_suffix(".tmp")
        started.write_text(json.dumps(index, indent=2) + "\n")
        started.replace(whole)


class _TableWriter:
    """The file of one game and table size."""

    def __init__(self, file: Path, game: Game, seats: int) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        self.file, self.rows = file, 0
        self._waiting: list[DecisionRow] = []
        fields = game.observation(seats)
        numbers = fields[-1].offset + fields[-1].size
        self._schema = pa.schema(
            {
                "match": pa.int64(),
                "bot": pa.string(),
                "seat": pa.int8(),
                "round": pa.int16(),
                "decision": pa.int32(),
                "features": pa.list_(pa.float32(), numbers),
                "mask": pa.list_(pa.uint8(), len(game.actions)),
                "action": pa.int16(),
                "points": pa.int16(),
                "place": pa.int8(),
            },
            metadata={"game": game.name, "seats": str(seats)},
        )
        self._writer = ParquetWriter(file, self._schema, compression="zstd", write_page_checksum=True)

    def add(self, rows: Iterable[DecisionRow]) -> None:
        for row in rows:
            self._waiting.append(row)
            self.rows += 1
            if len(self._waiting) == ROWS:
                self._write()

    def _write(self) -> None:
        import pyarrow as pa

        columns: list[Any] = []
        for field, values in zip(self._schema, zip(*self._waiting, strict=True), strict=True):
            if pa.types.is_fixed_size_list(field.type):
                flat = pa.Array.from_buffers(
                    field.type.value_type, len(values) * field.type.list_size, [None, pa.py_buffer(b"".join(values))]
                )
                columns.append(pa.FixedSizeListArray.from_arrays(flat, type=field.type))
            else:
                columns.append(pa.array(values, field.type))
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))
        self._waiting.clear()

    def close(self) -> None:
        if self._waiting:
            self._write()
        self._writer.close()


def dataset_files(folder: Path) -> dict[str, Path]:
    """Return the files of a dataset by game and seats, such as "nullern-4".

    Raises:
        DatasetError: the folder is not a dataset, or its index, a file or a row is missing.
    """
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import read_metadata

    if not folder.is_dir():
        raise DatasetError(f"{folder} is no dataset: there is no such folder")
    try:
        index = json.loads((folder / INDEX).read_text())
        if index["arena_dataset"] != FORMAT:
            raise DatasetError(
                f"{folder} is a dataset of format {index['arena_dataset']}, and this reads {FORMAT}: create it again"
            )
        files = {str(name): int(rows) for name, rows in index["files"].items()}
    except FileNotFoundError:
        raise _incomplete(folder, f"{INDEX}, which is written last, is missing") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, DatasetError):
            raise
        raise _incomplete(folder, f"{INDEX} cannot be read ({error})") from None
    for name, rows in files.items():
        try:
            found = read_metadata(folder / name).num_rows
        except FileNotFoundError:
            raise _incomplete(folder, f"{name} is missing") from None
        except (ArrowInvalid, OSError) as error:
            raise _incomplete(folder, f"{name} cannot be read ({error})") from None
        if found != rows:
            raise _incomplete(folder, f"{name} has {found} decisions of {rows}")
    return {name.removesuffix(".parquet"): folder / name for name in files}


def _incomplete(folder: Path, problem: str) -> DatasetError:
    return DatasetError(f"{folder} is incomplete: {problem}; create it again")


class DecisionBatch(NamedTuple):
    """Some decisions as numpy arrays, in the order of their matches."""

    features: Any
    """Observations [decisions, numbers], float32."""
    masks: Any
    """Legal actions [decisions, actions], uint8."""
    actions: Any
    """Chosen actions [decisions], int16."""
    points: Any
    """The seat's points in the round [decisions], int16."""
    places: Any
    """Place in the match [decisions], int8."""


def batches(folder: Path, table: str, size: int = ROWS) -> Iterator[DecisionBatch]:
    """Yield the decisions of a table, such as "nullern-4", in batches. The last batch may be smaller.

    Raises:
        DatasetError: as in `dataset_files`. Also for an unknown table, for observations or actions of another version
            of the game, and for damaged pages of a file.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    files = dataset_files(folder)
    if table not in files:
        raise DatasetError(f"{folder} has no decisions of {table!r}; it has {', '.join(sorted(files)) or 'none'}")
    name, _, seats = table.rpartition("-")
    widths = sum(field.size for field in GAMES[name].observation(int(seats))), len(GAMES[name].actions)
    with ParquetFile(files[table], page_checksum_verification=True) as file:
        found = tuple(file.schema_arrow.field(column).type.list_size for column in ("features", "mask"))
        if found != widths:
            raise DatasetError(
                f"{files[table]} has {found} features and actions, and {table} {widths}: create it again"
            )
        columns = ["features", "mask", "action", "points", "place"]
        try:
            for rows in file.iter_batches(size, columns=columns):
                wide = [rows[column].flatten().to_numpy().reshape(len(rows), -1) for column in columns[:2]]
                yield DecisionBatch(*wide, *(rows[column].to_numpy() for column in columns[2:]))
        except (ArrowException, OSError) as error:
            raise _incomplete(folder, f"{files[table].name} is damaged ({error})") from None
