"""Resources as they go over the pipes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.server.wire import Message, Wire, enveloped, request

_SPECIFICATIONS = [
    {
        "id": "rfc7168",
        "name": "RFC 7168",
        "url": "rfc7168.txt",
        "description": "The Hyper Text Coffee Pot Control Protocol for Tea",
    },
    {"id": "tea", "name": "Tea", "url": "tea.md", "description": "How tea is made, and by whom."},
]


@pytest.mark.parametrize("params", [{"path": "/specifications"}, {"uri": "duvet:///specifications"}])
def test_a_list_is_a_bare_array(wire: Callable[..., Wire], params: Message) -> None:
    server = wire()
    server.greet()
    assert server.ask("resources/get", params) == {"jsonrpc": "2.0", "id": 1, "result": _SPECIFICATIONS}
    assert server.ask("resources/get", {"path": "/specifications/tea"}, 2)["result"] == _SPECIFICATIONS[1]


def test_a_list_is_a_bare_array_without_a_handshake(wire: Callable[..., Wire]) -> None:
    server = wire()
    answer = server.ask("resources/get", enveloped({"path": "/specifications"}))
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": _SPECIFICATIONS}
    found = server.ask("resources/get", enveloped({"path": "/specifications/tea"}), 2)["result"]
    assert set(found.pop("_meta")) == {"io.modelcontextprotocol/serverInfo"}
    assert found == {**_SPECIFICATIONS[1], "resultType": "complete"}


@pytest.mark.parametrize("uri", ['"duvet:///\\u0000"', '"duvet:///%00"', '"duvet:///%ff%fe"', "{}", "7", "null"])
def test_what_is_no_uri_is_an_error_and_no_end(wire: Callable[..., Wire], uri: str) -> None:
    server = wire()
    server.greet()
    for number, method in enumerate(["resources/read", "resources/get"], 1):
        head = f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{"uri":'
        server.send(f"{head}{uri}}}}}\n".encode())
        answer = server.read()
        assert (answer["id"], answer["error"]["code"] in (-32602, -32002)) == (number, True)
    server.send(request("resources/list", id=3))
    assert len(server.read()["result"]["resources"]) == 43
