import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from duvet.tree.cache import BlobStore, CacheFileState, list_cache_files
from duvet.tree.files import CACHE_FOLDER
from tests.cli.command import environment
from tests.unit.tree import random_changes
from tests.unit.tree.twins import Twins, whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")

KILLS = int(os.environ.get("DUVET_KILLS", "20"))
PROGRAM = """
import os, signal, sys
left, folder = int(sys.argv.pop(1)), os.getcwd()
def look(event, args):
    global left
    path = args[0] if args and isinstance(args[0], str) else "/"
    if (event == "open" or event.startswith("os.")) and os.path.abspath(path).startswith(folder):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(look)
from duvet.cli import main
main()
"""
"""The command, which is killed right before it opens, lists, moves or removes something of the project for the n-th
time."""
EDITS = (
    *(random_changes.write, random_changes.append, random_changes.swap_letters, random_changes.delete),
    *(random_changes.specify, random_changes.require, random_changes.restore),
)
# What a killed run leaves must not be among what the next one reads.
OPTIONS = [options for options in random_changes.OPTIONS if {"-", "docs/page.html"}.isdisjoint(options)]


def run_for(seconds: float, command: list[str], folder: Path) -> int:
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, timeout=seconds, check=False
    ).returncode


def test_a_killed_run_leaves_a_usable_cache(duvet_command: str, tmp_path: Path) -> None:
    twins = Twins(tmp_path, random_changes.fill, content=whole)
    twins.are_killed = True
    choice = random.Random(KILLS)
    codes: list[int] = []
    while codes.count(-signal.SIGKILL) < KILLS:
        twins.change_some(EDITS, choice.randrange(3), choice)
        options = choice.choice(OPTIONS)
        before = whole(twins.kept)
        if choice.randrange(4):
            moment = str(choice.randrange(1, 90))
            codes.append(run_for(60, [sys.executable, "-c", PROGRAM, moment, "report", *options], twins.kept))
        else:
            try:
                codes.append(run_for(choice.uniform(0.05, 0.3), [duvet_command, "report", *options], twins.kept))
            except subprocess.TimeoutExpired:
                codes.append(-signal.SIGKILL)
        left = whole(twins.kept)
        twins.check(codes, *options, now=twins.time(choice))
        right = whole(twins.plain)
        # A report was at all times the old one or the correct new one.
        assert [name for name in {**before, **left} if left.get(name) not in (before.get(name), right.get(name))] == []
        files = list_cache_files(BlobStore(str(twins.kept / CACHE_FOLDER)))
        assert [file for file in files if file.state is not CacheFileState.GOOD] == []
    assert set(codes) <= {-signal.SIGKILL, 0, 1}
