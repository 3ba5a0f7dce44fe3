from contextlib import closing
from pathlib import Path

from tests.unit.knowledge.ingest.ingest_projects import opened

WITHOUT_VECTORS = {"duvet.config.yaml": "ingest: {semantic: false}\n"}
STORE = ".duvet/knowledge/store.db"


def list_indexed_files(folder: Path) -> list[str]:
    with closing(opened(folder)) as store:
        return list(store.artifacts())
