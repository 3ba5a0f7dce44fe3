"""`providers` and `routing`: which models there are, and which of them does what."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from duvet.config.secret import Secret
from duvet.config.service.section import END, Seconds, Section, Text

ModelName = Annotated[
    str,
    Meta(pattern=rf"^[A-Za-z][A-Za-z0-9_-]{{0,63}}(/\S+)?{END}", extra={"wanted": "PROVIDER/MODEL, or PROVIDER"}),
]
"""`PROVIDER/MODEL`, or `PROVIDER` alone for its default model."""


class ProviderKind(StrEnum):
    """Which protocol a provider speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CLIENT = "client"


class ProviderSection(Section, frozen=True, kw_only=True):
    """Who answers for models."""

    kind: Annotated[
        ProviderKind,
        Meta(description="The protocol: `openai` for all that are compatible with it, `client` for the client's model"),
    ] = ProviderKind.OPENAI
    enabled: Annotated[bool, Meta(description="Whether it may be used")] = True
    base_url: Annotated[
        Text | None, Meta(description="The URL below which it answers; by default that of OpenAI or Anthropic")
    ] = None
    api_key: Annotated[
        Secret | None,
        Meta(
            description="The variable with its key, as `$NAME`; by default OPENAI_API_KEY or ANTHROPIC_API_KEY where that is set"
        ),
    ] = None
    default_model: Annotated[Text | None, Meta(description="The model where only the provider is named")] = None
    timeout: Annotated[Seconds, Meta(description="How many seconds an answer may take")] = 60.0
    retries: Annotated[
        int, Meta(ge=0, le=10, description="How often a call is tried again that was refused for now")
    ] = 2
    discover: Annotated[bool, Meta(description="Whether to ask it which models it has, by `GET /models`")] = False
    llms_txt: Annotated[
        bool, Meta(description="Whether to read hints about its models from `/llms.txt` of its origin")
    ] = False


class RouteSection(Section, frozen=True, kw_only=True):
    """The model for one kind of task."""

    model: Annotated[ModelName, Meta(description="The model as PROVIDER/MODEL, or PROVIDER for its default model")]
    fallbacks: Annotated[
        tuple[ModelName, ...], Meta(description="Those to take in this order where that one doesn't answer")
    ] = ()
