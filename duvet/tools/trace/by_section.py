"""The requirements of each section."""

from __future__ import annotations

from collections.abc import Mapping

from duvet.tools.context import Context


def requirements_by_section(context: Context) -> Mapping[tuple[int, str], list[int]]:
    """The indexes of requirements by the index of their specification and the id of their section, in order."""
    found: dict[tuple[int, str], list[int]] = {}
    for index, card in enumerate(context.catalogue.requirements):
        found.setdefault((card.specification, card.section), []).append(index)
    return found
