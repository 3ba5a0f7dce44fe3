"""A specification of the project in the working directory with its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.model import Specification
from duvet.queries.catalogue import SpecificationCard
from duvet.terminal.options import open_project
from duvet.terminal.progress import Quietly
from duvet.terminal.recalling import open_cache
from duvet.terminal.settings import settings


def load_specification(card: SpecificationCard, where: Mapping[str, Any]) -> Specification:
    """The specification that a card is about, parsed already where nothing has changed."""
    return open_project(open_cache(settings()), Quietly(settings()), **where).specification(card)
