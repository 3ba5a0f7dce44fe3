"""What is wrong with a citation, in the phrases that agents expect."""

from __future__ import annotations

import pytest

from duvet import rules
from duvet.tools.trace.invalid_citations import describe_citation_error


@pytest.mark.parametrize(
    ("rule", "target", "message", "error"),
    [
        (rules.TARGET_UNRESOLVED, "invalid", "no file", "URL not found: no file"),
        (rules.TARGET_UNRESOLVED, "no/such", "no file", "Specification not found: no file"),
        (rules.TARGET_UNRESOLVED, "no.md", "no file", "Specification not found: no file"),
        (rules.TARGET_UNRESOLVED, "spec#part", "no file", "Specification not found: no file"),
        (rules.SPECIFICATION_UNFETCHED, "https://a/b", "gone", "Specification not found: gone"),
        (rules.TARGET_BAD_URL, "https://", "no host", "URL not found: no host"),
        (rules.COMMENT_BAD_TYPE, "tea.md#pot", "no type", "URL not found: no type"),
        (rules.TARGET_NO_SECTION, "tea.md", "no section", "Section not found: no section"),
        (rules.TARGET_UNKNOWN_SECTION, "tea.md#x", "missing", "Section not found: missing"),
        (rules.QUOTE_NOT_FOUND, "tea.md#pot", "no text", "Requirement not found: no text"),
        (rules.EXCEPTION_NO_REASON, "tea.md#pot", "no reason", "no reason"),
    ],
)
def test_each_problem_has_its_phrase(rule: rules.Rule, target: str, message: str, error: str) -> None:
    assert describe_citation_error(rule.problem(message), target) == error


def test_folders_above_the_project_are_not_told() -> None:
    problem = rules.TARGET_UNKNOWN_SECTION.problem('missing section "x" in /home/me/my work/specs/tea.md')
    assert (
        describe_citation_error(problem, "specs/tea.md#x") == 'Section not found: missing section "x" in specs/tea.md'
    )
