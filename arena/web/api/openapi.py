"""The OpenAPI 3.1 document of the interface, generated from the endpoints' declarations, and JSON Schemas of its rows.

A row's schema is generated from the types and docstrings of its fields.
"""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any, Final, Union, get_args, get_origin, get_type_hints, is_typeddict

from arena.queries.json_form import always_in_json, json_key
from arena.version import __version__
from arena.web.answers.responses import PROBLEM_TYPE, REPLAY_TYPE, SCHEMA
from arena.web.api.endpoint import Endpoint
from arena.web.api.endpoints import ENDPOINTS
from arena.web.api.parameters import Parameter

SIMPLE: Final[Mapping[object, Mapping[str, Any]]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    Any: {},
}
DESCRIPTION: Final = (
    "What the pages have, with the names and values of `--json` on the command line. "
    "Anybody may read it, from any page (CORS). A list is paged: `Link` names the next page until there is none. "
    "An answer has an `ETag`; who has it already and says so with `If-None-Match` is told 304."
)


class Schemas:
    """The collected schemas of rows, to which other schemas refer."""

    def __init__(self) -> None:
        self.rows: dict[str, Mapping[str, Any]] = {}
        """Schemas by the name of a row's class."""

    def schema(self, shape: Any) -> Mapping[str, Any]:
        """Return the schema of a type, of an object `{"name": shape}` or of an array `[shape]`.

        An object may lack a property whose name ends in "?".

        Raises:
            TypeError: the type has no schema.
        """
        if isinstance(shape, Mapping):
            properties = {name.rstrip("?"): self.schema(inner) for name, inner in shape.items()}
            return _object(properties, {name[:-1] for name in shape if name.endswith("?")})
        if isinstance(shape, list):
            return {"type": "array", "items": self.schema(shape[0])}
        if shape in SIMPLE:
            return SIMPLE[shape]
        if get_origin(shape) is not None:
            return self._composed(get_origin(shape), get_args(shape))
        if isinstance(shape, type) and issubclass(shape, Enum):
            return {"type": "string", "enum": [each.value for each in shape]}
        if isinstance(shape, type) and (is_dataclass(shape) or is_typeddict(shape) or hasattr(shape, "_fields")):
            return self._row(shape)
        raise TypeError(f"{shape!r} has no schema")

    def _composed(self, origin: Any, inner: tuple[Any, ...]) -> Mapping[str, Any]:
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.schema(each) for each in inner]}
        if (origin is tuple and inner[1:] == (Ellipsis,)) or origin in (list, Sequence):
            return {"type": "array", "items": self.schema(inner[0])}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object"}
        raise TypeError(f"{origin!r} of {inner!r} has no schema")

    def _row(self, row: type) -> Mapping[str, Any]:
        if row.__name__ not in self.rows:
            # Registered before its fields, because a row may contain rows of its own class.
            self.rows[row.__name__] = {}
            hints, meanings = get_type_hints(row), field_docstrings(row)
            columns = fields(row) if is_dataclass(row) else ()
            keys = {each.name: json_key(each) for each in columns}
            properties = {}
            for name, hint in hints.items():
                schema = dict(self.schema(hint))
                if name in meanings:
                    schema["description"] = meanings[name]
                properties[keys.get(name, name)] = schema
            absent = {json_key(each) for each in columns if not always_in_json(each)}
            self.rows[row.__name__] = {"description": inspect.getdoc(row) or "", **_object(properties, absent)}
        return {"$ref": f"#/components/schemas/{row.__name__}"}


@cache
def field_docstrings(row: type) -> Mapping[str, str]:
    """Return the docstring below each field of a class, by field name; empty if the source is not available."""
    try:
        [definition] = ast.parse(dedent(inspect.getsource(row))).body
    except (OSError, TypeError):
        return {}
    found = {}
    for node, below in pairwise(definition.body if isinstance(definition, ast.ClassDef) else []):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(below, ast.Expr):
            found[node.target.id] = " ".join(str(ast.literal_eval(below.value)).split())
    return found


def _object(properties: Mapping[str, Mapping[str, Any]], absent: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of an object. `absent`: the optional properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in absent],
    }


@cache
def document(server: str) -> Mapping[str, Any]:
    """Return the document for an interface mounted at a path such as "/api/v1"."""
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
    wrong = {
        "description": "What was wrong.",
        "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    statuses = ["404"] if re.search("{", endpoint.path) else []
    statuses += ["410", "501"] if endpoint.of_replay else []
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [_parameter(each, endpoint.values) for each in endpoint.parameters],
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


def _parameter(parameter: Parameter, examples: Mapping[str, str]) -> Mapping[str, Any]:
    described = {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
    }
    if parameter.name in examples:
        typed = examples[parameter.name]
        described["example"] = int(typed) if parameter.schema["type"] == "integer" else typed
    return described
