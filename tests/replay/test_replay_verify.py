"""The verification finds every change in a replay and names the line."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import Console

from arena.ladder.live import RatingChange, update
from arena.match.effects import Over
from arena.match.inputs import Acted, Instant, StoodIn
from arena.replay.hash_chain import Chain, pack, with_chain
from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.render.show import show_match, show_round, show_step
from arena.replay.replay import RecordedRating, ReplayError
from arena.replay.steps import Course
from arena.replay.verify import verify
from engine.game import Game
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import changes, forged, lines_of, objects_of, play, rate, rated, restarted

WHOLE = rated(2, novice=True)
LINES = lines_of(WHOLE)
OBJECTS = objects_of(WHOLE)


@pytest.mark.parametrize("seats", range(2, 7))
def test_replay_of_any_number_of_seats_is_verified(seats: int) -> None:
    verdict = verify(read(rated(seats, chance=seats)), rate)
    assert verdict.verified
    assert verdict.ratings


@pytest.mark.parametrize("options", [{"novice": True}, {"target": 10}, {"late_trump": True}])
def test_replay_of_a_variant_is_verified(options: dict[str, Any]) -> None:
    assert verify(read(rated(3, **options)), rate).verified


def test_replay_of_an_unrated_or_interrupted_match_is_verified_without_ratings() -> None:
    for interrupted_after in (None, 0, 1, 50):
        header, entries = play(interrupted_after=interrupted_after)
        verdict = verify(read(encode(header, entries)), rate)
        assert verdict.verified
        assert not verdict.ratings


@pytest.mark.parametrize("seats", range(2, 5))
def test_replay_of_a_match_whose_bots_stayed_away_is_verified(seats: int) -> None:
    replay = read(rated(seats, stays_away=True))
    assert any(isinstance(event, StoodIn) for event in replay.inputs)
    assert verify(replay, rate).verified


def test_replay_of_a_match_whose_server_was_restarted_is_verified() -> None:
    assert verify(read(restarted()), rate).verified


@pytest.mark.parametrize(("field", "lie"), [("counts", [False] * 3), ("spoilt", [False] * 3)])
def test_replay_that_lets_a_result_count_for_others_is_found(field: str, lie: list[bool]) -> None:
    whole = rated(3, stays_away=True)
    objects: list[Any] = objects_of(whole)
    assert objects[-2][field] != lie
    objects[-2][field] = lie
    line, words = verdict_on(objects)
    assert line == len(objects) - 1
    assert f' in "{field}[' in words


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
def test_replay_from_before_spoilt_seats_is_verified_by_its_own_rule(game: Game) -> None:
    """The file is in the format of the servers of that time. If a seat is spoilt, the result counts only for the bots
    that vanished.
    """
    stored = with_chain((Path(__file__).parent / f"format_4_rule_1_{game.name}.jsonl.gz").read_bytes())
    replay = read(stored)
    assert (replay.version, replay.header.rating_rule) == (4, 1)
    assert sorted(replay.result.counts) == [False, True, True]
    assert replay.result.spoilt == ()
    assert verify(replay, rate).verified
    objects: list[Any] = objects_of(stored)
    objects[0]["rating_rule"] = 2
    for line in objects:
        if "counts" in line:
            line["spoilt"] = line["counts"]  # both bots were gone for a long time
    assert verify(read(forged(objects)), rate).difference is not None, "by the new rule others gain and lose"


def test_replay_under_the_new_rule_says_who_is_spoilt_and_under_the_old_one_does_not() -> None:
    objects: list[Any] = objects_of(rated(3, stays_away=True))
    del objects[-2]["spoilt"]
    with pytest.raises(ReplayError, match='"spoilt" is missing'):
        read(forged(objects))
    objects[0]["rating_rule"] = 1
    with pytest.raises(ReplayError, match='"spoilt" does not belong'):
        read(forged(objects))


def test_replay_says_which_pairs_were_beyond_their_quota_and_their_ratings_follow_from_it() -> None:
    header, entries = play(3)
    free = changes(entries)
    before = [change.before for change in free]
    over = next(effect for _, effects in entries for effect in effects if isinstance(effect, Over))
    after = update(before, over.places, [bot.name for bot in header.bots], beyond_quota=[(0, 2)])
    beyond = [(2,), (), (0,)]
    bound = [RatingChange(*each) for each in zip(before, after, beyond, strict=True)]
    objects: list[Any] = objects_of(encode(header, entries, bound))
    assert [each.get("beyond_quota") for each in objects[-1]["ratings"]] == [[2], None, [0]]
    assert verify(read(forged(objects)), rate).verified
    for change in objects[-1]["ratings"]:
        change.pop("beyond_quota", None)
    line, words = verdict_on(objects)
    assert line == len(objects)
    assert "ratings" in words
    objects[-1]["ratings"][0]["beyond_quota"] = [2]
    assert verify(read(forged(objects)), rate).difference is not None, "a pair is beyond it for both or for neither"
    for lie in (["2"], [], [0], [3], [2, 1], [2, 2]):
        objects[-1]["ratings"][0]["beyond_quota"] = lie
        with pytest.raises(ReplayError, match="beyond_quota"):
            read(forged(objects))


def test_replay_ratings_are_not_claimed_to_be_checked_when_they_were_not() -> None:
    assert not verify(read(WHOLE)).ratings
    assert verify(read(WHOLE), rate).ratings


def test_replay_records_what_comes_after_the_end() -> None:
    header, entries = play()
    match = read(encode(header, entries)).header.new_match()
    for event, _ in entries:
        match.receive(event)
    answer = Acted(Instant(10**12), 1, 2, 3)
    entries.append((answer, match.receive(answer)))
    assert objects_of(encode(header, entries))[-2]["why"] == "stale"
    assert verify(read(encode(header, entries, changes(entries))), rate).verified


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of every single value in a line."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, dict | list):
            yield from leaves(each)
        else:
            yield value, key


def altered(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return "something"


@pytest.mark.thorough
def test_replay_with_any_single_value_changed_is_refused_at_that_line() -> None:
    """The chain reveals the change. Strings are replaced with strings, so that each line remains JSON."""
    count = 0
    kinds = {str(line.get("in") or line.get("out") or next(iter(line))): number for number, line in enumerate(OBJECTS)}
    for number in (*range(4), *kinds.values()):
        for index in range(sum(1 for _ in leaves(OBJECTS[number]))):
            line = objects_of(forged([OBJECTS[number]]))[0]
            container, key = list(leaves(line))[index]
            container[key] = altered(container[key])
            text = lines_of(forged([line]))[0][:-76] + LINES[number][-76:]
            with pytest.raises(ReplayError) as caught:
                read(pack([*LINES[:number], text, *LINES[number + 1 :]]))
            assert caught.value.line == number + 1
            count += 1
    assert len(kinds) == 15
    assert count > 100


def test_replay_with_lines_removed_doubled_or_exchanged_is_refused() -> None:
    for number in (1, 7, len(LINES) // 2, len(LINES) - 3):
        for lines in (
            [*LINES[:number], *LINES[number + 1 :]],
            [*LINES[: number + 1], *LINES[number:]],
            [*LINES[:number], LINES[number + 1], LINES[number], *LINES[number + 2 :]],
        ):
            with pytest.raises(ReplayError, match="the chain is broken") as caught:
                read(pack(lines))
            assert caught.value.line in {number + 1, number + 2}


@pytest.mark.parametrize("cut", [1, 2, 3, 50, 200])
def test_replay_that_is_cut_off_after_a_whole_line_is_refused(cut: int) -> None:
    with pytest.raises(ReplayError, match="the file ends before"):
        read(pack(LINES[:-cut]))


def test_replay_with_a_chain_digit_changed_is_refused_at_that_line() -> None:
    wrong = LINES[5][:-3] + ("0" if LINES[5][-3] != "0" else "1") + LINES[5][-2:]
    with pytest.raises(ReplayError, match="line 6: the chain is broken"):
        read(pack([*LINES[:5], wrong, *LINES[6:]]))


# In the tests below the forger has recomputed the chain.


def first(kind: str, name: str, **fields: Any) -> int:
    return next(
        number
        for number, line in enumerate(OBJECTS)
        if line.get(kind) == name and all(line[key] == value for key, value in fields.items())
    )


def verdict_on(objects: list[dict[str, Any]]) -> tuple[int, str]:
    difference = verify(read(forged(objects)), rate).difference
    assert difference is not None
    return difference.line, difference.text


def test_replay_with_another_seed_does_not_open_the_commitment() -> None:
    objects = objects_of(WHOLE)
    objects[0]["seed"] = "00" * 32
    assert verdict_on(objects) == (1, "the seed does not open the commitment: SHA-256 gives another")


def test_replay_with_another_nonce_deals_other_cards() -> None:
    objects: list[Any] = objects_of(WHOLE)
    objects[0]["nonces"][0] = "11" * 16
    line, _ = verdict_on(objects)
    assert 1 < line < len(objects)


def test_replay_with_another_card_played_is_found_by_its_name_or_by_what_follows() -> None:
    objects = objects_of(WHOLE)
    number = first("in", "acted", decision=4)
    objects[number]["action"] = int(str(objects[number]["action"])) + 1
    line, words = verdict_on(objects)
    assert line == number + 1
    assert words.startswith("in acted: the file has ")
    assert ' in "name" where re-playing gives ' in words


@pytest.mark.parametrize(
    ("kind", "name", "field", "value"),
    [
        ("out", "round", "points", [9, 9]),
        ("out", "round", "scores", [9, 9]),
        ("out", "round", "takers", [0]),
        ("out", "round", "turned", 5),
        ("out", "forced", "action", 3),
        ("out", "forced", "why", "illegality"),
        ("out", "refused", "time", 12345678),
        ("out", "refused", "why", "unknown"),
        ("out", "over", "scores", [99, 0]),
        ("result", "finished", "scores", [99, 0]),
        ("result", "finished", "places", [1, 1]),
        ("result", "finished", "bots", ["bot-1", "bot-0"]),
    ],
)
def test_replay_with_a_consequence_changed_is_found(kind: str, name: str, field: str, value: object) -> None:
    objects = objects_of(WHOLE)
    number = first(kind, name)
    assert objects[number][field] != value
    objects[number][field] = value
    line, words = verdict_on(objects)
    assert line == number + 1
    assert f' in "{field}' in words
    assert '" where re-playing gives ' in words


@pytest.mark.parametrize("field", ["before", "before_deviation", "after", "after_deviation"])
def test_replay_with_a_rating_changed_is_found(field: str) -> None:
    objects: list[Any] = objects_of(WHOLE)
    objects[-1]["ratings"][1][field] += 1e-9
    line, words = verdict_on(objects)
    assert line == len(objects)
    assert ' in "ratings[' in words


def test_replay_with_ratings_that_no_ladder_has_is_found() -> None:
    objects: list[Any] = objects_of(WHOLE)
    objects[-1]["ratings"][1]["before_deviation"] = 0.0
    line, words = verdict_on(objects)
    assert line == len(objects)
    assert words.startswith("the ratings cannot be computed")


def test_replay_is_told_of_its_first_wrong_line_though_its_ratings_cannot_be_computed() -> None:
    objects: list[Any] = objects_of(WHOLE)
    objects[-2]["places"] = objects[-2]["scores"] = []
    line, words = verdict_on(objects)
    assert line == len(objects) - 1
    assert words.startswith('result: the file has [] in "scores" where re-playing gives [')


def garbage(rng: Random) -> Any:
    return rng.choice(
        [None, True, -1, 0, 3, 10**30, 1.5, "", "x", [], [0], [10**30], {}, "time", [["x"] * 3], {"a": [1]}]
    )


@pytest.mark.parametrize(
    ("whole", "seed"),
    [(WHOLE, seed) for seed in range(12)] + [(rated(2, game=NULLERN), seed) for seed in range(4)],
    ids=[*(f"sixth_sense-{seed}" for seed in range(12)), *(f"nullern-{seed}" for seed in range(4))],
)
@pytest.mark.thorough
def test_replay_with_garbage_anywhere_is_a_replay_error_or_a_verdict_and_nothing_else(whole: bytes, seed: int) -> None:
    rng = Random(seed)
    console, verdicts = Console(quiet=True), set()
    for _ in range(8):
        objects: list[Any] = objects_of(whole)
        number = rng.choice([0, len(objects) - 1, len(objects) - 2, rng.randrange(len(objects))])
        container, key = rng.choice(
            list(leaves(objects[number])) + [(objects[number], each) for each in objects[number]]
        )
        container[key] = garbage(rng)
        try:
            replay = read(forged(objects))
        except ReplayError as error:
            verdicts.add(error.line)
        else:
            verdicts.add(verify(replay, rate).verified)
            course = Course(replay)
            console.print(show_match(course), show_step(course, -1), show_round(course))
    assert len(verdicts) > 1


def test_replay_with_a_line_left_out_or_added_is_found() -> None:
    number = first("out", "forced")
    objects = objects_of(WHOLE)
    del objects[number]
    line, words = verdict_on(objects)
    assert line == number + 1
    assert 'where re-playing gives "out forced" (seat ' in words

    objects = objects_of(WHOLE)
    objects.insert(number, objects[number])
    assert verdict_on(objects)[0] == number + 2


def test_replay_whose_inputs_do_not_reach_the_end_is_found() -> None:
    objects = [*OBJECTS[:20], *OBJECTS[-2:]]
    line, words = verdict_on(objects)
    assert line == 21
    assert words.startswith('the file goes on with "result" (bots ["bot-0", "bot-1"]')


def test_replay_that_is_over_but_says_less_is_found() -> None:
    header, entries = play(2)
    objects = objects_of(encode(header, entries))
    del objects[-2]
    line, words = verdict_on(objects)
    assert line == len(objects)
    assert words.startswith('the file has "result" (bots')


def test_replay_rewritten_in_another_style_is_not_what_was_played() -> None:
    spaced = [text[:-76].replace(",", ", ") + "}" for text in LINES]
    difference = verify(read(pack(map(Chain().line, spaced))), rate).difference
    assert difference is not None
    assert difference.line == 1
    assert "the same is written differently" in difference.text


def test_replay_verdict_tells_what_was_played() -> None:
    verdict = verify(read(WHOLE, "match-101"), rate)
    assert verdict.source == "match-101"
    assert verdict.lines == len(LINES)
    assert verdict.inputs == sum("in" in line for line in OBJECTS)
    assert list(verdict.result.scores) == OBJECTS[-2]["scores"]


def test_replay_rating_function_sees_ratings_places_and_names() -> None:
    seen: list[Any] = []

    def spy(before: Any, places: Any, bots: Any, counts: Any, spoilt: Any, beyond: Any) -> list[RecordedRating]:
        seen.append((list(before), places, bots))
        return rate(before, places, bots, counts, spoilt, beyond)

    verify(read(WHOLE), spy)
    assert seen[0][0][1] == RecordedRating(1510.0, 149.0)
    assert seen[0][2] == ["bot-0", "bot-1"]
