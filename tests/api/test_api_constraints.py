"""The limits in the protocol's comments equal the server's constants."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from arena_client.v1 import (
    bots_pb2,
    events_pb2,
    game_pb2,
    ladder_pb2,
    log_pb2,
    matches_pb2,
    operator_pb2,
    play_pb2,
    status_pb2,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.api import codec
from arena.api.codec import decode, decode_hello
from arena.api.list_pages import LADDER_KEPT, LARGEST_PAGE, PAGE
from arena.api.query_services import CHUNK, HISTORY, LARGEST_HISTORY
from arena.server.matches.live import PUSH_INTERVAL, RATE_PERIOD
from arena.server.matches.ready_check import INVITATION_BITS, SALT_BYTES
from arena.server.matchmaking.challenges import WAITS
from arena.server.ratings.fit_client import ASIDE
from arena.server.sessions.messages import Closed, Reason
from arena.store.base.errors import NameNotAllowed, ReasonNotAllowed
from arena.store.base.leaves import HASH
from arena.store.bots.bots import check_name
from arena.store.bots.entry import MOST_AT_ONCE
from arena.store.ladder.events import LONGEST_REASON, check_reason
from arena.store.ladder.opponents import LAST, LOOKED_AT
from arena.store.ladder.publishing import DAY, HOUR, MONTH
from arena.store.matches.ended import MOST
from arena.store.matches.search import SEARCHED
from engine.deal import NONCE_BYTES
from tests.end_to_end.e2e_rig import ROOT

PROTOS: Final = ROOT / "proto" / "arena" / "v1"
SECOND: Final = 1_000_000


def comments() -> dict[str, str]:
    """Return the protocol's comments by name, such as "Hello", "Hello.games" and "PlayService.Play"."""
    found: dict[str, str] = {}
    for file in PROTOS.glob("*.proto"):
        scope, lines = [""], list[str]()
        for line in map(str.strip, file.read_text().splitlines()):
            if line.startswith("//"):
                lines.append(line.removeprefix("//").strip())
                continue
            if named := re.match(r"(?:message|enum|service|oneof|rpc) (\w+)|(?:[\w.<>, ]+ )?(\w+) = \d+", line):
                name = f"{scope[-1]}.{named[1] or named[2]}".lstrip(".")
                found[name] = " ".join(lines)
                if line.endswith("{"):
                    # the fields of a oneof belong to the enclosing message
                    scope.append(scope[-1] if line.startswith("oneof") else name)
            elif line == "}":
                scope.pop()
            lines = []
    return found


COMMENTS: Final = comments()
FOUR: Final = "four" if PUSH_INTERVAL == 1 / 4 else 1 / PUSH_INTERVAL
LIMIT_OF_A_PAGE: Final = f"a limit that is not 1 to {LARGEST_PAGE}"
NUMBERS: Final[dict[str, tuple[str, ...]]] = {
    "BotService.ListBots": (LIMIT_OF_A_PAGE,),
    "ListBotsRequest.limit": (f"{LARGEST_PAGE} where absent",),
    "BotService.ListBotEvents": (LIMIT_OF_A_PAGE,),
    "ListBotEventsRequest.limit": (f"{PAGE} where absent",),
    "BotService.ChallengeBots": (f"no room for {'half a minute' if WAITS == 30 else WAITS}",),
    "LadderService.GetLadder": (
        LIMIT_OF_A_PAGE,
        f"stores for {'a minute' if LADDER_KEPT == 60 else LADDER_KEPT} after the first page",
        f"cannot compute the ladder within {'half a minute' if ASIDE == 30 else ASIDE}",
    ),
    "GetLadderRequest.limit": (f"{LARGEST_PAGE} where absent",),
    "LadderService.GetPastLadder": (
        LIMIT_OF_A_PAGE,
        "all ladders of the last day, one an hour for a month, and one a day for ever",
    ),
    "GetPastLadderRequest.limit": (f"{LARGEST_PAGE} where absent",),
    "LadderService.GetHistory": (f"a limit that is not 1 to {LARGEST_HISTORY}",),
    "GetHistoryRequest.limit": (f"{HISTORY} where absent",),
    "LadderService.ListVersions": (LIMIT_OF_A_PAGE,),
    "ListVersionsRequest.limit": (f"{PAGE} where absent",),
    "LadderService.GetOpponents": (f"a `limit` or `last` that is not 1 to {LAST}",),
    "GetOpponentsRequest.limit": (f"{PAGE} where absent",),
    "GetOpponentsRequest.last": (f"1 to {LAST}; {LAST} where absent", f"the bot's newest {LOOKED_AT:,} matches"),
    "MatchService.ListMatches": (LIMIT_OF_A_PAGE,),
    "ListMatchesRequest.limit": (f"{PAGE} where absent",),
    "ListMatchesResponse.matches": (f"covers at most {SEARCHED:,} matches",),
    "EventService.ListEvents": (LIMIT_OF_A_PAGE,),
    "ListEventsRequest.limit": (f"{PAGE} where absent",),
    "EventService.ListEventTables": (LIMIT_OF_A_PAGE,),
    "ListEventTablesRequest.limit": (f"{PAGE} where absent",),
    "GetEventBundleResponse.chunk": (f"at most {CHUNK:,}",),
    "MatchService.WatchMatches": (f"at most {FOUR} messages a second",),
    "GetReplayResponse.chunk": (f"at most {CHUNK:,}",),
    "LogHead.root": (f"{HASH} bytes",),
    "LogHead.signature": (f"{len(Ed25519PrivateKey.generate().sign(b''))} bytes",),
    "LogEntry.proof": (f"{HASH} bytes each",),
    "GetConsistencyResponse.proof": (f"{HASH} bytes each",),
    **{
        f"OperatorService.{name}": (f"has more than {LONGEST_REASON} characters",)
        for name in ("VoidResult", "VoidResults", "BanOwner", "UnbanOwner", "HideBot", "RenameBot")
    },
    **{f"{name}Request.reason": (f"1 to {LONGEST_REASON} printable",) for name in ("VoidResult", "VoidResults")},
    **{
        f"{name}Request.reason": (f"at most {LONGEST_REASON} printable",)
        for name in ("BanOwner", "UnbanOwner", "HideBot", "ShowBot", "DeleteBot", "RenameBot")
    },
    "OperatorService.CreateInvitations": (f"a count that is not 1 to {MOST_AT_ONCE}",),
    "CreateInvitationsRequest.count": (f"1 to {MOST_AT_ONCE}",),
    "OperatorService.ListInvitations": (LIMIT_OF_A_PAGE,),
    "ListInvitationsRequest.limit": (f"{LARGEST_PAGE} where absent",),
    "GameStatus.ended": (f"in the last {'minute' if RATE_PERIOD == 60 else RATE_PERIOD}",),
    "PlayRequest": (f"at most {codec.MOST_AT_ONCE:,} items of ready, answers, declined and resumed together",),
    "Hello": (f"at most {codec.LARGEST_HELLO:,} bytes",),
    "Hello.version": (f"at most {codec.LONGEST_VERSION} printable characters",),
    "Hello.features": (f"at most {codec.MOST_FEATURES} names of at most {codec.LONGEST_FEATURE} lower-case letters",),
    "Hello.events": (f"at most {codec.MOST_EVENTS}",),
    "EventEntry.nonce": (f"{NONCE_BYTES} random bytes",),
    "Hello.reports_after": (f"the newest {MOST:,} at most",),
    "Ready.nonce": (f"{NONCE_BYTES} random bytes",),
    "NoticeKind.NOTICE_KIND_ILLEGAL": (f"{NONCE_BYTES} bytes",),
    "Invitation.commitment": (f"{SALT_BYTES} bytes each",),
    "MatchStart.salt": (f"{SALT_BYTES} bytes",),
    "Invitation.invitation_id": (f"below 2^{INVITATION_BITS}",),
}
"""Phrases in comments, each with the stated constant."""


@pytest.mark.parametrize("name", NUMBERS)
def test_a_comment_names_the_servers_own_limit(name: str) -> None:
    for phrase in NUMBERS[name]:
        assert phrase in COMMENTS[name]


def test_every_limit_that_a_comment_names_is_compared() -> None:
    """This file covers every comment with "at most", "1 to" or "bytes" and a number."""
    number = r"(?:at most|at least|over|below|more than|1 to|newest) [\d^,]*\d"
    number += r"|\d[\d,]* (?:bytes|printable|where absent|at most)"
    named = {name for name, text in COMMENTS.items() if re.search(number, text)}
    assert named - NUMBERS.keys() - BEHAVIOUR.keys() == set()


def test_every_message_has_a_comment_here() -> None:
    modules = (bots_pb2, events_pb2, game_pb2, ladder_pb2, log_pb2, matches_pb2, operator_pb2, play_pb2, status_pb2)
    for module in modules:
        for message in module.DESCRIPTOR.message_types_by_name.values():
            assert COMMENTS.keys() >= {message.name, *(f"{message.name}.{field.name}" for field in message.fields)}


def refused_name(name: str) -> bool:
    try:
        check_name(name)
    except NameNotAllowed:
        return True
    return False


def refused_reason(reason: str) -> bool:
    try:
        check_reason(reason)
    except ReasonNotAllowed:
        return True
    return False


def refused_hello(**hello: Any) -> Reason | None:
    request = play_pb2.PlayRequest(hello=play_pb2.Hello(**{"games": ["nullern"]} | hello))
    try:
        decode_hello(request.SerializeToString())
    except Closed as closed:
        return closed.reason
    return None


def names() -> None:
    allowed, refused = (
        ["a", "0", "A" * 40, "a._-0"],
        ["", "A" * 41, ".a", "_a", "-a", "a b", "é", "a\n", "house", "House-1"],
    )
    assert [name for name in allowed if refused_name(name)] == []
    assert [name for name in refused if not refused_name(name)] == []


def reasons() -> None:
    assert not refused_reason("x" * 200)
    assert not refused_reason("é" * 200)
    assert all(map(refused_reason, ("", " ", "x" * 201, "a\nb")))


def hellos() -> None:
    assert not refused_hello(version="v" * 40, features=["f" * 40] * 32, capacity=0)
    assert not refused_hello(version="", features=["a-0"], capacity=(1 << 32) - 1)
    refused: list[dict[str, Any]] = [{"games": []}, {"version": "v" * 41}, {"version": "\n"}, {"features": ["f"] * 33}]
    for wrong in refused:
        assert refused_hello(**wrong) is Reason.BAD_MESSAGE, wrong
    for feature in ("f" * 41, "F", "a_b", ""):
        assert refused_hello(features=[feature]) is Reason.BAD_MESSAGE, feature


def sizes() -> None:
    whole = play_pb2.PlayRequest(hello=play_pb2.Hello(games=["nullern"], client="c" * 4000))
    room = 4096 - whole.ByteSize()
    whole.hello.client += "c" * room
    assert whole.ByteSize() == 4096
    assert decode_hello(whole.SerializeToString()).client == "c" * 100
    whole.hello.client += "c"
    with pytest.raises(Closed):
        decode_hello(whole.SerializeToString())


def items() -> None:
    most = play_pb2.PlayRequest(declined=range(4000), resumed=range(3000), answers=[play_pb2.Answer()] * 2999)
    most.ready.add()
    decode(most.SerializeToString(), 0.0)
    most.ready.add()
    with pytest.raises(Closed):
        decode(most.SerializeToString(), 0.0)


def tokens() -> None:
    from arena.store.bots import bots

    good = bots._new_token()
    assert re.fullmatch(r"arena_[A-Za-z0-9_-]{43}", good)
    assert bots._TOKEN.fullmatch(good)
    for wrong in (good[:-1], good + "a", good[6:], good[:-1] + "=", "Arena" + good[5:]):
        assert not bots._TOKEN.fullmatch(wrong)


def ladders() -> None:
    assert (HOUR, DAY, MONTH) == (3600 * SECOND, 24 * 3600 * SECOND, 30 * 24 * 3600 * SECOND)


BEHAVIOUR: Final = {
    "RegisterBotRequest.name": (names, "1 to 40 ASCII letters, digits, '.', '_' or '-', the first a letter or digit"),
    "RegisterBotRequest.token": (tokens, '"arena_" and 32 random bytes as 43 characters of base64url'),
    "VoidResultRequest.reason": (reasons, "1 to 200 printable characters"),
    "Hello.version": (hellos, "at most 40 printable characters, or empty"),
    "Hello.games": (hellos, "at least one"),
    "Hello.client": (sizes, "of which the server reads 100 characters"),
    "PlayRequest": (items, "at most 10,000 items"),
    "LadderService.GetPastLadder": (ladders, "one an hour for a month"),
}
"""Claims in comments, each with the server's behaviour."""


@pytest.mark.parametrize("name", BEHAVIOUR)
def test_the_server_does_what_a_comment_says(name: str) -> None:
    does, phrase = BEHAVIOUR[name]
    assert phrase in COMMENTS[name]
    does()
