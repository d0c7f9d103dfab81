"""A bot that plays at random until it misbehaves. It reports the consequences in lines of JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from arena_client.v1 import play_pb2 as pb

from engine.registry import GAMES
from tests.end_to_end.raw_bot import RawBot


class FaultyBot(RawBot):
    """A handwritten bot that plays at random until it misbehaves."""

    def __init__(self, address: str, token: str, game: str, kind: str, **how: Any) -> None:
        """Create a bot with a kind of misbehaviour. The seed determines its choices."""
        super().__init__(address, token, games=(game,), **how)
        self._who = address, token, game, kind
        self.chance = Random(kind)
        self.match_id = 0
        """The match in which the bot misbehaves."""

    def another(self, match_id: int | None = None) -> FaultyBot:
        """Open another stream for the same bot, in this match or another one. If the bot missed the end of its match,
        it gets the report.
        """
        match_id = match_id or self.match_id
        bot = FaultyBot(*self._who, reports_after=self.reports_after or 0)
        bot.match_id = match_id
        return bot

    def due(self) -> pb.Decision:
        """The next decision."""
        self.read_until(lambda: self.decisions)
        return self.decisions.pop(0)

    def did(self) -> None:
        """Report that the bot has misbehaved."""
        self.match_id = max(self.matches, default=0)
        print(json.dumps({"match": self.match_id}), flush=True)

    def misbehave_at(self, kind: str) -> pb.Decision:
        """Play until the bot owes a choice of the given kind. Report the choice."""
        while kind not in self.kinds(decision := self.due()):
            self.choose(decision)
        self.did()
        return decision

    def kinds(self, decision: pb.Decision) -> set[str]:
        """Return the kinds of the bot's legal actions, or "blind" if it does not see its card."""
        blind = decision.WhichOneof("view") == "nullern" and not decision.nullern.hand
        return {GAMES[self._who[2]].actions[action].kind for action in decision.legal} | ({"blind"} if blind else set())

    def choose(self, *decisions: pb.Decision) -> None:
        """Answer at random."""
        for decision in decisions:
            self.answer(decision, action=self.chance.choice(decision.legal))

    def play_on(self) -> None:
        """Play at random until the bot's match is over."""
        while not self.over:
            due, self.decisions = self.decisions, []
            self.choose(*due)
            self.read()

    @property
    def over(self) -> bool:
        """True if the bot's match is over."""
        return any(report.match_id == self.match_id for report in self.reports)

    def told(self, kind: int, decision: pb.Decision | None = None) -> bool:
        """Return True if the bot received a notice of this kind about that decision."""
        return any(
            notice.kind == kind and (decision is None or notice.decision_id == decision.decision_id)
            for notice in self.notices
        )

    def sum_up(self) -> None:
        """Print the bot's notices and the reason why the stream ended. Close the connection."""
        end = self.end
        told = {
            "notices": sorted({pb.NoticeKind.Name(each.kind).removeprefix("NOTICE_KIND_") for each in self.notices}),
            "end": end.code.name if end else None,
            "text": end.text if end else "",
        }
        print(json.dumps(told), flush=True)
        self.close()
