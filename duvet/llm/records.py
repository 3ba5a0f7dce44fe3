"""Requests to models, their responses and errors."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Protocol

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import escape_line_ends

MAX_ANSWER_TOKENS = 1024
"""So long an answer may be where nothing else is said."""


class ModelMessage(Struct, frozen=True):
    """What one side has said."""

    role: Literal["user", "assistant"]
    text: str


class ModelRequest(Struct, frozen=True, kw_only=True):
    """What a model is asked, and which one is wanted."""

    prompt: str = ""
    messages: tuple[ModelMessage, ...] = ()
    """What was said before the prompt."""
    system: str = ""
    model: str | None = None
    """`PROVIDER/MODEL`, or `PROVIDER` for its default model."""
    task: str | None = None
    """What it is for, as `routing` calls it."""
    max_tokens: int = MAX_ANSWER_TOKENS
    temperature: float | None = None

    @property
    def conversation(self) -> tuple[ModelMessage, ...]:
        """All that is said, the prompt last."""
        return (*self.messages, ModelMessage("user", self.prompt)) if self.prompt else self.messages


class ModelChoice(Struct, frozen=True):
    """A model of a provider."""

    provider: str
    model: str
    """Empty where the provider itself chooses."""

    @property
    def name(self) -> str:
        """`PROVIDER/MODEL`."""
        return f"{self.provider}/{self.model}" if self.model else self.provider


class ResolvedModel(Struct, frozen=True):
    """The model that is to answer, and why."""

    provider: str
    model: str
    reason: str
    fallbacks: tuple[ModelChoice, ...] = ()
    """Those to take in this order where it doesn't answer."""
    warnings: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[ModelChoice, ...]:
        """The models that may answer, in the order in which they are asked."""
        return (ModelChoice(self.provider, self.model), *self.fallbacks)


class TokenUsage(Struct, frozen=True):
    """How many tokens were read and written, as far as the provider says."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class ProviderAnswer(Struct, frozen=True):
    """What a provider has answered."""

    text: str
    usage: TokenUsage = TokenUsage()
    is_cut: bool = False
    """Whether the model had more to say."""


class ModelResponse(Struct, frozen=True):
    """The answer of a model."""

    text: str
    provider: str
    model: str
    usage: TokenUsage = TokenUsage()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`PROVIDER/MODEL`."""
        return ModelChoice(self.provider, self.model).name


class KnownModel(Struct, frozen=True):
    """A model that can be asked for, and how that is known."""

    provider: str
    model: str
    origin: Literal["configuration", "models", "llms.txt"]
    note: str = ""
    """What somebody says of it: data, for people."""
    url: str = ""


SETUP_HINT = (
    'name a provider in `duvet.config.toml`, such as `[providers.openai]` with `defaultModel = "MODEL"`, and put its key '
    "into OPENAI_API_KEY; for a model on this machine give its `baseUrl`, as `http://127.0.0.1:11434/v1`"
)


class NoModelError(DuvetError):
    """No model can be asked."""

    def __init__(self, message: str = "no model is set up", *, hint: str = SETUP_HINT) -> None:
        ##= man/spec/ask.md#choosing-a-model
        ##% duvet MUST warn when it skips an unusable provider or answers with a fallback, and say how to set up a model
        ##% when there is none.
        super().__init__(message, hint=hint)


class ModelFault(StrEnum):
    """Why a provider has not answered."""

    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    REFUSED = "refused"


class ModelError(DuvetError):
    """A provider has not answered, or not with what can be used."""

    def __init__(self, code: ModelFault, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class TemporaryModelError(ModelError):
    """One that may be gone when it is tried again."""

    def __init__(self, code: ModelFault, message: str, *, hint: str = "", wait: float | None = None) -> None:
        super().__init__(code, message, hint=hint)
        self.wait = wait
        """How many seconds the provider asks to wait."""


MAX_LINE_CHARACTERS = 200
"""So many characters of what somebody says are shown."""


def strip_invisible(text: str) -> str:
    """The text without characters that can't be seen, but for line ends and tabs."""
    if text.isprintable():
        return text
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


def shorten_to_line(text: str, most: int = MAX_LINE_CHARACTERS) -> str:
    """The beginning of a text on one line."""
    words = escape_line_ends(strip_invisible(text))
    return words if len(words) <= most else f"{words[: most - 1]}…"


class Clock(Protocol):
    """Tells the time, and waits."""

    def now(self) -> float:
        """Seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        import time

        return time.time()

    async def sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)
