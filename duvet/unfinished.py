"""Names of what is being written, and what is left of it where somebody was killed."""

from __future__ import annotations

import os
import re
import time
import zlib
from contextlib import suppress

_UNFINISHED = r"\..*\.(?P<process>\d+)-(?P<place>[0-9a-f]{8})[0-9a-f]{8}\.new"
_ABANDONED = 3600
"""Seconds after which nobody is still writing a file."""


def unfinished(name: str) -> str:
    """A hidden name, as one that tells who is at work there and that it is not done."""
    return f"{name}.{os.getpid()}-{_place()}{os.urandom(4).hex()}.new"


def _place() -> str:
    """Where the numbers of processes mean what they mean here: on this machine, and in this container."""
    if os.name != "posix":
        return "0" * 8
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(os.fsencode(os.uname().nodename + space)):08x}"


def is_unfinished(name: str) -> bool:
    """Whether a file has a name that is given to one while it is written."""
    return _unfinished(name) is not None


def _unfinished(name: str) -> re.Match[str] | None:
    return re.fullmatch(_UNFINISHED, name, re.DOTALL) if name.endswith(".new") else None


def sweep(folder: str) -> None:
    """Remove what runs left that were killed as they wrote."""
    with suppress(OSError):
        for name in os.listdir(folder):
            ##= man/spec/trace.md#reports
            ##% What a killed run left unfinished MUST be removed when a later run writes to the same folder.
            if is_abandoned(path := os.path.join(folder, name)):
                with suppress(OSError):
                    os.unlink(path)


def is_abandoned(path: str, seconds: float = _ABANDONED) -> bool:
    """Whether this is unfinished, and the run is gone that was at work there, or has been for so long."""
    name = _unfinished(os.path.basename(path))
    if name is None:
        return False
    ##= man/spec/trace.md#reports
    ##% A file that a run is still writing MUST NOT be removed by another one.
    try:
        return (name["place"] == _place() and _is_gone(int(name["process"]))) or _age(path) > seconds
    except OSError:
        return False


def _age(path: str) -> float:
    return time.time() - os.lstat(path).st_mtime


def _is_gone(process: int) -> bool:
    """Whether there is no such process; elsewhere than on POSIX the question would end it."""
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        # It is somebody else's.
        pass
    return False
