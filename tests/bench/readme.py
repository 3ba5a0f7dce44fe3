"""The README's section on performance."""

import re
import textwrap
from collections.abc import Sequence

from tests.bench.measure import ROOT
from tests.bench.rows import State
from tests.bench.table import Results

FILE = ROOT / "README.md"
SECTION = re.compile(r"(?<=^## Performance\n\n).*?(?=^## )", re.MULTILINE | re.DOTALL)
PROJECTS = {
    "s2n-tls-132053b": "s2n-tls",
    "2000 x 2000": "2,000 sources, 10,000 annotations",
    "10000 x 20000": "20,000 sources, 100,000 annotations",
}  # The projects in the table, and their names there.
HEADINGS = ("project", "first run", "first run with HTML", "nothing changed", "one source changed", "memory")
TEXT = """\
CPU time of `duvet report` in milliseconds, writing JSON and a snapshot, on {machine}, Python {python}. `make bench` \
measures it on your machine. Neither time nor memory [grows faster than the project](tests/bench/growth.svg)."""


def renew(readme: str, results: Results) -> str:
    text = TEXT.format(machine=results.machine, python=results.python)
    code = re.sub("`.*?`", lambda found: found[0].replace(" ", "\0"), text)
    wrapped = textwrap.fill(code, 120, break_long_words=False).replace("\0", " ")
    rows: list[Sequence[str]] = [HEADINGS, ("---", *("--:",) * 5)]
    for name, words in PROJECTS.items():
        figures = [results.rows[f"{name}, {state}"] for state in State]
        times = [f"{figure.cu * results.cu_ms:,.0f}" for figure in figures]
        rows.append((words, *times, f"{figures[0].mb:.0f} MB"))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return SECTION.sub(lambda _: f"{wrapped}\n\n{table}\n\n", readme, count=1)
