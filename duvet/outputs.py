"""The one place that writes files: whole or not at all, so that a failed run leaves what was there."""

from __future__ import annotations

import os
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
    temporary = os.path.join(folder, f".{os.path.basename(path)[:50]}.{os.getpid()}-{os.urandom(4).hex()}.new")
    try:
        # Exclusive, so that nobody's link is followed; the umask decides who may read a new file.
        with open(temporary, "xb") as file:
            file.write(data)
        with suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(path).st_mode & 0o777)
        os.replace(temporary, os.path.realpath(path))
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _store_special(path: str, data: bytes) -> None:
    """Devices such as /dev/stdout are written to, never replaced; a folder is an error."""
    with open(path, "wb") as file:
        file.write(data)


def store_changed(path: str, data: bytes) -> bool:
    """Write a file unless it holds the very bytes already; tells whether it was written."""
    with suppress(OSError):
        if os.stat(path).st_size == len(data):
            with open(path, "rb") as file:
                if file.read() == data:
                    return False
    store(path, data)
    return True
