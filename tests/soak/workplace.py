"""What the server is loaded with: a project, every kind of tool, and a workflow that waits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.cli.made import make
from tests.unit.tools.installed import install_made, install_tutorial
from tests.unit.tools.made import FILES

EDITED = "src/main.rs"
_CONFIG = """\
[toolPacks.introspect]
enabled = true

[workflows.brew]
description = "Boils water, and waits until it has dripped through"

[workflows.brew.variables.cup]
type = "integer"

[[workflows.brew.steps]]
id = "boil"
tool = "boil"
params = { litres = 1 }

[[workflows.brew.steps]]
id = "owed"
tool = "coverage_summary"

[[workflows.brew.steps]]
id = "drip"

[workflows.brew.steps.wait]
tool = "drip"
params = { cup = "${vars.cup}" }
until = { path = "result.full", equals = true }
intervalSeconds = 0.5
timeoutSeconds = 30
"""
_DRIP = """\
from collections import Counter

from msgspec import Struct

from duvet.tools.tool import Pack, Tool

DROPS = Counter()


class Cup(Struct):
    cup: int


class Dripped(Struct):
    full: bool


def drip(asked, ctx):
    DROPS[asked.cup] += 1
    return Dripped(DROPS[asked.cup] % 3 == 0)


PACK = Pack("drip", (Tool(name="drip", title="", description="Drips.", input=Cup, output=Dripped, handler=drip),))
"""
Tools = Mapping[str, Mapping[str, object]]
TOOLS: Tools = {
    "coverage_summary": {},
    "list_uncited_requirements": {},
    "search_requirements": {"query": "error handling"},
    "get_prioritized_requirements": {},
    "validate_citation": {"citation": "//= docs/pot.md#lid\n//# The lid MUST fit."},
    "get_citation_context": {"citation_id": "src/main.rs:3"},
    "list_invalid_citations": {},
    "duvet_server_info": {},
    "duvet_health": {},
    "boil": {"litres": 1},
    "owed": {},
}


def waiting(number: int) -> Tools:
    """What a client asks that lasts for as long as it waits, which is a second: nobody else drips into its cup."""
    return {"workflow.brew": {"cup": number}}


def furnish(folder: Path) -> tuple[Path, Path]:
    """The project, and where the packs are installed."""
    site = folder / "site"
    install_tutorial(site, folder)
    install_made(site, "drip", _DRIP)
    return make(folder / "project", {**FILES, "duvet.config.toml": _CONFIG}), site
