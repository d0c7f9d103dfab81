"""The printed ladder table: its columns for one bot, and the columns that a narrow screen omits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from arena.cli.ladder.table import LEFT_OUT_FIRST, ladder_table
from arena.store.base.rows import LadderRow, LadderRows, LuckRow
from tests.cli.ladder_rows import HOUSE, NEW, NOON, SECOND, SETTLED, UNFITTED, ladder

QUICK = replace(SETTLED, think_95_us=12_300)
FIELD = ladder(QUICK, SECOND, HOUSE, NEW, UNFITTED)
LUCKY = replace(SETTLED, luck=LuckRow(matches=40, plain=12.34, plain_error=2.0, adjusted=10.06, adjusted_error=None))


def drawn(rows: LadderRows, width: int = 250) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(ladder_table(rows))
    return capture.get().splitlines()


def line(rows: LadderRows, bot: str, width: int = 250) -> str:
    (found,) = (text for text in drawn(rows, width) if bot in text and "│" in text)
    return " ".join(found.strip("│ ").split())


def test_a_line_has_all_that_is_known_of_a_bot() -> None:
    told = line(FIELD, "ann")
    assert told.startswith("1 1–2 ann ")
    for words in ("1700 ± 39 ", "one of 2: 100 % 400 12 150 38% 0.31 61.3 1.2 %", "12 ms", "1710 ▼ 3.2"):
        assert words in told
    assert "Bob & sons" in line(FIELD, "bob")


def test_bots_at_the_top_that_cannot_be_told_apart_share_a_rank_and_the_chance_of_being_best() -> None:
    first = [replace(SETTLED, rank=rank, bot=f"copy-{rank}", rank_high=4, best=0.3) for rank in (1, 2, 4)]
    new = replace(UNFITTED, rank=3, bot="fresh", owner="fresh")
    behind = replace(SETTLED, rank=5, bot="dan", rank_low=2, rank_high=6, best=0.07)
    unsure = replace(SETTLED, rank=6, bot="kim", rank_low=1, rank_high=6, best=0.03)
    rows = ladder(first[0], first[1], new, first[2], behind, unsure)
    assert [" ".join(line(rows, row.bot).split()[:1]) for row in rows.standings] == ["1", "1", "3", "1", "5", "6"]
    assert " one of 3: 90 % " in line(rows, "copy-1")
    assert " ″ " in line(rows, "copy-2")
    assert " ″ " in line(rows, "copy-4")
    assert " 7 % " in line(rows, "dan"), "dan is surely behind one of them, and ends the group"
    assert " 3 % " in line(rows, "kim")
    assert "rank 1 is shared by bots that the results cannot tell apart" in " ".join(" ".join(drawn(rows)).split())
    apart = ladder(replace(SETTLED, rank_high=1, best=0.98), replace(SECOND, rank_low=2, best=0.02))
    assert " 98 % " in line(apart, "ann")
    assert line(apart, "bob").startswith("2 2 bob")
    assert "shared" not in drawn(apart)[-1]


def test_what_is_not_known_is_not_made_up() -> None:
    told = line(FIELD, "zoe")
    assert "1480 ± 588?" in told
    assert told.count(" – ") == 3, "no P(best), no opponents, no think time"
    lines = drawn(FIELD)
    bottom = next(at for at, text in enumerate(lines) if text.startswith("╰"))
    caption = " ".join(" ".join(lines[bottom + 1 :]).split())
    assert "– not in the fit yet" in caption
    assert "all ratings together ± 29: 1500 is the house bots' mean" in caption
    assert "? provisional" in caption
    assert "⌂ house bot" in caption
    assert "up to event 812" in caption
    assert "event" not in drawn(ladder(SETTLED, through=None))[-1]
    assert "not fitted yet" in drawn(ladder(SETTLED, through=None))[-1]


def test_a_ladder_that_is_not_fitted_any_more_says_since_when_and_why() -> None:
    why = "the process that fits ladders failed (no answer for 15.0 s)"
    lines = drawn(replace(FIELD, not_fitted_since=NOON, not_fitted_reason=why))
    told = " ".join(" ".join(lines).split())
    assert f"newer results are not fitted since {NOON.astimezone():%d %b %H:%M:%S}: {why}" in told
    assert "not fitted since" not in " ".join(drawn(FIELD))


def test_provisional_bots_and_house_bots_are_marked() -> None:
    assert "± 235?" in line(FIELD, "eve")
    assert "?" not in line(FIELD, "ann")
    assert "house-careful ⌂" in line(FIELD, "house-careful")
    plain = drawn(ladder(SETTLED, SECOND))[-1]
    assert "provisional" not in plain
    assert "⌂" not in plain


@pytest.mark.parametrize("width", range(48, 200))
def test_no_line_is_wider_than_the_screen_and_what_matters_stays(width: int) -> None:
    lines = drawn(FIELD, width)
    assert max(map(len, lines)) <= width
    heading = lines[2]
    for name in ("#", "Ranks", "Bot", "Elo ± 95 %"):
        assert name in heading
    rows = [text for text in lines if text.startswith("│")][1:]
    assert len(rows) == len(FIELD.standings), "no line is folded"
    for row, text in zip(FIELD.standings, rows, strict=True):
        for words in (row.bot, f"{row.rating:.0f} ±", f"{row.rank_low}"):
            assert words in text


def test_the_wider_the_screen_the_more_columns_and_those_that_matter_first() -> None:
    names = [name for name in LEFT_OUT_FIRST if name != "intervals"]
    seen: set[str] = set()
    known = replace(FIELD, standings=(LUCKY, *FIELD.standings[1:]))
    for width in range(48, 240):
        heading = drawn(known, width)[2]
        there = {name for name in names if name in heading}
        assert seen <= there
        assert there == set(names[len(names) - len(there) :])
        seen = there
    assert seen == set(names)


def test_a_name_too_long_for_the_screen_is_folded_rather_than_cut() -> None:
    long = replace(SETTLED, bot="Ω" * 60)  # a letter that occurs in no heading or caption
    lines = drawn(ladder(long), 50)
    assert max(map(len, lines)) <= 50
    assert sum(text.count("Ω") for text in lines) == 60
    assert any("1700 ± 39" in text for text in lines)


def picture(rows: LadderRows, bot: str) -> str:
    at = drawn(rows)[2].index("Elo ± 95 %") + len("Elo ± 95 %")
    (found,) = (text for text in drawn(rows) if f" {bot} " in text)
    return found[at : drawn(rows)[2].index("P(best)")]


def test_intervals_overlap_in_the_picture_where_they_do() -> None:
    def columns(bot: str) -> set[int]:
        return {place for place, sign in enumerate(picture(FIELD, bot)) if sign in "━●○◂▸"}

    assert columns("ann") & columns("bob")
    assert not columns("ann") & columns("house-careful")
    assert picture(FIELD, "ann").index("●") > picture(FIELD, "bob").index("●")
    assert "○" in picture(FIELD, "eve"), "a provisional rating looks less firm"


def test_a_wide_interval_does_not_squeeze_the_others() -> None:
    assert "◂" in picture(FIELD, "zoe")
    assert "▸" in picture(FIELD, "zoe")
    assert "◂" not in picture(ladder(UNFITTED), "zoe"), "unless there is nothing else"


@pytest.mark.parametrize("row", [SETTLED, replace(SETTLED, deviation=0.0, rank_high=1, best=1.0)])
def test_one_bot_only(row: LadderRow) -> None:
    assert "ann" in line(ladder(row), "ann")
    assert "needs a second bot to compare with" in drawn(ladder(row))[-1]


def test_a_bot_that_wins_everything_is_not_said_to_be_surely_best() -> None:
    row = replace(SETTLED, wins=400, mean_rank=0.0, rank_high=1, best=0.9999)
    told = line(ladder(row, replace(SECOND, rank_low=2)), "ann")
    assert "400 100%" in told
    assert ">99 %" in told
    assert "<1 %" in line(FIELD, "eve")


def test_tables_of_one_size_show_only_what_is_of_these_tables() -> None:
    lines = drawn(ladder(SETTLED, SECOND, seats=4))
    assert lines[0].strip() == "Ladder of sixth_sense at tables of 4"
    for name in ("Wins", "Mean rank", "Forced", "Think 95 %", "Live"):
        assert name not in lines[2]
    assert "P(best)" in lines[2]
    assert "up to event 812" in lines[-1]


def test_mean_points_and_the_last_match_are_drawn_where_they_are_known() -> None:
    rows = ladder(SETTLED, replace(SECOND, mean_points=None, last_match=None))
    assert f" 0.31 61.3 1.2 % – {NOON.astimezone():%d %b %Y %H:%M} 1710 " in line(rows, "ann")
    assert " 0.31 – – – – 1710 " in line(rows, "bob")


@pytest.mark.parametrize(
    ("microseconds", "words"),
    [(0, "<1 µs"), (850, "850 µs"), (9_400, "9.4 ms"), (240_000, "240 ms"), (1_250_000, "1.2 s"), (61_000_000, "61 s")],
)
def test_think_times_are_in_a_unit_that_fits(microseconds: int, words: str) -> None:
    assert words in line(ladder(replace(SETTLED, think_95_us=microseconds), SECOND), "ann")


@pytest.mark.parametrize(("share", "words"), [(0.0, " 0 % "), (0.0004, " <0.1 % "), (0.25, " 25.0 % ")])
def test_forced_shares(share: float, words: str) -> None:
    assert words in line(ladder(replace(SETTLED, forced_share=share), SECOND), "ann")


def test_the_luck_of_the_deals_is_taken_off_where_it_is_known() -> None:
    known = ladder(LUCKY, SECOND)
    assert "12.3 ± 3.9 10.1" in line(known, "ann")
    assert any("without the luck of the deals" in text for text in drawn(known))
    assert not any("Luck-adjusted" in text for text in drawn(ladder(SETTLED, SECOND)))
