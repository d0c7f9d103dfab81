"""The reasons with which the server ends streams and refuses calls. The protocol lists each of them with one status."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import grpc
from arena_client.v1 import play_pb2 as pb

from arena.api import play_service, statuses
from arena.server.sessions.messages import Reason

ROOT = Path(__file__).parents[2]
CODES = {code.name for code in grpc.StatusCode}


def documented() -> dict[str, str]:
    """Return the status of each reason. The reason's comment in the protocol begins with the status."""
    proto = (ROOT / "proto/arena/v1/play.proto").read_text()
    return {reason: status for status, reason in re.findall(r"// ([A-Z_]+): [^\n]+\n  REASON_([A-Z_]+) = ", proto)}


def written() -> dict[str, str]:
    """Return the reasons and statuses of all refusals in the sources."""
    found: dict[str, str] = {}
    for source in [*(ROOT / "arena").rglob("*.py"), *(ROOT / "trio_grpc").rglob("*.py")]:
        for call in ast.walk(ast.parse(source.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in {"refused", "explained"}:
                words = [each.value for each in call.args if isinstance(each, ast.Constant)]
                codes = [each.attr for each in call.args if isinstance(each, ast.Attribute) and each.attr in CODES]
                found |= {str(word): code for code in codes for word in words if re.fullmatch("[A-Z_]+", str(word))}
    return found


def test_every_reason_of_the_server_is_in_the_protocol_with_its_status() -> None:
    given = {reason.name: code.name for reason, code in play_service.STATUS.items()}
    assert play_service.STATUS.keys() == {*Reason}
    given |= {statuses._reason(error): code.name for error, code in statuses.STATUS.items()}
    given |= written()
    assert given == documented()
    assert {f"REASON_{reason}" for reason in given} == {*pb.Reason.keys()} - {"REASON_UNSPECIFIED"}
