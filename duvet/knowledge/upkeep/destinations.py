"""Where files go that are handed in: below one folder, under names that every system can have."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from duvet.errors import QueryError
from duvet.knowledge.upkeep.places import Places
from duvet.text import quoted, shortened
from duvet.tree.inside import leads_inside
from duvet.tree.names import fault, fault_of_name

_CONFIGURATION = re.compile(r"(duvet|contextive)\.config\.[a-z]+", re.IGNORECASE)
_TRIES = 1000
_HINT = "name a path such as docs/notes/tea.md, which stays below the content root"


def destination(root: str, folder: str, given: str | None, name: str) -> str:
    """The path of a file below the root; QueryError where it would lead elsewhere.

    What is given with an ending is the file itself, and a folder otherwise; without it, the folder is the usual one.
    """
    wanted = (given or "").strip() or f"{folder}/"
    ##= man/spec/gateway.md#maintenance
    ##% A destination with a suffix MUST be the file itself and any other one a folder, and without one a file MUST go
    ##% into `uploads.docsSubdir`, `docs` by default.
    is_file = not wanted.endswith("/") and posixpath.splitext(wanted)[1] != ""
    return checked(root, wanted if is_file else f"{wanted.rstrip('/')}/{name}")


def numbered(name: str) -> Iterator[str]:
    """Names to try one after another: this one, and then with numbers."""
    stem, ending = posixpath.splitext(name)
    yield name
    yield from (f"{stem}-{number}{ending}" for number in range(2, _TRIES))


def checked(root: str, path: str) -> str:
    """The path of a file below the root, in its shortest form; QueryError where nothing may be written there."""
    path = posixpath.normpath(_named(path))
    _check_links(root, path)
    return path


def _named(path: str) -> str:
    ##= man/spec/gateway.md#maintenance
    ##% A destination MUST be refused that is absolute, that has `..`, a hidden name, or a name that not every system can
    ##% have in it, that leads through a link out of the content root or is one, or that is a configuration of duvet,
    ##% whatever it is called.
    if reason := fault(path):
        raise _refused(path, reason)
    if _CONFIGURATION.fullmatch(posixpath.basename(path)):
        raise _refused(path, "it is a configuration")
    return path


def _check_links(root: str, path: str) -> None:
    whole = os.path.join(root, path)
    if not leads_inside(root, os.path.dirname(whole)) or os.path.islink(whole):
        raise _refused(path, "it leads through a link")
    real = os.path.relpath(os.path.realpath(os.path.dirname(whole)), os.path.realpath(root))
    for part in real.split(os.sep):
        if part != "." and (reason := fault_of_name(part)):
            raise _refused(path, f"it leads through a link, and {reason}")
    if os.path.isdir(whole):
        raise _refused(path, "it is a folder")
    folder = os.path.dirname(path)
    while folder:
        if os.path.lexists(os.path.join(root, folder)) and not os.path.isdir(os.path.join(root, folder)):
            raise _refused(path, f"{quoted(folder)} is a file")
        folder = os.path.dirname(folder)


def check_not_own(places: Places, whole: str) -> None:
    """That it is none of the files which duvet keeps for itself, nor one that tells it what to do."""
    real = os.path.realpath(whole)
    if any(leads_inside(one, real) for one in places.own):
        raise _refused(os.path.basename(whole), "duvet keeps something of its own there")
    if any(_is_same(one, real) for one in places.configurations):
        raise _refused(os.path.basename(whole), "it is a configuration")


def _is_same(one: str, real: str) -> bool:
    if os.path.realpath(one) == real:
        return True
    try:
        # On some systems a file goes by several names.
        return os.path.samefile(one, real)
    except (OSError, ValueError):
        return False


def _refused(path: str, reason: str) -> QueryError:
    return QueryError(f"nothing can be stored as {quoted(shortened(path))}: {reason}", hint=_HINT)
