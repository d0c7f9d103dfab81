"""Challenges: matches between named bots, from the request until they start or fail.

Nobody gains from a challenge: the match is not rated, changes no balance and does not affect matchmaking. Bots opt in.
Each bot gets one challenge at a time, and a limited number per hour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import trio

from arena.server.config import Config, LadderSettings
from arena.server.sessions.hourly import HOUR, HourlyAllowance
from arena.server.sessions.player import BotPlayer, Player
from arena.store.base.errors import Refused

WAITS: Final = 30.0
"""Maximum number of seconds for which a challenge waits until all its bots have capacity."""
RESTS: Final = 300.0
"""Number of seconds after a failed challenge for which its opponents reserve no capacity for other challenges."""


class BadChallenge(Refused):
    """This server cannot play the requested match. The message gives the reason."""


class NotChallenged(Refused):
    """A challenge cannot lead to a match now. The message gives the reason."""


class TooManyChallenges(Refused):
    """There were too many challenges from one owner's bots, or to one bot."""

    def __init__(self, words: str, wait: float) -> None:
        super().__init__(f"{words}; try again in {math.ceil(wait / 60)} min")
        self.wait = wait


class Challenge:
    """One challenge."""

    def __init__(self, ladder: LadderSettings, players: Sequence[Player], until: float) -> None:
        self.ladder = ladder
        self.players = players
        """The players of the match, with the challenger first."""
        self.guests: Sequence[BotPlayer] = [each for each in players if isinstance(each, BotPlayer)]
        self.until = until
        """The time until which the challenge waits for free capacity, in seconds of the server's clock."""
        self.waits = True
        """True while the challenge waits for free capacity."""
        self.kept: Sequence[BotPlayer] = ()
        """The bots that reserve capacity while the challenge waits."""
        self.match_id: int | None = None
        self.failure = ""
        """The reason why there is no match."""
        self.concluded = trio.Event()

    def conclude(self, match_id: int | None, failure: str | None) -> None:
        """Conclude the challenge: `match_id` is the match that starts. If there is none, `failure` gives the reason."""
        self.match_id, self.failure = match_id, failure or ""
        self.concluded.set()


class Challenges:
    """The open challenges of a server."""

    def __init__(self, config: Config) -> None:
        self._matches_per_bot = config.matches_per_bot
        self._limits = config.limits
        self._sent = HourlyAllowance(config.limits.challenges_per_owner / HOUR)
        self._received = HourlyAllowance(config.limits.challenges_per_bot / HOUR)
        self._open: list[Challenge] = []
        self._resting: dict[int, float] = {}
        """By bot, the time until which the bot reserves no capacity for challenges."""

    @property
    def deadline(self) -> float:
        """The earliest time at which a waiting challenge fails; infinite if no challenge waits."""
        return min([each.until for each in self._open if each.waits], default=math.inf)

    def open(
        self, challenger: str, opponents: Sequence[str], ladder: LadderSettings, here: Iterable[Player], now: float
    ) -> Challenge:
        """Open a challenge. `here` lists the connected bots and the ladder's house bots.

        Raises: BadChallenge, NotChallenged, TooManyChallenges.
        """
        names = [challenger.lower(), *[each.lower() for each in opponents]]
        if len(names) not in ladder.seats:
            sizes = ", ".join(map(str, ladder.seats))
            raise BadChallenge(
                f"{ladder.name} is played here by {sizes} at a table, and these are {len(names)} with {challenger}"
            )
        known = {each.name.lower(): each for each in here}
        players: list[Player] = []
        for name, said in zip(names, [challenger, *opponents], strict=True):
            player = known.get(name)
            if player is None:
                raise NotChallenged(f"{said} is not connected: `arena bots list` shows who is")
            if isinstance(player, BotPlayer):
                if player in players:
                    raise BadChallenge(f"{said} is named twice; only a house bot can have several seats")
                self._check(player, ladder)
            players.append(player)
        self._count(players[0], players, now)
        challenge = Challenge(ladder, players, now + WAITS)
        self._resting = {bot: until for bot, until in self._resting.items() if until > now}
        challenge.kept = [each for each in challenge.guests if each.bot_id not in self._resting]
        for guest in challenge.kept:
            guest.offers.reserved += 1
        self._open.append(challenge)
        return challenge

    def close(self, challenge: Challenge, now: float) -> None:
        """Forget a challenge that is concluded or cancelled."""
        if challenge in self._open:
            self._open.remove(challenge)
            self._give_up(challenge, now)

    def seatable(self) -> list[Challenge]:
        """Return the challenges whose bots all have capacity now, and release the reserved capacity."""
        found = [each for each in self._open if each.waits and not self._full(each)]
        for challenge in found:
            self._let_go(challenge)
        return found

    def expire(self, now: float) -> None:
        """Fail the challenges that have waited too long, or whose bots have left."""
        for challenge in [each for each in self._open if each.waits]:
            if gone := [guest.name for guest in challenge.guests if not _takes(guest, challenge.ladder)]:
                self._fail(challenge, f"{' and '.join(gone)} left or takes no challenges any more", now)
            elif now >= challenge.until and (full := self._full(challenge)):
                self._fail(challenge, f"{' and '.join(full)} had no room for {WAITS:.0f} s", now)

    def refuse(self, why: str, now: float) -> None:
        """Fail all waiting challenges."""
        for challenge in [each for each in self._open if each.waits]:
            self._fail(challenge, why, now)

    def _check(self, guest: BotPlayer, ladder: LadderSettings) -> None:
        """Raise NotChallenged if a bot cannot get a challenge now."""
        if guest.session is None:
            raise NotChallenged(f"{guest.name} is not connected: `arena bots list` shows who is")
        if not guest.session.hello.challenges:
            raise NotChallenged(f"{guest.name} takes no challenges: its author has it say so, by `--challenges`")
        if ladder.name not in guest.ladders:
            raise NotChallenged(f"{guest.name} plays {', '.join(guest.ladders)}, not {ladder.name}")
        if ladder.further_name in guest.parked:
            raise NotChallenged(f"{guest.name} is parked and given no seats")
        if any(guest in each.guests for each in self._open):
            raise NotChallenged(f"{guest.name} has another challenge; try again when that has begun")

    def _count(self, challenger: Player, players: Sequence[Player], now: float) -> None:
        """Count a challenge for its sender and receivers.

        Raises: TooManyChallenges: Nothing has been counted.
        """
        taken: list[tuple[HourlyAllowance, str]] = []
        owner = challenger.owner.lower() if isinstance(challenger, BotPlayer) else challenger.name
        limits = self._limits
        text = f"{limits.challenges_per_owner} challenges an hour the bots of one owner may send (challenges_per_owner)"
        wanted = [(self._sent, owner, text)]
        for each in players[1:]:
            if isinstance(each, BotPlayer):
                text = f"{limits.challenges_per_bot} challenges an hour {each.name} may be sent (challenges_per_bot)"
                wanted.append((self._received, str(each.bot_id), text))
        for allowance, who, words in wanted:
            if not allowance.take(who, now):
                for other, counted in taken:
                    other.give_back(counted)
                raise TooManyChallenges(words, allowance.wait(who, now))
            taken.append((allowance, who))

    def _full(self, challenge: Challenge) -> list[str]:
        return [guest.name for guest in challenge.guests if self._free(guest, challenge) <= 0]

    def _fail(self, challenge: Challenge, why: str, now: float) -> None:
        self._give_up(challenge, now)
        challenge.conclude(None, why)

    def _give_up(self, challenge: Challenge, now: float) -> None:
        """Release the capacity reserved for a failed challenge. Opponents that still have capacity reserve none for
        others for a while.
        """
        if challenge.waits:
            for guest in challenge.kept:
                if guest is not challenge.players[0] and self._free(guest, challenge) > 0:
                    self._resting[guest.bot_id] = now + RESTS
        self._let_go(challenge)

    def _free(self, guest: BotPlayer, challenge: Challenge) -> int:
        return guest.free(self._matches_per_bot, challenge.ladder.further_name)

    def _let_go(self, challenge: Challenge) -> None:
        """Release the capacity reserved for a challenge."""
        if challenge.waits:
            challenge.waits = False
            for guest in challenge.kept:
                guest.offers.reserved -= 1
                guest.changed()


def _takes(guest: BotPlayer, ladder: LadderSettings) -> bool:
    parked = ladder.further_name in guest.parked
    return guest.session is not None and guest.session.hello.challenges and not parked
