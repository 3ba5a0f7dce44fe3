"""The server that is measured over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.clients import CLIENTS, EACH, load, talking_http
from tests.bench.measure import FailedError
from tests.bench.options import ROOT
from tests.bench.server import asked_of
from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the memory of another process is one of Linux")


def test_a_server_is_asked_by_one_and_by_many(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, TEA_PROJECT)
    with talking_http([duvet_command, "mcp", "--http", "0", "--rate", "0"], tmp_path) as server:
        tools = {"coverage_summary": asked_of(server)["coverage_summary"]}
        assert server.memory > 1
        with pytest.raises(FailedError, match="Method not found"):
            server.ask("no/such", {})
        with pytest.raises(FailedError, match="Unknown tool"):
            load(server, {"no_such": {}})
        found = load(server, tools)
    assert (found.rate > 0, found.worst > 0, CLIENTS * EACH) == (True, True, 4000)


def test_the_server_that_does_nothing(tmp_path: Path) -> None:
    with talking_http([sys.executable, "-m", "tests.bench.idle"], ROOT) as server:
        assert server.ask("tools/call", {"name": "nothing", "arguments": {}})["content"][0]["text"] == "{}"


def test_a_command_that_serves_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(FailedError, match="doesn't serve"),
        talking_http([sys.executable, "-c", "print('serving')"], tmp_path),
    ):
        pass
