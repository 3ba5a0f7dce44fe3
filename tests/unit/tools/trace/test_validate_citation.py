"""`validate_citation`"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.project.validation import validate
from duvet.tools.tool import ErrorCode, ToolError
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.tools.made import answer, context_of
from tests.unit.tools.trace.judging import MISSING, TEA, VALID, invalid, verdict


@pytest.mark.parametrize(
    "citation",
    [
        "//= tea.md#pot",
        "tea.md#pot",
        "rfc7168.txt#section-2",
        "rfc7168.txt#2",
        "//= tea.md#pot\n//# The pot MUST be warm.",
        "##= tea.md#pot\n##= type=test\n##% The pot MUST\n##% be warm.",
        "/*= tea.md#pot\n *# It SHOULD be round */",
        "//= tea.md#cup\n//= type=exception\n//= reason=Paper.\n//# A cup MUST NOT leak.\n//= tea.md#sugar\n",
        "//= tea.md#tea\n//= type=spec\n//# How tea is made",
    ],
)
def test_what_is_right_is_valid_and_nothing_else_is_said(citation: str) -> None:
    assert answer(TEA, "validate_citation", citation=citation) == (VALID, "")


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        ("//= invalid", invalid('URL not found: Could not resolve file "invalid"')),
        ("", invalid("URL not found: no target can be read; it is written `spec#section`")),
        ("//# The pot", invalid("URL not found: this text has no target, so it is ignored")),
        ("//= https://", invalid('URL not found: "https://" is not a valid URL')),
        (
            "//= tea.md#pot\n//= type=tset",
            invalid(
                'URL not found: Invalid annotation type "tset", expected one of ["spec", "test", "implementation", '
                '"exception", "todo", "implication"]'
            ),
        ),
        (
            "//= tee.md#pot",
            invalid('Specification not found: Could not resolve file "tee.md"', nearest="tea.md#pot"),
        ),
        (
            "//= https://example.org/a#b",
            invalid("Specification not found: https://example.org/a is no specification of this project"),
        ),
        (
            "//= tea.md#pott",
            invalid('Section not found: missing section "pott" in tea.md', nearest="tea.md#pot"),
        ),
        ("//= tea.md", invalid("Section not found: reference to tea.md is missing a section")),
        (
            "//= tea.md#pot\n//# The pot MUST be cold.",
            invalid(f"Requirement not found: {MISSING}", nearest="The pot MUST be warm."),
        ),
        (
            "//= tea.md#pot\n//# A cup MUST NOT leak.",
            invalid(f"Requirement not found: {MISSING}", nearest="tea.md#cup"),
        ),
        (
            "//= tea.md#cup\n//# A cup MUST NOT leak.\n//= tea.md#pot\n//# A cup MUST NOT leak.",
            invalid(f"Requirement not found: {MISSING} (line 3)", nearest="tea.md#cup"),
        ),
    ],
)
def test_what_is_wrong_is_told_in_four_phrases(citation: str, expected: object) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The error of an invalid citation MUST begin with `URL not found`, `Specification not found`, `Section not found`
    ##% or `Requirement not found`, and the second block MUST say what to do.
    assert verdict(citation) == expected
    assert answer(TEA, "validate_citation", citation=citation)[1] != ""


def test_the_second_block_shows_what_differs() -> None:
    _, step = answer(TEA, "validate_citation", citation="//= tea.md#pot\n//# The pot MUST be cold.")
    assert step == "the nearest text in this section is The pot MUST be [-cold.-]{+warm.+}"


@pytest.mark.parametrize(
    ("citation", "warning"),
    [
        ("//= tea.md#tea\n//# How tea is made", "these words stand in the section, but in no requirement"),
        ("//= tea.md#pot\n//= type=exception", "this exception does not say why: add a line `reason=…`"),
        (
            "//= tea.md#pot\n//# The pot MUST be warn.",
            "this quote differs from the specification by one character; it is accepted",
        ),
        ("//= ./tea.md#pot", "this counts as another specification than tea.md: name that one"),
        (
            "//= tea.md#pot\n\n//# The pot MUST be warm.",
            "this text is cut off from its target on line 1, which now quotes nothing",
        ),
    ],
)
def test_what_is_accepted_but_odd_is_valid_with_a_warning(citation: str, warning: str) -> None:
    assert verdict(citation) == {"valid": True, "warning": warning}


def test_every_citation_is_judged_as_in_a_report() -> None:
    trace = TEA.project.trace
    texts = {path: text.splitlines() for path, text in TEA_PROJECT.items()}
    for id, one in enumerate(trace.annotations):
        if not one.from_file:
            text = TEA_PROJECT[one.path]
            last = text.count("\n", 0, one.source.text_end) + 1
            found = verdict("\n".join(texts[one.path][one.line - 1 : last]))
            assert isinstance(found, dict) and found["valid"] == (trace.match_of[id] is not None)
            assert found["valid"] or trace.failures[id].message in found["error"]
    assert {one.message for found in validate(TEA.project).invalid().values() for one in found} == {
        'missing section "milk" in tea.md',
        MISSING,
    }


def test_a_long_quote_is_looked_for_where_it_should_stand() -> None:
    long = " ".join(["Sugar MUST be counted by hand", *(f"and grain {number}" for number in range(40))])
    context = context_of({**TEA_PROJECT, "tea.md": f"{TEA_PROJECT['tea.md']}\n{long}.\n"})
    near = {"nearest": f"{long}."}
    other = long.replace("hand", "foot")
    missing = "Requirement not found: could not find text in section"
    assert verdict(f"//= tea.md#sugar\n//# {other}.", context) == invalid(f'{missing} "sugar" of tea.md', **near)
    assert verdict(f"//= tea.md#cup\n//# {other}.", context) == invalid(f'{missing} "cup" of tea.md')
    moved = invalid(f'{missing} "cup" of tea.md', nearest="tea.md#sugar")
    assert verdict(f"//= tea.md#cup\n//# {long}.", context) == moved


def test_a_citation_that_is_too_long_is_refused() -> None:
    with pytest.raises(ToolError) as caught:
        answer(TEA, "validate_citation", citation="a" * 10_001)
    assert caught.value.code is ErrorCode.INVALID_REQUEST and "10000" in caught.value.message


def test_a_long_quote_is_told_briefly() -> None:
    found = verdict("//= " + "a" * 9_000)
    assert isinstance(found, dict) and len(found["error"]) < 600


@given(st.text(alphabet=st.sampled_from("/*#%= \r\n\0\x1b\u202e\ud800at.emdpo:"), max_size=80))
def test_any_text_gets_a_verdict(text: str) -> None:
    try:
        found = verdict(text)
    except ToolError as error:
        assert error.code is ErrorCode.INVALID_REQUEST
    else:
        assert isinstance(found, dict) and isinstance(found["valid"], bool)
