import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config import new_project
from duvet.config.languages import Language
from duvet.config.new_project import STARTERS, SourceGroup, add_to_config, detect_languages
from duvet.config.project_file import read_config
from duvet.config.settings import Config, SourceRule, SpecificationRule
from duvet.errors import DuvetError
from duvet.model import Kind


def test_languages_are_known_by_their_manifests() -> None:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST detect languages by file extensions and manifests.
    for files, expected in (
        ({""}, []),
        ({"setup.py", "README.md"}, ["python"]),
        ({"Cargo.toml", "build.gradle.kts", "package.json"}, ["java", "javascript", "rust"]),
    ):
        assert [one.language.value for one in detect_languages(files.__contains__)] == expected


ODD = 'a "b"\\c\x7f.md'
PYTHON = SourceGroup(Language.PYTHON, ("src/**/*.py",), 2, exclude=("**/test_*.py",))
PYTHON_TESTS = SourceGroup(Language.PYTHON, ("**/test_*.py", "tests/**/*.py"), 2, is_test=True)


def read(data: bytes) -> Config:
    return read_config(data, "config.toml", {})


def test_upstreams_configuration_can_be_read(snapshot: Snapshot) -> None:
    text = new_project.render_upstream_config(STARTERS, ["spec.md", ODD])
    snapshot.assert_match(text.decode(), "init/starters.toml")
    config = read(text)
    assert [(one.patterns, one.meta, one.content) for one in config.sources] == [
        ((starter.pattern,), *starter.language.style) for starter in STARTERS
    ]
    assert config.specifications == (SpecificationRule("spec.md"), SpecificationRule(ODD))
    assert (config.extended, config.report.snapshot.enabled) == (False, True)
    empty = read(new_project.render_upstream_config((), ()))
    assert (empty.sources, empty.specifications) == ((), ())
    for starter in STARTERS:
        assert "**/" + starter.pattern.rpartition("/")[2] in starter.language.patterns


def test_a_new_configuration_can_be_read_with_and_without_its_comments() -> None:
    config = read(new_project.render_config([PYTHON, PYTHON_TESTS], ["spec.md", ODD], ["other.md"]))
    tests = SourceRule(PYTHON_TESTS.patterns, "##=", "##%", Kind.TEST, gitignore=True, language="python")
    code = replace(tests, patterns=PYTHON.patterns, kind=Kind.CITATION, exclude=PYTHON.exclude)
    assert config.sources == (code, tests)
    assert config.specifications == (SpecificationRule("spec.md"), SpecificationRule(ODD))
    assert (config.extended, config.report.snapshot.enabled) == (True, True)
    text = new_project.render_config([], [], [ODD]).decode()
    assert (read(text.encode()).sources, read(text.encode()).specifications) == ((), ())
    lines = [line.removeprefix("# ") for line in text.splitlines() if not line.endswith((":", "it."))]
    config = read("\n".join(lines).encode())
    assert [rule.patterns for rule in config.sources] == [("src/**/*.rs",)]
    assert [rule.source for rule in config.specifications] == [ODD]
    assert len(config.not_applicable) == 1 and config.report.html.blob_link is not None
    suggested = new_project.render_config([], [], []).decode()
    assert '# [[specification]]\n# source = "https://www.rfc-editor.org/rfc/rfc2324"\n' in suggested


OURS = b"'$schema' = \"duvet-cli/config/v1\"\n# mine"
UPSTREAM = b"'$schema' = \"https://awslabs.github.io/duvet/config/v0.4.0.json\"\r\n"


@pytest.mark.parametrize("data", [OURS, UPSTREAM])
def test_additions_to_a_configuration(data: bytes) -> None:
    added = add_to_config(data, read(data), [PYTHON], ["spec.md"], {})
    config = read(added)
    assert added.startswith(data) and config.specifications == (SpecificationRule("spec.md"),)
    assert [(rule.patterns, rule.meta) for rule in config.sources] == [(("src/**/*.py",), "##=")]
    assert added.count(b"\n") == added.count(b"\r\n" if data is UPSTREAM else b"\n")


SUGGESTED = b'# [[specification]]\n# source = "b.md"\n'


@pytest.mark.parametrize("name", ["b.md", "./b.md"])
def test_only_a_suggestion_of_its_own_lines_is_uncommented(name: str) -> None:
    uncommented, appended = SUGGESTED.replace(b"# ", b""), f'\n[[specification]]\nsource = "{name}"\n'.encode()
    for before, after in (
        (b"\n", b""),
        (b"\n", b"\n# mine\n  # [x]\n[report.html]\nenabled = true\n"),
        (b"\n", b"# mine"),
    ):
        data = OURS + before + SUGGESTED + after
        assert add_to_config(data, read(data), [], [name], {}) == OURS + before + uncommented + after
    for before, after in ((b"\n#", b""), (b'\n[[specification]]\nsource = "a.md"\n', b'\n# mine\nkeywords = "any"\n')):
        data = OURS + before + SUGGESTED + after
        assert add_to_config(data, read(data), [], [name], {}) == data + appended

    for suggested in (b"", SUGGESTED):
        data = OURS + b'\nspecification = [{ source = "a.md" }]\n' + suggested
        with pytest.raises(DuvetError) as error:
            add_to_config(data, read(data), [], ["b.md"], {})
        assert error.value.message == "cannot add tables at the end of this file"
        assert error.value.hint == 'add these lines by hand:\n[[specification]]\nsource = "b.md"'
