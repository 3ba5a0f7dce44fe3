"""What goes wrong with models."""

from __future__ import annotations

from enum import StrEnum

from duvet.errors import DuvetError

SETTING_UP = (
    'name a provider in `duvet.config.toml`, such as `[providers.openai]` with `defaultModel = "MODEL"`, and put its key '
    "into OPENAI_API_KEY; for a model on this machine give its `baseUrl`, as `http://127.0.0.1:11434/v1`"
)


class NoModelError(DuvetError):
    """No model can be asked."""

    def __init__(self, message: str = "no model is set up", *, hint: str = SETTING_UP) -> None:
        ##= man/spec/ask.md#choosing
        ##% Where no model can be used, duvet MUST say how to set one up.
        super().__init__(message, hint=hint)


class Fault(StrEnum):
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

    def __init__(self, code: Fault, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class PassingError(ModelError):
    """One that may be gone when it is tried again."""

    def __init__(self, code: Fault, message: str, *, hint: str = "", wait: float | None = None) -> None:
        super().__init__(code, message, hint=hint)
        self.wait = wait
        """How many seconds the provider asks to wait."""
