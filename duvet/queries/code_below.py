"""The code below annotations, for those who want to see what is said to implement a requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

Span = tuple[int, int]
"""The characters of an annotation in its file."""
Read = Callable[[str], str | None]
"""The text of a file, or None where it is not to be shown."""

_LONGEST = 160
_INDENT = " \t"
_NOTHING = frozenset(("", "*", "/*", "*/", "(*", "*)", "<!--", "-->"))
"""What is left of a comment around annotations."""
_MOST_NOTHING = 8
"""So many lines of that are passed over."""


def code_below(annotations: Iterable[tuple[int, str, Span]], read: Read, most: int) -> dict[int, str]:
    """The first lines after annotations, which are given by number, path and span; each file is read once."""
    if not most:
        return {}
    by_path: dict[str, list[tuple[Span, int]]] = {}
    for number, path, span in annotations:
        by_path.setdefault(path, []).append((span, number))
    found: dict[int, str] = {}
    for path, own in by_path.items():
        text = read(path)
        if text is not None:
            found.update(_below(text, sorted(own), most))
    return found


def _below(text: str, own: Sequence[tuple[Span, int]], most: int) -> Mapping[int, str]:
    """The code after the annotations of one file, which are in its order."""
    found: dict[int, str] = {}
    code, end = "", len(text)
    for (start, stop), number in reversed(own):
        after = text.find("\n", max(stop - 1, 0)) + 1 or len(text)
        ##= man/spec/page.md#code
        ##% The code MUST end before the next annotation; of annotations without code between them, each MUST have the
        ##% code below the last one.
        code = _shown(text, after, end, most) or code
        if code:
            found[number] = code
        end = text.rfind("\n", 0, start) + 1
    return found


def _shown(text: str, start: int, end: int, most: int) -> str:
    """The first lines of code between two places; nothing where there is none."""
    stop = min(end, start + (most + _MOST_NOTHING) * _LONGEST)
    shown = text[start:stop] if stop == end else f"{text[start:stop]}…"
    lines = shown.split("\n", most + _MOST_NOTHING)
    first, last = 0, min(len(lines), most + _MOST_NOTHING)
    while first < last and lines[first].strip() in _NOTHING:
        first += 1
    last = min(last, first + most)
    while last > first and lines[last - 1].strip() in _NOTHING:
        last -= 1
    return "\n".join(_dedented(lines[first:last])) if first < last else ""


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines less the indent that all of them have, none of them too long; the first one is not blank."""
    plain = [line.rstrip() for line in lines]
    if plain[0][0] in _INDENT:
        indent = _indent(plain)
        plain = [line[indent:] for line in plain]
    ##= man/spec/page.md#code
    ##% Of a line of code that is longer than 160 characters, the beginning MUST be shown, with an ellipsis.
    if len(max(plain, key=len)) > _LONGEST:
        plain = [line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in plain]
    return plain


def _indent(lines: Sequence[str]) -> int:
    """How much white space all lines begin with that hold anything."""
    first = lines[0]
    common = first[: len(first) - len(first.lstrip(_INDENT))]
    for line in lines:
        while line and not line.startswith(common):
            common = common[:-1]
    return len(common)
