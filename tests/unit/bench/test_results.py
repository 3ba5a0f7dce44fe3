import re
import xml.etree.ElementTree as ET
from itertools import combinations
from math import inf

from pytest_snapshot.plugin import Snapshot

from tests.bench import growth, pages, readme, retrieval, table
from tests.bench.__main__ import saved_files
from tests.bench.growth import BASE, COUNTS, HEIGHT, PARTS, STATES, STYLE, WIDTH, Line, grow_project, marks
from tests.bench.measure import Cost
from tests.bench.rows import ROWS, Budget, State
from tests.bench.table import FILE, Cu, Curve, Figure, Result, decode
from tests.unit.queries.search_quality import Scores, scores


def curve(name: str = "sources", power: float = 1.0) -> Curve:
    costs = tuple(Cu(0.1 + 0.02 * factor**power, 18 + 0.6 * factor**power) for factor in (1, 10, 100))
    return Curve(name, State.COLD, tuple(COUNTS[name] * factor for factor in (1, 10, 100)), Cu(0.1, 18.0), costs)


def test_the_committed_results_have_every_row_and_curve_and_agree_with_plot_and_readme() -> None:
    kept = decode(FILE.read_text())
    # `--semantic` needs an extra.
    assert {row.name for row in ROWS} - set(kept.rows) <= {"s2n-tls-132053b, search --semantic session ticket"}
    assert [(one.name, one.state) for one in kept.growth] == [(name, state) for name in COUNTS for state in STATES]
    text = readme.FILE.read_text(encoding="utf-8")
    for path, written in saved_files(kept, text).items():
        assert path.read_text(encoding="utf-8") == written, f"{path.name} is not what `make bench ARGS=--save` writes"
    old = "# duvet\n\n## Performance\n\nold\n\n## More\n"
    written = readme.renew(old, kept)
    assert written == readme.renew(written, kept) == readme.renew(old.replace("old\n\n", ""), kept)
    assert readme.SECTION.findall(written) == readme.SECTION.findall(text)


QUICK = Result("--version", Budget(0.11, 0.14), Cost(0.03, 20.4), 0.3)
SLOW = Result("slow", Budget(0.20, 0.30, 60), Cost(0.091, 60.0), 0.3, Cu(0.27, 54.0))
BIG = Result("big", Budget(0.20, 0.30, 60), Cost(0.03, 60.1), 0.3, Cu(0.2, 60.0))
COMPARED = Result("cold", Budget(0.20, 0.30, 60), Cost(0.045, 50.0), 0.3, Cu(0.15, 50.0), Cost(0.09, 40.0))
GOOD = Scores(0.5, 0.75, 0.5, 0.6, 0.55)
BETTER = GOOD._replace(recall_5=0.51, reciprocal=0.56)


def test_the_tables(snapshot: Snapshot) -> None:
    costs = [QUICK, Result("report", Budget(0.20, 0.30, 60), Cost(0.09, 60.0), 0.3, Cu(0.28, 60.0)), SLOW, BIG]
    figures = [
        *(Figure(name, value, 1.5, 2.5) for name, value in (("a tool", 1.234), ("b", 2.5), ("c", 2.6))),
        *(Figure("without a gate", 99, 2.5, inf), Figure("without a goal", 1_234_567)),
        *(Figure("enough", 0.5, 0.5, is_floor=True), Figure("little", 0.49, 0.5, is_floor=True)),
    ]
    # Times may double, and counts may not.
    found = dict.fromkeys(pages.FIGURES, 0.0) | {"paint": 123.4, "useful": 599, "script": 601, "elements": 20_500}
    visits = list(pages.make_figures("2000 x 2000", found))
    tables = [
        table.render_results(costs),
        table.render_results([QUICK, COMPARED]),
        table.as_json([QUICK, COMPARED], {"commit": "abc"}),
        table.render_figures([*figures, *visits[:6]]),
        growth.render([curve(), curve("annotations", power=1.2)]),
        retrieval.render({"words": GOOD, "both": BETTER}),
    ]
    snapshot.assert_match("\n\n".join(tables), "bench/tables.txt")
    assert [one.passes for one in costs] == [True, True, False, False]
    assert [one.passes for one in figures] == [True, True, False, True, True, True, False]
    assert [one.name.partition(": ")[2] for one in visits if not one.passes] == ["script at the start, ms", "elements"]
    assert (pages.wanted("page of *x 2000"), pages.wanted("*cold")) == (["2000 x 2000", "10000 x 2000"], [])
    flat = Curve("sources", State.COLD, (1, 10, 100), Cu(0.1, 18), (Cu(0.1, 18), Cu(0.1001, 18), Cu(0.104, 18)))
    assert Line(flat, "cu").exponent == 0


def test_one_part_of_a_project_grows_at_a_time() -> None:
    assert {name: grow_project(name, 10)._asdict().items() - BASE._asdict().items() for name in PARTS} == {
        "sources": {("sources", 1000)},
        "annotations": {("citations", 50)},
        "specifications": {("requirements", 1000)},
    }


def test_the_scores_of_retrieval() -> None:
    for words, both, expected in [
        (GOOD, BETTER, True),
        (GOOD, GOOD, False),
        (GOOD, BETTER._replace(reciprocal=0.55), False),
        (GOOD._replace(recall_5=0.45), BETTER, False),
        (GOOD._replace(reciprocal=0.46), BETTER, False),
    ]:
        assert all(figure.passes for figure in retrieval.make_figures(words, both)) is expected
    questions = [{"query": "one", "relevant": ["a", "b"]}, {"query": "two", "relevant": ["z"]}]
    found = {"one": ["x", "a", *"uvwq", "b"], "two": []}
    assert scores(found.__getitem__, questions) == Scores(0.0, 0.5, 0.25, 0.5, 0.25)


def test_texts_of_the_plot_neither_overlap_nor_leave_it_and_both_pages_have_the_same_colours() -> None:
    boxes = []
    for text in ET.parse(growth.FILE).iter("{http://www.w3.org/2000/svg}text"):
        # More than the average width of a character of this size.
        width = 7.5 * len(text.text or "")
        left = float(text.attrib["x"]) - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attrib["text-anchor"]] * width
        boxes.append((left, float(text.attrib["y"]) - 11, left + width, float(text.attrib["y"]) + 3))
    pairs = combinations(boxes, 2)
    assert [(a, b) for a, b in pairs if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]] == []
    assert [one for one in boxes if one[0] < 0 or one[1] < 0 or one[2] > WIDTH or one[3] > HEIGHT] == []
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    pattern = r"^(\S+)(?: \{.*)? (?:fill|stroke): #"
    assert set(re.findall(pattern, light, re.MULTILINE)) == set(re.findall(pattern, dark, re.MULTILINE))
    assert marks(0.16, 1.9) == [0.1, 0.2, 0.5, 1, 2]
