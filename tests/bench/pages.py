"""Measures what people wait for on HTML reports in Chromium: elapsed milliseconds, elements and bytes."""

from __future__ import annotations

import gzip
import statistics
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.measure import FailedError, output_of
from tests.bench.rows import make_tree
from tests.bench.table import Figure
from tests.chromium import chromium_program

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RUNS = 5
SLOWDOWN = 4  # how much slower a phone is
SLACK = 2  # Factor by which a shared machine may be slower before the check fails.
PROJECTS = ("s2n-tls-132053b", "2000 x 2000", "10000 x 2000")
# What is measured, and its goals in the usual project and in the last one.
FIGURES: Mapping[str, tuple[str, float, float]] = {
    "paint": ("first paint, ms", 300, 400),
    "useful": ("useful, ms", 400, 600),
    "script": ("script at the start, ms", 50, 50),
    "longest": ("longest task, ms", 100, 100),
    "heap": ("heap, MB", 5, 5),
    "elements": ("elements", 20_000, 20_000),
    "specification": ("a specification, ms", 100, 100),
    "panel": ("the panel, ms", 50, 50),
    "requirements": ("the requirements, ms", 100, 100),
    "filter": ("a filter, ms", 50, 50),
    "keystroke": ("a keystroke, ms", 50, 50),
    "slow paint": ("first paint at 4x, ms", inf, inf),
    "slow useful": ("useful at 4x, ms", inf, 1200),
    "slow longest": ("longest task at 4x, ms", 250, 250),
    "bytes": ("bytes", inf, inf),
    "gzip": ("bytes gzipped", inf, inf),
}
_EXACT = ("elements", "heap")  # Figures that do not depend on the load of the machine.
_PROBE = Path(__file__).with_name("page_probe.js")
_STEPS = Path(__file__).with_name("page_steps.js").read_text()
_SEEN = "() => globalThis.duvetSeen?.useful > 0 && duvetSeen.paint > 0"


@contextmanager
def chromium() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise FailedError("playwright is not installed: pip install playwright") from error
    program = chromium_program()
    if program is None:
        raise FailedError("no chromium on PATH: apt install chromium, or name one in DUVET_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def measure(options: Namespace, scratch: Path) -> Iterator[Figure]:
    with chromium() as browser:
        for name in wanted(options.only):
            folder = scratch / name.replace(" ", "")
            make_tree(name, options.shared, folder)
            output_of([options.duvet, "report", "--html", "page.html"], folder)
            data = (folder / "page.html").read_bytes()
            visits = [_visit(browser, (folder / "page.html").as_uri()) for _ in range(RUNS)]
            found = {one: statistics.median(visit[one] for visit in visits) for one in visits[0]}
            yield from make_figures(name, {**found, "bytes": len(data), "gzip": len(gzip.compress(data))})


def wanted(only: str) -> list[str]:
    return [name for name in PROJECTS if fnmatch(f"page of {name}", only)]


def make_figures(name: str, found: Mapping[str, float]) -> Iterator[Figure]:
    for one, (words, usual, large) in FIGURES.items():
        goal = large if name == PROJECTS[-1] else usual
        yield Figure(f"page of {name}: {words}", found[one], goal, goal * (1 if one in _EXACT else SLACK))


def _visit(browser: Browser, url: str) -> dict[str, float]:
    """Open a page as usual, act as a reader does, and open it again on a slow machine."""
    found: dict[str, float] = {}
    for is_slow in (False, True):
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.add_init_script(path=_PROBE)
        page = context.new_page()
        devtools = context.new_cdp_session(page)
        devtools.send("Performance.enable")

        def metric(name: str) -> float:
            found = devtools.send("Performance.getMetrics")["metrics"]  # noqa: B023 - called at once
            return next(float(one["value"]) for one in found if one["name"] == name)

        if is_slow:
            devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        page.goto(url)
        page.wait_for_function(_SEEN)
        seen = page.evaluate("globalThis.duvetSeen")
        if is_slow:
            found |= {f"slow {name}": value for name, value in seen.items()}
        else:
            found |= {**seen, "script": metric("ScriptDuration") * 1000}
            devtools.send("HeapProfiler.collectGarbage")
            found["heap"] = metric("JSHeapUsedSize") / 1_000_000
            found["elements"] = page.evaluate("document.querySelectorAll('*').length")
            found |= page.evaluate(_STEPS)
        context.close()
    return found
