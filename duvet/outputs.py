"""The one place that writes files: whole or not at all, so that a failed run leaves what was there."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from duvet.errors import OutputError


def store(path: str, data: bytes) -> None:
    """Write a file under a temporary name beside it, then move it into place."""
    try:
        folder = os.path.dirname(path) or "."
        os.makedirs(folder, exist_ok=True)
        if os.path.exists(path) and not os.path.isfile(path):
            _store_special(path, data)
        else:
            _replace(path, folder, data)
    except OSError as error:
        raise OutputError(f"can't write this file: {error.strerror or error} (os error {error.errno})", path=path) from error


def _replace(path: str, folder: str, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)[:50]}.", suffix=".new", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, os.path.realpath(path))
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _store_special(path: str, data: bytes) -> None:
    """Devices such as /dev/stdout are written to, never replaced; a folder is an error."""
    with open(path, "wb") as file:
        file.write(data)


def _mode(path: str) -> int:
    """The mode of the file that is replaced, or what the umask leaves of a new one."""
    with suppress(OSError):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def store_changed(path: str, data: bytes) -> bool:
    """Write a file unless it holds the very bytes already; tells whether it was written."""
    with suppress(OSError):
        if os.stat(path).st_size == len(data):
            with open(path, "rb") as file:
                if file.read() == data:
                    return False
    store(path, data)
    return True
