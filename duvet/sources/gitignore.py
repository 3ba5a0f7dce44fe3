"""What one `.gitignore` file says of a path, as git reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

Says = Callable[[str], bool | None]
"""Whether a path below the file is ignored, None where the file says nothing of it; folders end with a slash."""

_TOKEN = re.compile(rb"(?P<stars>\*+)|(?P<any>\?)|(?P<open>\[[!^]?)|\\(?P<escaped>.)|[^*?\[\\]+", re.DOTALL)
_MEMBER = re.compile(
    rb"\[:(?P<name>[^\]]*):\]|\\?+(?P<low>.)-(?:\\(?P<escaped>.)|(?P<high>[^\]\\]))|\\?+(?P<one>.)", re.DOTALL
)
_NAMED = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t-\r",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _NothingError(Exception):
    """The pattern can't match anything."""


def reads(data: bytes) -> Says:
    """What the file says; of the lines that match a path, the last one counts."""
    rules = [rule for rule in map(_rule, reversed(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))) if rule]
    test = re.compile(b"|".join([b"(%s)" % expression for expression, _ in rules]) or b"(?!)", re.DOTALL).fullmatch
    ignores = [None, *(ignored for _, ignored in rules)]

    def says(path: str) -> bool | None:
        found = test(path.encode(errors="surrogateescape"))
        return ignores[found.lastindex or 0] if found else None

    return says


def _rule(line: bytes) -> tuple[bytes, bool] | None:
    """The paths that a line is about, and whether it ignores them; None where it is about none."""
    if line.startswith(b"#"):
        return None
    pattern = _without_blanks(line.removesuffix(b"\r"))
    ignored = not pattern.startswith(b"!")
    pattern = pattern.removeprefix(b"!")
    end = rb"(?<!/)/" if pattern.endswith(b"/") else rb"(?<!/)/?"
    pattern = pattern.removesuffix(b"/")
    try:
        if b"/" in pattern:
            return _expression(pattern.removeprefix(b"/"), names_folders=True) + end, ignored
        return (rb"(?:.*/)?" + _expression(pattern, names_folders=False) + end, ignored) if pattern else None
    except _NothingError:
        return None


def _without_blanks(line: bytes) -> bytes:
    """The line without the blanks at its end, but for one after a backslash."""
    pattern = line.rstrip(b" ")
    is_escaped = (len(pattern) - len(pattern.rstrip(b"\\"))) % 2
    return line[: len(pattern) + is_escaped]


def _expression(pattern: bytes, *, names_folders: bool) -> bytes:
    parts: list[bytes] = []
    at = 0
    is_plain = True
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if not token:
            raise _NothingError
        before, at = at, token.end()
        if token["stars"]:
            # What stands before the first star is compared as it is, so that `**` begins a pattern of its own there.
            is_whole = len(token["stars"]) > 1 and (is_plain or pattern[before - 1 : before] == b"/")
            expression, at = _stars(pattern, at, is_whole=is_whole and names_folders)
        elif token["open"]:
            expression, at = _class(pattern, at, negated=len(token["open"]) > 1)
        else:
            expression = rb"[^/]" if token["any"] else re.escape(token["escaped"] or token[0])
        is_plain = is_plain and token.lastgroup is None
        parts.append(expression)
    return b"".join(parts)


def _stars(pattern: bytes, at: int, *, is_whole: bool) -> tuple[bytes, int]:
    if is_whole and pattern.startswith(b"/", at):
        return rb"(?:.*/)?", at + 1
    if is_whole and (at == len(pattern) or pattern.startswith(rb"\/", at)):
        return rb".*", at
    return rb"[^/]*", at


def _class(pattern: bytes, at: int, *, negated: bool) -> tuple[bytes, int]:
    members: list[bytes] = []
    while not members or not pattern.startswith(b"]", at):
        member = _MEMBER.match(pattern, at)
        if not member:
            raise _NothingError
        members.append(_members(member))
        at = member.end()
    return rb"(?!/)[%s%s]" % (b"^" if negated else b"", b"".join(members)), at + 1


def _members(member: re.Match[bytes]) -> bytes:
    if member["name"] is not None:
        if member["name"] not in _NAMED:
            raise _NothingError
        return _NAMED[member["name"]]
    if member["one"]:
        return rb"\x%02x" % ord(member["one"])
    low, high = ord(member["low"]), ord(member["escaped"] or member["high"])
    return rb"\x%02x-\x%02x" % (low, high) if low <= high else rb"\x%02x" % low
