"""Files of lines that are only added to, each a JSON object: what was added stays, whoever writes or is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from msgspec import DecodeError, json

from duvet.errors import OutputError, UnreadableError, describe
from duvet.outputs import settle

_CHUNK = 1 << 16
_LONGEST = 1 << 26
"""Bytes of a line that one of ours has never as many of."""
NO_LINE = (DecodeError, UnicodeDecodeError, RecursionError)
"""What is raised for bytes that are none of ours."""
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


PATIENCE = 5.0
"""Seconds to wait for whoever else adds to a file."""
_PAUSE = 0.002


def append(path: str, record: object, patience: float = PATIENCE) -> None:
    """Add a line, which is on the disk when this returns; OutputError where it can't be, and nothing was added."""
    append_all(path, [json.encode(record)], patience)


def append_all(path: str, lines: list[bytes], patience: float = PATIENCE) -> None:
    """The same of several, all or nothing."""
    try:
        is_new = not os.path.lexists(path)
        handle = os.open(path, _FLAGS, 0o666)
        try:
            with _locked(handle, patience):
                ##= man/spec/gateway.md#maintenance
                ##% What was acknowledged MUST be on the disk, in whole lines, however many write at once and whoever is
                ##% killed.
                _add(handle, b"".join(line + b"\n" for line in lines))
        finally:
            os.close(handle)
        if is_new:
            settle(os.path.dirname(path))
    except BlockingIOError as error:
        raise OutputError("can't add to this file: somebody else has locked it", path=path) from error
    except OSError as error:
        raise OutputError(f"can't add to this file: {describe(error)}", path=path) from error


def lines_of(path: str) -> list[bytes]:
    """All lines that are whole, the oldest first; none where there is no such file."""
    return list(each_line(path))


def each_line(path: str) -> Iterator[bytes]:
    """The same, of a file that may be larger than the memory."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnreadableError(describe(error), path=path) from error
    with open(handle, "rb") as file:
        is_inside = False
        while part := file.readline(_LONGEST):
            is_end = part.endswith(b"\n")
            if is_end and not is_inside and is_whole(line := part[:-1]):
                yield line
            is_inside = not is_end


def is_whole(line: bytes) -> bool:
    """Whether it is an object, and not what somebody has left of one."""
    try:
        return isinstance(json.decode(line), dict)
    except NO_LINE:
        return False


def _add(handle: int, data: bytes) -> None:
    _mend(handle)
    size = os.fstat(handle).st_size
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except OSError:
        # Nobody was told of it.
        with suppress(OSError):
            os.ftruncate(handle, size)
        raise


def _mend(handle: int) -> None:
    """Take away the beginning of a line that somebody was killed at."""
    size = end = os.fstat(handle).st_size
    tail = b""
    while end and b"\n" not in tail:
        start = max(end - _CHUNK, 0)
        os.lseek(handle, start, os.SEEK_SET)
        tail, end = os.read(handle, end - start) + tail, start
    rest = tail[tail.rfind(b"\n") + 1 :]
    if not rest:
        return
    if is_whole(rest):
        os.write(handle, b"\n")
    else:
        os.ftruncate(handle, size - len(rest))


@contextmanager
def _locked(handle: int, patience: float) -> Iterator[None]:
    """Nobody else adds to the file meanwhile, where the system has locks of that kind."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        yield
        return
    until = time.monotonic() + patience
    while True:
        try:
            # Let go of when the file is closed, or when whoever has it is killed. Who waited in `flock` could not be
            # stopped, and would keep a server from ending.
            flock(handle, LOCK_EX | LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(_PAUSE)
    yield
