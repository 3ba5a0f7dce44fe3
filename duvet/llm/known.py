"""The models that are known, from all who say something of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from duvet.config.service.providers import ProviderSection, RouteSection
from duvet.llm.discovery import Listing
from duvet.llm.records import KnownModel


def merged(
    providers: Mapping[str, ProviderSection], routing: Mapping[str, RouteSection], listings: Mapping[str, Listing]
) -> tuple[KnownModel, ...]:
    """Each model once, by provider."""
    found: dict[tuple[str, str], KnownModel] = {}
    for one in _told(providers, routing, listings):
        ##= man/spec/ask.md#discovery
        ##% What the configuration says of a model MUST win over what the provider lists, and that over hints.
        earlier = found.setdefault((one.provider, one.model), one)
        if one.note and not earlier.note:
            found[one.provider, one.model] = replace(earlier, note=one.note, url=one.url)
    order = {name: index for index, name in enumerate(providers)}
    return tuple(sorted(found.values(), key=lambda one: order[one.provider]))


def _told(
    providers: Mapping[str, ProviderSection], routing: Mapping[str, RouteSection], listings: Mapping[str, Listing]
) -> Iterator[KnownModel]:
    for name, section in providers.items():
        if section.default_model:
            yield KnownModel(name, section.default_model, "configuration")
    for written in _routed(routing.values()):
        name, _, model = written.partition("/")
        if model and name in providers:
            yield KnownModel(name, model, "configuration")
    for name, listing in listings.items():
        yield from (KnownModel(name, model, "models") for model in listing.models)
        yield from (KnownModel(name, hint.name, "llms.txt", hint.note, hint.url) for hint in listing.hints)


def _routed(routes: Iterable[RouteSection]) -> Iterator[str]:
    for route in routes:
        yield from (route.model, *route.fallbacks)
