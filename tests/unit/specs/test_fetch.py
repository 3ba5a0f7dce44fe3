"""Downloads, from a server of our own on loopback."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Event

import httpx2
import pytest

import duvet.specs.download
from duvet.errors import DuvetError, FetchError, OutputError
from duvet.progress import Progress
from duvet.specs.download import FetchRefusal, download_texts
from duvet.specs.library import Policy
from tests.unit.specs.serving import at_work

TEXT = b"1.  Tea\n\n   The pot MUST be warm.\n"
HTTP = Policy(allow_http=True)


def fetch(url: str, path: str, policy: Policy) -> bytes:
    """What one download gives."""
    outcome = download_texts({url: path}, policy, Progress())[url]
    if isinstance(outcome, DuvetError):
        raise outcome
    return outcome


class Server(ThreadingHTTPServer):
    """What it is asked for tells how it answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[str] = []
        self.enough = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        getattr(self, f"answer_{self.path.strip('/')}")()

    def answer_text(self) -> None:
        self.server.seen += [self.headers["accept"], self.headers["user-agent"]]
        self.answer(200, TEXT)

    def answer_moved(self) -> None:
        self.answer(302, b"", location="/text")

    def answer_round(self) -> None:
        self.answer(302, b"", location="/round")

    def answer_away(self) -> None:
        self.answer(302, b"", location="ftp://example.com/text")

    def answer_absent(self) -> None:
        self.answer(404, b"nothing here")

    def answer_page(self) -> None:
        self.answer(200, b"\n<!DOCTYPE html>\n<title>Tea</title>")

    def answer_slow(self) -> None:
        self.server.enough.wait()

    def answer_cut(self) -> None:
        self.answer(200, TEXT, **{"content-length": "1000"})

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with at_work(Server()) as server:
        yield server
        server.enough.set()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "specifications" / "host" / "tea.txt"


def test_a_text_is_kept(server: Server, path: Path) -> None:
    assert fetch(f"{server.url}/text", str(path), HTTP) == TEXT
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {"tea.txt": TEXT}
    assert server.seen == ["text/plain", f"duvet/{version('duvet-cli')}"]


def test_redirects_are_followed(server: Server, path: Path) -> None:
    assert fetch(f"{server.url}/moved", str(path), HTTP) == TEXT


@pytest.mark.parametrize(
    ("name", "policy", "why"),
    [
        ("absent", HTTP, "the server answered 404 Not Found"),
        ("page", HTTP, "it is an HTML page, where text or Markdown is needed"),
        ("text", Policy(allow_http=True, max_bytes=10), "it is larger than 10 bytes"),
        ("slow", Policy(allow_http=True, seconds=0.1), "it took more than 0.1 seconds"),
        ("round", HTTP, "it redirects more than 10 times"),
        ("text", Policy(), "it is not https"),
        ("text", Policy(offline=True), "downloads are off"),
    ],
)
def test_refusals(server: Server, path: Path, name: str, policy: Policy, why: str) -> None:
    ##= man/spec/trace.md#specifications
    ##% With `--offline`, duvet MUST NOT download anything.
    ##= man/spec/trace.md#specifications
    ##% duvet MUST download over HTTPS unless the user allows otherwise, and give up when a download is too large or
    ##% takes too long.
    ##= man/spec/trace.md#specifications
    ##% duvet MUST refuse an HTML page as a specification, and leave no file after a failed download.
    url = f"{server.url}/{name}"
    with pytest.raises(FetchError) as caught:
        fetch(url, str(path), policy)
    assert (str(caught.value), caught.value.hint) == (f"could not download {url}: {why}", f"put its text into {path}")
    assert not path.parent.exists()


@pytest.mark.parametrize("name", ["cut", "away"])
def test_what_the_client_refuses(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/{name}"
    with pytest.raises(FetchError, match=f"^could not download {re.escape(url)}: "):
        fetch(url, str(path), HTTP)
    assert not path.parent.exists()


@pytest.mark.parametrize("policy", [Policy(), HTTP])
def test_a_redirect_never_leaves_https(policy: Policy) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST download over HTTPS unless the user allows otherwise, and give up when a download is too large or
    ##% takes too long.
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(301, headers={"location": "http://plain.example/tea"})

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    first = client.get("https://safe.example/tea")
    with pytest.raises(FetchRefusal, match=r"it redirects to http://plain.example/tea, which is not https"):
        duvet.specs.download.fetch_text(client, first, policy, lambda size: None)


def test_nobody_answers(server: Server, path: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(FetchError, match="could not download"):
        fetch(f"{server.url}/text", str(path), HTTP)


def test_other_protocols_are_not_spoken(path: Path) -> None:
    with pytest.raises(FetchError, match="downloads over ftp are not supported"):
        fetch("ftp://example.com/tea.txt", str(path), Policy())


def test_a_file_in_the_way_of_a_folder(server: Server, path: Path) -> None:
    path.parent.parent.write_bytes(b"")
    with pytest.raises(OutputError) as caught:
        fetch(f"{server.url}/text", str(path), HTTP)
    assert caught.value.path == str(path)
    assert path.parent.parent.read_bytes() == b""


def test_a_folder_in_the_way_leaves_nothing_behind(server: Server, path: Path) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST refuse an HTML page as a specification, and leave no file after a failed download.
    path.mkdir(parents=True)
    with pytest.raises(OutputError):
        fetch(f"{server.url}/text", str(path), HTTP)
    assert list(path.parent.iterdir()) == [path]
