"""A prompt about one requirement on standard output."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from duvet.prompts.library import rendered
from duvet.prompts.requirement import requirement_values
from duvet.queries.catalogue import Catalogue
from duvet.queries.citations import Citations
from duvet.queries.detailing import Material
from duvet.queries.places import Files
from duvet.reports.cells import visible
from duvet.terminal.options import open_cache, open_project
from duvet.terminal.progress import Quietly
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour

_AROUND = 3


def pour_prompt(name: str, catalogue: Catalogue, index: int, where: Mapping[str, Any]) -> None:
    """Write the prompt of that name about this requirement, for an agent to read."""
    project = open_project(open_cache(settings()), Quietly(settings()), **where)
    rules = (*project.options.sources, *(project.config.sources if project.config else ()))
    files = Files(project.tree, os.getcwd().replace(os.sep, "/"))
    material = Material(catalogue, Citations(catalogue, files, _AROUND), project.specification)
    text = rendered(name, requirement_values(material, index, rules))
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    pour("".join(f"{visible(line)}\n" for line in text.splitlines()).encode(errors="replace"))
