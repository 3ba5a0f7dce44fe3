"""Settings of the index and of ingest runs, and the paths of the files next to the index."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from duvet import errors, text
from duvet.config.settings import IngestRule, SearchRule, StoreSection
from duvet.store import database, location

FEEDBACK_FILE, AUDIT_FILE, BACKUPS_FOLDER = "feedback.jsonl", "audit.jsonl", "backups"
BACKUP_PREFIX, BACKUP_ENDINGS = "km-backup-", (".tgz", ".tar.gz")
_PROFILE = re.compile(r"[A-Za-z0-9._-]{1,64}")


class KnowledgeSettings(Struct, frozen=True):
    root: str
    ingest: IngestRule
    store: StoreSection
    search: SearchRule = SearchRule()
    configurations: tuple[str, ...] = ()  # Paths of the configuration files and of the packs that it names.

    @property
    def path(self) -> str:
        return os.path.join(self.root, self.store.path)


class IngestOptions(Struct, frozen=True, kw_only=True):
    profile: str = ""  # The name of the run; if empty, the configured name.
    default_profile: str = "local"  # The name to use if none is configured.
    dry_run: bool = False
    full: bool = False  # Read unchanged files again.
    dummy: bool = False  # Compute dummy vectors without meaning.
    patience: float = 10.0  # Seconds to wait for another run.
    run_id: str = ""  # Random if empty.


def require_profile(name: str) -> str:
    if not _PROFILE.fullmatch(name):
        hint = "use up to 64 letters, digits, `.`, `-` and `_`"
        raise errors.QueryError(f"invalid profile name {text.quote_text(text.shorten_text(name))}", hint=hint)
    return name


class StorePaths(Struct, frozen=True):
    root: str
    store: str
    backups: str
    is_configured: bool = False  # Whether the backup folder is configured.
    configurations: tuple[str, ...] = ()

    @property
    def for_backups(self) -> tuple[str, ...]:
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
        return (*database.list_store_files(self.store), self.feedback, self.audit, self.backups)

    def make(self, path: str) -> str:
        """Create the folder of a file next to the store, make git ignore the file, and return its path."""
        location.check_plain_file(self.store)
        location.make_store_folder(self.store, os.path.basename(path), f".{BACKUP_PREFIX}*", f"{BACKUPS_FOLDER}/")
        return path


def find_store_paths(rules: KnowledgeSettings) -> StorePaths:
    backups = rules.store.backups or os.path.join(os.path.dirname(rules.store.path), BACKUPS_FOLDER)
    return StorePaths(
        rules.root,
        rules.path,
        os.path.join(rules.root, backups),
        bool(rules.store.backups),
        tuple(os.path.join(rules.root, path) for path in rules.configurations),
    )


def list_own_files(path: str, backups: str = "") -> tuple[str, ...]:
    return StorePaths("", path, backups or os.path.join(os.path.dirname(path), BACKUPS_FOLDER)).own


def is_backup(name: str) -> bool:
    return name.startswith(BACKUP_PREFIX) and name.endswith(BACKUP_ENDINGS)
