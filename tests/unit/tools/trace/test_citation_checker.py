import pytest
from hypothesis import given, strategies as st

from duvet.config.languages import Language, find_comment_pair
from duvet.model import Kind
from duvet.sources.comments import SourceStyle
from duvet.sources.editor import format_annotation
from duvet.tools.trace.citation_checker import parse_pasted

QUOTE = "The pot MUST be warm, and # or % or = change nothing in it."
Said = tuple[str, str, str]


def read(text: str, *styles: SourceStyle) -> list[Said]:
    """Return type, target and quote of each annotation."""
    found = parse_pasted("-", text, styles)
    assert found.problems == []
    return [(one.kind.name.lower(), one.target, one.quote) for one in found.annotations]


@pytest.mark.parametrize("language", Language)
def test_each_language_is_read(language: Language) -> None:
    style = SourceStyle(*language.style)
    lines = format_annotation(style, "\t", "tea.md#pot", QUOTE, kind=Kind.TEST, most=40)
    assert len(lines) > 3
    pair = find_comment_pair(language.patterns[0], style.meta)
    texts = ["\n".join(lines), "\r\n".join([*lines, ""])]
    texts += ["\n".join([pair.first, *lines, f" {pair.last}"])] if pair else []
    ##= man/spec/mcp.md#tools
    ##% `validate_citation` MUST accept exactly the citations that `duvet report` accepts.
    for one in (style, SourceStyle("@=", "@#")):
        assert [read(text, one) for text in texts] == [[("test", "tea.md#pot", QUOTE)]] * len(texts)


FORMS = {
    "": ["tea.md#pot", "\n  tea.md#pot  \n", "//=tea.md#pot", "/*= tea.md#pot */"],
    "The pot MUST be warm.": ["tea.md#pot\nThe pot\nMUST be warm."],
    "The pot": [
        *("#= tea.md#pot\n#% The pot", "#= tea.md#pot\n## The pot", "(*= tea.md#pot\n *# The pot *)"),
        *("<!--= tea.md#pot -->\n<!--# The pot -->", "{-= tea.md#pot -}\n{-# The pot -}"),
        *("///= tea.md#pot\n///# The pot", "REM= tea.md#pot\nREM# The pot", "dnl= tea.md#pot\ndnl# The pot"),
        "fn pot() {\n  //= tea.md#pot\n  //# The pot\n}",
        *("@= tea.md#pot\n@% The pot", "\\= tea.md#pot\n\\# The pot", "{{!--= tea.md#pot --}}\n{{!--# The pot --}}"),
        *("--[[= tea.md#pot ]]\n--[[# The pot ]]", ".. = source=tea.md#pot\n.. # The pot"),
        "#= tea.md#pot\n#% The pot\n\n## The handle",
    ],
}


def test_further_forms_are_read() -> None:
    found = {quote: [read(text) for text in texts] for quote, texts in FORMS.items()}
    assert found == {quote: [[("citation", "tea.md#pot", quote)]] * len(texts) for quote, texts in FORMS.items()}


AFTER = ["if (a\n    != b) {", "a =\n    b\n    *= 2;", "## Heading", "#= a.b\n#% c", "# set x = a#b\n--x;"]
AFTER += ["%= 'a#b'", "x= '#fff'"]
ALL = [SourceStyle(), SourceStyle("*=", "*#"), SourceStyle("##=", "##%"), SourceStyle("!=", "!#")]
REM = "REM= tea.md#pot\nREM# The pot\n"


@pytest.mark.parametrize("code", AFTER)
@pytest.mark.parametrize("quoted", ["//= tea.md#pot\n//# The pot\n", "##= tea.md#pot\n##% The pot\n", REM])
def test_code_around_is_no_citation(quoted: str, code: str) -> None:
    for styles in ([], [SourceStyle()], ALL):
        for text in (f"{quoted}{code}", f"{quoted}\n{code}\n", f"{code}\n{quoted}"):
            assert read(text, *styles) == [("citation", "tea.md#pot", "The pot")]


def test_targets_with_an_equals_sign_fields_without_signs_and_known_styles() -> None:
    assert read("https://example.org/?x=a#b\nThe pot") == [("citation", "https://example.org/?x=a#b", "The pot")]
    assert read("tea.md#pot\ntype=test\nThe pot") == [("test", "tea.md#pot", "The pot")]
    # A known style is read as in a source.
    assert read("*= tea.md#pot\n*# The pot */", ALL[1]) == [("citation", "tea.md#pot", "The pot */")]


def test_several_annotations_are_read_with_their_fields() -> None:
    first = "//= tea.md#pot\n//= type=exception\n//= reason=We drink\n//= reason=coffee.\n//# The pot\n"
    found = parse_pasted("-", f"{first}//= tea.md#cup\n//# A cup\n\n##= tea.md#lid\n", [])
    assert [(one.line, one.kind, one.target, one.quote, one.reason) for one in found.annotations] == [
        (1, Kind.EXCEPTION, "tea.md#pot", "The pot", "We drink coffee."),
        (6, Kind.CITATION, "tea.md#cup", "A cup", ""),
        (9, Kind.CITATION, "tea.md#lid", "", ""),
    ]


@given(st.text(alphabet=st.sampled_from("/*#%=-<>!(){} \t\r\n\0a.\u2028\xe9"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    found = parse_pasted("-", text, [SourceStyle(), SourceStyle("*=", "*#")])
    assert found.text.count("\n") <= text.count("\n")
