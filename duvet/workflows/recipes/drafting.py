"""A recipe with faults, as far as it can be understood: so what else is wrong with it can be told as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, ValidationError, convert
from msgspec.structs import fields

from duvet.config.service.workflows import CaptureSection
from duvet.workflows.fault import Fault
from duvet.workflows.paths import Path
from duvet.workflows.recipes.from_file import workflow_of
from duvet.workflows.recipes.sections import CheckTable, Recipe, StepTable, WaitTable
from duvet.workflows.records import Workflow


class Draft(Struct, frozen=True):
    """What is understood."""

    workflow: Workflow
    unread: frozenset[Path]
    """Where something else stands than is there in the file."""
    vague: frozenset[str]
    """What references begin with of which nobody can tell where they lead."""

    def has(self, fault: Fault) -> bool:
        """Whether that is wrong with what stands in the file, too."""
        ##= man/spec/gateway.md#recipes
        ##% Nothing MUST be told wrong of a recipe that only follows from what can't be read in it.
        return fault.root not in self.vague and not any(fault.keys[: len(one)] == one for one in self.unread)


def draft_of(name: str, values: Mapping[str, Any]) -> Draft | None:
    """What can be understood of the values of a file; None where nobody can tell what its steps refer to."""
    variables, steps = values.get("variables", {}), values.get("steps")
    if not isinstance(variables, dict) or not isinstance(steps, list):
        return None
    reader = _Reader()
    recipe = Recipe(
        variables=variables,
        steps=tuple(reader.step(step, ("steps", number)) for number, step in enumerate(steps)),
        outputs=reader.value(Recipe, values, "outputs", (), {}),
    )
    return Draft(workflow_of(name, recipe), frozenset(reader.unread), frozenset(reader.vague))


class _Reader:
    """Reads what can be read, and notes what can't."""

    def __init__(self) -> None:
        self.unread: set[Path] = set()
        self.vague: set[str] = set()
        self._ids: set[str] = set()

    def step(self, raw: Any, keys: Path) -> StepTable:
        table = self._table(raw, keys)
        # An action that is not there has no name that could be wrong.
        if table.get("tool") is None and table.get("wait") is None:
            self.unread.add((*keys, "tool"))
        return StepTable(
            id=self._id(table, keys),
            tool=self.value(StepTable, table, "tool", keys, None),
            wait=None if table.get("wait") is None else self._wait(table["wait"], (*keys, "wait")),
            params=self.value(StepTable, table, "params", keys, {}),
            expect=self.value(StepTable, table, "expect", keys, {}),
            asserts=tuple(self._check(*one) for one in self._items(table, keys, "assert")),
            capture=self._captures(table, keys),
        )

    def value(self, table: type[Struct], raw: Mapping[str, Any], name: str, keys: Path, instead: Any) -> Any:
        """The value of a key, or another one where it can't be read."""
        field = next(one for one in fields(table) if one.encode_name == name)
        if name not in raw and not field.required:
            return instead
        try:
            return convert(raw[name], field.type)
        except (KeyError, ValidationError):
            self.unread.add((*keys, name))
            return instead

    def _id(self, raw: Mapping[str, Any], keys: Path) -> str:
        id: str = self.value(StepTable, raw, "id", keys, "")
        if id in self._ids:
            # Which is told of the file.
            self.unread.add((*keys, "id"))
        self._ids.add(id)
        return id

    def _wait(self, raw: Any, keys: Path) -> WaitTable:
        table = self._table(raw, keys)
        return WaitTable(
            tool=self.value(WaitTable, table, "tool", keys, ""),
            params=self.value(WaitTable, table, "params", keys, {}),
            until=self._check(table.get("until"), (*keys, "until")),
        )

    def _check(self, raw: Any, keys: Path) -> CheckTable:
        table = self._table(raw, keys)
        return CheckTable(
            path=self.value(CheckTable, table, "path", keys, "result"),
            **{name: table[name] for name in ("equals", "not_equals") if name in table},
        )

    def _captures(self, raw: Mapping[str, Any], keys: Path) -> tuple[CaptureSection, ...]:
        found = tuple(self._capture(*one) for one in self._items(raw, keys, "capture"))
        is_read = isinstance(raw.get("capture", []), list | dict | None)
        if not is_read or not all(one.name for one in found):
            self.vague.add("captures")
        return found

    def _capture(self, raw: Any, keys: Path) -> CaptureSection:
        table = self._table(raw, keys)
        return CaptureSection(
            name=self.value(CaptureSection, table, "name", keys, ""),
            path=self.value(CaptureSection, table, "path", keys, "result"),
        )

    def _items(self, raw: Mapping[str, Any], keys: Path, name: str) -> list[tuple[Any, Path]]:
        value = raw.get(name)
        if isinstance(value, list):
            return [(one, (*keys, name, n)) for n, one in enumerate(value)]
        if value is not None:
            self.unread.add((*keys, name))
        # What is meant by one without a list around it is plain.
        return [(value, (*keys, name))] if isinstance(value, dict) else []

    def _table(self, raw: Any, keys: Path) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        self.unread.add(keys)
        return {}
