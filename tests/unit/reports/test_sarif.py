import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from hypothesis import example, given
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from pytest_snapshot.plugin import Snapshot

from duvet import rules
from duvet.model import Place, Problem
from duvet.reports.problems import ProblemContext
from duvet.reports.sarif import render_sarif
from duvet.templates.guide_pages import load_rule_page
from tests.unit.reports.test_problem_formats import HOSTILE, PROBLEMS, TEXT, VIEW

# The part of the schema of SARIF 2.1.0 that duvet uses; nothing else is allowed, and results need a rule and a place.


def run_of(*problems: Problem, view: ProblemContext = VIEW) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render_sarif(problems, view))["runs"][0]
    return run


def uri_of(path: str, folder: str = "") -> dict[str, str]:
    problem = rules.FILE_UNREADABLE.problem("m", path)
    (location,) = run_of(problem, view=ProblemContext(folder=folder))["results"][0]["locations"]
    found: dict[str, str] = location["physicalLocation"]["artifactLocation"]
    return found


@example(PROBLEMS, "")
@example((), "")
@given(HOSTILE, TEXT)
def test_a_log_is_valid_whatever_is_in_it(problems: tuple[Problem, ...], line: str) -> None:
    ##= man/spec/problems.md#sarif
    ##% A SARIF log MUST be valid against the schema of SARIF 2.1.0, and contain the explanation of each rule that its
    ##% results name.
    log = json.loads(render_sarif(problems, ProblemContext(lambda *_: line)))
    Draft7Validator(json.loads(Path(__file__).with_name("sarif.schema.json").read_text())).validate(log)
    for result in log["runs"][0]["results"]:
        for location in result["locations"]:
            urlsplit(location["physicalLocation"]["artifactLocation"]["uri"])


def test_rules_have_the_text_of_their_pages() -> None:
    run = run_of(*(rule.problem("m", "p") for rule in rules.list_rules().values()))
    described = run["tool"]["driver"]["rules"]
    assert [(one["id"], one["help"]["markdown"], one["defaultConfiguration"]["level"]) for one in described] == [
        (code, load_rule_page(code).text, rule.severity.value) for code, rule in rules.list_rules().items()
    ]
    assert [result["ruleIndex"] for result in run["results"]] == list(range(len(described)))


PATHS = [
    *("", "src/a.rs", "../a b.rs", "é%#?.rs", "c:d", "a\\b", "\udcff", "/a b/\udcff", "C:\\a b\\c.rs"),
    *("c:/a.rs", "\\\\host\\a b.rs"),
]


def test_paths_are_uris(snapshot: Snapshot) -> None:
    ##= man/spec/problems.md#sarif
    ##% Each SARIF result MUST have a location, and the path of a file in the repository MUST be relative to the root of
    ##% the repository.
    snapshot.assert_match("".join(f"{path!r}: {uri_of(path, 'b')}\n" for path in PATHS), "problems/uris.txt")


@given(TEXT.filter(lambda text: "/" not in text and text.isprintable() and ":" not in text and "\\" not in text))
def test_a_uri_decodes_to_its_path(name: str) -> None:
    path = f"src/{name or 'a'}x"
    assert unquote_to_bytes(uri_of(path)["uri"]) == path.encode()


def test_a_fingerprint_stays_when_its_line_moves() -> None:
    ##= man/spec/problems.md#sarif
    ##% A SARIF result MUST contain the edits that fix its problem, and a fingerprint that does not change when the line
    ##% moves.
    quote, other = "//# The kettle MUST sing.", "//# The kettle MUST dance."
    prints = []
    for line, text in ((3, quote), (5, f"    {quote}\r"), (5, other)):
        problem = rules.QUOTE_NOT_FOUND.problem("m", "a.rs", Place(line, 5, 20))
        (result,) = run_of(problem, view=ProblemContext(lambda *_, text=text: text))["results"]
        prints.append(result["partialFingerprints"]["duvetProblem/v1"])
    assert prints[0] == prints[1] != prints[2]
    # Equal lines have fingerprints of their own.
    problems = [rules.QUOTE_NOT_FOUND.problem("m", "a.rs", Place(line)) for line in (3, 5)]
    first, second = (result["partialFingerprints"] for result in run_of(*problems)["results"])
    assert first != second
