"""Today's spending on models, and the daily limits of providers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from msgspec import MsgspecError, Struct, json

from duvet.config.service_tables import ProviderSection
from duvet.http_client import Clock
from duvet.llm.records import ModelError, ModelFault, ModelRequest, ProviderAnswer

_TOKEN_CHARACTERS = 4  # To estimate the tokens of a provider that reports none.
_PRICED_TOKENS = 1_000_000  # The number of tokens that a price is for.


class SpendingLimit(Struct, frozen=True):
    key: str
    shown: str
    most: float
    spent: float

    def __str__(self) -> str:
        spent = f"{self.spent:,}" if isinstance(self.spent, int) else f"{self.spent:,.4f}"
        return f"{spent} of {self.shown}"


class _Entry(Struct, frozen=True):
    provider: str
    tokens: int
    cost: float  # In the currency of the provider's prices.


class SpendingBudget:
    def __init__(self, clock: Clock, folder: str) -> None:
        self._clock = clock
        self._folder = folder
        self._unsaved: tuple[str, list[_Entry]] = ("", [])  # A day, and its entries that could not be written.

    def list_limits(self, provider: str, section: ProviderSection) -> Iterator[SpendingLimit]:
        entries = [one for one in self._load() if one.provider == provider]
        if tokens := section.daily_tokens:
            spent = sum(one.tokens for one in entries)
            yield SpendingLimit("dailyTokens", f"{tokens:,} tokens", tokens, spent)
        if cost := section.daily_spend:
            yield SpendingLimit("dailySpend", f"{cost:,g}", cost, sum((one.cost for one in entries), 0.0))

    def check(self, provider: str, section: ProviderSection, model: str) -> None:
        ##= man/spec/ask.md#calls
        ##% duvet MUST NOT call a provider that has used up its `dailyTokens` or its `dailySpend`.
        for limit in self.list_limits(provider, section):
            if limit.spent >= limit.most:
                message = f"provider `{provider}` has used up its limit for today: {limit}"
                hint = f"increase `providers.{provider}.{limit.key}`, or wait until midnight (UTC)"
                raise ModelError(ModelFault.LIMIT_REACHED, message, hint=hint)
        ##= man/spec/ask.md#calls
        ##% If a provider has a `dailySpend`, duvet MUST NOT call its models that have no price.
        if section.daily_spend and model not in section.prices:
            message = f"the model {provider}/{model} has no price, so its costs can't be limited by `dailySpend`"
            hint = f"set `input` and `output` in `providers.{provider}.prices.{model}`"
            raise ModelError(ModelFault.LIMIT_REACHED, message, hint=hint)

    def add(
        self, provider: str, section: ProviderSection, model: str, request: ModelRequest, answer: ProviderAnswer
    ) -> None:
        if not (section.daily_tokens or section.daily_spend):
            return
        read, written = answer.usage.input_tokens, answer.usage.output_tokens
        if read is None:
            read = len(request.system + request.prompt) // _TOKEN_CHARACTERS + 1
        written = len(answer.text) // _TOKEN_CHARACTERS + 1 if written is None else written
        price, cost = section.prices.get(model), 0.0
        if price is not None:
            cost = (read * price.input + written * price.output) / _PRICED_TOKENS
        entry, day = _Entry(provider, read + written, cost), self._find_today()
        if not self._append(day, entry):
            self._unsaved = (day, [*(self._unsaved[1] if self._unsaved[0] == day else []), entry])

    def _append(self, day: str, entry: _Entry) -> bool:
        if not self._folder:
            return False
        path = os.path.join(self._folder, f"{day}.jsonl")
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                ##= man/spec/ask.md#calls
                ##% duvet MUST count the calls of all processes that a user starts in a project towards `dailyTokens`
                ##% and `dailySpend`.
                # One write, so that lines of several processes don't mix.
                os.write(handle, json.encode(entry) + b"\n")
            finally:
                os.close(handle)
        except OSError:
            return False
        # Another process may remove the same files.
        with suppress(OSError):
            for name in os.listdir(self._folder):
                if name.endswith(".jsonl") and name < day:
                    os.unlink(os.path.join(self._folder, name))
        return True

    def _load(self) -> list[_Entry]:
        day = self._find_today()
        found = [*self._unsaved[1]] if self._unsaved[0] == day else []
        if self._folder:
            with suppress(OSError), open(os.path.join(self._folder, f"{day}.jsonl"), "rb") as file:
                for line in file:
                    with suppress(MsgspecError):
                        found.append(json.decode(line, type=_Entry))
        return found

    def _find_today(self) -> str:
        return datetime.fromtimestamp(self._clock.now(), UTC).date().isoformat()
