"""References in values: `${steps.ID.result.items[0]}` stands for what is there, `$${` for a literal `${`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from duvet.text import quoted
from duvet.workflows.errors import UnresolvedError
from duvet.workflows.paths import Path, parsed_at, spelled, walk
from duvet.workflows.plain import DEEPEST, as_text, is_deep, plain, shown, size

MOST_BYTES = 1_000_000
"""No value has more once its references are filled in."""
_NAMED = 10
_MARK = re.compile(r"\$\$\{|\$\{")
_HOW = "write a reference as in ${vars.NAME}, and a literal one with two dollars: $${"

Scope = Mapping[str, object]
"""What references lead into, by its first name."""


class Reference(Struct, frozen=True):
    """A place where a value is to be filled in."""

    path: Path
    text: str
    """As it is written."""


def escaped(text: str) -> str:
    """The text as it has to be written to stand for itself."""
    return text.replace("${", "$${")


def pieces(text: str) -> list[str | Reference]:
    """The text in pieces: what stands for itself, and references."""
    found: list[str | Reference] = []
    at = 0
    while mark := _MARK.search(text, at):
        ##= man/spec/workflows.md#references
        ##% `$${` MUST stand for a literal `${`.
        literal = mark[0] == "$${"
        found.append(text[at : mark.start()] + ("${" if literal else ""))
        at = mark.end()
        if not literal:
            reference = _reference(text, mark.start())
            found.append(reference)
            at = mark.start() + len(reference.text)
    return [piece for piece in (*found, text[at:]) if piece]


def texts(value: object, keys: Path) -> Iterator[tuple[Path, str]]:
    """The texts in a value, each with its keys."""
    match value:
        case str():
            yield keys, value
        case Mapping():
            for key, inner in value.items():
                yield from texts(inner, (*keys, key))
        case list() | tuple():
            for number, inner in enumerate(value):
                yield from texts(inner, (*keys, number))


def look_up(reference: Reference, scope: Scope) -> Any:
    """What the reference leads to; UnresolvedError where there is nothing."""
    value, steps = walk(scope, reference.path)
    if steps == len(reference.path):
        return value
    ##= man/spec/workflows.md#references
    ##% A reference that leads nowhere MUST be an error with the step, the key, the reference, and what there is
    ##% instead.
    missing, before = spelled(reference.path[: steps + 1]), spelled(reference.path[:steps])
    raise UnresolvedError(f"{_cut(reference.text)}: there is no {_cut(missing)}", hint=_instead(value, before))


def expand(value: object, scope: Scope, keys: Path) -> Any:
    """The value with what its references lead to; the keys say where it stands."""
    what = spelled(keys)
    ##= man/spec/workflows.md#bounds
    ##% A value that is nested deeper than 64 levels, or is no JSON, MUST be refused.
    if is_deep(value):
        raise UnresolvedError(f"{what} is nested deeper than {DEEPEST} levels, or holds too many values")
    return plain(_Filling(scope).filled(value, keys), MOST_BYTES, what)


def is_constant(value: object) -> bool:
    """Whether nothing is to be filled in, so that the value is what it says."""
    return not any("${" in text for _, text in texts(value, ()))


class _Filling:
    """References of one value being filled in; what is taken in is counted before it is."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.left = MOST_BYTES

    def filled(self, value: object, keys: Path) -> Any:
        ##= man/spec/workflows.md#references
        ##% What a reference is replaced by MUST NOT be looked through for references.
        match value:
            case str():
                return self._text(value, keys)
            case Mapping():
                return {key: self.filled(inner, (*keys, key)) for key, inner in value.items()}
            case list() | tuple():
                return [self.filled(inner, (*keys, number)) for number, inner in enumerate(value)]
        return value

    def _text(self, text: str, keys: Path) -> Any:
        try:
            found = pieces(text)
            ##= man/spec/workflows.md#references
            ##% A text that is one reference and nothing else MUST become what it leads to, of the same type.
            if len(found) == 1 and isinstance(found[0], Reference):
                return self._value(found[0])
            ##= man/spec/workflows.md#references
            ##% Inside of a text, texts MUST stand as they are and other values as JSON.
            return "".join(piece if isinstance(piece, str) else as_text(self._value(piece)) for piece in found)
        except UnresolvedError as error:
            raise UnresolvedError(f"{spelled(keys)}: {error.message}", hint=error.hint) from error

    def _value(self, reference: Reference) -> Any:
        value = look_up(reference, self.scope)
        self.left -= size(value)
        ##= man/spec/workflows.md#bounds
        ##% A result of more than 16 MB, and arguments, prompts or outputs of more than 1 MB, MUST be refused before
        ##% they are put together.
        if self.left < 0:
            raise UnresolvedError(f"with {_cut(reference.text)} it has more than {MOST_BYTES:,} bytes")
        return value


def _reference(text: str, start: int) -> Reference:
    path, end = parsed_at(text, start + 2)
    if not path or text[end : end + 1] != "}":
        raise UnresolvedError(f"{quoted(_cut(text[start:]))} is no reference", hint=_HOW)
    return Reference(path, text[start : end + 1])


def _instead(value: object, where: str) -> str:
    match value:
        case Mapping() if value:
            names = [_cut(str(name)) for name in value]
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            return f"there are {', '.join(names[:_NAMED])}{more}"
        case list():
            return f"{_cut(where)} is a list of {len(value)}"
        case Mapping():
            return f"{_cut(where)} is empty"
    return f"{_cut(where)} is {shown(value)}"


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
