"""Links to the rows of the Requirements view that something counts."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from msgspec import Struct

from duvet.model import Level
from duvet.reports.html_states import LOOKS
from duvet.trace.states import State


class Number(Struct, frozen=True):
    """How many there are, and the link to them; zero leads nowhere."""

    count: int
    href: str


def level_name(level: Level) -> str:
    """What a level is called where there is one to name."""
    return "other" if level is Level.AUTO else level.name


def number(
    count: int,
    *,
    spec: str = "",
    level: Level | None = None,
    states: Iterable[State] = (),
    feature: str = "",
    issue: str = "",
) -> Number:
    """A number that leads to what it counts."""
    ##= man/spec/page.md#overview
    ##% Every number of requirements MUST be a link to a list of these requirements, but for zero.
    if not count:
        return Number(0, "")
    facts = {
        "spec": _quoted(spec),
        "level": "" if level is None else level_name(level).upper(),
        "status": ",".join(LOOKS[state].slug for state in states),
        "feature": _quoted(feature),
        "issue": _quoted(issue),
    }
    return Number(count, "#requirements?" + "&".join(f"{name}={fact}" for name, fact in facts.items() if fact))


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
