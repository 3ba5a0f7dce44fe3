from pathlib import Path

import pytest

from duvet.knowledge.feedback import append_record
from duvet.store.location import StorePaths
from tests.unit.knowledge.stored_project import fill, places, vote


@pytest.fixture
def paths(tmp_path: Path) -> StorePaths:
    found = places(fill(tmp_path / "tea"))
    append_record(found, vote("src/kettle/boil.py::0", 1.0, note="good"))
    return found
