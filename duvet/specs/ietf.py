"""Parses RFCs and Internet-Drafts in plain text into sections."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, compress, count, dropwhile, pairwise
from operator import add

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Section
from duvet.specs.section_names import make_anchor
from duvet.text import BOM, byte_length, trim

_WIDTH = 72
_MOST_LINES = 6
_SLACK = 24  # The largest difference between the two margins of a centred line.

_COLUMNS = " " * 3
_ANNOUNCEMENTS = ("rfc", "request for comments", "internet-draft", "internet draft")


def find_front_title(text: str) -> str:
    page = text.removeprefix(BOM).lstrip().partition("\f")[0].rstrip()
    blocks = [block.split("\n") for block in re.split(r"\n\s*\n", page.replace("\r\n", "\n"))]
    below = dropwhile(lambda block: not any(words in "\n".join(block).lower() for words in _ANNOUNCEMENTS), blocks)
    next(below, None)
    for block in below:
        # The full lines of a paragraph are centred, too, but there are more of them, or they end with a dot.
        if len(block) <= _MOST_LINES and not block[-1].endswith(".") and all(map(_is_centred, block)):
            lines = (line for line in block if not line.strip().lstrip("<").startswith("draft-"))
            return " ".join(" ".join(lines).split())
        first = block[0]
        if not (first.startswith(" ") or ": " in first or _COLUMNS in first):
            break
    return ""


def _is_centred(line: str) -> bool:
    stripped = line.strip()
    left = len(line) - len(line.lstrip())
    right = _WIDTH - left - len(stripped)
    return abs(left - right) <= _SLACK and _COLUMNS not in stripped


SectionNumbers = tuple[int, ...]

LARGEST_NUMBER = 199
LETTER_A = 1000  # Letters follow all numbers, so that one comparison is enough for both.

_GAP = r"[^\S\x1c-\x1f]"  # White space, without the separators that only Python counts as white space.

_NUMBERED = re.compile(rf"(?:[A-Z]\.?)?[0-9.]+(?=:?{_GAP}+(.*))|(?:[A-Z]\.)?[0-9.]+\Z")
_APPENDIX = re.compile(r"Appendix |APPENDIX |Annex ")
_LETTERED = re.compile(rf"[A-Z](?=\.?\Z|(?:[.:]|{_GAP}+(?:--?|:))?{_GAP}+(.*))")


class NumberedHeading(Struct, frozen=True):
    id: str
    numbers: SectionNumbers
    title: str
    column: int


def parse_heading(line: str) -> NumberedHeading | None:
    appendix = _APPENDIX.match(line)
    start = appendix.end() if appendix else 0
    found = (_LETTERED.match(line, start) if appendix else None) or _NUMBERED.match(line, start)
    if found is None:
        return None
    number = found[0].rstrip(".")
    numbers = _parse_numbers(number)
    title = trim(found[1] or "")
    # Some titles come from a table of contents, a table or code.
    is_odd = "....." in title or ". . ." in title or " . . " in title or " " * 5 in title or title.startswith(";")
    if numbers is None or is_odd or title.endswith(("{", "[", "(", ";")):
        return None
    kind = "appendix" if appendix or not number[0].isdigit() else "section"
    column = start + len(number) if found[1] is None else found.start(1)
    return NumberedHeading(f"{kind}-{number}", numbers, title, column)


def can_be_heading(heading: NumberedHeading, last: SectionNumbers | None, after_break: bool) -> bool:
    if after_break and "|" not in heading.title.strip("|"):
        return True
    return is_successor(heading.numbers, last) if last else heading.id.endswith(("-1", "-1.0"))


def is_successor(numbers: SectionNumbers, last: SectionNumbers) -> bool:
    if numbers == last:
        return False
    for before, after in zip(last, numbers, strict=False):
        if after == before + 1 or (after == LETTER_A and before < LETTER_A):
            return True
        if after != before:
            return False
    return True


def _parse_numbers(number: str) -> SectionNumbers | None:
    letter = LETTER_A + ord(number[0]) - ord("A") if "A" <= number[:1] <= "Z" else 0
    rest = number[1:].removeprefix(".") if letter else number
    if letter and not rest:
        return (letter,)
    try:
        integers = tuple(map(int, rest.split(".")))
    except ValueError:
        return None
    if integers[0] == 0 or max(integers) > LARGEST_NUMBER:
        return None
    return (letter, *integers) if letter else integers


# The kind of a line as one letter, so that one expression matches all lines of a file: blank, text, a page break, a
# running head or foot, a heading.
_BLANK, _TEXT, _PAGE, _RUNNING, _HEADING = b"btprh"
_KINDS = bytes.maketrans(b"\0\1", b"bt")

_NAMED = (
    "Abstract; Acknowledgement; Acknowledgements; Acknowledgments; Appendix; AUTHORS' ADDRESSES; Author's Address; "
    "Authors' Addresses; Contributors; Copyright Notice; Editors' Addresses; Full Copyright Statement; "
    "IANA Considerations; Index; Informative References; Intellectual Property; Intellectual Property Statement; "
    "Normative References; References; REFERENCES; Security Considerations; Status of this Memo; "
    "Status of This Memo; Table of Contents; Working Group Information"
)
_NAMED_IDS = {title: f"name-{make_anchor(title)}" for title in _NAMED.split("; ")}

_BREAKS = (b"b", b"p")
_ALONE = b"bb"  # The lines around a title without a number.

# Most lines need no further checks.
_TITLE = re.compile(rb"\n(?=[0-9]|[A-Z](?:[0-9.]|[A-Za-z' ]{4,30}\r?\n|(?:ppendix|PPENDIX|nnex) ))")
_HEAD = re.compile(rb"\nRFC [1-9][0-9]*  ")
_PAGE_NUMBER = re.compile(rb"\[Page [0-9]+\](\r?\n)?")

# More than one empty line, or a page break, or running heads. Text right after a page break is an unusual head.
_IETF_GAP = re.compile(rb"(?:[pr]|b[bpr])[bpr]*(?:(?<=p)t[bpr]*)*")


def parse_ietf(data: bytes, *, has_paths: bool = False) -> tuple[Section, ...]:
    text = data.decode()
    marked = text.startswith(BOM)
    texts = (text[1:] if marked else text).split("\n")
    lengths = map(len, texts if text.isascii() else data[3 * marked :].split(b"\n"))
    starts = list(map(add, accumulate(lengths, initial=3 * marked), count()))
    last = texts.pop()
    if "\r" in text:
        texts = [line.removesuffix("\r") for line in texts]
    if last:
        texts.append(last)
    kinds = bytearray(map(bool, texts)).translate(_KINDS)
    for index in compress(count(), map(str.isspace, texts)):
        line = texts[index]
        if not trim(line):
            kinds[index] = _PAGE if line == "\f" else _BLANK
            texts[index] = ""
    # Running heads and feet begin with the RFC number, or have a page number.
    ##= man/spec/trace.md#specifications
    ##% duvet MUST ignore page headers and footers in IETF text.
    for head in _HEAD.finditer(data):
        kinds[bisect_right(starts, head.start() + 1) - 1] = _RUNNING
    for number in _PAGE_NUMBER.finditer(data):
        start, end = number.span()
        before = data[start - 1 : start]
        if before == b"\n" or (before == b" " and (number[1] or end == len(data))):
            kinds[bisect_right(starts, start) - 1] = _RUNNING
    found = list(_build_sections(data, texts, starts, kinds))
    if has_paths:
        return _qualify(found, data)
    sections: dict[str, Section] = {}
    for section in found:
        sections.pop(section.id, None)  # If several sections have the same id, keep the last one, at its place.
        sections[section.id] = section
    return tuple(sections.values())


_ANNOUNCED = re.compile(rb"^Request for Comments: *0*([1-9][0-9]*)\b", re.MULTILINE | re.IGNORECASE)
_DIVIDERS = "=-_* \t\r\f\n"


def _qualify(sections: list[Section], data: bytes) -> tuple[Section, ...]:
    # Each of several RFCs begins with a block of lines that states its number.
    documents: dict[str, int] = {}
    for announced in _ANNOUNCED.finditer(data):
        block = max(data.rfind(b"\n\n", 0, announced.start()), data.rfind(b"\n\r\n", 0, announced.start()))
        documents.setdefault(f"rfc{int(announced[1])}", block + 1 if block >= 0 else 0)
    names, starts = list(documents), list(documents.values())
    ##= man/spec/trace.md#sections
    ##% In a text that contains several RFCs, the name of a section MUST begin with its RFC, as in `rfc8174/section-2`.
    placed: list[tuple[Section, tuple[str, ...], tuple[str, ...]]] = []
    for section in sections:
        number = bisect_right(starts, section.heading[0])
        above: tuple[str, ...] = (names[number - 1],) if number and len(documents) > 1 else ()
        path = tuple([name.replace("rfc", "RFC ") for name in above])
        end = starts[number] if number < len(starts) else len(data)
        kept = bisect_left(section.starts, end)
        if kept < len(section.lines):
            # Leave out the next document, and the divider before it.
            while kept and not section.lines[kept - 1].strip(_DIVIDERS):
                kept -= 1
            section = replace(section, lines=section.lines[:kept], starts=section.starts[:kept])
        placed.append((section, path, above))
    counts = Counter((*above, section.id) for section, _, above in placed)
    taken: Counter[str] = Counter()
    found = []
    for section, path, above in placed:
        parts: tuple[str, ...] = (*above, section.id)
        if counts[parts] > 1:
            parts += (make_anchor(section.title),)
        id = "/".join(parts)
        taken[id] += 1
        id += f"-{taken[id]}" if taken[id] > 1 else ""
        ends = id.split("/")[len(above) :]
        anchors = (*above, *reversed(ends)) if above or len(ends) > 1 else ()
        found.append(replace(section, id=id, path=path, anchors=anchors))
    return tuple(found)


def _mark_titles(data: bytes, texts: list[str], starts: list[int], kinds: bytearray) -> Iterator[tuple[str, str, int]]:
    last: SectionNumbers | None = None
    used = -1  # A blank line that ends a title without a number can't begin another one.
    for index in [0, *(bisect_right(starts, title.end()) - 1 for title in _TITLE.finditer(data))] if texts else ():
        line = texts[index]
        ##= man/spec/trace.md#specifications
        ##% In IETF text, duvet MUST find sections by number, appendices by letter, and sections without a number, such
        ##% as `References`, by title.
        heading = parse_heading(line)
        if heading and can_be_heading(heading, last, kinds[index - 1 : index] in _BREAKS):
            last = heading.numbers
            kinds[index] = _HEADING
            yield heading.id, heading.title, starts[index] + byte_length(line[: heading.column])
        elif line in _NAMED_IDS and kinds[index - 1 : index + 2 : 2] == _ALONE and index - 1 != used:
            used = index + 1
            kinds[index] = _HEADING
            yield _NAMED_IDS[line], line, starts[index]


def _build_sections(data: bytes, texts: list[str], starts: list[int], kinds: bytearray) -> Iterator[Section]:
    titles = list(_mark_titles(data, texts, starts, kinds))
    # Keep the text, and one empty line for each gap that doesn't begin with a running head.
    keep = bytearray(b"\1") * len(kinds)
    for gap in _IETF_GAP.finditer(kinds):
        start, end = gap.span()
        start += kinds[start] != _RUNNING
        keep[start:end] = bytes(end - start)
    texts, starts = list(compress(texts, keep)), list(compress(starts, keep))
    places = [place.start() for place in re.finditer(b"h", bytes(compress(kinds, keep)))]
    places.append(len(texts))
    for (id, title, at), (place, end) in zip(titles, pairwise(places), strict=True):
        first = place + 1
        if first < end and not texts[end - 1]:
            end -= 1
        if first < end and not texts[first]:
            first += 1
        span = (at, at + byte_length(title))
        yield Section(id, title, span, title, tuple(texts[first:end]), tuple(starts[first:end]))
