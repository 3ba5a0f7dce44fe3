"""The lines of annotations, compared with the rules spelt out line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.sources.comments import LineToken, find_runs, make_finder, may_have_annotations, tokenize_run
from duvet.text import WHITESPACE

STYLES = [("//=", "//#"), ("*=", "*#"), ("//", "//="), ("//=", "//"), ("", "#"), ("=", ""), ("", ""), ("=#", "=")]
TEXTS = st.lists(st.sampled_from(["//=", "//#", "*", "=", "#", "/", "a", "é", " ", "\t", "\r", "\n", "\n\n", "\x85"]))


def tokens_in(text: str, meta: str, content: str) -> list[LineToken]:
    return [token for run in find_runs(text, make_finder(meta, content)) for token in tokenize_run(run, meta, content)]


def test_tokens_in_order() -> None:
    ##= man/spec/trace.md#annotations
    ##% Consecutive lines that start with one of the two prefixes MUST form an annotation, and a target after quoted
    ##% text MUST start the next one.
    text = "//= a.md#b \n  \t//#  Some text\t\r\n\nfoo(); //= no\n// = no\n\u00a0//=type = test\n//#"
    assert tokens_in(text, "//=", "//#") == [
        LineToken(1, True, "a.md#b", 4),
        LineToken(2, False, "Some text", 20),
        LineToken(6, True, "type = test", 59),
        LineToken(7, False, "", 74),
    ]


def test_a_prefix_inside_a_string_counts_where_it_comes_first() -> None:
    text = 'let a = "\n//= spec.md#a\n";'
    assert tokens_in(text, "//=", "//#") == [LineToken(2, True, "spec.md#a", 14)]


def test_a_byte_order_mark_hides_the_first_prefix() -> None:
    assert tokens_in("\ufeff//= a\n//= b", "//=", "//#") == [LineToken(2, True, "b", 11)]


def test_a_lone_carriage_return_ends_no_line() -> None:
    assert tokens_in("//= a\r//# b\r\n//# c", "//=", "//#") == [
        LineToken(1, True, "a\r//# b", 4),
        LineToken(2, False, "c", 17),
    ]


@pytest.mark.parametrize("prefixes", [(" *=", " *#"), ("\t//=", " //#"), ("\u3000*=", " *#")])
def test_indentation_is_no_part_of_a_prefix(prefixes: tuple[str, str]) -> None:
    text = "".join(f"{prefix} a\n" for prefix in prefixes)
    assert tokens_in(text, *prefixes) == []
    assert tokens_in(text + "%% b", prefixes[0], "%%") == [LineToken(3, False, "b", len(text) + 3)]


def plain_tokens(text: str, meta: str, content: str) -> list[LineToken]:
    found: list[LineToken] = []
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        tail = line.lstrip(WHITESPACE)
        prefix = next((prefix for prefix in (meta, content) if tail.startswith(prefix)), None)
        if tail and prefix is not None:
            rest = tail[len(prefix) :].lstrip(WHITESPACE)
            found.append(LineToken(number, prefix is meta, rest.rstrip(WHITESPACE), start + len(line) - len(rest)))
        start += len(line) + 1
    return found


def without_gaps(tokens: list[LineToken]) -> list[list[LineToken]]:
    found: list[list[LineToken]] = []
    for token in tokens:
        if found and token.line == found[-1][-1].line + 1:
            found[-1].append(token)
        else:
            found.append([token])
    return found


@given(TEXTS.map("".join), st.sampled_from(STYLES))
def test_equals_the_plain_rules(text: str, style: tuple[str, str]) -> None:
    expected = without_gaps(plain_tokens(text, *style))
    assert [tokenize_run(run, *style) for run in find_runs(text, make_finder(*style))] == expected
    if not may_have_annotations(text.encode(), *style):
        assert expected == []
