"""Published ladders follow bit for bit from their events. Live ratings are rebased on them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Connection, select, update

from arena.ladder.events import Entrant, Node
from arena.ladder.ladder import Ladder
from arena.ladder.live import Rating, replayed_since
from arena.store import schema
from arena.store.base.rows import instant
from arena.store.bots.bots import BotId, ensure_house_bots
from arena.store.ladder import events
from arena.store.ladder.fits import Fits, recomputed
from arena.store.ladder.publishing import as_published, publish, through
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.ladder.standings import current, of_tables, standings
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, finish


def play(connection: Connection, chance: Random, players: list[BotId], count: int) -> list[int]:
    """Store matches of two to four bots, some of which sometimes change their version."""
    played = []
    for _ in range(count):
        seated = chance.sample(players, chance.randint(2, 4))
        said = [chance.choice(["1", "2"]) if bot % 3 else "" for bot in seated]
        points = [chance.gauss(bot, 4) // 2 for bot in seated]
        match_id = matches.begin(connection, GAME, {}, seated, NOW, said=said)
        finish(connection, match_id, [1 + sum(other > own for other in points) for own in points])
        played.append(int(match_id))
    return played


def live(connection: Connection) -> dict[Node, Rating]:
    rows = connection.execute(select(schema.ratings).where(schema.ratings.c.ladder == GAME))
    return {row.node: Rating(row.rating, row.deviation) for row in rows}


def seated_live(connection: Connection) -> dict[Node, Rating]:
    """Compute the live ratings from the published ladder and the later events."""
    ladder = as_published(connection, GAME)
    assert ladder is not None
    versions = connection.execute(select(schema.versions.c.id, schema.versions.c.parent))
    entrants = [Entrant(row.id, row.parent) for row in versions]
    return replayed_since(ladder, entrants, events.read(connection, GAME))


def published(connection: Connection) -> Ladder:
    ladder = as_published(connection, GAME)
    assert ladder is not None
    return ladder


@pytest.fixture
def played(data: Path) -> Path:
    with open_to_amend(data) as connection:
        players = add_bots(connection, *(f"bot{number}" for number in range(6)))
        play(connection, Random(1), players, 60)
    return data


def test_a_ladder_is_kept_bit_for_bit(played: Path) -> None:
    with open_to_amend(played) as connection:
        never = current(connection, GAME, GAME)
        assert (as_published(connection, GAME), through(connection, GAME)) == (None, 0)
        assert (never.through, never.digest, never.published) == (None, "", None)
        ladder = Fits().ladder(connection, GAME)
        assert publish(connection, GAME, ladder, NOW)
    with open_readonly(played) as connection:
        assert as_published(connection, GAME) == ladder
        assert ladder == recomputed(connection, GAME, 60)
        made = current(connection, GAME, GAME)
        assert (made.through, made.digest, made.published) == (60, ladder.digest, instant(NOW))
        assert made.standings == standings(connection, GAME)


def test_the_scale_stays_where_it_is_when_a_house_bot_that_searches_comes_to_a_ladder(data: Path) -> None:
    """The bot beats all others, so it would raise the house bots' mean and lower all other ratings."""
    with open_to_amend(data) as connection:
        careful, planner, search = [
            bot.id for bot in ensure_house_bots(connection, ["house-careful", "house-planner", "house-search"], NOW)
        ]
        guests, chance = add_bots(connection, "Ada", "Bob", "Cleo"), Random(1)

        def rated(players: list[BotId], count: int) -> None:
            for _ in range(count):
                match_id = matches.begin(connection, GAME, {}, chance.sample(players, 2), NOW)
                finish(connection, match_id, chance.sample([1, 2], 2))

        def ratings() -> dict[str, float]:
            assert publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
            return {row.bot: row.rating for row in standings(connection, GAME)}

        rated([careful, planner, *guests], 400)
        before = ratings()
        for guest in guests * 20:
            finish(connection, matches.begin(connection, GAME, {}, [search, guest], NOW), [1, 2])
        after = ratings()
    assert after["house-search"] > 1650
    assert before["house-careful"] + before["house-planner"] == pytest.approx(3000, abs=20)
    for name, rating in before.items():
        assert after[name] == pytest.approx(rating, abs=20), name


def test_each_bot_stands_on_the_ladder_once(played: Path) -> None:
    with open_to_amend(played) as connection:
        ladder = Fits().ladder(connection, GAME)
        publish(connection, GAME, ladder, NOW)
        lines = standings(connection, GAME)
    assert sorted(line.bot for line in lines) == [f"bot{number}" for number in range(6)]
    assert len(ladder.figures) > len(ladder.lines) == 6
    assert [(line.rating, line.deviation, line.rank, line.rank_low, line.rank_high, line.best) for line in lines] == [
        (line.shrunk, line.shrunk_error, line.rank, line.rank_low, line.rank_high, line.best) for line in ladder.lines
    ]
    assert [(line.fitted, line.fitted_deviation) for line in lines] == [
        (line.rating, line.error) for line in ladder.lines
    ]
    assert [line.rating for line in lines] == sorted((line.rating for line in lines), reverse=True)


def test_moved_on_are_seated_on_the_fit_and_go_on_from_it(played: Path) -> None:
    with open_to_amend(played) as connection:
        ladder = Fits().ladder(connection, GAME)
        players = list(connection.scalars(select(schema.bots.c.id)))
        chance = Random(2)
        play(connection, chance, players, 10)  # during the fit
        publish(connection, GAME, ladder, NOW)
        assert live(connection) == seated_live(connection)
        play(connection, chance, [*players, *add_bots(connection, "new", "newer")], 30)
        assert live(connection) == seated_live(connection), "every match goes on from there"
        publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        ratings = {
            figure.node: Rating(figure.rating, figure.error) for figure in Fits().ladder(connection, GAME).figures
        }
        assert live(connection) == ratings


def test_a_fit_that_comes_too_late_is_not_published(played: Path) -> None:
    with open_to_amend(played) as connection:
        older = recomputed(connection, GAME, 30)
        newer = recomputed(connection, GAME, 60)
        assert publish(connection, GAME, newer, NOW)
        assert not publish(connection, GAME, older, NOW)
        assert as_published(connection, GAME) == newer


def test_fits_go_on_where_they_were(played: Path) -> None:
    fits = Fits()
    with open_to_amend(played) as connection:
        fits.ladder(connection, GAME)
        more = play(connection, Random(3), list(connection.scalars(select(schema.bots.c.id))), 20)
        matches.void(connection, more[3], "a test", NOW)
        matches.void(connection, 5, "a test", NOW)
        assert fits.ladder(connection, GAME) == recomputed(connection, GAME, 82) == Fits().ladder(connection, GAME)
        small = fits.ladder(connection, GAME, seats=2)
        assert 0 < sum(figure.matches for figure in small.figures) < 80
        rows = of_tables(connection, GAME, GAME, 2, small)
        assert [row.matches for row in rows.standings] == [line.matches for line in small.lines]
        assert (rows.seats, rows.through, rows.digest, rows.published) == (2, 82, small.digest, None)


def test_a_bot_whose_only_result_is_void_is_not_on_the_ladder(played: Path) -> None:
    with open_to_amend(played) as connection:
        newcomers = add_bots(connection, "Ada", "Bob")
        (match_id,) = play(connection, Random(4), newcomers * 2, 1)
        matches.void(connection, match_id, "a test", NOW)
        ladder = Fits().ladder(connection, GAME)
        publish(connection, GAME, ladder, NOW)
        assert {line.bot for line in standings(connection, GAME)} == {f"bot{number}" for number in range(6)}
        assert len(ladder.lines) == 6


def test_who_is_not_in_the_fit_yet_stands_where_its_live_rating_shrunk_like_all_puts_it(played: Path) -> None:
    with open_to_amend(played) as connection:
        publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        field = published(connection).field
        ada, bob = add_bots(connection, "Ada", "Bob")
        finish(connection, matches.begin(connection, GAME, {}, [ada, bob], NOW), [1, 2])
        lines = standings(connection, GAME)
    assert [line.rating for line in lines] == sorted((line.rating for line in lines), reverse=True)
    assert [line.rank for line in lines] == [*range(1, 9)]
    first, second = (line for line in lines if line.best is None)
    assert 1 < first.rank < second.rank < 8, "neither above all others by one win nor below them"
    for line in (first, second):
        assert (line.rank_low, line.rank_high, line.provisional, line.fitted) == (1, 8, True, None)
        kept = field.spread**2 / (field.spread**2 + line.live_deviation**2)
        assert line.rating == pytest.approx(field.centre + kept * (line.live - field.centre))
        assert line.deviation == pytest.approx(kept**0.5 * line.live_deviation)
    assert all(line.rank_low <= line.rank <= line.rank_high for line in lines)
    assert max(line.rank_high for line in lines if line.best is not None) == 8, "who is new may be ahead"


def test_before_the_first_fit_live_ratings_are_shown(played: Path) -> None:
    with open_readonly(played) as connection:
        lines = standings(connection, GAME)
    assert [(line.rating, line.deviation) for line in lines] == [(line.live, line.live_deviation) for line in lines]
    assert all(line.provisional for line in lines)


def test_between_fits_what_is_shown_moves_with_the_live_rating_as_much_as_it_is_shrunk(played: Path) -> None:
    with open_to_amend(played) as connection:
        publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        before = {line.bot: line for line in standings(connection, GAME)}
        last = min(before.values(), key=lambda line: line.rating)
        bots = {row.name: row.id for row in connection.execute(select(schema.bots))}
        others = [bots[name] for name in before if name != last.bot]
        for _ in range(25):
            said = [last.version, *(before[name].version for name in before if name != last.bot)][:4]
            table = [bots[last.bot], *others[:3]]
            finish(connection, matches.begin(connection, GAME, {}, table, NOW, said=said), [1, 2, 3, 4])
        after = standings(connection, GAME)
    moved = next(line for line in after if line.bot == last.bot)
    assert last.fitted_deviation is not None
    kept = (last.deviation / last.fitted_deviation) ** 2
    assert 0.05 < kept < 0.98
    assert moved.fitted == last.fitted, "the fit is as it was"
    assert moved.rating - last.rating == pytest.approx(kept * (moved.live - last.live))
    assert moved.rating > last.rating + 5
    assert moved.rank < last.rank
    assert moved.rank_low <= moved.rank <= moved.rank_high
    assert [line.rating for line in after] == sorted((line.rating for line in after), reverse=True)


def test_nobody_is_provisional_for_want_of_opponents_that_there_are_not(data: Path) -> None:
    def marked(connection: Connection) -> set[str]:
        publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        return {line.bot for line in standings(connection, GAME) if line.provisional}

    with open_to_amend(data) as connection:
        chance = Random(7)
        players = add_bots(connection, "ann", "bob", "cleo", "dan", "eve")
        rounds = [chance.sample(players[:4], 4) for _ in range(150)] + [[players[4], players[0]]] * 300
        for table in rounds:
            places = [1, 2, 3, 4][: len(table)]
            chance.shuffle(places)
            finish(connection, matches.begin(connection, GAME, {}, table, NOW), places)
        assert marked(connection) == {"bob", "cleo", "dan", "eve"}, "all but ann have not met somebody"
        own = update(schema.bots).where(schema.bots.c.name.in_(("bob", "cleo", "dan", "eve")))
        connection.execute(own.values(owner="one owner"))
        assert marked(connection) == set(), "bots of one owner never meet"
        connection.execute(update(schema.bots).values(owner=schema.bots.c.name))
        connection.execute(update(schema.bots).where(schema.bots.c.name == "eve").values(deleted=NOW))
        assert marked(connection) == {"eve"}, "who is deleted will meet nobody"
        newcomer = add_bots(connection, "zoe")
        finish(connection, matches.begin(connection, GAME, {}, [*newcomer, players[1]], NOW), [1, 2])
        assert marked(connection) == {"eve", "zoe"}, "a newcomer makes nobody provisional again"


def test_an_empty_ladder_can_be_published(data: Path) -> None:
    with open_to_amend(data) as connection:
        assert publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        assert standings(connection, GAME) == ()
        assert verify(connection, GAME).identical


def test_verifying_names_what_differs(played: Path) -> None:
    with open_to_amend(played) as connection:
        missing = verify(connection, GAME)
        assert (missing.published, missing.through, missing.identical) == ("", 0, False)
        rebuild(connection, GAME, NOW)
        play(connection, Random(5), list(connection.scalars(select(schema.bots.c.id))), 5)
        verdict = verify(connection, GAME)
        assert verdict.identical
        assert (verdict.through, verdict.differing) == (60, ())
        node = connection.scalar(select(schema.standings.c.node).order_by(schema.standings.c.rank.desc()))
        own = schema.standings.c.node == node
        connection.execute(update(schema.standings).where(own).values(rating=schema.standings.c.rating + 2**-40))
        verdict = verify(connection, GAME)
        assert not verdict.identical
        assert verdict.published == verdict.recomputed, "the digest was not touched"
        assert verdict.differing == (node,)
        assert rebuild(connection, GAME, NOW) == verdict
        after = verify(connection, GAME)
        assert after.identical
        assert after.through == 65
