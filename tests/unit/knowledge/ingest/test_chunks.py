import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from duvet.errors import DuvetError
from duvet.knowledge.ingest import chunks
from duvet.knowledge.ingest.chunks import find_symbols, make_module_symbol, read_outline, wants_symbols
from duvet.knowledge.ingest.files import detect_kind, format_problem_line
from duvet.store.records import FileKind, TextPiece
from tests.unit.knowledge.ingest.ingest_projects import LONG_AGO, project, written
from tests.unit.store.store_files import symbol

LINE = "word " * 15 + "end\n"
TEXTS = st.lists(
    st.sampled_from(["word ", "\n", LINE, "\n\n# Heading\n", "é" * 90, "  \n" * 40, "x" * 700]), max_size=60
).map("".join)


@given(TEXTS)
def test_chunks_cover_the_whole_text(text: str) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST split files into chunks of at most 1,000 characters, at headings and line ends where
    ##% possible.
    headings = [at for at in range(len(text)) if text.startswith("# Heading", at)]
    found = list(chunks.cut_pieces(text, headings))
    covered = {at for one in found for at in range(one.start, one.end)}
    assert not {text[at] for at in range(len(text)) if at not in covered} - {" ", "\n"}
    for one in found:
        assert 0 < one.end - one.start <= chunks.WINDOW
        assert one.line_start == text.count("\n", 0, one.start) + 1
        assert one.line_end == text.count("\n", 0, one.start + len(text[one.start : one.end].rstrip("\n"))) + 1
    for one, other in pairwise(found):
        assert one.start < other.start and one.end < other.end
        assert one.end - other.start <= chunks.OVERLAP
        assert other.start not in headings or one.end <= other.start or one.start < other.start


def test_texts_are_cut_at_headings_line_ends_and_words() -> None:
    def cut(text: str) -> list[tuple[int, int]]:
        return [(one.start, one.end) for one in chunks.cut_pieces(text)]

    assert [(one.line_start, one.line_end) for one in chunks.cut_pieces(LINE * 30)] == [(1, 12), (11, 22), (21, 30)]
    assert all(place % len(LINE) == 0 for chunk in cut(LINE * 30) for place in chunk)
    assert cut("word " * 500)[:3] == [(0, 1000), (800, 1800), (1600, 2500)]
    assert cut("x" * 1500) == [(0, 1000), (800, 1500)]
    assert cut("") == cut("\n \n" * 1000) == []
    text = LINE * 8 + "# Heading\n" + LINE * 3
    first, second = chunks.cut_pieces(text, [len(LINE) * 8], lambda start, end: f"{start}-{end}")
    assert first.end == second.start == len(LINE) * 8
    assert second == TextPiece(start=632, end=len(text), line_start=9, line_end=12, title=f"632-{len(text)}")


DOCUMENT = """# Top `code` #

See [a](b.md#x "t"), [c](<d e.md>), ![p](/img/p.png), [[page|label]], [[spec#sec]] and `[no](no.md)`.

Setext
------
[ref]: ../r.md
[web](https://x.org), [mail](mailto:a@b), [here](#top), [odd](a%20b.md?q=1)

```python
# No heading
[no](no.md)
```

- item
---
> quote
===
> # Quoted

- # Listed

#

### Deep
~~~
# Never closed
"""


def test_the_outlines_of_documents() -> None:
    found = read_outline("a.md", DOCUMENT)
    shown = [(one.level, one.title, DOCUMENT[one.start :].partition("\n")[0]) for one in found.headings]
    assert shown == [(1, "Top code", "# Top `code` #"), (2, "Setext", "Setext"), (3, "Deep", "### Deep")]
    assert found.links == ("b.md", "d e.md", "/img/p.png", "../r.md", "a b.md")
    assert found.pages == ("page", "spec#sec")
    many = read_outline("a.md", "[[p]] " + "".join(f"[a](b{number}) " for number in range(10_001)))
    assert (len(many.links), many.pages) == (9_999, ("p",))
    rst = "Title\n=====\n\nText\n\nPart\n----\n\nMore\n\nOther\n=====\n"
    adoc = "= Title\n\nText\n\n== Part ==\n"
    headings = [(one.start, one.level, one.title) for one in read_outline("a.rst", rst).headings]
    assert headings == [(0, 1, "Title"), (19, 2, "Part"), (36, 1, "Other")]
    assert [(one.level, one.title) for one in read_outline("a.adoc", adoc).headings] == [(1, "Title"), (2, "Part ==")]
    mdx = "import A from 'a'\n\n<A b='é'>\n## Part\n[c](d.md)\n</A>\n"
    assert [(one.start, one.title) for one in read_outline("a.mdx", mdx).headings] == [(mdx.index("## "), "Part")]
    assert (read_outline("a.mdx", mdx).links, read_outline("a.md", mdx).links) == (("d.md",), ())
    assert read_outline("a.txt", "# No\n") == chunks.DocumentOutline()


def test_chunks_are_titled_by_their_headings() -> None:
    text = "intro\n# A\n## B\ntext\n### C\n## D\n# E\n"
    find_title = chunks.make_heading_titles(read_outline("a.md", text), "Whole")
    titles = {"intro": "Whole", "# A": "Whole > A", "text": "Whole > A > B", "# D": "Whole > A > D", "# E": "Whole > E"}
    assert {word: find_title(text.index(word), text.index(word) + 1) for word in titles} == titles
    assert find_title(0, len(text)) == "Whole > A"
    assert chunks.make_heading_titles(chunks.DocumentOutline(), "")(0, 1) == ""


def test_hostile_texts_are_read_in_time() -> None:
    for text in ["`" * 100_000, "# " + " #" * 50_000, "[[" * 50_000, "](<" * 50_000, "= \n" * 50_000]:
        assert len(read_outline("a.md", text).headings) < len(text)


LATER = time.time_ns() + 3_600_000_000_000


def reader(folder: Path, most: int = 100, now: int = LATER) -> chunks.IngestReader:
    return chunks.IngestReader(project(folder), most, finds_symbols=True, now=now)


def read(folder: Path, path: str) -> chunks.IngestContent:
    found = reader(folder).read(path, detect_kind(path), "")
    assert found is not None
    return found


def test_files_without_chunks(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST index only the name of a file that is too large or not UTF-8.
    files: dict[str, tuple[str | bytes, str]] = {
        "a.md": ("", "empty"),
        "b.py": (" \n", "empty"),
        "c.py": (b"a\0b", "binary"),
        "d.py": (b"\xff", "binary"),
        "e.py": ("x" * 101, "too large"),
        "f.py": ("x" * 100, ""),
    }
    folder = written(tmp_path, {path: text for path, (text, _) in files.items()})
    (folder / "g.py").mkdir()
    found = {path: read(folder, path) for path in (*files, "g.py")}
    skipped = {path: reason for path, (_, reason) in files.items()}
    assert {path: one.skipped for path, one in found.items()} == {**skipped, "g.py": "unreadable"}
    assert [format_problem_line(one) for one in found["g.py"].problems] == ["g.py: Is a directory (os error 21)"]
    assert [path for path, one in found.items() if one.pieces] == ["f.py"]


def test_only_changed_files_are_read(tmp_path: Path) -> None:
    assert reader(tmp_path).read("a.md", FileKind.DOC, "") is None
    folder = written(tmp_path, {"a.md": "one"})
    first = read(folder, "a.md")
    assert first.pieces and reader(folder).find_unchanged_time("a.md", first.record.seen) == LONG_AGO
    same = reader(folder).read("a.md", FileKind.DOC, first.digest)
    assert same is not None and same.digest == first.digest and not same.pieces
    written(folder, {"a.md": "two"})
    assert reader(folder).find_unchanged_time("a.md", first.record.seen) is None
    assert reader(folder).find_unchanged_time("b.md", first.record.seen) is None
    # The time of a file that was just written says nothing about a later change.
    content = reader(folder, now=os.stat(folder / "a.md").st_ctime_ns).read("a.md", FileKind.DOC, "")
    assert content is not None and content.record.seen is not None
    assert reader(folder).find_unchanged_time("a.md", content.record.seen) is None


def test_a_document_with_front_matter(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST read titles, slugs, tags and aliases from front matter by the same rules as for pages.
    front = "subsystem: ' Ledger  1'\nslug: a\ntags: [money, 1.10, money]\nalias: An A, a\nmore: 1"
    text = f"\ufeff---\n{front}\n---\n# Title\n\nSee [b](b.md), [[c]].\n"
    named = "---\ntags: 'a, b #c'\ntag: [d]\ntitle: A  title\n---\n# Title\n"
    wrong = "---\ntags: [a, {b: c}]\nsubsystem: [x]\ncreated: soon\ntitle: Wrong\n---\n"
    folder = written(tmp_path, {"a.md": text, "b.md": "---\na: *b\n---\n# Title\n", "c.md": named, "d.md": wrong})
    found, other = reader(folder, 200).read("a.md", FileKind.DOC, ""), read(folder, "c.md").record
    assert found is not None and replace(found.record, seen=None) == chunks.FileRecord(
        None, "Ledger 1", ("money", "1.10"), "Title", "a", ("An A", "a"), ("b.md",), ("c",)
    )
    assert [(one.title, one.line_start, one.line_end) for one in found.pieces] == [("Title", 1, 10)]
    assert (other.tags, other.title) == (("a", "b", "c", "d"), "A title")
    # Invalid values are ignored. Invalid front matter is a problem; the rest of the file is indexed.
    assert (read(folder, "d.md").record.title, read(folder, "d.md").record.tags) == ("Wrong", ())
    invalid = read(folder, "b.md")
    assert [format_problem_line(one).partition(": ")[0] for one in invalid.problems] == ["b.md"]
    assert invalid.pieces and invalid.record.title == "Title"


PYTHON = """import x
type A = int
@deco
class K(B):
    x: int = 1
    @property
    def m(self):
        def inner(): pass
        return 1
    class In:
        async def n(self): pass
if x:
    def f(): pass
"""
TYPESCRIPT = """export abstract class A<T> implements I {
  foo = () => 1; constructor() {}
  abstract bar(): void;
}
export interface I { z(): void }
export type T = string;
export enum E { A }
namespace N { export function inN() {} }
export const f = (a) => a, g = function() {}, h = 1;
export default function dflt() {}
"""
JAVASCRIPT = "class A { m() {} f = () => 1; }\nconst x = class { z() {} };\nfunction* gen() {}\n"
GO = """package p
type S struct { A int }
type I interface { M() }
type (
  X = int
  Y = interface { Z() }
)
func (s *S) M() {}
func (s G[T]) N() {}
func F() {}
"""
EXPECTED = """
a.py: type A 2-2, class K 3-11, method K.m 6-9, class K.In 10-11, method K.In.n 11-11, function f 13-13
a.ts: class A 1-4, method A.foo 2-2, method A.constructor 2-2, method A.bar 3-3, interface I 5-5, method I.z 5-5
a.ts: type T 6-6, type E 7-7, module N 8-8, function N.inN 8-8, function f 9-9, function g 9-9, function dflt 10-10
a.mjs: class A 1-1, method A.m 1-1, method A.f 1-1, class x 2-2, method x.z 2-2, function gen 3-3
a.go: module p 1-1, type S 2-2, interface I 3-3, type X 5-5, interface Y 6-6, method S.M 8-8, method G.N 9-9, function F 10-10
"""


def test_broken_and_hostile_code_is_no_error() -> None:
    ##= man/spec/trace.md#commands
    ##% duvet MUST report invalid input without a traceback, and MUST NOT print control characters from it.
    for path, text, least in [
        ("a.py", "def broken(:\nclass After:\n    def ok(self): pass\n", 2),
        ("a.py", "(" * 300_000, 0),
        ("a.py", "".join(" " * depth + f"class A{depth}:\n" for depth in range(900)), 100),
        ("a.js", "class A { m() {" * 20_000, 0),
        ("a.go", "\x00\xff", 0),
        ("a.rs", "fn main() {}", 0),
    ]:
        assert len(find_symbols(path, text.encode())) >= least


def test_symbols_of_each_language_are_found() -> None:
    for path, text in {"a.py": PYTHON, "a.ts": TYPESCRIPT, "a.mjs": JAVASCRIPT, "a.go": GO}.items():
        found = find_symbols(path, text.encode())
        shown = [f"{one.kind} {one.qualified_name} {one.line_start}-{one.line_end}" for one in found]
        lines = [line.removeprefix(f"{path}: ") for line in EXPECTED.splitlines() if line.startswith(f"{path}: ")]
        assert ", ".join(shown) == ", ".join(lines)
    paths = ("src/tea/pot.py", "src/tea/__init__.py", "setup.py", "lib/index.mjs", "a.ts", "a.go", "a.md")
    modules = [[one.qualified_name for one in make_module_symbol(path)] for path in paths]
    assert modules == [["pot"], ["tea"], ["setup"], ["lib"], [], [], []]
    assert find_symbols("a.pyi", b"class A: ...") == (symbol("A", "class", 1, 1),)
    assert find_symbols("a.tsx", b"export const C = () => <p>{x}</p>;")[0].language == "tsx"
    find_title = chunks.make_symbol_titles(PYTHON, find_symbols("a.py", PYTHON.encode()))
    start, end = PYTHON.index("def m"), PYTHON.index("async")
    assert (find_title(start, end), find_title(0, 5)) == ("K.m, K.In, K.In.n", "")


def test_a_missing_extra_is_an_error_only_if_symbols_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [wants_symbols(one) for one in (None, True, False)] == [True, True, False]
    monkeypatch.setattr(chunks, "find_spec", lambda name: None)
    assert [wants_symbols(one) for one in (None, False)] == [False, False]
    with pytest.raises(DuvetError, match="extra `symbols`") as error:
        wants_symbols(True)
    assert "duvet-cli[symbols]" in error.value.hint
