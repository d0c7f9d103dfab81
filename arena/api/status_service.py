"""`StatusService`: the current state of the server."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from arena_client.v1 import status_pb2

from arena import build
from arena.api.statuses import looked_up
from arena.store.ladder.publishing import published_at
from arena.version import __version__

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from trio_grpc.grpc.call import Call


class StatusService:
    """Servicer of the gRPC service `StatusService`; refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def GetStatus(  # noqa: N802
        self, _: status_pb2.GetStatusRequest, __: Call
    ) -> status_pb2.GetStatusResponse:
        """Return the queue, matches and ladders of each game."""
        arena = self._arena
        status = status_pb2.GetStatusResponse(
            server=__version__,
            compiled=build.kind() == "compiled",
            draining=arena.stopping.is_set(),
            bots=len(arena.players.sessions()),
            watchers=arena.live.watchers,
        )
        status.started.FromMicroseconds(arena.started)
        for name in (game.name for game in arena.config.games):
            published = await looked_up(arena.store.read(partial(published_at, game=name)))
            unfitted = arena.publisher.unfitted(name)
            game = status.games.add(
                game=name,
                waiting=arena.matchmaker.waiting[name],
                playing=sum(each.game == name for each in arena.live.running),
                ended=arena.live.ended(name),
                unfitted_results=arena.publisher.news(name),
                not_fitted_reason="" if unfitted is None else unfitted.why,
            )
            if published is not None:
                game.published.FromMicroseconds(published)
        return status
