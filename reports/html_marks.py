"""The text of a section with its requirements marked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from duvet.model import Section
from duvet.reports.html_states import CITED, LOOKS
from duvet.reports.html_text import escaped
from duvet.text import WHITESPACE
from duvet.trace.coverage import segment_texts
from duvet.trace.records import TITLE_LINE, Lines, Segment, Tally
from duvet.trace.requirements import state_of
from duvet.trace.states import State

_CITED_OPEN = f"<mark class={CITED.mark}>"


class Owner(NamedTuple):
    """The requirement that a stretch of text belongs to; where there are several, the worst one comes first."""

    state: State
    link: str
    name: str
    """What it is called within its section."""


class Marking:
    """Writes a section's lines as HTML."""

    def __init__(self, section: Section, owners: Mapping[int, Owner]) -> None:
        self.section = section
        self.owners = owners
        """By the ids of the annotations that state requirements."""
        self.marks = 0
        """The elements that are written."""
        self._linked: set[Owner] = set()
        self._last: Owner | None = None
        self._found: dict[tuple[int, ...], list[Owner]] = {}

    def text(self, lines: Lines) -> str:
        """All of the section, less the empty lines around it."""
        ##= man/spec/page.md#text
        ##% The text of a section MUST be shown as its specification has it, line by line.
        written: list[str] = []
        text = self.section.lines
        done = next((index for index, line in enumerate(text) if line.strip(WHITESPACE)), 0)
        for index, segments in lines.items():
            if index == TITLE_LINE:
                continue
            if done < index:
                written.append(escaped("\n".join(text[done:index])))
            written.append(self._line(index, segments))
            done = index + 1
        written.append(escaped("\n".join(text[done:])))
        return "\n".join(written).rstrip(WHITESPACE)

    def _line(self, index: int, segments: tuple[Segment, ...]) -> str:
        written = ""
        known = len(self._linked)
        for segment, raw in zip(segments, segment_texts(self.section, index, segments), strict=True):
            if segment.flags:
                self.marks += 1
                written += self._fragment(segment, escaped(raw), sign=len(self._linked) == known)
            else:
                written += escaped(raw)
        return written

    def _fragment(self, segment: Segment, text: str, *, sign: bool) -> str:
        """Where a requirement begins, a link leads to it; the first one that begins on a line shows its sign."""
        ##= man/spec/page.md#text
        ##% Where a requirement begins in the text, a link MUST lead to what is known of it.
        found = self._owners(segment.ids)
        if not found:
            return f"{_CITED_OPEN}{text}</mark>"
        mark = _mark(found[0].state, segment.flags)
        begun = [owner for owner in found if owner not in self._linked]
        if begun:
            self._last = begun[0]
            self._linked.update(begun)
            mark = f'"{mark} g"' if sign else mark
            return f'<a class={mark} href="{self._last.link}"{self._whose(found)}>{text}</a>'
        return f"<mark class={mark}{self._whose(found)}>{text}</mark>"

    def _owners(self, ids: tuple[int, ...]) -> list[Owner]:
        found = self._found.get(ids)
        if found is None:
            found = self._found[ids] = sorted({self.owners[id] for id in ids if id in self.owners})
        return found

    def _whose(self, found: list[Owner]) -> str:
        """The requirements of a fragment, unless it is that whose link came last."""
        ##= man/spec/page.md#text
        ##% A fragment of several requirements, or of one whose link does not come last before it, MUST name all of its
        ##% requirements.
        if len(found) > 1:
            return f' data-r="{" ".join([owner.name for owner in found])}"'
        return "" if found[0] is self._last else f" data-r={found[0].name}"


def _mark(state: State, flags: int) -> str:
    """In a requirement that is covered in part, the rest of it stands out."""
    own = _own_state(flags) if state is State.PARTIAL else state
    return LOOKS[own if own <= State.TO_DO else state].mark


@cache
def _own_state(flags: int) -> State:
    return state_of(Tally({flags: 1}, ()))
