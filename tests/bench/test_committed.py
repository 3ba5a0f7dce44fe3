"""The committed results, and what is written from them, agree: `make bench ARGS=--save` writes all three."""

from __future__ import annotations

from tests.bench import plot, readme
from tests.bench.budgets import PROJECTS
from tests.bench.results import FILE, committed, encode
from tests.bench.sweep import COUNTS, STATES


def test_the_results_are_written_as_they_are_read() -> None:
    assert FILE.read_text() == encode(committed())


def test_every_row_with_a_budget_has_a_result() -> None:
    rows = {f"{project.name}, {state}" for project in PROJECTS for state in project.budgets}
    assert set(committed().rows) == rows | {"--version", "--help", "extract rfc8446.txt"}


def test_every_curve_has_a_result() -> None:
    found = [(curve.name, curve.state) for curve in committed().growth]
    assert found == [(name, state) for name in COUNTS for state in STATES]


def test_the_readme_says_what_the_results_say() -> None:
    text = readme.FILE.read_text(encoding="utf-8")
    assert readme.renew(text, committed()) == text


def test_the_plot_shows_what_the_results_say() -> None:
    assert plot.FILE.read_text(encoding="utf-8") == plot.render(committed())
