import tomllib
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.config.document import DocumentError
from duvet.config.toml import parse_toml_bytes
from duvet.model import Place

DOCUMENT = """\
# a comment with [brackets] and a = sign
'$schema' = "one" # trailing
dotted . "two words".key = 3

[report.html] # note
enabled = true

[[source]]
pattern = '''
many # no comment
lines'''
comment-style = { meta = "//=", content = 'x}y' }

  [[ source ]]
pattern = \"\"\"a "quoted" \\\\ \\
  b\"\"\"\"
when = 1979-05-27 07:32:00Z
list = [ # comment ]
  [1, 2],
  { deep = [ { key = "v" } ] },
]
[source.inner]
last = 1
"""
PATHS: list[tuple[str | int, ...]] = [
    *(("$schema",), ("dotted",), ("dotted", "two words"), ("dotted", "two words", "key"), ("report",)),
    *(("report", "html", "enabled"), ("source", 0), ("source", 0, "pattern"), ("source", 0, "comment-style")),
    *(("source", 0, "comment-style", "content"), ("source", 1), ("source", 1, "pattern")),
    *(("source", 1, "when"), ("source", 1, "list"), ("source", 1, "list", 0, 1)),
    *(("source", 1, "list", 1, "deep", 0, "key"), ("source", 1, "inner", "last")),
]


def test_places_of_values_and_keys_and_of_absent_ones(snapshot: Snapshot) -> None:
    toml = parse_toml_bytes(DOCUMENT.encode(), "x.toml")
    snapshot.assert_match("".join(f"{keys}: {toml.value_place(*keys)}\n" for keys in PATHS), "config/toml_places.txt")
    keys: list[tuple[str | int, ...]] = [("$schema",), ("report", "html"), ("source", 0, "comment-style", "content")]
    assert [toml.key_place(*key) for key in keys] == [Place(2, 1, 9), Place(5, 9, 4), Place(12, 33, 7)]
    # Absent keys have the place of the table around them.
    assert toml.value_place("source", 0, "absent", 3) == toml.key_place("source", 0, "absent") == Place(8, 1, 10)
    assert toml.key_place("absent") == Place(1, 1)
    inline = parse_toml_bytes(b"spec = [\n {a = 1},\n\n {}]", "x.toml")
    assert [inline.value_place("spec", number) for number in (0, 1)] == [Place(2, 2, 7), Place(4, 2, 2)]


def test_a_byte_order_mark_and_windows_line_ends() -> None:
    toml = parse_toml_bytes("\ufeffa = 'x'\r\n[[b]]\r\nc = '''\r\ny\r\n'''\r\n".encode(), "x.toml")
    assert toml.values == {"a": "x", "b": [{"c": "y\n"}]}
    assert [toml.key_place("b", 0, "c"), toml.value_place("b", 0).line] == [Place(3, 1), 2]


def test_syntax_errors_have_a_place() -> None:
    for data, message in (
        (b"a = 1\na = 2", "line 2, column 6: duplicate key"),
        (b"a = 'x'\nb\xff", "line 2, column 2: invalid utf-8 sequence of 1 bytes from index 9"),
    ):
        with pytest.raises(DocumentError) as caught:
            parse_toml_bytes(data, "x.toml")
        assert caught.value.message == f"TOML parse error at {message}"
        assert (caught.value.path, caught.value.is_text) == ("x.toml", b"\xff" not in data)


KEYS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True),
    st.text(st.characters(codec="utf-8", min_codepoint=32, exclude_characters="'\x7f"), max_size=4).map(
        lambda text: f"'{text}'"
    ),
    st.sampled_from(['"a b"', '"\\u00e9"', '"\\"]"', '"#"']),
)
SCALARS = st.sampled_from(
    ["1", "-1.5e3", "true", "1979-05-27 07:32:00", "'a # b'", '"x\\"]}"', "'''a\n'b''\n''''", '"""\\\n ""\\"""" """""']
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[ # ]\n" + ",\n".join(items) + "\n]"),
        st.dictionaries(KEYS, inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"{key} = {value}" for key, value in items.items()) + "}"
        ),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.builds("{} = {} # ]".format, KEYS, VALUES),
    st.builds("{} . {} = {}".format, KEYS, KEYS, VALUES),
    st.builds("[{}]".format, KEYS),
    st.builds("[ {}.{} ]".format, KEYS, KEYS),
    st.builds("[[{}]] # '''".format, KEYS),
)


def paths(value: Any, keys: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        return [path for key, inner in value.items() for path in paths(inner, (*keys, key))]
    if isinstance(value, list):
        return [path for key, inner in enumerate(value) for path in paths(inner, (*keys, key))]
    return [(keys, value)]


@given(st.lists(STATEMENTS, max_size=6).map("\n".join))
def test_the_text_at_the_place_of_a_value_is_that_value(text: str) -> None:
    try:
        toml = parse_toml_bytes(text.encode(), "x.toml")
    except DocumentError:
        return
    for keys, value in paths(toml.values):
        start, end = toml.value_span(*keys)
        assert tomllib.loads(f"value = {text[start:end]}")["value"] == value
