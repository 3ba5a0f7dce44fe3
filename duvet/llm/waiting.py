"""How long to wait before a call is tried again."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 30.0
"""So many seconds are waited at a time, and no more."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_SECONDS = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?\Z")


def asked_to_wait(header: str | None, now: float) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or as a date; None where it says nothing sensible."""
    written = (header or "").strip()
    if _SECONDS.match(written):
        return float(written)
    try:
        date = parsedate_to_datetime(written)
        return max((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def pause_before(attempt: int) -> float:
    """How many seconds to wait before an attempt, the first one after a failure being 1."""
    return float(min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE))
