"""`tools/settings.py` finds a setting that changes its name, and ignores values that are no longer settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tools.settings import HOLDERS, violations

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
FIELDS = {
    "Config": "patience: float\n    limits: Limits",
    "Limits": "byte_rate: float",
    "Policy": "bank: int",
    "TransportSettings": "connections: int",
}
USED = "def used():\n    return config.patience + limits.byte_rate + policy.bank + settings.connections\n"


def found(text: str, **fields: str) -> list[str]:
    """Return the faults that are found if a module with this text is beside the settings' modules."""
    holders = {path: f"class {name}:\n    {(FIELDS | fields)[name]}\n" for path, name in HOLDERS.values()}
    return violations({**holders, "used.py": USED, "here.py": dedent(text)})


def test_the_arena_keeps_the_names_of_its_settings() -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "settings.py"], check=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rate = self._limits.byte_rate", "rate"),
        ("rate: float = limits.byte_rate", "rate"),
        ("first, rate = 1, limits.byte_rate", "rate"),
        ("if (rate := limits.byte_rate):\n    pass", "rate"),
        ("class A:\n    def f(self):\n        self.rate = self.config.limits.byte_rate", "rate"),
        ("call(rate=limits.byte_rate)", "rate"),
        ("call(partial(other, 1, rate=limits.byte_rate))", "rate"),
        ("def call(rate): ...\ncall(limits.byte_rate)", "rate"),
        ("def call(a, rate): ...\npartial(call, 1, limits.byte_rate)", "rate"),
        ("class A:\n    def __init__(self, a, rate): ...\nA(1, limits.byte_rate)", "rate"),
        ("class A:\n    def __init__(self, byte_rate):\n        self._rate = byte_rate\nA(limits.byte_rate)", "_rate"),
        (
            "def f(byte_rate):\n    g(byte_rate)\ndef g(byte_rate):\n    h(rate=byte_rate)\nf(limits.byte_rate)",
            "rate",
        ),
    ],
)
def test_a_setting_that_changes_its_name_is_found(text: str, name: str) -> None:
    [line] = found(text)
    assert line.startswith("here.py:")
    assert line.endswith(f": the setting byte_rate is called {name}")


@pytest.mark.parametrize(
    "text",
    [
        "byte_rate = limits.byte_rate",
        "class A:\n    def __init__(self, byte_rate):\n        self._byte_rate = byte_rate\nA(limits.byte_rate)",
        "call(byte_rate=limits.byte_rate)",
        "kibibytes = limits.byte_rate / 1024",
        "rate = header.byte_rate",
        "def call(rate): ...\ndef other():\n    def call(speed): ...\ncall(limits.byte_rate)",
        "TokenBucket(rate=limits.byte_rate)",
        "def f():\n    left = policy.bank\n    left -= 1",
        "class A:\n    def f(self):\n        self.left = policy.bank\n    def g(self):\n        self.left = 0",
        "limits.byte_rate = rate",
        "def f(byte_rate):\n    rate = byte_rate",
    ],
)
def test_what_keeps_its_name_or_is_another_number_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_setting_that_nothing_reads_is_found() -> None:
    assert found("config.drain = 3", Config="patience: float\n    drain: float") == ["nothing reads the setting drain"]


def test_two_settings_of_one_name_are_found() -> None:
    assert found("", Limits="byte_rate: float\n    bank: int") == ["bank is the name of 2 settings"]
