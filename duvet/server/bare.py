"""Answers that are a bare array on the wire, which the SDK can't send: it takes them wrapped, a transport unwraps them."""

from collections.abc import Mapping, Sequence
from typing import Any

ARRAY = "duvet/array"


def wrapped(items: Sequence[Any]) -> dict[str, Any]:
    return {ARRAY: list(items)}


def unwrapped(result: Mapping[str, Any]) -> Mapping[str, Any] | list[Any]:
    """What the client gets; every other key of a wrapped array is the SDK's own and goes with it."""
    array: list[Any] | None = result.get(ARRAY)
    return result if array is None else array
