"""True if a replay is what was played: the words of `arena replay verify`, said of what the pages read."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from arena.analysis.verdict import checked, prove, unchecked
from arena.queries.source import DataSource
from arena.store.base.errors import Refused
from arena.web.answers.responses import page


async def check(request: Request) -> Response:
    """Show what was checked of a replay and what was not; where it differs, how."""
    number = request.path_params["number"]

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        replay, verdict = ready.course.replay, ready.verdict
        try:
            proofs = prove(replay, None, source)
        except Refused as error:  # a directory on which no server has begun a log
            proofs, why = prove(replay, None, None), str(error)
        else:
            why = ""
        sound = verdict.verified and not proofs.problem
        return {
            "header": replay.header,
            "sound": sound,
            "difference": verdict.difference,
            "problem": proofs.problem,
            "borne_out": proofs.log is not None,
            "void": "" if proofs.log is None else proofs.log.void,
            "checked": checked(replay, verdict, proofs) if sound else [],
            "unchecked": unchecked(replay, proofs) if sound else [],
            "no_log": why,
        }

    return page(request, "check.html", number=number, **await request.app.state.reader.read(query))
