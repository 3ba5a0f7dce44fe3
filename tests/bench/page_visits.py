"""Pages opened in Chromium, and how long that takes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.measure import FailedError
from tests.chromium import chromium_program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

RUNS = 5
SLOWDOWN = 4
"""How much slower a phone is."""
_PROBE = Path(__file__).with_name("page_probe.js")
_STEPS = Path(__file__).with_name("page_steps.js").read_text()
_SEEN = "() => globalThis.duvetSeen?.useful > 0 && duvetSeen.paint > 0"
_MB = 1_000_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; FailedError where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise FailedError("playwright is not installed") from error
    program = chromium_program()
    if program is None:
        raise FailedError("no chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def visited(browser: Browser, url: str) -> dict[str, float]:
    """The medians of several visits, as they are and on a slow machine."""
    usual = _medians(browser, url, _visit)
    slow = _medians(browser, url, _slow_visit)
    return usual | slow


def _medians(browser: Browser, url: str, visit: Callable[[Page, str], dict[str, float]]) -> dict[str, float]:
    found: list[dict[str, float]] = []
    for _ in range(RUNS):
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.add_init_script(path=_PROBE)
        found.append(visit(context.new_page(), url))
        context.close()
    return {name: statistics.median(one[name] for one in found) for name in found[0]}


def _visit(page: Page, url: str) -> dict[str, float]:
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    seen = _opened(page, url)
    script = _metrics(devtools)["ScriptDuration"] * 1000
    devtools.send("HeapProfiler.collectGarbage")
    heap = _metrics(devtools)["JSHeapUsedSize"] / _MB
    elements = page.evaluate("document.querySelectorAll('*').length")
    return {**seen, "script": script, "heap": heap, "elements": elements, **page.evaluate(_STEPS)}


def _slow_visit(page: Page, url: str) -> dict[str, float]:
    devtools = page.context.new_cdp_session(page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    return {f"slow {name}": value for name, value in _opened(page, url).items()}


def _opened(page: Page, url: str) -> dict[str, float]:
    page.goto(url)
    page.wait_for_function(_SEEN)
    seen: dict[str, float] = page.evaluate("globalThis.duvetSeen")
    return seen


def _metrics(devtools: CDPSession) -> dict[str, float]:
    found: dict[str, Any] = devtools.send("Performance.getMetrics")
    return {one["name"]: one["value"] for one in found["metrics"]}
