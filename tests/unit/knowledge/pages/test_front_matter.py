from collections.abc import Sequence

from hypothesis import given, strategies as st

from duvet.config.document_formats import parse_scalar_as_text, parse_yaml
from duvet.knowledge.pages.front_matter import _read_plain_fields

_SIGNS = "ab1 -:#,[]{}'\"&*!|>%@`?~.=<\\/+_\t\u00e9\u00a0\u2028\ufeff\x85\x07"
_WORDS = st.sampled_from(
    ["true", "null", "~", "1e3", "0x1f", "2026-05-31", "<<", "a: b", "a #b", "a:", "#a", "- a", ""]
)
_SCALAR = st.one_of(_WORDS, st.text(_SIGNS, max_size=6), st.text(max_size=4), st.text("ab c", max_size=5).map(repr))
_LIST = st.lists(_SCALAR, max_size=3)
_KEY = st.one_of(st.sampled_from(["title", "date created", "tags", "null", "1", "\u00e9"]), st.text(_SIGNS, max_size=3))
_BLANKS = st.sampled_from(["", " ", "  "])
_LINE = st.one_of(
    st.builds("{}:{}{}{}".format, _KEY, _BLANKS, _SCALAR, _BLANKS),
    st.builds("{}-{}{}{}".format, _BLANKS, _BLANKS, _SCALAR, _BLANKS),
    st.builds(lambda key, items: f"{key}: [{','.join(items)}]", _KEY, _LIST),
    st.builds(
        lambda key, items, start: "\n".join([f"{key}:", *(f"{start}- {one}" for one in items)]), _KEY, _LIST, _BLANKS
    ),
    _SCALAR,
)


@given(st.lists(_LINE, max_size=4))
def test_lines_that_need_no_yaml_have_the_values_of_yaml(lines: Sequence[str]) -> None:
    text = "".join(f"{line}\n" for line in ("---", *lines))
    values = _read_plain_fields(text.split("\n")[1:-1], parse_scalar_as_text)
    if values is not None:
        expected = parse_yaml(text, "a.md", parse_scalar_as_text).values
        assert (values, list(values)) == (expected, list(expected))


LISTS = "tags: [tea, 'a, b',  \"c\" ]\nempty: []\nnone:"
DATES = "date created: 2026-05-31 \ndraft: yes\ndone: true"
NOT_PLAIN = (
    *("title: a # b", "title: a: b", "title: >\n  a", "title: a\n b", "title: a\ntitle: b", "title: a\n- b"),
    *("tags:\n  - a\n - b", "null: a", f"title: {'a' * 1_000}"),
)
PLAIN = {
    "title: Tea at 5:30": {"title": "Tea at 5:30"},
    DATES: {"date created": "2026-05-31", "draft": "yes", "done": True},
    LISTS: {"tags": ["tea", "a, b", "c"], "empty": [], "none": None},
    "aliases:\n  - Brewing tea\n  - '1'\nx:\n- 1": {"aliases": ["Brewing tea", "1"], "x": ["1"]},
    "link: https://a.example/#b": {"link": "https://a.example/#b"},
    **dict.fromkeys(NOT_PLAIN),
}


def test_plain_lines() -> None:
    assert {lines: _read_plain_fields(lines.split("\n"), parse_scalar_as_text) for lines in PLAIN} == PLAIN
    assert _read_plain_fields([], parse_scalar_as_text) == {}
