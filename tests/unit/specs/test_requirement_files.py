"""Requirement files: what is read from them, and what is wrong in them."""

from __future__ import annotations

import pytest

from duvet.model import Annotation, Format, Kind, Level, Problem, Source
from duvet.specs.requirement_files import read_requirement_file, read_requirements_checked, read_requirements_plain

TOP_KEYS = "expected one of `target`, `spec`, `specs`, `exception`, `exceptions`, `TODO`, `todo`, `todos`"
SPEC_KEYS = "expected one of `target`, `level`, `format`, `quote`"
ADVICE = "a requirement file has [[spec]], [[exception]] and [[todo]]; write the test as a comment in the source"
LEVELS = 'expected one of ["AUTO", "MUST", "SHOULD", "MAY"]'
FORMATS = 'expected one of ["auto", "ietf", "markdown"]'
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


def spec(line: int, quote: str, source: Source, level: Level = Level.AUTO, reason: str | None = None) -> Annotation:
    written = quote if reason is None else reason
    return Annotation(
        "x.toml", line, Kind.SPEC, "oven.md#door", quote, level, reason=written, from_file=True, source=source
    )


def lines(problems: list[Problem]) -> list[str]:
    """Each problem with its place, as one line."""
    return [
        f"{problem.place.line}:{problem.place.column}+{problem.place.width} {problem.code} {problem.message}"
        + (f" ({problem.hint})" if problem.hint else "")
        for problem in problems
    ]


def test_every_key() -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST read a requirement file with every table name that awslabs duvet accepts, give entries without a
    ##% target that of the file, and report each problem with its place.
    annotations, problems = read_requirement_file("x.toml", EVERY_KEY.encode())
    top = (9, 23)
    assert problems == []
    assert annotations == [
        spec(
            3,
            "The door MUST stay closed.",
            Source(*top, 31, 39, 63, 100),
            Level.MUST,
            "The door MUST\n  stay closed.\n\n",
        ),
        Annotation(
            "x.toml",
            11,
            Kind.SPEC,
            "oven.md#light",
            "light MAY",
            format=Format.MARKDOWN,
            reason="light MAY",
            from_file=True,
            source=Source(164, 179, 102, 110, 143, 154),
        ),
        Annotation(
            "x.toml",
            15,
            Kind.EXCEPTION,
            "oven.md#door",
            "handle",
            reason="never",
            from_file=True,
            source=Source(*top, 180, 193, 219, 227),
        ),
        Annotation(
            "x.toml",
            18,
            Kind.TODO,
            "oven.md#door",
            "handle",
            reason="later",
            feature="doors",
            tracking_issue="7",
            from_file=True,
            source=Source(*top, 228, 236, 245, 253),
        ),
    ]


def test_both_readers_agree_on_every_key() -> None:
    assert (read_requirements_plain("x.toml", EVERY_KEY.encode()), []) == read_requirements_checked(
        "x.toml", EVERY_KEY.encode()
    )


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["spec", "specs"], Kind.SPEC),
        (["exception", "exceptions"], Kind.EXCEPTION),
        (["TODO", "todo", "todos"], Kind.TODO),
    ],
)
def test_every_name_of_a_table(names: list[str], kind: Kind) -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST read a requirement file with every table name that awslabs duvet accepts, give entries without a
    ##% target that of the file, and report each problem with its place.
    for name in names:
        table = f"[[{name}]]\nquote = 'a'\n" + "reason = 'b'\n" * (kind is Kind.EXCEPTION)
        assert [found.kind for found in read_requirements_checked("x.toml", (HEAD + table).encode())[0]] == [kind]
        assert [found.kind for found in read_requirements_plain("x.toml", (HEAD + table).encode()) or ()] == [kind]


def test_inline_tables() -> None:
    text = (
        HEAD
        + "spec = [\n  { quote = 'a', level = 'MAY' },\n  { quote = 'b' },\n]\ntodo = [{ quote = 'c', tags = [] }]\n"
    )
    annotations, problems = read_requirement_file("x.toml", text.encode())
    assert problems == []
    assert [(found.line, found.kind, found.quote, found.level) for found in annotations] == [
        (3, Kind.SPEC, "a", Level.MAY),
        (4, Kind.SPEC, "b", Level.AUTO),
        (6, Kind.TODO, "c", Level.AUTO),
    ]
    assert annotations[0].source == Source(9, 23, 35, 65, 45, 48)


def test_tags_are_a_set_in_order() -> None:
    text = HEAD + "[[todo]]\nquote = 'a'\ntags = ['b', 'a', 'b', 'Z']\n"
    assert read_requirement_file("x.toml", text.encode())[0][0].tags == ("Z", "a", "b")


def test_line_ends_stay_in_the_text_as_written() -> None:
    text = (
        HEAD + "[[spec]]\nquote = '''\nThe door\n  MUST.\n'''\n[[spec]]\nquote = \"\"\"\na\\t\\\\\n b \\\n\n  c\"\"\"\n"
    )
    annotations, problems = read_requirement_file("x.toml", text.replace("\n", "\r\n").encode())
    assert problems == []
    assert [(found.line, found.quote, found.reason) for found in annotations] == [
        (2, "The door MUST.", "The door\r\n  MUST.\r\n"),
        (7, "a\t\\ b c", "a\t\\\r\n b c"),
    ]


def test_a_byte_order_mark_and_quoted_headers() -> None:
    text = "\ufefftarget = 'a#b'\n  [[ \"exception\" ]]\n'quote' = 'x'\n\"reason\" = 'y'\n"
    annotations, problems = read_requirement_file("x.toml", text.encode())
    assert problems == []
    assert [(found.line, found.target, found.quote, found.reason) for found in annotations] == [(2, "a#b", "x", "y")]


@pytest.mark.parametrize("text", ["", "# nothing\n", HEAD, "spec = []\n"])
def test_files_without_tables(text: str) -> None:
    assert read_requirement_file("x.toml", text.encode()) == ([], [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[spec]]\nlevel = 3\nquote = 'a'", ["3:9+1 DUV033 invalid type: integer `3`, expected a string"]),
        ("[[spec]]\nquote = ['a']", ["3:9+5 DUV033 invalid type: sequence, expected a string"]),
        ("[[todo]]\nquote = 'a'\ntags = 'b'", ['4:8+3 DUV033 invalid type: string "b", expected a sequence']),
        (
            "[[todo]]\nquote = 'a'\ntags = [\n'b', true]",
            ["5:6+4 DUV033 invalid type: boolean `true`, expected a string"],
        ),
        ("spec = 3", ["2:8+1 DUV033 invalid type: integer `3`, expected a sequence"]),
        ("spec = [\n3]", ["3:1+1 DUV033 invalid type: integer `3`, expected a table"]),
        (
            "[spec]\nquote = 'a'",
            ["2:1+6 DUV033 invalid type: map, expected a sequence (write [[spec]], in double brackets)"],
        ),
        ("[[spec]]", ["2:1+8 DUV032 missing field `quote`"]),
        ("[[exception]]\nquote = 'a'", ["2:1+13 DUV032 missing field `reason`"]),
        ("[[exception]]", ["2:1+13 DUV032 missing field `quote`", "2:1+13 DUV032 missing field `reason`"]),
        (
            "[[spec]]\nqoute = 'a'\nquote = 'a'",
            [f"3:1+5 DUV031 unknown field `qoute`, {SPEC_KEYS} (did you mean `quote`?)"],
        ),
        ("[[spec]]\nquote = 'a'\nreason = 'b'", [f"4:1+6 DUV031 unknown field `reason`, {SPEC_KEYS}"]),
        ("level = 'MUST'", [f"2:1+5 DUV031 unknown field `level`, {TOP_KEYS}"]),
        ("[[test]]\nquote = 'a'", [f"2:3+4 DUV031 unknown field `test`, {TOP_KEYS} ({ADVICE})"]),
        (
            "[[spec]]\nlevel = 'must'\nquote = 'a'\n[[spec]]\nformat = 'html'\nquote = 'b'",
            [
                f'3:9+6 DUV034 Invalid annotation level "must", {LEVELS} (did you mean `MUST`?)',
                f'6:10+6 DUV034 Invalid spec type "html", {FORMATS}',
            ],
        ),
        (
            "[[todo]]\nquote = 'a'\n[[todos]]\nquote = 'a'",
            ["4:1+9 DUV035 duplicate field `todos` (keep one of [[todo]] and [[todos]])"],
        ),
        (
            "[[todo]]\nquote = 'a'\ntracking_issue = '1'\ntracking-issue = '2'",
            ["4:1+14 DUV035 duplicate field `tracking_issue` (keep one of `tracking-issue` and `tracking_issue`)"],
        ),
        ("[[spec]\n", ["2:7+1 DUV030 TOML parse error at line 2, column 7: unclosed array table, expected `]`"]),
        ("quote = 'a'\nquote = 'b'", ["3:12+1 DUV030 TOML parse error at line 3, column 12: duplicate key"]),
    ],
)
def test_problems(text: str, expected: list[str]) -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST read a requirement file with every table name that awslabs duvet accepts, give entries without a
    ##% target that of the file, and report each problem with its place.
    assert lines(read_requirement_file("x.toml", (HEAD + text).encode())[1]) == expected


def test_a_missing_target_and_one_of_the_wrong_type() -> None:
    text = "[[todo]]\nquote = 'a'\n[[todo]]\nquote = 'b'\ntarget = 'x#y'\n"
    annotations, problems = read_requirement_file("x.toml", text.encode())
    assert [found.quote for found in annotations] == ["b"]
    advice = 'write `target = "specification#section"` here, or above all tables for the whole file'
    assert lines(problems) == [f"1:1+8 DUV032 missing target ({advice})"]
    annotations, problems = read_requirement_file("x.toml", f"target = 3\n{text}".encode())
    assert lines(problems) == ["1:10+1 DUV033 invalid type: integer `3`, expected a string"]


def test_bytes_that_are_no_text() -> None:
    words = "TOML parse error at line 1, column 20: invalid utf-8 sequence of 1 bytes from index 19"
    problems = read_requirement_file("x.toml", b"target = 'oven.md#d\xff'")[1]
    assert lines(problems) == [f"1:20+1 DUV011 {words} (save the file as UTF-8)"]


def test_tables_without_mistakes_are_read_beside_those_with() -> None:
    annotations, problems = read_requirement_file(
        "x.toml", (HEAD + "[[spec]]\nquote = 1\n[[spec]]\nquote = 'b'\n").encode()
    )
    assert [found.quote for found in annotations] == ["b"]
    assert len(problems) == 1
