"""Checks patterns for requirement ids, so that matching them can't take exponential time."""

from __future__ import annotations

import re
from typing import Any

_MOST_REPEATS = 4


def find_pattern_fault(pattern: str) -> str:
    """Return what is wrong with a pattern for ids; empty for a valid pattern."""
    ##= man/spec/trace.md#markdown
    ##% duvet MUST refuse an id pattern that can take exponential time to match.
    from re import _parser  # type: ignore[attr-defined]

    repeats = [0]
    try:
        fault = _find_nested_repeat(_parser.parse(pattern), repeats, within=False)
        if fault:
            return fault
        compiled = re.compile(f"(?P<own>{pattern})")
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regular expression: {error}"
    if compiled.match(""):
        return "it matches an empty text"
    if compiled.groupindex.keys() != {"own"}:
        return "it has named groups"
    return f"it has more than {_MOST_REPEATS} open repetitions" if repeats[0] > _MOST_REPEATS else ""


def _find_nested_repeat(node: Any, repeats: list[int], *, within: bool) -> str:
    for name, value in node:
        kind = str(name)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = value
            is_open = high - low > 1
            if is_open and within:
                return "a repetition inside a repetition can take exponential time"
            repeats[0] += is_open
            fault = _find_nested_repeat(body, repeats, within=within or is_open)
        elif kind == "SUBPATTERN":
            fault = _find_nested_repeat(value[-1], repeats, within=within)
        elif kind == "BRANCH":
            if within:
                return "alternatives inside a repetition can take exponential time"
            fault = next(filter(None, (_find_nested_repeat(one, repeats, within=within) for one in value[1])), "")
        elif kind in ("GROUPREF", "GROUPREF_EXISTS", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
            fault = "references, conditions and look-around are not supported"
        else:
            fault = ""
        if fault:
            return fault
    return ""
