"""JSON-RPC messages, and the server's identity, capabilities and instructions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from duvet.config.settings import ServerRule
from duvet.prompts.library import ResourceKind, render_system_prompt
from duvet.server.resources.documents import COLLECTIONS
from duvet.server.resources.templates import TEMPLATES
from duvet.tools.packs import Registry, enable_packs
from duvet.trace.names import RESOURCE_SCHEME
from duvet.tree.cache_files import BlobStore

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
TOO_MUCH_CODE = -32010
"""Of the codes that the protocol leaves to servers: for now there is no room for that."""
LISTEN_METHOD = "subscriptions/listen"
"""Is answered when the client has heard enough: it counts as a stream wherever requests are counted."""
MessageId = int | str


class InvalidMessageError(Exception):
    """Something that is not a message, with what it is answered."""

    def __init__(self, code: int, message: str, id: MessageId | None = None) -> None:
        super().__init__(message)
        self.answer = make_error_response(code, message, id)


def make_error_response(code: int, message: str, id: MessageId | None = None) -> dict[str, Any]:
    """An answer that says what is wrong."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def decode_message(line: bytes) -> object:
    """What a line says."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        ##= man/spec/mcp.md#standard-input-and-output
        ##% The server MUST answer a line that is not JSON with the error -32700, and JSON that is not a message with
        ##% -32600.
        raise InvalidMessageError(PARSE_ERROR, "Parse error: the line is not JSON in UTF-8") from error


def encode_message(value: object) -> bytes:
    """The line that says it."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        # Half of a pair that stands for one character, from a file with such a name: it can be told as an escape only.
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def check_message(value: object) -> Mapping[str, Any]:
    """The value as the message that it is."""
    if not isinstance(value, dict):
        raise _refused("a message is an object", None)
    id = value["id"] if is_message_id(value.get("id")) else None
    if value.get("jsonrpc") != "2.0":
        raise _refused('jsonrpc has to be "2.0"', id)
    if "method" not in value and ("result" in value or "error" in value):
        return value
    if not isinstance(value.get("method"), str):
        raise _refused("method has to be a string", id)
    if "id" in value and id is None:
        raise _refused("id has to be a string or an integer", None)
    if not isinstance(value.get("params"), dict | None):
        raise _refused("params has to be an object", id)
    return value


def is_message_id(value: object) -> bool:
    """Whether a request can be known by that."""
    return isinstance(value, MessageId) and not isinstance(value, bool)


def _refused(reason: str, id: MessageId | None) -> InvalidMessageError:
    return InvalidMessageError(INVALID_REQUEST, f"Invalid Request: {reason}", id)


ARRAY_KEY = "duvet/array"


def wrap_array(items: Sequence[Any]) -> dict[str, Any]:
    return {ARRAY_KEY: list(items)}


def unwrap_array(result: Mapping[str, Any]) -> Mapping[str, Any] | list[Any]:
    """What the client gets; every other key of a wrapped array is the SDK's own and goes with it."""
    array: list[Any] | None = result.get(ARRAY_KEY)
    return result if array is None else array


CAPABILITIES: Mapping[str, Any] = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}
"""In the order of the wire, which is that of the alphabet."""


_DEFAULT = ServerRule()


class ServerIdentity(Struct, frozen=True, kw_only=True):
    """Its name, and what else a client hears before it asks anything."""

    name: str = _DEFAULT.name
    title: str = _DEFAULT.title
    version: str = _DEFAULT.version
    description: str = _DEFAULT.description
    protocol_version: str | None = None
    """The one version to answer a handshake with; None where it is negotiated."""


def make_identity(rule: ServerRule) -> ServerIdentity:
    """What a configuration makes of it."""
    return ServerIdentity(
        name=rule.name,
        title=rule.title,
        version=rule.version,
        description=rule.description,
        protocol_version=rule.protocol_version,
    )


_NAME = "instructions"


class _Kept(Struct, frozen=True, array_like=True):
    """The text that an earlier run rendered."""

    key: str
    text: str


def load_instructions(how: str, render: Callable[[], str], blobs: BlobStore) -> str:
    """The prompt about the server, rendered where no earlier run has; `how` tells configurations apart."""
    # What this very duvet has kept was rendered from the same templates and tools: see `duvet.tree.cache_files`.
    kept = blobs.load(_NAME, _Kept)
    if kept is not None and kept.key == how:
        return kept.text
    text = render()
    blobs.save(_NAME, _Kept(how, text))
    return text


def render_instructions(rule: ServerRule, registry: Registry | None = None) -> str:
    """For what a configuration switches on; where no tools are named they are those of the rule."""
    ##= man/spec/mcp.md#handshake
    ##% The instructions MUST name the enabled tools, the kinds of resources and the methods of that version, and
    ##% nothing else.
    return render_system_prompt(
        rule, Registry(enable_packs(rule.packs)) if registry is None else registry, list_resource_kinds()
    )


PARENT_PLACEHOLDER = "\u2026"
"""Stands for the path of the line before."""


def list_resource_kinds() -> Iterator[ResourceKind]:
    """Every list that a project has, each followed by what is below it."""
    below = {one.uri.removeprefix(RESOURCE_SCHEME): one.description for one in TEMPLATES}
    for name, _, description in COLLECTIONS.values():
        yield ResourceKind(f"/{name}", description)
        before = f"/{name}"
        for path, holds in below.items():
            if path.startswith(f"/{name}/"):
                yield ResourceKind(
                    path.replace(before, PARENT_PLACEHOLDER, 1) if path.startswith(before) else path, holds
                )
                before = path
