"""What reading a configuration of the service imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from duvet.config.service import load_service
from duvet.tree.files import MemoryTree

path, data = sys.argv[1:]
load_service(MemoryTree({path: data.encode()}), {})
heavy = {"asyncio", "httpx2", "jinja2", "mcp", "pydantic", "rapidfuzz", "rich", "yaml"}
print(*sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    ("name", "data", "expected"), [("x.json", "{}", ""), ("x.toml", "", ""), ("x.yaml", "server: {}", "yaml")]
)
def test_no_more_than_the_format_needs(name: str, data: str, expected: str) -> None:
    path = name.replace("x", "duvet.config")
    command = [sys.executable, "-c", PROGRAM, path, data]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
