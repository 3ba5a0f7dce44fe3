import re
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, files, play, runner, times
from tests.cli.sample_project import CONFIG, SOURCE, SUMMARY, make
from tests.conftest import ROOT
from tests.unit.tree.twins import without_steps

CACHE = ".duvet/cache"


def cached(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / ".duvet" / "cache").glob("*"))


def test_nothing_has_changed(reported: Path, duvet: Run) -> None:
    ##= man/spec/cache.md#freshness
    ##% If nothing has changed since the last run with the same options, `duvet report` MUST leave its report files
    ##% unchanged.
    first = duvet("report")
    before = times(reported)
    second = duvet("report")
    steps = "    Checking inputs and reports\n     Checked that nothing has changed since the last run \n"
    assert second.err == steps + SUMMARY and first.err.endswith(SUMMARY)
    assert (second.code, second.out, times(reported)) == (first.code, first.out, before)


TWO = dict.fromkeys(
    ("one.toml", "two.toml"), CONFIG.replace("src/**", "src/**x") + "[[requirement]]\npattern = '***'\n"
)
FETCHED = {".duvet/config.toml": CONFIG + "[[specification]]\nsource = 'https://example.org/spec.txt'\n"}
SAME, SAYS = "-q report --html page.html", "2>&1 | grep -c 'nothing has changed'"
TO = "duvet -q report --json $name"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "gone or changed": (
        *("report", "$ cp -r .duvet ../whole; rm .duvet/reports/report.json; echo changed >.duvet/snapshot.txt"),
        *("-q report", "$ diff -r -x cache ../whole .duvet && echo equal", "-q report --json other.json"),
        # Other options are another run.
        *("$ cmp other.json .duvet/reports/report.json && echo equal", f"$ duvet report {SAYS}"),
    ),
    "told each time": (
        *["$ duvet -v report 2>&1 | grep src/a.rs"] * 2,
        *({"src/a.rs": SOURCE.replace("boil water", "cook tea")}, "-q report", "-q report"),
    ),
    "standard output is no file of that name": (
        "-q report --json ./-",
        f"$ for name in - - - /dev/stdout{{,,}}; do {TO} >../out; cmp ../out ./-; {TO} | cmp - ./-; done",
    ),
    "two names of one report": (
        *("$ ln -s x link", *["$ duvet -q report --json x --json-v2 ./x --html link; head -c 15 x"] * 3),
    ),
    "a report that the next run takes for a specification": (
        *({"src/a.rs": SOURCE.replace("spec.md#heating", "page.html#x", 1)}, SAME, SAME, SAME, f"--no-cache {SAME}"),
    ),
    "two configurations": (TWO, *(f"-q report --config-path {name}.toml" for name in ("one", "two", "two"))),
    "failed fetch": (FETCHED, *[f"$ duvet report --offline {SAYS}"] * 2, "$ ls .duvet/cache"),
    "snapshot": ("$ echo another >.duvet/snapshot.txt", "-q report --ci", "-q report --ci"),
    "pattern for everything": (
        *({".duvet/config.toml": CONFIG.replace("src/**/*.rs", "**/a*")}, "-q report", "-q report", "report"),
        "$ ls .duvet/cache",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_runs_with_a_cache(name: str, kettle: Path, duvet: Run, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, kettle, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_one_text_under_two_names(kettle: Path, duvet: Run) -> None:
    """The download is also a file of the project."""
    config, path = kettle / ".duvet" / "config.toml", ".duvet/specifications/example.org/tea.txt"
    make(kettle, {path: "1.  Tea\n\n   The pot MUST be warm.\n"})
    for name in ("https://example.org/tea", path, path, "https://example.org/tea"):
        config.write_text(CONFIG.replace("spec.md", name))
        assert duvet("report").code == 0
        (extracted,) = (data for file, data in files(kettle).items() if file.endswith("section-1.toml"))
        assert extracted.startswith(f'target = "{name}#section-1"\n'.encode())


def test_names_that_are_not_utf8(kettle: Path, duvet: Run) -> None:
    folder = kettle.with_name("\udcff")
    kettle.rename(folder)
    for _ in range(2):
        assert duvet("report", "--json", "\udcfe", cwd=folder).code == 0
        assert max(files(folder)) == "\udcfe"


def test_without_the_cache(kettle: Path, tmp_path: Path, duvet: Run) -> None:
    ##= man/spec/cache.md#storage
    ##% With `--no-cache`, duvet MUST neither read nor write the cache.
    assert duvet("--no-cache", "report").code == 0
    assert cached(kettle) == []
    duvet("report")
    before = {path: path.stat() for path in (kettle / ".duvet" / "cache").iterdir()}
    assert "Checked that nothing" not in duvet("--no-cache", "report").err
    assert {path: path.stat() for path in (kettle / ".duvet" / "cache").iterdir()} == before
    # Where there is no `.duvet`, none is made.
    make(tmp_path / "bare", {"a.rs": SOURCE, "spec.md": "# Kettle\n\n## Heating\n\nThe kettle MUST boil water.\n"})
    done = duvet("report", "--source-pattern", "*.rs", "--json", "out.json", cwd=tmp_path / "bare")
    assert (done.code, (tmp_path / "bare/.duvet").exists()) == (0, False)


def test_the_contents_of_the_cache(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    assert duvet("cache").out == ".duvet/cache: 0 files, 0 bytes\n"
    duvet("report")
    folder = kettle / CACHE
    size = sum(path.stat().st_size for path in folder.iterdir() if path.name != ".gitignore")
    assert duvet("cache", "clear").out == f".duvet/cache: removed 7 files, {size:,} bytes\n"
    assert not folder.exists()
    duvet("report")
    (folder / "report").write_bytes((folder / "report").read_bytes()[:-1])
    (folder / "sections").write_bytes(b"duvet cache\nold")
    (folder / "mine").write_text("mine")
    shown = re.sub(r" +[0-9,]+ (?= |bytes)", " # ", duvet("cache").out)
    gold.assert_match(shown, "contents.txt")
    duvet("cache", "clear")
    assert cached(kettle) == ["mine"]


def test_inputs_that_are_older_than_any_run(duvet_command: str, tmp_path: Path) -> None:
    """Old links are trusted by their times, and changed link targets are noticed."""
    linked = ROOT / "tests/cli/linked"
    folder = make(tmp_path / "kettle", {".duvet/config.toml": CONFIG.replace("src/**/*.rs", "src/*")})
    (folder / "src").mkdir()
    (folder / "spec.md").symlink_to(linked / "spec.md")
    duvet = runner(duvet_command, folder)
    for name in ("stop.rs", "stop.rs", "beep.rs", "later.rs", "stop.rs"):
        (folder / "src/module").unlink(missing_ok=True)
        (folder / "src/module").symlink_to(linked / name)
        kept = duvet("report")
        left = files(folder)
        plain = duvet("--no-cache", "report")
        assert (kept.code, without_steps(kept.err), left) == (plain.code, without_steps(plain.err), files(folder))
        assert kept.code == 0 and "src/module" in left[".duvet/reports/report.json"].decode()
