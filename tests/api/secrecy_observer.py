"""Observers of all messages to bots. They fail if a message contains something that only another seat may know."""

from __future__ import annotations

from collections import defaultdict

from arena_client.v1 import play_pb2 as pb


class ObservedMatch:
    """The players of a match, and the cards in their hands as far as messages show them."""

    def __init__(self) -> None:
        self.bots: tuple[str, ...] = ()
        """Bots by seat, from the messages about the start of the match."""
        self.hands: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        """Cards by round and seat, from the views of the seats that held them."""


class SecrecyObserver:
    """An observer of all bots on a server."""

    def __init__(self) -> None:
        self.matches: defaultdict[int, ObservedMatch] = defaultdict(ObservedMatch)
        self.decisions = self.notices = self.reports = 0
        """Numbers of decisions, notices and reports in the messages to all bots."""
        self.invited: dict[int | bytes, str] = {}
        """The receiver of each invitation, by the invitation's unique parts."""

    def of_bot(self, bot: str) -> BotObserver:
        """Return an observer for the messages of one bot."""
        return BotObserver(self, bot)


class BotObserver:
    """An observer of one bot's messages, over all its streams."""

    def __init__(self, observer: SecrecyObserver, bot: str) -> None:
        self._observer = observer
        self._bot = bot
        self._seats: dict[int, int] = {}
        self._legal: dict[tuple[int, int], list[int]] = {}
        self._concerned: set[int] = set()
        self._welcomed = False

    def new_stream(self) -> None:
        """Expect a Welcome message, because the bot opens a new stream."""
        self._welcomed = False

    def see(self, message: pb.PlayResponse) -> None:
        """Check a message.

        Raises:
            AssertionError: it contains something that this bot must not know.
        """
        assert message.HasField("welcome") is not self._welcomed, "the first message has the welcome, and only that"
        self._welcomed = True
        for invitation in message.invitations:
            assert not invitation.bots, "who plays, before the bot is ready"
            for word in (invitation.invitation_id, invitation.commitment):
                assert self._observer.invited.setdefault(word, self._bot) == self._bot, "what another bot was sent, too"
        for start in message.starts:
            match = self._observer.matches[start.match_id]
            match.bots = match.bots or tuple(start.bots)
            assert match.bots == tuple(start.bots)
            self._check_seat(start.match_id, start.seat)
        for decision in message.decisions:
            self._decision(decision)
        for notice in message.notices:
            self._notice(notice)
        self._concerned.update(record.match_id for record in message.rounds)
        for report in message.reports:
            self._check_seat(report.match_id, report.seat)
            self._observer.reports += 1

    def check_seats(self) -> None:
        """Check that all matches and seats were the bot's own. Call this at the end, because the players may be unknown
        before.
        """
        for match, seat in self._seats.items():
            assert self._observer.matches[match].bots[seat] == self._bot, "another's seat"
        for match in self._concerned:
            assert self._bot in self._observer.matches[match].bots, "a match of others"

    def _check_seat(self, match: int, seat: int) -> None:
        """Check that a match's seat never changes. If the bot missed the start, a decision shows the seat."""
        assert self._seats.setdefault(match, seat) == seat, "another's seat"

    def _decision(self, decision: pb.Decision) -> None:
        self._observer.decisions += 1
        game = decision.WhichOneof("view")
        assert game is not None
        view = getattr(decision, game)
        seat = view.seat
        self._check_seat(decision.match_id, seat)
        key = (decision.match_id, decision.decision_id)
        assert self._legal.setdefault(key, list(decision.legal)) == list(decision.legal)
        fields = view.DESCRIPTOR.fields_by_name
        if "hand" not in fields:
            return
        own = set(view.hand)
        if "known_predictions" in fields:
            own |= {view.prediction} if view.HasField("prediction") else set()
            peeked = [trick for trick, looked in enumerate(view.peeks) if looked and view.leaders[trick] == seat]
            known = view.known_predictions.keys() - {seat}
            assert known <= {view.takers[trick] for trick in peeked}, "a prediction that nobody showed it"
        hands = self._observer.matches[decision.match_id].hands[view.round]
        hands[seat] |= own
        assert len(hands[seat]) <= view.cards_each, "more cards than it was dealt"
        for other, cards in hands.items():
            assert other == seat or not cards & hands[seat], "a card that somebody else holds"

    def _notice(self, notice: pb.Notice) -> None:
        self._observer.notices += 1
        if notice.match_id and notice.kind != pb.NOTICE_KIND_UNKNOWN:
            self._concerned.add(notice.match_id)
        if notice.legal:  # an answer to one of the seat's own decisions may still be in transit
            key = (notice.match_id, notice.decision_id)
            assert self._legal.setdefault(key, list(notice.legal)) == list(notice.legal)
