"""The code below annotations, and the comment styles for new citations, for the HTML report."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from duvet.config.settings import SourceRule
from duvet.model import Kind
from duvet.sources.editor import CommentPair, find_comment_pair

CharacterSpan = tuple[int, int]
SourceReader = Callable[[str], str | None]  # Returns the text of a file, or None if it must not be shown.

_MAX_LINE = 160
_COMMENT_ENDS = frozenset(("", "*", "/*", "*/", "(*", "*)", "<!--", "-->"))
"""The first and last lines of block comments, which are not code."""
_MAX_COMMENT_ENDS = 8


def read_code_below(
    annotations: Iterable[tuple[int, str, CharacterSpan]], read: SourceReader, max_lines: int
) -> dict[int, str]:
    """Return up to `max_lines` lines of code after each annotation; each file is read once."""
    if not max_lines:
        return {}
    by_path: dict[str, list[tuple[CharacterSpan, int]]] = {}
    for number, path, span in annotations:
        by_path.setdefault(path, []).append((span, number))
    found: dict[int, str] = {}
    for path, own in by_path.items():
        text = read(path)
        if text is not None:
            code, end = "", len(text)
            for (start, stop), number in sorted(own, reverse=True):
                after = text.find("\n", max(stop - 1, 0)) + 1 or len(text)
                ##= man/spec/page.md#requirements-and-citations
                ##% The report MUST show the code below each citation, up to the next annotation and at most
                ##% `snippet-lines` lines.
                code = _cut_code(text, after, end, max_lines) or code
                if code:
                    found[number] = code
                end = text.rfind("\n", 0, start) + 1
    return found


def _cut_code(text: str, start: int, end: int, max_lines: int) -> str:
    """Return the first lines of code between two offsets, without the rest of surrounding comments."""
    stop = min(end, start + (max_lines + _MAX_COMMENT_ENDS) * _MAX_LINE)
    part = text[start:stop] if stop == end else f"{text[start:stop]}…"
    lines = part.split("\n", max_lines + _MAX_COMMENT_ENDS)
    first, last = 0, min(len(lines), max_lines + _MAX_COMMENT_ENDS)
    while first < last and lines[first].strip() in _COMMENT_ENDS:
        first += 1
    last = min(last, first + max_lines)
    while last > first and lines[last - 1].strip() in _COMMENT_ENDS:
        last -= 1
    if first >= last:
        return ""
    plain = [line.rstrip() for line in lines[first:last]]
    common = plain[0][: len(plain[0]) - len(plain[0].lstrip(" \t"))]
    for line in plain:
        while line and not line.startswith(common):
            common = common[:-1]
    plain = [line[len(common) :] for line in plain]
    return "\n".join([line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 1]}…" for line in plain])


class CommentStyle(Struct, frozen=True, kw_only=True):
    label: str  # The patterns of the sources.
    meta: str
    content: str
    first: str = ""  # The delimiters of a comment, if its lines need them.
    last: str = ""
    kind: Kind = Kind.CITATION  # The type of an annotation that doesn't name one.


def list_comment_styles(rules: Iterable[SourceRule]) -> tuple[CommentStyle, ...]:
    found: dict[tuple[str, str, CommentPair, Kind], dict[str, None]] = {}
    for rule in rules:
        for pattern in rule.patterns:
            pair = find_comment_pair(pattern, rule.meta) or CommentPair("", "")
            found.setdefault((rule.meta, rule.content, pair, rule.kind), {})[pattern] = None
    return tuple(
        CommentStyle(label=", ".join(patterns), meta=meta, content=content, first=pair.first, last=pair.last, kind=kind)
        for (meta, content, pair, kind), patterns in found.items()
    )
