"""Finds the requirements of Markdown sections in sentences, list items and table rows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Level, PlainText, RequirementForm, Section, Statement, Uncounted
from duvet.specs.extraction import INTRODUCTION, LOWER_CASE, find_level
from duvet.specs.plain_text import CELL_BREAK, Block, split_run
from duvet.specs.section_names import IdPattern, compile_ids, skip_boxes
from duvet.text import byte_length

Span = tuple[int, int]

_END = re.compile(
    r"[.!?]+[\"')\]\u201d\u2019\u00bb]*(?=\s|\Z)|[\u3002\uff01\uff1f\uff0e]+[\u300d\u300f\uff09\"')\u201d\u2019]*"
)
_WORD_BEFORE = re.compile(r"(?:^|[\s(\[\"'\u201c\u2018\u2014\u2013/])([^\s(\[\"'\u201c\u2018\u2014\u2013/]{1,20})\Z")
_NEVER_LAST = re.compile(
    r"i\.e|e\.g|ie|eg|cf|vs|viz|figs?|eqs?|sect?|ch|chap|vol|pp|eds?|al|ca|approx|resp|esp|incl|excl|[dmjs]r|mrs|ms|prof|st|"
    r"rev|dept|ext|tab|art|para|seq",
    re.IGNORECASE,
)
"""Abbreviations that are always followed by another word."""
_RARELY_LAST = re.compile(r"etc|inc|ltd|co|corp", re.IGNORECASE)
"""Abbreviations that end a sentence if the next word can begin one."""
_BEFORE_NUMBERS = re.compile(r"nos?|nr|op|p", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]|[A-Z]")
_OPENING = re.compile(
    r"\s*[\"'(\u201c]*(?:The|A|An|It|Its|If|When|While|Where|This|These|That|Those|All|Each|Every|Any|In|On|For|No|As|At|"
    r"By|To|There|They|Then|Otherwise|However|Clients?|Servers?|Users?|System)\b"
)
_CAPITALISED = re.compile(r"\s*[\"'(\u201c]*[A-Z][a-z]")
_NUMBER = re.compile(r"\s*\d")
_LOWER = re.compile(r"\s*[a-z]")
_CLOSINGS = {
    '"': '"',
    "(": ")",
    "[": "]",
    "\u201c": "\u201d",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\uff08": "\uff09",
}
_MARKS = re.compile('["()\\[\\]\u201c\u201d\u300c\u300d\u300e\u300f\uff08\uff09]')


def split_sentences(text: str, code: Sequence[Span] = ()) -> Iterator[Span]:
    """A sentence may end with code, a quotation or brackets, but not inside them."""
    closed = sorted([*code, *_find_enclosed(text, code)])
    start = index = 0
    inside = 0
    for found in _END.finditer(text):
        while index < len(closed) and closed[index][0] < found.start():
            inside = max(inside, closed[index][1])
            index += 1
        if found.end() < inside or (found.end() == inside and _LOWER.match(text, found.end())):
            continue
        if text[found.start()] == "." and not _is_end(text, start, found.start(), found.end()):
            continue
        while start < found.start() and text[start].isspace():
            start += 1
        yield start, found.end()
        start = found.end()
    while start < len(text) and text[start].isspace():
        start += 1
    if start < len(text):
        yield start, len(text)


def _is_end(text: str, start: int, dot: int, end: int) -> bool:
    if text.startswith("..", dot):
        return _LOWER.match(text, end) is None
    before = _WORD_BEFORE.search(text, max(start, dot - 22), dot)
    word = before[1] if before else ""
    if not word:
        return True
    if _NEVER_LAST.fullmatch(word):
        return False
    if _RARELY_LAST.fullmatch(word):
        return end == len(text) or _CAPITALISED.match(text, end) is not None
    if _BEFORE_NUMBERS.fullmatch(word):
        return _NUMBER.match(text, end) is None
    if _INITIALS.fullmatch(word):
        return end == len(text) or _OPENING.match(text, end) is not None
    # The number of a list item that Markdown doesn't recognise.
    return not (word.isdigit() and not text[start : dot - len(word)].strip())


def _find_enclosed(text: str, code: Sequence[Span]) -> Iterator[Span]:
    opened: list[tuple[str, int]] = []
    counts: Counter[str] = Counter()
    index = 0
    for found in _MARKS.finditer(text):
        mark, at = found[0], found.start()
        while index < len(code) and code[index][1] <= at:
            index += 1
        if index < len(code) and code[index][0] <= at:
            continue
        if counts[mark]:
            while opened[-1][0] != mark:
                counts[opened.pop()[0]] -= 1
            counts[mark] -= 1
            yield opened.pop()[1], at + 1
        elif mark in _CLOSINGS:
            opened.append((_CLOSINGS[mark], at))
            counts[_CLOSINGS[mark]] += 1


_NUMBERED_TITLE = re.compile(
    r"(?:Requirement|Req|\u8981\u4ef6|\u9700\u6c42|\uc694\uad6c\uc0ac\ud56d|Requisito)\s*(\d+(?:\.\d+)*)\b"
)
_CRITERIA = re.compile(
    r"accept|criteri|\u53d7\u3051\u5165\u308c|\u53d7\u5165|\u9a8c\u6536|\u9a57\u6536|\uc778\uc218", re.IGNORECASE
)
_ID_HEAD = re.compile(
    r"(?:id|#|no\.?|nr\.?|num(?:ber)?|ref\.?|req(?:uirement)?(?: (?:id|no\.?|number))?)\Z", re.IGNORECASE
)
_NEGATIVE = frozenset(("", "-", "\u2013", "\u2014", "no", "n", "none", "false", "n/a", "✗", "✘", "❌", "☐", "0"))
_FEW_WORDS = 4
_FIELD_HEAD = re.compile(
    r"(?:(?:test|verif|trace?|implement|cover|depend|accept|review|approv)\w*(?: (?:by|in|method|coverage|cases?|files?|paths?|status))?"
    r"|(?:priority|prio|importance|status|state|progress|owner|author|assignee|stakeholder|category|type|kind|group|area|"
    r"component|module|epic|phase|milestone|release|version|sprint|iteration|effort|risk|date|updated|added|"
    r"(?:user )?stor(?:y|ies)|source(?: files?)?|origin|links?|ref(?:erence)?s?|see(?: also)?|issues?|tickets?|"
    r"notes?|comments?|remarks?|rationale|reason|why|done|confidence|level)"
    r"|\u4f18\u5148\u7ea7|\u512a\u5148\u5ea6|\u512a\u5148\u7d1a|\u72b6\u6001|\u72c0\u614b|\u72b6\u614b|"
    r"\u7c7b\u522b|\u5206\u7c7b|\u5099\u8003|\u5907\u6ce8|\uc6b0\uc120\uc21c\uc704|\uc0c1\ud0dc|\ube44\uace0|prioridade?|estado)",
    re.IGNORECASE,
)
"""The headings of columns that describe a requirement, such as its priority or test."""
_FIELD_VALUE = re.compile(
    r"(?:[^\w\s]\s*)*(?:\[x\]|(?:must|should|could|won'?t|will not|nice to|may)(?: have)?|highest|high|medium|low|lowest|critical|"
    r"major|minor|normal|p[0-9]|draft|open|closed|done|to ?do|tbd|wip|planned|proposed|approved|accepted|rejected|"
    r"implemented|verified|in progress|in review|blocked|deferred|pending|partial|complete[d]?|pass(?:ed)?|fail(?:ed)?|"
    r"yes|no|n/?a|none)?",
    re.IGNORECASE,
)
"""Priorities and states, with or without emoji."""
_PLACEHOLDER = re.compile(r"(?:\[[^\[\]]*\][\s|]*)+\Z")
_LEAD_END = re.compile(r"[^.!?;\u3002\uff01\uff1f]\Z")


def add_plain_texts(sections: Sequence[Section], blocks: Sequence[Block], form: RequirementForm) -> list[Section]:
    """`blocks` must be in file order."""
    starts = [block.runs[0].start for block in blocks]
    ids = compile_ids(form.ids)
    readers: dict[int, _SectionReader] = {}
    best: dict[str, Level] = {}
    for index in sorted(range(len(sections)), key=lambda index: sections[index].heading):
        section = sections[index]
        low = high = 0
        if section.lines:
            low = bisect_left(starts, section.starts[0])
            high = bisect_left(starts, section.starts[-1] + byte_length(section.lines[-1]))
        reader = readers[index] = _SectionReader(section, blocks[low:high], form, ids)
        reader.read()
        for statement in reader.statements:
            best[statement.name] = max(best.get(statement.name, Level.AUTO), statement.level)
    # Drop rows and items without a keyword that only refer to another requirement in the document.
    seen: set[str] = set()
    for reader in readers.values():
        kept = []
        for statement in reader.statements:
            name = statement.name
            if name and not statement.level and (best[name] or name in seen):
                reader.uncounted.append((f"repeats {name}", statement.ranges[0][0], statement.ranges[-1][1]))
            else:
                seen.add(name)
                kept.append(statement)
        reader.statements = kept
    return [replace(section, plain=readers[index].plain()) for index, section in enumerate(sections)]


class _Item(Struct):
    blocks: list[int]
    children: list[_Item]
    number: int | None = None
    name: str = ""
    level: Level = Level.AUTO  # The level of its own blocks.


class _SectionReader:
    def __init__(self, section: Section, blocks: Sequence[Block], form: RequirementForm, ids: IdPattern) -> None:
        self.section = section
        self.blocks = blocks
        self.form = form
        self.ids = ids
        self.texts = [block.text for block in blocks]
        self.offsets = list(accumulate((len(text) + 1 for text in self.texts), initial=0))
        self.text = "\n".join(self.texts)
        self.code = [
            (at + start, at + end)
            for block, at in zip(self.blocks, self.offsets, strict=False)
            for start, end in block.code
        ]
        # The text with blanks instead of code, because keywords in code don't count.
        parts, end = list[str](), 0
        for low, high in self.code:
            parts += [self.text[end:low], " " * (high - low)]
            end = high
        self.bare = "".join([*parts, self.text[end:]]) if parts else self.text
        self.statements: list[Statement] = []
        self.uncounted: list[tuple[str, int, int]] = []
        """The reasons why texts are not requirements, each with the range of the text."""
        # For a section that lists acceptance criteria, the number of the requirement, such as `3` for `Requirement 3`.
        number = _NUMBERED_TITLE.match(_remove_title_markup(section.title))
        if not number and section.path and _CRITERIA.search(section.title):
            number = _NUMBERED_TITLE.match(_remove_title_markup(section.path[-1]))
        self.number = number[1] if number else ""
        self.heading_id = ""  # The id of the heading if several requirements share it.

    def read(self) -> None:
        lead = ""
        heads: list[str] = []
        index = self._read_named_section()
        ##= man/spec/trace.md#requirements-in-markdown
        ##% Each Markdown list item, table row or other sentence with an RFC 2119 keyword MUST be one requirement.
        while index < len(self.blocks):
            block = self.blocks[index]
            if block.depth:
                for item in self._build_items(index):
                    self._read_item(item, lead)
                index, lead = self._find_list_end(index), ""
                continue
            if block.cells:
                heads = self._read_row(index, heads)
            else:
                following = self.blocks[index + 1].depth if index + 1 < len(self.blocks) else 0
                taken, lead = self._read_paragraph(index, has_list=following > 0)
                index += taken
            index += 1

    def plain(self) -> PlainText:
        offsets: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for block, at in zip(self.blocks, self.offsets, strict=False):
            for run in block.runs:
                for part in split_run(run):
                    offsets.append(at)
                    starts.append(part.start)
                    ends.append(part.end)
                    at += len(part.text)
        plain = PlainText(
            self.text, tuple(offsets), tuple(starts), tuple(ends), tuple(self.code), tuple(self.statements)
        )
        uncounted = tuple(
            Uncounted(why, self.text[low:high].replace("\n", " "), plain.byte_at(low))
            for why, low, high in self.uncounted
        )
        return replace(plain, uncounted=uncounted)

    def _find_level(self, low: int, high: int) -> Level:
        return find_level(self.bare[low:high], any_case=self.form.any_case)

    def _state(self, ranges: Sequence[Span], level: Level, name: str, text: str = "", lead: str = "") -> None:
        words = text or " ".join([self.text[low:high] for low, high in ranges])
        words = " ".join(words.split())
        if lead:
            words = f"{lead} {words}"
        low, high = ranges[0][0], ranges[-1][1]
        if not words:
            return
        if not level and _PLACEHOLDER.match(words):
            return
        ##= man/spec/trace.md#requirements-in-markdown
        ##% With `requirements = "ids"`, the list items, table rows, paragraphs and headings with an id MUST be the only
        ##% requirements.
        name = name or (self.heading_id if level else "")
        if not name and self.form.needs_id:
            if level:
                self.uncounted.append(("no id", low, high))
        elif level or self.form.needs_id:
            self.statements.append(Statement(level, words, tuple(ranges), name, lead))
        elif not self.form.any_case and any(find_level(self.bare[one:end], any_case=True) for one, end in ranges):
            self.uncounted.append((LOWER_CASE, low, high))

    def _read_named_section(self) -> int:
        found = self.ids.split(_remove_title_markup(self.section.title), has_number=False)
        if found is None:
            return 0
        last, count = 0, len(self.blocks)
        while last < count and not (self.blocks[last].depth or self.blocks[last].cells or self._list_named_lines(last)):
            last += 1
        if last and last < count and self.blocks[last].depth and _LEAD_END.search(self.texts[last - 1]):
            last += self._count_unnamed(last)
        if not last and self.form.needs_id and self._count_unnamed(0) == count:
            last = count
        ranges = [self._find_words(one) for one in range(last)]
        level = max((self._find_level(*one) for one in ranges), default=Level.AUTO)
        # Otherwise, the id is the default for the section's requirements.
        if not (ranges and (level or self.form.needs_id)):
            self.heading_id = found.name
            return 0
        self._state(ranges, level, found.name)
        return last

    def _find_words(self, index: int) -> Span:
        block, text, at = self.blocks[index], self.texts[index], self.offsets[index]
        found = self.ids.split(text, block.marked) if block.opens_item else None
        return at + (found.end if found else skip_boxes(text)), at + len(text)

    def _list_named_lines(self, index: int) -> list[tuple[str, int, int]]:
        block, text, at = self.blocks[index], self.texts[index], self.offsets[index]
        found = self.ids.split(text, block.marked)
        if found is None:
            return []
        named = [(found.name, found.end, 0)]
        for start in block.lines:
            if further := self.ids.split(text[start : start + 200]):
                named.append((further.name, start + further.end, start))
        ends = [start for _, _, start in named[1:]] + [len(text)]
        return [(name, at + low, at + high) for (name, low, _), high in zip(named, ends, strict=True)]

    def _read_paragraph(self, index: int, *, has_list: bool) -> tuple[int, str]:
        named = self._list_named_lines(index)
        if named:
            taken, last = 0, len(named) - 1
            for number, (name, low, high) in enumerate(named):
                ranges = [(low, high)]
                if number == last and has_list and _LEAD_END.search(self.texts[index]):
                    taken = self._count_unnamed(index + 1)
                    ranges += [
                        (self.offsets[one], self.offsets[one + 1] - 1) for one in range(index + 1, index + 1 + taken)
                    ]
                self._state(ranges, max(self._find_level(*one) for one in ranges), name)
            return taken, ""
        at, lead = self.offsets[index], ""
        text = self.texts[index]
        for start, high in split_sentences(text, self.blocks[index].code):
            low = skip_boxes(text, start)
            level = self._find_level(at + low, at + high)
            if has_list and high == len(text) and level and _LEAD_END.search(text):
                # Only an item without a keyword needs the lead-in.
                is_needed = any(not self._gather(item)[2] for item in self._build_items(index + 1))
                lead = text[low:high] if is_needed else ""
            if lead:
                self.uncounted.append(("no id" if self.form.needs_id else INTRODUCTION, at + low, at + high))
            else:
                self._state([(at + low, at + high)], level, "")
        return 0, lead

    def _count_unnamed(self, index: int) -> int:
        blocks = range(index, self._find_list_end(index))
        is_named = any(
            self.blocks[one].opens_item and self.ids.split(self.texts[one], self.blocks[one].marked) for one in blocks
        )
        return 0 if is_named else len(blocks)

    def _find_list_end(self, index: int) -> int:
        while index < len(self.blocks) and self.blocks[index].depth:
            index += 1
        return index

    def _build_items(self, first: int) -> list[_Item]:
        top: list[_Item] = []
        stack: list[tuple[int, _Item]] = []
        for index in range(first, self._find_list_end(first)):
            block = self.blocks[index]
            keep = block.depth - 1 if block.opens_item else block.depth
            while stack and stack[-1][0] > keep:
                stack.pop()
            if block.opens_item or not stack:
                item = _Item([], [], block.number)
                (stack[-1][1].children if stack else top).append(item)
                stack.append((block.depth, item))
                found = self.ids.split(self.texts[index], block.marked)
                if found:
                    item.name = found.name
                elif self.number and block.depth == 1 and block.number is not None:
                    item.name = f"{self.number}.{block.number}"
            item = stack[-1][1]
            item.blocks.append(index)
            item.level = max(item.level, self._find_level(self.offsets[index], self.offsets[index + 1] - 1))
        return top

    def _gather(self, item: _Item, lead: str = "") -> tuple[list[int], list[_Item], Level]:
        blocks, alone, level = list(item.blocks), [], item.level
        waiting = item.children[::-1]
        while waiting:
            child = waiting.pop()
            ##= man/spec/trace.md#requirements-in-markdown
            ##% Further paragraphs and nested items of a list item MUST be a part of its requirement, except nested
            ##% items with their own ids and, if the list item has no id, nested items with keywords.
            if child.name or (not item.name and (child.level or not (item.level or lead))):
                alone.append(child)
                continue
            blocks += child.blocks
            level = max(level, child.level)
            waiting += child.children[::-1]
        return sorted(blocks), alone, level

    def _read_item(self, item: _Item, lead: str) -> None:
        waiting = [(item, lead)]
        while waiting:
            item, lead = waiting.pop()
            # An item such as "The pot MUST:" only introduces the items inside it.
            if (
                not item.name
                and (item.level or lead)
                and any(not (child.level or child.name) for child in item.children)
                and item.blocks[-1] < item.children[0].blocks[0]
                and self.texts[item.blocks[-1]].endswith((":", "\uff1a"))
            ):
                low, high = self._find_words(item.blocks[0])[0], self._find_words(item.blocks[-1])[1]
                self.uncounted.append(("no id" if self.form.needs_id else INTRODUCTION, low, high))
                lead = f"{lead} {self.text[low:high]}".strip().replace("\n", " ")
                waiting += [(child, lead) for child in reversed(item.children)]
                continue
            blocks, alone, level = self._gather(item, lead)
            ranges: list[Span] = []
            for index in blocks:
                low, high = self._find_words(index)
                if ranges and ranges[-1][1] + 1 == low:
                    ranges[-1] = (ranges[-1][0], high)
                elif low < high:
                    ranges.append((low, high))
            if ranges:
                ##= man/spec/trace.md#requirements-in-markdown
                ##% If a sentence with a keyword introduces a list, each item without a keyword MUST be a requirement
                ##% that begins with this sentence.
                own = lead if lead and not level else ""
                level = level or (find_level(lead, any_case=self.form.any_case) if lead else level)
                self._state(ranges, level, item.name, lead="" if item.name else own)
            waiting += [(child, "") for child in reversed(alone)]

    def _read_row(self, index: int, heads: list[str]) -> list[str]:
        block, text, at = self.blocks[index], self.texts[index], self.offsets[index]
        cells = [text[low:high] for low, high in block.cells]
        if block.is_head:
            return cells
        heads = heads + [""] * (len(cells) - len(heads))
        name, named, skip = "", -1, 0  # The id of the row, the index of its cell, and the length of the id in it.
        for number, cell in enumerate(cells[:2]):
            if _ID_HEAD.match(heads[number]) and re.fullmatch(r"\d+(?:\.\d+)*", cell):
                name, named, skip = cell, number, len(cell)
            elif found := self.ids.split(cell, len(cell), has_number=False):
                name, named, skip = found.name, number, found.end
            if name:
                break
        kept = [
            (head, low + skip if number == named else skip_boxes(text, low), high)
            for number, (head, (low, high)) in enumerate(zip(heads, block.cells, strict=False))
        ]
        kept = [(head, low, high) for head, low, high in kept if text[low:high].strip()]
        if not kept:
            return heads
        level = max(self._find_level(at + low, at + high) for _, low, high in kept)
        headed, head_level = self._join_headed_cells(heads, cells, named) if not level else ("", Level.AUTO)
        if name and not level and any(self.ids.is_id(text[low:high]) for _, low, high in kept):
            # A row of a matrix refers to requirements.
            self.uncounted.append((f"refers to {name}", at + kept[0][1], at + kept[-1][2]))
            return heads
        if level and not name and len(kept) == 1:
            only = text[kept[0][1] : kept[0][2]].strip()
            if _FIELD_VALUE.fullmatch(only) or (only.isascii() and len(only.split()) == 1):
                self.uncounted.append(("keyword without other words", at + kept[0][1], at + kept[0][2]))
                return heads
        if not headed:
            kept = _drop_fields(text, kept)
        words = headed or CELL_BREAK.join([text[low:high] for _, low, high in kept])
        self._state([(at + low, at + high) for _, low, high in kept], level or head_level, name, words)
        return heads

    def _join_headed_cells(self, heads: list[str], cells: list[str], named: int) -> tuple[str, Level]:
        stated = [
            find_level(head) for head, cell in zip(heads, cells, strict=False) if cell.strip().lower() not in _NEGATIVE
        ]
        level = max(stated, default=Level.AUTO)
        if not level:
            return "", level
        pairs = [
            f"{head}: {cell}" if head else cell
            for number, (head, cell) in enumerate(zip(heads, cells, strict=False))
            if cell.strip() and number != named
        ]
        return CELL_BREAK.join(pairs), level


def _drop_fields(text: str, cells: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    kept = [
        (head, low, high)
        for head, low, high in cells
        if not (
            _FIELD_VALUE.fullmatch(text[low:high].strip())
            or (_FIELD_HEAD.fullmatch(head.strip()) and not find_level(text[low:high]))
        )
    ]
    ##= man/spec/trace.md#requirements-in-markdown
    ##% The requirement of a table row MUST contain all cells except its id and cells that only describe the
    ##% requirement, such as its priority or state.
    words = max((text[low:high].split() for _, low, high in kept), key=len, default=[])
    # A few words may be a name, and the cell left out may say what is required of it.
    return kept if len(words) >= (_FEW_WORDS - 1 if find_level(" ".join(words)) else _FEW_WORDS) else cells


def _remove_title_markup(title: str) -> str:
    return re.sub(r"[*`]", "", title)
