"""Measures what people wait for on HTML reports in Chromium: elapsed milliseconds, elements and bytes."""

from __future__ import annotations

import gzip
import statistics
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.measure import FailedError, output_of
from tests.bench.table import align
from tests.bench.workloads import make_tree
from tests.chromium import chromium_program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

RUNS = 5
SLOWDOWN = 4  # how much slower a phone is
_PROBE = Path(__file__).with_name("page_probe.js")
_STEPS = Path(__file__).with_name("page_steps.js").read_text()
_SEEN = "() => globalThis.duvetSeen?.useful > 0 && duvetSeen.paint > 0"
_MB = 1_000_000


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
    return dict(page.evaluate("globalThis.duvetSeen"))


def _metrics(devtools: CDPSession) -> dict[str, float]:
    return {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}


SLACK = 2  # Factor by which a shared machine may be slower before the check fails.
_PAGE = "page.html"
_OPENED = {"script": 50.0, "heap": 5.0, "elements": 20_000, "longest": 100.0, "slow longest": 250.0}
_DONE = {"specification": 100.0, "panel": 50.0, "requirements": 100.0, "filter": 50.0, "keystroke": 50.0}
_USUAL = {"paint": 300.0, "useful": 400.0, **_OPENED, **_DONE}
_LARGE = {"paint": 400.0, "useful": 600.0, "slow useful": 1200.0, **_OPENED, **_DONE}
PAGES: Mapping[str, Mapping[str, float]] = {"s2n-tls-132053b": _USUAL, "2000 x 2000": _USUAL, "10000 x 2000": _LARGE}
"""What each project's page may take."""
_EXACT = ("elements", "heap")  # Figures that do not depend on the load of the machine.
_WORDS = {
    "paint": "first paint, ms",
    "useful": "useful, ms",
    "script": "script at the start, ms",
    "longest": "longest task, ms",
    "heap": "heap, MB",
    "elements": "elements",
    "specification": "a specification, ms",
    "panel": "the panel, ms",
    "requirements": "the requirements, ms",
    "filter": "a filter, ms",
    "keystroke": "a keystroke, ms",
    "slow paint": "first paint at 4x, ms",
    "slow useful": "useful at 4x, ms",
    "slow longest": "longest task at 4x, ms",
    "bytes": "bytes",
    "gzip": "bytes gzipped",
}


class Figure(NamedTuple):
    page: str
    name: str
    value: float
    budget: float | None

    @property
    def verdict(self) -> str:
        if self.budget is None:
            return ""
        if self.value <= self.budget:
            return "good"
        return "busy?" if self.passes else "TOO MUCH"

    @property
    def passes(self) -> bool:
        return self.budget is None or self.value <= self.budget * (1 if self.name in _EXACT else SLACK)


def main(options: Namespace) -> int:
    names = wanted(options.only)
    if not names or options.shared is None:
        return 0
    try:
        figures = list(_measured(names, options))
    except FailedError as error:
        print(f"bench: the pages are not measured: {error}", file=sys.stderr)
        return 1 if options.pages else 0
    print(render(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def wanted(only: str) -> list[str]:
    return [name for name in PAGES if fnmatch(f"page of {name}", only)]


def _measured(names: Sequence[str], options: Namespace) -> Iterator[Figure]:
    with chromium() as browser, tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
        for name in names:
            folder = Path(scratch) / name.replace(" ", "")
            make_tree(name, options.shared, folder)
            output_of([options.duvet, "report", "--html", _PAGE], folder)
            page = folder / _PAGE
            data = page.read_bytes()
            found = _medians(browser, page.as_uri(), _visit) | _medians(browser, page.as_uri(), _slow_visit)
            found |= {"bytes": len(data), "gzip": len(gzip.compress(data))}
            yield from (Figure(name, one, found[one], PAGES[name].get(one)) for one in _WORDS)


def render(figures: Sequence[Figure]) -> str:
    rows = []
    for one in figures:
        budget = "-" if one.budget is None else f"{one.budget:,.0f}"
        value = f"{one.value:,.1f}" if one.name == "heap" else f"{one.value:,.0f}"
        rows.append((f"{one.page}: {_WORDS[one.name]}", value, budget, one.verdict))
    return align([("page of", "measured", "budget", ""), *rows])
