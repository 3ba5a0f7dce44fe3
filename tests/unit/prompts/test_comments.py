"""The comments to paste"""

from __future__ import annotations

from duvet.config.settings import SourceRule
from duvet.model import Kind
from duvet.prompts.content import CitationComment, make_comments

TEXT = "The pot MUST be warm before the water is poured into it, and the lid MUST be on it after that."
PLAIN = """\
       //= tea.md#pot
       //# The pot MUST be warm before the water is poured into it, and the lid
       //# MUST be on it after that.
"""


def typed(kind: str) -> str:
    return PLAIN.replace("#pot\n", f"#pot\n       //= type={kind}\n")


def starred(comment: str) -> str:
    return comment.replace("//=", "*=").replace("//#", "*#")


def test_each_style_once() -> None:
    ##= man/spec/mcp.md#prompts
    ##% A prompt about a requirement MUST contain its text, id, target, level, status, and citations with the code
    ##% around them, and show the comments to write.
    rules = [
        SourceRule(("src/*.rs", "bin/*.rs")),
        SourceRule(("tests/*.rs",), kind=Kind.TEST),
        SourceRule(("lib/*.rs",)),
        SourceRule(("c/*.c",), "*=", "*#"),
    ]
    assert make_comments(rules, "tea.md#pot", TEXT) == (
        CitationComment("`src/*.rs`, `bin/*.rs`, `lib/*.rs`", PLAIN, typed("test")),
        CitationComment("`tests/*.rs`", "", PLAIN),
        CitationComment("`c/*.c`", starred(PLAIN), starred(typed("test"))),
    )


def test_tests_alone() -> None:
    rules = [SourceRule(("tests/*.rs",), kind=Kind.TEST)]
    assert make_comments(rules, "tea.md#pot", TEXT) == (
        CitationComment("`tests/*.rs`", typed("implementation"), PLAIN),
    )


def test_no_sources() -> None:
    assert make_comments([], "tea.md#pot", TEXT) == ()
