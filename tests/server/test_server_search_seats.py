"""Tables of a searching house bot: it stays within its share of a core, whatever the course of the matches."""

from __future__ import annotations

import math
from typing import cast

from arena.match.policy import ReadyLimits
from arena.server.matches.ready_check import ReadyCheck
from arena.server.matchmaking.search_seats import MOST_SAVED, SearchSeats
from arena.server.sessions.player import Player
from arena.server.sessions.players import Players
from arena.server.workers.search import SearchWorker
from tests.server.server_rig import GAME, house_players, ladder

SEARCHER, FILLER, OTHER = house_players("house-search", "house-one", "house-two")
LIMITS = ReadyLimits(math.inf, math.inf, math.inf)


class Account:
    """The account of a worker's time, without its process."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.behind = False

    def ready(self) -> bool:
        return not self.behind


class Rig:
    """The seats of a searching house bot in a game, and a table at which it could sit."""

    def __init__(self, share: float = 0.25) -> None:
        self.account = Account()
        self.seats = SearchSeats(share, {GAME.name: SEARCHER}, cast("SearchWorker", self.account))
        self.bot = Players().enter(1, "ann", "ann")
        self.bot.newcomer = False
        self.seats.taken(self.table(), GAME.name, 0.0)

    def table(self) -> list[Player]:
        return [self.bot, FILLER, OTHER]

    def sits(self, now: float) -> ReadyCheck | None:
        """Return the table at which the bot plays from now on, if it gets a seat."""
        taken = self.seats.taken(self.table(), GAME.name, now)
        if taken is None:
            return None
        assert taken == [self.bot, SEARCHER, OTHER]
        ready_check = ReadyCheck(ladder(), taken, bytes(32), now, LIMITS, lambda _: None)
        self.seats.began(ready_check)
        return ready_check


def test_one_takes_the_seat_of_another_house_bot() -> None:
    rig = Rig()
    assert rig.sits(1.0) is not None


def test_none_sits_with_a_newcomer_among_bots_alone_or_in_a_game_without_one() -> None:
    rig = Rig()
    rig.bot.newcomer = True
    assert rig.sits(1.0) is None
    rig.bot.newcomer = False
    assert rig.seats.taken([rig.bot], GAME.name, 1.0) is None
    assert rig.seats.taken(rig.table(), "whist", 1.0) is None


def test_none_sits_while_its_process_is_behind() -> None:
    rig = Rig()
    rig.account.behind = True
    assert rig.sits(1.0) is None
    rig.account.behind = False
    assert rig.sits(1.0) is not None


def test_what_a_match_cost_is_earned_before_the_next() -> None:
    rig = Rig(share=0.25)
    table = rig.sits(1.0)
    assert table is not None
    rig.account.spent = 2.0
    rig.seats.ended(table)
    assert rig.sits(7.9) is None, "1.975 s earned"
    assert rig.sits(8.1) is not None


def test_tables_at_which_it_sits_are_reckoned_with() -> None:
    """With slow opponents, the bot plays several matches at once, as many as the saved time allows."""
    rig = Rig(share=0.25)
    table = rig.sits(1.0)
    assert table is not None
    assert rig.sits(1000.0) is None, "nobody knows yet what a match costs"
    rig.account.spent = 2.0
    rig.seats.ended(table)
    begun = [rig.sits(2000.0) for _ in range(20)]
    assert sum(each is not None for each in begun) == MOST_SAVED / 2.0


def test_a_match_that_is_called_off_is_reckoned_with_no_longer() -> None:
    rig = Rig()
    table = rig.sits(1.0)
    assert table is not None
    assert rig.sits(2.0) is None
    table.concluded(None, "not every bot accepted in time")
    table = rig.sits(2.0)
    assert table is not None
    table.concluded(7, None)
    assert rig.sits(3.0) is None, "it plays"


def test_a_share_is_never_exceeded_by_more_than_what_was_saved_and_the_matches_under_way() -> None:
    rig, playing = Rig(share=0.25), list[tuple[float, ReadyCheck]]()
    cost, length = 1.5, 40.0
    for tick in range(20_000):
        now = tick / 10
        for ends, table in [*playing]:
            rig.account.spent += cost / length / 10
            if now >= ends:
                playing.remove((ends, table))
                rig.seats.ended(table)
        if (new := rig.sits(now)) is not None:
            playing.append((now + length, new))
        assert rig.account.spent <= 0.25 * now + 0.1
    assert rig.account.spent > 0.2 * 2000, "and it is used"
