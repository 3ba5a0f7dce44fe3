"""The numbers before the titles of RFC sections: which lines have one, and which may follow which."""

from __future__ import annotations

import re

from msgspec import Struct

from duvet.text import trim

Numbers = tuple[int, ...]

LARGEST = 199
LETTER_A = 1000
"""Letters come after all numbers, so that one comparison serves both."""

_GAP = r"[^\S\x1c-\x1f]"
"""White space, without the separators that only Python counts as such."""

_NUMBERED = re.compile(rf"(?:[A-Z]\.?)?[0-9.]+(?=:?{_GAP}+(.*))|(?:[A-Z]\.)?[0-9.]+\Z")
_APPENDIX = re.compile(r"Appendix |APPENDIX |Annex ")
_LETTERED = re.compile(rf"[A-Z](?=\.?\Z|(?:[.:]|{_GAP}+(?:--?|:))?{_GAP}+(.*))")
_WIDE = " " * 5


class Heading(Struct, frozen=True):
    """A numbered title and where in its line it begins."""

    id: str
    numbers: Numbers
    title: str
    column: int


def heading_of(line: str) -> Heading | None:
    """The numbered title on the line, if there can be one."""
    appendix = _APPENDIX.match(line)
    start = appendix.end() if appendix else 0
    found = (_LETTERED.match(line, start) if appendix else None) or _NUMBERED.match(line, start)
    if found is None:
        return None
    number = found[0].rstrip(".")
    numbers = _numbers_of(number)
    title = trim(found[1] or "")
    if numbers is None or _is_odd(title):
        return None
    kind = "appendix" if appendix or not number[0].isdigit() else "section"
    column = start + len(number) if found[1] is None else found.start(1)
    return Heading(f"{kind}-{number}", numbers, title, column)


def may_stand(heading: Heading, last: Numbers | None, after_break: bool) -> bool:
    """Whether the heading is one, after the last number and the line before it."""
    if after_break and "|" not in heading.title.strip("|"):
        return True
    return follows(heading.numbers, last) if last else heading.id.endswith(("-1", "-1.0"))


def follows(numbers: Numbers, last: Numbers) -> bool:
    """Whether a document that has come to the last number can go on with this one."""
    if numbers == last:
        return False
    for before, after in zip(last, numbers, strict=False):
        if after == before + 1 or (after == LETTER_A and before < LETTER_A):
            return True
        if after != before:
            return False
    return True


def _numbers_of(number: str) -> Numbers | None:
    """The parts of a number: a capital or none, then integers, the first of which is not zero."""
    letter = LETTER_A + ord(number[0]) - ord("A") if "A" <= number[:1] <= "Z" else 0
    rest = number[1:].removeprefix(".") if letter else number
    if letter and not rest:
        return (letter,)
    try:
        integers = tuple(map(int, rest.split(".")))
    except ValueError:
        return None
    if integers[0] == 0 or max(integers) > LARGEST:
        return None
    return (letter, *integers) if letter else integers


def _is_odd(title: str) -> bool:
    """Whether this is from a table of contents, from a table or from code."""
    if "....." in title or ". . ." in title or " . . " in title or _WIDE in title:
        return True
    return title.startswith(";") or title.endswith(("{", "[", "(", ";"))
