from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Barrier, Event, Lock, Thread
from typing import TypeVar

Server = TypeVar("Server", bound=ThreadingHTTPServer)
LONGEST = 60
"""How many seconds a test waits for what has to happen, before it fails."""


def text(name: str) -> bytes:
    return f"# Tea\n\nThe {name} MUST be warm.\n".encode()


class Held(ThreadingHTTPServer):
    """Has a text behind `/good/NAME`, nothing behind `/bad/NAME` and a page behind `/page/NAME`.

    `/moved/NAME` redirects to the text, `/round/NAME` to itself and `/away/NAME` to another protocol; `/cut/NAME` ends
    too early.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[str] = []
        self.client = ("", "")
        """What the last client said that it accepts, and is."""
        self.asked: SimpleQueue[str] = SimpleQueue()
        self.held: set[str] | None = set()
        """The paths whose answers wait for their doors; None for all of them."""
        self.doors: defaultdict[str, Event] = defaultdict(Event)
        self.meeting: Barrier | None = None
        """Where as many requests have to meet before any of them is answered."""
        self.lock = Lock()
        self.under_way = self.most = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect."""

    def arrive(self, path: str) -> None:
        with self.lock:
            self.seen.append(path)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        self.asked.put(path)
        if self.meeting:
            self.meeting.wait(LONGEST)
        if self.held is None or path in self.held:
            self.doors[path].wait(LONGEST)
        with self.lock:
            self.under_way -= 1


class _Handler(BaseHTTPRequestHandler):
    server: Held

    def do_GET(self) -> None:
        self.server.client = self.headers["accept"], self.headers["user-agent"]
        self.server.arrive(self.path)
        _, kind, name, *_ = self.path.split("/")
        body = b"\n<!DOCTYPE html>" if kind == "page" else text(name)
        location = {"moved": f"/good/{name}", "round": self.path, "away": "ftp://example.com/text"}.get(kind)
        self.send_response(302 if location else 404 if kind == "bad" else 200)
        if location:
            self.send_header("location", location)
        self.send_header("content-length", "1000" if kind == "cut" else str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def at_work(server: Server) -> Iterator[Server]:
    with server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serving() -> Iterator[Held]:
    with at_work(Held()) as server:
        try:
            yield server
        finally:
            for door in list(server.doors.values()):
                door.set()
