"""Reads everything that bots are sent and fails when one is told what only another may know."""

from __future__ import annotations

from collections import defaultdict

from arena.v1 import play_pb2 as pb


class Table:
    """What the onlooker knows of one match: hands by round and seat, from the views of their holders."""

    def __init__(self) -> None:
        self.hands: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))


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
        self._greeted = False

    def new_stream(self) -> None:
        """The bot connects again."""
        self._greeted = False

    def see(self, message: pb.PlayResponse) -> None:
        """Fails when the message holds what is not for this bot."""
        assert message.HasField("welcome") is not self._greeted, "the first message has the welcome, and only that"
        self._greeted = True
        for invitation in message.invitations:
            assert invitation.bots[invitation.seat] == self._bot
            assert self._seats.setdefault(invitation.match_id, invitation.seat) == invitation.seat
        for decision in message.decisions:
            self._decision(decision)
        for notice in message.notices:
            self._notice(notice)
        for record in message.rounds:
            assert record.match_id in self._seats
        for report in message.reports:
            assert self._seats[report.match_id] == report.seat
            self._onlooker.reports += 1

    def _decision(self, decision: pb.Decision) -> None:
        self._onlooker.decisions += 1
        seat = self._seats[decision.match_id]
        view = getattr(decision, decision.WhichOneof("view"))
        assert view.seat == seat, "a view of another seat"
        key = (decision.match_id, decision.decision_id)
        assert self._legal.setdefault(key, list(decision.legal)) == list(decision.legal)
        own = set(view.hand)
        if decision.WhichOneof("view") == "sixth_sense":
            own |= {view.prediction} if view.HasField("prediction") else set()
            peeked = [trick for trick, looked in enumerate(view.peeks) if looked and view.leaders[trick] == seat]
            known = {other for other, card in enumerate(view.known_predictions) if card and other != seat}
            assert known <= {view.takers[trick] for trick in peeked}, "a prediction that nobody showed it"
        hands = self._onlooker.tables[decision.match_id].hands[view.round]
        hands[seat] |= own
        assert len(hands[seat]) <= view.hand_size
        for other, cards in hands.items():
            assert other == seat or not cards & hands[seat], "a card that somebody else holds"

    def _notice(self, notice: pb.Notice) -> None:
        self._onlooker.notices += 1
        key = (notice.match_id, notice.decision_id)
        if notice.match_id not in self._seats:
            assert notice.kind in (pb.NOTICE_KIND_UNKNOWN, pb.NOTICE_KIND_DRAINING), "of a match of others"
        if notice.legal:  # of a decision of its own, which may yet be on its way
            assert self._legal.setdefault(key, list(notice.legal)) == list(notice.legal)
