"""Runs all parts, and prints a line for each, which `.ci/run` repeats at its end."""

import sys
from collections.abc import Callable
from pathlib import Path

from msgspec import json

from tests.cli.sample_project import make
from tests.cli.tea_project import TEA_PROJECT
from tests.interop.external_programs import duvet, listening
from tests.interop.suites import inspect, run_on_fixtures, run_on_product, walk_with_clients
from tests.unit.server.walk import plan_of


def main(folder: Path) -> None:
    """Use the packages in the folder; the project and its plan are written there, too."""
    project, plan = make(folder / "project", TEA_PROJECT), folder / "plan.json"
    plan.write_bytes(json.encode(plan_of(project)))
    with listening(duvet(), "-C", project, "mcp", "--http", "127.0.0.1:0") as url:
        _report("conformance of the product", lambda: run_on_product(folder, url))
        _report("clients of others", lambda: walk_with_clients(folder, project, plan, url))
        _report("MCP Inspector", lambda: inspect(folder, project, plan, url))
    with listening(sys.executable, "-m", "tests.interop.fixtures", project) as url:
        _report("conformance with fixtures", lambda: run_on_fixtures(folder, url))


def _report(name: str, part: Callable[[], str]) -> None:
    print(f"interop: {name}: {part()}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
