"""Environment variables in the values of the service's configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import DecodeError, ValidationError, convert, inspect, json
from msgspec.structs import replace

from duvet import rules
from duvet.config.check import DocumentLocation, describe_type, is_in_range
from duvet.config.document import KeyPath, VariableError, expand_variables, is_variable
from duvet.config.fields import FieldType, list_field_types
from duvet.config.settings import Secret
from duvet.model import Problem, Severity

_SCALARS = (inspect.IntType, inspect.FloatType, inspect.BoolType, inspect.EnumType)
LeafConverter = Callable[[FieldType, Any, DocumentLocation], Any]
UNCHANGED, DROPPED = object(), object()
"""Returned by a converter that does not apply to a type, or that removes the key."""


def parse_scalar(choice: FieldType, text: str) -> Any:
    """Convert text to a number, boolean or word that this type accepts; raise ValueError if that fails."""
    kind = choice.type
    if isinstance(kind, inspect.EnumType):
        return kind.cls(text.strip()).value
    try:
        value = json.decode(text.strip().lower())
        wanted = {inspect.BoolType: bool, inspect.IntType: int}.get(type(kind), float)
        value = convert(value, wanted)
    except (DecodeError, ValidationError) as error:
        raise ValueError(text) from error
    if not is_in_range(kind, value):
        raise ValueError(text)
    return value


def describe_scalar(choice: FieldType) -> str:
    """Describe the values that `parse_scalar` accepts for this type, with their range."""
    kind = choice.type
    if isinstance(kind, inspect.EnumType):
        return f"one of {', '.join(f'`{one.value}`' for one in kind.cls)}"
    least, most = getattr(kind, "ge", None), getattr(kind, "le", None)
    return describe_type(kind) + (f" from {least} to {most}" if least is not None and most is not None else "")


def is_scalar(choice: FieldType) -> bool:
    return isinstance(choice.type, _SCALARS)


class VariableExpander:
    """Expands variables in typed values, and collects the problems."""

    def __init__(self, unneeded: Collection[KeyPath] = ()) -> None:
        """Report unset variables below the keys in `unneeded` as warnings."""
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.failed: set[KeyPath] = set()
        """The keys in `unneeded` whose values contain an unset variable."""
        self._unneeded = unneeded

    def convert_scalars(self, kind: inspect.Type, value: Any, at: DocumentLocation) -> Any:
        """Replace variables that stand for numbers, booleans or words."""
        return self._convert(kind, value, at, self._convert_scalar)

    def expand(self, kind: inspect.Type, value: Any, at: DocumentLocation) -> Any:
        """Return the value with variables expanded; values of types without variables are unchanged."""
        return self._convert(kind, value, at, self._expand_leaf)

    def _convert(self, kind: inspect.Type, value: Any, at: DocumentLocation, leaf: LeafConverter) -> Any:
        for choice in list_field_types(kind):
            match choice.type, value:
                case inspect.StructType(fields=fields), dict():
                    kinds = {field.encode_name: field.type for field in fields}
                    found = {
                        name: self._convert(kinds[name], inner, at / name, leaf) if name in kinds else inner
                        for name, inner in value.items()
                    }
                    return {name: inner for name, inner in found.items() if inner is not DROPPED}
                case inspect.DictType(value_type=inner_kind), dict() if not choice.expands:
                    return {name: self._convert(inner_kind, inner, at / name, leaf) for name, inner in value.items()}
                case inspect.VarTupleType(item_type=item), list():
                    return [self._convert(item, inner, at / index, leaf) for index, inner in enumerate(value)]
                case _ if (found := leaf(choice, value, at)) is not UNCHANGED:
                    return found
        return value

    def _convert_scalar(self, choice: FieldType, value: Any, at: DocumentLocation) -> Any:
        if not (is_scalar(choice) and isinstance(value, str) and "$" in value):
            return UNCHANGED
        text = self._expand_text(value, at)
        if text == value:
            # The unset variable is already reported.
            return DROPPED
        try:
            return parse_scalar(choice, text)
        except ValueError:
            self._report(f"the value is not {describe_scalar(choice)} after its variables are expanded", at)
            return DROPPED

    def _expand_leaf(self, choice: FieldType, value: Any, at: DocumentLocation) -> Any:
        if isinstance(choice.type, inspect.CustomType) and choice.type.cls is Secret and isinstance(value, str):
            return self._expand_secret(value, at)
        return self._expand_all(value, choice, at) if choice.expands else UNCHANGED

    def _expand_all(self, value: Any, choice: FieldType, at: DocumentLocation) -> Any:
        match value:
            case dict():
                return {name: self._expand_all(inner, choice, at / name) for name, inner in value.items()}
            case list():
                return [self._expand_all(inner, choice, at / index) for index, inner in enumerate(value)]
            case str():
                text = self._expand_text(value, at)
                if text != value and choice.refuses(text):
                    what = f"not {choice.expected}" if choice.expected else "blank"
                    self._report(f"the value is {what} after its variables are expanded", at)
                return text
        return value

    def _expand_secret(self, text: str, at: DocumentLocation) -> Secret | str:
        if not is_variable(text):
            # `check_table` reports this.
            return text
        value = self._expand_text(text, at)
        ##= man/spec/service.md#configuration
        ##% duvet MUST NOT show the values of secrets and environment variables in messages.
        if value != text and not (value.strip() and value.isprintable()):
            self._report("the variable is empty or contains characters that are invalid in a key", at)
        return Secret(value)

    def _expand_text(self, text: str, at: DocumentLocation) -> str:
        try:
            return expand_variables(text, at.environ)
        except VariableError as error:
            problem = at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint)
            part = next((keys for keys in self._unneeded if at.keys[: len(keys)] == keys), None)
            if part is None:
                self.problems.append(problem)
            else:
                self.warnings.append(replace(problem, severity=Severity.WARNING))
                self.failed.add(part)
            return text

    def _report(self, message: str, at: DocumentLocation) -> None:
        self.problems.append(at.problem(rules.CONFIG_BAD_VALUE, message, "set the variable to a valid value"))


def list_unneeded_parts(values: Mapping[str, Any]) -> Collection[KeyPath]:
    """Return the keys of disabled providers and packs, and of unused providers."""

    def read(name: str) -> Mapping[str, Any]:
        table = values.get(name)
        return {key: one for key, one in table.items() if isinstance(one, dict)} if isinstance(table, dict) else {}

    providers = read("providers")
    enabled = [name for name, one in providers.items() if one.get("enabled", True) is not False]
    steps = [step for one in read("workflows").values() for step in one.get("steps") or () if isinstance(step, dict)]
    models = [one.get("model") for one in [*read("routing").values(), *steps]]
    models += [model for one in read("routing").values() for model in one.get("fallbacks") or ()]
    used = {*enabled[:1], *(model.partition("/")[0] for model in models if isinstance(model, str))}
    disabled = [("toolPacks", name) for name, one in read("toolPacks").items() if one.get("enabled", True) is False]
    return [*disabled, *(("providers", name) for name in providers if name not in enabled or name not in used)]
