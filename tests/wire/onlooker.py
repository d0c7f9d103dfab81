"""Reads everything that bots are sent and fails when one is told what only another may know."""

from __future__ import annotations

from collections import defaultdict

from arena_client.v1 import play_pb2 as pb


class Table:
    """What the onlooker knows of one match."""

    def __init__(self) -> None:
        self.bots: tuple[str, ...] = ()
        """By seat, from the invitations."""
        self.hands: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        """By round and seat, from the views of their holders."""


class Onlooker:
    """Watches all bots of a server."""

    def __init__(self) -> None:
        self.tables: defaultdict[int, Table] = defaultdict(Table)
        self.decisions = self.notices = self.reports = 0
        """Seen of all bots."""

    def behind(self, bot: str) -> Shoulder:
        """Stands behind one bot."""
        return Shoulder(self, bot)


class Shoulder:
    """What one bot was told, over all its streams."""

    def __init__(self, onlooker: Onlooker, bot: str) -> None:
        self._onlooker = onlooker
        self._bot = bot
        self._seats: dict[int, int] = {}
        self._legal: dict[tuple[int, int], list[int]] = {}
        self._concerned: set[int] = set()
        self._greeted = False

    def new_stream(self) -> None:
        """The bot connects again."""
        self._greeted = False

    def see(self, message: pb.PlayResponse) -> None:
        """Fails when the message holds what is not for this bot."""
        assert message.HasField("welcome") is not self._greeted, "the first message has the welcome, and only that"
        self._greeted = True
        for invitation in message.invitations:
            table = self._onlooker.tables[invitation.match_id]
            table.bots = table.bots or tuple(invitation.bots)
            assert table.bots == tuple(invitation.bots)
            self._sits(invitation.match_id, invitation.seat)
        for decision in message.decisions:
            self._decision(decision)
        for notice in message.notices:
            self._notice(notice)
        self._concerned.update(record.match_id for record in message.rounds)
        for report in message.reports:
            self._sits(report.match_id, report.seat)
            self._onlooker.reports += 1

    def check_seats(self) -> None:
        """Fails when the bot was told of a match or a seat that was not its own; a table's bots may be known late."""
        for match, seat in self._seats.items():
            assert self._onlooker.tables[match].bots[seat] == self._bot, "another's seat"
        for match in self._concerned:
            assert self._bot in self._onlooker.tables[match].bots, "a match of others"

    def _sits(self, match: int, seat: int) -> None:
        """A bot may be told of its seat first in a decision, if it missed the rest."""
        assert self._seats.setdefault(match, seat) == seat, "another's seat"

    def _decision(self, decision: pb.Decision) -> None:
        self._onlooker.decisions += 1
        game = decision.WhichOneof("view")
        assert game is not None
        view = getattr(decision, game)
        seat = view.seat
        self._sits(decision.match_id, seat)
        key = (decision.match_id, decision.decision_id)
        assert self._legal.setdefault(key, list(decision.legal)) == list(decision.legal)
        own = set(view.hand)
        if game == "sixth_sense":
            own |= {view.prediction} if view.HasField("prediction") else set()
            peeked = [trick for trick, looked in enumerate(view.peeks) if looked and view.leaders[trick] == seat]
            known = {other for other, card in enumerate(view.known_predictions) if card and other != seat}
            assert known <= {view.takers[trick] for trick in peeked}, "a prediction that nobody showed it"
        hands = self._onlooker.tables[decision.match_id].hands[view.round]
        hands[seat] |= own
        assert len(hands[seat]) <= view.hand_size, "more cards than it was dealt"
        for other, cards in hands.items():
            assert other == seat or not cards & hands[seat], "a card that somebody else holds"

    def _notice(self, notice: pb.Notice) -> None:
        self._onlooker.notices += 1
        if notice.match_id and notice.kind != pb.NOTICE_KIND_UNKNOWN:
            self._concerned.add(notice.match_id)
        if notice.legal:  # of a decision of its own, which may yet be on its way
            key = (notice.match_id, notice.decision_id)
            assert self._legal.setdefault(key, list(notice.legal)) == list(notice.legal)
