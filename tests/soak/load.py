"""The load: a project, calls of every tool, and clients that ask one question after another."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.clients import read_answer, request_of
from tests.cli.sample_project import make
from tests.unit.tools.installed import install_made, install_tutorial
from tests.unit.tools.tool_calls import FILES

EDITED = "src/main.rs"
_CONFIG = """\
[toolPacks.introspect]
enabled = true

[workflows.brew]
description = "Boils water, and waits until it has dripped through"

variables.cup.type = "integer"
steps = [
    { id = "boil", tool = "boil", params.litres = 1 },
    { id = "owed", tool = "coverage_summary" },
    { id = "drip", wait = { tool = "drip", params.cup = "${vars.cup}", until = { path = "result.full", equals = true }, intervalSeconds = 0.5, timeoutSeconds = 30 } },
]
"""
_DRIP = """\
from collections import Counter

from msgspec import Struct

from duvet.tools.tool import Pack, Tool

DROPS = Counter()


class Cup(Struct):
    cup: int


class Dripped(Struct):
    full: bool


def drip(asked, ctx):
    DROPS[asked.cup] += 1
    return Dripped(DROPS[asked.cup] % 3 == 0)


PACK = Pack("drip", (Tool(name="drip", title="", description="Drips.", input=Cup, output=Dripped, handler=drip),))
"""
Where = tuple[str, int]
Tools = Mapping[str, Mapping[str, object]]
_TOOLS: Tools = {
    "coverage_summary": {},
    "list_uncited_requirements": {},
    "search_requirements": {"query": "error handling"},
    "get_prioritized_requirements": {},
    "validate_citation": {"citation": "//= docs/pot.md#lid\n//# The lid MUST fit."},
    "get_citation_context": {"citation_id": "src/main.rs:3"},
    "list_invalid_citations": {},
    "duvet_server_info": {},
    "duvet_health": {},
    "boil": {"litres": 1},
    "owed": {},
}
_PAGES = {"/health": b"ok", "/ready": b"ready", "/metrics": b"duvet_tool_requests_total", "/api/mcp": b'"tools"'}


def furnish(folder: Path) -> tuple[Path, Path]:
    site = folder / "site"
    install_tutorial(site, folder)
    install_made(site, "drip", _DRIP)
    return make(folder / "project", {**FILES, "duvet.config.toml": _CONFIG}), site


class Question(NamedTuple):
    """A request, what its answer must contain, and whether the server must wait before answering."""

    request: bytes
    expected: bytes
    waits: bool = False


def questions(number: int) -> Sequence[Question]:
    """Return calls of every tool over MCP and HTTP, and requests for pages; each client has its own file."""

    def rest(name: str, arguments: Mapping[str, object]) -> bytes:
        body = json.dumps({"tool": name, "input": arguments}).encode()
        return f"POST /api/mcp HTTP/1.1\r\nhost: localhost:80\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body

    waiting: Tools = {"workflow.brew": {"cup": number}}
    found = [
        Question(request, expected, tools is waiting)
        for tools in (_TOOLS, waiting)
        for make_request, expected in ((request_of, b'"isError":false'), (rest, b'"status":"ok"'))
        for request in (make_request(name, arguments) for name, arguments in tools.items())
    ]
    pages = {path: f"GET {path} HTTP/1.1\r\nhost: localhost:80\r\n\r\n".encode() for path in _PAGES}
    return [*found, *(Question(pages[path], expected) for path, expected in _PAGES.items())]


class Tally:
    def __init__(self) -> None:
        self.seconds: list[float] = []
        """The time of each answer that the server could give at once."""
        self.waited: list[float] = []
        """The time of each other answer."""
        self.errors: list[str] = []
        self.waiting: dict[int, float] = {}
        """When each client has asked the question that is open."""
        self.is_over = False
        self.ends_at: float | None = None
        """When the server was ended; a request from then on may be refused."""
        self.refused: list[float] = []
        """When those requests were sent that were refused then."""


async def visit(where: Where, number: int, tally: Tally) -> None:
    """Ask until the time is over; an error is recorded and ends the client."""
    asked, step, writing = questions(number), number, None
    try:
        reading, writing = await asyncio.open_connection(*where)
        while not tally.is_over:
            step += 1
            question = asked[step % len(asked)]
            began = tally.waiting[number] = time.perf_counter()
            writing.write(question.request)
            status, body = await read_answer(reading)
            del tally.waiting[number]
            (tally.waited if question.waits else tally.seconds).append(time.perf_counter() - began)
            if status == 503 and tally.ends_at is not None:
                tally.refused.append(began)
                return
            if status != 200 or question.expected not in body:
                tally.errors.append(f"{status} {body[:300]!r}")
                return
    except (OSError, EOFError) as error:
        if tally.ends_at is None:
            tally.errors.append(repr(error))
    finally:
        if writing is not None:
            writing.close()
