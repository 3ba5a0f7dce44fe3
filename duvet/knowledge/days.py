"""How long a day is."""

from __future__ import annotations

DAY = 86_400
"""Seconds."""
