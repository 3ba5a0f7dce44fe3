"""The Chromium of this machine."""

from __future__ import annotations

import os
import shutil

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium_program() -> str | None:
    """Where it stands, if it is there; DUVET_CHROMIUM names another one."""
    return os.environ.get("DUVET_CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
