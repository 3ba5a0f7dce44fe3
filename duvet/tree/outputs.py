"""Atomic writes: a file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from duvet.errors import OutputError, OutputExistsError, UnreadableError, describe_os_error
from duvet.tree.files import DiskTree

_UNFINISHED = r"\..*\.(?P<process>\d+)-(?P<place>[0-9a-f]{8})[0-9a-f]{8}\.new"
_ABANDONED = 3600
"""Seconds after which nobody is still writing a file."""


def make_unfinished_name(name: str) -> str:
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


def remove_leftovers(folder: str) -> None:
    """Remove what runs left that were killed as they wrote."""
    with suppress(OSError):
        for name in os.listdir(folder):
            ##= man/spec/trace.md#reports
            ##% duvet MUST ignore the temporary files of killed runs and remove them in a later run, but not those of a
            ##% run that is still writing.
            if is_abandoned(path := os.path.join(folder, name)):
                with suppress(OSError):
                    os.unlink(path)


def is_abandoned(path: str, seconds: float = _ABANDONED) -> bool:
    """Whether this is unfinished, and the run is gone that was at work there, or has been for so long."""
    name = _unfinished(os.path.basename(path))
    if name is None:
        return False
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


OutputData = bytes | bytearray
FileWriter = Callable[[str, OutputData], None]

# What stands here leads to open files, whatever it looks like, and is never replaced.
_OPEN_FILES = ("/dev/std", "/dev/fd/", "/proc/")

_HINTS = {errno.ENXIO: "nobody reads from this pipe; start its reader first"}


def store_file(path: str, data: OutputData) -> None:
    """Write a file under a temporary name beside it, then move it into place."""
    with store_together() as write:
        write(path, data)


def leads_to_open_file(path: str) -> bool:
    """Whether the path names something that is open, such as `/dev/stdout`; a file has to be written to, then."""
    return path.startswith(_OPEN_FILES)


@contextmanager
def store_together() -> Iterator[FileWriter]:
    """Write several files; they are moved into place at the end, and only if all of them could be written."""
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write all of its reports completely, or none of them.
    moves: list[tuple[str, str]] = []
    streams: list[tuple[str, OutputData]] = []
    folders: set[str] = set()

    def write(path: str, data: OutputData) -> None:
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
            remove_leftovers(folder)
    finally:
        for _, temporary in moves:
            with suppress(OSError):
                os.unlink(temporary)


@contextmanager
def open_output(path: str, *, replaces: bool = True) -> Iterator[BinaryIO]:
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
            move_into_place(temporary, os.path.realpath(path), replaces=replaces)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        sync_folder(os.path.dirname(temporary))
        remove_leftovers(os.path.dirname(temporary))


def move_into_place(temporary: str, path: str, *, replaces: bool) -> None:
    """Give a file that is written its name; TakenError where another one has it that isn't to be replaced."""
    if replaces:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise OutputExistsError("there is such a file already", path=path) from error
    except OSError:
        # Some file systems have no links.
        if os.path.lexists(path):
            raise OutputExistsError("there is such a file already", path=path) from None
        os.replace(temporary, path)


def sync_folder(folder: str) -> None:
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
        raise OutputError(f"can't write this file: {describe_os_error(error)}", path=path, hint=hint) from error


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
    return os.path.join(folder, make_unfinished_name(f".{name[:50]}"))


def _fill(temporary: str, data: OutputData, mode: int | None) -> None:
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
def open_stream(path: str) -> Iterator[BinaryIO]:
    """One to write to; OutputError where that can't be done."""
    with _named(path), _stream(path) as file:
        yield file


def _pour(path: str, data: OutputData) -> None:
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


def store_changed(path: str, data: bytes, write: FileWriter = store_file) -> bool:
    """Write a file unless it holds the very bytes already; tells whether it was written."""
    with suppress(UnreadableError):
        if DiskTree().read(path) == data:
            return False
    write(path, data)
    return True
