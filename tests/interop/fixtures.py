"""The server with the fixtures of the conformance suite: `python -m tests.interop.fixtures PROJECT`."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

from duvet.server.http.guards import HttpLimits
from duvet.server.http.listener import HttpServer, ServerAddress, open_listener
from duvet.server.protocol.session import ServerRequest, send_log_message
from tests.unit.server.http.http_server import application_of
from tests.unit.server.servers import live_of, server_of

RED_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"  # a PNG
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA=="  # a WAV


def _text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def _embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=words))


IMAGE = types.ImageContent(data=RED_PIXEL, mime_type="image/png")
CONTENTS: dict[str, Sequence[types.ContentBlock]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [types.AudioContent(data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [_embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        IMAGE,
        _embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"),
    ],
    "test_error_handling": [_text("This tool intentionally returns an error for testing")],
    "test_tool_with_logging": [_text("Told three times.")],
    "test_tool_with_progress": [_text("Half and whole.")],
}
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


def _prompt_contents(name: str, arguments: dict[str, str]) -> list[types.ContentBlock]:
    match name:
        case "test_prompt_with_arguments":
            return [_text(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            resource = _embedded(arguments["resourceUri"], "Embedded resource content for testing.")
            return [resource, _text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            return [IMAGE, _text("Please analyze the image above.")]
    return [_text("This is a simple prompt for testing.")]


def _resource_contents(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    """Return the contents of a resource of the suite; None for others."""
    if uri == "test://static-text":
        words = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=RED_PIXEL)
    if uri.startswith("test://template/") and uri.endswith("/data"):
        id = uri.split("/")[-2]
        words = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
    return None


class Fixtures:
    """Answers requests for the suite's fixtures, and passes all others to the product."""

    def register(self, server: Server[Any]) -> None:
        answered: dict[str, tuple[type[Any], Callable[[ServerRequest, Any], Any]]] = {
            "tools/list": (types.PaginatedRequestParams, self.tools),
            "tools/call": (types.CallToolRequestParams, self.call),
            "resources/read": (types.ReadResourceRequestParams, self.read),
            "prompts/list": (types.PaginatedRequestParams, self.prompts),
            "prompts/get": (types.GetPromptRequestParams, self.prompt),
        }
        self._product: dict[str, Any] = {}
        for method, (params, handler) in answered.items():
            entry = server.get_request_handler(method)
            assert entry, f"the product does not answer {method}"
            self._product[method] = entry.handler
            server.add_request_handler(method, params, handler)

    async def tools(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        found: types.ListToolsResult = await self._product["tools/list"](request, params)
        schema = {"type": "object", "properties": {}}
        own = [types.Tool(name=name, description=f"Fixture {name}", input_schema=schema) for name in CONTENTS]
        return types.ListToolsResult(tools=[*found.tools, *own])

    async def call(self, request: ServerRequest, params: types.CallToolRequestParams) -> types.CallToolResult:
        name = params.name
        if name not in CONTENTS:
            answer: types.CallToolResult = await self._product["tools/call"](request, params)
            return answer
        if name == "test_tool_with_logging":
            for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                await send_log_message(request, "info", words)
        if name == "test_tool_with_progress":
            for done in (0, 50, 100):
                await request.session.report_progress(done, 100)
        return types.CallToolResult(content=list(CONTENTS[name]), is_error=name == "test_error_handling")

    async def read(self, request: ServerRequest, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        if contents := _resource_contents(params.uri):
            return types.ReadResourceResult(contents=[contents])
        found: types.ReadResourceResult = await self._product["resources/read"](request, params)
        return found

    async def prompts(self, request: ServerRequest, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        def prompt_of(name: str) -> types.Prompt:
            needed = [types.PromptArgument(name=one, description=one, required=True) for one in PROMPTS[name]]
            return types.Prompt(name=name, description=f"Fixture {name}", arguments=needed)

        found: types.ListPromptsResult = await self._product["prompts/list"](request, params)
        return types.ListPromptsResult(prompts=[*found.prompts, *map(prompt_of, PROMPTS)])

    async def prompt(self, request: ServerRequest, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            found: types.GetPromptResult = await self._product["prompts/get"](request, params)
            return found
        contents = _prompt_contents(params.name, params.arguments or {})
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in contents])


def main(folder: str) -> None:
    """Serve until a signal arrives, and print the address on standard error."""
    live = live_of(Path(folder))
    live.begin()
    server = server_of(live, instructions="For the conformance suite.", parts=[Fixtures()])
    limits = HttpLimits()
    with open_listener(ServerAddress("127.0.0.1", 0), anywhere=False) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        app = application_of(server, (), limits)
        running = HttpServer(app, limits, lambda: print(f"serving {url}", file=sys.stderr, flush=True))
        anyio.run(running.serve, [listening])


if __name__ == "__main__":
    main(sys.argv[1])
