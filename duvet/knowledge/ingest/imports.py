"""What tests import, as far as a look at their lines tells that."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

_DOTTED = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*\(?[ \t]*(\w*)"
    r"|(?:import(?:[ \t]+static)?|using|(?:pub[ \t]+)?use)[ \t]+([A-Za-z_][\w.:]*))",
    re.MULTILINE,
)
_QUOTED = re.compile(r"""\b(?:from|require|import|include)\b[ \t(]*["'<]([\w@./-]+)["'>]""")
_IN_GO = re.compile(r'^(?:import)?[ \t]*(?:[\w.]+[ \t]+)?"([\w.-]+(?:/[\w.-]+)+)"[ \t]*$', re.MULTILINE)
_BETWEEN = re.compile(r"[./:]+")
_ENDING = re.compile(r"\.\w{1,5}\Z")
_NOWHERE = ("", "crate", "super", "self")
_WHOLE = ("__init__", "index", "mod", "lib", "main")
"""Modules that are what their folder is."""
_MOST, _MOST_TEXT, _LONGEST = 64, 1 << 16, 200


def imports_of(path: str, text: str) -> tuple[str, ...]:
    """The modules that a file names, with slashes between their parts, as often as it does so."""
    found: list[str] = []
    for name in _names(path, text[:_MOST_TEXT]):
        if 0 < len(name) <= _LONGEST:
            found.append(name)
        if len(found) == _MOST:
            break
    return tuple(found)


def _names(path: str, text: str) -> Iterator[str]:
    for whole, first, other in _DOTTED.findall(text):
        parts = [part for part in _BETWEEN.split(f"{whole}.{first}" if whole else other) if part not in _NOWHERE]
        yield "/".join(parts)
    for name in (_IN_GO if path.endswith(".go") else _QUOTED).findall(text):
        near = posixpath.join(posixpath.dirname(path), name) if name.startswith(".") else name
        yield _ENDING.sub("", posixpath.normpath(near))


class Modules:
    """What names of modules stand for."""

    def __init__(self, modules: Iterable[tuple[str, Sequence[str]]], subsystems: Mapping[str, str]) -> None:
        """The files with all that each may be called, and the subsystem of each."""
        self._subsystems: dict[str, str] = {}
        for path, names in modules:
            for name in names:
                stem = _ENDING.sub("", name)
                folder, _, last = stem.rpartition("/")
                self._subsystems.setdefault(stem, subsystems[path])
                if folder:
                    # Whatever is in a folder that is called like a module, the module itself goes before it.
                    one_of = self._subsystems.__setitem__ if last in _WHOLE else self._subsystems.setdefault
                    one_of(folder, subsystems[path])

    def subsystem(self, imports: Iterable[str]) -> str:
        """The one that most of these are of, the first of several; empty where none is of any."""
        votes = Counter(found for name in imports if (found := self._of(name.split("/"))))
        return votes.most_common(1)[0][0] if votes else ""

    def _of(self, parts: Sequence[str]) -> str:
        for end in range(len(parts), 0, -1):
            # What stands before the name of a module is the host that it is loaded from, or a name for all of the project.
            for start in range(max(1, end - 1)):
                if found := self._subsystems.get("/".join(parts[start:end])):
                    return found
        return ""
