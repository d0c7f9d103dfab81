"""The JSON form of rows and documents, the same in `--json` and in the pages' interface."""

from __future__ import annotations

import json
from dataclasses import Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from arena.store.base.rows import JSON_KEY, ONLY_IF_SET


def json_text(document: object, indent: int | None = None) -> str:
    """Return a document as JSON. Rows become objects with their fields, and times become ISO 8601 in UTC."""
    return json.dumps(document, default=_plain, ensure_ascii=False, indent=indent)


def json_key(row_field: Field[Any]) -> str:
    """Return the name of a row's field in JSON."""
    return str(row_field.metadata.get(JSON_KEY, row_field.name))


def always_in_json(row_field: Field[Any]) -> bool:
    """Return True if a row's field is in JSON even if it is empty or 0."""
    return ONLY_IF_SET not in row_field.metadata


def as_objects(value: object) -> Any:
    """Return a value in which every named tuple is replaced by an object with its fields.

    `json_text` would write an array instead.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: as_objects(each) for name, each in zip(value._fields, value, strict=True)}
    if isinstance(value, tuple | list):
        return [as_objects(each) for each in value]
    return value


def _plain(value: object) -> Any:
    if is_dataclass(value):
        named = ((each, getattr(value, each.name)) for each in fields(value))
        return {json_key(each): content for each, content in named if content or always_in_json(each)}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{value!r} has no JSON form")
