"""Distributions with tool packs, installed where a duvet process finds them."""

import subprocess
import sys
from pathlib import Path

from tests.cli.command import Done, run

TUTORIAL = Path(__file__).parent / "tutorial"
GOOD = """
from msgspec import Struct
from duvet.tools.tool import Pack, Tool
class Nothing(Struct): pass
class Said(Struct): said: str
def tool(name): return Tool(name=name, title=name, description=name, input=Nothing, output=Said, handler=lambda a, c: Said(name))
PACK = Pack("{pack}", [tool("{tool}")])
"""


def install_tutorial(site: Path, scratch: Path) -> None:
    """Install the example pack as pip does."""
    # The build leaves files beside what it builds.
    source = scratch / "tutorial"
    for path in TUTORIAL.rglob("*"):
        if path.suffix in (".py", ".toml"):
            copy = source / path.relative_to(TUTORIAL)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    done = subprocess.run([*command, str(site), str(source)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def install_made(site: Path, name: str, code: str, target: str = "") -> None:
    site.mkdir(parents=True, exist_ok=True)
    (site / f"{name}_pack.py").write_text(code)
    info = site / f"{name}_pack-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-pack\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[duvet.tool_packs]\n{name} = {target or f'{name}_pack'}\n")


def duvet(command: str, project: Path, site: Path, *args: str) -> Done:
    return run(command, project, *args, environ={"PYTHONPATH": str(site)})
