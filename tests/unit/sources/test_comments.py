from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.model import Annotation, Format, Kind, Level, Problem, Source
from duvet.sources import comments
from duvet.sources.comments import SourceStyle, make_finder, scan_comments
from duvet.text import WHITESPACE
from tests.problems import show_problem


def test_annotations_are_read_from_comments() -> None:
    ##= man/spec/trace.md#annotations
    ##% Consecutive lines that start with a prefix of the comment style MUST form one annotation, which ends at the next
    ##% target.
    for text, style, expected in [
        # Lines in any order make one annotation, and an empty line of text keeps it together.
        ("//= type=test\n//= a#1\n//#\n//# one\n//#  \n//# two\n", SourceStyle(), [(1, "a#1", "one two")]),
        ("//= a#1\n//#\n//# one", SourceStyle(), [(1, "a#1", "one")]),
        # Any other line ends it.
        *(
            (f"//= a#1\n{gap}\n//= a#2\n//# two", SourceStyle(), [(1, "a#1", ""), (3, "a#2", "two")])
            for gap in ("", "// note", "code();")
        ),
        # A target after text begins the next one.
        ("//= a#1\n//# one\n//= a#2\n//= type=test\n//# two", SourceStyle(), [(1, "a#1", "one"), (3, "a#2", "two")]),
        ("/*\n *= a#1\n *# one\n */", SourceStyle("*=", "*#"), [(2, "a#1", "one")]),
        ("(* a#1\n# one", SourceStyle("(*", "#"), [(1, "a#1", "one")]),
        ("//= source = https://host/?a=b#c\n", SourceStyle(), [(1, "https://host/?a=b#c", "")]),
        ("//= type=test\n//= source = a#1", SourceStyle(), [(1, "a#1", "")]),
    ]:
        found, problems = scan_comments("a.rs", text, style)
        assert ([(one.line, one.target, one.quote) for one in found], problems) == (expected, [])


def test_the_type_of_the_source_counts_where_none_is_given() -> None:
    ##= man/spec/trace.md#annotations
    ##% An annotation without a type MUST have the type of its `[[source]]`, by default `citation`.
    annotation = Annotation("a.rs", 1, Kind.TEST, "spec.md#pot", "", source=Source(4, 15, 4, 15))
    assert scan_comments("a.rs", "//= spec.md#pot\n", SourceStyle(kind=Kind.TEST)) == ([annotation], [])
    found = scan_comments("a.rs", "//= a#1\n//# b\n//= a#2", SourceStyle())[0]
    assert [one.kind for one in found] == [Kind.CITATION] * 2
    text = "//= a#1\n//= feature=x"
    assert scan_comments("a.rs", text, SourceStyle(kind=Kind.TODO))[1] == []
    (problem,) = scan_comments("a.rs", text, SourceStyle(kind=Kind.SPEC))[1]
    assert problem.message == "invalid key for type SPEC"


def read(*fields: str) -> Annotation:
    found, problems = scan_comments("a.rs", "\n".join(f"  //= {field}" for field in fields), SourceStyle())
    assert problems == []
    return found[0]


def test_types_levels_formats_reasons_and_fields_of_todos() -> None:
    for name, kind in {
        **{kind.name: kind for kind in Kind if kind is not Kind.CITATION},
        **dict.fromkeys(("IMPLEMENTATION", "CITATION"), Kind.CITATION),
    }.items():
        assert read("a#1", f"type={name}").kind is read("a#1", f"type={name.lower()}").kind is kind
    for level in Level:
        assert read("a#1", f"level={level.name}").level is level
    for name, format in {"auto": Format.AUTO, "ietf": Format.IETF, "markdown": Format.MARKDOWN}.items():
        assert read("a#1", f"format={name}").format is read("a#1", f"format={name.upper()}").format is format
    assert read("a#1", "format=md").format is Format.MARKDOWN
    for named in ("exception", "implication", "citation", "test"):
        found = read("a#1", f"type={named}", "reason=one", "reason=", "reason = two", "reason = a = b")
        assert found.reason == "one  two a = b"
    found = read("a#1", "type=todo", "feature=pots", "tracking-issue=https://host/7")
    assert (found.feature, found.tracking_issue) == ("pots", "https://host/7")


MISTAKES = [
    *(["a#1", "tags=x"], ["https://host/?a=b#1"], ["a#1", "=x"], ["a#1", "Type=test"]),
    *(["a#1", "b#22"], ["a#1", "source=b#22"], ["a#1", "type=todo", "type = todo"]),
    *(["a#1", f"{key}=abcd", f"{key} = abcd", "type=todo"] for key in ("feature", "tracking-issue")),
    *(["a#1", "level=MUST", "level = MUST", "type=todo"], ["a#1", "format=md", "format = md", "type=todo"]),
    *(
        ["a#1", "type=Test"],
        ["a#1", "type="],
        ["a#1", "level=must"],
        ["a#1", "format=html"],
        ["type=test", "level=MUST"],
    ),
    *(["a#1", "type=spec", "reason=xy"], ["a#1", "type=todo", "reason=xy"], ["a#1", "type=citation", "feature=xy"]),
    ["a#1", "type=exception", "tracking-issue=xy"],
    ["type=x", "level=x", "format=x", "key=x", "feature=x", "level=MAY"],
]
STRAYS = [
    *("//= a#1\n\n//# one\n//# two\n", "//= a#1\n\n\n\n//# far", "//= a#1\n//# one\n\n//# two", "//# one\n\n//# two"),
    *("//#\n", "//= a#1\n//= type=x\n\n//= a#2\n\n//= level=x\n"),
]


def test_malformed_annotations_are_reported(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#annotations
    ##% duvet MUST report an annotation without a target, and a key that is unknown, repeated (except `reason`) or
    ##% not allowed for the annotation's type.
    found: list[str] = []
    for text in [*("\n".join(f"  //= {field}" for field in fields) for fields in MISTAKES), *STRAYS]:
        annotations, problems = scan_comments("a.rs", text, SourceStyle())
        found += [*text.splitlines(), *(f"-> {one.target} {one.quote}".rstrip() for one in annotations)]
        found += [*map(show_problem, problems), ""]
    snapshot.assert_match("\n".join(found), "problems/annotations.txt")


def split_tokens(text: str, meta: str, content: str) -> list[tuple[int, bool, str, int]]:
    return [
        (token.line, is_meta, token.text, token.start)
        for run in comments.find_runs(text, make_finder(meta, content))
        for block in comments.split_blocks(run, meta, content)
        for is_meta, tokens in ((True, block.metas), (False, block.contents))
        for token in tokens
    ]


PREFIXES = [("//=", "//#"), ("*=", "*#"), ("//", "//="), ("//=", "//"), ("", "#"), ("=", ""), ("", ""), ("=#", "=")]
# White space at the start of a prefix is never found, because lines are matched without their indentation.
PREFIXES += [("//==", "#"), (" *=", " *#"), ("\t//=", " //#"), ("\u3000*=", "#")]
TOKEN_TEXTS = st.lists(
    st.sampled_from([*("//=", "//#", " *= a\n", "*", "=", "#", "/", "a", "é", " "), *"\t\r\n\x85\u3000\ufeff", "\n\n"])
)


def split_plainly(text: str, meta: str, content: str) -> list[tuple[int, bool, str, int]]:
    found, end = [], -1
    for number, line in enumerate(text.split("\n"), 1):
        end += len(line) + 1
        tail = line.lstrip(WHITESPACE)
        prefix = next((prefix for prefix in (meta, content) if tail.startswith(prefix)), None)
        if tail and prefix is not None:
            rest = tail[len(prefix) :].lstrip(WHITESPACE)
            if rest or prefix is meta:
                found.append((number, prefix is meta, rest.rstrip(WHITESPACE), end - len(rest)))
    return found


@given(TOKEN_TEXTS.map("".join), st.sampled_from(PREFIXES))
def test_any_text_is_split_by_the_plain_rules(text: str, prefixes: tuple[str, str]) -> None:
    assert split_tokens(text, *prefixes) == split_plainly(text, *prefixes)


def test_adjacent_lines_form_one_annotation() -> None:
    for text, meta, content, runs in [
        (
            *("//= a\n  //# b\n\n\t//# c\r\n//= d\nx\n//#", "//=", "//#"),
            [(1, 0, "//= a\n  //# b"), (4, 16, "//# c\r\n//= d"), (7, 31, "//#")],
        ),
        ("\n\n//= a", "//=", "//#", [(3, 2, "//= a")]),
        # A prefix behind code begins no run.
        ("x *= 2;\nx *= 3;\n", "*=", "*#", []),
        ("x *= 2;\n  *= a\n *# b\nx", "*=", "*#", [(2, 10, "*= a\n *# b")]),
        # A prefix contains no line end.
        ("/\n= a\n/\n# b", "/\n=", "/\n#", []),
        ("/\n= a\n# b", "/\n=", "#", [(3, 6, "# b")]),
    ]:
        found = comments.find_runs(text, make_finder(meta, content))
        assert [(run.line, run.start, run.text) for run in found] == runs


def test_white_space_is_that_of_unicode() -> None:
    texts = [f"{char}a{char}" for char in map(chr, range(0x10000)) if char != "\n"]
    lines = "\n".join(f"//#{text}" for text in texts)
    assert make_finder("//=", "//#").texts(lines) == [text.strip(WHITESPACE) for text in texts]


STYLES = [
    *(SourceStyle("//", "//="), SourceStyle("//=", "//"), SourceStyle("=", "=#="), SourceStyle("", "#")),
    *(SourceStyle("=", ""), SourceStyle(" *=", "*#"), SourceStyle("*=", "\u3000*#")),
]
EASY_STYLES = [
    SourceStyle(),
    SourceStyle("*=", "*#", Kind.TEST, "https://host"),
    SourceStyle("-- =", "-- #"),
    SourceStyle("#= ", "#% "),
    SourceStyle("é", "e"),
]
WORDS = st.sampled_from(["a.md#b", "two  words", "é", "type=test", "level = MAY", "reason=x", "type=x", "source=a", ""])
BLANKS = st.sampled_from(["", "", "", " ", "\t", "\r", "\u00a0", "\x85", "\x1c"])


def in_usual_form(text: str, style: SourceStyle) -> list[Annotation | None]:
    finder = make_finder(style.meta, style.content)
    return [comments.parse_usual_run("a.rs", run, style, finder) for run in comments.find_runs(text, finder)]


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, SourceStyle]:
    """Generate a few annotations, with what may go wrong around them."""
    style = draw(st.sampled_from([*EASY_STYLES, *STYLES]))
    lines = []
    for _ in range(draw(st.integers(1, 9))):
        first = draw(st.sampled_from([style.meta, style.content, style.content, "x = 1; " + style.meta, ""]))
        lines.append("".join([draw(BLANKS), first, draw(BLANKS), draw(WORDS), draw(BLANKS)]))
    usual = f" {style.meta} a.md#b\n {style.meta} type=test\n {style.content} one\n{style.content} two"
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from([usual, f"\n{usual}\n", ""])))
    return "\n".join(lines), style


@given(sources())
def test_the_usual_form_equals_what_comes_out_line_by_line(source: tuple[str, SourceStyle]) -> None:
    text, style = source
    finder = make_finder(style.meta, style.content)
    for run in comments.find_runs(text, finder):
        annotation = comments.parse_usual_run("a.rs", run, style, finder)
        if annotation is not None:
            problems: list[Problem] = []
            (block,) = comments.split_blocks(run, style.meta, style.content)
            assert comments.parse_block("a.rs", text, block, style, problems) == [annotation]
            assert problems == []


@given(st.text(st.sampled_from("//=//#\n\n =#ab\u00a0é"), max_size=60))
def test_places_are_those_of_the_text(text: str) -> None:
    for found in scan_comments("a.rs", text, SourceStyle())[0]:
        assert text[slice(*found.source.target)] == found.target
        assert found.source.text[0] <= found.source.text[1]
        assert text[slice(*found.source.quote)].startswith(found.quote[:1])


def test_fields_of_an_annotation_in_any_order() -> None:
    fields = "spec.md#pot|type=todo|level=SHOULD|format=markdown|feature=tea pots|tracking-issue=12"
    head = "".join(f"    //= {field}\n" for field in fields.split("|"))
    text = f"fn main() {{\n{head}    //# The pot MUST\n    //# be warm.\n}}\n"
    annotation = Annotation(
        *("src/a.rs", 2, Kind.TODO, "spec.md#pot", "The pot MUST be warm.", Level.SHOULD, Format.MARKDOWN),
        feature="tea pots",
        tracking_issue="12",
        blob_link="https://host",
        source=Source(20, 31, 20, 183, 154, 183),
    )
    assert scan_comments("src/a.rs", text, SourceStyle(blob_link="https://host")) == ([annotation], [])
    text = "x\n  //= type=test\n  //= a#1\n  //# one\n  //# two\n"
    test = Annotation("a.rs", 2, Kind.TEST, "a#1", "one two", source=Source(24, 27, 8, 47, 34, 47))
    assert scan_comments("a.rs", text, SourceStyle()) == ([test], [])


def test_target_fields_and_text() -> None:
    text = "x\n  *= a.md#b \r\n  *= type=todo\r\n  *= level = SHOULD\r\n  *# one  two\r\n\t*#\r\n\u00a0*#three \r\n"
    end, link = len(text) - 3, "https://host"
    source = Source(7, 13, 7, end, text.index("one"), end)
    todo = Annotation("a.rs", 2, Kind.TODO, "a.md#b", "one  two three", Level.SHOULD, blob_link=link, source=source)
    assert in_usual_form(text, SourceStyle("*=", "*#", blob_link=link)) == [todo]


def test_other_forms_and_prefixes_that_are_hard_to_tell_apart_are_not_taken_for_the_usual_form() -> None:
    unusual = (
        "//= a#1|//= a#1\n//= type=test|//# one|//= a=1\n//# one|//= a#1\n//= b#2\n//# one|//= a#1\n//= type=x\n//# one"
        "|//= type=test\n//= a#1\n//# one|//= a#1\n//# one\n//= b#2\n//# two|//=\n//# one|//= a#1\n//#\n//# one"
        "|//= a#1\n//# one\n//# |x //= a#1\n//# one"
    )
    for text in unusual.split("|"):
        assert in_usual_form(text, SourceStyle()) == [None]
    for style in STYLES:
        found = in_usual_form(f"{style.meta} a#1\n{style.content} one\n", style)
        assert found and set(found) == {None}
