"""Checks that a bot ignores the unknown parts of messages from a newer server."""

from __future__ import annotations

from typing import Final

from arena_client.v1 import play_pb2

from arena.local.check.check import check
from arena.local.check.stage import Stage

UNKNOWN_FIELDS: Final = b"\xb8\xbb\x01\x2a\xc2\xbb\x01\x05later"
"""Unknown fields: number 2999 with the value 42, and number 3000 with five bytes."""
UNKNOWN_KIND: Final = 77
WHERE: Final = "CONTRIBUTING.md"


def _with_unknown_fields(message: play_pb2.PlayResponse) -> bytes:
    parts = []
    for decision in message.decisions:
        encoded = decision.SerializeToString() + UNKNOWN_FIELDS
        parts.append(play_pb2.PlayResponse(decisions=[play_pb2.Decision.FromString(encoded)]).SerializeToString())
    rest = play_pb2.PlayResponse()
    rest.CopyFrom(message)
    rest.ClearField("decisions")
    return rest.SerializeToString() + b"".join(parts) + UNKNOWN_FIELDS


def _with_unknown_kind(message: play_pb2.PlayResponse) -> bytes:
    changed = play_pb2.PlayResponse()
    changed.CopyFrom(message)
    for list_of in (changed.invitations, changed.starts, changed.reports):
        for each in list_of:
            each.kind = UNKNOWN_KIND  # type: ignore[assignment]
    return changed.SerializeToString()


@check(
    wants="Unknown fields are ignored: the protocol grows by new ones.",
    remedy="Leave unknown fields alone; where JSON is made of messages, have it ignore them.",
    page=WHERE,
    needs=("games",),
)
async def unknown_field(stage: Stage) -> None:
    """Does it play on when messages have fields it does not know?"""
    wire = await stage.idle()
    wire.altered = _with_unknown_fields
    await stage.play()
    wire.altered = None


@check(
    wants="A notice of an unknown kind is ignored, or logged with its text.",
    remedy="Have a default where the kinds of notices are told apart; names of unknown numbers do not exist.",
    page=WHERE,
    needs=("games",),
)
async def unknown_notice(stage: Stage) -> None:
    """Does it play on after a notice of a kind it does not know?"""
    wire = await stage.idle()
    match = stage.invite()
    await stage.begin(match)
    for match_id in (None, match.match_id):
        notice = play_pb2.Notice(kind=UNKNOWN_KIND, text="something new has happened", match_id=match_id)  # type: ignore[arg-type]
        await wire.inject(play_pb2.PlayResponse(notices=[notice]))
    await stage.end(match)
    await stage.play()


@check(
    wants="A match is played whatever its kind.",
    remedy="Have a default where kinds of matches are told apart.",
    page=WHERE,
    needs=("games",),
)
async def unknown_kind(stage: Stage) -> None:
    """Does it play matches of a kind it does not know?"""
    wire = await stage.idle()
    wire.altered = _with_unknown_kind
    await stage.play()
    wire.altered = None


@check(
    wants="A message in which nothing is known is ignored.",
    remedy="Look at each field of a PlayResponse by itself; none of them has to be there.",
    page=WHERE,
    needs=("games",),
)
async def empty_message(stage: Stage) -> None:
    """Does it play on after an empty message?"""
    wire = await stage.idle()
    match = stage.invite()
    await stage.begin(match)
    await wire.inject(play_pb2.PlayResponse())
    await stage.end(match)
