"""Pages that want to do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.knowledge.pages.catalogue import find_page_problems
from duvet.knowledge.pages.page import MAX_PAGE_BYTES, decode_page_body
from duvet.tree.recorder import RecordedTree
from tests.cli.made import make
from tests.unit.knowledge.pages.made import CONFIG, TRACE, found_in, notes_of, project_in, told

BOMB = "---\na: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
)


def test_a_page_of_20_megabytes() -> None:
    ##= man/spec/pages.md#hostile-input
    ##= type=test
    ##% duvet MUST read at most 4 MiB of a page, skip a file that is not text, and ignore front matter that is invalid
    ##% or too large, each with a warning.
    text = "# Large\n\n[[b]]\n\n" + "\u00e9 words of it\n" * 1_400_000 + "[[late]]\n"
    files: dict[str, str | bytes] = {"docs/a.md": text, "docs/b.md": ""}
    assert len(text.encode()) > 20_000_000
    assert told(files) == [
        ("DUV104", "docs/a.md:0:0", "the page is larger than 4 MiB: what comes after that is not read")
    ]
    notes = notes_of(files)
    page = notes.require("a")
    assert (page.title, notes.outlinks(page)) == ("Large", ("b",))
    assert len(decode_page_body(text.encode(), "x").encode()) in range(MAX_PAGE_BYTES - 3, MAX_PAGE_BYTES + 1)


@pytest.mark.parametrize("cut", range(5))
def test_no_character_is_cut_in_two(cut: int) -> None:
    data = b"a" * (MAX_PAGE_BYTES - cut) + "\U0001f375".encode() * 2
    assert set(decode_page_body(data, "x")) <= {"a", "\U0001f375"}


@pytest.mark.parametrize("name", ["binary", "latin"])
def test_what_is_no_text_is_left_out(name: str) -> None:
    ##= man/spec/pages.md#hostile-input
    ##= type=test
    ##% duvet MUST read at most 4 MiB of a page, skip a file that is not text, and ignore front matter that is invalid
    ##% or too large, each with a warning.
    data = {"binary": b"PNG\0\0", "latin": b"# Caf\xe9\n"}[name]
    files: dict[str, str | bytes] = {"docs/a.md": data, "docs/b.md": "", "docs/c.md/d.txt": ""}
    found = found_in(files)
    assert [page.slug for page in notes_of(files).pages] == ["b"]
    assert [(one.code, one.path, one.severity) for one in found.problems] == [
        ("DUV104", "docs/a.md", "warning"),
        ("DUV104", "docs/c.md", "warning"),
    ]


FRONTS = {
    "a bomb of aliases": BOMB + "---\n# T\n",
    "a bomb of long texts": f"---\na: &a {'x' * 60_000}\nb: [{'*a,' * 80}]\n---\n# T\n",
    "nested deeply": "---\na: " + "[" * 100 + "]" * 100 + "\n---\n# T\n",
    "no YAML": "---\na: [\n---\n# T\n",
    "no table": "---\n- a\n---\n# T\n",
    "an object of Python": "---\na: !!python/object/apply:os.system [id]\n---\n# T\n",
    "a key twice": "---\nslug: x\nslug: y\n---\n# T\n",
}


@pytest.mark.parametrize("text", FRONTS.values(), ids=FRONTS)
def test_front_matter_that_is_wrong(text: str) -> None:
    files: dict[str, str | bytes] = {"docs/a.md": text}
    assert [(page.slug, page.title) for page in notes_of(files).pages] == [("a", "T")]
    assert [(code, where.split(":")[0]) for code, where, _ in told(files)] == [("DUV102", "docs/a.md")]


VALUES = {
    "title: [a]": "`title` can't be understood",
    "created: yesterday": "`created` can't be understood",
    "date: 99999-01-01": "`date` can't be understood",
    "tags: {a: b}": "`tags` can't be understood",
    "tags: [[a]]": "`tags` can't be understood",
    "slug: true": "`slug` can't be understood",
}


@pytest.mark.parametrize(("line", "message"), VALUES.items())
def test_values_that_are_wrong(line: str, message: str) -> None:
    files: dict[str, str | bytes] = {"docs/a.md": f"---\n{line}\n---\n"}
    assert [(code, where, said) for code, where, said in told(files)] == [
        ("DUV102", f"docs/a.md:2:{len(line.split(':')[0]) + 3}", message)
    ]
    assert [page.slug for page in notes_of(files).pages] == ["a"]


def test_front_matter_that_does_not_end() -> None:
    files: dict[str, str | bytes] = {
        "docs/a.md": "---\nslug: x\n# T\n",
        "docs/b.md": "---\n" + "a: b\n" * 20_000 + "---\n",
    }
    assert [page.slug for page in notes_of(files).pages] == ["a", "b"]
    assert told(files) == []


def test_many_brackets() -> None:
    files: dict[str, str | bytes] = {"docs/a.md": "[[" * 50_000 + "[[b]]" + "]]" * 50_000, "docs/b.md": "[[a" * 50_000}
    notes = notes_of(files)
    assert notes.outlinks(notes.require("a")) == ("b",)
    assert notes.outlinks(notes.require("b")) == ()


def test_files_outside_of_the_project(tmp_path: Path) -> None:
    ##= man/spec/pages.md#hostile-input
    ##= type=test
    ##% duvet MUST skip files and folders that a link leads to outside of the project, with a warning.
    make(tmp_path / "elsewhere", {"secret.md": "# Secret\n", "more/secret.md": "# Secret\n"})
    named = CONFIG + "[[pages]]\npattern = ['docs/**/*.md', '../elsewhere/*.md']\n"
    folder = make(tmp_path / "tea", {**TRACE, ".duvet/config.toml": named, "docs/a.md": "", "own/b.md": ""})
    (folder / "docs/link.md").symlink_to("../../elsewhere/secret.md")
    (folder / "docs/folder").symlink_to("../../elsewhere/more")
    (folder / "docs/own.md").symlink_to("../own/b.md")
    (folder / "docs/loop").symlink_to("..")
    found = find_page_problems(project_in(folder))
    outside = [one.path for one in found.problems if one.message == "it is outside of the project"]
    assert outside == ["../elsewhere", "docs/folder", "docs/link.md"]
    assert found.files == ("docs/a.md", "docs/own.md", "docs/spec.md")


def test_folders_outside_of_the_project(tmp_path: Path) -> None:
    ##= man/spec/pages.md#hostile-input
    ##= type=test
    ##% duvet MUST skip files and folders that a link leads to outside of the project, with a warning.
    make(tmp_path / "out", {f"{number}/{name}.md": "x" for number in range(9) for name in "ab"})
    patterns = ["docs/**/*.md", "docs/*.md", "docs/*/3/*.md", "docs/out/**/*.md", "*/named/**/*.md"]
    named = CONFIG + f"[[pages]]\npattern = {patterns}\nexclude = 'docs/left'\n"
    folder = make(tmp_path / "tea", {**TRACE, ".duvet/config.toml": named, "docs/a.md": ""})
    for link in ("out", "named", "left"):
        (folder / f"docs/{link}").symlink_to(tmp_path / "out")
    project = project_in(folder)
    found = find_page_problems(project)
    assert found.files == ("docs/a.md", "docs/spec.md")
    assert [(one.code, one.path, one.severity) for one in found.problems] == [
        ("DUV104", "docs/named", "warning"),
        ("DUV104", "docs/out", "warning"),
    ]
    assert isinstance(project.tree, RecordedTree)
    assert not [path for path in project.tree.seen if "out/" in path or "named/" in path]
