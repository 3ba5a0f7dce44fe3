"""Random edits of specifications, and the requirements that each edit adds and removes.

The edits only know lines and words, and nothing about how duvet extracts requirements.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import NamedTuple


class Part(NamedTuple):
    """A section: its level, its name without a number, and its lines including subsections."""

    level: int
    name: str
    first: int
    last: int


class Document(NamedTuple):
    """A specification before an edit, with the plain texts of its requirements by the line of their heading."""

    text: str
    is_markdown: bool
    headings: tuple[int, ...]
    requirements: tuple[tuple[int, str], ...]

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def texts(self) -> Counter[str]:
        return Counter(text for _, text in self.requirements)

    def parts(self) -> list[Part]:
        lines = self.lines
        starts = [(line, level) for line in self.headings if (level := self._level(lines[line]))]
        found = []
        for index, (line, level) in enumerate(starts):
            behind = (other for other, its_level in starts[index + 1 :] if its_level <= level)
            found.append(Part(level, lines[line].strip().lower(), line, next(behind, len(lines))))
        return found

    def _level(self, heading: str) -> int:
        """Return the level of a heading; 0 if it is unclear."""
        if self.is_markdown:
            return len(heading) - len(heading.lstrip("#"))
        number = re.match(r"(\d+(?:\.\d+)*)\.?\s", heading)
        return number[1].count(".") + 1 if number else 0


class Edited(NamedTuple):
    text: str
    added: Mapping[str, int] = MappingProxyType({})
    removed: Mapping[str, int] = MappingProxyType({})
    moved: frozenset[int] = frozenset()  # Headings of sections with one path; only their words tell them apart.
    is_renumbered: bool = False  # Whether sections have other numbers, which only a fix can follow.


Edit = Callable[[Document, Random], Edited | None]


def insert_section(document: Document, random: Random) -> Edited | None:
    if not document.is_markdown:
        return insert_paragraph(document, random)
    part = random.choice(document.parts())
    words = [f"The added part {random.randrange(10**6)} MUST {verb} by itself." for verb in ("start", "stop")]
    bullet = random.choice(["", "- ", "1. "])
    block = ["#" * part.level + f" Added part {random.randrange(10**6)}", ""]
    for text in words:
        block += [bullet + text, ""]
    lines = document.lines
    lines[part.first : part.first] = block
    return Edited("\n".join(lines), added=Counter(words))


def insert_paragraph(document: Document, random: Random) -> Edited | None:
    lines = document.lines
    first = min(document.headings)
    places = [
        at
        for at in range(first + 3, len(lines) - 3)
        if not lines[at].strip()
        and re.match(r"   \w.*\.$", lines[at - 1])
        and re.match(r"   [A-Z]", lines[at + 1])
        and not any("\f" in line or re.search(r"\[Page \d+\]|^RFC \d", line) for line in lines[at - 5 : at + 5])
    ]
    if not places:
        return None
    text = f"The added part {random.randrange(10**6)} MUST start by itself."
    at = random.choice(places)
    lines[at:at] = ["", f"   {text}"]
    return Edited("\n".join(lines), added=Counter([text]))


_DEFINITION = re.compile(r" {0,3}\[[^\]]+\]:")


def delete_section(document: Document, random: Random) -> Edited | None:
    lines = document.lines
    parts = [part for part in document.parts() if not any(map(_DEFINITION.match, lines[part.first : part.last]))]
    if not parts:
        return None
    part = random.choice(parts)
    removed = Counter(text for line, text in document.requirements if part.first <= line < part.last)
    del lines[part.first : part.last]
    return Edited("\n".join(lines), removed=removed, moved=_equal_names(document))


def move_section(document: Document, random: Random) -> Edited | None:
    parts = document.parts()
    by_start = {(part.first, part.level): part for part in parts}
    pairs = [(part, by_start[part.last, part.level]) for part in parts if (part.last, part.level) in by_start]
    if not pairs or not document.is_markdown:
        return None
    one, other = random.choice(pairs)
    lines = document.lines
    # The end of a file may have no blank line.
    moved = [*lines[other.first : other.last], "", *lines[one.first : one.last]]
    lines[one.first : other.last] = moved
    return Edited("\n".join(lines), moved=_equal_names(document))


_NUMBER = re.compile(r"(\d+)(?=\.)")


def _chapters(document: Document) -> list[Part]:
    """The numbered sections of IETF text that are in no other, without the last, behind which appendices follow."""
    lines = document.lines
    found = [] if document.is_markdown else [one for one in document.parts() if one.level == 1]
    return [one for one in found[:-1] if re.match(r"\d+\.  \S", lines[one.first])]


def _shift_numbers(lines: list[str], headings: Collection[int], first: int, last: int, by: int) -> list[str]:
    return [
        _NUMBER.sub(lambda found: str(int(found[1]) + by), lines[at], count=1) if at in headings else lines[at]
        for at in range(first, last)
    ]


def insert_chapter(document: Document, random: Random) -> Edited | None:
    chapters = _chapters(document)
    if not chapters:
        return None
    part = random.choice(chapters)
    lines = document.lines
    number = lines[part.first].partition(".")[0]
    text = f"The added part {random.randrange(10**6)} MUST start by itself."
    numbered = [line for line in document.headings if line >= part.first and _NUMBER.match(lines[line])]
    below = _shift_numbers(lines, numbered, part.first, len(lines), 1)
    added = [f"{number}.  Added part {random.randrange(10**6)}", "", f"   {text}", ""]
    return Edited("\n".join([*lines[: part.first], *added, *below]), added=Counter([text]), is_renumbered=True)


def exchange_chapters(document: Document, random: Random) -> Edited | None:
    pairs = [(one, other) for one, other in pairwise(_chapters(document)) if one.last == other.first]
    if not pairs:
        return None
    one, other = random.choice(pairs)
    lines = document.lines
    moved = _shift_numbers(lines, document.headings, other.first, other.last, -1)
    moved += _shift_numbers(lines, document.headings, one.first, one.last, 1)
    lines[one.first : other.last] = moved
    return Edited("\n".join(lines), is_renumbered=True)


def _equal_names(document: Document) -> frozenset[int]:
    paths: dict[tuple[str, ...], list[int]] = {}
    above: list[Part] = []
    for part in document.parts():
        above = [one for one in above if one.level < part.level] + [part]
        paths.setdefault(tuple(re.sub(r"\W+", "-", one.name) for one in above), []).append(part.first)
    return frozenset(line for found in paths.values() if len(found) > 1 for line in found)


_PHRASE = re.compile(r"(?<![\w*_`\[(<-])[A-Za-z]+(?: [A-Za-z]+){2}(?![\w*_`\])>-])")
_KEYWORDS = {"MUST", "SHALL", "SHOULD", "MAY", "REQUIRED", "RECOMMENDED", "OPTIONAL", "NOT"}


def reword_requirement(document: Document, random: Random) -> Edited | None:
    counts, whole = document.texts(), " ".join(document.text.split())
    bare = re.sub(r"[*_`]", "", whole)
    for _ in range(20):
        text = random.choice([*counts]) if counts else ""
        phrases = [found[0] for found in _PHRASE.finditer(text)]
        random.shuffle(phrases)
        for phrase in phrases:
            owners = [other for other in counts.elements() if phrase in other]
            places = [one.count(phrase) for one in (document.text, whole, bare, text)]
            if places == [1, 1, 1, 1] and owners == [text]:
                new = _reword(phrase, random)
                if new is None:
                    continue
                changed = Counter([text.replace(phrase, new)])
                return Edited(document.text.replace(phrase, new), added=changed, removed=Counter([text]))
    return None


def _reword(phrase: str, random: Random) -> str | None:
    words = phrase.split()
    for at, word in enumerate(words):
        if word in ("MUST", "SHALL", "SHOULD"):
            is_negated = words[at + 1 : at + 2] == ["NOT"]
            words[at : at + 1 + is_negated] = [word] if is_negated else [word, "NOT"]
            return " ".join(words)
    at = random.randrange(len(words))
    if words[at] in _KEYWORDS or _KEYWORDS & set(words):
        return None
    word = words[at]
    letter = random.randrange(len(word))
    words[at] = random.choice(
        [
            "otherwise",
            f"{word} always",
            word[:letter] + ("x" if word[letter] != "x" else "y") + word[letter + 1 :],
            f"{word}{random.choice('sd')}",
            f"{word} {random.randrange(100)}",
        ]
    )
    return " ".join(words)


_BOX = re.compile(r"^(\s*(?:[-*+]|\d+[.)]) +)\[([ xX])\](?= )", re.MULTILINE)


def tick_boxes(document: Document, random: Random, share: float = 0.5) -> Edited | None:
    def tick(found: re.Match[str]) -> str:
        is_other = random.random() < share
        return f"{found[1]}[{'x' if (found[2] == ' ') == is_other else ' '}]"

    text = _BOX.sub(tick, document.text)
    return Edited(text) if text != document.text else None


_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( {1,4})(?=\S)")
_ODD_LINE = re.compile(r"\s*(?:[|#>=~<]|```|---|___|\*\*\*|\[[^\]]*\]:|\$\$)|.*(?:  |\\|\||`[^`]*| [<>].*)$|\s*$")
_ODD_WORD = re.compile(r"[-+*#>|=~<`:_\[$]|\d+[.)]")


def rewrap_paragraphs(document: Document, random: Random, share: float = 0.3) -> Edited | None:
    lines, width = document.lines, random.choice([30, 50, 68, 100, 5000])
    written: list[str] = []
    at = 0
    for start, end in [*_find_paragraphs(lines, document.is_markdown), (len(lines), len(lines))]:
        written += lines[at:start]
        block = lines[start:end]
        written += _wrap(block, width, document.is_markdown) if block and random.random() < share else block
        at = end
    text = "\n".join(written)
    return Edited(text) if text != document.text else None


def _find_paragraphs(lines: Sequence[str], is_markdown: bool) -> Iterator[tuple[int, int]]:
    fenced = False
    start = 0
    for end in range(len(lines) + 1):
        line = lines[end] if end < len(lines) else ""
        is_end = not line.strip()
        if is_markdown and re.match(r"\s*(?:```|~~~)", line):
            fenced = not fenced
            is_end = True
        starts_item = is_markdown and _ITEM.match(line)
        if is_end or starts_item:
            if start < end and not fenced and _may_wrap(lines, start, end, is_markdown):
                yield start, end
            start = end if starts_item and not is_end else end + 1


def _may_wrap(lines: Sequence[str], start: int, end: int, is_markdown: bool) -> bool:
    block = lines[start:end]
    if not is_markdown:
        indents = {len(line) - len(line.lstrip()) for line in block}
        is_text = all(re.fullmatch(r"   [A-Za-z(\"][\w ,;:.()\"'-]*", line) for line in block)
        is_paged = any("\f" in line or "[Page " in line for line in [*lines[start - 5 : start], *lines[end : end + 5]])
        return len(block) > 1 and indents == {3} and is_text and block[-1].endswith(".") and not is_paged
    if any(map(_ODD_LINE.match, block)):
        return False
    item = _ITEM.match(block[0])
    indent = item.end() if item else 0
    following = [len(line) - len(line.lstrip()) for line in block[bool(item) :]]
    if item is None and (block[0].startswith(" ") or (start and lines[start - 1].strip())):
        return False
    # An item deep below another one may be code.
    if item and len(item[1]) >= 4:
        return False
    behind = lines[end] if end < len(lines) else ""
    return all(one == indent for one in following) and not re.match(r"\s*(?:=+|-+)\s*$", behind)


def _wrap(block: list[str], width: int, is_markdown: bool) -> list[str]:
    item = _ITEM.match(block[0]) if is_markdown else None
    head = item[0] if item else "" if is_markdown else "   "
    indent = " " * len(head)
    words = " ".join([block[0][len(head) :], *block[1:]]).split()
    rows, row = [], head + words[0]
    for word in words[1:]:
        is_first_safe = is_markdown is False or not _ODD_WORD.match(word)
        if len(row) + 1 + len(word) > width and is_first_safe:
            rows.append(row)
            row = indent + word
        else:
            row += f" {word}"
    return [*rows, row]


_NUMBERED = re.compile(r"^( {0,3})(\d{1,2})([.)])( +)(?=\S)")


def renumber_items(document: Document, random: Random) -> Edited | None:
    if not document.is_markdown:
        return None
    lines = document.lines
    fenced = False
    runs: list[list[int]] = []
    last = ""
    for at, line in enumerate(lines):
        if re.match(r"\s*(?:```|~~~)", line):
            fenced = not fenced
        found = None if fenced else _NUMBERED.match(line)
        if found and last and runs and found[1] == _NUMBERED.match(lines[runs[-1][0]])[1]:  # type: ignore[index]
            runs[-1].append(at)
        elif found and (at == 0 or not lines[at - 1].strip()):
            runs.append([at])
            last = "item"
        elif line.strip() and not line.startswith(" "):
            last = ""
    changed = False
    for run in runs:
        shift = random.randrange(1, 5)
        for at in run:
            found = _NUMBERED.match(lines[at])
            assert found
            number = str(int(found[2]) + shift)
            if len(number) == len(found[2]):
                lines[at] = found[1] + number + lines[at][found.end(2) :]
                changed = True
            else:
                # All items of a run get other numbers, or those in front alone, which is the same list.
                break
    return Edited("\n".join(lines)) if changed else None


EDITS: tuple[Edit, ...] = (
    *(insert_section, insert_paragraph, delete_section, move_section, insert_chapter, exchange_chapters),
    *(reword_requirement, reword_requirement, reword_requirement, tick_boxes, rewrap_paragraphs, renumber_items),
)


def edit_randomly(document: Document, random: Random) -> tuple[str, Edited]:
    while True:
        edit = random.choice(EDITS)
        if edited := edit(document, random):
            return edit.__name__, edited
