"""`coverage_summary`"""

from __future__ import annotations

from msgspec import json

from duvet.tools.context import ProjectSnapshot
from duvet.tools.pagination import MAX_PAGE_BYTES
from tests.unit.tools.made import FILES, answer, ask, context_of, refusal

TOOL = "coverage_summary"
POT = {
    "id": "pot",
    "requirements": 3,
    "in_progress": 1,
    "not_started": 2,
    "percent": 0,
    "levels": (
        {"level": "MUST", "requirements": 2, "in_progress": 1, "not_started": 1, "percent": 0},
        {"level": "SHOULD", "requirements": 1, "not_started": 1, "percent": 0},
    ),
}
RFC = {
    "id": "rfc2324",
    "requirements": 5,
    "done": 1,
    "needs_tests": 1,
    "not_started": 3,
    "percent": 20,
    "levels": (
        {"level": "MUST", "requirements": 3, "done": 1, "needs_tests": 1, "not_started": 1, "percent": 33},
        {"level": "SHOULD", "requirements": 1, "not_started": 1, "percent": 0},
        {"level": "MAY", "requirements": 1, "not_started": 1, "percent": 0},
    ),
}
TOTAL = {
    "requirements": 8,
    "done": 1,
    "needs_tests": 1,
    "in_progress": 1,
    "not_started": 5,
    "percent": 12,
    "levels": (
        {
            "level": "MUST",
            "requirements": 5,
            "done": 1,
            "needs_tests": 1,
            "in_progress": 1,
            "not_started": 2,
            "percent": 20,
        },
        {"level": "SHOULD", "requirements": 2, "not_started": 2, "percent": 0},
        {"level": "MAY", "requirements": 1, "not_started": 1, "percent": 0},
    ),
}


def test_all_specifications(context: ProjectSnapshot) -> None:
    assert answer(context, TOOL) == ({"total": TOTAL, "specifications": (RFC, POT)}, "")


def test_one_specification(context: ProjectSnapshot) -> None:
    assert answer(context, TOOL, spec="docs/pot.md") == ({"total": POT}, "")
    assert refusal(context, TOOL, spec="pod") == ("not_found", 'there is no specification "pod"', "did you mean pot?")


def many(count: int) -> dict[str, str]:
    """A project with so many specifications."""
    rules = "".join(f"[[specification]]\nsource = 'docs/a{number}.md'\n" for number in range(count))
    texts = {f"docs/a{number}.md": f"# A {number}\n\nOne MUST. Two SHOULD.\n" * (number + 1) for number in range(count)}
    return {**FILES, ".duvet/config.toml": FILES[".duvet/config.toml"] + rules, **texts}


def test_what_is_too_much_is_left_out() -> None:
    context = context_of(many(60))
    total = ask(context_of(many(60), page_size=0), TOOL).value.total  # type: ignore[attr-defined]
    found, words = answer(context, TOOL)
    assert words == "Give spec for the levels of one specification."
    assert len(found["specifications"]) == 62 and not any("levels" in one for one in found["specifications"])
    assert found["total"]["requirements"] == total.requirements
    assert len(json.encode(ask(context, TOOL).value)) <= MAX_PAGE_BYTES
