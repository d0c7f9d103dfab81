"""Everything a server offers on its port, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from arena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    game_pb2,
    game_pb2_grpc,
    ladder_pb2,
    ladder_pb2_grpc,
    matches_pb2,
    matches_pb2_grpc,
    operator_pb2,
    operator_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
)
from arena.wire.archive import Archive
from arena.wire.grpc_server import Service, serve
from arena.wire.health import Health
from arena.wire.operator import Operator
from arena.wire.play import Play
from arena.wire.reflection import Reflection
from arena.wire.roster import Roster
from arena.wire.settings import Settings

if TYPE_CHECKING:
    import ssl

    from arena.server.arena import Arena

FILES: Final = (bots_pb2, game_pb2, ladder_pb2, matches_pb2, operator_pb2, play_pb2)
NAMES: Final = tuple(service.full_name for file in FILES for service in file.DESCRIPTOR.services_by_name.values())
SERVICES: Final = (*NAMES, health.SERVICE_NAME, reflection.SERVICE_NAME)


async def serve_arena(
    arena: Arena,
    address: str,
    *,
    by_invitation: bool = False,
    credentials: ssl.SSLContext | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serves until cancelled; the started value is the bound port. RuntimeError where the address cannot be bound."""
    archive = Archive(arena)

    services = (
        Service(play_pb2_grpc.add_PlayServiceServicer_to_server, Play(arena), as_bytes=True),
        Service(game_pb2_grpc.add_GameServiceServicer_to_server, archive),
        Service(bots_pb2_grpc.add_BotServiceServicer_to_server, Roster(arena, by_invitation)),
        Service(ladder_pb2_grpc.add_LadderServiceServicer_to_server, archive),
        Service(matches_pb2_grpc.add_MatchServiceServicer_to_server, archive),
        Service(operator_pb2_grpc.add_OperatorServiceServicer_to_server, Operator(arena)),
        Service(health_pb2_grpc.add_HealthServicer_to_server, Health(NAMES, arena.stopping)),
        Service(reflection_pb2_grpc.add_ServerReflectionServicer_to_server, Reflection(SERVICES)),
    )
    await serve(
        services,
        address,
        settings=settings,
        credentials=credentials,
        turn=arena.post,
        task_status=task_status,
    )
