"""What is asked of models, and what they answer."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

MOST_TOKENS = 1024
"""So long an answer may be where nothing else is said."""


class Message(Struct, frozen=True):
    """What one side has said."""

    role: Literal["user", "assistant"]
    text: str


class ModelRequest(Struct, frozen=True, kw_only=True):
    """What a model is asked, and which one is wanted."""

    prompt: str = ""
    messages: tuple[Message, ...] = ()
    """What was said before the prompt."""
    system: str = ""
    model: str | None = None
    """`PROVIDER/MODEL`, or `PROVIDER` for its default model."""
    task: str | None = None
    """What it is for, as `routing` calls it."""
    max_tokens: int = MOST_TOKENS
    temperature: float | None = None

    @property
    def conversation(self) -> tuple[Message, ...]:
        """All that is said, the prompt last."""
        return (*self.messages, Message("user", self.prompt)) if self.prompt else self.messages


class Choice(Struct, frozen=True):
    """A model of a provider."""

    provider: str
    model: str
    """Empty where the provider itself chooses."""

    @property
    def name(self) -> str:
        """`PROVIDER/MODEL`."""
        return f"{self.provider}/{self.model}" if self.model else self.provider


class Resolved(Struct, frozen=True):
    """The model that is to answer, and why."""

    provider: str
    model: str
    reason: str
    fallbacks: tuple[Choice, ...] = ()
    """Those to take in this order where it doesn't answer."""
    warnings: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The models that may answer, in the order in which they are asked."""
        return (Choice(self.provider, self.model), *self.fallbacks)


class Usage(Struct, frozen=True):
    """How many tokens were read and written, as far as the provider says."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class Said(Struct, frozen=True):
    """What a provider has answered."""

    text: str
    usage: Usage = Usage()
    is_cut: bool = False
    """Whether the model had more to say."""


class ModelResponse(Struct, frozen=True):
    """The answer of a model."""

    text: str
    provider: str
    model: str
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`PROVIDER/MODEL`."""
        return Choice(self.provider, self.model).name


class KnownModel(Struct, frozen=True):
    """A model that can be asked for, and how that is known."""

    provider: str
    model: str
    origin: Literal["configuration", "models", "llms.txt"]
    note: str = ""
    """What somebody says of it: data, for people."""
    url: str = ""
