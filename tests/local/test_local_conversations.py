"""`arena check --conversations`: the conversations of the SDKs' tests, played with any program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from arena.local.check.conversations import ConversationsUnreadable, read_conversations
from tests.cli.cli_rig import arena
from tests.local.test_local_check import ROOT, SDK, checked

CONFORMANCE: Final = ROOT / "clients" / "conformance"
PYTHON: Final = (sys.executable, "-m", "arena_client.samples.rule_bot", *SDK)
SOME: Final = (
    "Decisions of one message are answered in one message, in their order",
    "Numbers above 2^53 are what they are",
    "A stream that ends with RESOURCE_EXHAUSTED and OVER_BUDGET is opened again",
    "A stream that ends with FAILED_PRECONDITION and NO_SUCH_GAME ends the bot",
    "Suspended seats are taken again with the answers of the same message",
    "Fields that are not known are passed over",
    "A pause that the server asks for comes on top of the wait",
)
"""Titles of some short conversations of different kinds."""


def named(*titles: str) -> list[str]:
    """Return the options that select conversations by their titles."""
    names = {each.asks.removesuffix("."): each.name for each in read_conversations(CONFORMANCE)}
    return [word for title in titles for word in ("--only", names[title])]


def test_most_conversations_can_be_asked_of_any_program() -> None:
    titles = [
        (file.stem, each["title"], each)
        for file in sorted((CONFORMANCE / "conversations").glob("*.json"))
        for each in json.loads(file.read_text())
    ]
    played = {each.asks.removesuffix(".") for each in read_conversations(CONFORMANCE)}
    assert len(played) > 60
    left_out = [each for _, title, each in titles if title not in played]
    assert all("bot" in each or _needs_more(each) for each in left_out)


def _needs_more(conversation: dict[str, Any]) -> bool:
    steps = {name for step in conversation["steps"] for name in step}
    asked = [step["breaks"]["pause"] for step in conversation["steps"] if "pause" in step.get("breaks", {})]
    if any(not 0 <= int(each.get("seconds", 0)) <= 10 for each in asked):
        return True
    return bool(steps & {"while_thinking", "passes", "closes", "stops", "restarts"}) or "nullern" in json.dumps(
        conversation
    )


@pytest.mark.process
def test_a_sample_plays_them() -> None:
    status, found = checked(PYTHON, "--conversations", str(CONFORMANCE), *named(*SOME))
    assert {each["name"]: each["text"] for each in found["checks"] if each["verdict"] != "pass"} == {}
    assert (status, found["counts"]["pass"]) == (0, 2 + len(SOME))


@pytest.mark.process
@pytest.mark.parametrize(
    ("fault", "title", "text"),
    [
        (
            "Fights",
            "A stream that ends with FAILED_PRECONDITION and TAKEN_OVER ends the bot",
            "it came back, and trying again",
        ),
        ("NoHeartbeat", "A pause without a reason counts", "before the pause was over"),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in (
                ("NeverComesBack", "A stream that ends with UNAVAILABLE is opened again", "the program ended"),
                ("NoHeartbeat", "A heartbeat is sent back by itself, before the bot thinks", 'it should say {"ans'),
            )
        ),
    ],
)
def test_a_bot_that_does_otherwise_is_found(fault: str, title: str, text: str) -> None:
    bot = [sys.executable, "-m", "tests.bots.nonconforming", fault]
    status, found = checked(bot, "--conversations", str(CONFORMANCE), *named(title))
    [failed] = [each for each in found["checks"] if each["verdict"] != "pass"]
    assert (status, failed["verdict"], failed["asks"]) == (1, "fail", f"{title}.")
    assert text in failed["text"]


@pytest.mark.process
@pytest.mark.long
@pytest.mark.parametrize("sample", ["random_bot", "rule_bot"])
def test_the_samples_play_all_of_them(sample: str) -> None:
    bot = [sys.executable, "-m", f"arena_client.samples.{sample}", *SDK]
    status, found = checked(bot, "--conversations", str(CONFORMANCE))
    assert {each["name"]: each["text"] for each in found["checks"] if each["verdict"] != "pass"} == {}
    assert status == 0


def test_a_folder_without_conversations_is_a_wrong_command_line(tmp_path: Path) -> None:
    ran = arena("check", "--conversations", str(tmp_path), "--list")
    assert ran.exit_code == 2
    assert f"there are no conversations in {tmp_path}: name the folder clients/conformance" in ran.output
    (tmp_path / "messages.json").write_text("{}")
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations" / "broken.json").write_text('[{"title": "x", "steps": [{"server": "unknown"}]}]')
    with pytest.raises(ConversationsUnreadable, match=r"broken\.json has no conversations: 'unknown'"):
        read_conversations(tmp_path)


def test_they_are_listed_and_chosen_by_name() -> None:
    ran = arena("check", "--conversations", str(CONFORMANCE), "--list", "--json", "--only", "decisions-1")
    assert [each["name"] for each in json.loads(ran.stdout)["checks"]] == ["start", "hello", "decisions-1"]
    ran = arena("check", "--conversations", str(CONFORMANCE), "--list", "--only", "heartbeat")
    assert ran.exit_code == 2
    assert "there is no check 'heartbeat'" in ran.output


def test_the_page_says_how_many_there_are() -> None:
    page = " ".join((ROOT / "docs" / "check.md").read_text().split())
    assert (
        f"neither the test's own bot nor its clock, some {round(len(read_conversations(CONFORMANCE)), -1)} in two"
        in page
    )
