"""`GET /models`: what providers of either protocol say they have."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.llm.endpoint import Endpoint
from duvet.llm.http import Http
from duvet.llm.provider import decoded
from duvet.llm.words import MOST

_MOST_BYTES = 1024 * 1024
_MOST_MODELS = 1000


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]


async def listed(http: Http, endpoint: Endpoint, headers: Mapping[str, str], seconds: float) -> tuple[str, ...]:
    """The names of its models, of those that are fit to be shown."""
    data = await http.get(endpoint, f"{endpoint.base}/models", headers, seconds, _MOST_BYTES)
    names = dict.fromkeys(endpoint.without_key(one.id) for one in decoded(endpoint.name, data, _Models).data)
    fit = [name for name in names if name.isprintable() and 0 < len(name) <= MOST and " " not in name]
    return tuple(fit[:_MOST_MODELS])
