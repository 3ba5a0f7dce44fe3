"""What a tool is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from duvet.tools.context import Context
from duvet.tools.errors import Code


class Scope(StrEnum):
    """Who may call a tool."""

    READER = "reader"
    MAINTAINER = "maintainer"


class Page(Struct, frozen=True):
    """Which part of a list an answer holds."""

    total: int
    next_cursor: str | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """What a tool found."""

    value: object
    """A record, or a list of them: what the first block of content holds, and nothing else."""
    next_step: str = ""
    """What to do with it, in a line."""
    warning: str = ""
    """What keeps it from being the whole truth, in a line."""
    page: Page | None = None
    """Of a list alone."""


class Shortcut(Struct, frozen=True):
    """An option of the command line that adds to a list in an argument which is an object."""

    flag: str
    argument: str
    key: str
    """The list in the object."""


class Withheld(Struct, frozen=True):
    """Why nobody can call a tool here."""

    code: Code
    message: str
    hint: str


class Tool(Struct, frozen=True, kw_only=True):
    """One operation."""

    name: str
    title: str
    description: str
    input: type[Struct]
    """The record of its arguments, which are described there."""
    output: Any
    """The type of what it answers: a record, or a tuple of them."""
    handler: Callable[[Any, Any], Any]
    """Takes the arguments and a `Ctx`, and answers an `Answer`, or what is in one; it may be asynchronous."""
    scope: Scope = Scope.READER
    is_idempotent: bool = True
    """Whether a call that is made twice leaves what one leaves."""
    replaces: bool = False
    """Whether it may replace what somebody else has made."""
    labels: Sequence[str] = ()
    """What it is about, in words to choose tools by."""
    safety_notes: Sequence[str] = ()
    """What to think of before it is called, a sentence each."""
    invocation_hints: Sequence[str] = ()
    """When and how agents do well to call it, a sentence each."""
    time_limit: float | None = None
    """Seconds that a call may take; None leaves that to the server."""
    aliases: Sequence[str] = ()
    """Other names that it is found by."""
    reads: bool | None = None
    """Whether it changes nothing; None where its scope says so: what readers may call changes nothing."""
    shortcuts: Sequence[Shortcut] = ()
    """Options of the command line for what would have to be written as an object."""
    withheld: Withheld | None = None
    """Why nobody can call it here, where that is so; it is shown to nobody then."""
    accountable: Sequence[str] = ()
    """Arguments that tell nothing secret: they stand in the account of what was changed, as they were given."""
    failures: Sequence[Code] = ()
    """How it may fail beside what every tool may fail with."""
    longest: int | None = None
    """Characters that a text among its arguments may have, where that is another number than usual."""

    record_of: Callable[[Mapping[str, Any]], Any] | None = None
    """Makes the record of the arguments, where a tool refuses wrong ones in words of its own, with a QueryError."""

    @property
    def only_reads(self) -> bool:
        return self.scope is Scope.READER if self.reads is None else self.reads

    @property
    def is_list(self) -> bool:
        """Whether it answers a list, which is paged."""
        return getattr(self.output, "__origin__", None) is tuple


class Question(Tool, frozen=True, kw_only=True):
    """A tool that only looks at the project: its handler is given one reading, and asked again if that is outdated."""

    handler: Callable[[Any, Context], Answer]


class Pack(Struct, frozen=True):
    """Tools that are switched on and off together."""

    name: str
    tools: Sequence[Tool] | Callable[[Mapping[str, Any]], Sequence[Tool]]
    """The tools, or what makes them from the settings of the pack."""
    description: str = ""
    version: str = ""
