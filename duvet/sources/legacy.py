"""Source patterns as awslabs duvet's older command lines write them: `(meta,content)glob`."""

from __future__ import annotations

from duvet.config.schema import SourceRule
from duvet.errors import DuvetError


def source_rule(pattern: str) -> SourceRule:
    """The rule that a `--source-pattern` means."""
    if not pattern.startswith("("):
        return SourceRule(patterns=(pattern,))
    style, bracket, glob = pattern[1:].partition(")")
    meta, comma, content = style.partition(",")
    if not bracket or not comma:
        raise DuvetError(
            f"the comment style of the source pattern `{pattern}` is not complete",
            hint="write it as (META,CONTENT)GLOB, for example '(*=,*#)src/**/*.c'",
        )
    return SourceRule(patterns=(glob,), meta=meta.strip(), content=content.strip())
