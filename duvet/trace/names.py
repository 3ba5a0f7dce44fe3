"""The ids that specifications give their requirements, such as `FR-001`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from duvet import rules
from duvet.model import Annotation, Locator, Note, Place, Problem, Specification
from duvet.text import LineNumbers, join_names, line_starts, remove_spacing
from duvet.trace.records import Coverage, Trace


class NamedText(Struct, frozen=True):
    name: str
    section: int  # The index of its section.
    text: str


class RequirementNames:
    def __init__(self, stated: Iterable[NamedText]) -> None:
        self._exact: dict[str, list[NamedText]] = {}
        self._folded: dict[str, list[NamedText]] = {}
        for one in dict.fromkeys(stated):
            self._exact.setdefault(one.name, []).append(one)
            self._folded.setdefault(one.name.casefold(), []).append(one)

    def find(self, name: str) -> Sequence[NamedText]:
        found = self._exact.get(name) or self._folded.get(name.casefold())
        return found or ()

    def find_containing(self, quote: str) -> list[NamedText]:
        words = remove_spacing(quote)
        if not words:
            return []
        all, texts, starts = self._searchable
        found: dict[NamedText, None] = {}
        at = texts.find(words)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            found[all[index]] = None
            at = texts.find(words, starts[index + 1])
        return list(found)

    @cached_property
    def _searchable(self) -> tuple[list[NamedText], str, list[int]]:
        all = [one for found in self._exact.values() for one in found]
        texts = "".join([f"{remove_spacing(one.text)}\n" for one in all])
        return all, texts, line_starts(texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._exact)


def find_stated_names(coverage: Coverage, annotations: Sequence[Annotation]) -> RequirementNames:
    return RequirementNames(
        NamedText(annotations[id].name, match.section, annotations[id].quote)
        for match in coverage.matches
        for id in match.stating
        if annotations[id].name
    )


def is_stated_name(specification: Specification, name: str) -> bool:
    plain = [section.plain for section in specification.sections if section.plain]
    return bool(name) and any(one.name == name for each in plain for one in each.statements)


NO_NAMES = RequirementNames(())
NamesOf = Callable[[Locator], RequirementNames]


_NUMBERED = r"(?a)(?P<family>[A-Za-z](?:[\w-]*[A-Za-z_-])?)(?P<number>\d{1,9})\Z"
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_INK = re.compile(r"[^\n]")
_HEAD = re.compile(r"[\s>#*_+\-\[\]()xX\d.~]*\Z")  # Text that may precede an id at the head of a line or cell.
_WIDEST_MARKUP = 80  # Number of characters to check before an id.
_GONE = r"(?i)~~|\b(?:remov|delet|deprecat|withdr|reserv|obsolet|supersed|renumber|retir|dropp|merg|mov|replac|unus)"
_FEWEST = 3  # Minimum number of ids in a series.
_MOST_MISSING = 3  # A longer gap is a block of ids that was never used.
_MOST_SHOWN = 10


def find_name_problems(trace: Trace) -> Iterator[Problem]:
    stated = {
        coverage.specification.locator: find_stated_names(coverage, trace.annotations) for coverage in trace.coverages
    }
    known = {name for names in stated.values() for name in names}
    for coverage in trace.coverages:
        specification = coverage.specification
        # Users can't edit a specification that they downloaded.
        if specification.locator.is_url or not any(stated[specification.locator]):
            continue
        yield from _find_repeated(coverage, trace.annotations)
        mentions = _read_mentions(specification, stated[specification.locator])
        yield from _find_unknown(specification, mentions, known)
        yield from _find_gaps(specification, mentions)


def _find_repeated(coverage: Coverage, annotations: Sequence[Annotation]) -> Iterator[Problem]:
    specification, lines = coverage.specification, LineNumbers()
    stating = sorted(
        {
            (match.pieces[0].start, match.section, annotations[id].name)
            for match in coverage.matches
            for id in match.stating
            if annotations[id].name
        }
    )
    first: dict[str, int] = {}
    for start, section, name in stating:
        line = lines.of(specification.data, start)
        before = first.setdefault(name, line)
        # A heading gives its id to all requirements below it.
        if before != line and name not in specification.sections[section].title:
            ##= man/spec/names.md#checks
            ##% duvet SHOULD warn about an id that two requirements of a specification share.
            yield rules.NAME_REPEATED.problem(
                f"{name} is the id of two requirements",
                specification.path,
                Place(line),
                label=f"second {name}",
                hint="give one of them a different id",
                notes=(Note(Place(before), f"first {name}"),),
            )


class _Mention(Struct, frozen=True):
    name: str
    place: Place
    is_head: bool  # Whether it is at the head of a line or cell, where ids are defined.
    is_gone: bool  # Whether its line states that something was removed.


def _read_mentions(specification: Specification, names: Iterable[str]) -> list[_Mention]:
    families = {found["family"] for name in names if (found := re.match(_NUMBERED, name))}
    if not families:
        return []
    longest_first = sorted(families, key=lambda one: (-len(one), one))
    id = re.compile(rf"(?<![\w./#-])(?:{'|'.join(map(re.escape, longest_first))})\d{{1,9}}(?![\w-]|\.\d)")
    mentions: list[_Mention] = []
    for number, line in enumerate(_list_prose(specification.data), 1):
        ids = list(id.finditer(line))
        is_gone = bool(ids) and re.search(_GONE, line) is not None
        for one in ids:
            low = max(0, one.start() - _WIDEST_MARKUP)
            start = max(low, line.rfind("|", low, one.start()) + 1)
            is_head = (start == 0 or line[start - 1] == "|") and _HEAD.match(line, start, one.start()) is not None
            mentions.append(_Mention(one[0], Place(number, one.start() + 1, len(one[0])), is_head, is_gone))
    return mentions


def _list_prose(data: bytes) -> list[str]:
    from duvet.specs.markdown import list_extended_events

    text = data.decode()
    spans = []
    for kind, tag, _, start, end in list_extended_events(text):
        if kind == "Code" or (kind == "Start" and tag == "CodeBlock"):
            spans.append((start, end))
        elif kind == "InlineHtml" or (kind == "Start" and tag == "HtmlBlock"):
            spans += [comment.span() for comment in _COMMENT.finditer(data, start, end)]
    parts, at = [], 0
    for start, end in spans:
        blank = _INK.sub(" ", data[start:end].decode())
        parts += [data[at:start].decode(), blank]
        at = end
    return "".join([*parts, data[at:].decode()]).split("\n")


def _find_unknown(
    specification: Specification, mentions: Sequence[_Mention], known: Collection[str]
) -> Iterator[Problem]:
    defined = {one.name for one in mentions if one.is_head}
    reported: set[str] = set()
    for one in mentions:
        if one.name not in defined and one.name not in known and one.name not in reported and not one.is_gone:
            reported.add(one.name)
            yield rules.NAME_UNKNOWN.problem(
                f"the specification does not define {one.name}",
                specification.path,
                one.place,
                label="not defined",
                hint="correct the id, or define it at the start of a paragraph, list item or table row",
            )


def _find_gaps(specification: Specification, mentions: Iterable[_Mention]) -> Iterator[Problem]:
    series: dict[str, dict[int, _Mention]] = {}
    named: set[str] = set()
    for one in mentions:
        named.add(one.name)
        found = re.match(_NUMBERED, one.name)
        if found and one.is_head:
            series.setdefault(found["family"], {}).setdefault(int(found["number"]), one)
    for family, members in series.items():
        gaps = [(low, high) for low, high in pairwise(sorted(members)) if high - low > 1]
        # With several gaps, or a long one, the numbers were never meant to be complete.
        if len(members) < _FEWEST or len(gaps) != 1 or gaps[0][1] - gaps[0][0] - 1 > _MOST_MISSING:
            continue
        (low, high) = gaps[0]
        before, after = members[low], members[high]
        width = len(after.name) - len(family)
        missing = [f"{family}{number:0{width}}" for number in range(low + 1, high)]
        if not named.isdisjoint(missing):
            continue
        ##= man/spec/names.md#checks
        ##% duvet SHOULD warn about gaps in an otherwise complete series of ids.
        words = ("is", "it", missing[0], "was") if len(missing) == 1 else ("are", "them", " and ".join(missing), "were")
        yield rules.NAME_GAP.problem(
            f"{join_names(missing, _MOST_SHOWN)} {words[0]} missing between {before.name} and {after.name}",
            specification.path,
            after.place,
            label=f"follows {before.name}",
            hint=f"restore {words[1]}, or write in the specification that {words[2]} {words[3]} removed",
        )
