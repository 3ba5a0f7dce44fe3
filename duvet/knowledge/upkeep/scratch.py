"""Folders for what is in between."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import rmtree

from duvet.errors import OutputError, describe
from duvet.knowledge.upkeep.places import BACKUP
from duvet.store.opening import IGNORE
from duvet.unfinished import is_abandoned, unfinished

_BEGINNING = f".{BACKUP}"
_ABANDONED = 86_400
"""Seconds after which nobody is still at work in one, wherever that was."""


@contextmanager
def scratch(place: str, *others: str) -> Iterator[str]:
    """A new folder for a while, in the first of these that can be written to; OutputError where none can."""
    from tempfile import gettempdir

    ##= man/spec/gateway.md#maintenance
    ##% What a backup or a restore has left that was killed MUST NOT be taken in, MUST be ignored by git, and MUST be removed
    ##% by the next one, wherever that works.
    for one in dict.fromkeys((place, *others, gettempdir())):
        _sweep(one)
    folder = _made(place, others)
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def _made(place: str, others: Sequence[str]) -> str:
    try:
        with writing(place):
            folder = os.path.join(place, unfinished(_BEGINNING))
            os.mkdir(folder, 0o700)
            with open(os.path.join(folder, IGNORE), "xb") as file:
                file.write(b"*\n")
            return folder
    except OutputError:
        for other in others:
            with suppress(OutputError):
                return _made(other, ())
        raise


@contextmanager
def writing(place: str) -> Iterator[None]:
    """Whatever can't be written is said of this folder, and not of one that is there for a while."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"can't write here: {describe(error)}", path=place, hint="see who may write there, and make room"
        ) from error


def _sweep(folder: str) -> None:
    """Remove what those left that were killed."""
    names: Sequence[str] = ()
    with suppress(OSError):
        names = os.listdir(folder or ".")
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith(_BEGINNING) and os.path.isdir(path) and not os.path.islink(path):
            with suppress(OSError):
                if is_abandoned(path, _ABANDONED):
                    rmtree(path)
