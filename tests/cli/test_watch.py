import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from duvet.commands.report import wait_for_change
from duvet.project.changes import ChangeWatcher
from tests.cli.command import LINUX, Run, failed, files, run
from tests.cli.sample_project import CONFIG, HALF, SOURCE, SPECIFICATION, make
from tests.cli.watch_process import WAITING, Told, Watch, Watched
from tests.edits import Edit, append, create, delete, move, save_by_rename, save_with_backup

PASS = "coverage: 33 % (1 of 3)"
NONE_PASS = "coverage: 0 % (0 of 3)"
WRONG = SOURCE.replace("boil water", "cook")
CONFIGURATION, REPORT = ".duvet/config.toml", ".duvet/reports/report.json"
HEATING = ".duvet/requirements/spec/heating.toml"


def test_output_of_each_run(kettle: Path, duvet_command: str, duvet: Run, watch: Watch) -> None:
    ##= man/spec/watch.md#noticing-changes
    ##% Until it is interrupted, `duvet report --watch` MUST report again when a file that it read is changed, moved or
    ##% removed, or when the patterns match different files, even if this happens during a run.
    other = make(kettle.with_name("other"), {name: data.decode() for name, data in files(kettle).items()})
    once = [run(duvet_command, other, "report").err]
    for text in (HALF, WRONG):
        (other / "src" / "a.rs").write_text(text)
        once.append(run(duvet_command, other, "report").err)
    watched = watch("report", "--watch")
    assert watched.until() == once[0] + WAITING
    for text, err in zip((HALF, WRONG), once[1:], strict=True):
        save_by_rename("src/a.rs", text)(kettle)
        assert watched.until() == f"     Changed src/a.rs\n{err}{WAITING}"
    assert watched.interrupted() == (130, "", "\ninterrupted\n")
    assert files(kettle) == files(other)


STEPS: tuple[tuple[Edit, tuple[str, int, str]], ...] = (
    (save_with_backup("src/a.rs", WRONG), ("src/a.rs", 2, NONE_PASS)),
    (save_by_rename("src/a.rs", SOURCE), ("src/a.rs", 0, PASS)),
    (create("src/deep/b.rs", WRONG), ("src/deep/b.rs", 2, PASS)),
    (delete("src/deep/b.rs"), ("src/deep/b.rs", 0, PASS)),
    (move("src/a.rs", "src/b.rs"), ("src/a.rs, src/b.rs", 0, PASS)),
    (delete(REPORT), (REPORT, 0, PASS)),
    (append(HEATING), (HEATING, 0, PASS)),
    (append(".duvet/snapshot.txt"), (".duvet/snapshot.txt", 0, PASS)),
    (save_by_rename("spec.md", SPECIFICATION.replace("boil", "cook")), ("spec.md", 2, NONE_PASS)),
    (save_by_rename(CONFIGURATION, CONFIG.replace(".rs", ".c")), (CONFIGURATION, 0, NONE_PASS)),
)
"""Edits, and what the next run says: the names that changed, the number of problems and the verdict."""


def test_changes_start_runs(kettle: Path, watch: Watch) -> None:
    watched = watch("report", "--watch")
    watched.until()
    for edit, told in STEPS:
        edit(kettle)
        assert watched.told() == told
    assert watched.interrupted() == (130, "", "\ninterrupted\n")


@pytest.mark.parametrize("options", [(), ("--no-cache",)], ids=["cache", "no cache"])
def test_as_many_runs_as_changes(options: tuple[str, ...], kettle: Path, watch: Watch) -> None:
    ##= man/spec/watch.md#noticing-changes
    ##% `duvet report --watch` MUST ignore its own writes, and changes that do not affect the result.
    # Patterns look through the folders that the reports are written to.
    text = (
        CONFIG.replace("src/**", "**") + "[[requirement]]\npattern = '**/todos/*.toml'\n[report.html]\nenabled = true\n"
    )
    make(kettle, {".duvet/config.toml": text, "src/b.rs": SOURCE})
    watched = watch(*options, "report", "--watch", "--lcov", "lcov", "--json-v2", "src/deep/v2.json")
    watched.until()
    for count in range(3):
        save_by_rename("src/a.rs", SOURCE if count % 2 else HALF)(kettle)
        assert watched.told() == Told("src/a.rs", 0, PASS)
        create(f"src/{count}.rs", HALF)(kettle)
        assert watched.told() == Told(f"src/{count}.rs", 0, PASS)
    # An earlier run would have printed something.
    assert watched.interrupted() == (130, "", "\ninterrupted\n")
    assert (kettle / ".duvet" / "cache").exists() is (options == ())


def test_errors_do_not_end_the_watch(kettle: Path, watch: Watch) -> None:
    ##= man/spec/watch.md#reporting-again
    ##% If the configuration or an annotation has a problem, `duvet report --watch` MUST report the problem
    ##% and keep watching.
    watched = watch("report", "--watch")
    watched.until()
    save_by_rename(".duvet/config.toml", "nothing =\n")(kettle)
    error = "error: TOML parse error at line 1, column 10: invalid value [DUV001]\n --> .duvet/config.toml:1:10\n"
    assert watched.until() == f"     Changed .duvet/config.toml\n{error}  |\n1 | nothing =\n  |          ^\n{WAITING}"
    save_by_rename(".duvet/config.toml", CONFIG)(kettle)
    assert watched.told() == Told(".duvet/config.toml", 0, PASS)
    delete(".duvet/config.toml")(kettle)
    assert watched.told().changed == ".duvet/config.toml"


def test_a_watch_starts_with_a_broken_project(kettle: Path, watch: Watch) -> None:
    for path, wrong, right in (
        (".duvet/config.toml", "nothing =\n", CONFIG),
        ("duvet.config.yaml", "pages: 1\n", "pages: []\n"),
    ):
        make(kettle, {path: wrong})
        watched = watch("report", "--watch")
        assert "error: " in watched.until()
        save_by_rename(path, right)(kettle)
        assert watched.told() == Told(path, 0, PASS)
        watched.end()


def test_several_changes_start_one_run(kettle: Path, watch: Watch) -> None:
    (kettle / "away").mkdir()
    for count in range(5):
        create(f"away/{count}.rs")(kettle)
    watched = watch("report", "--watch")
    watched.until()
    move("away", "src/more")(kettle)
    assert watched.told().changed == "src/more/0.rs, src/more/1.rs, src/more/2.rs and 2 more"
    assert watched.interrupted()[0] == 130


def test_watch_works_with_other_options(kettle: Path, duvet: Run, watch: Watch) -> None:
    duvet("report")
    before = files(kettle)
    watched = watch("-C", "src/..", "report", "--watch", "--ci", "--html", "page.html", "--json", "-")
    assert PASS in watched.until()
    save_by_rename("src/a.rs", HALF)(kettle)
    assert watched.told() == Told("src/a.rs", 1, NONE_PASS)
    code, out, _ = watched.interrupted()
    assert code == 130 and out.count('"annotations"') == 2
    written = {"page.html", *(f".duvet/reports/report.{kind}" for kind in ("html", "json"))}
    after = files(kettle)
    assert b"1 problem" in after["page.html"]
    assert {name for name in after if after[name] != before.get(name)} == {"src/a.rs", *written}


def test_a_quiet_watch_prints_errors_only(kettle: Path, watch: Watch) -> None:
    make(kettle, {"src/a.rs": WRONG})
    watched = watch("-q", "report", "--watch")
    assert watched.until("encountered 2 errors\n").startswith("error: could not find text in section")
    # The process does not report when it waits; changes before that count, too.
    save_by_rename("src/a.rs", WRONG.partition("\n\n")[0])(kettle)
    assert watched.until("encountered 1 errors\n").startswith("error: could not find text in section")
    assert watched.interrupted() == (130, "", "\ninterrupted\n")


def test_a_pruned_file(kettle: Path, duvet: Run, watch: Watch) -> None:
    duvet("report")
    watched = watch("report", "--watch", "--prune")
    watched.until()
    save_by_rename("spec.md", SPECIFICATION.replace("The spout MAY drip.", "No."))(kettle)
    assert watched.told().changed == "spec.md"
    assert not (kettle / ".duvet/requirements/spec/pouring.toml").exists()
    append("src/a.rs")(kettle)
    assert watched.told().changed == "src/a.rs"


def asked(watched: Watched) -> list[int]:
    infos = (info.read_text() for info in Path(f"/proc/{watched.process.pid}/fdinfo").iterdir())
    lines = [line for info in infos for line in info.splitlines() if line.startswith("inotify")]
    return sorted(int(line.split("ino:")[1].split()[0], 16) for line in lines)


@LINUX
def test_watched_folders(kettle: Path, watch: Watch) -> None:
    make(kettle, {"src/deep/b.rs": "", "node_modules/a/b/c.rs": "", "target/debug/d.rs": ""})
    watched, polling = watch("report", "--watch"), watch("report", "--watch", WATCHFILES_FORCE_POLLING="1")
    watched.until()
    polling.until()
    written = (".duvet/reports", ".duvet/requirements", ".duvet/requirements/spec")
    folders = ("", ".duvet", "src", "src/deep", *written)
    assert asked(watched) == sorted((kettle / name).stat().st_ino for name in folders)
    assert asked(polling) == []


LIMITS = {
    "max_inotify_watches": failed(
        "can't watch 6 folders: the system's limit is reached",
        hint="raise the limit with `sudo sysctl fs.inotify.max_user_watches=524288`",
    ),
    "max_inotify_instances": failed(
        "can't watch for changes: too many watchers or open files",
        hint="close some programs, or raise the limit with `sudo sysctl fs.inotify.max_user_instances=1024`",
    ),
}
ANOTHER_USER = ("unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 > "/proc/sys/user/$0" && exec "$@"')
"""A user of its own, who is allowed nothing of one kind."""


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_the_system(limit: str, reported: Path, duvet: Run) -> None:
    before = (*ANOTHER_USER, limit)
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system has no users of users")
    assert duvet("-q", "report", "--watch", before=before) == LIMITS[limit]


class Scripted(ChangeWatcher):
    def __init__(self, *script: tuple[str, ...]) -> None:
        super().__init__()
        self.script = iter(script)

    def wait(self) -> tuple[str, ...] | None:
        return next(self.script)

    def are_outputs(self, paths: Iterable[str]) -> bool:
        return {"report"}.issuperset(paths)


def test_a_report_is_restored_once_before_an_input_changes() -> None:
    changes = Scripted(("report",), ("report",), ("report",), ("a.rs", "report"), ("report",))
    first = wait_for_change(changes, restored=False)
    second = wait_for_change(changes, restored=first[1])
    third = wait_for_change(changes, restored=second[1])
    assert (first, second, third) == ((("report",), True), (("a.rs", "report"), False), (("report",), True))
