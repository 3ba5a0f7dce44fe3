"""Requests that await their answers, and batches of them."""

from __future__ import annotations

from typing import Any

import anyio

from duvet.server.messages import LASTING, Id

MOST = 512
"""Requests that are worked on at once; more are read when these are answered."""
MOST_BYTES = 16 * 1024 * 1024
"""What they may weigh."""


class Batch:
    """Messages that came in one array: their answers go out in one."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.size = 0
        """Bytes of these."""
        self.asked: list[Asked] = []
        """Those that await their answers."""
        self.is_read = False
        """Whether all of it has been handed on."""

    @property
    def is_done(self) -> bool:
        return self.is_read and not self.asked


class Asked:
    """One request."""

    def __init__(self, id: Id, method: str, size: int, batch: Batch | None, *, is_answered: bool) -> None:
        self.id = id
        self.size = size
        self.batch = batch
        self.is_answered = is_answered
        """Whether the client has its answer, and is not to be sent another."""
        self.begins = method == "initialize"
        self.lasts = method == LASTING
        self.settled = anyio.Event()


class Requests:
    """Those that await their answers."""

    def __init__(self) -> None:
        self._asked: list[Asked] = []
        self._brief = 0
        self._bytes = 0
        self._eased = anyio.Event()

    def add(self, asked: Asked) -> None:
        self._asked.append(asked)
        self._brief += not asked.lasts
        self._bytes += asked.size
        if asked.batch:
            asked.batch.asked.append(asked)

    def find(self, id: Id | None) -> Asked | None:
        """The first one with that id."""
        return next((asked for asked in self._asked if asked.id == id), None)

    def settle(self, asked: Asked) -> None:
        """It needs no answer any more."""
        self._asked.remove(asked)
        self._brief -= not asked.lasts
        self._bytes -= asked.size
        if asked.batch:
            asked.batch.asked.remove(asked)
        asked.settled.set()
        self._eased.set()
        self._eased = anyio.Event()

    async def until_room(self) -> None:
        """Wait while there is too much to do."""
        ##= man/spec/mcp.md#limits
        ##% The server MUST NOT read on while 512 requests, or 16 MiB of them, await their answers.
        while self._brief >= MOST or self._bytes > MOST_BYTES:
            await self._eased.wait()

    async def until_none(self) -> None:
        """Wait until everything is answered that does not last."""
        while self._brief:
            await self._eased.wait()
