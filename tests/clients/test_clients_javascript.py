"""The JavaScript verifier, which shares no code with the server. It agrees with the test vectors and detects
forgeries.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import arena.log
import engine.deal
from arena.log.head import head_text
from arena.log.keys import Signer
from arena.replay.hash_chain import pack, with_chain
from arena.replay.record import encode
from engine.game import Game
from engine.nullern import NULLERN
from engine.registry import GAMES
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import forged, lines_of, objects_of, play, rated, restarted

VERIFIER: Final = Path(__file__).parents[2] / "clients" / "javascript" / "verify.mjs"
FIXTURES: Final = Path(__file__).parents[1] / "replay"
DEAL: Final = VERIFIER.with_name("deal.mjs")
LOG_VECTORS: Final = Path(arena.log.__file__).parent / "vectors.json"
VECTORS: Final = Path(engine.deal.__file__).parent / "deal_vectors.json"
PATIENCE: Final = 60

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here; .ci/run insists on it")


def node(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False)


def verified(tmp_path: Path, content: bytes) -> str:
    """Return the verifier's last output line about a file. An error line is returned without the file's name."""
    file = tmp_path / "match.jsonl.gz"
    file.write_bytes(content)
    ran = node(VERIFIER, file)
    if ran.returncode == 0:
        assert ran.stderr == ""
        return ran.stdout.rstrip("\n")
    assert (ran.returncode, ran.stdout) == (1, "")
    return ran.stderr.removeprefix(f"{file}: ").rstrip("\n")


def test_javascript_deals_as_the_published_vectors() -> None:
    program = """
        import { readFileSync } from "node:fs";
        const [shuffle, vectors] = process.argv.slice(1);
        const { deal, matchKey, roll } = await import(shuffle);
        const hex = (digits) => Buffer.from(digits, "hex");
        console.log(JSON.stringify(JSON.parse(readFileSync(vectors)).vectors.map(({ seed, nonces, decks, rolls }) => {
            const key = matchKey(hex(seed), nonces.map(hex));
            return [
                key.toString("hex"),
                ...decks.map(({ round, size }) => deal(key, round, size, size)),
                ...rolls.map(({ round, number, faces }) => roll(key, round, number, faces)),
            ];
        })));
    """
    ran = node("--input-type=module", "-e", program, DEAL.as_uri(), VECTORS)
    assert ran.returncode == 0, ran.stderr
    vectors = json.loads(VECTORS.read_text())["vectors"]
    assert json.loads(ran.stdout) == [
        [vector["match_key"], *(deck["deck"] for deck in vector["decks"]), *(roll["face"] for roll in vector["rolls"])]
        for vector in vectors
    ]


@pytest.mark.parametrize(
    ("game", "seats"),
    [(game, seats) for game in GAMES.values() for seats in game.seats],
    ids=lambda value: getattr(value, "name", value),
)
def test_javascript_verifies_a_match_of_any_size(game: Game, seats: int, tmp_path: Path) -> None:
    content = rated(seats, game=game)
    rounds = sum(line.get("out") == "round" for line in objects_of(content))
    assert verified(tmp_path, content) == (
        f"OK match 101: {len(lines_of(content))} lines, an unbroken chain; "
        f"the seed opens its commitment; {rounds} fair deals, and the result that follows; "
        "it is consistent; not shown: whether it is what was played (--receipts DIR)"
    )


@pytest.mark.parametrize("options", [{"novice": True}, {"late_trump": True}, {"target": 10}], ids=str)
def test_javascript_verifies_a_variant(options: dict[str, Any], tmp_path: Path) -> None:
    assert verified(tmp_path, rated(3, **options)).startswith("OK ")


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
def test_javascript_knows_whose_result_counts_under_either_rule(game: Game, tmp_path: Path) -> None:
    old = with_chain((FIXTURES / f"format_4_rule_1_{game.name}.jsonl.gz").read_bytes())
    files = [rated(3, game=game, chance=chance, stays_away=True) for chance in (1, 46, 49)]
    assert [verified(tmp_path, file)[:3] for file in files] == ["OK "] * 3
    content = next(file for file in files if True in objects_of(file)[-2]["spoilt"])  # type: ignore[operator]
    assert verified(tmp_path, old).startswith("OK ")
    for version in (2, 3):
        stored = (FIXTURES / f"format_{version}_{game.name}.jsonl.gz").read_bytes()
        assert verified(tmp_path, with_chain(stored)).startswith("OK ")
    for file, field in ((content, "counts"), (content, "spoilt"), (old, "counts")):
        objects: list[Any] = objects_of(file)
        for line in objects:
            if field in line:
                line[field] = [not each for each in line[field]]
        words = "the result counts for" if field == "counts" else "the seats spoilt are"
        assert words in verified(tmp_path, forged(objects))
    objects[0]["rating_rule"] = 3
    assert verified(tmp_path, forged(objects)) == "line 1: a rating rule that is not known here"


def test_javascript_verifies_a_match_in_which_a_stand_in_played_for_a_removed_house_bot(tmp_path: Path) -> None:
    assert verified(tmp_path, restarted("house-planner 2", (0,))).startswith("OK ")


def test_javascript_names_the_line_where_the_chain_is_broken(tmp_path: Path) -> None:
    lines = lines_of(rated())
    for number in (0, 7, len(lines) - 1):
        changed = lines[number].replace('"', " ", 1)
        content = pack([*lines[:number], changed, *lines[number + 1 :]])
        assert verified(tmp_path, content) == f"line {number + 1}: the chain is broken"
    assert verified(tmp_path, pack([*lines[:5], *lines[6:]])) == "line 6: the chain is broken"


def change_header(**fields: Any) -> Callable[[list[Any]], None]:
    return lambda objects: objects[0].update(fields)


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (change_header(seed="00" * 32), "the seed does not open the commitment"),
        (change_header(seed="00" * 31), "seed or nonces too short"),
        (change_header(nonces=["00" * 16] * 3), "seed or nonces too short"),
        (change_header(nonces=["11" * 16] * 4), "a house bot has a nonce"),
        (change_header(arena_replay=1), "not a replay of format 2 to 4 of a game known here"),
        (change_header(game="patience"), "not a replay of format 2 to 4 of a game known here"),
    ],
)
def test_javascript_refuses_a_header_that_proves_nothing(
    forge: Callable[[list[Any]], None], words: str, tmp_path: Path
) -> None:
    objects: list[Any] = objects_of(rated())
    forge(objects)
    assert verified(tmp_path, forged(objects)) == f"line 1: {words}"


def exchange_plays(line: dict[str, Any]) -> None:
    """Swap one card of each of two seats."""
    plays = line["plays"]
    plays[0], plays[1] = plays[1], plays[0]


def exchange_predictions(line: dict[str, Any]) -> None:
    line["predictions"] = line["predictions"][::-1]


@pytest.mark.parametrize(
    ("game", "forge", "words"),
    [
        (SIXTH_SENSE, exchange_plays, "seat 0 shows the cards "),
        (SIXTH_SENSE, exchange_predictions, "seat 0 shows the cards "),
        (SIXTH_SENSE, lambda line: line.update(turned=None), "the stock shows the cards "),
        (SIXTH_SENSE, lambda line: line.update(plays=line["plays"][:-1]), "seat "),
        (NULLERN, exchange_plays, "seat "),
        (NULLERN, lambda line: line.update(turned=(line["turned"] + 1) % 80), "the stock shows the cards "),
    ],
)
def test_javascript_names_the_round_that_was_not_dealt_so(
    game: Game, forge: Callable[[dict[str, Any]], None], words: str, tmp_path: Path
) -> None:
    """The forger has recomputed the chain."""
    objects: list[Any] = objects_of(rated(3, game=game))
    number = [at for at, line in enumerate(objects) if line.get("out") == "round"][2]
    forge(objects[number])
    said = verified(tmp_path, forged(objects))
    assert said.startswith(f"line {number + 1}: in round 3 {words}"), said


def test_javascript_finds_other_nonces_at_the_first_deal(tmp_path: Path) -> None:
    objects: list[Any] = objects_of(rated(errs=False))
    objects[0]["nonces"][2] = "11" * 16
    first = next(at for at, line in enumerate(objects, 1) if line.get("out") == "round")
    assert verified(tmp_path, forged(objects)).startswith(f"line {first}: in round 1 ")


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda line: line["points"].__setitem__(0, 99), "the scores after round 2 are "),
        (lambda line: line["scores"].__setitem__(0, 99), "the scores after round 2 are "),
    ],
)
def test_javascript_adds_up_the_points(
    game: Game, forge: Callable[[dict[str, Any]], None], words: str, tmp_path: Path
) -> None:
    objects: list[Any] = objects_of(rated(3, game=game))
    second, third = [at for at, line in enumerate(objects) if line.get("out") == "round"][1:3]
    forge(objects[second])
    assert verified(tmp_path, forged(objects)).startswith(f"line {third + 1}: {words}")


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
@pytest.mark.parametrize("where", ["over", "result"])
@pytest.mark.parametrize("field", ["scores", "places", "bots"])
def test_javascript_finds_a_result_that_does_not_follow(game: Game, where: str, field: str, tmp_path: Path) -> None:
    objects: list[Any] = objects_of(rated(3, game=game))
    number = next(at for at, line in enumerate(objects) if line.get("out") == where or where in line)
    if field not in objects[number]:
        return  # an effect contains no bot names
    objects[number][field][0] = "x" if field == "bots" else 99
    assert verified(tmp_path, forged(objects)).startswith(f"line {number + 1}: the {field} are ")


def test_javascript_verifies_an_interrupted_match_without_a_result(tmp_path: Path) -> None:
    header, entries = play(interrupted_after=60)
    assert verified(tmp_path, encode(header, entries)).startswith("OK match 101: ")


def test_javascript_agrees_with_the_vectors_of_the_log() -> None:
    program = """
        import { readFileSync } from "node:fs";
        const [receipts, vectors, others] = process.argv.slice(1);
        const { headSigned, keysOf, rootOf } = await import(receipts);
        const { leaves, heads, inclusion, keys } = JSON.parse(readFileSync(vectors));
        const named = leaves.map(({ leaf }) => leaf).filter((leaf) => JSON.parse(leaf).kind === "key");
        const both = keysOf(named), one = keysOf(named.slice(0, 1));
        console.log(JSON.stringify({
            log: both.log,
            keys: both.keys.map((key) => key.toString("hex")),
            signed: heads.map((head) => [headSigned(one, head), headSigned(both, head)]),
            others: JSON.parse(others).map((signature, at) => headSigned(both, { ...heads[at], signature })),
            roots: inclusion.map(({ number, size, proof }) => {
                return rootOf({ number, leaf: leaves[number - 1].leaf, head: { size }, proof });
            }),
        }));
    """
    vectors = json.loads(LOG_VECTORS.read_text())
    first, second = (Signer(bytes.fromhex(secret)) for secret in vectors["secrets"])
    texts = [head_text(vectors["log"], head["size"], bytes.fromhex(head["root"])) for head in vectors["heads"]]
    others = [
        signer.sign(text).hex() for signer, text in zip((second, second, first, first, first), texts, strict=True)
    ]
    library = VERIFIER.with_name("receipts.mjs").as_uri()
    ran = node("--input-type=module", "-e", program, library, LOG_VECTORS, json.dumps(others))
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert (said["log"], said["keys"]) == (vectors["log"], vectors["keys"])
    assert said["signed"] == [[True, True]] * 2 + [[False, True]] * 3
    assert said["others"] == [False] * 5, "signed by a key of another time"
    roots = {head["size"]: head["root"] for head in vectors["heads"]}
    assert said["roots"] == [roots[each["size"]] for each in vectors["inclusion"]]


def test_javascript_misses_a_round(tmp_path: Path) -> None:
    objects = objects_of(rated())
    first, second = [at for at, line in enumerate(objects) if line.get("out") == "round"][:2]
    del objects[first]
    assert verified(tmp_path, forged(objects)) == f"line {second}: a round is missing"


@pytest.mark.parametrize("content", [b"", b"cards", pack([])], ids=["empty", "text", "no lines"])
def test_javascript_refuses_what_is_no_replay(content: bytes, tmp_path: Path) -> None:
    assert not verified(tmp_path, content).startswith("OK")


def test_javascript_refuses_a_file_that_is_cut_off(tmp_path: Path) -> None:
    assert not verified(tmp_path, rated()[:-100]).startswith("OK")
    assert node(VERIFIER).returncode == 1


def test_javascript_verifier_needs_nothing_but_node() -> None:
    files = [*VERIFIER.parent.rglob("*.mjs")]
    imported = [line for file in files for line in file.read_text().splitlines() if line.startswith("import")]
    assert all(re.search(r'from "(node:\w+|\.\.?/\w+\.mjs)";$', line) for line in imported)


@pytest.mark.process
def test_it_is_a_package_with_a_command(tmp_path: Path) -> None:
    """The test packs and unpacks the verifier as npm does, and runs it by name and through its exports."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", tmp_path, VERIFIER.parent],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    ).stdout.split()[-1]
    package = tmp_path / "node_modules" / "arena-verifier"
    package.mkdir(parents=True)
    subprocess.run(["tar", "xzf", tmp_path / packed, "-C", package, "--strip-components=1"], check=True)
    described = json.loads((package / "package.json").read_text())
    command = package / described["bin"]["arena-verify"]
    command.chmod(0o755)  # as npm does
    replay = tmp_path / "match.jsonl.gz"
    replay.write_bytes(rated())
    ran = subprocess.run([command, replay], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    program = 'await import("arena-verifier/deal"); await import("arena-verifier/receipts")'
    words = ["node", "--input-type=module", "--eval", program]
    subprocess.run(words, cwd=tmp_path, timeout=PATIENCE, check=True)
