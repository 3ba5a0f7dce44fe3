from collections.abc import Mapping
from pathlib import Path

import pytest

from duvet.errors import QueryError
from duvet.knowledge.pages import front_matter, page as pages
from duvet.knowledge.pages.catalogue import find_page_problems
from duvet.knowledge.pages.page import decode_page_body, read_page
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree
from tests.cli.sample_project import make
from tests.unit.knowledge.pages import page_projects
from tests.unit.knowledge.pages.page_projects import TRACE, list_problems, notes_of, project_in


def slugs(files: Mapping[str, str | bytes]) -> list[str]:
    return sorted(page.slug for page in notes_of(files).pages)


def configured(*tables: str) -> dict[str, str]:
    return {".duvet/config.toml": page_projects.CONFIG + "".join(f"[[pages]]\n{table}\n" for table in tables)}


FILES = dict.fromkeys(("docs/a.md", "docs/deep/b.md", "docs/c.txt", "notes/d.md", "notes/old/e.md", "README.md"), "")


def test_pages_are_the_files_that_are_configured_or_those_in_docs() -> None:
    ##= man/spec/pages.md#files
    ##% duvet MUST read pages from the Markdown files that the configuration names, by default the Markdown files in
    ##% `docs` that are not specifications.
    for tables, expected in [
        ((), ["a", "deep/b"]),
        (("pattern = 'notes/**/*.md'",), ["d", "old/e"]),
        (("pattern = ['./notes/*.md', 'README.md']", "pattern = 'docs/deep/*'"), ["README", "b", "d"]),
        (("pattern = 'notes/**/*.md'\nexclude = 'notes/old'",), ["d"]),
        (("pattern = ['./notes/o*/e.md', 'docs/deep/b.md']",), ["b", "old/e"]),
        (("pattern = 'docs/*.md'",), ["a", "spec"]),
        (("pattern = 'nothing/*.md'",), []),
    ]:
        assert slugs({**FILES, **configured(*tables)}) == expected


def test_files_that_are_never_pages(tmp_path: Path) -> None:
    ##= man/spec/pages.md#files
    ##% duvet MUST skip files that git ignores, hidden files, files that may contain secrets, and vendored folders.
    hidden = ("docs/.trash/a.md", "docs/.obsidian/b.md", "docs/.c.md", "docs/node_modules/x/d.md", "docs/id_rsa.md")
    ignored = {"docs/.gitignore": "drafts/\n", "docs/drafts/e.md": "", "docs/env/pyvenv.cfg": "", "docs/env/f.md": ""}
    everything = {**dict.fromkeys(hidden, ""), **ignored, "docs/g.md": "[[a]] [[e]] [[f]] [x](.trash/a.md)"}
    assert slugs(everything) == ["g"]
    notes = notes_of(everything)
    assert [row.kind.value for row in notes.links(notes.require("g"))] == [*["missing"] * 3, "attachment"]
    # A pattern may name a hidden folder itself.
    assert slugs({**configured("pattern = 'docs/.trash/**/*.md'"), **everything, "docs/.trash/.in/h.md": ""}) == ["a"]
    for pattern in ("docs/./*.md", "docs//*.md", "./docs/*.md", "docs/.c.md", "*/[!.]*.md"):
        expected = {"docs/.c.md": [], "*/[!.]*.md": ["docs/g", "docs/spec"]}.get(pattern, ["g", "spec"])
        assert slugs({**everything, **configured(f"pattern = '{pattern}'")}) == expected, pattern
    assert [page.slug for page in page_projects.load(make(tmp_path, {**TRACE, **everything})).pages] == ["g"]


def test_front_matter_is_data() -> None:
    tags = "tags: [Tea, '#green/leaf', Tea]\ntag: hot, x/y z\nalias: One name, Pot"
    front = f"Title: no\n{tags}\nrating: 5\ndone: true\nby: {{a: [b]}}\ndate: 1970-01-02"
    (page,) = notes_of({"docs/a.md": f"---\n{front}\n---\n"}).pages
    assert page.content.tags == ("Tea", "green/leaf", "hot", "x/y", "z")
    fields = {"Title": "no", "rating": "5", "done": True, "by": {"a": ["b"]}, "date": "1970-01-02"}
    assert (page.content.aliases, page.content.fields, page.created) == (("One name", "Pot"), fields, 86400)


def test_pages_are_filtered() -> None:
    ##= man/spec/pages.md#tools
    ##% `list_pages` MUST list all pages, or only those that match the given tag, folder and earliest date.
    files = {
        "docs/a.md": "---\ncreated: 1970-01-04\n---\n",
        "docs/b.md": "---\ncreated: 1970-01-03\ntags: Tea\n---\n",
        "docs/c/d.md": "---\ncreated: 1970-01-02\ntags: [tea/green]\n---\n",
        "docs/c/e/f.md": "---\ncreated: 1970-01-01\ntags: [teas]\n---\n",
        "docs/g.md": "---\ndate: 1969-07-20\n---\n",
    }
    known = notes_of(files).pages
    for *words, expected in [
        ("tea", "", "", "b c/d"),
        ("#TEA/green", "", "", "c/d"),
        ("te", "", "", ""),
        ("", "C", "", "c/d c/e/f"),
        ("", "c/e/", "", "c/e/f"),
        ("", "", "1970-01-03", "a b"),
        ("", "", "1970-01-02T12:00:00Z", "a b"),
        ("tea", "c", "1970-01-01", "c/d"),
        ("", "", "", "a b c/d c/e/f g"),
        ("", "", "1969-07-20", "a b c/d c/e/f g"),
    ]:
        assert " ".join(page.slug for page in filter(pages.make_page_filter(*words), known)) == expected
    with pytest.raises(QueryError, match="since: 'soon' is not a date"):
        pages.make_page_filter("", "", "soon")


def test_patterns_that_are_wrong_or_match_nothing_are_reported() -> None:
    files = {"docs/a.md": "", **configured("pattern = ['docs/*.md', 'nothing/*.md']")}
    assert list_problems(files) == [("DUV009", ".duvet/config.toml:7:25", 'no file matches "nothing/*.md"')]
    assert list_problems({}) == []
    message = "Pattern syntax error near position 0: recursive wildcards must form a single path component"
    assert list_problems(configured("pattern = 'a**'")) == [("DUV006", ".duvet/config.toml:7:11", message)]


def test_the_title_of_a_page_is_found() -> None:
    ##= man/spec/pages.md#files
    ##% The title of a page MUST be the title in its front matter, or else a heading of level 1 that opens its text, or
    ##% else the name of its file.
    files = {
        "docs/a.md": "---\ntitle: From the  front\n---\n# Heading\n",
        "docs/b.md": "\n# The `code` of [[a|it]] & *more* {#id}\nmore\n\n# Second\n",
        "docs/c.md": "```\n# no heading\n```\n",
        "docs/d.md": "Under\nlined\n===\n",
        "docs/e.md": "---\ntitle: 2026\n---\n",
        "docs/f.md": "#\n\n# Second\n",
        "docs/deep/g.md": "text\n\n# Not first\n",
        "docs/h.md": "## Not of level 1\n",
    }
    titles = {page.slug: page.title for page in notes_of(files).pages}
    expected = ("From the front", "The code of it & more", "c", "Under lined", "2026", "f", "g", "h")
    assert titles == dict(zip(("a", "b", "c", "d", "e", "f", "deep/g", "h"), expected, strict=True))


ELSEWHERE = "one of its parts is empty, `.` or `..`"
BAD = {
    "": "it is empty",
    **dict.fromkeys(("/etc/passwd", "C:/x"), "it is an absolute path"),
    **dict.fromkeys(("../x", "a/../../x", "a//b", "."), ELSEWHERE),
    **{f"a{sign}b": f"it contains the control character U+{ord(sign):04X}" for sign in "\0\x1b\u202e\n\t\u2028"},
    **{f"a{sign}b": f"it contains `{sign}`, which links can't contain" for sign in ""},
    "a|b": "it contains `\\` or `|`, which links can't contain",
    "req:1234": "the prefix `req:` is reserved for links to requirements",
    "x" * 301: "it is longer than 300 characters",
}
GOOD = ["a", "a/b c", "\u05e9\u05dc\u05d5\u05dd", "\U0001f375", "\U0001f468\u200d\U0001f469", "..a", "a.b", "\u00e9"]


def test_slugs_that_are_refused_allowed_and_normalised() -> None:
    ##= man/spec/pages.md#files
    ##% The slug of a page MUST be the slug in its front matter, or else its path below the configured folder without
    ##% `.md`.
    assert {slug: pages.find_slug_fault(front_matter.normalise_slug(slug)) for slug in BAD} == BAD
    for slug in GOOD:
        notes = notes_of({"docs/x.md": f'---\nslug: "{slug}"\n---\n', "docs/y.md": f"[[{slug}]]"})
        page = notes.require(slug)
        assert (page.path, notes.backlinks(page), list(notes.broken_links())) == ("docs/x.md", ("y",), [])
    names = ("cafe\u0301", "two  blanks", "no\u00a0break")
    links = "[[caf\u00e9]] [[two  blanks]] [[no\u00a0break]]"
    notes = notes_of({**{f"docs/{name}.md": "" for name in names}, "docs/b.md": links})
    for slug in (*names, "caf\u00e9", "two blanks", "no break"):
        assert notes.backlinks(notes.require(slug)) == ("b",)
    assert list(notes.broken_links()) == []


def test_pages_with_refused_or_equal_slugs_are_reported() -> None:
    files = {
        "docs/a.md": "---\nslug: ../x\n---\n",
        "docs/b.md": "---\nslug: ''\n---\n",
        "docs/c|.md": "",
        "docs/d.md": "# First\n",
        "docs/z.md": "---\nslug: d\n---\n# Second\n",
    }
    assert [(page.slug, page.title) for page in notes_of(files).pages] == [("d", "First")]
    assert list_problems(files) == [
        ("DUV101", "docs/a.md:0:0", f"invalid page slug '../x': {ELSEWHERE}"),
        ("DUV101", "docs/b.md:0:0", "invalid page slug '': it is empty"),
        ("DUV101", "docs/c|.md:0:0", "invalid page slug 'c|': it contains `\\` or `|`, which links can't contain"),
        ("DUV100", "docs/d.md:0:0", "the slug `d` is also used by docs/z.md"),
        ("DUV100", "docs/z.md:0:0", "the slug `d` is also used by docs/d.md"),
    ]


def test_text_between_rules_is_not_front_matter() -> None:
    blank = ("\n[[b]]\n\n", " \t\r\nslug: [[b]]\n")
    for text in (*blank, "Some words on [[b]].\n", "# Heading\n[[b]]\n", "- [[b]]\n- b: c\n", "https://a.org/[[b]]\n"):
        page = f"---\n{text}---\nMore\n"
        files = {"docs/a.md": page, "docs/b.md": ""}
        notes = notes_of(files)
        assert notes.outlinks(notes.require("a")) == ("b",)
        assert decode_page_body(page.encode(), "x") == page
        message = "the text between the `---` lines is not front matter, so it is part of the page"
        assert list_problems(files) == [("DUV102", "docs/a.md:1:1", message)] * (text not in blank)


SPELLINGS = ('"slug" : x', "'slug': x", "{slug: x}", "-a: b\nslug: x", "a b:\nslug: x", "a:b: c\nslug: x")


def test_values_of_front_matter_are_read_in_every_spelling() -> None:
    for front in ("slug: x", "# why\n\nslug: x", *SPELLINGS):
        files = {"docs/a.md": f"---\n{front}\n---\n"}
        assert (slugs(files), list_problems(files)) == (["x"], [])
    assert slugs({"docs/a.md": "---\n- slug: x\n---\n"}) == ["a"]
    for line in ("a" + " " * 65_000, " " * 65_000, "a:" * 30_000 + "a", "#\n" * 30_000, "-" * 65_000):
        text = f"---\n{line}\n---\n"
        assert decode_page_body(text.encode(), "x") == text
    # Numbers are taken as they are written.
    numbers = f"slug: 007\ntitle: 1.10\ntags: [010, 0x1F, 1e3, .inf, &a 1_0, *a]\nmore: {'1' * 5000}"
    files = {"docs/a.md": f"---\n{numbers}\n---\n"}
    (page,) = notes_of(files).pages
    assert (page.slug, page.title, page.content.tags) == ("007", "1.10", ("010", "0x1F", "1e3", ".inf", "1_0"))
    assert list_problems(files) == []


def test_a_large_page_is_read_in_part() -> None:
    text = "# Large\n\n[[b]]\n\n" + "\u00e9 words of it\n" * 300_000 + "[[late]]\n"
    files = {"docs/a.md": text, "docs/b.md": ""}
    assert list_problems(files) == [("DUV104", "docs/a.md:0:0", "the page is larger than 4 MiB; the rest is ignored")]
    notes = notes_of(files)
    page = notes.require("a")
    assert (page.title, notes.outlinks(page)) == ("Large", ("b",))
    assert pages.MAX_PAGE_BYTES - 3 <= len(decode_page_body(text.encode(), "x").encode()) <= pages.MAX_PAGE_BYTES
    for cut in range(5):
        data = b"a" * (pages.MAX_PAGE_BYTES - cut) + "\U0001f375".encode() * 2
        assert set(decode_page_body(data, "x")) <= {"a", "\U0001f375"}


def test_front_matter_without_end_brackets_and_limits() -> None:
    files = {
        "docs/a.md": "---\nslug: x\n# T\n",
        "docs/b.md": "---\n" + "a: b\n" * 20_000 + "---\n",
        "docs/c.md": "[[" * 50_000 + "[[b]]" + "]]" * 50_000,
        "docs/d.md": "[[a" * 50_000,
    }
    notes = notes_of(files)
    assert {page.slug: notes.outlinks(page) for page in notes.pages} == {"a": (), "b": (), "c": ("b",), "d": ()}
    assert list_problems(files) == []
    text = "".join(f"# a\n\n[[b]] [[c]] [[d]] [[e]] [[f]]\n\nx ^b{number}\n\n" for number in range(2_001))
    (large,) = notes_of({"docs/a.md": text}).pages
    found = large.content
    assert (len(found.headings), len(found.blocks), len(found.links)) == (2_000, 2_000, 10_000)


def test_a_file_that_is_missing_or_not_text_is_skipped(tmp_path: Path) -> None:
    files = {"docs/a.md": b"PNG\0\0", "docs/b.md": b"", "docs/c.md/d.txt": b"", "docs/e.md": b"# Caf\xe9\n"}
    assert slugs(files) == ["b"]
    problems = [
        (one.code, one.path, one.severity) for one in find_page_problems(page_projects.project_of(files)).problems
    ]
    assert problems == [("DUV104", f"docs/{name}.md", "warning") for name in "ace"]
    found = read_page(DiskTree(str(tmp_path)), "docs/gone.md")
    problem = "No such file or directory (os error 2)"
    assert (found.is_page, [one.message for one in found.problems]) == (False, [problem])


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
)
FRONTS = {
    "a bomb of aliases": BOMB,
    "a bomb of long texts": f"a: &a {'x' * 60_000}\nb: [{'*a,' * 80}]\n",
    "nested deeply": "a: " + "[" * 100 + "]" * 100 + "\n",
    "no YAML": "a: [\n",
    "an object of Python": "a: !!python/object/apply:os.system [id]\n",
    "a key twice": "slug: x\nslug: y\n",
}


def test_invalid_front_matter_and_values_are_ignored_with_a_warning() -> None:
    files = {f"docs/{name}.md": f"---\n{front}---\n# T\n" for name, front in FRONTS.items()}
    assert {page.slug: page.title for page in notes_of(files).pages} == dict.fromkeys(FRONTS, "T")
    problems = [(code, where.split(":")[0]) for code, where, _ in list_problems(files)]
    assert problems == [("DUV102", path) for path in sorted(files)]
    for line in ("title: [a]", "created: yesterday", "date: 99999-01-01", "tags: {a: b}", "tags: [[a]]", "slug: true"):
        files = {"docs/a.md": f"---\n{line}\n---\n"}
        name = line.split(":")[0]
        problem = ("DUV102", f"docs/a.md:2:{len(name) + 3}", f"invalid `{name}` in the front matter")
        assert (slugs(files), list_problems(files)) == (["a"], [problem])


def test_files_and_folders_outside_of_the_project_are_skipped(tmp_path: Path) -> None:
    ##= man/spec/pages.md#files
    ##% duvet MUST NOT read pages through a symbolic link that leads out of the project.
    make(tmp_path / "elsewhere", {"secret.md": "# Secret\n", "more/secret.md": "# Secret\n"})
    named = configured("pattern = ['docs/**/*.md', '../elsewhere/*.md']")
    folder = make(tmp_path / "tea", {**TRACE, **named, "docs/a.md": "", "own/b.md": ""})
    (folder / "docs/link.md").symlink_to("../../elsewhere/secret.md")
    (folder / "docs/folder").symlink_to("../../elsewhere/more")
    (folder / "docs/own.md").symlink_to("../own/b.md")
    (folder / "docs/loop").symlink_to("..")
    found = find_page_problems(project_in(folder))
    outside = [one.path for one in found.problems if one.message == "the path leads out of the project"]
    assert outside == ["../elsewhere", "docs/folder", "docs/link.md"]
    assert found.files == ("docs/a.md", "docs/own.md", "docs/spec.md")


def test_folders_outside_of_the_project_are_not_listed(tmp_path: Path) -> None:
    make(tmp_path / "out", {f"{number}/{name}.md": "x" for number in range(9) for name in "ab"})
    patterns = ["docs/**/*.md", "docs/*.md", "docs/*/3/*.md", "docs/out/**/*.md", "*/named/**/*.md"]
    named = configured(f"pattern = {patterns}\nexclude = 'docs/left'")
    folder = make(tmp_path / "tea", {**TRACE, **named, "docs/a.md": ""})
    for link in ("out", "named", "left"):
        (folder / f"docs/{link}").symlink_to(tmp_path / "out")
    project = project_in(folder)
    found = find_page_problems(project)
    assert found.files == ("docs/a.md", "docs/spec.md")
    outside = [(one.path, one.severity) for one in found.problems if one.code == "DUV104"]
    assert outside == [("docs/named", "warning"), ("docs/out", "warning")]
    assert isinstance(project.tree, RecordedTree)
    assert not [path for path in project.tree.seen if "out/" in path or "named/" in path]
