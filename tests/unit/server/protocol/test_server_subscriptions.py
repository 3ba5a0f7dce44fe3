from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

from duvet.server.protocol.server import DuvetServer
from tests.cli.sample_project import CONFIG, SOURCE, SPECIFICATION, make
from tests.edits import append, create, save_by_rename
from tests.unit.server.clients import LISTS, MODERN, hearing
from tests.unit.server.servers import LONGEST, server_of

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")]

HEATING = "duvet:///specifications/spec/sections/heating"
POURING = "duvet:///specifications/spec/sections/pouring"
CITATIONS = "duvet:///citations"
REQUIREMENTS = "duvet:///requirements"
CITATION = f"{HEATING}/requirements/5d4daa0c/citations/src%2Fa.rs:1"
"""A URI whose id and path the server spells differently."""


@pytest.fixture
async def server(kettle: Path) -> AsyncIterator[DuvetServer]:
    server = server_of(kettle)
    await server.live.context()
    with anyio.fail_after(LONGEST):
        yield server
    server.live.close()


async def test_changed_resources_are_notified_and_no_others(mode: str, kettle: Path, server: DuvetServer) -> None:
    async with hearing(server, mode, [HEATING, POURING, CITATION, CITATIONS, REQUIREMENTS]) as heard:
        save_by_rename("spec.md", SPECIFICATION.replace("# Pouring", "# Pouring\n\nSlowly."))(kettle)
        await heard.until(POURING)
        save_by_rename("src/a.rs", SOURCE.replace("fn boil()", "fn heat()"))(kettle)
        await heard.until(CITATION)
        create("docs/notes.md")(kettle)
        create("src/b.rs", "//= spec.md#pouring\n//# The spout MAY drip.\n")(kettle)
        await heard.until(CITATIONS, LISTS)
        save_by_rename("spec.md", SPECIFICATION.replace("MAY drip.", "MAY drip. It MAY be blue."))(kettle)
        await heard.until(POURING, REQUIREMENTS, LISTS)


async def test_changed_lists_are_notified(mode: str, kettle: Path, server: DuvetServer) -> None:
    make(kettle, {"other.md": "# Other\n"})
    async with hearing(server, mode, []) as heard, hearing(server, mode, []) as too:
        for edit in (
            create("src/b.rs", SOURCE),
            create("src/b.rs", ""),
            save_by_rename(".duvet/config.toml", CONFIG.replace("spec.md", "other.md")),
        ):
            edit(kettle)
            await heard.until(LISTS)
            await too.until(LISTS)


async def test_missing_resources_can_be_subscribed_to(mode: str, kettle: Path, server: DuvetServer) -> None:
    save_by_rename(".duvet/config.toml", "[[source]\n")(kettle)
    missing = ("duvet:///requirements/deadbeef", "test://elsewhere", "nonsense")
    async with hearing(server, mode, [*missing, HEATING]) as heard:
        save_by_rename(".duvet/config.toml", CONFIG)(kettle)
        await heard.until(HEATING)
        save_by_rename(".duvet/config.toml", "[[source]\n")(kettle)
        save_by_rename(".duvet/config.toml", CONFIG)(kettle)
        append("spec.md")(kettle)
        save_by_rename("spec.md", SPECIFICATION.replace("# Heating", "# Heating\n\nQuickly."))(kettle)
        await heard.until(HEATING)


async def test_subscriptions_of_one_client_change_nothing_for_others(kettle: Path, server: DuvetServer) -> None:
    async with (
        hearing(server, "legacy", [CITATIONS]) as heard,
        Client(server, mode="legacy") as other,
        # Without a handshake, clients need not subscribe to lists.
        hearing(server, MODERN, [CITATIONS], lists=False) as modern,
    ):
        for _ in range(2):
            await other.subscribe_resource(CITATIONS)
            await other.subscribe_resource(REQUIREMENTS)
            await other.unsubscribe_resource(CITATIONS)
            await other.unsubscribe_resource(CITATIONS)
        create("src/b.rs", SOURCE)(kettle)
        await heard.until(CITATIONS, LISTS)
        await modern.until(CITATIONS)


async def test_a_client_that_unsubscribes_during_a_notification_gets_none(kettle: Path, server: DuvetServer) -> None:
    async with hearing(server, "legacy", [HEATING, POURING]) as heard:
        (outbox,) = server.subscriptions._outboxes.values()
        server.subscriptions._bus.subscribe(lambda event: outbox.uris.discard(HEATING))
        changed = SPECIFICATION.replace("# Heating", "# Heating\n\nQuickly.")
        save_by_rename("spec.md", changed.replace("# Pouring", "# Pouring\n\nSlowly."))(kettle)
        await heard.until(POURING)


async def test_a_client_that_leaves_is_forgotten(mode: str, kettle: Path, server: DuvetServer) -> None:
    async with hearing(server, "legacy", [HEATING]) as heard:
        for _ in range(3):
            async with hearing(server, mode, [HEATING, CITATIONS, POURING]):
                pass
        assert server.subscriptions.watched.uris == {HEATING}
        create("src/b.rs", SOURCE)(kettle)
        await heard.until(LISTS)
    assert server.subscriptions.watched.uris == set()


async def test_too_long_or_too_many_uris_are_refused(mode: str, server: DuvetServer) -> None:
    for uris in (["duvet:///" + "x" * 20_000], [f"duvet:///requirements/{count}" for count in range(1001)]):
        async with Client(server, mode=mode) as client:
            with pytest.raises(MCPError) as refused:
                if mode == MODERN:
                    async with client.listen(resource_subscriptions=uris):
                        pass
                for uri in uris:
                    await client.subscribe_resource(uri)
            assert refused.value.error.code == -32602
        assert server.subscriptions.watched.uris == set()


async def test_a_client_that_does_not_read_blocks_no_other(mode: str, kettle: Path, server: DuvetServer) -> None:
    gate = anyio.Event()

    async def wait(message: object) -> None:
        await gate.wait()

    async with Client(server, mode="legacy", message_handler=wait) as deaf, hearing(server, mode, [CITATIONS]) as heard:
        for uri in (CITATIONS, REQUIREMENTS, HEATING):
            await deaf.subscribe_resource(uri)
        for count in range(5):
            create(f"src/{count}.rs", SOURCE)(kettle)
            await heard.until(CITATIONS, LISTS)
        gate.set()
