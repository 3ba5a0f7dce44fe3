"""The README's section on performance, and all files that a saved benchmark run rewrites."""

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
}  # The projects in the table, and their names there.
TEXT = """\
CPU time of `duvet report` in milliseconds, writing JSON and a snapshot, on {machine}, Python {python}. `make bench`
measures it on your machine. Neither time nor memory [grows faster than the project](tests/bench/growth.svg).

{table}

"""
WIDTH = 120


def renew(readme: str, results: Results) -> str:
    about = results.about
    text = TEXT.format(table=_table(results), machine=about.machine, python=about.python)
    section = "\n\n".join(_wrap(paragraph) for paragraph in text.split("\n\n"))
    return SECTION.sub(lambda _: section, readme, count=1)


def _table(results: Results) -> str:
    headings = ("project", "first run", "first run with HTML", "nothing changed", "one source changed", "memory")
    rows = []
    for name, words in PROJECTS.items():
        figures = [results.rows[f"{name}, {state}"] for state in State]
        times = [f"{figure.cu * results.about.cu_ms:,.0f}" for figure in figures]
        rows.append([words, *times, f"{figures[0].mb:.0f} MB"])
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, ("---", *("--:",) * 5), *rows))


def _wrap(paragraph: str) -> str:
    if paragraph.startswith("|"):
        return paragraph
    whole = re.sub("`.*?`", lambda code: code[0].replace(" ", "\0"), paragraph.replace("\n", " "))
    return textwrap.fill(whole, WIDTH, break_long_words=False).replace("\0", " ")


def texts(results: Results, page: str) -> dict[Path, str]:
    """Return the text of each file; the plot and the README show rounded figures."""
    encoded = encode(results)
    kept = decode(encoded)
    return {kept_results.FILE: encoded, plot.FILE: plot.render(kept), FILE: renew(page, kept)}
