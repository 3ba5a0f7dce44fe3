"""The README's section on performance, and all that a run leaves in the repository."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.bench import plot, results as kept_results
from tests.bench.budgets import State
from tests.bench.options import ROOT
from tests.bench.results import Results, decode, encode

FILE = ROOT / "README.md"
SECTION = re.compile(r"(?<=^## Performance\n\n).*?(?=^## )", re.MULTILINE | re.DOTALL)
PROJECTS = {
    "s2n-tls-132053b": "s2n-tls",
    "2000 x 2000": "2,000 sources, 10,000 annotations",
    "10000 x 20000": "20,000 sources, 100,000 annotations",
}  # the projects that are shown, and how they are called there
TEXT = """\
CPU time of `duvet report` in milliseconds, when it writes JSON and a snapshot; with the page it writes HTML as well.

{table}

`duvet --version` takes {version:.0f} ms. That was measured on {machine}, with Python {python}. One cu, the time of a
fixed piece of work in Python, is {cu_ms} ms there. Budgets and comparisons are in cu, so that they hold on other
machines too.

Neither time nor memory grows faster than the project. The plot begins at {bases}, and shows what ten times and a hundred times as much
of one of them costs; with sources come their annotations.

![How the time and memory of duvet report grow with its project](tests/bench/growth.svg)

`make bench` measures it on your machine, and `make bench ARGS=--growth` the figures of the plot.
[CONTRIBUTING.md](CONTRIBUTING.md#speed) says what they need.

"""
WIDTH = 120


def renew(readme: str, results: Results) -> str:
    """The README with the section of these results."""
    about = results.about
    counts = [f"{curve.counts[0]:,} {curve.name}" for curve in results.growth if curve.state == State.COLD]
    text = TEXT.format(
        table=_table(results),
        version=results.rows["--version"].cu * about.cu_ms,
        bases=" and ".join([", ".join(counts[:-1]), counts[-1]]),
        **about._asdict(),
    )
    section = "\n\n".join(_wrap(paragraph) for paragraph in text.split("\n\n"))
    return SECTION.sub(lambda _: section, readme, count=1)


def _table(results: Results) -> str:
    headings = ("project", "first run", "first run with the page", "nothing changed", "one source changed", "memory")
    rows = [_cells(results, name, words) for name, words in PROJECTS.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, ("---", *("--:",) * 5), *rows))


def _cells(results: Results, name: str, words: str) -> list[str]:
    figures = [results.rows[f"{name}, {state}"] for state in State]
    times = [f"{figure.cu * results.about.cu_ms:,.0f}" for figure in figures]
    return [words, *times, f"{figures[0].mb:.0f} MB"]


def _wrap(paragraph: str) -> str:
    return paragraph if paragraph.startswith("|") else textwrap.fill(paragraph, WIDTH, break_long_words=False)


def texts(results: Results, page: str) -> dict[Path, str]:
    """What each file has to say; plot and README tell the rounded figures, which are all that anybody can check."""
    encoded = encode(results)
    kept = decode(encoded)
    return {kept_results.FILE: encoded, plot.FILE: plot.render(kept), FILE: renew(page, kept)}
