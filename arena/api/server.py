"""The gRPC server of an arena: all services on one port."""

from __future__ import annotations

import ssl
from typing import Final

import trio
from arena_client.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    game_pb2,
    game_pb2_grpc,
    ladder_pb2,
    ladder_pb2_grpc,
    log_pb2,
    log_pb2_grpc,
    matches_pb2,
    matches_pb2_grpc,
    operator_pb2,
    operator_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
    status_pb2,
    status_pb2_grpc,
)
from grpc_health.v1 import health, health_pb2_grpc

from arena.api.bot_service import BotService
from arena.api.operator_service import OperatorService
from arena.api.play_service import PlayService
from arena.api.query_services import EventService, LogService, QueryServices, StatusService
from arena.api.statuses import ERROR_DOMAIN
from arena.server.arena import Arena
from trio_grpc.grpc import reflection
from trio_grpc.grpc.health import Health
from trio_grpc.grpc.server import Service, serve

FILES: Final = (bots_pb2, events_pb2, game_pb2, ladder_pb2, log_pb2, matches_pb2, operator_pb2, play_pb2, status_pb2)
NAMES: Final = tuple(service.full_name for file in FILES for service in file.DESCRIPTOR.services_by_name.values())
SERVICES: Final = (*NAMES, health.SERVICE_NAME, *reflection.SERVICES)


async def serve_arena(
    arena: Arena,
    address: str,
    *,
    credentials: ssl.SSLContext | None = None,
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled. Report the bound port once started.

    Raises: RuntimeError: The address cannot be bound.
    """
    query_services = QueryServices(arena)
    services = (
        Service(play_pb2_grpc.add_PlayServiceServicer_to_server, PlayService(arena), as_bytes=True),
        Service(game_pb2_grpc.add_GameServiceServicer_to_server, query_services),
        Service(bots_pb2_grpc.add_BotServiceServicer_to_server, BotService(arena)),
        Service(events_pb2_grpc.add_EventServiceServicer_to_server, EventService(arena)),
        Service(ladder_pb2_grpc.add_LadderServiceServicer_to_server, query_services),
        Service(log_pb2_grpc.add_LogServiceServicer_to_server, LogService(arena)),
        Service(matches_pb2_grpc.add_MatchServiceServicer_to_server, query_services),
        Service(operator_pb2_grpc.add_OperatorServiceServicer_to_server, OperatorService(arena)),
        Service(status_pb2_grpc.add_StatusServiceServicer_to_server, StatusService(arena)),
        Service(health_pb2_grpc.add_HealthServicer_to_server, Health(NAMES, arena.stopping)),
        Service(reflection.register, reflection.Reflection(SERVICES)),
    )
    await serve(
        services,
        address,
        settings=arena.config.transport,
        credentials=credentials,
        turn=arena.turns,
        error_domain=ERROR_DOMAIN,
        task_status=task_status,
    )
