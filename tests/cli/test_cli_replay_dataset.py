"""`arena replay dataset`: datasets from games of `arena match` and from a server's matches, and reading them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from arena.analysis.dataset import INDEX, ROWS, DatasetError, DatasetWriter, batches, dataset_files
from arena.local.ask.asking import own_decisions
from arena.replay.read import read
from engine.registry import GAMES
from tests.cli.cli_rig import arena, shown


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with four two-player games of Nullern."""
    folder = tmp_path_factory.mktemp("games")
    match = ("match", "house:counter", "house:careful", "--game", "nullern", "--seats", 2, "--seed", 5, "--sets", 2)
    shown(*match, "--concurrency", 1, "--replays", folder)
    assert len([*folder.glob("*.jsonl.gz")]) == 4
    return folder


@pytest.fixture(scope="module")
def dataset(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dataset") / "out"
    document = json.loads(shown("replay", "dataset", games, "--out", out, "--json"))
    assert document == {
        "out": str(out),
        "matches": 4,
        "decisions": 4 * 2 * 121,
        "files": [str(out / "nullern-2.parquet")],
    }
    return out


def test_every_decision_is_there_as_it_was_made(games: Path, dataset: Path) -> None:
    rows = {
        (row["match"], row["decision"]): row for row in parquet.read_table(dataset / "nullern-2.parquet").to_pylist()
    }
    fields = {field.name: field for field in GAMES["nullern"].observation(2)}
    checked = 0
    for file in games.glob("*.jsonl.gz"):
        replay = read(file)
        decisions, reports = own_decisions(replay)
        for each in decisions:
            row, ask = rows[replay.header.match_id, each.ask.decision], each.ask
            assert (row["bot"], row["seat"]) == (replay.header.bots[ask.seat].name, ask.seat)
            assert (row["round"], row["action"]) == (each.round, each.action)
            assert [action for action, legal in enumerate(row["mask"]) if legal] == [*ask.legal]
            held = row["features"][fields["hand"].offset : fields["hand"].offset + fields["hand"].size]
            assert [card for card, number in enumerate(held) if number] == [*ask.view._asdict()["hand"]]
            assert row["points"] == reports[each.round].points[ask.seat]
            assert row["place"] == replay.result.places[ask.seat]
            checked += 1
    assert checked == len(rows)


def test_it_is_read_in_batches_of_any_size(dataset: Path) -> None:
    sizes = []
    for batch in batches(dataset, "nullern-2", 100):
        sizes.append(len(batch.actions))
        assert batch.features.shape == (sizes[-1], 657)
        assert batch.features.dtype == np.float32
        assert (batch.masks[np.arange(sizes[-1]), batch.actions] == 1).all()
        assert set(np.unique(batch.masks)) <= {0, 1}
        assert ((batch.points >= 0) & (batch.points <= 20)).all()
        assert set(np.unique(batch.places)) <= {1, 2}
    assert sizes == [100] * 9 + [68]
    (whole,) = batches(dataset, "nullern-2")
    rows = parquet.read_table(dataset / "nullern-2.parquet")
    assert whole.features.tolist() == rows["features"].to_pylist()
    assert [each.tolist() for each in whole[2:]] == [rows[name].to_pylist() for name in ("action", "points", "place")]


def test_only_what_is_asked_for(games: Path, tmp_path: Path) -> None:
    def made(name: str, *words: object) -> tuple[int, int]:
        document = json.loads(shown("replay", "dataset", games, "--out", tmp_path / name, "--json", *words))
        return document["matches"], document["decisions"]

    assert made("bot", "--bot", "house:counter") == (4, 4 * 121)
    assert made("nobody", "--bot", "nobody") == (0, 0)
    assert made("game", "--game", "sixth_sense") == (0, 0)
    assert made("late", "--since", "2999-01-01") == (0, 0)
    assert made("early", "--since", "2001-01-01") == (4, 4 * 2 * 121)
    assert set(parquet.read_table(tmp_path / "bot" / "nullern-2.parquet")["bot"].to_pylist()) == {"house:counter"}
    assert dataset_files(tmp_path / "nobody") == {}


@pytest.mark.process
def test_matches_of_a_server_and_of_its_directory(source: tuple[str, str], tmp_path: Path) -> None:
    text = shown("replay", "dataset", *source, "--game", "sixth_sense", "--out", tmp_path / "out")
    assert re.search(r"out: \d+ decisions of 3 matches in 1 files", text)
    table = parquet.read_table(tmp_path / "out" / "sixth_sense-3.parquet")
    assert len(set(table["match"].to_pylist())) == 3
    assert set(table["place"].to_pylist()) <= {1, 2, 3}
    none = shown("replay", "dataset", *source, "--since", "2999-01-01", "--out", tmp_path / "none")
    assert "0 decisions of 0 matches in 0 files" in none


def test_many_rows_are_written_some_at_a_time(games: Path, tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "many")
    replay = read(next(iter(games.glob("*.jsonl.gz"))))
    matches = ROWS // 242 + 2
    for _ in range(matches):
        writer.add(replay)
        assert all(len(table._waiting) < ROWS for table in writer._tables.values())
    with pytest.raises(DatasetError, match=r"incomplete: dataset\.json, which is written last, is missing"):
        dataset_files(tmp_path / "many")
    writer.close()
    file = parquet.ParquetFile(dataset_files(tmp_path / "many")["nullern-2"])
    assert file.num_row_groups == 2
    assert file.metadata.num_rows == writer.rows == matches * 242
    assert file.schema_arrow.field("features").type == pa.list_(pa.float32(), 657)


def test_a_torn_dataset_is_named(dataset: Path, tmp_path: Path) -> None:
    def torn(words: str) -> None:
        with pytest.raises(DatasetError, match=words):
            dataset_files(folder)

    folder = tmp_path / "torn"
    torn("there is no such folder")
    folder.mkdir()
    index, rows = (dataset / INDEX).read_text(), (dataset / "nullern-2.parquet").read_bytes()
    (folder / INDEX).write_text(index[:-20])
    torn("dataset.json cannot be read")
    (folder / INDEX).write_text(index)
    torn("nullern-2.parquet is missing")
    (folder / "nullern-2.parquet").write_bytes(rows[:-100])
    torn("nullern-2.parquet cannot be read")
    (folder / "nullern-2.parquet").write_bytes(rows)
    assert [*dataset_files(folder)] == ["nullern-2"]
    (folder / INDEX).write_text(index.replace("968", "969"))
    torn("has 968 decisions of 969")
    (folder / INDEX).write_text(index.replace('"arena_dataset": 1', '"arena_dataset": 2'))
    torn("a dataset of format 2, and this reads 1: create it again")


def test_a_table_that_is_not_there_or_whose_pages_are_damaged_is_named(dataset: Path, tmp_path: Path) -> None:
    def refused(words: str) -> None:
        with pytest.raises(DatasetError, match=words):
            [*batches(folder, table)]

    folder, table = dataset, "nullern-4"
    refused("no decisions of 'nullern-4'; it has nullern-2")
    folder, table = tmp_path / "damaged", "nullern-2"
    shutil.copytree(dataset, folder)
    file = folder / "nullern-2.parquet"
    damaged = bytearray(file.read_bytes())
    for place in range(200, len(damaged) // 2, 50):
        damaged[place] ^= 255
    file.write_bytes(damaged)
    assert [*dataset_files(folder)] == ["nullern-2"], "the file's own list of its pages stands at its end"
    refused("nullern-2.parquet is damaged")
    narrow = pa.table({"features": pa.array([[0.0]] * 968, pa.list_(pa.float32(), 1)), "mask": [[1]] * 968})
    parquet.write_table(narrow.set_column(1, "mask", pa.array([[1]] * 968, pa.list_(pa.uint8(), 1))), file)
    refused(r"has \(1, 1\) features and actions, and nullern-2 \(657, 92\): create it again")


def test_what_cannot_be_written_or_read_is_said(games: Path, dataset: Path, tmp_path: Path) -> None:
    full = arena("replay", "dataset", games, "--out", dataset)
    assert full.exit_code == 1
    assert "is not empty: name a folder for this dataset alone" in full.output
    file = tmp_path / "file"
    file.write_text("")
    assert "cannot be made" in arena("replay", "dataset", games, "--out", file).output
    assert "no replays in it" in arena("replay", "dataset", tmp_path, "--out", tmp_path / "out").output
    assert arena("replay", "dataset", games).exit_code == 2
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no replay")
    bad = arena("replay", "dataset", tmp_path / "bad.jsonl.gz", "--out", tmp_path / "other")
    assert bad.exit_code == 1
    assert "bad.jsonl.gz" in bad.output
