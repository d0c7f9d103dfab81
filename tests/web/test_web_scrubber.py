"""Stepping through a replay with the slider, a swipe, and the keys ? and c. The table is legible on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from arena.analysis import game_review
from arena.analysis.game_review import GameReview
from arena.analysis.review import Costly
from arena.queries.directory import open_directory
from arena.replay.read import read
from arena.replay.render.renderer import CardFace, SeatScene, TableScene
from arena.replay.render.table_svg import table_svg
from arena.replay.steps import Course
from tests.cli.cli_rig import Played
from tests.cli.web_process_rig import browsing
from tests.web.browser import PHONE, Look, looking, needs_browser
from tests.web.test_web_replay import ready, stepping

pytestmark = needs_browser

NARROW: Final = Look(320, 640, touch=True)
LEGIBLE: Final = 9.0
"""Size in pixels of the smallest text on a card. Names are larger."""
_TEXTS: Final = """() => [...document.querySelectorAll("svg.table text")].map((each) =>
  parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)"""
_BOXES: Final = """() => [...document.querySelectorAll("svg.table > g")]
  .map((each) => each.getBoundingClientRect()).map(({left, top, right, bottom}) => ({left, top, right, bottom}))"""


def steps_asked(asked: list[str]) -> int:
    """Return the number of loaded pages of steps."""
    return sum("/steps/" in each for each in asked)


def test_the_slider_goes_where_it_is_put_with_mouse_and_keyboard(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/1")
        ready(page)
        loaded = steps_asked(seen.asked)
        slider = page.get_by_label("Step", exact=True)
        box, last = slider.bounding_box(), int(slider.get_attribute("max") or 0)
        assert box
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_function("slider => Number(document.getElementById('at').textContent) > 1")
        middle = stepping(page)
        assert abs(middle - last / 2) < last / 20
        assert slider.input_value() == str(middle)
        page.keyboard.press("ArrowRight")  # the slider has the focus and handles its own keys
        page.wait_for_url(f"**/matches/1/steps/{middle + 1}")
        page.keyboard.press("End")
        page.wait_for_url(f"**/matches/1/steps/{last}")
        assert (stepping(page), slider.input_value()) == (last, str(last))
        page.locator("[data-way=previous]").click()
        assert slider.input_value() == str(last - 1), "it follows the other ways, too"
        assert steps_asked(seen.asked) == loaded, "no page was loaded"


def swipe(page: Page, across: int, along: int = 0, fingers: int = 1) -> None:
    """Swipe over the middle of the table with a number of fingers."""
    box = page.locator("figure.seats").bounding_box()
    assert box
    touching = page.context.new_cdp_session(page)

    def put(kind: str, part: float) -> None:
        x, y = box["x"] + box["width"] / 2 + part * across, box["y"] + 120 + part * along
        points = [{"x": x, "y": y + 30 * each, "id": each} for each in range(fingers)] if kind != "touchEnd" else []
        touching.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    put("touchStart", 0)
    for tenth in range(1, 11):
        put("touchMove", tenth / 10)
    put("touchEnd", 1)
    touching.detach()


def test_a_swipe_across_the_table_steps_and_no_other_touch_does(browser: Browser, site: str) -> None:
    with looking(browser, site, PHONE) as seen:
        page = seen.go("/matches/1/steps/5")
        ready(page)
        page.locator("figure.seats").scroll_into_view_if_needed()
        for across, step in ((-90, 6), (-90, 7), (90, 6), (-20, 6), (20, 6)):
            swipe(page, across)
            assert stepping(page) == step, across
        swipe(page, -60, along=-110)
        assert stepping(page) == 6, "that scrolls the page"
        swipe(page, -90, fingers=2)
        assert stepping(page) == 6, "that enlarges it"


def test_a_question_mark_shows_the_keys_and_hides_them(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/1")
        ready(page)
        keys = page.locator("#keys p").first
        assert not keys.is_visible()
        page.keyboard.press("?")
        assert keys.is_visible()
        assert page.evaluate("document.activeElement.closest('#keys') !== null"), "a screen reader is there"
        for key in ("→", "[", "R", "f", "c", "?"):
            assert key in keys.inner_text()
        page.keyboard.press("?")
        assert not keys.is_visible()
        assert stepping(page) == 1


@pytest.fixture
def analysed(arena: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[int]]]:
    """Pages with a stored analysis of match 1 in the user's folder, as `arena why --game` writes it, and the steps of
    the two costliest choices.
    """
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with open_directory(arena.data) as directory:
        replay = read(directory.replay(1))
    review, steps = GameReview(replay), Course(replay).steps
    own = [(place, each.made) for place, each in enumerate(steps, 1) if each.made and each.made.seat == 0]
    chosen = [own[3], own[40]]
    for seat in range(len(replay.header.bots)):
        found = [Costly(made.decision, 0, made.action, made.action, 2.5, 0.5) for _, made in chosen] if not seat else []
        game_review._store(review._key(f"seat {seat}"), found)
    with browsing("--server", arena.server) as (host, port):
        yield f"http://{host}:{port}", [place for place, _ in chosen]


def test_c_goes_to_the_next_choice_that_cost_much(browser: Browser, analysed: tuple[str, list[int]]) -> None:
    site, costly = analysed
    with looking(browser, site) as seen:
        seen.page.clock.install()
        page = seen.go("/matches/1/steps/1")
        page.keyboard.press("c")
        assert stepping(page) == 1, "nothing is known of it yet"
        page.get_by_role("link", name="Ask for the analysis").click()
        page.get_by_role("button", name="Work it out").click()
        while "seats were looked at" not in page.locator("#state").inner_text():
            page.clock.run_for(3000)
        page = seen.go("/matches/1/steps/1")
        page.evaluate("window.kept = true")
        for step in costly:
            page.keyboard.press("c")
            page.wait_for_function("step => document.getElementById('at').textContent === String(step)", arg=step)
            assert "cost 2.5 ± 1.0 points" in page.locator("#frame .costly").inner_text()
        page.keyboard.press("c")
        assert stepping(page) == costly[-1], "there is no further one"
        assert page.evaluate("window.kept"), "no page was loaded"


def overlapping(boxes: list[dict[str, float]]) -> list[tuple[int, int]]:
    """Return pairs of boxes that overlap by more than one pixel."""
    return [
        (one, other)
        for one, a in enumerate(boxes)
        for other, b in enumerate(boxes[:one])
        if min(a["right"], b["right"]) - max(a["left"], b["left"]) > 1
        and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 1
    ]


@pytest.mark.parametrize("look", [NARROW, PHONE], ids=["320", "360"])
def test_a_table_can_be_read_on_a_phone_whoever_sits_there(browser: Browser, site: str, look: Look) -> None:
    card = CardFace("red", "6/9", "*")
    with looking(browser, site, look) as seen:
        page = seen.go("/matches/1/steps/5")
        ready(page)
        for seats in (None, *range(2, 8)):
            if seats is not None:  # tables with larger hands than those in the match
                hand = (card,) * (15 if seats < 5 else 11)
                seat = SeatScene("w" * 40, False, hand, "R6/9 as 6", 3, -120, 40, card, True, True, True, True)
                drawn = table_svg(TableScene((seat,) * seats, card, 3), "a table")
                page.locator("figure.seats").evaluate("(it, drawn) => { it.innerHTML = drawn; }", drawn)
            texts: list[float] = page.evaluate(_TEXTS)
            assert min(texts) >= LEGIBLE, (seats, min(texts))
            boxes: list[dict[str, Any]] = page.evaluate(_BOXES)
            frame = page.locator("svg.table").evaluate("it => it.getBoundingClientRect().toJSON()")
            for box in boxes:
                assert frame["left"] <= box["left"], seats
                assert box["right"] <= frame["right"], seats
                assert frame["top"] <= box["top"], seats
                assert box["bottom"] <= frame["bottom"], seats
            assert overlapping(boxes) == [], seats
            seen.picture(f"table-{seats or 'of-the-match'}-{look.name}")
