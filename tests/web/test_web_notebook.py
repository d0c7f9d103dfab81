"""A replay in a notebook, opened in a browser: two in one page, which loads nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, FrameLocator

from arena.replay.read import read
from arena.replay.render.player import Player
from arena.replay.render.show import ShowError
from arena.replay.replay import Replay
from tests.web.browser import DARK_DESKTOP, DESKTOP, PICTURES, ROOT, Look, looking, needs_browser
from tests.web.test_web_axe import violations

pytestmark = needs_browser

FILL: Final = (
    "(outputs) => { document.getElementById('cells').innerHTML = outputs.map((it) => `<div>${it}</div>`).join('') }"
)


@pytest.fixture(scope="module")
def content(site: str) -> bytes:
    """Return a match of the server as a downloaded file."""
    with urlopen(f"{site}/matches/1/replay", timeout=60) as answer:
        return bytes(answer.read())


@pytest.fixture(scope="module")
def replay(content: bytes) -> Replay:
    return read(content)


def notebook(folder: Path) -> str:
    """Return the address of a page whose cells are filled as in a notebook."""
    (folder / "notebook.html").write_text(
        '<!doctype html><html lang="en"><title>Notebook</title><main><h1>Notebook</h1><div id="cells"></div></main>'
    )
    return folder.as_uri()


def stepping(player: FrameLocator) -> str:
    return player.locator("#at").inner_text()


@pytest.mark.parametrize("look", [DESKTOP, DARK_DESKTOP], ids=["light", "dark"])
def test_two_replays_in_one_notebook_step_on_their_own(
    browser: Browser, replay: Replay, tmp_path: Path, look: Look
) -> None:
    outputs = [Player(replay)._repr_html_(), Player(replay, seat=0)._repr_html_()]
    assert len(outputs[0]) < 500_000
    with looking(browser, notebook(tmp_path), look) as seen:
        page = seen.page
        page.goto(f"{notebook(tmp_path)}/notebook.html")
        page.evaluate(FILL, outputs)
        open_hands, one_seat = (page.frame_locator("iframe").nth(number) for number in (0, 1))
        open_hands.get_by_role("button", name="on ›").click()
        open_hands.locator("body").press("]")
        assert int(stepping(open_hands)) > 2
        assert stepping(one_seat) == "1"
        one_seat.get_by_label("Step", exact=True).fill(str(9))
        assert stepping(one_seat) == "9"
        assert open_hands.locator("svg.table").count() == 1
        names = [bot.name for bot in replay.header.bots]
        assert all(name in open_hands.locator("h1").inner_text() for name in names)
        assert not (found := violations(page)), found
        assert {each.partition(":")[0] for each in seen.asked} <= {"file", "about"}, "nothing was loaded"
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"notebook-{look.name}.png", full_page=True)
        seen.asked.clear()


def test_a_name_that_is_markup_does_nothing_in_a_notebook(browser: Browser, replay: Replay, tmp_path: Path) -> None:
    bots = tuple(
        bot._replace(name=f'"></iframe></script><img src=x onerror=alert(1)>{number}')
        for number, bot in enumerate(replay.header.bots)
    )
    odd = replace(replay, header=replace(replay.header, bots=bots))
    with looking(browser, notebook(tmp_path)) as seen:
        seen.page.goto(f"{notebook(tmp_path)}/notebook.html")
        seen.page.evaluate(FILL, [Player(odd)._repr_html_()])
        player = seen.page.frame_locator("iframe")
        player.get_by_role("button", name="on ›").click()
        assert stepping(player) == "2"
        assert player.locator("img").count() == 0
        assert "<img src=x" in player.locator("h1").inner_text()
        seen.asked.clear()


def test_a_seat_that_a_replay_has_not_is_named(replay: Replay) -> None:
    with pytest.raises(ShowError, match="the replay has seats 0 to 2, not seat 3"):
        Player(replay, seat=3)


def test_what_the_documentation_shows_is_what_a_notebook_runs(
    browser: Browser, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    (shown,) = [each for each in re.findall(r"```pycon\n(.*?)```", text, re.DOTALL) if "Player(" in each]
    monkeypatch.chdir(tmp_path)
    Path("games").mkdir()
    Path("games/match-1.replay").write_bytes(content)
    exec(compile(re.sub(r"^>>> ", "", shown, flags=re.MULTILINE), "library.md", "exec"), {"Path": Path})
    with looking(browser, tmp_path.as_uri()) as seen:
        seen.page.goto(f"{tmp_path.as_uri()}/match.html")
        seen.page.get_by_role("button", name="on ›").click()
        assert seen.page.locator("#at").inner_text() == "2"
        assert not (found := violations(seen.page)), found
        seen.asked.clear()
