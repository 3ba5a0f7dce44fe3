from pathlib import Path

import pytest

from duvet.server.memory import connect

pytestmark = pytest.mark.anyio
PACK = '''
from duvet import tool

@tool
def rest() -> str:
    """Rest."""
    return "rested"
'''


async def test_an_error_is_raised_with_its_cause_and_context(tmp_path: Path) -> None:
    (tmp_path / "rests.py").write_text(PACK)
    with pytest.raises(AssertionError, match="failed") as caught:
        async with connect(tmp_path / "rests.py", project=tmp_path):
            try:
                raise KeyError("context")
            except KeyError:
                raise AssertionError("failed") from ValueError("cause")
    assert repr(caught.value.__cause__) == "ValueError('cause')"
    assert repr(caught.value.__context__) == "KeyError('context')"
