"""What is not owed, in words."""

from __future__ import annotations

from duvet.text import one_line, plural, quoted, shortened
from duvet.trace.states import NotApplicable


def last_day(entry: NotApplicable) -> str:
    """`until 2027-12-31`, or since when it is over; nothing where it does not end."""
    if entry.expiry is None:
        return ""
    return f"{'expired' if entry.has_expired else 'until'} {entry.expiry}"


def sentence(entry: NotApplicable) -> str:
    """`not applicable: 2 requirements of SPEC#SECTION: we have no spout (QA, until 2027-12-31)`."""
    what = "expired" if entry.has_expired else "not applicable"
    quote = f", {quoted(shortened(one_line(entry.quote)))}" if entry.quote else ""
    count = plural(entry.requirements, "requirement")
    return f"{what}: {count} of {entry.target}{quote}: {why(entry)}"


def why(entry: NotApplicable) -> str:
    """`we have no spout (QA, until 2027-12-31)`."""
    more = ", ".join(filter(None, (one_line(entry.owner), last_day(entry))))
    return f"{one_line(entry.reason)} ({more})" if more else one_line(entry.reason)
