import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from duvet.store.records import ChunkFilters, FileKind, Relation
from duvet.store.sqlite import Store
from duvet.words import extract_query_words
from tests.unit.store.store_files import KETTLE, edge, frequencies, make_ingested_file, node, symbol

ANY = ChunkFilters()


def put(store: Store, **texts: str) -> None:
    with store.writing() as writing:
        for name, text in texts.items():
            writing.put(make_ingested_file(name, text))


def find_files(store: Store, words: Iterable[str], *, every: bool = False, limit: int = 9) -> str:
    hits = store.find_by_words([*words], ANY, limit, every=every)
    scores = [score for _, score in hits]
    assert scores == sorted(scores, reverse=True) and all(score > 0 for score in scores)
    return " ".join(one.artifact.path for one in store.chunks([number for number, _ in hits]))


def ids(store: Store, numbers: Sequence[int] | None) -> list[str]:
    assert numbers is not None
    return [one.id for one in store.chunks(numbers)]


def test_every_word_or_any(empty: Store) -> None:
    put(empty, a="milk and tea\n", b="tea alone\n", c="coffee\n")
    assert find_files(empty, ["tea", "milk"], every=True) == "a"
    assert find_files(empty, ["tea", "milk"]) == "a b"
    assert find_files(empty, ["tea", "cocoa"], every=True) == ""
    assert find_files(empty, ["tea", "cocoa"]) == "b a"
    assert find_files(empty, ["cocoa"]) == find_files(empty, []) == find_files(empty, [], every=True) == ""
    with empty.writing() as writing:
        writing.put(make_ingested_file("d", "tea\n"))
        assert find_files(empty, ["tea"]) == "d b a"
        writing.remove("a")
        assert find_files(empty, ["tea"]) == "d b"


def test_forms_of_words_parts_of_names_and_other_scripts(empty: Store) -> None:
    with empty.writing() as writing:
        writing.put(make_ingested_file("a", "parseHeaderLine(raw_bytes)\n", title="Boiling kettles"))
    put(empty, b="Der Kaffee im Café\n", c="чайник кипит\n", d="ÉTÉ\n", e="茶壶 开水\n")
    names = ("parseHeaderLine", "headers", "LINE", "raw", "bytes", "rawbytes", "boiled", "Kettle")
    cases = {**dict.fromkeys(names, "a"), "cafe": "b", "cafe\u0301": "b", "ЧАЙНИК": "c", "été": "d", "茶壶": "e"}
    assert {word: find_files(empty, [word]) for word in cases} == cases
    assert find_files(empty, ["header", "kettle"], every=True) == "a"


def test_rare_words_frequent_words_and_titles_count_most(empty: Store) -> None:
    rest = "and so on " * 60
    often = f"water water {rest} kettle kettle kettle\n"
    put(empty, common=f"water {rest}\n", often=often, rare=f"saffron {rest}\n", short="kettle\n")
    with empty.writing() as writing:
        writing.put(make_ingested_file("titled", f"kettle {rest}\n", title="Kettles"))
    put(empty, once=f"kettle {rest}\n")
    assert find_files(empty, ["saffron", "water"]) == "rare often common"
    assert find_files(empty, ["kettle"]) == "short titled often once"


def test_very_common_words_only_count_beside_rare_ones(empty: Store) -> None:
    put(empty, **{f"n{number:04}": "common text\n\n" * 1000 for number in range(3)})
    put(empty, few="rare text\n", two="rare text that is common\n")
    assert find_files(empty, ["common", "rare"], limit=2) == "few two"
    assert find_files(empty, ["common", "rare"], limit=4) == "few two n0000 n0000"
    assert find_files(empty, ["common"], limit=3) == "n0000 n0000 n0000"
    assert find_files(empty, ["rare"], limit=0) == ""
    words = {"common": 3001, "rare": 2, "Texts": 3002, "none": 0}
    assert frequencies(empty, *words) == words


def test_common_words_add_to_the_scores_of_chunks_with_rare_ones(empty: Store) -> None:
    """Scoring only the chunks with rare words gives the same scores as scoring all of them."""
    words = {"rare": 200, "seldom": 9, "usual": 3, "often": 2}
    texts = (" ".join(word if n % step == 0 else "other" for word, step in words.items()) for n in range(3600))
    put(empty, all="".join(f"{text}\n\n" for text in texts))
    assert frequencies(empty, *words) == {"rare": 18, "seldom": 400, "usual": 1200, "often": 1800}
    for query in (["rare", "usual"], ["usual", "often"], ["rare", "seldom", "usual"], [*words], ["usual"], ["often"]):
        full = dict(empty.find_by_words(query, ANY, 1 << 20, every=False))
        for limit in (1, 5, 100):
            found = empty.find_by_words(query, ANY, limit, every=False)
            assert [score for _, score in found] == pytest.approx([*full.values()][:limit])
            assert [full[number] for number, _ in found] == pytest.approx([score for _, score in found])


SYNTAX = ('tea" OR "x', "tea*", "title:tea", "-tea", "NEAR(tea x)", "tea AND", "(tea", "tea\0x", "tea\ud800", "^tea")
NO_WORDS = ("", " ", '"', "***", "\0", "\ud800", "\ue001", "()", "—", "\U0010ffff")


def test_a_query_has_no_syntax(empty: Store) -> None:
    put(empty, a="tea\n", b="coffee\n")
    for query in (*SYNTAX, "tea'; --", "\ue001tea", "{words}: tea"):
        assert find_files(empty, [query]) == find_files(empty, extract_query_words(query)[0]) == "a"
    for query in NO_WORDS:
        assert extract_query_words(query) == ([], False)
        assert find_files(empty, [query]) == find_files(empty, [query], every=True) == ""
        assert frequencies(empty, query) == {query: 0}


def test_long_queries_are_cut(empty: Store) -> None:
    put(empty, first="w0\n", last=f"w63 {'x' * 3000}\n", beyond="w64\n")
    assert extract_query_words("tea " * 400) == (["tea"], False)
    assert extract_query_words("tea " * 600) == (["tea"], True)
    many = [f"w{number}" for number in range(70)]
    words, is_cut = extract_query_words(" ".join(many))
    assert (words, is_cut) == (many[:64], True)
    assert find_files(empty, words) == find_files(empty, many) == "first last"
    assert find_files(empty, extract_query_words("x" * 1_000_000)[0]) == ""
    assert find_files(empty, ["x" * 3000]) == "last"


def test_hostile_texts_and_names(empty: Store) -> None:
    odd = "tea \0 \ud800 \ue001coffee \ue004tea \U0001f375 " + "x" * 100_000 + "\n"
    path = "a::b/\"c\" %d_'e':\n\ud800.py"
    with empty.writing() as writing:
        writing.put(
            make_ingested_file(path, odd, title="\0 \ud800", subsystem="\ud800", tags=("\udcff",), kind=FileKind.TEST)
        )
    (chunk,) = empty.chunks(empty.chunk_numbers(path))
    assert (chunk.text, chunk.piece.title, chunk.id) == (odd, "\0 \ud800", f"{path}::0")
    assert find_files(empty, ["coffee"]) == path
    assert (chunk.artifact.subsystem, chunk.artifact.tags) == ("\ud800", ("\udcff",))
    assert empty.allowed(ChunkFilters(subsystems=("\ud800",))) == [chunk.number]
    with empty.writing() as writing:
        writing.remove(path)
    assert (empty.artifacts(), find_files(empty, ["coffee"])) == ({}, "")


CALLED = {
    **{key: ["src/kettle.py::0"] for key in ("src/kettle.py", "SRC/Kettle.py", "kettle.py", "/home/me/src/kettle.py")},
    "kettle": ["src/kettle.py::0", "src/tea/kettle.d.ts::0", "docs/Kettle.md::0"],
    **{key: ["src/tea/kettle.d.ts::0"] for key in ("tea/kettle", "tea/kettle.d.ts")},
    ".env": [".env::0"],
    "odd \ud800.py": ["src/odd \ud800.py::0"],
    **{path: [] for path in ("a/kettle.d.ts", "ettle.py", "src", "", "/", '"*')},
}
DECLARED = {
    "boil": ["src/kettle.py::0"],
    "Boil": ["src/tea/kettle.d.ts::0"],
    "BOIL": ["src/kettle.py::0", "src/tea/kettle.d.ts::0"],
    **{key: ["src/kettle.py::2"] for key in ("Spout", "pourSlowly")},
    "pour_slowly": ["src/odd \ud800.py::0"],
    "PourSlowly": ["src/kettle.py::2", "src/odd \ud800.py::0"],
    **{name: [] for name in ("pour", "", '"*')},
}


def test_files_are_found_by_path_and_symbols_by_name(empty: Store) -> None:
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST find words in any grammatical form, symbols by a part of their names, and files by path or
    ##% name.
    symbols = (
        symbol("boil", "function", 1, 2),
        symbol("Spout", "class", 5, 7),
        symbol("Spout.pourSlowly", "method", 6, 7),
    )
    with empty.writing() as writing:
        writing.put(make_ingested_file("src/kettle.py", KETTLE, symbols=symbols))
        writing.put(make_ingested_file("src/tea/kettle.d.ts", "x\n" * 5, symbols=(symbol("Boil", "class", 1, 2),)))
        writing.put(make_ingested_file("docs/Kettle.md", "A kettle\n", kind=FileKind.DOC))
        writing.put(make_ingested_file(".env", "POUR=1\n", kind=FileKind.OTHER))
        writing.put(make_ingested_file("src/odd \ud800.py", "x\n", symbols=(symbol("pour_slowly", "function", 1, 1),)))
        writing.put(make_ingested_file("empty/kettle.py", ""))
    assert {path: ids(empty, empty.find_named(path, ANY)) for path in CALLED} == CALLED
    assert {name: ids(empty, empty.find_declaring(name, ANY)) for name in DECLARED} == DECLARED
    docs = ChunkFilters(kinds=("doc",))
    assert ids(empty, empty.find_named("kettle", docs)) == ["docs/Kettle.md::0"]
    assert empty.find_named("src/kettle.py", docs) == empty.find_declaring("boil", docs) == []
    assert empty.has_symbols()
    with empty.writing() as writing:
        for path in [*empty.artifacts()]:
            writing.remove(path)
        assert empty.find_named("kettle", ANY) == empty.find_declaring("boil", ANY) == []
        writing.put(make_ingested_file("src/kettle.py", KETTLE))
    assert ids(empty, empty.find_named("kettle.py", ANY)) == ["src/kettle.py::0"]
    assert (empty.find_declaring("boil", ANY), empty.has_symbols()) == ([], False)


CODE = [f"src/kettle.py::{number}" for number in range(4)]
DOC = ["docs/guide.md::0", "docs/guide.md::1"]
TEST = ["tests/test_kettle.py::0"]


def allowed(store: Store, **filters: Any) -> list[str]:
    numbers = store.allowed(ChunkFilters(**filters))
    assert numbers is not None and list(numbers) == sorted(numbers)
    assert len(store.chunks(numbers)) == len(numbers)
    return ids(store, numbers)


FILTERED: list[tuple[dict[str, Any], list[str]]] = [
    ({"kinds": ("DOC", "test")}, DOC + TEST),
    ({"kinds": ("proto",)}, []),
    ({"namespaces": ("SRC",)}, CODE),
    ({"tags": ("water", "none")}, CODE),
    ({"tags": ("none",)}, []),
    ({"tags": ("hot",), "kinds": ("doc",)}, []),
    ({"since": 100.0}, CODE + DOC),
    ({"since": 100.5}, CODE),
    ({"symbols": ("SPOUT.pourslowly",)}, CODE[2:]),
    ({"symbols": ("pourSlowly",)}, []),
    ({"symbol_kinds": ("Function", "class")}, CODE[:1]),
    ({"symbol_languages": ("python",)}, [CODE[0], *CODE[2:]]),
    ({"symbol_languages": ("go",)}, []),
    ({"symbol_kinds": ("method",), "kinds": ("doc",)}, []),
    ({"subsystems": ("kitchen",)}, CODE + DOC),
    ({"subsystems": ("CELLAR", "attic")}, []),
]


def test_a_filter_is_a_choice_all_filters_apply_and_they_follow_changes(kitchen: Store) -> None:
    assert [(filters, allowed(kitchen, **filters)) for filters, _ in FILTERED] == FILTERED
    assert kitchen.allowed(ANY) is None
    assert allowed(kitchen, kinds=("doc",)) == DOC
    with kitchen.writing() as writing:
        nodes = [node("Subsystem:Cellar"), node("TestCase:tests/test_kettle.py"), node("DesignDoc:docs/guide.md")]
        writing.replace_graph(nodes, [edge("TestCase:tests/test_kettle.py", Relation.VALIDATES, "Subsystem:Cellar")])
        writing.remove("docs/guide.md")
        assert allowed(kitchen, kinds=("doc",)) == []
        symbols = (symbol("run", "method", 1, 1, "go"), symbol("Run", "type", 3, 4, "tsx"))
        writing.put(make_ingested_file("a.go", "1\n2\n3\n4\n", symbols=symbols))
    assert allowed(kitchen, kinds=("doc",)) == []
    assert allowed(kitchen, subsystems=("Cellar",)) == TEST
    assert allowed(kitchen, subsystems=("Kitchen", "Cellar"), kinds=("test", "code")) == CODE + TEST
    assert allowed(kitchen, symbols=("RUN",)) == ["a.go::0", "a.go::1"]
    assert allowed(kitchen, symbols=("run",), symbol_kinds=("type",)) == ["a.go::1"]
    assert allowed(kitchen, symbols=("run",), symbol_kinds=("type",), symbol_languages=("go",)) == []


def test_filters_apply_before_ranking_with_one_statement(empty: Store) -> None:
    put(empty, **{"a.py": "tea tea tea\n\n" * 500})
    with empty.writing() as writing:
        writing.put(make_ingested_file("docs/tea.md", "tea, among much else that is long\n", kind=FileKind.DOC))
    # Sqlite would keep each of several statements, which are long if they contain the numbers of chunks.
    empty.database.connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1000)
    for every in (True, False):
        ((number, _),) = empty.find_by_words(["tea"], ChunkFilters(kinds=("doc",)), 5, every=every)
        assert ids(empty, [number]) == ["docs/tea.md::0"]
        assert len(empty.find_by_words(["tea"], ChunkFilters(kinds=("code",)), 600, every=every)) == 500
    assert empty.find_by_words(["tea"], ChunkFilters(kinds=("proto",)), 5, every=False) == []


def test_long_and_short_lists_of_allowed_chunks_give_the_same_scores(empty: Store) -> None:
    put(empty, many="tea leaf\n\ntea leaf\n\ntea\n\n" * 3_000, few="tea leaf\n\ntea\n\n" * 525, other="leaf\n")
    code = ChunkFilters(kinds=("code",))
    assert len(empty.allowed(code) or ()) > 10_000
    for _ in range(2):
        some, rest = (dict(empty.find_by_words(["tea", "leaf"], one, 20, every=False)) for one in (code, ANY))
        assert some == pytest.approx(rest) and len(some) == 20
        with empty.writing() as writing:
            writing.remove("many")
