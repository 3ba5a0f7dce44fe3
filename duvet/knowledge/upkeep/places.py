"""What is kept beside a store, and where."""

from __future__ import annotations

import os

from msgspec import Struct

from duvet.knowledge.knowledge import Rules
from duvet.store.opening import make_folder, require_plain
from duvet.store.places import files_of

FEEDBACK, AUDIT, BACKUPS = "feedback.jsonl", "audit.jsonl", "backups"
BACKUP = "km-backup-"
"""What the names of backups begin with."""
ENDINGS = (".tgz", ".tar.gz")
"""How they end."""

_ALWAYS = (f".{BACKUP}*", f"{BACKUPS}/")
"""What git is to ignore besides."""


def is_backup(name: str) -> bool:
    """Whether a file is called as backups are that nobody has given another name."""
    return name.startswith(BACKUP) and name.endswith(ENDINGS)


class Places(Struct, frozen=True):
    """Of one project."""

    root: str
    store: str
    """The file."""
    backups: str
    is_configured: bool = False
    """Whether somebody has said where backups go."""
    configurations: tuple[str, ...] = ()
    """The files that say so."""

    @property
    def for_backups(self) -> tuple[str, ...]:
        """The folders that backups may be written to."""
        return (self.root, self.backups) if self.is_configured else (self.root,)

    @property
    def folder(self) -> str:
        return os.path.dirname(self.store)

    @property
    def feedback(self) -> str:
        return os.path.join(self.folder, FEEDBACK)

    @property
    def audit(self) -> str:
        return os.path.join(self.folder, AUDIT)

    @property
    def own(self) -> tuple[str, ...]:
        """All of that; none of it is a part of the project."""
        return (*files_of(self.store), self.feedback, self.audit, self.backups)

    def make(self, path: str) -> str:
        """The path of a file beside the store, in a folder that is there; a StoreError where a link would be followed."""
        require_plain(self.store)
        make_folder(self.store, os.path.basename(path), *_ALWAYS)
        return path


def places_of(rules: Rules) -> Places:
    """Where these rules have it."""
    backups = rules.store.backups or os.path.join(os.path.dirname(rules.store.path), BACKUPS)
    return Places(
        rules.root,
        rules.path,
        os.path.join(rules.root, backups),
        bool(rules.store.backups),
        tuple(os.path.join(rules.root, path) for path in rules.configurations),
    )


def own_files(path: str, backups: str = "") -> tuple[str, ...]:
    """The files and folders that a store at this path goes with, by their paths."""
    folder = os.path.dirname(path)
    return Places("", path, backups or os.path.join(folder, BACKUPS)).own
