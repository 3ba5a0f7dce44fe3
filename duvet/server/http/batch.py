"""Batches, which the protocol had in 2025-03-26 alone: the SDK knows none, so it gets one message after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import json
from starlette.types import Message, Send

from duvet.server.http.answers import answer
from duvet.server.http.unwrapping import content_type
from duvet.server.messages import INVALID_REQUEST, RefusedError, checked, encoded

_DATA = b"data: "
Ask = Callable[[Any, Send], Awaitable[None]]


async def answer_in_turn(batch: list[object], ask: Ask, send: Send) -> None:
    """Ask for each, and answer for all of them: with what the first was refused with, if one was."""
    answers: list[object] = []
    for value in batch:
        heard = _Heard()
        try:
            await _ask(value, ask, heard)
        except RefusedError as error:
            answers.append(error.answer)
            continue
        if heard.status >= 400:
            await heard.pass_on(send)
            return
        answers += heard.answers()
    if answers:
        await answer(send, 200, encoded(answers))
    else:
        await answer(send, 202, b"")


async def _ask(value: object, ask: Ask, heard: _Heard) -> None:
    message = checked(value)
    if message.get("method") == "initialize":
        raise RefusedError(INVALID_REQUEST, "Invalid Request: initialize comes alone", message.get("id"))
    await ask(message, heard)


class _Heard:
    """What the SDK sent for one message."""

    def __init__(self) -> None:
        self._start: Message = {}
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")

    @property
    def status(self) -> int:
        return int(self._start.get("status", 500))

    async def pass_on(self, send: Send) -> None:
        await send(self._start)
        await send({"type": "http.response.body", "body": bytes(self._body)})

    def answers(self) -> list[object]:
        """The answer, if it is a request; what is told on the way has no place in an array of answers."""
        body = bytes(self._body)
        if content_type(self._start).startswith(b"text/event-stream"):
            texts = [line[len(_DATA) :] for line in body.splitlines() if line.startswith(_DATA)]
        else:
            texts = [body] if body else []
        found = [json.decode(text) for text in texts]
        return [one for one in found if "result" in one or "error" in one]
