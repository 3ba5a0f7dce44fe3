"""The committed results, and what is written from them, agree: `make bench ARGS=--save` writes all three."""

from __future__ import annotations

from tests.bench import readme
from tests.bench.budgets import PROJECTS, QUESTIONS
from tests.bench.growth import COUNTS, STATES
from tests.bench.readme import texts
from tests.bench.results import FILE, Figure, committed, decode, encode
from tests.bench.samples import results
from tests.bench.workloads import question_name


def test_the_results_are_written_as_they_are_read() -> None:
    assert FILE.read_text() == encode(committed())


def test_every_row_with_a_budget_has_a_result() -> None:
    rows = {f"{project.name}, {state}" for project in PROJECTS for state in project.budgets}
    questions = set(map(question_name, QUESTIONS))
    assert set(committed().rows) - questions == rows | {"--version", "--help", "extract rfc8446.txt"}


def test_every_curve_has_a_result() -> None:
    found = [(curve.name, curve.state) for curve in committed().growth]
    assert found == [(name, state) for name in COUNTS for state in STATES]


def test_plot_and_readme_say_what_the_results_say() -> None:
    page = readme.FILE.read_text(encoding="utf-8")
    for path, text in texts(committed(), page).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not what `make bench ARGS=--save` writes"


def test_what_a_run_leaves_agrees_however_many_digits_it_measured() -> None:
    measured = results()
    exact = {name: Figure(figure.cu + 0.00049, figure.mb + 0.049) for name, figure in measured.rows.items()}
    bent = [
        curve._replace(figures=tuple(Figure(*(value * 1.00049 for value in figure)) for figure in curve.figures))
        for curve in measured.growth
    ]
    left = texts(measured._replace(rows=exact, growth=bent), "## Performance\n\n## Contributing\n")
    assert texts(decode(left[FILE]), left[readme.FILE]) == left
