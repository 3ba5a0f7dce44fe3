import os
import re
from pathlib import Path

from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, files, runner, times
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


def test_a_report_that_is_gone_or_changed_is_made_again(reported: Path, duvet: Run) -> None:
    duvet("report")
    whole = files(reported)
    (reported / ".duvet" / "reports" / "report.json").unlink()
    (reported / ".duvet" / "snapshot.txt").write_text("changed")
    assert duvet("report").code == 0
    assert files(reported) == whole
    # Other options are another run.
    assert duvet("report", "--json", "other.json").code == 0
    assert files(reported)["other.json"] == whole[".duvet/reports/report.json"]
    assert "Checked that nothing" not in duvet("report").err


def test_problems_and_files_are_named_each_time(kettle: Path, duvet: Run) -> None:
    assert [duvet("-v", "report").err.count("src/a.rs: 2 annotations") for _ in range(2)] == [1, 1]
    (kettle / "src" / "a.rs").write_text(SOURCE.replace("boil water", "cook tea"))
    first, second = duvet("-q", "report"), duvet("-q", "report")
    assert first == second
    assert (first.code, first.err.count("could not find text")) == (1, 2)


def test_a_report_to_standard_output_is_none_to_a_file_of_that_name(kettle: Path, duvet: Run) -> None:
    duvet("report", "--json", "./-")
    out = kettle.with_name("out")
    for name in ("-", "/dev/stdout"):
        runs = [duvet("report", "--json", name).out for _ in range(2)]
        assert runs[0] == runs[1] != ""
        for _ in range(3):
            with out.open("wb") as stream:
                duvet("report", "--json", name, stdout=stream)
            assert out.read_bytes() == files(kettle)["-"]


def test_two_names_of_one_report(kettle: Path, duvet: Run) -> None:
    (kettle / "link").symlink_to("x")
    for _ in range(3):
        duvet("report", "--json", "x", "--json-v2", "./x", "--html", "link")
        assert files(kettle)["x"].startswith(b"<!doctype html>")


def test_a_report_that_the_next_run_takes_for_a_specification(kettle: Path, duvet: Run) -> None:
    (kettle / "src" / "a.rs").write_text(SOURCE.replace("spec.md#heating", "page.html#x", 1))
    runs = [duvet("-q", "report", "--html", "page.html") for _ in range(3)]
    assert [run.code for run in runs] == [1, 1, 1]
    assert 'Could not resolve file "page.html"' in runs[0].err
    assert runs[1].err == runs[2].err == duvet("--no-cache", "-q", "report", "--html", "page.html").err
    assert "page.html" in runs[1].err and "Could not resolve" not in runs[1].err


def test_problems_name_the_configuration_of_this_run(kettle: Path, duvet: Run) -> None:
    for name in ("one.toml", "two.toml", "two.toml"):
        (kettle / name).write_text(CONFIG.replace("src/**", "src/**x") + "[[requirement]]\npattern = '***'\n")
        assert duvet("-q", "report", "--config-path", name).err.count(f" --> {name}:") == 2


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


def test_a_fetch_that_failed_is_tried_again(kettle: Path, duvet: Run) -> None:
    config = kettle / ".duvet" / "config.toml"
    config.write_text(config.read_text() + "[[specification]]\nsource = 'https://example.org/spec.txt'\n")
    for _ in range(2):
        assert "Checked that nothing" not in duvet("report", "--offline").err
    assert "report" not in cached(kettle)


def test_a_difference_from_the_snapshot_is_shown_each_time(reported: Path, duvet: Run) -> None:
    (reported / ".duvet" / "snapshot.txt").write_text("another\n")
    runs = [duvet("report", "--ci") for _ in range(2)]
    shown = [re.findall(r"(?m)^@@.*|^[-+].*", run.err) for run in runs]
    assert shown[0] == shown[1] != []
    assert [run.code for run in runs] == [1, 1]


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


def test_a_pattern_for_everything_leaves_the_cache_out(kettle: Path, duvet: Run) -> None:
    config = kettle / ".duvet" / "config.toml"
    config.write_text(config.read_text().replace("src/**/*.rs", "**/a*"))
    runs = [duvet("report") for _ in range(3)]
    assert [run.code for run in runs] == [0, 0, 0]
    assert "Checked that nothing" in runs[2].err
    assert os.path.exists(kettle / ".duvet" / "cache" / "report")


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
