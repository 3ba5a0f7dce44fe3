"""Runs everything, and prints a line for each part that `.ci/run` repeats at its end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tests.interop.clients import walk_with_others
from tests.interop.conformance import of_fixtures, of_product
from tests.interop.inspector import inspect
from tests.interop.made import written
from tests.interop.running import duvet, listening


def main(folder: Path) -> None:
    """The folder holds the packages of others; whatever else is needed is written there."""
    project, plan = written(folder)
    with listening(duvet(), "-C", project, "mcp", "--http", "127.0.0.1:0") as url:
        _say("conformance of the product", lambda: of_product(folder, url))
        _say("clients of others", lambda: walk_with_others(folder, project, plan, url))
        _say("MCP Inspector", lambda: inspect(folder, project, plan, url))
    with listening(sys.executable, "-m", "tests.interop.fixtured", project) as url:
        _say("conformance with fixtures", lambda: of_fixtures(folder, url))


def _say(name: str, part: Callable[[], str]) -> None:
    print(f"interop: {name}: {part()}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
