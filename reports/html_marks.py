"""The text of a section with its requirements marked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from duvet.model import Section
from duvet.queries.links import fragment
from duvet.reports.html_states import CITED, LOOKS
from duvet.text import WHITESPACE
from duvet.trace.coverage import segment_texts
from duvet.trace.records import TITLE_LINE, Lines, Segment, Tally
from duvet.trace.requirements import state_of
from duvet.trace.states import State

_MARKS = [look.mark for look in LOOKS]
_CITED = CITED.mark


class Owner(Struct, frozen=True, order=True):
    """The requirement that a stretch of text belongs to; where there are several, the worst one shows."""

    state: State
    anchor: str


def escaped(text: str) -> str:
    """The text between tags; Jinja's own function, which serves attributes too, costs several times as much."""
    ##= man/spec/trace.md#reports
    ##% The page MUST show text from specifications, sources and the configuration as text, whatever it holds.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def marked(section: Section, lines: Lines, owners: Mapping[int, Owner]) -> str:
    """The section's lines as HTML."""
    linked: set[str] = set()
    written: list[str] = []
    done = next((index for index, line in enumerate(section.lines) if line.strip(WHITESPACE)), 0)
    for index, segments in lines.items():
        if index == TITLE_LINE:
            continue
        if done < index:
            written.append(escaped("\n".join(section.lines[done:index])))
        written.append(_line(section, index, segments, owners, linked))
        done = index + 1
    written.append(escaped("\n".join(section.lines[done:])))
    return "\n".join(written).rstrip(WHITESPACE)


def _line(
    section: Section, index: int, segments: tuple[Segment, ...], owners: Mapping[int, Owner], linked: set[str]
) -> str:
    """Where a requirement begins, a link leads to it; the first one that begins on a line shows its sign."""
    written = ""
    known = len(linked)
    for segment, raw in zip(segments, segment_texts(section, index, segments), strict=True):
        text = escaped(raw)
        if not segment.flags:
            written += text
            continue
        found = [owners[id] for id in segment.ids if id in owners]
        if not found:
            written += f"<mark class={_CITED}>{text}</mark>"
            continue
        begun = [owner for owner in found if owner.anchor not in linked]
        if begun:
            first = min(begun)
            sign = " g" if len(linked) == known else ""
            linked.update(owner.anchor for owner in begun)
            written += f'<a class="{_mark(min(found), segment.flags)}{sign}" href="{fragment(first.anchor)}">{text}</a>'
        else:
            written += f"<mark class={_mark(min(found), segment.flags)}>{text}</mark>"
    return written


def _mark(owner: Owner, flags: int) -> str:
    """In a requirement that is covered in part, the rest of it stands out."""
    own = _own_state(flags) if owner.state is State.PARTIAL else owner.state
    return _MARKS[own if own <= State.TO_DO else owner.state]


@cache
def _own_state(flags: int) -> State:
    return state_of(Tally({flags: 1}, ()))
