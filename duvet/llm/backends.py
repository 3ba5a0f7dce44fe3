"""The providers of the configuration, each with what can be asked, or why nothing can."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.config.service.providers import ProviderKind, ProviderSection
from duvet.errors import DuvetError
from duvet.llm.anthropic import Anthropic
from duvet.llm.client_model import ClientModel
from duvet.llm.endpoint import Endpoint, endpoint_of
from duvet.llm.http import Http
from duvet.llm.key import USUAL, Key, is_usual
from duvet.llm.openai import OpenAi
from duvet.llm.provider import Provider, Sampler


class Backend(Struct, frozen=True):
    """A provider as it is configured."""

    name: str
    section: ProviderSection
    provider: Provider | None = None
    endpoint: Endpoint | None = None
    trouble: str = ""
    """Why nothing can be asked there."""
    hint: str = ""


def backends_of(
    providers: Mapping[str, ProviderSection], keys: Mapping[str, Key], http: Http, sampler: Sampler | None
) -> dict[str, Backend]:
    """The providers by name, in their order."""
    return {name: _backend(name, section, keys.get(name), http, sampler) for name, section in providers.items()}


def _backend(name: str, section: ProviderSection, key: Key | None, http: Http, sampler: Sampler | None) -> Backend:
    if not section.enabled:
        return Backend(name, section, trouble="it is disabled", hint=f"`providers.{name}.enabled` switches it on")
    if section.kind is ProviderKind.CLIENT:
        if sampler is None:
            return Backend(name, section, trouble="no client offers its model")
        return Backend(name, section, ClientModel(name, sampler))
    if key is None and is_usual(section):
        variable = USUAL[section.kind].variable
        hint = f"set {variable}, or name another variable as `providers.{name}.apiKey`"
        return Backend(name, section, trouble="it has no key", hint=hint)
    try:
        endpoint = endpoint_of(name, section, key)
    except DuvetError as error:
        return Backend(name, section, trouble=error.message, hint=error.hint)
    speaks = Anthropic if section.kind is ProviderKind.ANTHROPIC else OpenAi
    return Backend(name, section, speaks(endpoint, http), endpoint)
