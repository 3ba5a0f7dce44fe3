"""The files that are never indexed by default: secrets, vendored folders and virtual environments."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator

_SECRETS = re.compile(
    r"\.env(?!\.example\Z).*|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc|git-credentials|ssh)",
    re.DOTALL,
)
_SECRET_FILES = re.compile(r"credentials(?:\.json|\.csv)?|\.?secrets\.(?:ya?ml|json|toml|env)")
_VENDORED_FOLDERS = ("node_modules", "__pycache__")
VIRTUAL_ENVIRONMENT = "pyvenv.cfg"


class DefaultExcludes:
    """Excludes secret files and vendored folders unless their exact path is included."""

    def __init__(self, include: Iterable[str]) -> None:
        self._included = frozenset(map(posixpath.normpath, include))
        self.folders_with_included = {folder for path in self._included for folder in _parents(path)}

    def excludes_folder(self, folder: str, names: Iterable[str]) -> bool:
        """Return whether these entries show that the folder is a virtual environment."""
        # The project folder itself may be a virtual environment.
        return bool(folder) and folder not in self._included and VIRTUAL_ENVIRONMENT in names

    def excludes(self, path: str, name: str, *, is_folder: bool, is_inside: bool) -> bool:
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST skip secret files and vendored folders unless `ingest.include` names their exact path.
        if path in self._included:
            return False
        low = name.casefold()
        is_named = low in _VENDORED_FOLDERS if is_folder else bool(_SECRET_FILES.fullmatch(low))
        return is_inside or is_named or bool(_SECRETS.fullmatch(low))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def is_excluded_by_default(root: str, path: str) -> bool:
    excludes = DefaultExcludes(())
    for folder in _parents(path):
        environment = os.path.join(root, folder, VIRTUAL_ENVIRONMENT)
        if excludes.excludes(folder, posixpath.basename(folder), is_folder=True, is_inside=False):
            return True
        if os.path.lexists(environment):
            return True
    return excludes.excludes(path, posixpath.basename(path), is_folder=False, is_inside=False)
