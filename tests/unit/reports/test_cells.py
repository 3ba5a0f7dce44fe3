from hypothesis import given, strategies as st

from duvet.reports.cells import STATE_MARKS, align_left, cut_middle, escape_cell, fit_cells, measure_width, wrap_cells
from duvet.trace.catalogue import State

TEXTS = st.text(st.sampled_from("ab 日\N{COMBINING ACUTE ACCENT}\x1b\t\n|é"), max_size=60)


def test_cells_are_escaped_measured_cut_and_padded() -> None:
    assert {state.words for state in State} == STATE_MARKS.keys()
    assert escape_cell("a\tb\x1b[31m\u202e\ud800\x7f\n") == r"a    b\u{1b}[31m\u{202e}\u{d800}\u{7f}\u{a}"
    assert [measure_width(text) for text in ("", "abc", "日本", "e\N{COMBINING ACUTE ACCENT}", "…")] == [0, 3, 4, 1, 1]
    name = "Specification 12"
    assert [cut_middle(name, most) for most in (16, 11, 3, 1)] == [name, "Speci…on 12", "S…2", "…"]
    assert align_left("日", 4) + "|" == "日  |"


def test_lines_break_at_blanks_and_in_long_words() -> None:
    accents = "e\N{COMBINING ACUTE ACCENT}" * 5
    for text, room, lines in (
        ("", 3, [""]),
        ("tea", 3, ["tea"]),
        ("tea is hot", 6, ["tea is", "hot"]),
        ("teapot", 4, ["teap", "ot"]),
        ("日本語", 1, ["日", "本", "語"]),
        (accents, 5, [accents]),
        (f"{accents} x", 5, [accents, "x"]),
        ("a  b", 2, ["a ", "b"]),
    ):
        assert [text[start:end] for start, end in wrap_cells(text, room)] == lines


@given(st.text(), st.integers(1, 40))
def test_no_text_takes_more_than_its_cells(text: str, most: int) -> None:
    assert measure_width(cut_middle(escape_cell(text), most)) <= most
    assert measure_width(fit_cells(escape_cell(text), most)) <= most
