import pytest
from hypothesis import given, strategies as st

from duvet.config.languages import CommentPair, find_comment_pair
from duvet.errors import DuvetError
from duvet.model import Annotation, Edit, Kind
from duvet.sources import editor
from duvet.sources.comments import SourceStyle, scan_comments

RUST = SourceStyle()
STARS = SourceStyle("*=", "*#")
PYTHON = SourceStyle("##=", "##%")
TESTS = SourceStyle("##=", "##%", Kind.TEST)
STYLES = (RUST, STARS, PYTHON, SourceStyle("-- =", "-- #"), SourceStyle("!=", "!#", Kind.TEST))
C, ML = CommentPair("/*", "*/"), CommentPair("(*", "*)")
WORDS = st.text("aZé.,-日\"'", min_size=1, max_size=9)
QUOTES = st.lists(WORDS, min_size=1, max_size=25)
WARM = editor.NewAnnotation("tea.md#pot", "The pot MUST be warm, and it SHOULD be round.", Kind.CITATION)
TITLE = editor.NewAnnotation("tea.md#pot", "", Kind.CITATION)


def only(text: str, style: SourceStyle = SourceStyle()) -> Annotation:  # noqa: B008 - frozen
    found, problems = scan_comments("a.rs", text, style)
    assert problems == []
    (annotation,) = found
    return annotation


def requote(text: str, quote: str, style: SourceStyle = RUST) -> str:
    return editor.apply_edits(text, editor.make_comment_quote_edits(text, only(text, style), style, quote))


def test_the_first_of_overlapping_edits_is_made() -> None:
    edits = [Edit(1, 3, 1, 6, "Y"), Edit(1, 2, 1, 4, "X"), Edit(1, 4, 1, 4, "Z"), Edit(1, 2, 1, 4, "X")]
    assert editor.apply_edits("abcdefg\n", edits) == "aXZdefg\n"


def test_lines_are_put_above_a_line() -> None:
    for text, line, result in [
        ("a\nb\n", 2, "a\nx\ny\nb\n"),
        ("a\r\nb\r\n", 1, "x\r\ny\r\na\r\nb\r\n"),
        ("a\nb", 3, "a\nb\nx\ny\n"),
        ("a\nb\n", 3, "a\nb\nx\ny\n"),
        ("", 1, "x\ny\n"),
        ("a", 1, "x\ny\na"),
        ("a\r\n\nb\r\nc", 2, "a\r\nx\ny\n\nb\r\nc"),
        ("a\r\n\nb\r\nc", 4, "a\r\n\nb\r\nx\r\ny\r\nc"),
        ("a\r\n\nb\r\nc", 5, "a\r\n\nb\r\nc\r\nx\r\ny\r\n"),
    ]:
        assert editor.apply_edits(text, [editor.make_insertion_edit(text, line, ["x", "y"])]) == result


def test_new_lines_have_the_indentation_of_the_line() -> None:
    texts = [inserted("a.rs", "a\n \t b\n\n  ", line).split("\n")[line - 1] for line in (1, 2, 3, 4)]
    assert [text.partition("//=")[0] for text in texts] == ["", " \t ", "", "  "]


def test_a_target_is_replaced_and_nothing_else() -> None:
    text = "\ufeffx\r\n\t//=  a.md#b \r\n\t//# Boil.\r\n"
    edit = editor.make_edit(text, *only(text).source.target, "a.md#c")
    assert edit == Edit(2, 7, 2, 13, "a.md#c")
    assert editor.apply_edits(text, [edit]) == text.replace("a.md#b", "a.md#c")


BEFORE = """\
fn f() {
    //= a.md#b
    //# The kettle MUST stop heating
    //#   when the water boils, and
    //#
    //# then it SHOULD beep.
    let x = 1;
"""


def test_a_quote_is_corrected() -> None:
    for quote, lines in [
        # A word on one line leaves the others as they are, with their blanks.
        ("The pot MUST {0} boils, and then it SHOULD beep.", "The pot MUST {1}|  {2} boils, and||{3}"),
        # A line that nothing is left for goes.
        ("The kettle MUST stop heating then it SHOULD beep.", "The kettle MUST {1}||{3}"),
        ("then it SHOULD beep.", "|{3}"),
        # Text that gets wider than the comment was flows.
        (
            "The kettle MUST stop heating itself when the water boils, and then it SHOULD beep.",
            "The kettle MUST {1}|  itself {2}|boils, and then it SHOULD|beep.",
        ),
        (
            "The kettle MUST {0} boils, and then it SHOULD beep twice.",
            "The kettle MUST {1}|  {2} boils, and||then it SHOULD beep twice.",
        ),
    ]:
        parts = "stop heating when the water", "stop heating", "when the water", "then it SHOULD beep."
        body = "".join(f"    //# {line}".rstrip() + "\n" for line in lines.format(*parts).split("|"))
        after = f"fn f() {{\n    //= a.md#b\n{body}    let x = 1;\n"
        for mark, end in (("", "\n"), ("\ufeff", "\r\n")):
            assert requote(mark + BEFORE.replace("\n", end), quote.format(*parts)) == mark + after.replace("\n", end)


def test_a_quote_on_one_line_may_get_as_wide_as_the_file() -> None:
    text, wide = "//= a#b\n//# Boil.", f"// {'x' * 80}\n"
    assert requote(text, "Boil " + "more " * 12 + "water.") == f"//= a#b\n//# Boil {'more ' * 12}water."
    assert requote(text, "Boil " + "more " * 20 + "water.") == (
        f"//= a#b\n//# Boil {('more ' * 14).strip()}\n//# {'more ' * 6}water."
    )
    assert requote(wide + text, "Boil " + "more " * 30 + "water.") == (
        f"{wide}//= a#b\n//# Boil {('more ' * 22).strip()}\n//# {'more ' * 8}water."
    )


def test_lines_of_a_reworded_quote_are_filled() -> None:
    for quote, lines in [
        # One word that fits stays on its line; a word that is added may move others.
        ("one two three four five SIX seven eight", ["one two three", "four five SIX", "seven eight"]),
        ("one two three four five six seven", ["one two three", "four five six", "seven"]),
        # From the first line with a change, several changes wrap everything in the old width.
        ("one two 3 four 5 six seven eight", ["one two 3", "four 5 six", "seven eight"]),
        ("one two three four eight", ["one two three", "four eight"]),
        ("one six seven eight", ["one six seven", "eight"]),
        ("one two three four x y z five six seven eight", ["one two three", "four x y z", "five six", "seven eight"]),
    ]:

        def write(quoted: list[str]) -> str:
            return "fn f() {\n  //= a.md#b\n" + "".join(f"  //#   {line}\n" for line in quoted) + "}\n"

        assert requote(write(["one two three", "four five six", "seven eight"]), quote) == write(lines)


@given(st.sampled_from(STYLES), st.sampled_from(Kind), st.sampled_from(["", "  ", "\t"]), QUOTES, st.integers(1, 90))
def test_inserted_annotations_can_be_read(
    style: SourceStyle, kind: Kind, indent: str, quote: list[str], most: int
) -> None:
    fields = {"reason": "so be it"} if kind is Kind.EXCEPTION else {}
    lines = editor.format_annotation(style, indent, "a.md#b", " ".join(quote), kind=kind, fields=fields, most=most)
    found = only("".join(f"{line}\n" for line in lines), style)
    assert (found.kind, found.target, found.quote) == (kind, "a.md#b", " ".join(quote))
    assert found.reason == fields.get("reason", "")


@given(
    style=st.sampled_from(STYLES),
    lines=st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=6).filter(lambda lines: bool(lines[0])),
    quote=QUOTES,
    end=st.sampled_from(["\n", "\r\n"]),
    keep=st.booleans(),
)
def test_a_corrected_quote_is_read_again(
    style: SourceStyle, lines: list[list[str]], quote: list[str], end: str, keep: bool
) -> None:
    """For any old and new quote, all other bytes are kept."""
    old = [word for line in lines for word in line]
    wanted = [*old[: len(old) // 2], *quote, *old[len(old) // 2 :]] if keep else quote
    head, tail = f"x{end}{style.meta} a#b{end}", f"{end}  y{end}"
    text = head + end.join(f"\t{style.content} {' '.join(line)}".rstrip() for line in lines) + tail
    new = requote(text, " ".join(wanted), style)
    assert only(new, style).quote == " ".join(wanted)
    assert new.startswith(head) and new.endswith(tail)
    assert requote(new, " ".join(wanted), style) == new


def test_the_comment_around_an_annotation() -> None:
    for path, meta, pair in [
        *((path, "*=", C) for path in ("a.c", "a.css")),
        ("a.unknown", "*#=", C),
        *((path, "*=", ML) for path in ("a.ml", "src/a.pv", "a.v")),
        ("a.c", "//=", None),
        ("a.py", "##=", None),
    ]:
        assert find_comment_pair(path, meta) == pair


TEXT = """\
int a; /* one line */
int b;
/*
 * inside
 */
char *c = "/*";
char d = '"'; // it's no /* comment
int e; /*
inside */ int f;
char *g = "\\"/*";
/**/
/* to the end
inside
"""


def test_lines_inside_a_comment_are_recognised() -> None:
    for text, pair, lines in [
        (TEXT, C, [4, 5, 9, 13]),
        ("let a = 'b' (* x\n*)\nlet c = \"(*\"\nlet d = '\"' and e' = '('\n(* f\n   g *)\n", ML, [2, 6]),
    ]:
        assert [line for line in range(1, text.count("\n") + 1) if editor.is_inside_comment(text, line, pair)] == lines


def inserted(
    path: str, text: str, line: int, wanted: editor.NewAnnotation = WARM, style: SourceStyle = RUST, most: int = 100
) -> str:
    return editor.insert_annotation(path, text, line, wanted, style, most).text


def test_lines_are_inserted_with_the_indentation_of_the_next() -> None:
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST insert the citation above the given line, in the comment style of the file and with the
    ##% indentation of the line.
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST quote the whole requirement or, with `--part`, the given part of it. If the target is a
    ##% section, `duvet cite` MUST write a citation without a quote.
    assert inserted("a.py", "def f():\n \t x()\n", 2, style=PYTHON, most=34) == (
        "def f():\n"
        " \t \x23#= tea.md#pot\n"
        " \t \x23#% The pot MUST be warm, and\n"
        " \t \x23#% it SHOULD be round.\n"
        " \t x()\n"
    )
    assert inserted("a.py", "x()\n", 1, TITLE, PYTHON, most=5) == "\x23#= tea.md#pot\nx()\n"


def test_types_and_fields_are_written() -> None:
    test = editor.NewAnnotation("tea.md#pot", "Warm.", Kind.TEST)
    lines = [editor.insert_annotation("a.py", "x()\n", 1, test, style, 100).lines for style in (TESTS, PYTHON)]
    head, tail = "\x23#= tea.md#pot", "\x23#% Warm."
    assert lines == [(head, tail), (head, "\x23#= type=test", tail)]
    assert editor.insert_annotation("a.py", "x()\n", 1, TITLE, TESTS, 100).lines == (head, "\x23#= type=implementation")
    assert editor.choose_style([PYTHON, TESTS], Kind.TEST) is TESTS
    assert editor.choose_style([PYTHON, TESTS], None) is editor.choose_style([PYTHON, TESTS], Kind.TODO) is PYTHON
    fields = {"reason": "Because it is so, and has been\nfor long.", "format": "markdown"}
    wanted = editor.NewAnnotation("a=b.md#c", "Warm.", Kind.EXCEPTION, fields)
    assert editor.insert_annotation("a.rs", "f();", 1, wanted, RUST, 32).lines == (
        *("//= source=a=b.md#c", "//= type=exception", "//= reason=Because it is so, and"),
        *("//= reason=has been for long.", "//= format=markdown", "//# Warm."),
    )


def test_block_comments_are_opened_and_closed() -> None:
    text = "int f() {\n\treturn 1; /* one\n\t* two */\n}\n"
    warm = editor.NewAnnotation("tea.md#pot", "Warm.", Kind.CITATION)
    assert inserted("a.c", text, 2, warm, STARS) == (
        "int f() {\n\t/*\n\t *= tea.md#pot\n\t *# Warm.\n\t */\n\treturn 1; /* one\n\t* two */\n}\n"
    )
    assert inserted("a.c", text, 3, warm, STARS) == (
        "int f() {\n\treturn 1; /* one\n\t*= tea.md#pot\n\t*# Warm.\n\t* two */\n}\n"
    )
    assert inserted("a.ml", "let f = 1\n", 1, warm, STARS) == "(*\n *= tea.md#pot\n *# Warm.\n *)\nlet f = 1\n"
    with pytest.raises(DuvetError, match=r"the text contains `\*/`, which would end the comment") as refused:
        inserted("a.c", text, 2, editor.NewAnnotation("tea.md#pot", "A /* b */ c.", Kind.CITATION), STARS)
    assert refused.value.hint == "with `--part`, quote a part that does not contain `*/`"


def test_invalid_lines_are_refused() -> None:
    ##= man/spec/cite.md#refusals
    ##% `duvet cite` MUST refuse to insert a citation inside an annotation, or below a line that a backslash
    ##% continues.
    inside, begin, below = (
        "this line is inside the annotation at a.rs:1",
        "the file must start with its",
        "start the code on line 2, and choose that line",
    )
    for text, line, message, hint in [
        ("", 1, "line 1 does not exist; the file has 0 lines", "write the code first"),
        ("a\nb\n", 3, "line 3 does not exist; the file has 2 lines", "choose a line from 1 to 2"),
        ("a\nb", 3, "line 3 does not exist; the file has 2 lines", "choose a line from 1 to 2"),
        ("a\n", 0, "line 0 does not exist; the file has 1 line", "choose line 1"),
        ("#!/bin/sh\nf\n", 1, f"{begin} `#!` line", "choose line 2"),
        ("#!/bin/sh\nf\ng\n", 1, f"{begin} `#!` line", "choose a line from 2 to 3"),
        ("#!/bin/sh\nf\n", 3, "line 3 does not exist; the file has 2 lines", "choose line 2"),
        ("#!/bin/sh\n", 2, "line 2 does not exist; the file has 1 line", below),
        ("#!/bin/sh\n", 1, f"{begin} `#!` line", below),
        ("\ufeffa\n", 1, f"{begin} byte order mark", below),
        ("<?php\n", 1, f"{begin} `<?` tag", below),
        ("//= tea.md#cup\n//# Leak.\n", 2, inside, "choose line 1"),
        ("//= tea.md#cup\n//# Leak.", 2, inside, "choose line 1"),
        ("//= tea.md#cup\n//# Leak.\nf();", 2, inside, "choose line 1 or line 3"),
        ("//= tea.md#cup\n//# Leak.\n//# Drip.\nf();\n", 3, inside, "choose line 1 or line 4"),
    ]:
        with pytest.raises(DuvetError) as caught:
            inserted("a.rs", text, line)
        assert (caught.value.message, caught.value.line, caught.value.hint) == (message, line, hint)


def test_lines_that_continue_are_refused() -> None:
    """In a macro or command, a comment would end it; after a continued comment, it would swallow code."""
    for end in ("\n", "\r\n"):
        text = end.join(("#define F \\", "  g(); \\", "  h()", "tea \\\\", "", "f();"))
        for line in (2, 3):
            with pytest.raises(DuvetError) as caught:
                inserted("a.rs", text, line, TITLE)
            assert (caught.value.message, caught.value.line) == ("this line continues the line above", line)
        for line in (1, 4, 5, 6):
            assert inserted("a.rs", text, line, TITLE).count(end) == 6
    assert inserted("a.rs", "f(\\\n\n);\n", 3, TITLE) == "f(\\\n\n//= tea.md#pot\n);\n"
    path = editor.NewAnnotation("tea.md#pot", "The path is C:\\", Kind.CITATION)
    with pytest.raises(DuvetError, match="a comment that ends with a backslash would continue on the next line"):
        inserted("a.rs", "f();\n", 1, path)
    assert inserted("a.c", "f();\n", 1, path, STARS) == "/*\n *= tea.md#pot\n *# The path is C:\\\n */\nf();\n"


def test_invalid_annotations_are_refused() -> None:
    for text, line, wanted, message in [
        ("//= tea.md#cup\n//# Leak.\n", 1, TITLE, "the new annotation would merge with the one next to it"),
        ("//= tea.md#cup\nf();\n", 2, WARM, "the new annotation would merge with the one next to it"),
        ("f();\n//# Leak.\n", 2, WARM, "the new annotation would merge with the one next to it"),
        ("f();\n", 1, editor.NewAnnotation("a#b", "C.", Kind.TODO, {"reason": "d"}), "invalid key for type TODO"),
    ]:
        with pytest.raises(DuvetError, match=message):
            inserted("a.rs", text, line, wanted)


LINES = st.sampled_from(["fn f() {", "    g();", "\th();", "", "  ", "é // x", "    //= a.md#b", "    //# C.", "// d"])
TEXTS = st.builds(
    lambda bom, lines, ends, last: bom + "".join(map("".join, zip(lines, ends, strict=False))) + last,
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES, min_size=1, max_size=12),
    st.lists(st.sampled_from(["\n", "\r\n"]), min_size=12, max_size=12),
    st.sampled_from(["", "}"]),
)


@given(TEXTS, st.integers(1, 13), st.integers(20, 60), st.sampled_from([WARM, TITLE]))
def test_no_other_character_is_changed(text: str, line: int, most: int, wanted: editor.NewAnnotation) -> None:
    ##= man/spec/cite.md#inserting
    ##% Apart from the citation, `duvet cite` MUST leave the file unchanged, including line endings, a byte order mark
    ##% and a missing final newline.
    try:
        found = editor.insert_annotation("a.rs", text, line, wanted, RUST, most)
    except DuvetError:
        return
    old, new = text.split("\n"), found.text.split("\n")
    count = len(found.lines)
    assert new[: line - 1] + new[line - 1 + count :] == old
    ended = [one.removesuffix("\r") for one in new[line - 1 : line - 1 + count]]
    assert tuple(ended) == found.lines
    above = old[line - 2] if line > 1 and line == len(old) else old[line - 1]
    assert {one.endswith("\r") for one in new[line - 1 : line - 1 + count]} == {above.endswith("\r")}
    before, after = (scan_comments("a.rs", one, RUST)[0] for one in (text, found.text))
    ours = [one for one in after if line <= one.line < line + count]
    assert [(one.target, one.quote) for one in ours] == [(wanted.target, wanted.quote)]
    assert len(after) == len(before) + 1
