"""Search feedback and the audit log: append-only files of JSON lines."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any

from msgspec import DecodeError, Struct, field, json

from duvet.errors import OutputError, UnreadableError, describe_os_error
from duvet.store.location import StorePaths
from duvet.tree.outputs import sync_folder

APPEND_PATIENCE = 5.0  # Seconds to wait for another process that appends.
_PAUSE = 0.002
_TAIL_BLOCK = 1 << 16
_MAX_LINE = 1 << 26  # Bytes; longer lines are skipped.
LINE_ERRORS = (DecodeError, UnicodeDecodeError, RecursionError)  # Exceptions that lines from other programs can cause.
_SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Vote(Struct, frozen=True, kw_only=True):
    request_id: str  # Id of the response with the result.
    chunk_id: str
    vote: float | None = None  # From -1 (useless) to 1 (useful).
    note: str | None = None
    context: dict[str, Any] | None = field(default=None)
    timestamp: str  # In ISO 8601.
    source: str = "mcp.manual"


class AuditEntry(Struct, frozen=True, kw_only=True):
    timestamp: str  # In ISO 8601.
    tool: str
    outcome: str  # `success`, `failure`, or the code of an error.
    face: str  # The interface that was called.
    who: str  # The name of the token; `local` without one.
    scopes: tuple[str, ...]
    request: str
    duration_seconds: float
    arguments: str  # Their names and sizes.
    parameters: Mapping[str, Any]  # The values of those that can't be secret.


def append_record(places: StorePaths, record: Vote | AuditEntry) -> None:
    path = places.feedback if isinstance(record, Vote) else places.audit
    append_lines(places.prepare(path), [json.encode(record)])


def read_votes(path: str) -> list[Vote]:
    found = []
    for line in read_lines(path):
        with suppress(*LINE_ERRORS):
            found.append(json.decode(line, type=Vote))
    return sorted(found, key=attrgetter("timestamp"))


class VoteMeans(Struct):
    path: str
    stamp: object = None
    means: Mapping[str, float] = {}

    def __call__(self) -> Mapping[str, float]:
        try:
            info = os.stat(self.path)
            stamp: object = (info.st_ino, info.st_size, info.st_mtime_ns)
        except OSError:
            stamp = None
        if stamp != self.stamp:
            values: dict[str, list[float]] = defaultdict(list)
            for vote in read_votes(self.path):
                if vote.vote is not None and -1 <= vote.vote <= 1:
                    values[vote.chunk_id].append(vote.vote)
            self.means = {chunk: sum(some) / len(some) for chunk, some in values.items()}
            self.stamp = stamp
        return self.means


def append_lines(path: str, lines: list[bytes], patience: float = APPEND_PATIENCE) -> None:
    try:
        is_new = not os.path.lexists(path)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _SAFE_FLAGS, 0o666)
        try:
            _lock_file(handle, patience)
            ##= man/spec/gateway.md#feedback
            ##% Stored feedback MUST survive killed processes and concurrent writers.
            _repair_last_line(handle)
            size = os.fstat(handle).st_size
            try:
                rest = memoryview(b"".join(line + b"\n" for line in lines))
                while rest:
                    rest = rest[os.write(handle, rest) :]
                os.fsync(handle)
            except OSError:
                # The caller gets an error, so nothing may stay in the file.
                with suppress(OSError):
                    os.ftruncate(handle, size)
                raise
        finally:
            # This also releases the lock.
            os.close(handle)
        if is_new:
            sync_folder(os.path.dirname(path))
    except BlockingIOError as error:
        raise OutputError("can't append to this file: another process has locked it", path=path) from error
    except OSError as error:
        raise OutputError(f"can't append to this file: {describe_os_error(error)}", path=path) from error


def _repair_last_line(handle: int) -> None:
    size = end = os.fstat(handle).st_size
    tail = b""
    while end and b"\n" not in tail:
        start = max(end - _TAIL_BLOCK, 0)
        os.lseek(handle, start, os.SEEK_SET)
        tail, end = os.read(handle, end - start) + tail, start
    rest = tail[tail.rfind(b"\n") + 1 :]
    if not rest:
        return
    if is_complete_line(rest):
        os.write(handle, b"\n")
    else:
        os.ftruncate(handle, size - len(rest))


def _lock_file(handle: int, patience: float) -> None:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return
    until = time.monotonic() + patience
    while True:
        try:
            # A blocking `flock` can't be interrupted and would keep a server from ending.
            return flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(_PAUSE)


def read_lines(path: str) -> Iterator[bytes]:
    try:
        handle = os.open(path, os.O_RDONLY | _SAFE_FLAGS)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnreadableError(describe_os_error(error), path=path) from error
    with open(handle, "rb") as file:
        is_inside = False
        while part := file.readline(_MAX_LINE):
            is_end = part.endswith(b"\n")
            if is_end and not is_inside and is_complete_line(line := part[:-1]):
                yield line
            is_inside = not is_end


def is_complete_line(line: bytes) -> bool:
    try:
        return isinstance(json.decode(line), dict)
    except LINE_ERRORS:
        return False
