"""JSON-RPC messages, and the server's capabilities and instructions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from duvet.config.service_tables import ServerSection
from duvet.model import RESOURCE_SCHEME
from duvet.prompts.library import ResourceKind, list_prompts, render_system_prompt
from duvet.server.resources import documents, templates
from duvet.tools.arguments import make_client_schema, output_schema
from duvet.tools.packs import Registry
from duvet.tree.cache import BlobStore

if TYPE_CHECKING:
    from duvet.server.application import Application

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
TOO_MUCH_CODE = -32010  # A code that the protocol leaves to servers: the server is busy.
LISTEN_METHOD = "subscriptions/listen"  # Answered only when the client stops listening, so it counts as a stream.
MessageId = int | str
ARRAY_KEY = "duvet/array"
CAPABILITIES: Mapping[str, Any] = {  # In alphabetical order, as in the SDK's answer.
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}


_BLOB_NAME = "instructions"


class InvalidMessageError(Exception):
    def __init__(self, code: int, message: str, id: MessageId | None = None) -> None:
        super().__init__(message)
        self.answer = make_error_response(code, message, id)


def make_error_response(code: int, message: str, id: MessageId | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def decode_message(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidMessageError(PARSE_ERROR, "Parse error: the message is not JSON in UTF-8") from error


def encode_message(value: object) -> bytes:
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate, from the name of a file, can only be written as an escape.
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def check_message(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise make_refusal("a message must be an object")
    id = value.get("id")
    if not isinstance(id, MessageId) or isinstance(id, bool):
        id = None
    if value.get("jsonrpc") != "2.0":
        raise make_refusal('jsonrpc must be "2.0"', id)
    if "method" not in value and ("result" in value or "error" in value):
        return value
    if not isinstance(value.get("method"), str):
        raise make_refusal("method must be a string", id)
    if "id" in value and id is None:
        raise make_refusal("id must be a string or an integer")
    if not isinstance(value.get("params"), dict | None):
        raise make_refusal("params must be an object", id)
    return value


def check_batched_message(value: object) -> Mapping[str, Any]:
    message = check_message(value)
    if message.get("method") == "initialize":
        raise make_refusal("a batch must not contain initialize", message.get("id"))
    return message


def make_refusal(reason: str, id: MessageId | None = None) -> InvalidMessageError:
    return InvalidMessageError(INVALID_REQUEST, f"Invalid Request: {reason}", id)


def unwrap_array(result: Mapping[str, Any]) -> Mapping[str, Any] | list[Any]:
    array: list[Any] | None = result.get(ARRAY_KEY)
    return result if array is None else array


class _StoredText(msgspec.Struct, frozen=True, array_like=True):
    key: str
    text: str


def load_instructions(key: str, render: Callable[[], str], blobs: BlobStore) -> str:
    # The store ignores entries of other versions of duvet, which may have had other templates and tools.
    stored = blobs.load(_BLOB_NAME, _StoredText)
    if stored is not None and stored.key == key:
        return stored.text
    text = render()
    blobs.save(_BLOB_NAME, _StoredText(key, text))
    return text


def render_instructions(server: ServerSection, registry: Registry) -> str:
    kinds = []
    for name, _, description in documents.COLLECTIONS.values():
        before = f"/{name}"
        kinds.append(ResourceKind(before, description))
        for template in templates.TEMPLATES:
            path = template.uri.removeprefix(RESOURCE_SCHEME)
            if path.startswith(f"/{name}/"):
                # An ellipsis replaces the path in the previous line.
                short = path.replace(before, "…", 1) if path.startswith(before) else path
                kinds.append(ResourceKind(short, template.description))
                before = path
    return render_system_prompt(server, registry, kinds)


def describe_service(application: Application) -> dict[str, Any]:
    registry, server = application.tools.registry, application.service.config.server
    gateway = application.gateway_connection.gateway if application.gateway_connection else None
    return {
        "server": {
            **{name: getattr(server, name) for name in ("name", "title", "version", "description")},
            "mode": application.mode,
        },
        "gateway": {"at": gateway.authority, "tokens": gateway.tokens} if gateway else None,
        "capabilities": CAPABILITIES,
        "instructions": application.instructions,
        "packs": [pack.name for pack in application.tools.shown_packs],
        "leftOut": [{"pack": one.name, "reason": one.reason} for one in application.tools.choice.unloaded],
        "tools": [
            {
                **{name: getattr(tool, name) for name in ("name", "title", "description")},
                "pack": registry.pack_of(tool).name,
                "scope": tool.scope.value,
                "readOnly": tool.only_reads,
                "labels": tool.labels,
                "safetyNotes": tool.safety_notes,
                "invocationHints": tool.invocation_hints,
                "inputSchema": make_client_schema(tool),
                "outputSchema": output_schema(tool),
            }
            for tool in application.tools.shown_tools
        ],
        "resources": [
            *(
                {"name": name, "description": text}
                for name, _, text in documents.COLLECTIONS.values()
                if registry.has_trace
            ),
            *(
                {"uri": uri, "name": one.tool.name, "description": one.tool.description}
                for uri, (one, _) in registry.resources.items()
            ),
        ],
        "resourceTemplates": [
            {"uriTemplate": one.uri, "name": one.name, "title": one.title, "description": one.description}
            for one in documents.list_templates(registry)
        ],
        "prompts": list_prompts(registry),
        "workflows": [
            {"name": one.name, "description": one.description} for one in application.tools.workflows.values()
        ],
        "models": application.router.known_models(),
    }
