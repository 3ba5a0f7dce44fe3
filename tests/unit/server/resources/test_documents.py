"""What is read at each kind of place, whole."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from msgspec import json

from tests.unit.server.asking import got, text

pytestmark = pytest.mark.anyio

_RFC = {
    "id": "rfc7168",
    "name": "RFC 7168",
    "url": "rfc7168.txt",
    "description": "The Hyper Text Coffee Pot Control Protocol for Tea",
}
_TEA = {"id": "tea", "name": "Tea", "url": "tea.md", "description": "How tea is made, and by whom."}
_POT = "/specifications/tea/sections/pot"
_CUP = "/specifications/tea/sections/cup"
_BREWING = "/specifications/rfc7168/sections/section-2"
_WARM = f"{_POT}/requirements/1dd64a535306"
_TEXTS = {
    "e19545c1a5c9": "TEA-capable pots MUST announce the teas that they can brew.",
    "347deb547278": "holds coffee MUST answer with 418.",
    "1dd64a535306": "The pot MUST be warm.",
    "a5415b83517f": "It SHOULD be round, and nobody MAY drop it.",
}
_DOCUMENTS: dict[str, Any] = {
    "/specifications": [_RFC, _TEA],
    "/specifications/tea": _TEA,
    "/specifications/tea/sections": [
        {"id": "tea", "title": "Tea"},
        {"id": "pot", "title": "Pot"},
        {"id": "cup", "title": "Cup"},
        {"id": "sugar", "title": "Sugar"},
    ],
    _CUP: {"id": "cup", "title": "Cup", "content": "A cup MUST NOT leak.\nThe pot MUST be warm."},
    f"{_BREWING}/requirements": [{"identifier": id, "text": _TEXTS[id]} for id in ("e19545c1a5c9", "347deb547278")],
    "/specifications/tea/sections/sugar/requirements": [],
    _WARM: {"identifier": "1dd64a535306", "text": "The pot MUST be warm.", "status": "done"},
    f"{_CUP}/requirements/1dd64a535306": {
        "identifier": "1dd64a535306",
        "text": "The pot MUST be warm.",
        "status": "not started",
    },
    f"{_WARM}/citations": [{"id": "src/pot.rs:3"}, {"id": "tests/test_pot.py:2"}],
    f"{_WARM}/citations/src/pot.rs:3": {
        "file_path": "src/pot.rs",
        "line_number": 3,
        "comment_text": "//= tea.md#pot\n//# The pot MUST be warm.",
        "context_lines": [
            "//! A pot of tea.",
            "",
            "//= tea.md#pot",
            "//# The pot MUST be warm.",
            "//= tea.md#pot",
            "//# It SHOULD be round, and nobody MAY drop it.",
        ],
    },
}


@pytest.mark.parametrize("path", _DOCUMENTS)
async def test_every_document_has_just_its_keys(client: Client, path: str) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/get` MUST return the object or the array itself, or with `?limit=` the first entries.
    assert await got(client, path=path) == _DOCUMENTS[path]
    assert await got(client, uri=f"duvet://{path}") == _DOCUMENTS[path]
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/read` MUST return the JSON of an object or a list, or with `?limit=&cursor=` a part of the list.
    assert await text(client, f"duvet://{path}") == json.encode(_DOCUMENTS[path]).decode()
