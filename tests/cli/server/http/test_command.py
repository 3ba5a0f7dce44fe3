"""`duvet mcp --http` as people run it."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.cli.running import run
from tests.unit.server.clients import client_of
from tests.unit.server.http.command import Command
from tests.unit.server.http.serving import ADMIN, MEDIA, READER, asking, greet
from tests.unit.server.wire import hello

pytestmark = pytest.mark.anyio
SIGNALS = [signal.SIGINT, signal.SIGTERM]


##= man/spec/mcp.md#http
##= type=test
##% `duvet mcp --http` MUST print its address on standard error once it listens, and fail when it cannot listen.
##= man/spec/mcp.md#http
##= type=test
##% When it is stopped, the server MUST finish or cancel what it is doing and exit with 0 within 5 seconds.
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


@pytest.mark.parametrize("how", SIGNALS)
def test_it_ends_before_it_has_begun(duvet_command: str, project: Path, how: signal.Signals) -> None:
    program = f"""
import os
from duvet.server.http.listener import ServerAddress
from duvet.server.http.listener import ServedApplication, ServingOptions, serve_over_http
from duvet.server.messages import ServerIdentity
from duvet.server.live_project import LiveProject
from duvet.server.log import ServerLog

class Told(LiveProject):
    def begin(self):
        os.kill(os.getpid(), {int(how)})

offer = ServedApplication(identity=ServerIdentity(), instructions="", live=Told(None, 50), make_dispatcher=print)
serve_over_http(offer, ServingOptions(address=ServerAddress("127.0.0.1", 0)), ServerLog(print), print)
"""
    done = run(str(Path(duvet_command).with_name("python")), project, "-c", program)
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("address", ["localhost:0", "[::1]:0"])
async def test_other_names_of_this_machine(duvet_command: str, project: Path, address: str) -> None:
    with Command(duvet_command, project, address=address) as command:
        assert command.first.startswith(f"duvet mcp: serving http://{address.removesuffix('0')}")
        async with Client(command.url) as client:
            assert (await client.call_tool("resolve_spec_id", {"url": "tea.md"})).structured_content == {
                "spec_id": "tea"
            }


@pytest.mark.parametrize("token", [READER, ADMIN])
async def test_clients_of_every_version_with_tokens(
    duvet_command: str, project: Path, version: str, token: str
) -> None:
    with Command(duvet_command, project, KM_READER_TOKEN=READER, DUVET_ADMIN_TOKEN=ADMIN) as command:
        async with asking(command.where, token) as http:
            transport = streamable_http_client(command.url, http_client=http)
            async with client_of(transport, version) as client:
                found = await client.call_tool("resolve_spec_id", {"url": "tea.md"})
        async with asking(command.where) as http:
            assert (await http.post("/mcp", json=hello(version), headers=MEDIA)).status_code == 401
        assert command.end() == (0, "", "")
    assert found.structured_content == {"spec_id": "tea"}


async def test_everywhere_with_a_token(duvet_command: str, project: Path) -> None:
    options = ("--allow-host", "duvet.example")
    with Command(duvet_command, project, *options, address="0.0.0.0:0", DUVET_READER_TOKEN=READER) as command:
        port = command.where[1]
        async with asking(("127.0.0.1", port)) as client:
            hosts = ("duvet.example", "127.0.0.1:80", "192.0.2.7", "evil.example")
            found = [(await client.get("/health", headers={"host": host})).status_code for host in hosts]
    assert found == [200, 200, 200, 421]


async def test_requests_are_told_without_secrets(duvet_command: str, project: Path) -> None:
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


async def test_how_often(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, "--rate", "1") as command:
        async with asking(command.where) as client:
            assert [(await client.get("/health")).status_code for _ in range(4)][-1] == 429


FAILING = {
    "address": (("--http", "here"), {}, 2),
    "others": (("--http", "0.0.0.0:0"), {}, 1),
    "empty": (("--http", "0"), {"DUVET_READER_TOKEN": ""}, 1),
    "differ": (("--http", "0"), {"DUVET_READER_TOKEN": "secret-1", "KM_READER_TOKEN": "secret-2"}, 1),
    "rate": (("--http", "0", "--rate", "-1"), {}, 2),
}
SAID = {
    "others": "0.0.0.0 can be reached by others, and no token is set",
    "empty": "DUVET_READER_TOKEN is empty",
    "differ": "DUVET_READER_TOKEN and KM_READER_TOKEN differ",
    "address": "'here' is not an address: give PORT, HOST:PORT or [IPV6]:PORT, like 127.0.0.1:8931",
    "rate": "-1.0 is not in the range x>=0",
}


@pytest.mark.parametrize("case", FAILING)
def test_what_keeps_it_from_beginning(duvet_command: str, project: Path, case: str) -> None:
    args, environ, code = FAILING[case]
    done = run(duvet_command, project, "mcp", *args, environ=environ)
    assert (done.code, done.out) == (code, "")
    assert SAID[case] in done.err and "secret-" not in done.err


def test_a_port_that_is_taken(duvet_command: str, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(duvet_command, project, "mcp", "--http", str(port))
    assert (done.code, done.out) == (1, "")
    assert f"can't listen at 127.0.0.1:{port}: Address already in use" in done.err
