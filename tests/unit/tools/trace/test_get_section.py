"""`get_section`"""

from __future__ import annotations

import pytest
from msgspec import json

from duvet.tools.pagination import MAX_PAGE_BYTES
from duvet.tools.tool import ErrorCode, ToolError
from tests.cli.made_tea import TEA_PROJECT
from tests.tokens import MOST, tokens
from tests.unit.tools.made import answer, context_of, value

TEA = context_of(TEA_PROJECT)
CUP = {
    "id": "cup",
    "title": "Cup",
    "content": "A cup MUST NOT leak.\nThe pot MUST be warm.",
    "full_path": "/specifications/tea/sections/cup",
    "target": "tea.md#cup",
    "requirements": (
        {"identifier": "2c79658776d2", "level": "MUST", "status": "done", "text": "A cup MUST NOT leak."},
        {"identifier": "1dd64a535306", "level": "MUST", "status": "not started", "text": "The pot MUST be warm."},
    ),
}


@pytest.mark.parametrize(
    "reference",
    ["tea.md#cup", "tea#cup", "cup", "/specifications/tea/sections/cup", "2c79658776d2", "src/pot.rs:14"],
)
def test_a_section_is_found_by_any_name_and_by_what_stands_in_it(reference: str) -> None:
    assert answer(TEA, "get_section", reference=reference) == (CUP, "")


LINES = [f"{number:05} grains of sugar, counted by hand; they MAY be more." for number in range(1000)]
LONG = context_of({**TEA_PROJECT, "tea.md": TEA_PROJECT["tea.md"] + "\n" + "\n".join(LINES) + "\n"})


def test_a_long_section_comes_in_parts() -> None:
    parts, offset = [], 0
    while offset is not None:
        found = value(LONG, "get_section", reference="tea#sugar", offset=offset)
        assert len(json.encode(found)) < MAX_PAGE_BYTES * 1.1
        assert ("requirements" in found) == (offset == 0)
        step = answer(LONG, "get_section", reference="tea#sugar", offset=offset)[1]
        parts.append(found["content"])
        offset = found.get("next_offset")
        ##= man/spec/mcp.md#tools
        ##= type=test
        ##% The server MUST limit lists, texts and the details of a requirement to about 4,000 tokens unless `limit`
        ##% asks for more, and say how to get the rest.
        total = len("\n".join(LINES))
        assert step == (f"{offset} of {total} characters shown; for more give offset={offset}." if offset else "")
    assert "".join(parts) == "\n".join(LINES) and len(parts) > 4


def test_more_can_be_asked_for() -> None:
    found = value(LONG, "get_section", reference="tea#sugar", offset=6, limit=150_000)
    assert found["content"] == "\n".join(LINES)[6:] and "next_offset" not in found
    assert value(LONG, "get_section", reference="tea#cup", limit=5)["content"] == "A cup"
    found, step = answer(LONG, "get_section", reference="tea#cup", offset=1_000_000)
    assert step == "Nothing is left: the text has 42 characters, and offset=1000000 is past its end."
    assert found["content"] == "" and "next_offset" not in found


@pytest.mark.parametrize(
    ("reference", "code", "message", "hint"),
    [
        ("tea", ErrorCode.INVALID_REQUEST, "this names no section", "tea has #tea, #pot, #cup, #sugar"),
        ("src/pot.rs", ErrorCode.INVALID_REQUEST, "this names no section", "give spec#section"),
        (
            "tea#milk",
            ErrorCode.NOT_FOUND,
            'there is no section "milk" in tea.md',
            "/specifications/tea/sections lists the sections",
        ),
        ("../secret.md", ErrorCode.NOT_FOUND, 'nothing is called "../secret.md"', None),
        ("\0", ErrorCode.NOT_FOUND, 'nothing is called "\\0"', None),
    ],
)
def test_what_is_no_section_is_refused(reference: str, code: ErrorCode, message: str, hint: str | None) -> None:
    with pytest.raises(ToolError) as caught:
        answer(TEA, "get_section", reference=reference)
    assert (caught.value.code, caught.value.message) == (code, message)
    ##= man/spec/mcp.md#errors
    ##= type=test
    ##% A tool that fails MUST return `isError` and a JSON block whose `error` has a `code`, a `message` and a `hint`
    ##% without commands; an unknown tool MUST be the protocol error -32602.
    assert hint is None or caught.value.hint == hint


@pytest.mark.parametrize("wrong", [{"offset": -1}, {"limit": 0}, {"limit": 10**9}, {"offset": "1"}])
def test_wrong_parts_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ToolError) as caught:
        answer(TEA, "get_section", reference="tea#cup", **wrong)
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_a_dump_of_octets_is_dearer_than_words() -> None:
    dump = "\n".join(" ".join(f"{(line * 16 + octet) * 37 % 256:02x}" for octet in range(16)) for line in range(400))
    tea = context_of({**TEA_PROJECT, "tea.md": f"{TEA_PROJECT['tea.md']}\n{dump}\n"})
    content = value(tea, "get_section", reference="tea#sugar")["content"]
    assert dump.startswith(content) and content.endswith("\n")
    assert 2_500 < tokens(content) < MOST
