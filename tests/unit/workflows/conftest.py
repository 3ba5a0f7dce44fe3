from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.workflows.recipe_project import Kitchen


@pytest.fixture
def kitchen(tmp_path: Path) -> Iterator[Kitchen]:
    found = Kitchen(tmp_path)
    yield found
    found.knowledge.close()
