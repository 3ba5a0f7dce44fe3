import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.conftest import ROOT

DATA = {".py", ".typed", ".j2", ".css", ".js", ".md", ".yaml"}


def test_a_wheel_holds_the_tree_and_nothing_else(tmp_path: Path) -> None:
    tree, built = tmp_path / "tree", tmp_path / "built"
    for name in ("duvet", "commands", "reports", "templates", "man"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        wheel = archive.namelist()
    linked = [path for name in ("commands", "reports", "templates") for path in (ROOT / name).rglob("*")]
    guide = {f"duvet/templates/guide/{path.name}" for path in (ROOT / "man/guide").iterdir()}
    own = [path for path in (ROOT / "duvet").rglob("*") if not any(parent.is_symlink() for parent in path.parents)]
    names = {f"duvet/{path.relative_to(ROOT)}" for path in linked} | {str(path.relative_to(ROOT)) for path in own}
    wanted = {name for name in names if Path(name).suffix in DATA}
    assert {name for name in wheel if name.startswith("duvet/")} == wanted | guide
    pages = {f"man{page.suffix[1:]}/{page.name}" for page in (ROOT / "man").glob("*.[1-9]")}
    assert {re.sub(r".*/data/share/man/", "", name) for name in wheel if "/share/man/" in name} == pages
    tops = {re.sub(r"-\d+(\.\d+)*", "", name.split("/")[0]) for name in wheel}
    assert tops == {"duvet", "duvet_cli.dist-info", "duvet_cli.data"}
