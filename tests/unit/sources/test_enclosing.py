"""Comments around annotations"""

from __future__ import annotations

import pytest

from duvet.sources.editor import CommentPair, enclose_lines, find_comment_pair, is_inside_comment

C, ML = CommentPair("/*", "*/"), CommentPair("(*", "*)")


@pytest.mark.parametrize(
    ("path", "meta", "pair"),
    [
        ("a.c", "*=", C),
        ("a.css", "*=", C),
        ("a.unknown", "*#=", C),
        ("a.ml", "*=", ML),
        ("src/a.pv", "*=", ML),
        ("a.v", "*=", ML),
        ("a.c", "//=", None),
        ("a.py", "##=", None),
    ],
)
def test_what_an_annotation_stands_between(path: str, meta: str, pair: CommentPair | None) -> None:
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


def test_lines_inside_a_comment() -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST insert a citation above the given line, in the comment style of the source, with the line's
    ##% indentation and without an implied type.
    lines = TEXT.count("\n")
    assert [line for line in range(1, lines + 1) if is_inside_comment(TEXT, line, C)] == [4, 5, 9, 13]


def test_lines_inside_a_comment_of_ocaml() -> None:
    text = "let a = 'b' (* x\n*)\nlet c = \"(*\"\nlet d = '\"' and e' = '('\n(* f\n   g *)\n"
    assert [line for line in range(1, 7) if is_inside_comment(text, line, ML)] == [2, 6]


def test_a_comment_of_its_own() -> None:
    assert enclose_lines(["\t *= a#b", "\t *# C."], "\t", C) == ["\t/*", "\t *= a#b", "\t *# C.", "\t */"]
