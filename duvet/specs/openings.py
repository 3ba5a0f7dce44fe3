"""Where the sentences of a text begin and end, as awslabs duvet sees it."""

from __future__ import annotations

import re

# A dot in front of white space ends a sentence, any other hides the character behind it.
END = re.compile(r"[^.]*(?:\.[^ \t\n][^.]*)*\.(?=[ \t\n]|\Z)")
_BLANK = " \t\n"


class Openings:
    """Finds where sentences begin, and looks at no part of the text once more for each of them.

    A sentence begins behind the last dot on its line, or on a line before. If that dot ends no sentence, the first one
    on its line that does counts.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._dot = -1
        self._dots_to = 0
        """The last dot, and how far the text has been searched for it."""
        self._newline = -1
        self._newlines_to = 0
        self._known: dict[int, int] = {}
        """Where sentences begin that follow dots which end none."""
        self._ends: dict[int, int] = {}
        """Where the first sentence of a line ends, by the beginning of the line."""

    def before(self, offset: int, floor: int) -> int:
        """Where the sentence begins that the offset is in, not before the floor; both rise from call to call."""
        text = self.text
        dot = text.rfind(".", max(floor, self._dots_to), offset)
        self._dots_to = offset
        if dot < 0:
            dot = self._dot
        else:
            self._dot = dot
        if dot < floor:
            return floor
        if dot + 1 == offset or text[dot + 1] in _BLANK:
            return dot + 1
        if dot not in self._known:
            self._look_back(dot, self._line_of(dot, floor), floor)
        return self._known[dot]

    def _line_of(self, dot: int, floor: int) -> int:
        newline = self.text.rfind("\n", max(floor, self._newlines_to), dot)
        self._newlines_to = dot
        if newline >= 0:
            self._newline = newline
        return max(self._newline + 1, floor)

    def _look_back(self, dot: int, line: int, floor: int) -> None:
        """What is behind a dot that ends no sentence holds for all such dots on the way there."""
        text, known = self.text, self._known
        passed = []
        while dot not in known:
            passed.append(dot)
            found = self._first_end(line, dot)
            if found:
                known[dot] = found
                break
            before = text.rfind(".", floor, line)
            if before < 0 or text[before + 1] in _BLANK:
                known[dot] = before + 1 if before >= 0 else floor
                break
            dot, line = before, max(text.rfind("\n", floor, before) + 1, floor)
        for place in passed:
            known[place] = known[dot]

    def _first_end(self, line: int, dot: int) -> int:
        """Where the first sentence on a line ends that is cut off in front of a dot, or 0."""
        text, ends = self.text, self._ends
        if line not in ends:
            stop = text.find("\n", dot)
            found = END.match(text, line, stop if stop >= 0 else len(text))
            ends[line] = found.end() if found else len(text)
        if ends[line] < dot:
            return ends[line]
        first = dot
        while first > line and text[first - 1] == ".":
            first -= 1
        # Of two dots in a row, the first hides the second.
        return dot if (dot - first) % 2 else 0
