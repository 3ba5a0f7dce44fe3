"""Citations validated, requirements and sections shown, comments suggested: over the protocol, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent

pytestmark = pytest.mark.anyio

GOOD = "//= tea.md#cup\n//# A cup MUST NOT leak."
CUP = "2c79658776d2"
FIRST = (
    'the first is at src/pot.rs:27: missing section "milk" in tea.md; list_invalid_citations lists those of citations.'
)
WARNING = f"2 errors in the project, so not everything counts; {FIRST}"


async def called(client: Client, name: str, **arguments: object) -> tuple[Any, Any, list[str]]:
    """The first block, the structured content, and the further blocks."""
    found = await client.call_tool(name, arguments)
    assert not found.is_error, found.content
    texts = [block.text for block in found.content if isinstance(block, TextContent)]
    assert len(texts) == len(found.content)
    return json.loads(texts[0]), found.structured_content, texts[1:]


async def test_a_citation_is_validated(client: Client) -> None:
    assert await called(client, "validate_citation", citation=GOOD) == ({"valid": True}, {"valid": True}, [WARNING])
    wrong = {
        "valid": False,
        "error": 'Section not found: missing section "cu" in tea.md',
        "nearest": "tea.md#cup",
    }
    step = f"{WARNING} Name the target as `nearest` says."
    assert await called(client, "validate_citation", citation="//= tea.md#cu") == (wrong, wrong, [step])


async def test_citations_are_validated(client: Client) -> None:
    found, structured, steps = await called(client, "validate_citations", citations=[GOOD, GOOD])
    assert found == [{"valid": True}, {"valid": True}]
    assert structured == {"result": found, "total": 2}
    assert steps == [f"{WARNING} All 2 citations valid."]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_requirement", {"reference": CUP}),
        ("get_section", {"reference": "tea#cup"}),
        ("suggest_citation", {"requirement": CUP, "file": "src/pot.rs"}),
    ],
)
async def test_what_is_structured_is_the_same(client: Client, name: str, arguments: dict[str, object]) -> None:
    found, structured, _ = await called(client, name, **arguments)
    assert found == structured


async def test_what_is_suggested_is_valid(client: Client) -> None:
    found, _, _ = await called(client, "suggest_citation", requirement=CUP, file="tests/test_pot.py")
    assert found == {"comment": "##= tea.md#cup\n##% A cup MUST NOT leak.", "file_path": "tests/test_pot.py"}
    assert (await called(client, "validate_citation", citation=found["comment"]))[0] == {"valid": True}
