"""Clients that are kept from one download to the next, with a server that sees who calls."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from duvet.specs.download import DownloadClients, FetchRefusal
from duvet.specs.library import Policy
from tests.unit.specs.serving import at_work


class Server(ThreadingHTTPServer):
    """Keeps connections open until it is asked for `/hang-up`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[tuple[str, str | None, int]] = []
        """What was asked for, with which cookie, and how many connections there were by then."""
        self.connections = 0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.served = 0

    def do_GET(self) -> None:
        name, self.served = self.path[1:], self.served + 1
        self.server.calls.append((name, self.headers["cookie"], self.server.connections))
        if name == "never" or (name == "once" and self.served > 1):
            self.close_connection = True
            return
        self.send_response(404 if name == "absent" else 200)
        self.send_header("content-length", str(len(name)))
        self.send_header("set-cookie", "seen=yes")
        self.end_headers()
        self.wfile.write(name.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with at_work(Server()) as server:
        yield server


@pytest.fixture
def clients() -> Iterator[DownloadClients]:
    clients = DownloadClients(Policy(allow_http=True))
    yield clients
    clients.close()


def fetched(clients: DownloadClients, server: Server, *names: str) -> list[str]:
    return [clients.fetch(server.url(name), lambda size: None).decode() for name in names]


def test_the_next_download_uses_the_connection_and_knows_nothing(server: Server, clients: DownloadClients) -> None:
    assert fetched(clients, server, "a", "b") == ["a", "b"]
    assert server.calls == [("a", None, 1), ("b", None, 1)]


def test_a_server_that_has_hung_up_is_called_again(server: Server, clients: DownloadClients) -> None:
    assert fetched(clients, server, "a", "once") == ["a", "once"]
    assert server.calls == [("a", None, 1), ("once", None, 1), ("once", None, 2)]


def test_a_server_that_hangs_up_is_not(server: Server, clients: DownloadClients) -> None:
    with pytest.raises(FetchRefusal, match="Server disconnected"):
        fetched(clients, server, "never")
    assert server.calls == [("never", None, 1)]


def test_an_answer_is_never_asked_for_twice(server: Server, clients: DownloadClients) -> None:
    with pytest.raises(FetchRefusal, match="the server answered 404 Not Found"):
        fetched(clients, server, "a", "absent")
    assert fetched(clients, server, "b") == ["b"]
    assert server.calls == [("a", None, 1), ("absent", None, 1), ("b", None, 2)]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [("HTTP_PROXY", "foo://host", "foo://host"), ("SSL_CERT_FILE", "/no/such/file", "No such file or directory")],
)
def test_an_environment_that_makes_no_sense(
    monkeypatch: pytest.MonkeyPatch, clients: DownloadClients, name: str, value: str, why: str
) -> None:
    monkeypatch.setenv(name, value)
    for _ in range(2):
        with pytest.raises(FetchRefusal, match=why):
            clients.fetch("http://host.example/a", lambda size: None)
