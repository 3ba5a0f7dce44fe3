"""Search feedback and the audit log: append-only files of JSON lines."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any

from msgspec import DecodeError, Struct, field, json

from duvet.errors import OutputError, UnreadableError, describe_os_error
from duvet.knowledge.settings import StorePaths
from duvet.tree.outputs import sync_folder

_CHUNK = 1 << 16
_LONGEST = 1 << 26
"""Bytes of a line that one of ours has never as many of."""
LINE_ERRORS = (DecodeError, UnicodeDecodeError, RecursionError)
"""What is raised for bytes that are none of ours."""
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


APPEND_PATIENCE = 5.0
"""Seconds to wait for whoever else adds to a file."""
_PAUSE = 0.002


def append_line(path: str, record: object, patience: float = APPEND_PATIENCE) -> None:
    """Add a line, which is on the disk when this returns; OutputError where it can't be, and nothing was added."""
    append_lines(path, [json.encode(record)], patience)


def append_lines(path: str, lines: list[bytes], patience: float = APPEND_PATIENCE) -> None:
    """The same of several, all or nothing."""
    try:
        is_new = not os.path.lexists(path)
        handle = os.open(path, _FLAGS, 0o666)
        try:
            with _locked(handle, patience):
                ##= man/spec/gateway.md#indexing-and-feedback
                ##% Feedback that was acknowledged MUST survive killed processes, concurrent writers, a replaced index
                ##% and a restored backup.
                _add(handle, b"".join(line + b"\n" for line in lines))
        finally:
            os.close(handle)
        if is_new:
            sync_folder(os.path.dirname(path))
    except BlockingIOError as error:
        raise OutputError("can't add to this file: somebody else has locked it", path=path) from error
    except OSError as error:
        raise OutputError(f"can't add to this file: {describe_os_error(error)}", path=path) from error


def read_lines(path: str) -> list[bytes]:
    """All lines that are whole, the oldest first; none where there is no such file."""
    return list(iterate_lines(path))


def iterate_lines(path: str) -> Iterator[bytes]:
    """The same, of a file that may be larger than the memory."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnreadableError(describe_os_error(error), path=path) from error
    with open(handle, "rb") as file:
        is_inside = False
        while part := file.readline(_LONGEST):
            is_end = part.endswith(b"\n")
            if is_end and not is_inside and is_complete_line(line := part[:-1]):
                yield line
            is_inside = not is_end


def is_complete_line(line: bytes) -> bool:
    """Whether it is an object, and not what somebody has left of one."""
    try:
        return isinstance(json.decode(line), dict)
    except LINE_ERRORS:
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
    if is_complete_line(rest):
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


VOTE_SOURCE = "mcp.manual"


class Vote(Struct, frozen=True, kw_only=True):
    """What somebody says of one result."""

    request_id: str
    """Of the answer that it was in."""
    chunk_id: str
    vote: float | None = None
    """From -1, of no use, to 1."""
    note: str | None = None
    context: dict[str, Any] | None = field(default=None)
    timestamp: str
    """In ISO 8601."""
    source: str = VOTE_SOURCE


def submit_vote(places: StorePaths, vote: Vote) -> None:
    """Keep it; DuvetError where that can't be done."""
    append_line(places.make(places.feedback), vote)


def read_votes(path: str) -> list[Vote]:
    """All that were kept, the oldest first."""
    found = []
    for line in read_lines(path):
        try:
            found.append(json.decode(line, type=Vote))
        except LINE_ERRORS:
            # Somebody has written here by hand.
            continue
    ##= man/spec/gateway.md#indexing-and-feedback
    ##% `duvet feedback` MUST list feedback by time, and `duvet feedback export` MUST write all of it as JSON Lines, CSV
    ##% or JSON.
    return sorted(found, key=attrgetter("timestamp"))


def compute_vote_means(votes: Sequence[Vote]) -> dict[str, float]:
    """The mean vote for each piece that there is one for."""
    given: dict[str, list[float]] = defaultdict(list)
    for one in votes:
        if one.vote is not None and -1 <= one.vote <= 1:
            given[one.chunk_id].append(one.vote)
    return {chunk: sum(some) / len(some) for chunk, some in given.items()}


class VoteMeans:
    """The mean votes in a file as it is now."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._marks: object = None
        self._known: Mapping[str, float] = {}

    def __call__(self) -> Mapping[str, float]:
        marks = _marks(self._path)
        if marks != self._marks:
            self._known, self._marks = compute_vote_means(read_votes(self._path)), marks
        return self._known


def _marks(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class AuditEntry(Struct, frozen=True, kw_only=True):
    """Something that was done, or tried."""

    timestamp: str
    """In ISO 8601."""
    tool: str
    outcome: str
    """`success`, `failure`, or the code of an error."""
    face: str
    """By which way."""
    who: str
    """Whose token was shown; `local` where none was needed."""
    scopes: tuple[str, ...]
    request: str
    duration_seconds: float
    arguments: str
    """Their names and sizes."""
    parameters: Mapping[str, Any]
    """Those that tell nothing that is secret, as they were given."""


def append_audit_entry(places: StorePaths, deed: AuditEntry) -> None:
    """Write it down; DuvetError where that can't be done."""
    append_line(places.make(places.audit), deed)
