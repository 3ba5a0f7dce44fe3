"""Where the server listens."""

from __future__ import annotations

import socket

import pytest

from duvet.errors import DuvetError, QueryError
from duvet.server.http.listener import ServerAddress, open_listener, parse_address

GIVEN = {
    "8931": ("127.0.0.1", 8931, "http://127.0.0.1:8931"),
    "0": ("127.0.0.1", 0, "http://127.0.0.1:0"),
    "localhost:80": ("localhost", 80, "http://localhost:80"),
    "[::1]:8080": ("::1", 8080, "http://[::1]:8080"),
    "0.0.0.0:65535": ("0.0.0.0", 65535, "http://0.0.0.0:65535"),
}
WRONG = ("", ":", ":80", "localhost", "localhost:", "::1:80", "[::1]", "[localhost]:80", "a b:80", "1:65536", "-1", "٣")


@pytest.mark.parametrize("text", GIVEN)
def test_a_port_or_a_host_and_a_port(text: str) -> None:
    found = parse_address(text)
    assert (found.host, found.port, found.url) == GIVEN[text]


@pytest.mark.parametrize("text", WRONG)
def test_nothing_else(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_address(text)
    assert str(caught.value) == f"{text!r} is not an address"


##= man/spec/mcp.md#http
##= type=test
##% Without tokens, `duvet mcp --http` MUST refuse an address that other machines can reach, and MUST let callers only
##% read.
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_others_come_in_with_tokens_alone(host: str) -> None:
    with pytest.raises(DuvetError) as caught:
        open_listener(ServerAddress(host, 0), anywhere=False)
    assert str(caught.value) == f"{host} can be reached by others, and no token is set"
    assert caught.value.hint == "set DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN, or listen at 127.0.0.1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.9.1"])
def test_the_machine_itself_comes_in(host: str) -> None:
    with open_listener(ServerAddress(host, 0), anywhere=False) as listening:
        assert listening.getsockname()[1] > 0


def test_everywhere_with_tokens() -> None:
    with open_listener(ServerAddress("0.0.0.0", 0), anywhere=True) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"


##= man/spec/mcp.md#http
##= type=test
##% `duvet mcp --http` MUST print its address on standard error once it listens, and fail when it cannot listen.
def test_an_address_of_another_machine() -> None:
    with pytest.raises(DuvetError) as caught:
        open_listener(ServerAddress("192.0.2.1", 8931), anywhere=True)
    assert str(caught.value) == "can't listen at 192.0.2.1:8931: Cannot assign requested address"


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DuvetError) as caught:
            open_listener(ServerAddress("127.0.0.1", port), anywhere=False)
    assert str(caught.value) == f"can't listen at 127.0.0.1:{port}: Address already in use"


def test_a_host_that_nobody_knows() -> None:
    with pytest.raises(DuvetError) as caught:
        open_listener(ServerAddress("no-such-host.invalid", 1), anywhere=True)
    assert str(caught.value) == "can't listen at no-such-host.invalid:1: no such host"
