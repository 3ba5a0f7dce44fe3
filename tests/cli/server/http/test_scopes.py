"""Who may call which of the tools about what is known, tool by tool, on every face."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.made import make
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, READER, asking, call
from tests.unit.server.http.team import ALL, MAINTAINERS, READERS, TOKENS, piped, shell, team
from tests.unit.server.wire import Wire
from tests.unit.tools.made import FILES

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def served(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """With both tokens."""
    with Command(duvet_command, team(tmp_path_factory.mktemp("team") / "pot"), **TOKENS) as command:
        yield command


@pytest.fixture(scope="module")
def anybodys(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """Without any."""
    with Command(duvet_command, team(tmp_path_factory.mktemp("anybody") / "pot")) as command:
        yield command


@pytest.fixture(scope="module")
def forwarding(
    duvet_command: str, served: Command, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Wire]]:
    """`duvet mcp` over pipes whose calls go there, with each of the tokens and with none."""
    desk = make(tmp_path_factory.mktemp("desk") / "pot", FILES)
    url = served.url.removesuffix("/mcp")
    shown: dict[str, dict[str, str]] = {
        "nobody": {},
        "reader": {"KM_READER_TOKEN": READER},
        "admin": {"KM_ADMIN_TOKEN": ADMIN},
    }
    wires = {
        who: Wire(duvet_command, desk, words=("mcp",), KM_GATEWAY_URL=url, **tokens) for who, tokens in shown.items()
    }
    for wire in wires.values():
        wire.greet()
    yield wires
    for wire in wires.values():
        wire.kill()


def refused_with(result: Any) -> str:
    return json.loads(result["content"][0]["text"])["error"]["code"] if result.get("isError") else ""


##= man/spec/gateway.md#access
##= type=test
##% The server MUST NOT list maintainers' tools to other callers, and MUST refuse them as `forbidden`, or as
##% `unauthorized` without a token where tokens are configured, whatever the arguments are.
@pytest.mark.parametrize("tool", ALL)
async def test_over_http(served: Command, tool: str) -> None:
    allowed = {"": "unauthorized", READER: "" if tool in READERS else "forbidden", ADMIN: ""}
    for token, code in allowed.items():
        async with asking(served.where, token) as client:
            status, found = await post(client, tool, **ALL[tool])
            assert (status, found.get("code", "")) == ({"": 200, "unauthorized": 401, "forbidden": 403}[code], code)
            answer = await call(client, tool, ALL[tool])
            if token:
                assert refused_with(answer.json()["result"]) == code
                listed = {one["name"] for one in (await client.get(API)).json()["tools"]}
                assert (tool in listed) == (not code)
                # Whatever the arguments are: who may not call it is told nothing of them.
                status, found = await post(client, tool, nonsense=1)
                assert found["code"] == (code or "invalid_request")
            else:
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, code)


@pytest.mark.parametrize("tool", ALL)
async def test_over_http_without_tokens(anybodys: Command, tool: str) -> None:
    async with asking(anybodys.where) as client:
        status, found = await post(client, tool, **ALL[tool])
        assert (status, found.get("code")) == ((200, None) if tool in READERS else (403, "forbidden"))
        answer = (await call(client, tool, ALL[tool])).json()["result"]
        assert refused_with(answer) == ("" if tool in READERS else "forbidden")


@pytest.mark.parametrize("who", ["nobody", "reader", "admin"])
def test_through_a_gateway(forwarding: dict[str, Wire], who: str) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST forward a call with the reader's or else the admin's token, and neither list nor forward maintainers'
    ##% tools without the admin's token.
    wire = forwarding[who]
    refusal = {"nobody": "unauthorized", "reader": "forbidden", "admin": ""}[who]
    expected = dict.fromkeys(MAINTAINERS, refusal) | dict.fromkeys(READERS, refusal if who == "nobody" else "")
    found = {tool: piped(wire, tool, given).get("error", {}).get("code", "") for tool, given in ALL.items()}
    assert found == {**expected, "km-help": ""}
    shown = {tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]}
    assert shown & {*ALL} == {*ALL} - ({*MAINTAINERS} if refusal else set())


async def test_workflows_and_recipes_give_no_rights(served: Command) -> None:
    async with asking(served.where, READER) as client:
        assert (await post(client, "workflow.look"))[0] == 403
        assert (await post(client, "km-recipe-run", recipe="good"))[0] == 403
    async with asking(served.where, ADMIN) as client:
        assert (await post(client, "workflow.look"))[0] == 200


def test_on_this_machine(duvet_command: str, tmp_path: Path) -> None:
    folder = team(tmp_path / "pot")
    wire = Wire(duvet_command, folder, words=("mcp",), **TOKENS)
    try:
        wire.greet()
        assert {*ALL} <= {tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]}
        found = {tool: piped(wire, tool, given)["status"] for tool, given in ALL.items()}
        assert set(found.values()) == {"ok", "success"}
    finally:
        wire.kill()
    for tool, given in MAINTAINERS.items():
        done = shell(duvet_command, folder, tool, given, KM_READER_TOKEN=READER)
        assert done.code == 0, done.err
