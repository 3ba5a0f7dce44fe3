import json
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.cli.command import run
from tests.cli.sample_project import make
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import API, MODERN_HEADERS, READER, asking, greet
from tests.unit.server.http.pages import FIVE, NOTES
from tests.unit.server.stdio_server import enveloped, request

pytestmark = pytest.mark.anyio
SIGNALS = [signal.SIGINT, signal.SIGTERM]


##= man/spec/mcp.md#stopping
##% On SIGINT or SIGTERM, the server MUST answer the open requests, cancel those that are still open after
##% `shutdownTimeout` seconds, and exit with 0.
@pytest.mark.parametrize("how", SIGNALS)
async def test_it_serves_until_a_signal(duvet_command: str, project: Path, how: signal.Signals) -> None:
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            assert (await client.get("/health")).text == '{"status":"ok"}'
            session = await greet(client)
            async with client.stream("GET", "/mcp", headers=session) as stream:
                with anyio.fail_after(5):
                    assert await anyio.to_thread.run_sync(command.end, how) == (0, "", "")
                    assert await stream.aread() == b""


BEFORE_IT_SERVES = """
import os, signal, sys
from types import SimpleNamespace
from duvet.server.http.listener import ServerAddress, serve_over_http
from duvet.server.live_project import LiveProject

class Told(LiveProject):
    def begin(self):
        os.kill(os.getpid(), how)

for how in (signal.SIGINT, signal.SIGTERM):
    if os.fork() == 0:
        application = SimpleNamespace(live=Told(None))
        serve_over_http(application, ServerAddress("127.0.0.1", 0), (), (), 0, print)
        sys.exit()
    print(os.wait()[1], flush=True)
"""


def test_a_signal_before_it_serves_ends_it(duvet_command: str, project: Path) -> None:
    done = run(str(Path(duvet_command).with_name("python")), project, "-c", BEFORE_IT_SERVES)
    assert done == (0, "0\n0\n", "")


@pytest.mark.parametrize("address", ["localhost:0", "[::1]:0"])
async def test_other_names_of_this_machine(duvet_command: str, project: Path, address: str) -> None:
    with Command(duvet_command, project, address=address) as command:
        assert command.first.startswith(f"duvet mcp: serving http://{address.removesuffix('0')}")
        async with Client(command.url) as client:
            answer = await client.call_tool("resolve_spec_id", {"url": "tea.md"})
    assert answer.structured_content == {"spec_id": "tea"}


def test_every_address_with_a_token(duvet_command: str, project: Path) -> None:
    options: dict[str, str] = {"address": "0.0.0.0:0", "DUVET_READER_TOKEN": READER}
    hosts = ("duvet.example", "127.0.0.1:80", "192.0.2.7", "evil.example")
    served = Command(duvet_command, project, "--allow-host", "duvet.example", **options)
    with served as command, command.client() as client:
        found = [client.get("/health", headers={"host": host}).status_code for host in hosts]
    assert found == [200, 200, 200, 421]


async def test_requests_are_logged_without_secrets(duvet_command: str, project: Path) -> None:
    (project / "duvet.config.json").write_text('{"server": {"logLevel": "debug"}}')
    with Command(duvet_command, project, DUVET_READER_TOKEN=READER) as command:
        async with asking(command.where, READER) as client:
            session = await greet(client)
            await client.get("/health?token=secret")
            await client.get("/no%0Asuch")
        _, _, err = command.end()
    told = [line.partition(" ")[2].rpartition(" duration_ms=")[0] for line in err.splitlines()]
    assert sorted(told) == [
        'DEBUG request client=127.0.0.1 method=GET path="/no\\\\nsuch" status=404',
        "DEBUG request client=127.0.0.1 method=GET path=/health status=200",
        "DEBUG request client=127.0.0.1 method=POST path=/mcp status=200",
        "DEBUG request client=127.0.0.1 method=POST path=/mcp status=202",
    ]
    assert READER not in err and session["mcp-session-id"] not in err


@pytest.mark.parametrize("names", ["", "".join(map(chr, range(0x1F600, 0x1F60C)))], ids=["short", "long"])
def test_an_unread_log_does_not_block_the_server(duvet_command: str, project: Path, names: str) -> None:
    ##= man/spec/service.md#operations
    ##% Logging MUST NOT block the server, and the server MUST log the number of lines that it dropped.
    (project / "duvet.config.json").write_text('{"server": {"logLevel": "info", "logFormat": "json"}}')
    # No pipe buffers so many lines; those with the names of arguments are longer than a page.
    calls, status = (60, 400) if names else (600, 200)
    asked = {"tool": "coverage_summary", "input": {name * 80: 1 for name in names}}
    with Command(duvet_command, project) as command:
        log = command.process.stderr
        assert log is not None
        with command.client() as client:
            for _ in range(calls):
                assert client.post(API, json=asked).status_code == status
            told = [json.loads(log.readline()) for _ in range(10)]
            assert client.post(API, json=asked).status_code == status
        command.process.terminate()
        told += [json.loads(line) for line in log]
    (missed,) = [one["lines_left_out_before"] for one in told if "lines_left_out_before" in one]
    assert missed > 0 and len(told) + missed == calls + 1


def test_the_rate_is_an_option(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, "--rate", "1") as command, command.client() as client:
        assert [client.get("/health").status_code for _ in range(4)][-1] == 429


DIFFERENT = {"DUVET_READER_TOKEN": "secret-1", "KM_READER_TOKEN": "secret-2"}


REFUSED: list[tuple[str, dict[str, str], int, str]] = [
    ("--http here", {}, 2, "'here' is not an address: use PORT, HOST:PORT or [IPV6]:PORT, such as"),
    ("--http 0.0.0.0:0", {}, 1, "other machines can reach 0.0.0.0, but no token is set"),
    ("--http 0", DIFFERENT, 1, "DUVET_READER_TOKEN and KM_READER_TOKEN have different values"),
    ("--http 0 --rate -1", {}, 2, "-1.0 is not in the range x>=0"),
]


def test_wrong_options_and_tokens_are_refused(duvet_command: str, project: Path) -> None:
    for args, environ, code, message in REFUSED:
        done = run(duvet_command, project, "mcp", *args.split(), environ=environ)
        assert (done.code, done.out) == (code, "")
        assert message in done.err and "secret-" not in done.err


def listed_pages(command: Command) -> tuple[set[str], set[str]]:
    with command.client() as client:
        headers = {**MODERN_HEADERS, "mcp-method": "tools/list"}
        answer = client.post("/mcp", json=request("tools/list", enveloped({})), headers=headers).json()
        return {tool["name"] for tool in answer["result"]["tools"]} & {*FIVE}, client.listed.keys() & {*FIVE}


def test_the_pack_is_listed_while_the_project_has_pages(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##% The server MUST offer the pack `pages` to MCP clients if the project has pages or the configuration enables the
    ##% pack.
    ##= man/spec/pages.md#tools
    ##% On `/api/mcp`, the server MUST offer the pack `pages` unless the configuration disables it.
    folder = make(tmp_path / "tea", TRACE)
    with Command(duvet_command, folder) as command:
        assert listed_pages(command) == (set(), {*FIVE})
        make(folder, {"docs/a.md": "# A\n"})
        assert listed_pages(command) == ({*FIVE}, {*FIVE})
        (folder / "docs/a.md").unlink()
        assert listed_pages(command) == (set(), {*FIVE})
    with Command(duvet_command, folder, "--pack", "pages") as command:
        assert listed_pages(command) == ({*FIVE}, {*FIVE})


CONFIGURED: dict[str, tuple[dict[str, Any], set[str], set[str]]] = {
    "the pack is off": ({"toolPacks": {"pages": {"enabled": False}}}, set(), set()),
    "a tool is off": ({"toolPacks": {"pages": {"tools": {"ask": False}}}}, {*FIVE} - {"ask"}, {*FIVE} - {"ask"}),
    "the service has other pages": ({"pages": [{"pattern": "nothing/*.md"}]}, set(), {*FIVE}),
}


def test_the_configuration_decides_on_pages(duvet_command: str, tmp_path: Path) -> None:
    for config, by_mcp, by_rest in CONFIGURED.values():
        folder = make(tmp_path / "tea", {**TRACE, **NOTES, "duvet.config.json": json.dumps(config)})
        with Command(duvet_command, folder) as command:
            assert listed_pages(command) == (by_mcp, by_rest)
        # `duvet call` finds the tools of a disabled pack, unless the configuration disables it.
        assert run(duvet_command, folder, "call", "list_pages").code == (0 if by_rest else 1)
