"""What `duvet report --watch` asks of the system, and what it says where that is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Done, Run
from tests.cli.watched import Watch, Watched

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def asked(watched: Watched) -> list[int]:
    """The numbers of the folders that the process asks the system about."""
    infos = (info.read_text() for info in Path(f"/proc/{watched.process.pid}/fdinfo").iterdir())
    lines = [line for info in infos for line in info.splitlines() if line.startswith("inotify")]
    return sorted(int(line.split("ino:")[1].split()[0], 16) for line in lines)


@pytest.mark.skipif(sys.platform != "linux", reason="what the system was asked stands in /proc")
def test_who_is_asked(kettle: Path, watch: Watch) -> None:
    ##= man/spec/watch.md#noticing-changes
    ##% duvet MUST watch only the folders that matter, by notifications of the system, and poll only when
    ##% `WATCHFILES_FORCE_POLLING` says so.
    make(kettle, {"src/deep/b.rs": "", "node_modules/a/b/c.rs": "", "target/debug/d.rs": ""})
    watched, polling = watch("report", "--watch"), watch("report", "--watch", WATCHFILES_FORCE_POLLING="1")
    watched.until()
    polling.until()
    written = (".duvet/reports", ".duvet/requirements", ".duvet/requirements/spec")
    folders = ("", ".duvet", "src", "src/deep", *written)
    assert asked(watched) == sorted((kettle / name).stat().st_ino for name in folders)
    assert asked(polling) == []


LIMITS = {
    "max_inotify_watches": (
        "error: can't watch 6 folders: the system allows no more\n"
        "  = help: raise the limit, with `sudo sysctl fs.inotify.max_user_watches=524288`, or name fewer folders\n"
    ),
    "max_inotify_instances": (
        "error: can't watch for changes: too many programs of this user do so, or too many files are open\n"
        "  = help: end some of them, or raise the limit, with `sudo sysctl fs.inotify.max_user_instances=1024`\n"
    ),
}
ANOTHER_USER = ("unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 > "/proc/sys/user/$0" && exec "$@"')
"""A user of its own, who is allowed nothing of one kind."""


@pytest.mark.parametrize("limit, said", LIMITS.items(), ids=LIMITS)
def test_a_limit_of_the_system(limit: str, said: str, reported: Path, duvet: Run) -> None:
    ##= man/spec/watch.md#noticing-changes
    ##% When the system does not allow enough watched folders, duvet MUST say so and what to do.
    before = (*ANOTHER_USER, limit)
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system has no users of users")
    expected = Done(1, "", f"{said}\nencountered 1 errors\n")
    assert duvet("-q", "report", "--watch", before=before) == expected
