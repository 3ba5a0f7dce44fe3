"""The document about the `km-` tools, section by section: each name, flag, default, limit and code that it writes.

What stands behind each is tested in depth beside the code: tools in tests/unit/tools/knowledge, searching and graph in
tests/unit/knowledge, maintenance in tests/unit/knowledge/upkeep, recipes in tests/unit/workflows/recipes, faces, scopes, limits and metrics in
tests/cli/server/http, forwarding in tests/unit/tools/test_gateway.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.cli.server.duskmantle.calling import client
from tests.unit.server.http.command import Command
from tests.unit.server.http.serving import ADMIN
from tests.unit.server.http.team import TOKENS, team


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return team(tmp_path_factory.mktemp("duskmantle") / "pot")


@pytest.fixture(scope="module")
def gateway(duvet_command: str, folder: Path) -> Iterator[Command]:
    environ = {**TOKENS, "KM_EDITOR_URI_TEMPLATE": "vscode://file/{abs_path}:{line_start}"}
    with Command(duvet_command, folder, **environ) as command:
        yield command


@pytest.fixture(scope="module")
def admin(gateway: Command) -> Iterator[httpx2.Client]:
    with client(gateway, ADMIN) as found:
        yield found
