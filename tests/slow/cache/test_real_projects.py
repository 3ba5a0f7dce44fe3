import os
import random
import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import pytest

from tests.slow.test_conformance import copy_with_links
from tests.unit.tree.twins import SEEDS, Edit, Twins

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and odd names")

Change = Callable[[Path, Path, bytes, random.Random], object]
KINDS = ((".rs", ".c", ".h", ".php", ".py"), (".rs", ".c", ".py"), (".md", ".txt"), (".toml",))


def _files(folder: Path) -> list[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and ".duvet/cache" not in path.as_posix())
    return [path for path in found if path.suffix not in (".json", ".html", ".lcov")]


def _of_file(change: Change) -> Edit:
    @wraps(change)
    def edit(folder: Path, choice: random.Random) -> None:
        files, kind = _files(folder), choice.choice(KINDS)
        path = choice.choice([path for path in files if path.suffix in kind] or files)
        change(folder, path, choice.choice(re.findall(rb"(?m)(?:^.*\S.*\n)+", path.read_bytes()) or [b""]), choice)

    return edit


@_of_file
def spoil(folder: Path, path: Path, part: bytes, choice: random.Random) -> None:
    info, at = path.stat(), choice.randrange(max(1, len(part) - 1))
    path.write_bytes(path.read_bytes().replace(part, part[:at] + part[at : at + 2][::-1] + part[at + 2 :]))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


@_of_file
def exchange(folder: Path, path: Path, part: bytes, choice: random.Random) -> None:
    other = choice.choice(_files(folder))
    path.rename(folder / "between")
    if other.exists():
        other.rename(path)
    (folder / "between").rename(other)


drop = _of_file(lambda folder, path, part, choice: path.write_bytes(path.read_bytes().replace(part, b"\n")))
copy = _of_file(lambda folder, path, part, choice: path.write_bytes(path.read_bytes() + b"\n" + part))
lose = _of_file(lambda folder, path, part, choice: path.unlink())
rename = _of_file(lambda folder, path, part, choice: path.rename(path.with_name(f"other{path.suffix}")))
touch = _of_file(lambda folder, path, part, choice: os.utime(path))
GOLDEN = {
    "dataplane-7b1f4a0": ".",
    "h3-704b37a": ".",
    "aws-lc-vectors-4899c8c": "third_party/vectors",
    "pkd-formal-2df5db9c": ".",
    "s2n-tls-132053b": ".",
}
ALL_REPORTS = ("--json", "out.json", "--json-v2", "out2.json", "--html", "page.html", "--lcov", "cover")


@pytest.mark.parametrize("seed", range(max(1, SEEDS // 3)))
@pytest.mark.parametrize("name", GOLDEN)
def test_cached_answers_stay_right_in_real_projects(name: str, seed: int, shared: Path, tmp_path: Path) -> None:
    origin = shared / "golden" / name / "project"

    def fill(folder: Path) -> None:
        copy_with_links(origin, folder)
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755)

    def restore(folder: Path, choice: random.Random) -> None:
        for path in _files(origin):
            copy = folder / path.relative_to(origin)
            if not copy.is_file() or copy.read_bytes() != path.read_bytes():
                copy.unlink(missing_ok=True)
                copy.write_bytes(path.read_bytes())

    twins = Twins(tmp_path, fill, GOLDEN[name])
    choice = random.Random(f"{name} {seed}")
    edits: tuple[Edit, ...] = (spoil, drop, drop, copy, copy, lose, rename, touch, exchange, restore)
    history: list[str] = []
    for step in range(8):
        history += twins.change_some(edits, choice.choice((0, 1, 2, 2)) if step else 0, choice)
        now = twins.time(choice)
        history.append(f"{now}")
        twins.check(history, "--offline", *ALL_REPORTS, now=now, SHA="main")
