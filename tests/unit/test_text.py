from bisect import bisect_right
from difflib import unified_diff

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet import text as texts
from duvet.errors import UnreadableError
from duvet.model import Place
from duvet.text import make_unified_diff, match_lines

RANKS = {"/": 0, ".": 1, "..": 2}
PATHS = st.lists(st.sampled_from(["/", "a", "b-", "b", ".", "..", ".c", "a.b"]), max_size=6).map("/".join)


def test_paths_are_split_into_parts_and_sorted_by_them() -> None:
    paths = {
        "a/b.rs": "a b.rs",
        "/a//b/": "/ a b",
        "./a/./b": ". a b",
        "../a/../b": ".. a .. b",
        ".": ".",
        "/": "/",
        "": "",
    }
    assert {path: " ".join(texts.path_parts(path)) for path in paths} == paths
    ordered = ["/z", "./z", "../z", "src/a/b.rs", "src/a-b.rs", "src/a.rs"]
    assert sorted(ordered[1::2] + ordered[::2], key=texts.path_key) == ordered


@given(PATHS.map(texts.path_parts), PATHS.map(texts.path_parts))
def test_the_key_orders_as_the_parts_do(one: list[str], two: list[str]) -> None:
    def by_parts(parts: list[str]) -> list[tuple[int, str]]:
        return [(RANKS.get(part, 3), part) for part in parts]

    def by_key(parts: list[str]) -> str:
        return texts.path_key("/".join(parts).replace("//", "/", 1))

    assert (by_parts(one) < by_parts(two)) == (by_key(one) < by_key(two))


def test_white_space_is_that_of_unicode() -> None:
    # Python strips these four as well; they are no white space in Unicode.
    others = "\x1c\x1d\x1e\x1f"
    every = "".join(char for char in map(chr, range(0x110000)) if char.isspace() and char not in others)
    assert sorted(texts.WHITESPACE) == sorted(every)
    assert texts.trim("\u2028 \x1ca b\u3000\n") == "\x1ca b"


def test_text_has_to_be_utf8() -> None:
    assert texts.decode_utf8("é\n日".encode(), "a") == "é\n日"
    for data, message in [
        (b"a\n\n\xff", "a:3: invalid utf-8 sequence of 1 bytes from index 3"),
        (b"\xe6\x97", "a:1: incomplete utf-8 byte sequence from index 0"),
    ]:
        with pytest.raises(UnreadableError) as caught:
            texts.decode_utf8(data, "a")
        assert (str(caught.value), caught.value.hint) == (message, "save the file as UTF-8")


@given(st.text(st.sampled_from("aé\n\r")))
def test_lines_are_split(text: str) -> None:
    starts = texts.line_starts(text)
    assert [text[start:].partition("\n")[0] for start in starts] == text.split("\n")
    for at in range(len(text)):
        assert texts.find_line_index(starts, at) == text.count("\n", 0, at)


def test_offsets_have_line_and_column() -> None:
    spans = [(0, 2), (4, 5), (4, 99), (1, 4), (5, 5), (6, 6)]
    places = [(1, 1, 2), (2, 2, 1), (2, 2, 1), (1, 2, 1), (2, 3, 1), (3, 1, 1)]
    assert [texts.find_place("éé\naé\n", *ends) for ends in spans] == [Place(*place) for place in places]


def test_texts_are_measured_and_shortened() -> None:
    assert [texts.byte_length(text) for text in ("", "ab", "é日🩸")] == [0, 2, 9]
    assert [texts.format_count(count, "error") for count in (0, 1, 2)] == ["0 errors", "1 error", "2 errors"]
    assert texts.quote_text('a"\\\n\t\r\0\x07é\u2028') == r'"a\"\\\n\t\r\0\u{7}é\u{2028}"'
    phrases = {'a "b"': "'a \"b\"'", "it's": '"it\'s"', 'it\'s "b"': '"it\'s \\"b\\""', '"\a': r'"\"\u{7}"'}
    phrases |= {r"\d": r'"\d"', "x" * 2000: f'"{"x" * 2000}"'}
    assert {one: texts.quote_phrase(one) for one in phrases} == phrases
    shortened = {"one two": "one two", "one two three": "one …", "x" * 9: "xxxxxxx …"}
    assert {text: texts.shorten_text(text, 7) for text in shortened} == shortened


TEXTS = st.text(st.sampled_from("aZ9é日 .,-_\t\n\u00a0\u2028\u2014\x1c\u0301")) | st.text()


def plain_normalise(text: str) -> str:
    """Normalise one character after another, with at most one pending separator."""
    out: list[str] = []
    waiting = ""
    for char in text:
        if char.isalnum():
            out += [waiting, char]
            waiting = ""
        elif char not in texts.WHITESPACE:
            out.append(waiting.strip(texts.WHITESPACE))
            waiting = char
        elif out and not waiting:
            waiting = char
    return "".join(out) + waiting.strip(texts.WHITESPACE)


SPACED = [
    *("", " \n ", "It MUST be.", "MUST \n  be", "MUST\n be", "MUST\t\tbe", "a new-\nline", "a , b", "a. ( b )"),
    *("  (a) - ", "a_ b", "a\u00a0 b", "a \x1c b", "caf\u00e9 \u2014 th\u00e9"),
]


def test_white_space_is_normalised(snapshot: Snapshot) -> None:
    snapshot.assert_match("".join(f"{text!r}: {texts.normalise(text)!r}\n" for text in SPACED), "text/normalised.txt")
    assert texts.normalise_with_map(" It  is. (\n so )") == ("It is.(so)", [0, 3, 6, 7, 9], [1, 5, 9, 12, 15])


@given(TEXTS)
def test_equals_the_plain_rules_and_is_idempotent(text: str) -> None:
    assert texts.normalise(text) == plain_normalise(text) == texts.normalise(texts.normalise(text))


@given(st.lists(st.sampled_from(["a", "é", ".", "("]), min_size=1), st.data())
def test_texts_that_are_equal_when_normalised_are_equal_unspaced(chars: list[str], data: st.DataObject) -> None:
    spaces = st.sampled_from(["", " ", "\n", " \t", "\u00a0", "\u2028 ", "\x1c"])
    one, other = ("".join(char + data.draw(spaces) for char in chars) for _ in range(2))
    assert texts.remove_spacing(one) == texts.remove_spacing(other) or texts.normalise(one) != texts.normalise(other)


@given(TEXTS)
def test_each_character_maps_back_to_itself(text: str) -> None:
    normal, offsets, originals = texts.normalise_with_map(text)
    places = [bisect_right(offsets, at) - 1 for at in range(len(normal))]
    back = [originals[place] + at - offsets[place] for at, place in enumerate(places)]
    assert normal == texts.normalise(text)
    assert "".join(text[at] for at in back) == normal
    assert back == sorted(set(back))
    assert offsets == sorted(set(offsets)) and originals == sorted(set(originals))


LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=30)


CHANGES = {
    ("", ""): [],
    ("abc", "abc"): [],
    ("", "a"): ["@@ -0,0 +1 @@", "+a"],
    ("a", ""): ["@@ -1 +0,0 @@", "-a"],
    ("abcdefg", "abcxefg"): ["@@ -3,3 +3,3 @@", " c", "-d", "+x", " e"],
    ("abcdefg", "xbcdefy"): ["@@ -1,2 +1,2 @@", "-a", "+x", " b", "@@ -6,2 +6,2 @@", " f", "-g", "+y"],
    ("abcd", "xbcy"): ["@@ -1,4 +1,4 @@", "-a", "+x", " b", " c", "-d", "+y"],
}


def test_lines_around_changes() -> None:
    assert {pair: list(make_unified_diff(*pair, 1)) for pair in CHANGES} == CHANGES


@given(LISTS, LISTS)
def test_the_lines_that_stay_rise_in_both(old: list[str], new: list[str]) -> None:
    pairs = match_lines(old, new)
    assert [old[i] for i, _ in pairs] == [new[j] for _, j in pairs]
    assert pairs == sorted(set(pairs)) and [j for _, j in pairs] == sorted({j for _, j in pairs})


@given(st.lists(st.integers(0, 60).map(str), max_size=40, unique=True), st.data())
def test_as_difflib_has_it_where_lines_went_away(old: list[str], data: st.DataObject) -> None:
    new = [line for line in old if data.draw(st.booleans())]
    assert list(make_unified_diff(old, new, 4)) == list(unified_diff(old, new, n=4, lineterm=""))[2:]


@given(LISTS, LISTS, st.integers(0, 3))
def test_a_difference_makes_the_new_text_of_the_old(old: list[str], new: list[str], context: int) -> None:
    made: list[str] = []
    position = 0
    for line in make_unified_diff(old, new, context):
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            made += old[position:first]
            position = first
        else:
            made += [line[1:]] if line[0] in "+ " else []
            position += line[0] in "- "
    assert made + old[position:] == new


def test_many_changes_in_a_long_text_are_found_at_once() -> None:
    old = [f"TEXT[implementation]: {number}" for number in range(20_000)]
    new = [line.replace("implementation", "test") if number % 2 else line for number, line in enumerate(old)]
    assert len(match_lines(old, new)) == 10_000
