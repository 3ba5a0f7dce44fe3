"""Which names the server goes by."""

from __future__ import annotations

import pytest

from duvet.server.http.guards import AllowedHosts

OURS = (
    "localhost",
    "LocalHost:8931",
    "127.0.0.1",
    "127.0.0.1:1",
    "[::1]",
    "[::1]:8931",
    "[0:0:0:0:0:0:0:1]:80",
    "localhost.",
)
NOT_OURS = (
    "",
    "evil.example",
    "localhost.evil.example",
    "evil.example:127.0.0.1",
    "127.0.0.1.evil.example",
    "user@localhost",
    "localhost:80:80",
    "localhost/",
    "localhost:",
    "::1",
    "[::1",
    "192.0.2.1",
    "0.0.0.0",
    "localhost\t",
    "2130706433",
)


@pytest.mark.parametrize("host", OURS)
def test_the_machine_itself(host: str) -> None:
    assert AllowedHosts("127.0.0.1").allow(host)
    assert AllowedHosts("127.0.0.1").allow_origin(f"http://{host}")
    assert AllowedHosts("127.0.0.1").allow_origin(f"https://{host}")


@pytest.mark.parametrize("host", NOT_OURS)
def test_nobody_else(host: str) -> None:
    assert not AllowedHosts("127.0.0.1").allow(host)
    assert not AllowedHosts("127.0.0.1").allow_origin(f"http://{host}")


@pytest.mark.parametrize(
    "origin", ["null", "file://localhost", "localhost", "http://localhost/page", "HTTP:localhost", ""]
)
def test_origins_are_of_the_web(origin: str) -> None:
    assert not AllowedHosts("127.0.0.1").allow_origin(origin)


def test_names_that_are_given() -> None:
    hosts = AllowedHosts("10.1.2.3", ["duvet.example", "[2001:db8::1]"])
    given = ("10.1.2.3:8931", "duvet.example", "DUVET.example:443", "[2001:DB8:0::1]:80", "localhost")
    assert [hosts.allow(one) for one in given] == [True] * 5
    assert not hosts.allow("10.1.2.4")


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_any_address_where_it_listens_at_all(everywhere: str) -> None:
    hosts = AllowedHosts(everywhere)
    assert [hosts.allow(one) for one in ("10.1.2.3:80", "[2001:db8::1]", "duvet.example")] == [True, True, False]
