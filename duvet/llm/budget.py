"""The tokens that a project spends with each provider in a day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from duvet.config.service_tables import ProviderSection
from duvet.http_client import Clock
from duvet.llm.records import ModelError, ModelFault, ModelRequest, ProviderAnswer
from duvet.tree.cache import BlobStore

_BLOB_NAME = "model-tokens"
_TOKEN_CHARACTERS = 4  # To estimate the tokens of a provider that reports none.


class _Spending(Struct, frozen=True):
    day: str
    tokens: Mapping[str, int]  # By provider.


class TokenBudget:
    """Counts tokens in the cache of the project; without a cache, in this process."""

    def __init__(self, clock: Clock, blobs: BlobStore) -> None:
        self._clock = clock
        self._blobs = blobs
        self._last = _Spending("", {})

    def count_spent(self, provider: str) -> int:
        """Return the number of tokens spent today, in UTC."""
        return self._load().tokens.get(provider, 0)

    def check(self, provider: str, section: ProviderSection) -> None:
        """Raise ModelError if the provider has reached its limit."""
        ##= man/spec/ask.md#calls
        ##% duvet MUST count the tokens that a project spends with each provider in a day, and MUST NOT call a provider
        ##% that has reached its `dailyTokens`.
        limit = section.daily_tokens
        if limit is not None and (spent := self.count_spent(provider)) >= limit:
            message = f"provider `{provider}` has spent {spent:,} tokens today, the limit is {limit:,}"
            hint = f"raise `providers.{provider}.dailyTokens`, or wait until midnight (UTC)"
            raise ModelError(ModelFault.LIMIT_REACHED, message, hint=hint)

    def add(self, provider: str, request: ModelRequest, answer: ProviderAnswer) -> None:
        read, written = answer.usage.input_tokens, answer.usage.output_tokens
        if read is None:
            texts = (request.system, *(one.text for one in request.conversation))
            read = sum(map(len, texts)) // _TOKEN_CHARACTERS + 1
        written = len(answer.text) // _TOKEN_CHARACTERS + 1 if written is None else written
        before = self._load()
        tokens = {**before.tokens, provider: before.tokens.get(provider, 0) + read + written}
        self._last = _Spending(before.day, tokens)
        self._blobs.save(_BLOB_NAME, self._last)

    def _load(self) -> _Spending:
        """Return what was spent today, also by other processes."""
        today = datetime.fromtimestamp(self._clock.now(), UTC).date().isoformat()
        found = [one for one in (self._blobs.load(_BLOB_NAME, _Spending), self._last) if one and one.day == today]
        return max(found, key=lambda one: sum(one.tokens.values()), default=_Spending(today, {}))
