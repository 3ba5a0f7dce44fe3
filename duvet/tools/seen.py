"""What is known of a call when it is over: for the log, and for what counts calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping

from msgspec import Struct

from duvet.text import one_line, shortened

_MOST = 12
_LONGEST_TOLD = 300
_LONGEST = 1000
"""Characters that are looked at of a name that somebody has made up."""
_LONGEST_WARNING = 300
_WORDED = "knowledge"
"""The pack whose warnings quote no text."""


class Seen(Struct, frozen=True, kw_only=True):
    """One call of a tool."""

    tool: str
    """Its name, or what was taken for one."""
    pack: str
    face: str
    request: str
    scope: str
    arguments: str
    """Their names and sizes, never what they say."""
    seconds: float
    code: str = ""
    """How it failed; nothing where it didn't."""
    reason: str = ""
    """What was thrown, where nobody foresaw that."""
    bytes_in: int = 0
    bytes_out: int = 0
    warning: str = ""
    """What the caller was warned of, or how long that is where it may quote the project."""
    is_known: bool = True
    """Whether there is such a tool."""
    has_failed: bool = False
    """Whether nothing has come of it, be it that it was answered."""
    changes: bool = False
    """Whether it is one that changes something."""
    holder: str = ""
    """Whose token was shown; empty for who calls on this machine."""
    scopes: tuple[str, ...] = ()
    """Those of the caller."""
    given: Mapping[str, object] = {}
    """The arguments that tell nothing secret, of what changes something."""


Observer = Callable[[Seen], None]
Keeper = Callable[[Seen], Awaitable[None]]


def shown_name(name: str) -> str:
    """The beginning of what was taken for the name of a tool, with everything escaped that is more than ASCII."""
    return shortened(name[:_LONGEST].encode("unicode_escape").decode())


def shown_warning(pack: str, warning: str) -> str:
    """A warning in whole where its words are ours."""
    ##= man/spec/gateway.md#telemetry
    ##% The line of the log of a call MUST have the warning that was given with the answer, where the tool is of the pack
    ##% `knowledge`, and how long it is where it is of another.
    if not warning or pack == _WORDED:
        return shortened(one_line(warning), _LONGEST_WARNING)
    return f"str({len(warning)})"


def summary(arguments: Mapping[str, object]) -> str:
    """The names of arguments and how large they are; numbers and truths tell nothing that is secret."""
    ##= man/spec/service.md#operations
    ##% The log MUST NOT hold the texts of arguments, nor of answers.
    shown = [f"{_name(name)}={_size(value)}" for name, value in list(arguments.items())[:_MOST]]
    return " ".join([*shown, *(["..."] if len(arguments) > _MOST else [])])


def plain(arguments: Mapping[str, object], names: Collection[str]) -> Mapping[str, object]:
    """The arguments of these names, as far as they are short and simple."""
    ##= man/spec/gateway.md#maintenance
    ##% That line MUST hold neither the contents of files, texts and notes, nor a token.
    return {name: _brief(value) for name, value in arguments.items() if name in names}


def _brief(value: object) -> object:
    if isinstance(value, str):
        return shortened(value[:_LONGEST], _LONGEST_TOLD)
    return value if isinstance(value, bool | int | float | None) else _size(value)


def _name(name: str) -> str:
    plain = shortened(name)
    return plain if plain.isidentifier() else ascii(plain)


def _size(value: object) -> str:
    match value:
        case bool() | None:
            return str(value).lower()
        case int() | float():
            return shortened(f"{value:g}")
        case str():
            return f"str({len(value)})"
        case list() | tuple() | dict():
            return f"{'object' if isinstance(value, dict) else 'array'}({len(value)})"
    return type(value).__name__
