"""The one place that writes files: whole or not at all, so that a failed run leaves what was there."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from duvet.errors import OutputError, TakenError, UnreadableError, describe
from duvet.tree.disk import DiskTree
from duvet.unfinished import sweep, unfinished

Data = bytes | bytearray
Write = Callable[[str, Data], None]

# What stands here leads to open files, whatever it looks like, and is never replaced.
_OPEN_FILES = ("/dev/std", "/dev/fd/", "/proc/")

_HINTS = {errno.ENXIO: "nobody reads from this pipe; start its reader first"}


def store(path: str, data: Data) -> None:
    """Write a file under a temporary name beside it, then move it into place."""
    with together() as write:
        write(path, data)


def leads_to_open_file(path: str) -> bool:
    """Whether the path names something that is open, such as `/dev/stdout`; a file has to be written to, then."""
    return path.startswith(_OPEN_FILES)


@contextmanager
def together() -> Iterator[Write]:
    """Write several files; they are moved into place at the end, and only if all of them could be written."""
    ##= man/spec/trace.md#reports
    ##% The reports of one run MUST be written all of them and whole, or none of them at all.
    moves: list[tuple[str, str]] = []
    streams: list[tuple[str, Data]] = []
    folders: set[str] = set()

    def write(path: str, data: Data) -> None:
        with _named(path):
            mode = _mode(path)
            if mode is not None and (not stat.S_ISREG(mode) or leads_to_open_file(path)):
                streams.append((path, data))
            else:
                moves.append((path, temporary := _temporary(path)))
                folders.add(os.path.dirname(temporary))
                _fill(temporary, data, mode)

    try:
        yield write
        for path, data in streams:
            with _named(path):
                _pour(path, data)
        while moves:
            path, temporary = moves[0]
            with _named(path):
                os.replace(temporary, os.path.realpath(path))
            del moves[0]
        for folder in folders:
            sweep(folder)
    finally:
        for _, temporary in moves:
            with suppress(OSError):
                os.unlink(temporary)


@contextmanager
def streamed(path: str, *, replaces: bool = True) -> Iterator[BinaryIO]:
    """A new file to write to, which is on the disk and in its place at the end; TakenError where another one is there."""
    with _named(path):
        mode, temporary = _mode(path), _temporary(path)
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if mode is not None and replaces:
                os.chmod(temporary, stat.S_IMODE(mode) & 0o777)
            put(temporary, os.path.realpath(path), replaces=replaces)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        settle(os.path.dirname(temporary))
        sweep(os.path.dirname(temporary))


def put(temporary: str, path: str, *, replaces: bool) -> None:
    """Give a file that is written its name; TakenError where another one has it that isn't to be replaced."""
    if replaces:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise TakenError("there is such a file already", path=path) from error
    except OSError:
        # Some file systems have no links.
        if os.path.lexists(path):
            raise TakenError("there is such a file already", path=path) from None
        os.replace(temporary, path)


def settle(folder: str) -> None:
    """Have the names in a folder on the disk, where that can be asked for."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Whatever goes wrong is said of this file."""
    try:
        yield
    except (OSError, ValueError) as error:
        hint = _HINTS.get(getattr(error, "errno", None) or 0, "")
        raise OutputError(f"can't write this file: {describe(error)}", path=path, hint=hint) from error


def _mode(path: str) -> int | None:
    """What kind of file is there, and who may use it; None where there is none yet."""
    if not os.path.basename(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _temporary(path: str) -> str:
    """A new name beside the file itself, which may be behind a link."""
    folder, name = os.path.split(os.path.realpath(path))
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, unfinished(f".{name[:50]}"))


def _fill(temporary: str, data: Data, mode: int | None) -> None:
    # Exclusive, so that nobody's link is followed; the umask decides who may read a new file.
    with open(temporary, "xb") as file:
        file.write(data)
    if mode is not None:
        os.chmod(temporary, stat.S_IMODE(mode) & 0o777)


def is_stream(path: str) -> bool:
    """Whether a device, a pipe or an open file is there, which is written to and never replaced."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return leads_to_open_file(path) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def poured(path: str) -> Iterator[BinaryIO]:
    """One to write to; OutputError where that can't be done."""
    with _named(path), _stream(path) as file:
        yield file


def _pour(path: str, data: Data) -> None:
    """Devices and pipes are written to, never replaced; a folder is an error."""
    with _stream(path) as file:
        file.write(data)


def _stream(path: str) -> BinaryIO:
    # Without O_NONBLOCK, opening a pipe waits for a reader for ever.
    wait_for_nobody = getattr(os, "O_NONBLOCK", 0)
    flags = os.O_WRONLY | os.O_TRUNC | wait_for_nobody | getattr(os, "O_BINARY", 0)
    file = open(os.open(path, flags), "wb")  # noqa: SIM115 - closed by who writes
    if wait_for_nobody:
        os.set_blocking(file.fileno(), True)
    return file


def store_changed(path: str, data: bytes, write: Write = store) -> bool:
    """Write a file unless it holds the very bytes already; tells whether it was written."""
    ##= man/spec/trace.md#requirements
    ##% A requirement file MUST NOT be written when its bytes are what they should be.
    with suppress(UnreadableError):
        if DiskTree().read(path) == data:
            return False
    write(path, data)
    return True
