"""Matches quotes against the words of Markdown, ignoring markup."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from duvet.model import Section, Statement
from duvet.specs.markdown import remove_markup
from duvet.specs.section_names import compile_ids
from duvet.text import WHITESPACE, byte_length, normalise, normalise_with_map
from duvet.trace.records import Fit, FoundQuote, Piece

_MARK_EVERY = 512  # Characters.
_OPENING_MARKS = b"`*_~["
_CLOSING_MARKS = re.compile(rb"(?:[`*_~]++|\](?:\([^()]*+\)|\[[^\[\]]*+\])?+)++")
_AHEAD_OF_MARKS = frozenset(b" \t([{\"'|>/")
"""Characters after which a mark opens. After any other character, such as a letter, a mark may be a closing one."""


class PlainView:
    def __init__(self, section: Section) -> None:
        assert section.plain is not None
        self.section = section
        self.plain = plain = section.plain
        self.text = text = plain.text.replace("\n", " ")
        self.data = text.encode()
        parts = (text[at : at + _MARK_EVERY] for at in range(0, len(text), _MARK_EVERY))
        self.marks = list(accumulate(map(byte_length, parts), initial=0))
        """The byte offset of every `_MARK_EVERY`th character."""
        self._encoded = (-1, b"")  # The line that was read last, and its bytes.
        self._stated: dict[str, list[Statement]] = {}
        self._led: list[tuple[str, Statement]] = []  # The items below a lead-in, and the normalised text of each.
        for statement in plain.statements:
            text = normalise(statement.text)
            self._stated.setdefault(text, []).append(statement)
            own = normalise(" ".join([plain.text[low:high] for low, high in statement.ranges]))
            if own != text:
                self._stated.setdefault(own, []).append(statement)
            if statement.lead:
                self._led.append((text, statement))

    def find_requirement(self, quote: str, name: str) -> FoundQuote | None:
        wanted = normalise(quote)
        for statement in self._stated.get(wanted, ()):
            if not name or statement.name == name:
                pieces = [piece for low, high in statement.ranges for piece in self.cut_characters(low, high)]
                if pieces:
                    return tuple(pieces), Fit.EXACT
        for statement in self.plain.statements if name else ():
            if statement.name != name:
                continue
            low, high = statement.ranges[0][0], statement.ranges[-1][1]
            at = self.text.find(quote, low, high)
            if at >= 0:
                return self.cut_characters(at, at + len(quote)), Fit.EXACT
            normal, offsets, originals = normalise_with_map(self.text[low:high])
            found = normal.find(wanted)
            if found >= 0:
                ends = []
                for place in (found, found + len(wanted) - 1):
                    index = bisect_right(offsets, place) - 1
                    ends.append(low + originals[index] + place - offsets[index])
                return self.cut_characters(ends[0], ends[1] + 1), Fit.NORMALISED
        return None

    def find_item(self, quote: str) -> tuple[str, str] | None:
        """If a quote consists of a list's lead-in and a part of an item, return that part and the requirement's id."""
        wanted = normalise(quote)
        for text, statement in self._led:
            lead = normalise(statement.lead)
            if text.startswith(wanted) and len(wanted) > len(lead):
                at = quote.find(statement.lead[-1:], len(lead) - 1) + 1
                return quote[at:].strip(WHITESPACE), statement.name
        return None

    @staticmethod
    def list_bare_quotes(quote: str) -> list[str]:
        words = remove_quote_markup(quote)
        return list(dict.fromkeys((words, _INNER_MARK.sub("", words))))

    def cut(self, start: int, end: int) -> tuple[Piece, ...]:
        """`start` and `end` count bytes of the view."""
        if self.data.isascii():
            return self.cut_characters(start, end)
        first = self._find_character(start)
        return self.cut_characters(first, first + len(self.data[start:end].decode()))

    def _find_character(self, byte: int) -> int:
        index = bisect_right(self.marks, byte) - 1
        return index * _MARK_EVERY + len(self.data[self.marks[index] : byte].decode())

    def cut_characters(self, start: int, end: int) -> tuple[Piece, ...]:
        plain = self.plain
        offsets = plain.offsets
        found: list[Piece] = []
        index = max(bisect_right(offsets, start) - 1, 0)
        while index < len(offsets) and offsets[index] < end:
            last = offsets[index + 1] if index + 1 < len(offsets) else len(plain.text)
            ends_block = plain.text[last - 1 : last] == "\n"
            low = plain.byte_at(max(start, offsets[index]))
            if start <= offsets[index]:
                low = max(self._find_opening_marks(index), found[-1].end if found else 0)
            high = plain.byte_at(end) if end < last - ends_block else self._find_end(index, goes_on=not ends_block)
            self._add(found, low, high)
            index += 1
        return tuple(found)

    def _find_opening_marks(self, index: int) -> int:
        start = self.plain.starts[index]
        line = self._line(start)
        low = self.section.starts[line] if line >= 0 else start
        before = max(low, self.plain.ends[index - 1]) if index else low
        if start <= before:
            return start
        data = self._encode(line)
        gap = data[before - low : start - low]
        first = start - low - len(gap) + len(gap.rstrip(_OPENING_MARKS))
        return low + first if not first or data[first - 1] in _AHEAD_OF_MARKS else start

    def _find_end(self, index: int, *, goes_on: bool) -> int:
        starts, ends = self.plain.starts, self.plain.ends
        end, following = ends[index], index + 1
        line = self._line(end)
        if goes_on and following < len(starts) and end < starts[following] and self._line(starts[following]) == line:
            return starts[following]
        while following < len(starts) and starts[following] == ends[following] == end:
            following += 1
        if line < 0:
            return end
        low, data = self.section.starts[line], self._encode(line)
        limit = min(starts[following] - low, len(data)) if following < len(starts) else len(data)
        marks = _CLOSING_MARKS.match(data, end - low, limit)
        return low + marks.end() if marks else end

    def _encode(self, line: int) -> bytes:
        if line != self._encoded[0]:
            self._encoded = line, self.section.lines[line].encode()
        return self._encoded[1]

    def _line(self, byte: int) -> int:
        return bisect_right(self.section.starts, byte) - 1

    def _add(self, found: list[Piece], low: int, high: int) -> None:
        line = self._line(low)
        while low < high:
            stop = high
            if line + 1 < len(self.section.starts):
                stop = min(high, self.section.starts[line] + byte_length(self.section.lines[line]))
            if low < stop:
                if found and found[-1].line == line and found[-1].end == low:
                    low = found.pop().start
                found.append(Piece(line, low, stop))
            line += 1
            if line >= len(self.section.starts):
                break
            low = max(stop, self.section.starts[line])


_INNER_MARK = re.compile(r"(?<=\s)(?:[-*+>]|\d{1,9}[.)])\s+")
"""A list or quotation marker at the beginning of a line in a multi-line quote."""


def remove_quote_markup(quote: str) -> str:
    words = remove_markup(quote).strip(f"{WHITESPACE}|")
    found = compile_ids("").split(words, len(words) if words != quote else 0)
    return words[found.end :] if found else words
