"""Small facts that packages of knowledge share: a day, levels of criticality, the enclosing project."""

from __future__ import annotations

import os

from duvet.config.settings import StoreSection

_OWN = ".duvet"
_TELLING = (f"{_OWN}/config.toml", StoreSection().path)
"""What is only where somebody has made a project."""


def find_project_above(folder: str) -> str | None:
    """The nearest folder above that is a project, as seen from this one, which is none; else None."""
    start = os.path.abspath(folder)
    if os.path.lexists(os.path.join(start, _OWN)):
        return None
    at = start
    while (above := os.path.dirname(at)) != at:
        at = above
        if any(os.path.isfile(os.path.join(at, name)) for name in _TELLING):
            return os.path.relpath(at, start).replace(os.sep, "/")
    return None


CRITICALITY = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}
"""The words for it, and how much each counts."""


DAY_SECONDS = 86_400
"""Seconds."""
