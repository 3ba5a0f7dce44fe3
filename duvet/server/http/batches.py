"""Messages in the body of a POST to `/mcp`: single ones, batches, and answers that are arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import json as msgspec_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server import messages as jsonrpc
from duvet.server.http import guards, responses

_VERSION_WITH_BATCHES = "2025-03-26"
_DATA = b"data: "


class MessageSplitter:
    """Checks the messages of a body, and passes them to the SDK one by one."""

    def __init__(self, app: ASGIApp, batch: int, rates: guards.RequestRates) -> None:
        self._app = app
        self._max_batch = batch
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = (await receive())["body"]
        try:
            value = jsonrpc.decode_message(body)
            if isinstance(value, list):
                await self._answer_batch(value, scope, receive, send)
            else:
                await self._answer(jsonrpc.check_message(value), body, scope, receive, send)
        except jsonrpc.InvalidMessageError as error:
            await responses.send_json(send, 400, jsonrpc.encode_message(error.answer))

    async def _answer(
        self, message: Mapping[str, Any], body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        ##= man/spec/mcp.md#resources
        ##% `resources/get` MUST return the object or the array itself, or with `?limit=` the first entries.
        is_array = message.get("method") == "resources/get"
        await self._app(scope, guards.replay_body(body, receive), _ArrayUnwrapper(send) if is_array else send)

    async def _answer_batch(self, batch: list[object], scope: Scope, receive: Receive, send: Send) -> None:
        """Answer all messages in one array, or with the first refusal by the SDK."""
        ##= man/spec/mcp.md#standard-input-and-output
        ##% The server MUST answer a batch with one array in versions of the protocol that have batches, and refuse it
        ##% in all others, over HTTP too.
        if responses.get_headers(scope, b"mcp-protocol-version") not in ([], [_VERSION_WITH_BATCHES]):
            raise jsonrpc.make_refusal(f"only {_VERSION_WITH_BATCHES} has batches")
        if not 0 < len(batch) <= self._max_batch:
            raise jsonrpc.make_refusal(f"a batch has 1 to {self._max_batch} messages")
        if refusal := self._rates.refuse(scope, len(batch) - 1):
            await responses.send_refusal(scope, send, refusal)
            return
        answers: list[object] = []
        for value in batch:
            response = _Response()
            try:
                message = jsonrpc.check_message(value)
                if message.get("method") == "initialize":
                    raise jsonrpc.make_refusal("initialize comes alone", message.get("id"))
                await self._answer(message, jsonrpc.encode_message(message), scope, receive, response)
            except jsonrpc.InvalidMessageError as error:
                answers.append(error.answer)
                continue
            if response.status >= 400:
                await send(response.start)
                await send({"type": "http.response.body", "body": bytes(response.body)})
                return
            answers += response.read_answers()
        await responses.send_json(send, 200 if answers else 202, jsonrpc.encode_message(answers) if answers else b"")


class _Response:
    """The SDK's response to one message."""

    def __init__(self) -> None:
        self.start: Message = {}
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body += message.get("body", b"")

    @property
    def status(self) -> int:
        return int(self.start.get("status", 500))

    @property
    def content_type(self) -> bytes:
        found = [value for name, value in self.start.get("headers", ()) if name.lower() == b"content-type"]
        return bytes(found[0]) if found else b""

    @property
    def is_stream(self) -> bool:
        return self.content_type.startswith(b"text/event-stream")

    def read_answers(self) -> list[object]:
        """Return the answer to a request; notifications have no place in an array of answers."""
        body = bytes(self.body)
        if self.is_stream:
            texts = [line[len(_DATA) :] for line in body.splitlines() if line.startswith(_DATA)]
        else:
            texts = [body] if body else []
        messages = [msgspec_json.decode(text) for text in texts]
        return [message for message in messages if "result" in message or "error" in message]


class _ArrayUnwrapper(_Response):
    """Sends the response to `resources/get` with the array itself as its result."""

    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send = send

    async def __call__(self, message: Message) -> None:
        is_start = message["type"] == "http.response.start"
        if is_start or not self.is_stream:
            await super().__call__(message)
        if self.is_stream:
            # The SDK sends each event in one piece.
            await self._send(message if is_start else {**message, "body": _unwrap_events(message.get("body", b""))})
        elif not is_start and not message.get("more_body"):
            body = bytes(self.body)
            if self.content_type == b"application/json":
                body = _unwrap(body)
            headers = [pair for pair in self.start["headers"] if pair[0] != b"content-length"]
            length = (b"content-length", str(len(body)).encode())
            await self._send({**self.start, "headers": [*headers, length]})
            await self._send({"type": "http.response.body", "body": body})


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
    # With escapes throughout, because names of files may contain lone surrogates.
    return json.dumps({**answer, "result": jsonrpc.unwrap_array(answer["result"])}, separators=(",", ":")).encode()
