"""Time from a key to the drawn step of a match, and layout shifts of its page, in Chromium.

    python -m bench.steps [--steps 200] [--repetitions 3] [--json]

`arena web` shows a match of random play. A key press makes each step. Its time is the processor time of the page's
thread from the key press until the step is painted: scripts, style, layout and painting. Other work on the machine does
not count. There are two bars: for the 95th percentile, and for the sum of all layout shifts, including those after
input.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import click
import trio
from playwright.sync_api import Browser, CDPSession, ViewportSize, sync_playwright
from rich.console import Console

from bench import listings
from bench.pages import pages, prepare

MATCHES: Final = 1000
WINDOW: Final = ViewportSize(width=1280, height=800)
STEP: Final = 16.0
"""Maximum 95th percentile of the time of a step in milliseconds: one frame at 60 Hz."""
SHIFTS: Final = 0.02
"""Maximum sum of the layout shifts while stepping through a match."""
_WATCH: Final = """() => {
  window.shifts = 0;
  const add = (list) => list.getEntries().forEach((each) => { window.shifts += each.value; });
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
}"""
_DRAWN: Final = """async (step) => {
  const next = () => new Promise(requestAnimationFrame);
  while (Number(document.getElementById("at").textContent) !== step) await next();
  await next();
  await next();
}"""


def chromium() -> str:
    """Return the path of the browser.

    Raises:
        ClickException: no browser is installed.
    """
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return found
    raise click.ClickException("there is no Chromium: tools/debian-packages.sh installs it")


def measure(browser: Browser, address: str, steps: int) -> tuple[list[float], float]:
    """Step through a match. Return the milliseconds of each step and the sum of the layout shifts."""
    page = browser.new_page(viewport=WINDOW)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.evaluate(_WATCH)
    measuring = page.context.new_cdp_session(page)
    measuring.send("Performance.enable", {"timeDomain": "threadTicks"})
    last, found = int(page.locator("#steps").get_attribute("data-last") or 0), []
    for step in range(2, min(steps + 1, last) + 1):
        before = _worked(measuring)
        page.keyboard.press("ArrowRight")
        page.evaluate(_DRAWN, step)
        found.append(_worked(measuring) - before)
    shifts = float(page.evaluate("window.shifts"))
    page.close()
    return found, shifts


def _worked(measuring: CDPSession) -> float:
    """Return the processor time of the page's thread in milliseconds."""
    metrics = measuring.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


@click.command(help="Measure the time from a key to the drawn step of a match, and layout shifts.")
@click.option("--steps", default=200, show_default=True, type=click.IntRange(2), help="Steps of each match, at most.")
@click.option("--repetitions", default=3, show_default=True, type=click.IntRange(1), help="Matches to step through.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
def main(steps: int, repetitions: int, as_json: bool) -> None:
    """Measure. Exit with 1 if a bar is missed."""
    program, times, shifts = chromium(), list[float](), list[float]()
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "data"
        trio.run(listings.make, directory, MATCHES)
        newest = prepare(directory)
        with pages(directory) as (host, port, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            for number in range(newest, newest - repetitions, -1):
                took, shifted = measure(browser, f"http://{host}:{port}/matches/{number}", steps)
                times += took
                shifts.append(shifted)
            browser.close()
    found: dict[str, Any] = {
        "steps": len(times),
        "median_ms": median(times),
        "p95_ms": quantiles(times, n=20, method="inclusive")[-1],
        "largest_ms": max(times),
        "layout_shifts": max(shifts),
    }
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        _print(found)
    sys.exit(int(found["p95_ms"] > STEP or found["layout_shifts"] > SHIFTS))


def _print(found: dict[str, Any]) -> None:
    console = Console()
    reached = "reached" if found["p95_ms"] <= STEP else "MISSED"
    console.print(
        f"A step of {found['steps']}: median {found['median_ms']:.1f} ms, 95 % {found['p95_ms']:.1f} ms, largest "
        f"{found['largest_ms']:.1f} ms, bar ≤ {STEP:.0f} ms: {reached}"
    )
    reached = "reached" if found["layout_shifts"] <= SHIFTS else "MISSED"
    console.print(f"Layout shifts of a match: {found['layout_shifts']:.4f}, bar ≤ {SHIFTS}: {reached}")


if __name__ == "__main__":
    main()
