"""Finds the Chromium of this machine."""

from __future__ import annotations

import os
import shutil

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium_program() -> str | None:
    """Return the path of Chromium, or the one in DUVET_CHROMIUM; None if there is none."""
    return os.environ.get("DUVET_CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
