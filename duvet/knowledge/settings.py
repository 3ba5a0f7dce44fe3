"""Settings of a project's index, and the paths of the files that belong to it."""

from __future__ import annotations

import os

from msgspec import Struct

from duvet.config.settings import IngestRule, SearchRule, StoreRule
from duvet.store.errors import list_store_files
from duvet.store.location import check_plain_file, make_store_folder


class KnowledgeSettings(Struct, frozen=True):
    """Where it is kept, and what is said of taking in."""

    root: str
    ingest: IngestRule
    store: StoreRule
    search: SearchRule = SearchRule()
    configurations: tuple[str, ...] = ()
    """The files that say all of that."""

    @property
    def path(self) -> str:
        """The file of the store."""
        return os.path.join(self.root, self.store.path)


FEEDBACK_FILE, AUDIT_FILE, BACKUPS_FOLDER = "feedback.jsonl", "audit.jsonl", "backups"
BACKUP_PREFIX = "km-backup-"
"""What the names of backups begin with."""
BACKUP_ENDINGS = (".tgz", ".tar.gz")
"""How they end."""

_ALWAYS = (f".{BACKUP_PREFIX}*", f"{BACKUPS_FOLDER}/")
"""What git is to ignore besides."""


def is_backup(name: str) -> bool:
    """Whether a file is called as backups are that nobody has given another name."""
    return name.startswith(BACKUP_PREFIX) and name.endswith(BACKUP_ENDINGS)


class StorePaths(Struct, frozen=True):
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
        return os.path.join(self.folder, FEEDBACK_FILE)

    @property
    def audit(self) -> str:
        return os.path.join(self.folder, AUDIT_FILE)

    @property
    def own(self) -> tuple[str, ...]:
        """All of that; none of it is a part of the project."""
        return (*list_store_files(self.store), self.feedback, self.audit, self.backups)

    def make(self, path: str) -> str:
        """The path of a file beside the store, in a folder that is there; a StoreError where a link would be followed."""
        check_plain_file(self.store)
        make_store_folder(self.store, os.path.basename(path), *_ALWAYS)
        return path


def find_store_paths(rules: KnowledgeSettings) -> StorePaths:
    """Where these rules have it."""
    backups = rules.store.backups or os.path.join(os.path.dirname(rules.store.path), BACKUPS_FOLDER)
    return StorePaths(
        rules.root,
        rules.path,
        os.path.join(rules.root, backups),
        bool(rules.store.backups),
        tuple(os.path.join(rules.root, path) for path in rules.configurations),
    )


def list_own_files(path: str, backups: str = "") -> tuple[str, ...]:
    """The files and folders that a store at this path goes with, by their paths."""
    folder = os.path.dirname(path)
    return StorePaths("", path, backups or os.path.join(folder, BACKUPS_FOLDER)).own


_OWN = ".duvet"
_TELLING = (f"{_OWN}/config.toml", StoreRule().path)
"""What is only where somebody has made a project."""


def find_project_above(folder: str) -> str | None:
    """The nearest folder above that is a project, as seen from this one, which is none; else None."""
    start = os.path.abspath(folder)
    if os.path.lexists(os.path.join(start, _OWN)):
        return None
    at = start
    while (above := os.path.dirname(at)) != at:
        at = above
        if any(os.path.isfile(os.path.join(at, name)) for name in _TELLING):
            return os.path.relpath(at, start).replace(os.sep, "/")
    return None
