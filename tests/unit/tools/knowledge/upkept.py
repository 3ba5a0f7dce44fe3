"""A project that maintainers keep up to date through tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from duvet.tools.call_context import Caller
from duvet.tools.tool import ToolError
from tests.unit.knowledge.ingest.made import LEDGER, PLAIN, written
from tests.unit.tools.knowledge.made import Asking


@contextmanager
def ledger(folder: Path) -> Iterator[Asking]:
    """One that nothing was taken in of yet."""
    found = Asking(written(folder, LEDGER), PLAIN)
    try:
        yield found
    finally:
        found.knowledge.close()


def refused(asking: Asking, tool: str, holder: str = "", /, **arguments: object) -> tuple[str, str]:
    """Why a call fails of somebody who shows this token."""
    try:
        found = anyio.run(asking.desk.call, tool, arguments, Caller(holder=holder))
    except ToolError as error:
        return error.code.value, error.message
    raise AssertionError(f"it answered {found}")


def run_row(found: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What is told of a run, with what differs from run to run as it was told."""
    changing = ("run_id", "started_at", "duration_seconds")
    return {**{name: found[name] for name in changing}, **more}
