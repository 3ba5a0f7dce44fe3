"""Source patterns of older command lines."""

from __future__ import annotations

import pytest

from duvet.config.settings import SourceRule
from duvet.errors import DuvetError
from duvet.sources.glob import parse_legacy_pattern


@pytest.mark.parametrize(
    ("pattern", "rule"),
    [
        ("src/**/*.rs", SourceRule(("src/**/*.rs",))),
        ("(*=,*#)src/**/*.c", SourceRule(("src/**/*.c",), "*=", "*#")),
        ("(# //=,# //#).github/x.yaml", SourceRule((".github/x.yaml",), "# //=", "# //#")),
        ("( ;;=,;;# )a(b).scm", SourceRule(("a(b).scm",), " ;;=", ";;# ")),
        ("(,a,,b,c)x", SourceRule(("x",), "a", "b")),
    ],
)
def test_source_rule(pattern: str, rule: SourceRule) -> None:
    assert parse_legacy_pattern(pattern) == rule


@pytest.mark.parametrize("pattern", ["(*=)src/*.c", "(*=,)src/*.c", "(,)src/*.c", "(*=,*#src/*.c", "("])
def test_a_style_that_is_not_complete(pattern: str) -> None:
    with pytest.raises(DuvetError) as caught:
        parse_legacy_pattern(pattern)
    message = f"the comment style of the source pattern `{pattern}` is not complete"
    hint = "write it as (META,CONTENT)GLOB, for example '(*=,*#)src/**/*.c'"
    assert (str(caught.value), caught.value.hint) == (message, hint)
