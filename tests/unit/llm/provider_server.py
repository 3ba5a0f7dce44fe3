"""A provider on loopback that speaks both protocols and gives prepared answers."""

from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any

from msgspec import Struct, json

PAUSE = 60  # The seconds that a slow answer takes, unless the test ends first.


class Reply(Struct, frozen=True):
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = {}
    stops_before: str = ""  # `headers` or `body`: the server waits there until the test ends.
    is_cut: bool = False  # True if the connection ends before the body does.


class Asked(Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Wire(ThreadingHTTPServer):
    """Gives the prepared replies in order, and repeats the last one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.replies: deque[Reply] = deque()
        self.files: dict[str, Reply] = {}  # The replies to `GET`, by path.
        self.over = Event()
        self.left = Event()  # Set when a client hangs up.

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def plan(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect."""

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.left.set()

    def next(self, path: str, method: str) -> Reply:
        if method == "GET":
            return self.files.get(path, Reply(404))
        return self.replies.popleft() if len(self.replies) > 1 else self.replies[0]


class _Handler(BaseHTTPRequestHandler):
    server: Wire
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.decode(self.rfile.read(int(self.headers["content-length"]))))

    def _answer(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(Asked(self.command, self.path, headers, body))
        reply = self.server.next(self.path, self.command)
        if reply.stops_before == "headers":
            self.server.over.wait(PAUSE)
        self.send_response(reply.status)
        size = len(reply.body) + (1000 if reply.is_cut else 0)
        for name, value in {"content-length": str(size), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body[:1])
        if reply.stops_before == "body":
            self.wfile.flush()
            self.server.over.wait(PAUSE)
        self.wfile.write(reply.body[1:])
        self.close_connection = reply.is_cut

    def log_message(self, format: str, *args: object) -> None:
        pass


def openai_says(text: object, reason: str = "stop", **more: Any) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    answer = {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage, **more}
    return Reply(body=json.encode(answer))


def anthropic_says(text: object, reason: str = "end_turn", **more: Any) -> Reply:
    usage = {"input_tokens": 12, "output_tokens": 3}
    content = [{"type": "text", "text": text}]
    return Reply(body=json.encode({"id": "1", "content": content, "stop_reason": reason, "usage": usage, **more}))


def refuses(status: int, message: object = "no", **headers: str) -> Reply:
    body = json.encode({"type": "error", "error": {"type": "some", "message": message}})
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})
