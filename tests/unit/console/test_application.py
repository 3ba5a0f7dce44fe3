import gc
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from duvet.console.application import make_application
from duvet.console.command import TerminalSettings
from duvet.server.application import Application
from tests.cli.sample_project import NOTHING_GIVEN, make
from tests.unit.tools.tool_calls import FILES

CONFIG = "duvet.config.json"
pytestmark = pytest.mark.anyio


@pytest.fixture
def assembly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    make(tmp_path, {**FILES, CONFIG: _of_size(1)})
    monkeypatch.chdir(tmp_path)
    with click.Context(click.Command("mcp"), obj=TerminalSettings({})):
        yield make_application(NOTHING_GIVEN, mode="stdio")


def _of_size(size: int) -> str:
    return f'{{"server": {{"pageSize": {size}}}}}'


async def test_an_edit_of_something_else_leaves_it_as_it_is(assembly: Application, tmp_path: Path) -> None:
    desk = assembly.make_dispatcher(())
    house = desk.environment
    for number in range(3):
        make(tmp_path, {"src/more.rs": f"// {number}", CONFIG: _of_size(1) + "\n" * number})
        assert (await assembly.live.context()).page_size == 1
    assert desk.environment is house


async def test_earlier_settings_are_dropped(assembly: Application, tmp_path: Path) -> None:
    assembly.make_dispatcher(())
    for size in range(1, 12):
        make(tmp_path, {CONFIG: _of_size(size)})
        assert (await assembly.live.context()).page_size == size
    gc.collect()
    # The one that it began with, and the one that is in force.
    assert sum(isinstance(one, Application) for one in gc.get_objects()) == 2
