import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.model import Annotation, ExtractedSentence, Format, Kind, Level, Section, Source
from duvet.specs import requirement_files
from duvet.specs.requirement_files import read_requirement_file, read_requirements_checked, read_requirements_plain
from duvet.text import trim
from tests.problems import show_problem

HEAD = "target = 'oven.md#door'\n"
EVERY_KEY = """\
target = "oven.md#door"
# note
[[spec]]
level = "MUST"
quote = '''
The door MUST
  stay closed.

'''

[[spec]] # other
  format = 'md'
quote = "light MAY"
target = 'oven.md#light'
[[exception]]
reason = 'never'
quote = 'handle'
[[TODO]]
quote = 'handle'
feature = 'doors'
tracking-issue = '7'
reason = 'later'
"""


def annotation(line: int, kind: Kind, quote: str, source: Source, **more: Any) -> Annotation:
    fields = {"target": "oven.md#door", "reason": quote, **more}
    return Annotation(path="x.toml", line=line, kind=kind, quote=quote, from_file=True, source=source, **fields)


def read(text: str) -> tuple[list[Annotation], list[str]]:
    annotations, problems = read_requirement_file("x.toml", text.encode())
    return annotations, [show_problem(problem) for problem in problems]


def test_every_key_is_read() -> None:
    ##= man/spec/trace.md#requirement-files
    ##% duvet MUST read requirement files as awslabs duvet does.
    top, data = (9, 23), EVERY_KEY.encode()
    door = "The door MUST\n  stay closed.\n\n"
    light = {"target": "oven.md#light", "format": Format.MARKDOWN}
    todo = {"reason": "later", "feature": "doors", "tracking_issue": "7"}
    expected = [
        annotation(
            3, Kind.SPEC, "The door MUST stay closed.", Source(*top, 31, 39, 63, 100), level=Level.MUST, reason=door
        ),
        annotation(11, Kind.SPEC, "light MAY", Source(164, 179, 102, 110, 143, 154), **light),
        annotation(15, Kind.EXCEPTION, "handle", Source(*top, 180, 193, 219, 227), reason="never"),
        annotation(18, Kind.TODO, "handle", Source(*top, 228, 236, 245, 253), **todo),
    ]
    assert read(EVERY_KEY) == (expected, [])
    assert read_requirements_plain("x.toml", data) == read_requirements_checked("x.toml", data)[0] == expected


def test_every_name_of_a_table() -> None:
    for name, kind in [
        *((name, Kind.SPEC) for name in ("spec", "specs")),
        *((name, Kind.EXCEPTION) for name in ("exception", "exceptions")),
        *((name, Kind.TODO) for name in ("TODO", "todo", "todos")),
    ]:
        more = 'reason = "b"' if kind is Kind.EXCEPTION else ""
        table = f"{HEAD}[[{name}]]\nquote = 'a'\n{more}\n".encode()
        plain, checked = read_requirements_plain("x.toml", table), read_requirements_checked("x.toml", table)
        assert [one.kind for one in plain or ()] == [one.kind for one in checked[0]] == [kind]


def test_inline_tables_tags_and_line_ends() -> None:
    annotations, problems = read(
        f"{HEAD}spec = [\n  {{ quote = 'a', level = 'MAY' }},\n  {{ quote = 'b' }},\n]\n"
        "todo = [{ quote = 'c', tags = [] }, { quote = 'd', tags = ['b', 'a', 'b', 'Z'] }]\n"
    )
    assert [(one.line, one.kind, one.quote, one.level, one.tags) for one in annotations] == [
        (3, Kind.SPEC, "a", Level.MAY, ()),
        (4, Kind.SPEC, "b", Level.AUTO, ()),
        (6, Kind.TODO, "c", Level.AUTO, ()),
        (6, Kind.TODO, "d", Level.AUTO, ("Z", "a", "b")),
    ]
    assert (annotations[0].source, problems) == (Source(9, 23, 35, 65, 45, 48), [])
    text = (
        f"{HEAD}[[spec]]\nquote = '''\nThe door\n  MUST.\n'''\n[[spec]]\nquote = \"\"\"\na\\t\\\\\n b \\\n\n  c\"\"\"\n"
    )
    annotations, problems = read(text.replace("\n", "\r\n"))
    assert [(one.line, one.quote, one.reason) for one in annotations] == [
        (2, "The door MUST.", "The door\r\n  MUST.\r\n"),
        (7, "a\t\\ b c", "a\t\\\r\n b c"),
    ]
    assert problems == []


def test_byte_order_marks_quoted_headers_and_empty_files() -> None:
    (found,), problems = read("\ufefftarget = 'a#b'\n  [[ \"exception\" ]]\n'quote' = 'x'\n\"reason\" = 'y'\n")
    assert (found.line, found.target, found.quote, found.reason, problems) == (2, "a#b", "x", "y", [])
    for text in ("", "# nothing\n", HEAD, "spec = []\n"):
        assert read(text) == ([], [])
    (problem,) = read_requirement_file("x.toml", b"target = 'oven.md#d\xff'")[1]
    assert show_problem(problem) == (
        "x.toml:1:20 DUV011 TOML parse error at line 1, column 20: invalid utf-8 sequence of 1 bytes from index 19; "
        "save the file as UTF-8"
    )


NO_TARGET = 'add `target = "specification#section"` here, or at the top of the file for all its tables'


def test_malformed_entries_are_reported(snapshot: Snapshot) -> None:
    found: list[str] = []
    for text in [
        *("[[spec]]\nlevel = 3\nquote = 'a'", "[[spec]]\nquote = ['a']", "[[todo]]\nquote = 'a'\ntags = 'b'"),
        *("todo = [{quote = 'a', tags = ['b', true]}]", "spec = 3", "spec = [\n3]", "[spec]\nquote = 'a'", "[[spec]]"),
        *("[[exception]]\nquote = 'a'", "[[exception]]", "[[spec]]\nqoute = 'a'\nquote = 'a'"),
        *("[[spec]]\nquote = 'a'\nreason = 'b'", "level = 'MUST'", "[[test]]\nquote = 'a'"),
        "[[spec]]\nlevel = 'must'\nquote = 'a'\n[[spec]]\nformat = 'html'\nquote = 'b'",
        "[[todo]]\nquote = 'a'\n[[todos]]\nquote = 'a'",
        "[[todo]]\nquote = 'a'\ntracking_issue = '1'\ntracking-issue = '2'",
        *("[[spec]\n", "quote = 'a'\nquote = 'b'"),
    ]:
        found += [*text.splitlines(), *read(HEAD + text)[1], ""]
    snapshot.assert_match("\n".join(found), "problems/requirement_files.txt")


def test_entries_without_mistakes_are_read_beside_those_with() -> None:
    annotations, problems = read(f"{HEAD}[[spec]]\nquote = 1\n[[spec]]\nquote = 'b'\n")
    assert ([one.quote for one in annotations], len(problems)) == (["b"], 1)
    text = "[[todo]]\nquote = 'a'\n[[todo]]\nquote = 'b'\ntarget = 'x#y'\n"
    annotations, problems = read(text)
    assert [one.quote for one in annotations] == ["b"]
    assert problems == [f"x.toml:1:1+8 DUV032 missing target; {NO_TARGET}"]
    assert read(f"target = 3\n{text}")[1] == ["x.toml:1:10 DUV033 invalid type: integer `3`, expected a string"]


PLAIN = st.sampled_from(
    [
        *("'a'", "''", "'a#b'", '"c \' # d"', '""', "'''x'''", "''''''", "'''\n'''"),
        "'''\n one''\n\n two\u3000 \u2028\n'''",
        "'''\n[[spec]]\nquote = 'no'\n'''",
    ]
)
ODD = st.sampled_from(["'''y''''", '"a\\tb"', '"""z"""', "3", "['a']", "'a", "'a' 'b'", "'\x0c'"])
ENDS = st.sampled_from(["\n", "\n\n", " # note 'x\n", "\t\n\n  # more\n  "])


def statements(keys: list[str], values: st.SearchStrategy[str] = PLAIN) -> st.SearchStrategy[str]:
    lines = st.lists(st.sampled_from(keys), unique=True, max_size=3).flatmap(
        lambda names: st.tuples(*(st.builds(f"{name} = {{}}{{}}".format, values, ENDS) for name in names))
    )
    return lines.map("".join)


LEVEL_LINES = st.sampled_from(["level = 'MUST'\n", 'level = "MAY"\n', "", "", "level='X'\n", "format = 'md'\n"])
TABLES = st.one_of(
    st.builds("[[spec]]{}{}quote = {}{}{}".format, ENDS, LEVEL_LINES, PLAIN, ENDS, statements(["target"])),
    st.builds('[[spec]]\nlevel = "{}"\nquote = {}{}'.format, st.sampled_from(["MUST", "AUTO"]), PLAIN, ENDS),
    st.builds("[[exception]]{}quote = {}\nreason = {}{}{}".format, ENDS, PLAIN, PLAIN, ENDS, statements(["target"])),
    st.builds(
        "[[{}]]{}quote = {}{}{}".format,
        st.sampled_from(["TODO", "TODO", "todo"]),
        ENDS,
        PLAIN,
        ENDS,
        statements(["target", "reason", "feature", "tracking-issue", "tracking_issue"]),
    ),
)
WRONG_STATEMENTS = st.one_of(
    st.builds("[[{}]]{}".format, st.sampled_from(["spec", "specs", "test", "a.b", " spec "]), ENDS),
    st.builds("quote = {}{}".format, ODD, ENDS),
    st.builds("target = {}{}".format, PLAIN, st.sampled_from(["\r\n", "\x0c\n", "", " ", "#"])),
    statements(["tags", "x-1", "'quote'", "quote", "level"]),
)
FILES = st.lists(st.one_of(*[TABLES] * 9, WRONG_STATEMENTS), max_size=4).map("".join)


@given(
    st.sampled_from(["", "\n", "# first\n", "\ufeff", *['target = "a.md#b"\n\n# Title\n#\n# [[spec]]\n\n'] * 4]), FILES
)
def test_both_readers_agree(beginning: str, statements: str) -> None:
    data = (beginning + statements).encode()
    found = read_requirements_plain("x.toml", data)
    assert found is None or (found, []) == read_requirements_checked("x.toml", data)


def test_both_readers_agree_on_real_files(shared: Path) -> None:
    for path in [".duvet/requirements", "compliance"]:
        files = [file for file in shared.glob("golden/*/*/") for file in (file / path).rglob("*.toml")]
        assert files
        for file in files:
            data = file.read_bytes()
            assert (read_requirements_plain(file.name, data), []) == read_requirements_checked(file.name, data)
    assert read_requirements_plain("x.toml", b"target = 'a'\n[[todo]]\nquote = 'x'\ntags = ['a']\n") is None


TARGET = "oven.md#door"


def section(title: str, lines: list[str], id: str = "door") -> Section:
    return Section(id, title, (0, 0), title, tuple(lines), (0,) * len(lines))


def write(target: str, section: Section, found: Sequence[ExtractedSentence]) -> bytes:
    return requirement_files.make_requirement_file("", target, section, found)[0]


def must(*pieces: str) -> ExtractedSentence:
    return ExtractedSentence(Level.MUST, pieces)


DOOR = section("Door", ["It MUST be", "closed.  It MAY", "", "squeak."])
FOUND = (must("It MUST be", "closed."), ExtractedSentence(Level.MAY, ("It MAY",)))


def test_requirements_are_written_as_toml_and_rust() -> None:
    assert write(TARGET, DOOR, FOUND).decode() == (
        'target = "oven.md#door"\n\n# Door\n#\n# It MUST be\n# closed.  It MAY\n# \n# squeak.\n\n'
        "[[spec]]\nlevel = \"MUST\"\nquote = '''\nIt MUST be\nclosed.\n'''\n\n"
        "[[spec]]\nlevel = \"MAY\"\nquote = '''\nIt MAY\n'''\n\n"
    )
    assert requirement_files.render_rust_file(TARGET, DOOR, FOUND).decode() == (
        "//! oven.md#door\n//!\n//! Door\n//!\n//! It MUST be\n//! closed.  It MAY\n//! \n//! squeak.\n\n"
        "//= oven.md#door\n//= type=spec\n//= level=MUST\n//# It MUST be\n//# closed.\n\n"
        "//= oven.md#door\n//= type=spec\n//= level=MAY\n//# It MAY\n\n"
    )
    title = "//! oven.md#door\n//!\n//! Long title\n//! goes on\n//!\n\n"
    assert requirement_files.render_rust_file(TARGET, section("Long title\r\ngoes on", []), ()).decode() == title


def test_titles_lines_and_strings_are_escaped() -> None:
    for title, lines, comment in [
        ("Long title\r\ngoes on", [], "# Long title\n# goes on\n#\n"),
        ("", ["x"], "# \n#\n# x\n"),
        # Control characters are left out.
        ("A\x0cB", ["\x0c  MUST\x00 \x7fbe\t.\r"], "# AB\n#\n#   MUST be\t.\n"),
    ]:
        assert write(TARGET, section(title, lines), ()).decode() == f'target = "oven.md#door"\n\n{comment}\n'
    target = 'a"\\b.md#x'
    found = (must("Use '''MUST''' here."), must('a\\ """" \x0c\x7f\tb'), must("plain"))
    text = write(target, section("T", []), found).decode()
    assert text == (
        'target = "a\\"\\\\b.md#x"\n\n# T\n#\n\n'
        '[[spec]]\nlevel = "MUST"\nquote = """\nUse \'\'\'MUST\'\'\' here.\n"""\n\n'
        '[[spec]]\nlevel = "MUST"\nquote = """\na\\\\ ""\\"" \\u000C\\u007F\tb\n"""\n\n'
        "[[spec]]\nlevel = \"MUST\"\nquote = '''\nplain\n'''\n\n"
    )
    annotations = read_requirement_file("x.toml", text.encode())[0]
    assert [(one.target, one.quote) for one in annotations] == [(target, " ".join(it.pieces)) for it in found]


TEXTS = st.text(st.one_of(st.sampled_from("'\"\\\t\r\x0c \u2028#[]é𝄞"), st.characters(codec="utf-8")), max_size=12)
LINES = TEXTS.map(lambda text: text.replace("\n", ""))
PIECES = st.lists(LINES.map(trim).filter(bool), min_size=1, max_size=3).map(tuple)
EXTRACTED = st.lists(st.builds(ExtractedSentence, st.sampled_from(Level), PIECES), max_size=3).map(tuple)


@given(TEXTS, TEXTS, st.lists(LINES, max_size=3), EXTRACTED)
def test_annotations_are_those_that_reading_gives(
    target: str, title: str, lines: list[str], found: tuple[ExtractedSentence, ...]
) -> None:
    data, made = requirement_files.make_requirement_file("x.toml", target, section(title, lines), found)
    assert (made, []) == read_requirement_file("x.toml", data) == read_requirements_checked("x.toml", data)


def test_files_that_upstream_wrote_are_written_alike(shared: Path) -> None:
    found = [*shared.glob("golden/*/expected/**/*.toml"), *shared.glob("probes/open/*/*/expected/**/*.toml")]
    inputs = {Path(str(file).replace("/project/", "/expected/")) for file in shared.glob("golden/*/project/**/*.toml")}
    files = [file.read_bytes() for file in found if file not in inputs and file.name != "config.toml"]
    assert len(files) > 400
    assert [data for data in files if rewritten(data) != data] == []


def rewritten(data: bytes) -> bytes:
    first, _, comment = data.decode().partition("\n\n")
    lines = [line[2:] for line in comment.partition("\n\n")[0].split("\n")]
    entries = read_requirement_file("x.toml", data)[0]
    found = [ExtractedSentence(it.level, tuple(it.reason[:-1].split("\n"))) for it in entries]
    return write(json.loads(first.removeprefix("target = ")), section(lines[0], lines[2:]), found)
