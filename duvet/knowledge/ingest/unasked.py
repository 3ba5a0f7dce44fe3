"""What nobody means who says that everything is taken in: secrets, and what others have written."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable

_SECRETS = re.compile(
    r"\.env(?!\.example\Z).*|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc)", re.DOTALL
)
_FOLDERS = ("node_modules", "__pycache__")
_ENVIRONMENT = "pyvenv.cfg"
"""What stands in a virtual environment of Python."""


class Unasked:
    """Tells such files and folders from what is wanted: they are that where their very path is named."""

    def __init__(self, include: Iterable[str]) -> None:
        self._named = frozenset(map(posixpath.normpath, include))
        self._above = {above for path in self._named for above in _above(path)}

    def hides_all_in(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder of such a content is hidden as a whole."""
        # Where somebody has made an environment of the project itself, the project is still meant.
        return bool(folder) and folder not in self._named and _ENVIRONMENT in names

    def hides(self, path: str, name: str, inner: bool, is_inside: bool) -> bool:
        """Whether a path is hidden, by its own name or because it is inside of what is."""
        ##= man/spec/knowledge.md#files
        ##% What may hold secrets, and what others have written, MUST NOT be taken in unless `ingest.include` names its very
        ##% path.
        if path in self._named:
            return False
        low = name.casefold()
        return is_inside or bool(_SECRETS.fullmatch(low)) or (inner and low in _FOLDERS)

    def leads_on(self, folder: str) -> bool:
        """Whether something that is named stands further inside."""
        return folder in self._above


def is_unasked(root: str, path: str) -> bool:
    """Whether a file is such a one, whatever the configuration names."""
    unasked, at = Unasked(()), ""
    *folders, last = path.split("/")
    for name in folders:
        at = posixpath.join(at, name)
        if unasked.hides(at, name, True, False) or os.path.lexists(os.path.join(root, at, _ENVIRONMENT)):
            return True
    return unasked.hides(path, last, False, False)


def _above(path: str) -> Iterable[str]:
    """The folders that a path is in."""
    while path := path.rpartition("/")[0]:
        yield path
