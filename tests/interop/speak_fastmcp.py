"""The client of fastmcp in a separate environment; arguments and output equal those of `sdk.mjs`."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any


async def walk(plan: dict[str, Any], transport: Any) -> dict[str, Any]:
    """List everything, and read, call and get each item once."""
    from fastmcp import Client  # type: ignore[import-not-found]

    async with Client(transport) as client:
        tools, prompts = await client.list_tools(), await client.list_prompts()
        resources, templates = await client.list_resources(), await client.list_resource_templates()
        answers = {
            tool.name: await client.call_tool(tool.name, plan["tools"][tool.name], raise_on_error=False)
            for tool in tools
        }
        for resource in resources:
            (contents,) = await client.read_resource(resource.uri)
            json.loads(contents.text)
        for prompt in prompts:
            assert (await client.get_prompt(prompt.name, plan["prompts"][prompt.name])).messages
        return {
            "version": client.protocol_version,
            "failed": [name for name, answer in answers.items() if answer.is_error],
            "tools": [tool.name for tool in tools],
            "prompts": [prompt.name for prompt in prompts],
            "templates": len(templates),
            "resources": len(resources),
        }


def main() -> None:
    from fastmcp.client.transports import StdioTransport  # type: ignore[import-not-found]

    file, kind, target, *args = sys.argv[1:]
    transport = StdioTransport(command=target, args=args) if kind == "stdio" else target
    print(json.dumps(asyncio.run(walk(json.loads(Path(file).read_text()), transport))))


if __name__ == "__main__":
    main()
