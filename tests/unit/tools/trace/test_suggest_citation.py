"""`suggest_citation`"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.config.languages import Language
from duvet.project.project import Project
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import ErrorCode, ToolError
from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT
from tests.slow.test_conformance import copy_with_links
from tests.unit.tools.made import answer, context_of, value

TEA = context_of(TEA_PROJECT)
CUP = "2c79658776d2"
PASTE = "Paste it right above the code that it is about; validate_citation checks what you change in it."


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"file": "src/pot.rs"}, {"comment": "//= tea.md#cup\n//# A cup MUST NOT leak.", "file_path": "src/pot.rs"}),
        (
            {"file": "./src/pot.rs", "type": "test"},
            {"comment": "//= tea.md#cup\n//= type=test\n//# A cup MUST NOT leak.", "file_path": "src/pot.rs"},
        ),
        (
            {"file": "tests/test_pot.py", "type": "test"},
            {"comment": "##= tea.md#cup\n##% A cup MUST NOT leak.", "file_path": "tests/test_pot.py"},
        ),
        (
            {"file": "tests/test_pot.py", "type": "implementation", "line": 4},
            {
                "comment": "    ##= tea.md#cup\n    ##= type=implementation\n    ##% A cup MUST NOT leak.",
                "file_path": "tests/test_pot.py",
                "line_number": 4,
            },
        ),
        (
            {"file": "src/not/yet.rs", "type": "exception", "reason": " We have\nmugs. "},
            {
                "comment": "//= tea.md#cup\n//= type=exception\n//= reason=We have mugs.\n//# A cup MUST NOT leak.",
                "file_path": "src/not/yet.rs",
            },
        ),
        (
            {"requirement": "tea#sugar", "file": "src/pot.rs"},
            {"comment": "//= tea.md#sugar", "file_path": "src/pot.rs"},
        ),
    ],
)
def test_the_comment_is_as_the_file_writes_comments(asked: dict[str, object], expected: dict[str, object]) -> None:
    given = {"requirement": CUP, **asked}
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `suggest_citation` MUST return a valid comment in the style of the file without writing it, and refuse a line or
    ##% a file that cannot have one.
    assert value(TEA, "suggest_citation", **given) == expected
    assert value(TEA, "validate_citation", citation=expected["comment"]) == {"valid": True}


def test_the_second_block_says_where_to_paste_it() -> None:
    assert answer(TEA, "suggest_citation", requirement=CUP, file="src/pot.rs")[1] == PASTE
    assert answer(TEA, "suggest_citation", requirement=CUP, file="src/pot.rs", line=7)[1] == (
        "Paste it above line 7; validate_citation checks what you change in it."
    )


@pytest.mark.parametrize("language", Language)
def test_each_language_has_its_comment(language: Language) -> None:
    name = language.patterns[0].removeprefix("**/").replace("*", "a")
    config = f"'$schema' = 'duvet-cli/config/v1'\nsource = [{{ language = '{language}' }}]\n"
    context = context_of({**TEA_PROJECT, ".duvet/config.toml": config + "specification = [{ source = 'tea.md' }]\n"})
    found = value(context, "suggest_citation", requirement=CUP, file=name)["comment"]
    assert language.style.meta in found and language.style.content in found
    assert value(context, "validate_citation", citation=found) == {"valid": True}


def refused(context: ProjectSnapshot, **asked: object) -> tuple[ErrorCode, str, str]:
    with pytest.raises(ToolError) as caught:
        answer(context, "suggest_citation", **{"requirement": CUP, **asked})
    return caught.value.code, caught.value.message, caught.value.hint


SOURCES = "sources match src/**/*.rs, tests/**/*.py"


@pytest.fixture
def on_disk(tmp_path: Path) -> ProjectSnapshot:
    (tmp_path / "secret.rs").write_text("fn secret() {}\n")
    folder = make(tmp_path / "tea", TEA_PROJECT)
    (folder / "src" / "link.rs").symlink_to(tmp_path / "secret.rs")
    project = Project(str(folder))
    return ProjectSnapshot(project, project.catalogue, 50)


@pytest.mark.parametrize(
    "name",
    [
        "tea.md",
        "src",
        "",
        ".",
        "none.c",
        "../secret.rs",
        "src/../../secret.rs",
        "{}/secret.rs",
        "src/link.rs",
        "..\\secret.rs",
        "src/pot.rs\0",
        "src/a\0.rs",
        "/etc/passwd",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_source_of_the_project_is_refused(on_disk: ProjectSnapshot, tmp_path: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `suggest_citation` MUST return a valid comment in the style of the file without writing it, and refuse a line or
    ##% a file that cannot have one.
    code, message, hint = refused(on_disk, file=name.format(tmp_path), line=1)
    assert (code, hint) == (ErrorCode.NOT_FOUND, SOURCES) and message.endswith(" is no source of this project")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_percent_signs_mean_themselves(on_disk: ProjectSnapshot) -> None:
    name = "src/%2e%2e/%2e%2e/secret.rs"
    assert value(on_disk, "suggest_citation", requirement=CUP, file=name)["file_path"] == name
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `suggest_citation` MUST return a valid comment in the style of the file without writing it, and refuse a line or
    ##% a file that cannot have one.
    assert refused(on_disk, file=name, line=1) == (
        ErrorCode.INVALID_REQUEST,
        f"{name} is not written yet, so it has no line 1",
        "leave line out, or write the file first",
    )


def test_an_absolute_path_inside_is_known(on_disk: ProjectSnapshot) -> None:
    name = f"{on_disk.project.root}/src/pot.rs"
    assert value(on_disk, "suggest_citation", requirement=CUP, file=name)["file_path"] == "src/pot.rs"


def test_what_can_not_be_written_there_is_refused() -> None:
    in_file = {"file": "src/pot.rs"}
    assert refused(TEA, **in_file, line=1000) == (
        ErrorCode.INVALID_REQUEST,
        "there is no such line",
        f"the file has {TEA_PROJECT['src/pot.rs'].count(chr(10))} lines",
    )
    assert refused(TEA, **in_file, line=4)[1] == "this line belongs to the annotation at src/pot.rs:3"
    assert refused(TEA, file="src/none.rs", line=1)[0] is ErrorCode.INVALID_REQUEST
    assert refused(TEA, **in_file, type="exception") == (
        ErrorCode.INVALID_REQUEST,
        "an exception needs a reason",
        "say in reason why it does not apply",
    )
    assert refused(TEA, **in_file, line=0)[0] is ErrorCode.INVALID_REQUEST
    assert refused(TEA, **in_file, type="spec")[0] is ErrorCode.INVALID_REQUEST
    assert refused(TEA, **in_file, requirement="1dd64a535306")[:2] == (
        ErrorCode.NOT_FOUND,
        "1dd64a535306 stands in 2 places",
    )
    assert refused(TEA, **in_file, requirement="tea")[0] is ErrorCode.NOT_FOUND


@pytest.mark.parametrize("name", ["h3-704b37a", "s2n-tls-132053b"])
def test_every_suggestion_in_a_real_project_is_valid(shared: Path, tmp_path: Path, name: str) -> None:
    project = Project(str(copy_with_links(shared / "golden" / name / "project", tmp_path / name)))
    context = ProjectSnapshot(project, project.catalogue, 50)
    catalogue = project.catalogue
    files = [path for _, paths in project.inputs.sources for path in paths]
    assert files and catalogue.requirements
    for index, card in enumerate(catalogue.requirements):
        path = catalogue.full_path_of(card)
        found = value(context, "suggest_citation", requirement=path, file=files[index % len(files)])
        assert value(context, "validate_citation", citation=found["comment"]) == {"valid": True}, path
