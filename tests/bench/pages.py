"""What people wait for on the page: milliseconds on the clock, elements and bytes."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import FailedError, environment
from tests.bench.page_visits import chromium, visited
from tests.bench.table import align
from tests.bench.workloads import make_tree

SLACK = 2
"""A shared machine may take so many times as long before that fails."""
_PAGE = "page.html"
_OPENED = {"script": 50.0, "heap": 5.0, "elements": 20_000, "longest": 100.0, "slow longest": 250.0}
_DONE = {"specification": 100.0, "panel": 50.0, "requirements": 100.0, "filter": 50.0, "keystroke": 50.0}
_USUAL = {"paint": 300.0, "useful": 400.0, **_OPENED, **_DONE}
_LARGE = {"paint": 400.0, "useful": 600.0, "slow useful": 1200.0, **_OPENED, **_DONE}
PAGES: Mapping[str, Mapping[str, float]] = {"s2n-tls-132053b": _USUAL, "2000 x 2000": _USUAL, "10000 x 2000": _LARGE}
"""What each project's page may take."""
_EXACT = ("elements", "heap")
"""What does not depend on how busy the machine is."""
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
    """Something that was measured, and what it may be."""

    page: str
    name: str
    value: float
    budget: float | None

    @property
    def verdict(self) -> str:
        """In one word."""
        if self.budget is None:
            return ""
        if self.value <= self.budget:
            return "good"
        return "busy?" if self.passes else "TOO MUCH"

    @property
    def passes(self) -> bool:
        """Whether it is within what a busy machine may take."""
        return self.budget is None or self.value <= self.budget * (1 if self.name in _EXACT else SLACK)


def main(options: Namespace) -> int:
    """Measure, tell, and answer with whether every page is quick enough."""
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
    """The projects whose rows match."""
    return [name for name in PAGES if fnmatch(f"page of {name}", only)]


def _measured(names: Sequence[str], options: Namespace) -> Iterator[Figure]:
    with chromium() as browser, tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
        for name in names:
            page = _written(name, options, Path(scratch) / name.replace(" ", ""))
            data = page.read_bytes()
            found = visited(browser, page.as_uri())
            found |= {"bytes": len(data), "gzip": len(gzip.compress(data))}
            yield from (Figure(name, one, found[one], PAGES[name].get(one)) for one in _WORDS)


def _written(name: str, options: Namespace, folder: Path) -> Path:
    make_tree(name, options.shared, folder)
    command = [options.duvet, "report", "--html", _PAGE]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=False)
    if done.returncode:
        raise FailedError(done.stderr.decode(errors="replace"))
    return folder / _PAGE


def render(figures: Sequence[Figure]) -> str:
    """A table, one line for each figure."""
    return align([("page of", "measured", "budget", ""), *map(_cells, figures)])


def _cells(figure: Figure) -> tuple[str, ...]:
    budget = "-" if figure.budget is None else f"{figure.budget:,.0f}"
    value = f"{figure.value:,.1f}" if figure.name == "heap" else f"{figure.value:,.0f}"
    return f"{figure.page}: {_WORDS[figure.name]}", value, budget, figure.verdict
