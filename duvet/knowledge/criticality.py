"""How critical a subsystem may be."""

from __future__ import annotations

CRITICALITY = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}
"""The words for it, and how much each counts."""
