"""What handlers find among the services."""

from __future__ import annotations

MODELS = "models"
"""What handlers find the router of models by."""
RUNS = "runs"
"""What they find by that takes the record of each run of a workflow."""
RECIPES = "recipes"
"""What they find by that runs recipes."""
KNOWLEDGE = "knowledge"
"""What they find by that holds all that was taken in of the project."""
UPKEEP = "upkeep"
"""What they find by that takes it in, keeps votes on it and makes backups of it."""
