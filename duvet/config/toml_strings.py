"""Strings of several lines as they are written: a TOML parser makes all line ends alike."""

from __future__ import annotations

import re

_BASIC = re.compile(r"(?P<joined>\\[ \t]*\r?\n\s*)|\\.|(?P<end>\r\n)")


def with_line_ends(written: str) -> str:
    """The value of a multi-line string in quotes, each of its line ends kept."""
    import tomllib

    inner = written[3:-3]
    inner = inner[2:] if inner.startswith("\r\n") else inner.removeprefix("\n")
    if written.startswith("'"):
        return inner
    escaped = _BASIC.sub(_escape_line_end, inner)
    value: str = tomllib.loads(f'value = """\n{escaped}"""')["value"]
    return value


def _escape_line_end(match: re.Match[str]) -> str:
    if match["joined"]:
        return ""
    return "\\r\n" if match["end"] else match[0]
