"""What runs are called."""

from __future__ import annotations

import re

from duvet.errors import QueryError
from duvet.text import quoted, shortened

_PROFILE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def require_profile(name: str) -> str:
    """The same; QueryError where no run can be called so."""
    if not _PROFILE.fullmatch(name):
        hint = "take up to 64 letters, digits, `.`, `-` and `_`"
        raise QueryError(f"{quoted(shortened(name))} can't be the name of a profile", hint=hint)
    return name
