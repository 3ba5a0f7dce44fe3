"""The benchmark's output for invented figures, and the consistency of the committed results."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from tests.bench import figures, growth, pages, readme, retrieval, table, watching
from tests.bench.budgets import PROJECTS, QUESTIONS, Budget, State
from tests.bench.growth import BASE, COUNTS, STATES, Line, grow_project
from tests.bench.measure import Cost
from tests.bench.plot import HEIGHT, STYLE, WIDTH, Panel, marks, render
from tests.bench.results import FILE, About, Curve, Figure, Results, committed, decode, encode, slips
from tests.bench.table import Result
from tests.bench.watching import Row, Wait
from tests.bench.workloads import question_name
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


def test_the_table_of_costs() -> None:
    assert table.render([QUICK, SLUGGISH, SLOW, BIG]) == (
        "           CPU ms     cu  change  goal  gate  MB  change  gate\n"
        "--version      30  0.100     new  0.11  0.14  20     new     -  good\n"
        "report         90  0.300    +7 %  0.20  0.30  60    +0 %    60  passes\n"
        "slow           91  0.303   +12 %  0.20  0.30  60   +11 %    60  TOO SLOW, SLOWER and BIGGER than before\n"
        "big            30  0.100   -50 %  0.20  0.30  60    +0 %    60  TOO BIG"
    )
    assert [result.passes for result in (QUICK, SLUGGISH, SLOW, BIG)] == [True, True, False, False]


def test_the_table_of_costs_with_a_peer() -> None:
    assert table.render([QUICK, COMPARED]) == (
        "           CPU ms     cu  change  goal  gate  MB  change  gate  peer cu  of peer\n"
        "--version      30  0.100     new  0.11  0.14  20     new     -        -        -  good\n"
        "cold           45  0.150    +0 %  0.20  0.30  50    +0 %    60    0.300     0.50  good"
    )


def test_costs_as_json() -> None:
    names = ["name", "cpu_seconds", "unit_seconds", "cu", "cu_before", "goal", "gate", "rss_mb", "rss_before_mb"]
    names += ["rss_gate_mb", "peer_cpu_seconds", "of_peer", "passes"]
    quick = ["--version", 0.03, 0.3, 0.1, None, 0.11, 0.14, 20.4, None, None, None, None, True]
    compared = ["cold", 0.045, 0.3, 0.15, 0.15, 0.2, 0.3, 50.0, 50.0, 60, 0.09, 0.5, True]
    rows = [dict(zip(names, row, strict=True)) for row in (quick, compared)]
    assert json.loads(table.as_json([QUICK, COMPARED], {"commit": "abc"})) == {"commit": "abc", "rows": rows}


def test_the_table_of_figures() -> None:
    budget = Budget(1.5, 2.5)
    told = [("a tool, p50 in pings", 1.234), ("b", 2.5), ("c", 2.6)]
    found = [figures.Figure(name, value, budget) for name, value in told]
    assert figures.render(found) == (
        "the server            measured  goal  gate\n"
        "a tool, p50 in pings      1.23  1.50  2.50  good\n"
        "b                         2.50  1.50  2.50  passes\n"
        "c                         2.60  1.50  2.50  TOO MUCH"
    )
    assert [one.passes for one in found] == [True, True, False]


def test_the_table_of_pages_where_times_may_double_and_counts_may_not() -> None:
    told = [
        ("paint", 123.4, 300),
        ("useful", 599, 300),
        ("script", 601, 300),
        ("heap", 0.73, 5),
        ("elements", 20_500, 20_000),
        ("gzip", 1_234_567, None),
    ]
    found = [pages.Figure("h3", *one) for one in told]
    assert pages.render(found) == (
        "page of                       measured  budget\n"
        "h3: first paint, ms                123     300  good\n"
        "h3: useful, ms                     599     300  busy?\n"
        "h3: script at the start, ms        601     300  TOO MUCH\n"
        "h3: heap, MB                       0.7       5  good\n"
        "h3: elements                    20,500  20,000  TOO MUCH\n"
        "h3: bytes gzipped            1,234,567       -"
    )
    assert [one.passes for one in found] == [True, True, False, True, False, True]
    assert (pages.wanted("page of *x 2000"), pages.wanted("*cold")) == (["2000 x 2000", "10000 x 2000"], [])


def test_the_table_of_waits() -> None:
    quick = [Wait(0.1, 0.11), Wait(0.12, 0.2), Wait(0.3, 0.4)]
    slow = [Wait(0.3, 0.31)] * 200 + [Wait(0.9, 1), Wait(0.9, 1)]
    assert watching.render([Row("quick", quick, 0.3), Row("slow", slow, 0.3), Row("huge", slow, None)]) == (
        "edit to  reports p50  p99  summary p50  p99  gate\n"
        "quick            120  300          200  400   300  good\n"
        "slow             300  300          310  310   300  TOO SLOW\n"
        "huge             300  300          310  310     -  good"
    )


def test_the_table_of_growth() -> None:
    assert growth.render([curve(), curve("annotations", power=1.2)]) == (
        "                       start    x 1   x 10  x 100  exponent\n"
        "sources, cold, cu      0.100  0.120  0.300  2.100      1.00  good\n"
        "annotations, cold, cu  0.100  0.120  0.417  5.124      1.20  WORSE THAN LINEAR\n"
        "sources, cold, mb         18     19     24     78      1.00  good\n"
        "annotations, cold, mb     18     19     28    169      1.20  WORSE THAN LINEAR"
    )
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


GOOD = Scores(0.5, 0.75, 0.5, 0.6, 0.55)
BETTER = GOOD._replace(recall_5=0.51, reciprocal=0.56)


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


def test_the_table_and_the_scores_of_retrieval() -> None:
    assert [line.split() for line in retrieval.render({"words": GOOD, "both": BETTER}).splitlines()] == [
        ["hit@1", "hit@5", "recall@5", "recall@20", "MRR@10"],
        ["words", "0.500", "0.750", "0.500", "0.600", "0.550"],
        ["both", "0.500", "0.750", "0.510", "0.600", "0.560"],
    ]
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
