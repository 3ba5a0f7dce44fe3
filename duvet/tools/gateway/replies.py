"""What a gateway replies, and what that means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import MsgspecError, Struct, convert, json

from duvet.llm.words import plain, said
from duvet.tools.errors import Code, ToolError
from duvet.tools.gateway.gateway import ADMIN_TOKEN, READER_TOKEN, URL, Gateway
from duvet.tools.tool import Answer, Tool

HIDDEN = "***"
_SHORTEST = 4
"""A shorter secret stands in any text."""
_LONGEST = 1000
_PASSING = (502, 503, 504)
_ELSE = "is it a duvet server, and of this version?"


class Reply(Struct, frozen=True):
    """A status, what says when to come again, and a body."""

    status: int
    retry_after: str
    body: bytes


class PassingError(ToolError):
    """A failure that may be over in a moment."""


def answer_in(reply: Reply, tool: Tool, gateway: Gateway) -> Answer:
    """What the tool has answered there; ToolError where it has failed, or where this is no answer of it."""
    ##= man/spec/gateway.md#access
    ##% What a gateway answers that is no answer of the tool MUST be told as `upstream_error`, with what to do and nothing
    ##% of what it has answered.
    value = _object(reply.body)
    if reply.status != 200:
        raise _failure(reply, value, tool, gateway)
    if value.get("status") != "ok" or "result" not in value:
        raise _nonsense(tool)
    try:
        found = convert(value["result"], tool.output)
    except (MsgspecError, RecursionError):
        raise _nonsense(tool) from None
    return Answer(
        value=found, warning=_words(value.get("warning"), gateway), next_step=_words(value.get("next_step"), gateway)
    )


def _failure(reply: Reply, value: Mapping[str, Any], tool: Tool, gateway: Gateway) -> ToolError:
    """What it refuses, in its words where it speaks as a server of ours."""
    code, message, hint = _told(value)
    if not code:
        return _stranger(reply.status)
    ##= man/spec/gateway.md#access
    ##% An error of the gateway's own MUST keep its code, its message and its hint.
    kind = PassingError if reply.status in _PASSING and reply.retry_after else ToolError
    known = Code(code) if code in [*Code] else Code.UPSTREAM_ERROR
    if known is Code.UNAUTHORIZED:
        shown = gateway.shown(tool.scope)
        hint = f"is {shown} what that server wants to be shown?" if shown else f"set {READER_TOKEN} or {ADMIN_TOKEN}"
    return kind(known, _words(message, gateway), _words(hint, gateway), _details(value, gateway))


def _told(value: Mapping[str, Any]) -> tuple[str, str, str]:
    """The code, message and hint, beside each other or within `error`."""
    error = value.get("error")
    within = error if isinstance(error, dict) else {**value, "message": error}
    code, message, hint = (within.get(name) for name in ("code", "message", "hint"))
    if value.get("status") != "error" or not isinstance(code, str) or not isinstance(message, str):
        return "", "", ""
    return code, message, hint if isinstance(hint, str) else ""


def _stranger(status: int) -> ToolError:
    if 300 <= status < 400:
        ##= man/spec/gateway.md#access
        ##% duvet MUST NOT follow where a gateway redirects to.
        hint = f"it is not followed: set {URL} to where the server is"
        return ToolError(Code.UPSTREAM_ERROR, f"the gateway redirects elsewhere ({status})", hint)
    kind = PassingError if status in _PASSING else ToolError
    return kind(
        Code.UPSTREAM_ERROR, f"the gateway answers with the status {status}", f"is {URL} right, and the server up?"
    )


def _details(value: Mapping[str, Any], gateway: Gateway) -> object:
    """What it tells programs of a failure."""
    found = value.get("details")
    if found is None:
        return None
    text = json.encode(found).decode()
    return json.decode(_hidden(text, gateway))


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.decode(body)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _words(text: object, gateway: Gateway) -> str:
    # What is cut first may leave most of a token.
    return said(_hidden(plain(text), gateway), _LONGEST) if isinstance(text, str) else ""


def _hidden(text: str, gateway: Gateway) -> str:
    """The text without the tokens that were shown there."""
    ##= man/spec/gateway.md#access
    ##% A token MUST NOT stand in any message, whatever a gateway answers.
    for token in (gateway.reader, gateway.admin):
        if token is not None and len(token.reveal()) >= _SHORTEST:
            for form in (token.reveal(), json.encode(token.reveal())[1:-1].decode()):
                text = text.replace(form, HIDDEN)
    return text


def _nonsense(tool: Tool) -> ToolError:
    return ToolError(Code.UPSTREAM_ERROR, f"the gateway answers something else than {tool.name} does", _ELSE)
