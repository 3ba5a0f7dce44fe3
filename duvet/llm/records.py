"""Model requests, responses and errors."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.rules import MODEL_UNAVAILABLE
from duvet.text import collapse_whitespace

MAX_ANSWER_TOKENS = 1024  # The default limit of an answer.
SETUP_HINT = (
    "add a provider, such as `providers: {openai: {defaultModel: MODEL}}`, to the service configuration "
    "(`duvet.config.yaml`, or the file that `--service-config` names), and set OPENAI_API_KEY; a model on this "
    "machine needs no key, but a `baseUrl` such as `http://127.0.0.1:11434/v1`"
)
MAX_LINE_CHARACTERS = 200


class ModelRequest(Struct, frozen=True, kw_only=True):
    prompt: str = ""
    system: str = ""
    model: str | None = None  # `PROVIDER/MODEL`, or `PROVIDER` for its default model.
    task: str | None = None  # The key in `routing`.
    max_tokens: int | None = None  # None for the limit of the provider.
    temperature: float | None = None


class ModelChoice(Struct, frozen=True):
    provider: str
    model: str  # Empty if the provider chooses.

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}" if self.model else self.provider


class TokenUsage(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None


class ProviderAnswer(Struct, frozen=True):
    text: str
    usage: TokenUsage = TokenUsage()
    is_cut: bool = False  # True if the answer reached the token limit.


class ModelResponse(Struct, frozen=True):
    text: str
    provider: str
    model: str
    usage: TokenUsage = TokenUsage()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return ModelChoice(self.provider, self.model).name


class ModelCall(Struct, frozen=True):
    provider: str
    model: str
    usage: TokenUsage
    seconds: float


class KnownModel(Struct, frozen=True):
    provider: str
    model: str
    origin: Literal["configuration", "models", "llms.txt"]
    note: str = ""  # Text from a third party, to be shown to people only.
    url: str = ""


class NoModelError(DuvetError):
    rule_code = MODEL_UNAVAILABLE.code

    def __init__(self, message: str = "no model is configured", *, hint: str = SETUP_HINT) -> None:
        super().__init__(message, hint=hint)


class ModelFault(StrEnum):
    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    LIMIT_REACHED = "limit_reached"


class ModelError(DuvetError):
    rule_code = MODEL_UNAVAILABLE.code

    def __init__(self, code: ModelFault, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class TemporaryModelError(ModelError):
    def __init__(self, code: ModelFault, message: str, *, hint: str = "", wait: float | None = None) -> None:
        super().__init__(code, message, hint=hint)
        self.wait = wait  # The seconds that the provider asks the caller to wait.


def strip_invisible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


def shorten_to_line(text: str, max_characters: int = MAX_LINE_CHARACTERS) -> str:
    line = collapse_whitespace(strip_invisible(text))
    return line if len(line) <= max_characters else f"{line[: max_characters - 1]}…"
