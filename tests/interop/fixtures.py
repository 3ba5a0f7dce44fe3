"""What the official conformance suite expects to find on a server that it tests: a part beside the parts of the product."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from duvet.server.protocol.session import ServerRequest, send_log_message

PIXEL = bytes([255, 0, 0])
_NO_ARGUMENTS = {"type": "object", "properties": {}}

Content = types.ContentBlock


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png() -> bytes:
    """An image of one pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = [_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(b"\0" + PIXEL)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def wav() -> bytes:
    """A sound of one silent sample."""
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", 2) + b"\x80\x80"
    return b"RIFF" + struct.pack("<I", len(body)) + body


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def image() -> types.ImageContent:
    return types.ImageContent(data=base64.b64encode(png()).decode(), mime_type="image/png")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=words))


CONTENTS: dict[str, Sequence[Content]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(data=base64.b64encode(wav()).decode(), mime_type="audio/wav")],
    "test_embedded_resource": [embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", json.dumps({"test": "data", "value": 123}), "application/json"),
    ],
    "test_error_handling": [text("This tool intentionally returns an error for testing")],
    "test_tool_with_logging": [text("Told three times.")],
    "test_tool_with_progress": [text("Half and whole.")],
}
TOLD = ("Tool execution started", "Tool processing data", "Tool execution completed")
TEXT, BINARY = "test://static-text", "test://static-binary"
BEFORE, AFTER = "test://template/", "/data"
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


class Fixtures:
    """Answers what is asked of it, and lets the product answer everything else."""

    def __init__(self) -> None:
        self._product: Callable[[str], Callable[[ServerRequest, Any], Any]]

    def register(self, server: Server[Any]) -> None:
        known = {method: server.get_request_handler(method) for method in _ANSWERED}

        def product(method: str) -> Callable[[ServerRequest, Any], Any]:
            entry = known[method]
            assert entry, f"the product does not answer {method}"
            return entry.handler

        self._product = product
        for method, (params, name) in _ANSWERED.items():
            server.add_request_handler(method, params, getattr(self, name))

    async def tools(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        found: types.ListToolsResult = await self._product("tools/list")(request, params)
        own = [types.Tool(name=name, description=f"Fixture {name}", input_schema=_NO_ARGUMENTS) for name in CONTENTS]
        return types.ListToolsResult(tools=[*found.tools, *own])

    async def call(self, request: ServerRequest, params: types.CallToolRequestParams) -> types.CallToolResult:
        name = params.name
        if name not in CONTENTS:
            answer: types.CallToolResult = await self._product("tools/call")(request, params)
            return answer
        if name == "test_tool_with_logging":
            for words in TOLD:
                await send_log_message(request, "info", words)
        if name == "test_tool_with_progress":
            for done in (0, 50, 100):
                await request.session.report_progress(done, 100)
        return types.CallToolResult(content=list(CONTENTS[name]), is_error=name == "test_error_handling")

    async def read(self, request: ServerRequest, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        contents = _contents(params.uri)
        if contents is None:
            found: types.ReadResourceResult = await self._product("resources/read")(request, params)
            return found
        return types.ReadResourceResult(contents=[contents])

    async def prompts(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        found: types.ListPromptsResult = await self._product("prompts/list")(request, params)
        own = [
            types.Prompt(
                name=name,
                description=f"Fixture {name}",
                arguments=[types.PromptArgument(name=one, description=one, required=True) for one in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=[*found.prompts, *own])

    async def prompt(self, request: ServerRequest, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            found: types.GetPromptResult = await self._product("prompts/get")(request, params)
            return found
        contents = _said(params.name, params.arguments or {})
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in contents])


_ANSWERED: dict[str, tuple[type[Any], str]] = {
    "tools/list": (types.PaginatedRequestParams, "tools"),
    "tools/call": (types.CallToolRequestParams, "call"),
    "resources/read": (types.ReadResourceRequestParams, "read"),
    "prompts/list": (types.PaginatedRequestParams, "prompts"),
    "prompts/get": (types.GetPromptRequestParams, "prompt"),
}


def _contents(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    """What a resource of the suite holds; None for every other one."""
    if uri == TEXT:
        words = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    if uri == BINARY:
        blob = base64.b64encode(png()).decode()
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=blob)
    if uri.startswith(BEFORE) and uri.endswith(AFTER):
        id = uri.removeprefix(BEFORE).removesuffix(AFTER)
        words = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
    return None


def _said(name: str, arguments: dict[str, str]) -> list[Content]:
    match name:
        case "test_prompt_with_arguments":
            return [text(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            resource = embedded(arguments["resourceUri"], "Embedded resource content for testing.")
            return [resource, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            return [image(), text("Please analyze the image above.")]
    return [text("This is a simple prompt for testing.")]
