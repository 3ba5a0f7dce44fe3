"""Reads JaCoCo reports of the lines that tests executed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from duvet.errors import DuvetError
from duvet.text import decode_utf8, quote_text

LineHits = dict[int, bool]  # By line number, whether the line was executed; lines without code are absent.

_NAME = r"[^\s<>/!?=\"'][^\s<>/=\"']*+"
_QUOTED = r"\"[^\"]*+\"|'[^']*+'"
# Entities are never expanded, and text between elements is skipped without being examined.
_MARKUP = re.compile(
    rf"""<(?:
        !--.*?-->
        | !\[CDATA\[.*?\]\]>
        | \?.*?\?>
        | !(?i:doctype)(?:[^\[<>"']++|{_QUOTED})*+(?:\[(?:<!--.*?-->|[^\]"'<]++|{_QUOTED}|<)*+\]\s*+)?>
        | /(?P<end>{_NAME})\s*+>
        | (?P<start>{_NAME})(?P<attributes>(?:[^<>/"']++|/(?!>)|{_QUOTED})*+)(?P<empty>/?)>
        | (?P<unfinished>)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"\s*+({_NAME})\s*+=\s*+({_QUOTED})(?=\s|\Z)|\s*+\Z|(?P<other>)")
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|([A-Za-z]+));|&")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_NUMBER = re.compile(r"\+?[0-9]{1,30}")
_USUAL_ORDER = ("nr", "mi", "ci", "mb", "cb")
# A line in the form that JaCoCo writes; a report may contain millions of them.
_USUAL_LINE = re.compile("".join(rf"\s++{name}=\"([0-9]{{1,9}})\"" for name in _USUAL_ORDER) + r"\s*+")
_COUNTS = ("ci", "mi", "cb", "mb", "nr")  # The attributes of a line, in the order in which they are checked.
_MOST_LINES = (1 << 32) - 1
_MOST = (1 << 64) - 1


class _FaultError(Exception):
    pass


def read_jacoco_xml(data: bytes, path: str) -> dict[str, LineHits]:
    """Return which lines of each file (`PACKAGE/NAME`) were executed."""
    text = decode_utf8(data, path).removeprefix("\ufeff")
    reader = _JacocoReader()
    at = 0
    try:
        for found in _MARKUP.finditer(text):
            at = found.start()
            reader.read(found)
        at = len(text)
        for name in reader.open:
            if name.rpartition(":")[2] in ("package", "sourcefile"):
                raise _FaultError(f"XML parsing error: the file ends before </{name}>")
    except _FaultError as fault:
        line = text.count("\n", 0, at) + 1
        raise DuvetError(f"Coverage error: {fault}", path=path, line=line) from None
    return {
        name: {line: statements.get(line, False) or branches.get(line, False) for line in statements | branches}
        for name, (statements, branches) in reader.files.items()
    }


class _JacocoReader:
    def __init__(self) -> None:
        self.files: dict[str, tuple[LineHits, LineHits]] = {}  # The statements and the branches of each file.
        self.open: list[str] = []  # The names of the open elements.
        self._packages: list[str] = []  # The packages around the element.
        self._sources: list[tuple[LineHits, LineHits]] = []  # The files around it.

    def read(self, found: re.Match[str]) -> None:
        end, start, attributes, empty, unfinished = found.group("end", "start", "attributes", "empty", "unfinished")
        if unfinished is not None:
            raise _FaultError("XML parsing error: a tag is not closed, or `<` does not begin a tag")
        if start is not None:
            self._begin(start.rpartition(":")[2], attributes)
            self.open.append(start)
            if empty:
                self._end(start)
        elif end is not None:
            self._end(end)

    def _begin(self, name: str, attributes: str) -> None:
        if name == "package":
            self._packages.append(_read_name(attributes))
        elif name == "sourcefile" and self._packages:
            key = f"{self._packages[-1]}/{_read_name(attributes)}".lstrip("/")
            # If a file occurs several times, the last list of lines counts.
            self.files.pop(key, None)
            self.files[key] = ({}, {})
            self._sources.append(self.files[key])
        elif name == "line" and self._sources:
            usual = _USUAL_LINE.fullmatch(attributes)
            line, missed, covered, missed_branches, covered_branches = (
                map(int, usual.groups()) if usual else _read_counts(attributes)
            )
            statements, branches = self._sources[-1]
            if missed_branches or covered_branches:
                branches[line] = covered_branches > 0
            elif missed or covered:
                statements[line] = covered > 0

    def _end(self, name: str) -> None:
        expected = self.open.pop() if self.open else ""
        if name != expected:
            fault = f"expected </{expected}>, found </{name}>" if expected else f"</{name}> has no start tag"
            raise _FaultError(f"XML parsing error: {fault}")
        local = name.rpartition(":")[2]
        if local == "package":
            self._packages.pop()
        elif local == "sourcefile" and self._packages:
            self._sources.pop()


def _read_counts(attributes: str) -> Iterable[int]:
    counts: dict[str, int] = {}
    for name, value in _read_attributes(attributes).items():
        if name in _COUNTS:
            number = int(value) if _NUMBER.fullmatch(value) else -1
            if not 0 <= number <= (_MOST_LINES if name == "nr" else _MOST):
                raise _FaultError(f"Invalid coverage data: Invalid {name} value")
            counts[name] = number
    for name in _COUNTS:
        if name not in counts:
            raise _FaultError(f"Invalid coverage data: Missing {name} attribute")
    return [counts[name] for name in _USUAL_ORDER]


def _read_name(attributes: str) -> str:
    name = _read_attributes(attributes).get("name")
    if name is None:
        raise _FaultError("Invalid coverage data: Attribute name not found")
    return name


def _read_attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in _ATTRIBUTE.finditer(text):
        name, value = one[1], one[2]
        if name is None:
            if one["other"] is not None:
                raise _FaultError("XML parsing error: an attribute has no value in quotes")
            break
        if name in found:
            raise _FaultError(f"XML parsing error: the attribute {name} is repeated")
        found[name] = value[1:-1] if "&" not in value else _REFERENCE.sub(_resolve_reference, value[1:-1])
    return found


def _resolve_reference(found: re.Match[str]) -> str:
    digits, decimal, name = found.groups()
    number = int(digits, 16) if digits else int(decimal) if decimal else 0
    if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000:
        return chr(number)
    if name not in _ENTITIES:
        raise _FaultError(f"XML parsing error: {quote_text(found[0])} is not a known entity")
    return _ENTITIES[name]
