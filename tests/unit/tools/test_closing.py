"""How what services hold is let go of."""

from __future__ import annotations

import anyio
import pytest

from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry
from tests.unit.tools.made import Fixed

pytestmark = pytest.mark.anyio
LONGEST = 30


@pytest.fixture
def anyio_backend() -> str:
    """What asynchronous tests run on."""
    return "asyncio"


class Held:
    """What is held until it is closed."""

    def __init__(self) -> None:
        self.is_closed = False

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.is_closed = True


async def _fail() -> None:
    raise RuntimeError("it is stuck")


async def test_what_can_not_be_closed_keeps_nothing_else_open(context: ProjectSnapshot) -> None:
    held = Held()
    house = ToolEnvironment(closers=[_fail, anyio.sleep_forever, held.aclose], patience=0.1)
    with anyio.fail_after(LONGEST):
        await ToolDispatcher(Registry(), Fixed(context), house).aclose()
    assert held.is_closed


async def test_closed_all_the_same_where_everything_is_given_up(context: ProjectSnapshot) -> None:
    held = Held()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await ToolDispatcher(Registry(), Fixed(context), ToolEnvironment(closers=[held.aclose])).aclose()
    assert held.is_closed
