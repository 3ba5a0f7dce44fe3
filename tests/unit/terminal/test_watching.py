"""A process that reports again and again."""

from __future__ import annotations

from collections.abc import Iterable

from duvet.commands.report import wait_for_change
from duvet.project.changes import ChangeWatcher


class Scripted(ChangeWatcher):
    """Changes in a given order, of which `report` is an output."""

    def __init__(self, *script: tuple[str, ...]) -> None:
        super().__init__()
        self.script = iter(script)

    def wait(self) -> tuple[str, ...] | None:
        return next(self.script)

    def are_outputs(self, paths: Iterable[str]) -> bool:
        return {"report"}.issuperset(paths)


def test_a_report_is_mended_once() -> None:
    changes = Scripted(("report",), ("report",), ("report",), ("a.rs", "report"), ("report",))
    first = wait_for_change(changes, restored=False)
    second = wait_for_change(changes, restored=first[1])
    third = wait_for_change(changes, restored=second[1])
    assert (first, second, third) == ((("report",), True), (("a.rs", "report"), False), (("report",), True))
