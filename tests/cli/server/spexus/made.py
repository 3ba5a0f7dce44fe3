"""A small project, the configuration of that server, and its lists"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conftest import ROOT
from tests.unit.server.wire import Wire

SPEXUS = ROOT / "man" / "examples" / "spexus.toml"
FILES = {
    "requirements.md": "# Requirements\n\n## Login\n\nA user MUST log in.\nA session SHOULD end by itself.\n",
    "login.py": "##= requirements.md#login\n##% A user MUST log in.\ndef login(): ...\n",
}
ID = "the-7th"
LISTS = {"prompts": "prompts/list", "resources": "resources/list", "tools": "tools/list"}
Start = Callable[..., Wire]


def listed(server: Wire, name: str) -> list[dict[str, Any]]:
    """Everything of a kind, page by page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = server.ask(LISTS[name], {"cursor": cursor} if cursor else {})["result"]
        found += page[name]
        cursor = page.get("nextCursor")
        if cursor is None:
            return found
