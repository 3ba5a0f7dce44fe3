"""The benchmark's output for invented figures, and the consistency of the committed results."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.bench import figures, growth, pages, readme, retrieval, table, watching
from tests.bench.budgets import PROJECTS, QUESTIONS, Budget, State
from tests.bench.growth import BASE, COUNTS, STATES, Line, grow_project
from tests.bench.measure import Cost
from tests.bench.plot import HEIGHT, STYLE, WIDTH, Panel, marks, render
from tests.bench.results import FILE, About, Curve, Figure, Results, committed, decode, encode, slips
from tests.bench.table import Result
from tests.bench.watching import Row, Wait
from tests.bench.workloads import question_name
from tests.conftest import ROOT
from tests.unit.queries.search_quality import Scores, scores

ABOUT = About("abc1234", "3.11.7", "Linux x86_64, 2 cores", 250)


def results() -> Results:
    """Return rows with slightly increasing cost, and straight curves."""
    names = ["--version", *(f"{project.name}, {state}" for project in PROJECTS for state in project.budgets)]
    rows = {name: Figure(0.1 + 0.1 * number, 20.0 + number) for number, name in enumerate(names)}
    return Results(ABOUT, rows, [curve(name, state) for name in COUNTS for state in (State.COLD, State.SAME)])


def curve(name: str = "sources", state: str = State.COLD, power: float = 1.0) -> Curve:
    """Return a cost that grows with this power of the count, in addition to a start."""
    factors = (1, 10, 100)
    costs = tuple(Figure(0.1 + 0.02 * factor**power, 18 + 0.6 * factor**power) for factor in factors)
    return Curve(name, state, tuple(COUNTS[name] * factor for factor in factors), Figure(0.1, 18.0), costs)


def test_the_committed_results_have_every_row_and_curve_and_agree_with_plot_and_readme() -> None:
    kept = committed()
    assert FILE.read_text() == encode(kept)
    rows = {f"{project.name}, {state}" for project in PROJECTS for state in project.budgets}
    assert set(kept.rows) - set(map(question_name, QUESTIONS)) == rows | {"--version", "--help", "extract rfc8446.txt"}
    assert [(one.name, one.state) for one in kept.growth] == [(name, state) for name in COUNTS for state in STATES]
    for path, text in readme.texts(kept, readme.FILE.read_text(encoding="utf-8")).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not what `make bench ARGS=--save` writes"


def test_plot_and_readme_are_written_from_rounded_figures() -> None:
    measured = results()
    exact = {name: Figure(figure.cu + 0.00049, figure.mb + 0.049) for name, figure in measured.rows.items()}
    bent = [
        one._replace(figures=tuple(Figure(*(value * 1.00049 for value in figure)) for figure in one.figures))
        for one in measured.growth
    ]
    left = readme.texts(measured._replace(rows=exact, growth=bent), "## Performance\n\n## Contributing\n")
    assert readme.texts(decode(left[FILE]), left[readme.FILE]) == left


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (Figure(0.2, 40.0), Figure(0.219, 43.9), []),
        (Figure(0.2, 40.0), Figure(0.23, 43.9), ["SLOWER"]),
        (Figure(0.2, 40.0), Figure(0.219, 45.0), ["BIGGER"]),
        (Figure(0.2, 40.0), Figure(0.30, 60.0), ["SLOWER", "BIGGER"]),
        (Figure(0.2, 40.0), Figure(0.10, 20.0), []),
        (None, Figure(9.0, 900.0), []),
    ],
)
def test_a_tenth_more_than_before_is_reported(before: Figure | None, now: Figure, words: list[str]) -> None:
    assert slips(before, now) == words


def test_the_section_of_the_readme_is_renewed_whatever_it_was() -> None:
    empty, old = "# duvet\n\n## Performance\n\n## More\n", "# duvet\n\n## Performance\n\nold\n\n## More\n"
    written = readme.renew(old, results())
    assert written == readme.renew(empty, results()) == readme.renew(written, results())
    assert "| s2n-tls | 150 | 175 | 200 | 225 | 25 MB |\n" in written and "\nold\n" not in written


QUICK = Result("--version", Budget(0.11, 0.14), Cost(0.03, 20.4), 0.3)
SLUGGISH = Result("report", Budget(0.20, 0.30, 60), Cost(0.09, 60.0), 0.3, Figure(0.28, 60.0))
SLOW = Result("slow", Budget(0.20, 0.30, 60), Cost(0.091, 60.0), 0.3, Figure(0.27, 54.0))
BIG = Result("big", Budget(0.20, 0.30, 60), Cost(0.03, 60.1), 0.3, Figure(0.2, 60.0))
COMPARED = Result("cold", Budget(0.20, 0.30, 60), Cost(0.045, 50.0), 0.3, Figure(0.15, 50.0), Cost(0.09, 40.0))


GOOD = Scores(0.5, 0.75, 0.5, 0.6, 0.55)
BETTER = GOOD._replace(recall_5=0.51, reciprocal=0.56)


def test_the_tables(snapshot: Snapshot) -> None:
    costs = [QUICK, SLUGGISH, SLOW, BIG]
    measured = [
        figures.Figure(name, value, Budget(1.5, 2.5)) for name, value in (("a tool", 1.234), ("b", 2.5), ("c", 2.6))
    ]
    # Times may double, and counts may not.
    shown = [("paint", 123.4, 300), ("useful", 599, 300), ("script", 601, 300), ("heap", 0.73, 5)]
    counted = [("elements", 20_500, 20_000), ("gzip", 1_234_567, None)]
    visits = [pages.Figure("h3", *one) for one in (*shown, *counted)]
    quick = [Wait(0.1, 0.11), Wait(0.12, 0.2), Wait(0.3, 0.4)]
    slow = [Wait(0.3, 0.31)] * 200 + [Wait(0.9, 1), Wait(0.9, 1)]
    tables = [
        table.render(costs),
        table.render([QUICK, COMPARED]),
        table.as_json([QUICK, COMPARED], {"commit": "abc"}),
        figures.render(measured),
        pages.render(visits),
        watching.render([Row("quick", quick, 0.3), Row("slow", slow, 0.3), Row("huge", slow, None)]),
        growth.render([curve(), curve("annotations", power=1.2)]),
        retrieval.render({"words": GOOD, "both": BETTER}),
    ]
    snapshot.snapshot_dir = ROOT / "tests/gold/bench"
    snapshot.assert_match("\n\n".join(tables), "tables.txt")
    assert [one.passes for one in costs] == [True, True, False, False]
    assert [one.passes for one in measured] == [True, True, False]
    assert [one.passes for one in visits] == [True, True, False, True, False, True]
    assert (pages.wanted("page of *x 2000"), pages.wanted("*cold")) == (["2000 x 2000", "10000 x 2000"], [])
    flat = curve()._replace(figures=(Figure(0.1, 18), Figure(0.1001, 18), Figure(0.104, 18)))
    assert Line(flat, "cu").exponent == 0


def test_one_part_of_a_project_grows_at_a_time() -> None:
    base = BASE._asdict()
    changes = {
        name: {key: one for key, one in grow_project(name, 10)._asdict().items() if one != base[key]} for name in COUNTS
    }
    assert changes == {
        "sources": {"sources": 1000},
        "annotations": {"citations": 50},
        "specifications": {"requirements": 1000},
    }


@pytest.mark.parametrize(
    ("words", "both", "expected"),
    [
        (GOOD, BETTER, True),
        (GOOD, GOOD, False),
        (GOOD, BETTER._replace(reciprocal=0.55), False),
        (GOOD._replace(recall_5=0.45), BETTER, False),
        (GOOD._replace(reciprocal=0.46), BETTER, False),
    ],
)
def test_words_find_enough_and_both_find_more(words: Scores, both: Scores, expected: bool) -> None:
    assert retrieval.passes({"words": words, "both": both}) is expected


def test_the_scores_of_retrieval() -> None:
    questions = [{"query": "one", "relevant": ["a", "b"]}, {"query": "two", "relevant": ["z"]}]
    found = {"one": ["x", "a", *"uvwq", "b"], "two": []}
    assert scores(found.__getitem__, questions) == Scores(0.0, 0.5, 0.25, 0.5, 0.25)


SVG = "{http://www.w3.org/2000/svg}"
PICTURE = ET.fromstring(render(results()))
CHARACTER = 7.5
"""More than the average width of a character of this size."""
SHIFT = {"start": 0.0, "middle": 0.5, "end": 1.0}


def box(text: ET.Element) -> tuple[float, float, float, float]:
    width = CHARACTER * len(text.text or "")
    left = float(text.attrib["x"]) - SHIFT[text.attrib["text-anchor"]] * width
    return left, float(text.attrib["y"]) - 11, left + width, float(text.attrib["y"]) + 3


def test_texts_of_the_plot_neither_overlap_nor_leave_it() -> None:
    boxes = [box(text) for text in PICTURE.iter(f"{SVG}text")]
    pairs = combinations(boxes, 2)
    assert [(a, b) for a, b in pairs if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]] == []
    assert [one for one in boxes if one[0] < 0 or one[1] < 0 or one[2] > WIDTH or one[3] > HEIGHT] == []


def test_each_colour_of_a_light_page_has_another_on_a_dark_one() -> None:
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    pattern = r"^(\S+)(?: \{.*)? (?:fill|stroke): #"
    assert set(re.findall(pattern, light, re.MULTILINE)) == set(re.findall(pattern, dark, re.MULTILINE))


def test_the_scale_of_a_panel() -> None:
    assert marks(0.16, 1.9) == [0.1, 0.2, 0.5, 1, 2]
    assert Panel(0, 0, 200, 100, 100, 1, 10).proportional(10) == [(100, 100), (200, 0)]
