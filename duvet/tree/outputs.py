"""Writes files atomically: completely or not at all."""

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


def make_unfinished_name(name: str) -> str:
    return f"{name}.{os.getpid()}-{_make_place_digest()}{os.urandom(4).hex()}.new"


def _make_place_digest() -> str:
    if os.name != "posix":
        return "0" * 8
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(os.fsencode(os.uname().nodename + space)):08x}"


def is_unfinished(name: str) -> bool:
    return name.endswith(".new") and re.fullmatch(_UNFINISHED, name, re.DOTALL) is not None


def remove_leftovers(folder: str) -> None:
    with suppress(OSError):
        for name in os.listdir(folder):
            if is_abandoned(path := os.path.join(folder, name)):
                with suppress(OSError):
                    os.unlink(path)


def is_abandoned(path: str, seconds: float = 3600) -> bool:
    name = re.fullmatch(_UNFINISHED, os.path.basename(path), re.DOTALL)
    if name is None:
        return False
    # On Windows, os.kill would end the process.
    if os.name == "posix" and name["place"] == _make_place_digest():
        try:
            os.kill(int(name["process"]), 0)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:
            pass  # The process belongs to another user.
    try:
        return time.time() - os.lstat(path).st_mtime > seconds
    except OSError:
        return False


OutputData = bytes | bytearray
FileWriter = Callable[[str, OutputData], None]

# Paths to open files, which are never replaced, regardless of their mode.
OPEN_FILES = ("/dev/std", "/dev/fd/", "/proc/")


def store_file(path: str, data: OutputData) -> None:
    """Write a file completely or not at all; devices, pipes and open files are written directly."""
    with store_together() as write:
        write(path, data)


@contextmanager
def store_together() -> Iterator[FileWriter]:
    """Yield a function that writes files; they are moved into place at the end if all could be written."""
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write all of its reports completely, or none of them.
    moves: list[tuple[str, str]] = []
    streams: list[tuple[str, OutputData]] = []
    folders: set[str] = set()

    def write(path: str, data: OutputData) -> None:
        with _translate_errors(path):
            mode = _find_mode(path)
            if mode is not None and (not stat.S_ISREG(mode) or path.startswith(OPEN_FILES)):
                streams.append((path, data))
            else:
                moves.append((path, temporary := _make_temporary_path(path)))
                folders.add(os.path.dirname(temporary))
                # Exclusive mode, so that no link is followed; the umask determines the permissions of a new file.
                with open(temporary, "xb") as file:
                    file.write(data)
                if mode is not None:
                    os.chmod(temporary, stat.S_IMODE(mode) & 0o777)

    try:
        yield write
        for path, data in streams:
            with open_stream(path) as file:
                file.write(data)
        while moves:
            path, temporary = moves[0]
            with _translate_errors(path):
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
    with _translate_errors(path):
        mode, temporary = _find_mode(path), _make_temporary_path(path)
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
    # Without `replaces`, the temporary file may remain; the caller removes it.
    if replaces:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise OutputExistsError("the file already exists", path=path) from error
    except OSError:
        # Some file systems have no links.
        if os.path.lexists(path):
            raise OutputExistsError("the file already exists", path=path) from None
        os.replace(temporary, path)


def sync_folder(folder: str) -> None:
    with suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _translate_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        hint = "start the reader of this pipe first" if getattr(error, "errno", None) == errno.ENXIO else ""
        raise OutputError(f"can't write this file: {describe_os_error(error)}", path=path, hint=hint) from error


def _find_mode(path: str) -> int | None:
    if not os.path.basename(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _make_temporary_path(path: str) -> str:
    folder, name = os.path.split(os.path.realpath(path))
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, make_unfinished_name(f".{name[:50]}"))


def is_stream(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return path.startswith(OPEN_FILES) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def open_stream(path: str) -> Iterator[BinaryIO]:
    # Without O_NONBLOCK, opening a pipe waits for a reader forever.
    nonblock = getattr(os, "O_NONBLOCK", 0)
    flags = os.O_WRONLY | os.O_TRUNC | nonblock | getattr(os, "O_BINARY", 0)
    with _translate_errors(path), open(os.open(path, flags), "wb") as file:
        if nonblock:
            os.set_blocking(file.fileno(), True)
        yield file


def store_changed(path: str, data: bytes, write: FileWriter = store_file) -> bool:
    with suppress(UnreadableError):
        if DiskTree().read(path) == data:
            return False
    write(path, data)
    return True
