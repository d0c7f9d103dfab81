"""The declaration of a setting as a field of a dataclass."""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeVar

T = TypeVar("T")


def setting(default: T, help_text: str, **more: object) -> T:
    """Declare a setting with its default and its meaning. `more`: its unit, least and most value, or choices.

    Compiled modules use `dataclasses.field`, because mypyc does not know this function.
    """
    declared: Any = field(default=default, metadata={"help": help_text, **more})
    value: T = declared
    return value
