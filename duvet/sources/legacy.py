"""Source patterns as awslabs duvet's older command lines write them: `(meta,content)glob`."""

from __future__ import annotations

from duvet.config.schema import SourceRule
from duvet.errors import DuvetError


def source_rule(pattern: str) -> SourceRule:
    """The rule that a `--source-pattern` means; blanks in its style count, and empty parts don't."""
    if not pattern.startswith("("):
        return SourceRule(patterns=(pattern,))
    style, bracket, glob = pattern[1:].partition(")")
    prefixes = [part for part in style.split(",") if part]
    if not bracket or len(prefixes) < 2:
        raise DuvetError(
            f"the comment style of the source pattern `{pattern}` is not complete",
            hint="write it as (META,CONTENT)GLOB, for example '(*=,*#)src/**/*.c'",
        )
    return SourceRule(patterns=(glob,), meta=prefixes[0], content=prefixes[1])
