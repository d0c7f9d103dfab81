"""The JSON interface as an application that the pages' application mounts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.queries.json_form import json_text
from arena.web.answers.responses import FAULT, OF_ALL, conditional, page, problem, replay_download
from arena.web.api.endpoint import Endpoint, Sources
from arena.web.api.endpoints import ENDPOINTS
from arena.web.api.openapi import document
from arena.web.api.parameters import Asked, BadParameterError
from arena.web.reading.reader import Missing, NotShown, Removed, Unavailable

PATH: Final = "/api/v1"
"""The path at which the interface is mounted."""
JSON: Final = "application/json"
PREFLIGHT: Final = 86_400
"""Seconds for which a browser may cache the response to a CORS preflight request."""
RETRY: Final = "5"
"""Seconds before a client should repeat a request that failed temporarily."""


def api_application(sources: Sources) -> Starlette:
    """Return the interface over the given sources."""
    readers = Middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["GET", "HEAD"],
        allow_headers=["If-None-Match"],
        expose_headers=["ETag", "Link", "Retry-After"],
        max_age=PREFLIGHT,
    )
    made = Starlette(
        routes=[Route("/openapi.json", _description), *(_route(each, sources) for each in ENDPOINTS)],
        middleware=[readers],
        exception_handlers={
            BadParameterError: _bad_parameter,
            Missing: _problem_with(404),
            Removed: _problem_with(410),
            NotShown: _problem_with(501),
            Unavailable: _problem_with(503, {"retry-after": RETRY}),
            HTTPException: _refused,
            Exception: _failed,
        },
    )
    made.router.redirect_slashes = False
    return made


async def api_page(request: Request) -> Response:
    """Show the description of the interface as a page."""
    described = document(request.scope["root"] + PATH)
    examples = {each.path: each.example or each.path for each in ENDPOINTS}
    return page(request, "api.html", api=described, schemas=described["components"]["schemas"], examples=examples)


async def _description(request: Request) -> Response:
    content = json_text(document(request.scope["root"] + PATH)).encode()
    return conditional(request, content, JSON, {"cache-control": "public, max-age=60"})


def _route(endpoint: Endpoint, sources: Sources) -> Route:
    handler: Callable[[Request], Awaitable[Response]] = partial(_answer, endpoint, sources)
    return Route(endpoint.path, handler, methods=["GET"], name=endpoint.name)


async def _answer(endpoint: Endpoint, sources: Sources, request: Request) -> Response:
    asked = _asked(endpoint, request)
    answer = await endpoint.answer(sources, asked)
    if isinstance(answer.document, bytes):
        return replay_download(request, asked["match"], answer.document)
    headers = {"cache-control": f"public, max-age={endpoint.fresh}"}
    if answer.following is not None:
        query = urlencode({**request.query_params, **{name: str(each) for name, each in answer.following.items()}})
        headers["link"] = f'<{request.scope["root"]}{request.url.path}?{query}>; rel="next"'
    return conditional(request, json_text(answer.document).encode(), JSON, headers)


def _asked(endpoint: Endpoint, request: Request) -> Asked:
    """Return the values of a request's parameters.

    Raises:
        BadParameterError: a parameter is invalid, missing, unknown or repeated.
    """
    queried = {each.name for each in endpoint.parameters if each.where == "query"}
    seen: set[str] = set()
    for name, value in request.query_params.multi_items():
        if name not in queried:
            known = f"is no parameter here; there is {', '.join(sorted(queried)) or 'none'}"
            raise BadParameterError(name[:80], value, known)
        if name in seen:
            raise BadParameterError(name, value, "is there twice")
        seen.add(name)
    given = {**request.query_params, **request.path_params}
    return {each.name: each.value(given.get(each.name)) for each in endpoint.parameters}


async def _bad_parameter(_: Request, error: Exception) -> Response:
    assert isinstance(error, BadParameterError)
    return problem(404 if error.in_path else 400, str(error), parameter=error.name, value=error.value)


def _problem_with(
    status: int, headers: Mapping[str, str] | None = None
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return a handler that sends an error's text with this status."""

    async def handler(_: Request, error: Exception) -> Response:
        return problem(status, str(error), headers)

    return handler


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem(404, f"there is nothing at {request.url.path}; {PATH}/openapi.json lists what there is")
    detail = f"{request.method} is not for reading: use GET or HEAD" if error.status_code == 405 else error.detail
    return problem(error.status_code, detail, error.headers)


async def _failed(_: Request, __: Exception) -> Response:
    # This response bypasses the middleware.
    return problem(500, FAULT, OF_ALL)
