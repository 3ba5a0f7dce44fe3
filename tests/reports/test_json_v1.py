"""Upstream's first JSON report"""

from __future__ import annotations

import json
from io import BytesIO
from itertools import product
from typing import Any

from duvet.reports import json_v1
from duvet.trace.finished import Finished
from tests.reports.made import FILES, finished

TEA = "# Tea\n\n## Pot\n\n  The pot MUST be ☕.\n\nIt MAY \\ be.\n"
RFC = "1.  Cup\n\n   A cup.\n"
COMMENTS = """\
//= tea.md#pot
//= type=spec
//= level=MUST
//# The pot MUST be ☕.

//= tea.md#pot
//= type=test
//= level=MAY
//# MUST be ☕. It

//= tea.md#pot
//= type=exception
//= reason=so "what"
//# pot

//= tea.md#pot

//= https://HOST.example/cup#1
//= type=todo
//= feature=cups
//= tracking-issue=7
//# A cup
"""
CONFIG = """\
'$schema' = "duvet-cli/config/v1"
source = [{ pattern = "*.rs", blob-link = "https://own" }]
"""
SMALL = {
    ".duvet/config.toml": CONFIG,
    "tea.md": TEA,
    ".duvet/specifications/host.example/cup.txt": RFC,
    "a.rs": COMMENTS,
}


def rendered(report: Finished) -> str:
    out = BytesIO()
    json_v1.render(report, out)
    return out.getvalue().decode()


def document(report: Finished) -> dict[str, Any]:
    """The report without its table of references, which is always the same."""
    found: dict[str, Any] = json.loads(rendered(report))
    assert list(found)[-4:] == ["specifications", "annotations", "statuses", "refs"]
    del found["refs"]
    return found


def test_a_small_report() -> None:
    assert document(finished(SMALL, "https://blob", "https://issues")) == {
        "blob_link": "https://blob",
        "issue_link": "https://issues",
        "specifications": {
            "https://host.example/cup": {
                "format": "ietf",
                "requirements": [],
                "sections": [
                    {
                        "id": "section-1",
                        "title": "Cup",
                        "lines": [[[[], 0, "   "], [[4], 1, "A cup"], [[], 0, "."]]],
                    }
                ],
            },
            "tea.md": {
                "title": "Tea",
                "format": "markdown",
                "requirements": [0],
                "sections": [
                    {"id": "tea", "title": "Tea", "lines": []},
                    {
                        "id": "pot",
                        "title": "Pot",
                        "lines": [
                            [
                                [[], 0, "  "],
                                [[0], 224, "The "],
                                [[0, 2], 226, "pot"],
                                [[0], 224, " "],
                                [[0, 1], 228, "MUST be ☕."],
                            ],
                            "",
                            [[[1], 68, "It"], [[], 0, " MAY \\ be."]],
                        ],
                        "requirements": [0],
                    },
                ],
            },
        },
        "annotations": [
            {
                "source": "a.rs",
                "target_path": "tea.md",
                "target_section": "pot",
                "line": 1,
                "type": "SPEC",
                "level": "MUST",
                "blob_link": "https://own",
            },
            {
                "source": "a.rs",
                "target_path": "tea.md",
                "target_section": "pot",
                "line": 6,
                "type": "TEST",
                "level": "MAY",
                "blob_link": "https://own",
            },
            {
                "source": "a.rs",
                "target_path": "tea.md",
                "target_section": "pot",
                "line": 11,
                "type": "EXCEPTION",
                "comment": 'so "what"',
                "blob_link": "https://own",
            },
            {
                "source": "a.rs",
                "target_path": "tea.md",
                "target_section": "pot",
                "line": 16,
                "blob_link": "https://own",
            },
            {
                "source": "a.rs",
                "target_path": "https://HOST.example/cup",
                "target_section": "1",
                "line": 18,
                "type": "TODO",
                "feature": "cups",
                "tracking_issue": "7",
                "blob_link": "https://own",
            },
        ],
        "statuses": {"0": {"spec": 20, "incomplete": 5, "test": 12, "exception": 3, "related": [1, 2]}},
    }


def test_nothing() -> None:
    text = rendered(finished({}))
    start = '{"specifications":{},"annotations":[],"statuses":{},"refs":[{},{"todo":true},{"exception":true},'
    assert text.startswith(start)
    assert text.endswith('"test":true,"exception":true,"todo":true,"level":"MUST"}]}')


def test_references_count_through_all_that_can_refer() -> None:
    names = ["spec", "citation", "implication", "test", "exception", "todo"]
    bits = dict(zip(["todo", "exception", "test", "implication", "citation", "spec"], range(6), strict=True))
    wanted = []
    for level, number in product(("", "MAY", "SHOULD", "MUST"), range(64)):
        flags: dict[str, object] = {name: True for name in names if number >> bits[name] & 1}
        wanted.append(flags | ({"level": level} if level else {}))
    found = json.loads(rendered(finished({})))["refs"]
    assert found == wanted
    assert list(map(list, found)) == list(map(list, wanted))


def test_keys_stand_in_their_order() -> None:
    found = document(finished(FILES))
    first = found["annotations"][0]
    assert list(first) == ["source", "target_path", "target_section", "line", "type", "level", "comment"]
    (pot,) = [one for one in found["specifications"]["tea.md"]["sections"] if one["id"] == "pot"]
    assert list(found["specifications"]["tea.md"]) == ["title", "format", "requirements", "sections"]
    assert list(pot) == ["id", "title", "lines", "requirements"]
    assert found["annotations"][3]["tags"] == ["a", "b"]


def test_only_what_json_asks_for_is_escaped() -> None:
    tea = '# Tea\n\nA "pot" \\ </script>\té\u2028\x7f\n'
    text = rendered(finished({**SMALL, "tea.md": tea, "a.rs": "//= tea.md#tea\n"}))
    assert '"lines":["A \\"pot\\" \\\\ </script>\\té\u2028\x7f"]' in text


def test_a_title_alone_makes_no_segments() -> None:
    comment = "//= tea.md#pot\n//= type=spec\n"
    found = document(finished({**SMALL, "a.rs": comment}))["specifications"]["tea.md"]
    assert found["requirements"] == [0]
    assert found["sections"][1] == {
        "id": "pot",
        "title": "Pot",
        "lines": ["  The pot MUST be ☕.", "", "It MAY \\ be."],
    }


def test_one_file_in_two_formats_has_two_keys() -> None:
    comments = "//= tea.md#tea\n\n//= tea.md#tea\n//= format=md\n\n//= /w/tea.md#tea\n"
    found = document(finished({**SMALL, "a.rs": comments, "/w/tea.md": TEA}))
    assert list(found["specifications"]) == ["tea.md", "tea.md?format=markdown"]
    assert [one["target_path"] for one in found["annotations"]] == ["tea.md", "tea.md", "/w/tea.md"]
