"""What the protocols of providers have in common."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from msgspec import DecodeError, Struct, ValidationError, json

from duvet.llm.errors import Fault, ModelError
from duvet.llm.records import ModelRequest, Said

Answer = TypeVar("Answer", bound=Struct)


class Provider(Protocol):
    """Somebody who answers for models."""

    async def complete(self, model: str, request: ModelRequest) -> Said:
        """What that model answers; ModelError where it doesn't."""

    async def models(self, seconds: float) -> tuple[str, ...]:
        """The models that it says it has, none where nobody can ask it; ModelError where it doesn't say."""


class Sampler(Protocol):
    """The model of a client, for as long as a call of that client lasts."""

    async def __call__(self, request: ModelRequest) -> Said:
        """What it answers; ModelError where it doesn't."""


def decoded(name: str, data: bytes, kind: type[Answer]) -> Answer:
    """What a provider answers, as the protocol has it; ModelError where it doesn't fit."""
    ##= man/spec/ask.md#calls
    ##% An answer that holds no text where the protocol has it MUST be an error.
    try:
        return json.decode(data, type=kind)
    except ValidationError as error:
        raise malformed(name, f"not what the protocol has: {error}") from None
    except (DecodeError, UnicodeDecodeError, RecursionError):
        raise malformed(name, "what is no JSON") from None


def malformed(name: str, what: str) -> ModelError:
    """The error about an answer that can't be used."""
    return ModelError(Fault.MALFORMED, f"{name} answers {what}", hint="does `kind` say which protocol it speaks?")


def with_text(name: str, said: Said) -> Said:
    """The answer, which has to hold something."""
    ##= man/spec/ask.md#calls
    ##% An answer that holds no text where the protocol has it MUST be an error.
    if not said.text.strip():
        raise ModelError(Fault.MALFORMED, f"{name} answers nothing", hint="try again, or allow it more tokens")
    return said


def count_in(usage: Any, name: str) -> int | None:
    """A number of tokens, where there is one."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def chosen(**values: object) -> dict[str, object]:
    """What is to be sent: those values that are given."""
    return {name: value for name, value in values.items() if value not in (None, "")}
