import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from duvet.config.service_tables import IngestRule
from duvet.knowledge.ingest.run import IngestOutcome, ingest_project
from duvet.project.project import Project
from duvet.store.location import IngestOptions, open_store
from duvet.store.records import ChunkFilters, IngestRun
from duvet.store.sqlite import Store
from duvet.trace.catalogue import Catalogue

Value = TypeVar("Value")
LONG_AGO = 1_700_000_000
PLAIN = IngestRule(semantic=False)
LEDGER = {
    ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\nsource = [{ language = 'python' }]\n"
    "specification = [{ source = 'docs/spec.md' }]\n",
    "docs/spec.md": "# Ledger\n\n## Booking\n\nAn entry MUST balance.\n\nAn entry MAY have a note.\n",
    "docs/ledger/design.md": "---\ntags: [money]\n---\n# Design\n\nSee [the code](../../src/app/ledger/book.py), "
    "[[spec#booking]] and [[req:REQUIREMENT]].\n",
    "src/app/ledger/book.py": "class Book:\n    ##= docs/spec.md#booking\n    ##% An entry MUST balance.\n"
    "    def post(self) -> None: ...\n",
    "src/app/mail/send.py": "def send() -> None: ...\n",
    "tests/ledger/test_book.py": "##= docs/spec.md#booking\n##= type=test\n##% An entry MUST balance.\n"
    "def test_post() -> None: ...\n",
    "tool.sh": "echo\n",
}
"""A project with two subsystems, one of which has no tests, and a file without a subsystem."""


def written(folder: Path, files: Mapping[str, str | bytes], when: float = LONG_AGO) -> Path:
    """Write the files with a time old enough to count as unchanged."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        os.utime(path, (when, when))
    return folder


def project(folder: Path) -> Project:
    return Project(str(folder), environ={"PATH": os.environ["PATH"]})


def opened(folder: Path) -> Store:
    return open_store(str(folder / ".duvet/knowledge/store.db"), create=True)


def ingest_files(
    folder: Path,
    wanted: IngestRule = PLAIN,
    wishes: IngestOptions = IngestOptions(),  # noqa: B008 - frozen
    catalogue: Callable[[], Catalogue] | None = None,
) -> IngestOutcome:
    with closing(opened(folder)) as store:
        return ingest_project(project(folder), store, wanted, wishes, catalogue=catalogue)


def asked(folder: Path, question: Callable[[Store], Value]) -> Value:
    with closing(opened(folder)) as store:
        return question(store)


def last(folder: Path) -> IngestRun:
    return asked(folder, lambda store: store.runs(limit=1)[0])


def find_chunk_ids(folder: Path, word: str) -> list[str]:
    with closing(opened(folder)) as store:
        numbers = [number for number, _ in store.find_by_words([word], ChunkFilters(), 50, every=True)]
        return sorted(one.id for one in store.chunks(numbers))
