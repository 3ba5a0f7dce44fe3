"""What handlers find among the services."""

from __future__ import annotations

MODELS = "models"
"""What handlers find the router of models by."""
