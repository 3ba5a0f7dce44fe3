from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec import msgpack
from pytest_snapshot.plugin import Snapshot

from duvet.model import Problem
from duvet.project.findings import ChosenInputs, Finding, Findings, choose_inputs, normalise_input_name
from duvet.project.project import Project
from duvet.project.validation import fix_project, overlay_project, validate
from duvet.tree.files import DiskTree, MemoryTree
from tests.cli.sample_project import make
from tests.unit.project.faulty_project import FILES, project


def list_fixes(one: Project, path: str) -> list[tuple[int, str, str, str]]:
    checked = validate(one).of([path])
    return [
        (problem.place.line, problem.code, problem.hint, problem.fix.description if problem.fix else "")
        for problem in checked.problems
        if problem.path == path
    ]


QUOTE = "The pot MUST be rinsed with water, but MUST NOT be washed with soap."
FRAMES = (
    "# Frames\n\n## A\n\nA frame of type A MUST be ignored by servers.\n\n"
    "## Both\n\nA frame of type B MUST be ignored by servers.\nA frame of type C MUST be ignored by servers.\n\n"
    "## Again\n\nA frame of type A MUST be ignored by servers.\n"
)
LID = "The lid MUST fit the pot so well that no steam gets out"
OFFERS: dict[str, tuple[dict[str, str], str]] = {
    "a section that has another name now": ({}, f"//= tea.md#rinsing\n//# {QUOTE}\n"),
    "a section that may be called otherwise or have another text": ({}, f"//= tea.md#serving-it\n//# {QUOTE}\n"),
    "two answers": (
        {"tea.md": FRAMES},
        (
            "//= tea.md#both\n//# A frame of type F MUST be ignored by servers.\n"
            "//= tea.md#both\n//# A frame of type A MUST be ignored by servers.\n"
            "//= tea.md#bth\n//# A frame\n"
        ),
    ),
    # It is shown but not applied, because the target names another requirement.
    "another specification has something like it": ({}, f"//= tea.md#serving\n//# {LID} at all.\n"),
    # A citation without a quote identifies its section only by name.
    "titles": ({}, "//= tea.md#servng\n\n//= tae.md#cleaning\n\n//= tea.md\n"),
    "only the folder is similar": ({}, "//= docs/cup.md#lid\n"),
    "a path of Windows": ({}, "//= docs\\pot.md#lid\n"),
}


def test_problems_have_hints_and_fixes(snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#checks
    ##% For a quote that its section does not contain, `duvet validate` SHOULD show the most similar text with the
    ##% differing words marked, and name any other section that contains the quote.
    told: list[str] = []
    for name, (files, text) in OFFERS.items():
        told += [f"# {name}", ""]
        for line, code, hint, fix in list_fixes(project({**files, "src/broken.rs": text}), "src/broken.rs"):
            told += [f"{line} {code} {hint}", f"fix: {fix or '-'}", ""]
    snapshot.assert_match("\n".join(told), "validate/offers.txt")


def test_repeated_quotes_above_different_code() -> None:
    quote = "//# A biscuit MAY be offered to those who ask for one politely.\n"
    said, test = f"//= tea.md#serving\n{quote}", f"//= tea.md#serving\n//= type=test\n{quote}"
    for lines, codes in ((0, ["DUV091"]), (2, ["DUV091"]), (3, []), (40, [])):
        source = said + "fit();\n" * lines + said + test
        problems = validate(project({"src/twice.rs": source})).of(["src/twice.rs"]).problems
        assert [one.code for one in problems] == codes


def test_no_fix_breaks_the_code_around_it() -> None:
    # The end of these texts would end the comment, or take the next line into it.
    for quote, text in [("The stars MUST be ", "*/"), ("A line MUST end with a ", "backslash\\")]:
        tea = f"# Tea\n\n## Brewing\n\n{quote}{text} in all files.\n"
        source = f"//= tea.md#brewing\n//# {quote}something in all files.\n"
        harmless = tea.replace(text, "good")
        for specification, broken, code, fix in [
            (tea, source, "DUV050", ""),
            (harmless, f"/*\n//= tea.md#brewing\n//# {quote}good {text}\nfn f() {{}}\n", "DUV050", ""),
            (harmless, f"/*\n//= tea.md#brewng {text}\n//# {quote}good in all files.\n", "DUV043", ""),
            (harmless, source, "DUV050", "update the quote"),
        ]:
            one = project({"tea.md": specification, "src/broken.rs": broken})
            ((_, found_code, _, found_fix),) = list_fixes(one, "src/broken.rs")
            assert (found_code, found_fix) == (code, fix)


def test_another_way_to_a_specification_is_no_spelling() -> None:
    """Other tools may read the file from a different folder."""
    path = f"/{project().root.lstrip('/')}/tea.md"
    files = {path: FILES["tea.md"], "src/broken.rs": f"//= {path}#brewing\n//# The leaves MUST be dry.\n"}
    assert list_fixes(project(files), "src/broken.rs") == [(1, "DUV044", "write tea.md everywhere", "")]


_CONFIG = {".duvet/config.toml": b"'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"}


def test_the_errors_of_each_annotation() -> None:
    one = project()
    findings = validate(one)
    invalid = {id: [problem.code for problem in problems] for id, problems in findings.invalid().items()}
    assert [f"{one.trace.annotations[id].line} {' '.join(codes)}" for id, codes in invalid.items()] == [
        *("3 DUV050", "1 DUV050", "5 DUV050", "10 DUV050", "12 DUV043", "16 DUV042", "21 DUV040"),
        *("25 DUV050", "29 DUV050", "33 DUV050", "1 DUV090"),
    ]
    unmatched = {id for id, match in enumerate(one.trace.match_of) if match is None}
    assert unmatched == {id for id, codes in invalid.items() if codes[0] != "DUV090"}
    assert msgpack.decode(msgpack.encode(findings), type=Findings) == findings
    assert all(isinstance(one, Finding) for one in findings.found)


MISSING = "//= https://tea.example/spec#a\n//# b\n//= https://tea.example/spec#b\n//# b\n"


def test_a_missing_specification_is_reported_once() -> None:
    one = Project(tree=MemoryTree({"src/a.rs": MISSING.encode(), "src/b.rs": MISSING.encode(), **_CONFIG}))
    findings = validate(one)
    for paths in (["src/a.rs"], ["src/b.rs"]):
        assert [problem.path for problem in findings.of(paths).problems] == [".duvet/config.toml", *paths]
    found = [(problem.code, problem.path) for problem in findings.of(findings.files).problems]
    assert found[0] == ("DUV065", ".duvet/config.toml") and [path for _, path in found[1:]] == ["src/a.rs"]
    assert len(findings.invalid()) == 4
    config = _CONFIG[".duvet/config.toml"] + b"[[specification]]\nsource = 'https://tea.example/spec'\n"
    files = {"src/a.rs": MISSING.encode(), "src/b.rs": b"", ".duvet/config.toml": config}
    findings = validate(Project(tree=MemoryTree(files)))
    for paths in (["src/a.rs"], ["src/b.rs"]):
        assert [problem.path for problem in findings.of(paths).problems] == [".duvet/config.toml"]
    assert list(findings.invalid()) == [0, 1]


def test_problems_of_the_tree_belong_to_no_file(tmp_path: Path) -> None:
    folder = make(tmp_path / "tea", FILES)
    (folder / "src/loop").symlink_to(folder / "src")
    findings = validate(Project(str(folder)))
    assert [one.path for one in findings.of(["src/right.py"]).problems] == []
    assert "src/loop" in [one.path for one in findings.of(findings.files).problems]


INPUTS = ("src/a.rs", "src/deep/b.rs", "other/c.rs", ".duvet/requirements/a.toml")


@pytest.fixture
def chosen_root(tmp_path: Path) -> Path:
    return make(tmp_path / "root", dict.fromkeys(("src/a.rs", "src/deep/b.rs", "other/c.rs", "README.md"), ""))


def chosen(chosen_root: Path, *names: str) -> ChosenInputs:
    return choose_inputs(names, INPUTS, str(chosen_root), DiskTree(str(chosen_root)))


def test_files_and_folders_can_be_named(chosen_root: Path) -> None:
    (chosen_root.parent / "link").symlink_to(chosen_root)
    disk = DiskTree(str(chosen_root))
    for name, paths in [
        *((name, ("src/a.rs",)) for name in ("src/a.rs", "./src/a.rs", "src//a.rs", "other/../src/a.rs")),
        *((name, ("src/a.rs",)) for name in ("src\\a.rs", ".\\src\\a.rs", "../root/src/a.rs", "../link/src/a.rs")),
        *((name, ("src/a.rs", "src/deep/b.rs")) for name in ("src", "../link/src")),
        ("src/deep/", ("src/deep/b.rs",)),
        *((name, INPUTS) for name in (".", "..", "/")),
        # An input that is extracted may not be on disk yet.
        (".duvet/requirements/a.toml", (".duvet/requirements/a.toml",)),
    ]:
        absolute = (str(chosen_root / name),) if "\\" not in name else ()
        assert chosen(chosen_root, name, *absolute) == ChosenInputs(paths)
        if paths == ("src/a.rs",) and "link" not in name:
            assert normalise_input_name(name, str(chosen_root), disk) == "src/a.rs"
    assert normalise_input_name("/elsewhere/a.rs", str(chosen_root), disk) == "/elsewhere/a.rs"


def test_names_that_are_no_inputs_are_reported(chosen_root: Path) -> None:
    (chosen_root / "empty").mkdir()
    found = chosen(chosen_root, "README.md", "other", "gone.rs", "empty", "README.md", "a\0b", "s")
    hint = "correct the path; it is relative to the working directory"
    missing = (Problem("DUV010", "no such file or folder", name, hint=hint) for name in ("gone.rs", "a\0b", "s"))
    assert found == ChosenInputs(("other/c.rs",), ("README.md", "empty"), tuple(missing))


WORDS = "The|pot|MUST|be|warm.|warm|-|*|é|日本|\u2028|\t|'''|*/|\\|\""
TEXT = st.lists(st.sampled_from([*WORDS.split("|"), "|", "a" * 40]), max_size=30).map(" ".join)
SPECIFICATIONS = st.lists(
    st.tuples(st.sampled_from(["# Tea", "## Pot", "## Lid", "### Lid", ""]), TEXT), max_size=5
).map(lambda found: "\n\n".join(f"{heading}\n\n{text}" for heading, text in found))
TARGETS = st.sampled_from(
    ["tea.md#pot", "tea.md#lid", "tea.md#lidd", "tea.md", "tae.md#pot", "./tea.md#pot", "#", "=", ""]
)
LINES = st.lists(
    st.one_of(
        TARGETS.map("//= {}".format),
        TEXT.map("  //# {}".format),
        TEXT,
        st.sampled_from(["//= type=exception", "//= type=test", "//= reason=so", 'r#"', '"#', "//#", "\t//=", ""]),
    ),
    max_size=30,
)
ENTRIES = st.lists(st.tuples(TARGETS, TEXT), max_size=3).map(
    lambda found: "".join(f"[[todo]]\ntarget = '{target}'\nquote = '''\n{text}\n'''\n" for target, text in found)
)


@settings(deadline=None)
@given(SPECIFICATIONS, LINES, st.sampled_from(["\n", "\r\n", "\r"]), ENTRIES)
def test_any_input_is_validated(specification: str, lines: list[str], end: str, entries: str) -> None:
    files = {
        ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'a.rs'\n"
        "[[specification]]\nsource = 'tea.md'\n",
        ".duvet/todos/a.toml": entries,
        "tea.md": specification,
        "a.rs": end.join(lines),
    }
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    found = fix_project(project, lambda findings: findings.files, lambda *_: True)
    assert len(found.findings.found) <= len(found.first.found) + found.citations
    again = fix_project(overlay_project(project, found.after), lambda findings: findings.files, lambda *_: True)
    assert again.after == {}
    assert all(data.decode() == found.before[path].decode() for path, data in found.before.items())
    kept = overlay_project(project, found.after).trace.annotations
    assert [(one.path, one.kind) for one in kept] == [(one.path, one.kind) for one in project.trace.annotations]


QUOTED = """# Tea

- **T-1**: The pot MUST be `warm` and [clean](x) at *any* time.
- **T-2**: The lid MUST fit.

The tea SHOULD be hot. It is not water.
"""
QUOTING = """[[source]]
pattern = "*.rs"
[[specification]]
source = "tea.md"
"""


def incomplete(
    *annotations: str, spec: str = QUOTED, source: str = "tea.md", ours: bool = True, config: str = ""
) -> list[str]:
    code = ""
    section = "section-1" if source.endswith(".txt") else "tea"
    for annotation in annotations:
        kind, _, quote = annotation.partition(": ")
        reason = "//= reason=It is so.\n" if kind == "exception" else ""
        code += f"//= {source}#{section}\n//= type={kind}\n{reason}//# {quote}\nfn brew() {{}}\n\n"
    schema = "duvet-cli/config/v1" if ours else "https://awslabs.github.io/duvet/config/v0.4.0.json"
    config = config or f"'$schema' = '{schema}'\n{QUOTING}"
    files = {".duvet/config.toml": config, source: spec, "src.rs": code}
    checked = validate(Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})))
    found = checked.of(["src.rs"]).problems
    return [f"{one.place.line} {one.code} {one.message}" for one in found if one.code in ("DUV094", "DUV095")]


@pytest.mark.parametrize(
    ("annotations", "missing"),
    [
        (["citation: The pot MUST be warm and clean at any time."], {}),
        (["citation: The pot MUST be warm and clean"], {3: '"at any time."'}),
        (["citation: MUST be warm"], {3: '"The pot", "and clean at any time."'}),
        (["citation: The pot MUST be warm and clean at any time"], {3: '"."'}),
        (["citation: The pot MUST be warm", "citation: and clean at any time."], {}),
        (["citation: The pot MUST be warm ", "citation: warm and clean at any time."], {}),
        (["citation: The pot MUST be warm", "exception: warm and clean at any time."], {}),
        (["citation: The pot MUST be warm", "test: warm and clean at any time."], {3: 0, 8: 1}),
        (["todo: The pot MUST be warm and", "citation: and clean at any time."], {8: '"The pot MUST be warm"'}),
        (["citation: The pot MUST be warm and clean at any time. The lid"], {}),
    ],
)
def test_the_words_that_quotes_leave_out(annotations: list[str], missing: dict[int, str | int]) -> None:
    ##= man/spec/validate.md#checks
    ##% With duvet's own schema, `duvet validate` MUST warn about a requirement that the annotations of one type quote
    ##% only in part, and show the missing words.
    words = ('"and clean at any time."', '"The pot MUST be"')
    assert incomplete(*annotations) == [
        f"{line} DUV094 this annotation quotes only a part of T-1; missing: "
        f"{words[one] if isinstance(one, int) else one}"
        for line, one in missing.items()
    ]
    assert incomplete(*annotations, ours=False) == []


def test_quotes_of_no_requirement() -> None:
    quotes = ("citation: It is not water.", "test: The tea SHOULD be hot. It is not water.", "todo: not water")
    assert incomplete(quotes[0]) == ["3 DUV095 this quote is not part of a requirement"]
    assert incomplete(*quotes) == ["3 DUV095 2 quotes in this file are not part of a requirement"]
    assert incomplete(*quotes, ours=False) == []


def test_incomplete_quotes_of_ietf_text() -> None:
    text = "1.  Tea\n\n   The pot MUST be warm\n   at any time.  It is hot.\n"
    quotes = ("citation: The pot MUST be", "citation: It is hot.", "test: The pot MUST be warm at any time.")
    config = f"'$schema' = 'duvet-cli/config/v1'\n{QUOTING.replace('tea.md', 'tea.txt')}format = 'ietf'\n"
    assert incomplete(*quotes, spec=text, source="tea.txt", config=config) == [
        '3 DUV094 this annotation quotes only a part of a requirement; missing: "warm at any time."',
        "8 DUV095 this quote is not part of a requirement",
    ]
    bullet = text.replace("The pot", "o  The pot")
    parts = ("citation: The pot MUST be", "citation: warm at any time.")
    assert incomplete(*parts, spec=bullet, source="tea.txt", config=config) == []
