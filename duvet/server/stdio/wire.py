"""The descriptors that lead to the client, kept from everybody else."""

from __future__ import annotations

import os
import sys

from msgspec import Struct

_INPUT, _OUTPUT, _COMPLAINTS = range(3)


class Wire(Struct, frozen=True):
    """Where the client is read from and written to."""

    reading: int
    writing: int


def take() -> Wire:
    """Take the client away from standard input and output: what reads finds nothing, what prints is heard as an error.

    Children inherit that.
    """
    for descriptor in (_INPUT, _OUTPUT, _COMPLAINTS):
        _open_if_closed(descriptor)
    wire = Wire(_private(_INPUT), _private(_OUTPUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    ##= man/spec/mcp.md#transport
    ##% Nothing but messages of the protocol MUST reach the client, whatever the server or a child of it prints.
    os.dup2(_COMPLAINTS, _OUTPUT)
    return wire


def _open_if_closed(descriptor: int) -> None:
    """A copy of another descriptor would take the place of one that is missing."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _private(descriptor: int) -> int:
    copy = os.dup(descriptor)
    os.set_inheritable(copy, False)
    if sys.platform == "win32":
        import msvcrt

        # Otherwise each line would end in a carriage return, too.
        msvcrt.setmode(copy, os.O_BINARY)
    return copy
