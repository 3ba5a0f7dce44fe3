"""Answers that are a bare array: the SDK sends them wrapped, the client gets them as they are."""

from __future__ import annotations

import json

from starlette.types import Message, Send

from duvet.server.bare import unwrapped

_DATA = b"data: "


class Unwrapping:
    """Sends the answer to one request on, whether it comes as JSON or as a stream of events."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message = {}
        self._held = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            if self._is_stream:
                await self._send(message)
        elif self._is_stream:
            # The SDK sends each event in one piece.
            await self._send({**message, "body": _unwrap_events(message.get("body", b""))})
        else:
            self._held += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_whole()

    @property
    def _is_stream(self) -> bool:
        return content_type(self._start).startswith(b"text/event-stream")

    async def _send_whole(self) -> None:
        body = _unwrap(bytes(self._held)) if content_type(self._start) == b"application/json" else bytes(self._held)
        headers = [pair for pair in self._start["headers"] if pair[0] != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**self._start, "headers": [*headers, length]})
        await self._send({"type": "http.response.body", "body": body})


def content_type(start: Message) -> bytes:
    """What an answer begins as."""
    found = [value for name, value in start.get("headers", ()) if name.lower() == b"content-type"]
    return bytes(found[0]) if found else b""


def _unwrap_events(events: bytes) -> bytes:
    lines = events.split(b"\n")
    return b"\n".join(
        _DATA + _unwrap(line[len(_DATA) :].rstrip(b"\r")) + line[len(line.rstrip(b"\r")) :]
        if line.startswith(_DATA)
        else line
        for line in lines
    )


def _unwrap(text: bytes) -> bytes:
    answer = json.loads(text)
    if not (isinstance(answer, dict) and isinstance(answer.get("result"), dict)):
        return text
    # Escapes throughout: names of files may hold what is no character.
    return json.dumps({**answer, "result": unwrapped(answer["result"])}, separators=(",", ":")).encode()
