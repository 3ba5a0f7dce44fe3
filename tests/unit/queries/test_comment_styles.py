"""The styles of comments of a project."""

from __future__ import annotations

from duvet.config.settings import SourceRule
from duvet.model import Kind
from duvet.queries.citations import CommentStyle, list_comment_styles


def test_styles() -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% A citation that the report copies, as a comment or as TOML, MUST be an annotation of the same requirement in the
    ##% comment style of the source.
    rules = [
        SourceRule(("src/**/*.rs", "x/*.rs")),
        SourceRule(("src/**/*.c", "src/**/*.ml", "src/**/*.h"), "*=", "*#"),
        SourceRule(("tests/*.rs",), kind=Kind.TEST),
        SourceRule(("x/*.rs", "y/*.rs"), blob_link="https://x"),
    ]
    assert list_comment_styles(rules) == (
        CommentStyle(label="src/**/*.rs, x/*.rs, y/*.rs", meta="//=", content="//#"),
        CommentStyle(label="src/**/*.c, src/**/*.h", meta="*=", content="*#", first="/*", last="*/"),
        CommentStyle(label="src/**/*.ml", meta="*=", content="*#", first="(*", last="*)"),
        CommentStyle(label="tests/*.rs", meta="//=", content="//#", kind=Kind.TEST),
    )
    assert list_comment_styles(()) == ()
