"""What results depend on besides their inputs: the code that made them, and what it may see."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache

import msgspec

from duvet.tree.seen import digest
from duvet.version import VERSION

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = ("site-packages", "dist-packages")


@cache
def build() -> bytes:
    """A name for this very duvet, its Python and the packages that are installed beside it, in this user's hands."""
    ##= man/spec/cache.md#keeping
    ##% What another build of duvet has kept MUST NOT be used.
    try:
        # What is installed changes as a whole, and so does the folder that it is in.
        own = () if os.path.dirname(_PACKAGE).endswith(_INSTALLED) else _files(_PACKAGE)
        parts = [VERSION, sys.version, sys.byteorder, _PACKAGE, *own, *_libraries(), *_reader()]
    except OSError:
        # What can't be told is like nothing else.
        return os.urandom(32)
    return digest("\n".join(parts).encode(errors="surrogateescape"))


def _files(folder: str) -> Iterator[str]:
    """Every module and template with its time: while duvet itself is worked on, its version stays the same."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if not entry.is_dir():
            info = entry.stat()
            yield f"{entry.path} {info.st_size} {info.st_mtime_ns}"
        elif entry.name != "__pycache__":
            yield from _files(entry.path)


def _libraries() -> Iterator[str]:
    """The folders that packages are installed into: they change with every package."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    for folder in dict.fromkeys([beside, *sys.path]):
        if (folder == beside or folder.endswith(_INSTALLED)) and os.path.isdir(folder):
            yield f"{folder} {os.stat(folder).st_mtime_ns}"


def _reader() -> Iterator[str]:
    """Who reads, and how the names of files are understood."""
    ##= man/spec/cache.md#keeping
    ##% What another user has kept MUST NOT be used, who may read other files.
    yield sys.getfilesystemencoding()
    if sys.platform != "win32":
        yield f"{os.geteuid()} {os.getegid()} {sorted(os.getgroups())}"
