"""Calls of tools that aren't there."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from duvet.tools.ctx import Caller
from duvet.tools.errors import ToolError
from duvet.tools.seen import Seen, shown_name, summary


def mistaken(name: str, arguments: Mapping[str, object], caller: Caller, error: ToolError) -> Seen:
    """A call of a tool that isn't there."""
    ##= man/spec/service.md#operations
    ##% A call of a tool that is unknown MUST be a line of the log with the beginning of its name, and MUST be counted as
    ##% that of the tool `unknown`.
    return Seen(
        tool=shown_name(name),
        pack="",
        face=caller.face,
        request=caller.request,
        scope="",
        arguments=summary(arguments),
        seconds=0,
        code=error.code.value,
        bytes_in=byte_size(arguments),
        is_known=False,
    )


def byte_size(value: object) -> int:
    """Bytes that it has as JSON; 0 where it is none."""
    try:
        return len(msgspec.json.encode(value))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return 0
