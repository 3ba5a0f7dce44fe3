import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.config.document import DataDocument, DocumentError
from duvet.config.document_formats import read_document
from duvet.model import Place

TEXTS = {
    "json": '{\n  "é": {"b c": [1, {"d": "x"}]},\n  "e": "\\u0061\\"}"\n}\n',
    "yaml": 'é:\n  b c: [1, {d: x}]\ne: "\\u0061\\"}"\n',
    "toml": '[é]\n"b c" = [1, {d = "x"}]\n'.replace("[é]", '["é"]') + "[f]\n",
}
PATHS: list[tuple[str | int, ...]] = [("é",), ("é", "b c", 0), ("é", "b c", 1, "d"), ("e",), ("f",), ("é", "z")]
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(10 * [f'*{before}'])}]\n" for before, name in zip("abcdef", "bcdefg", strict=True)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{index}: &a{index} [*a{index - 1}]\n" for index in range(1, 500))


def read(text: str | bytes, ending: str) -> DataDocument:
    return read_document(text.encode() if isinstance(text, str) else text, f"file.{ending}")


def refusal(text: str | bytes, ending: str) -> str:
    with pytest.raises(DocumentError) as error:
        read(text, ending)
    place = error.value.place
    return f"{place.line}:{place.column}+{place.width} {error.value.message}"


def test_values_have_places_and_types(snapshot: Snapshot) -> None:
    lines: list[str] = []
    for ending, text in TEXTS.items():
        texts = [before + text.replace("\n", end) for before in ("", "\ufeff") for end in ("\n", "\r\n")]
        variants = [read(one, ending) for one in texts]
        first, *others = [[(one.key_place(*path), one.value_place(*path)) for path in PATHS] for one in variants]
        assert others == [first] * 3
        shown = [f"{path}: key {key}, value {value}" for path, (key, value) in zip(PATHS, first, strict=True)]
        lines += [f"# {ending}", *shown, ""]
    snapshot.assert_match("\n".join(lines), "problems/places.txt")
    below = {"b c": [1, {"d": "x"}]}
    assert read(TEXTS["json"], "json").values == read(TEXTS["yaml"], "YML").values == {"é": below, "e": 'a"}'}
    assert read(TEXTS["toml"], "toml").values == {"é": below, "f": {}}


WORDS = [
    *("no", "On", "2027-12-31", "12:30:45", "1_000", "0b1", ".", "~", "Null", "", "true", "FALSE", "-012", "0o17"),
    *("0xfF", "+1.5e3", "1.", ".5", "-.Inf", ".nan", '"1"', "'~'", "!!str 1", "|\n  a\n  b"),
]


def test_yaml_words_have_their_types_and_aliases_are_expanded(snapshot: Snapshot) -> None:
    found = (f"{word!r}: {read(f'a: {word}', 'yaml').values['a']!r}\n" for word in WORDS)
    snapshot.assert_match("".join(found), "config/yaml_words.txt")
    document = read("a: &x {y: [&z 1, *z]}\nb: *x\n", "yaml")
    assert document.values == {"a": {"y": [1, 1]}, "b": {"y": [1, 1]}}
    assert document.value_place("b", "y", 0) == Place(2, 4, 2)


REFUSED = {
    "json": [
        *('{"a": 1,\n"\\u0061": 2}', '[{"a": 1, "a": 2}]', "null", "\n [1]", '{"é": x}', '{"a": "\t"}', '{"a": 1,}'),
        *('{"a": 1}}', "// a\n{}", '{"a": NaN}', '{"a": 1,\n"b": ', '{"b":\n1e999}', f'{{"b":\n{"9" * 5000}}}'),
    ],
    "yaml": [
        *("a: 1\nb: 2\na: 3", "x: [{a: 1, 'a': 2}]", "a: !b c", "a: !!python/object:os.system {}", "- !!binary a"),
        *("1: a", "~: a", "a: &x y\n*x : b", "? [a]\n: b", "{{a: b}: c}", "<<: {a: b}", "a: b\n---\nc: d", "a: *b"),
        *("a: &a [*a]", f"a: {'9' * 5000}", "- a", "a", "a: 1\n b: 2", "a:\n\t- b", 'é: "\x01"'),
    ],
    "toml": [
        *("a = 1\na = 2", "[a.b]\n[c]\n[a.b]", "x = [{a = 1, a = 2}]", "a = 1\n[[a]]", "\n[[source]\n", "a = 'x"),
        *("a = 1\nb", "[a]\n[a]", "# \x0c", f"a =\nb = {'9' * 5000}", f"a = 1\nb = {'9' * 5000}", f"a = {'[' * 5000}"),
    ],
}


def test_invalid_documents_are_refused(snapshot: Snapshot) -> None:
    found = [f"{text[:40]!r}\n{refusal(text, ending)}\n" for ending, texts in REFUSED.items() for text in texts]
    snapshot.assert_match("\n".join(found), "problems/documents.txt")


DEEP = "nested too deeply: the limit is 64 levels"
MANY = "too many values: the limit is 100,000"
LARGE = "too many characters in strings and keys: the limit is 4,194,304"
BEYOND: list[tuple[str | bytes, str, str]] = [
    (b" " * (1 << 20) + b"\n", "json", "0:0+1 the file has 1,048,577 bytes; the limit is 1,048,576"),
    ('{"a":' * 65 + "1" + "}" * 65, "json", f"1:321+1 {DEEP}"),
    ("[" * 500_000, "json", f"1:1+1 JSON parse error at line 1, column 1: {DEEP}"),
    ("[" * 500_000, "yaml", f"1:65+1 {DEEP}"),
    ("a = " + "[" * 64 + "]" * 64, "toml", f"1:68+2 {DEEP}"),
    (".".join("a" * 65) + " = 1", "toml", f"1:127+1 {DEEP}"),
    ("a = [" + "1," * 100_000 + "]", "toml", f"1:200000+1 {MANY}"),
    (BOMB, "yaml", f"5:29+2 {MANY}"),
    (f"a: &a {'x' * 1_000_000}\nb: [*a, *a, *a]\nc: d\ne: *a\n", "yaml", f"4:4+2 {LARGE}"),
    ((f"a: &a {{ ? {'x' * 500_000} : 1 }}\nb:\n" + "- *a\n" * 9), "yaml", f"10:3+2 {LARGE}"),
    (f"a: &a {'1' * 4_000}\nb: [{'*a,' * 1_100}]\n", "yaml", f"2:3158+2 {LARGE}"),
    (CHAIN, "yaml", f"64:12+4 {DEEP}"),
]


def test_documents_above_the_limits_are_refused_and_others_read() -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST refuse a service configuration or recipe that is larger than 1 MiB, that is nested more than 64
    ##% levels deep, or whose aliases expand to more than 100,000 values.
    assert [refusal(text, ending) for text, ending, _ in BEYOND] == [message for *_, message in BEYOND]
    assert read('{"a":' * 64 + "1" + "}" * 64, "json").values
    assert read("{a: " * 64 + "1" + "}" * 64, "yaml").values
    assert read(b" " * ((1 << 20) - 2) + b"{}", "json").values == {}
