"""Error messages of the benchmark of the SDKs if an SDK cannot be measured."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from bench._compiled import ROOT
from bench.sdks import SAMPLES, main

pytestmark = pytest.mark.process

SMALLEST = ("--case", "1x1", "--decisions", "50", "--warm-up", "0", "--repetitions", "1", "--json")


def test_an_sdk_that_is_not_built_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SAMPLES, "go", SAMPLES["go"]._replace(file=ROOT / "build" / "nothing" / "random"))
    ran = CliRunner().invoke(main, ["--language", "go", *SMALLEST])
    assert ran.exit_code == 0, ran.output
    assert ran.stderr == "go is left out: there is no build/nothing/random; make bench-clients builds it\n"
    [turn] = json.loads(ran.stdout)["1x1"].pop("python")
    assert turn["ratio"] == 1
    assert turn["cpu_us"] > 0


def test_a_bot_that_ends_is_told_with_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = (sys.executable, "-c", "raise SystemExit('no cards for me')")
    monkeypatch.setitem(SAMPLES, "python", SAMPLES["python"]._replace(command=ends))
    ran = CliRunner().invoke(main, ["--language", "python", *SMALLEST])
    assert ran.exit_code == 1
    assert "the python bot ended with status 1: no cards for me" in ran.stderr
