"""Clients ask about a project that is rewritten all the time: each answer is that of one state of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from threading import Event, Semaphore, Thread

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent
from msgspec import json

from tests.cli.made import KETTLE, SPECIFICATION, make
from tests.unit.server.asking import below, got, text
from tests.unit.server.conftest import server_of
from tests.unit.server.opened import LONGEST, living
from tests.unit.watching.edits import save_by_rename

pytestmark = pytest.mark.anyio
CITATION = "duvet:///citations/src/a.rs:1"
SOURCES = (
    "//= spec.md#heating\n//# The kettle MUST boil water.\nfn boil() {}\n",
    "//= spec.md#pouring\n//= type=todo\n//= feature=spout\n//= tracking-issue=12\n//# The spout MAY drip.\nfn drip() {}\n",
)


async def _read(client: Client) -> str:
    return await text(client, CITATION)


async def _get(client: Client) -> str:
    return json.encode(await got(client, uri=CITATION)).decode()


async def _list(client: Client) -> str:
    return (await below(client, "/citations")).model_dump_json()


async def _prompt(client: Client) -> str:
    (message,) = (await client.get_prompt("implement_requirement", {"requirement": "5d4daa0c"})).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


QUESTIONS = {"read": _read, "get": _get, "list": _list, "prompt": _prompt}


@asynccontextmanager
async def asking(folder: Path) -> AsyncIterator[Client]:
    server = server_of(folder)
    with anyio.fail_after(LONGEST):
        async with Client(server, cache=None) as client:
            yield client
    server.live.close()


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
async def test_an_answer_is_of_one_state(ask: Callable[[Client], Awaitable[str]], tmp_path: Path) -> None:
    expected = set()
    kettle = make(tmp_path / "kettle", KETTLE)
    for source in SOURCES:
        save_by_rename("src/a.rs", source)(kettle)
        async with asking(kettle) as client:
            expected.add(await ask(client))
    answered, done = Semaphore(0), Event()

    def edit() -> None:
        sources = cycle(SOURCES)
        while not done.is_set():
            for _ in range(3):
                save_by_rename("src/a.rs", next(sources))(kettle)
            answered.acquire()

    thread = Thread(target=edit)
    async with asking(kettle) as client:
        thread.start()
        try:
            found = set()
            for _ in range(20):
                found.add(await ask(client))
                answered.release()
        finally:
            done.set()
            answered.release()
            await anyio.to_thread.run_sync(thread.join)
    assert len(expected) == 2 and found <= expected


async def test_what_fails_because_of_a_change_is_asked_again(tmp_path: Path) -> None:
    kettle = make(tmp_path / "kettle", KETTLE)
    asked = []

    def question(context: object) -> str:
        asked.append(context)
        if len(asked) == 1:
            save_by_rename("spec.md", SPECIFICATION.replace("Heating", "Warming"))(kettle)
            raise KeyError("heating")
        return "warming"

    def fail(context: object) -> str:
        raise KeyError("heating")

    async with living(kettle) as live:
        assert await live.ask(question) == "warming"
        with pytest.raises(KeyError):
            await live.ask(fail)
    assert len(set(asked)) == 2
