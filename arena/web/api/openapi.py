"""The OpenAPI 3.1 document of the interface, from the endpoints' declarations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from arena.version import __version__
from arena.web.answers.responses import PROBLEM_TYPE, REPLAY_TYPE, SCHEMA
from arena.web.api.endpoints import ENDPOINTS, Endpoint
from arena.web.api.parameters import Parameter
from arena.web.api.schemas import Schemas

DESCRIPTION: Final = (
    "Games, ladders, bots, matches, replays and the log, with the names and values of `--json` on the command line. "
    "Anybody may read it, from any page (CORS). A list is paged: `Link` names the next page until there is none. "
    "An answer has an `ETag`; who has it already and says so with `If-None-Match` is told 304."
)


@cache
def document(server: str) -> Mapping[str, Any]:
    """Return the document of the interface at a path such as "/api/v1"."""
    schemas = Schemas()
    paths = {each.path: {"get": _operation(each, schemas)} for each in ENDPOINTS}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Arena", "version": __version__, "description": DESCRIPTION},
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": {**schemas.rows, "Problem": SCHEMA}},
    }


def _operation(endpoint: Endpoint, schemas: Schemas) -> Mapping[str, Any]:
    content: Mapping[str, Any] = {REPLAY_TYPE: {}}
    if endpoint.answers is not None:
        content = {"application/json": {"schema": schemas.schema(endpoint.answers)}}
    wrong = {"description": "What was wrong.", "content": {PROBLEM_TYPE: {"schema": _REF}}}
    statuses = ["404"] if re.search("{", endpoint.path) else []
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [_parameter(each) for each in endpoint.parameters],
        "responses": {
            "200": {"description": endpoint.summary, "headers": _headers(endpoint), "content": content},
            "304": {"description": "The client has it: `If-None-Match` names its `ETag`."},
            **dict.fromkeys(["400", *statuses, "429", "503"], wrong),
        },
    }


def _headers(endpoint: Endpoint) -> Mapping[str, Any]:
    text = {"schema": {"type": "string"}}
    headers = {"ETag": {"description": "Of this answer.", **text}}
    if {"before", "after"} & {each.name for each in endpoint.parameters}:
        headers["Link"] = {"description": 'The next page, as `<address>; rel="next"`; none on the last.', **text}
    return headers


def _parameter(parameter: Parameter) -> Mapping[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
    }


_REF: Final = {"$ref": "#/components/schemas/Problem"}
