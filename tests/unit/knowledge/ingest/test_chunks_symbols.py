"""The symbols that code declares."""

from __future__ import annotations

import pytest

from duvet.errors import DuvetError
from duvet.knowledge.ingest import chunks
from duvet.knowledge.ingest.chunks import SymbolTrails, find_symbols, make_module_symbol, wants_symbols
from tests.unit.store.store_files import symbol

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
SYMBOLS = {"a.py": PYTHON, "a.ts": TYPESCRIPT, "a.mjs": JAVASCRIPT, "a.go": GO}
EXPECTED = """
a.py: type A 2-2, class K 3-11, method K.m 6-9, class K.In 10-11, method K.In.n 11-11, function f 13-13
a.ts: class A 1-4, method A.foo 2-2, method A.constructor 2-2, method A.bar 3-3, interface I 5-5, method I.z 5-5
a.ts: type T 6-6, type E 7-7, module N 8-8, function N.inN 8-8, function f 9-9, function g 9-9, function dflt 10-10
a.mjs: class A 1-1, method A.m 1-1, method A.f 1-1, class x 2-2, method x.z 2-2, function gen 3-3
a.go: module p 1-1, type S 2-2, interface I 3-3, type X 5-5, interface Y 6-6, method S.M 8-8, method G.N 9-9, function F 10-10
"""


@pytest.mark.parametrize("path", SYMBOLS)
def test_symbols_of_each_language_are_found(path: str) -> None:
    found = find_symbols(path, SYMBOLS[path].encode())
    shown = [f"{one.kind} {one.qualified_name} {one.line_start}-{one.line_end}" for one in found]
    lines = [line.removeprefix(f"{path}: ") for line in EXPECTED.splitlines() if line.startswith(f"{path}: ")]
    assert ", ".join(shown) == ", ".join(lines)


def test_a_file_is_a_module() -> None:
    paths = ("src/tea/pot.py", "src/tea/__init__.py", "setup.py", "lib/index.mjs", "a.ts", "a.go", "a.md")
    names = [[one.qualified_name for one in make_module_symbol(path)] for path in paths]
    assert names == [["pot"], ["tea"], ["setup"], ["lib"], [], [], []]


@pytest.mark.parametrize(
    ("path", "text", "least"),
    [
        ("a.py", "def broken(:\nclass After:\n    def ok(self): pass\n", 2),
        ("a.py", "(" * 300_000, 0),
        ("a.py", "".join(" " * depth + f"class A{depth}:\n" for depth in range(900)), 100),
        ("a.js", "class A { m() {" * 20_000, 0),
        ("a.go", "\x00\xff", 0),
        ("a.rs", "fn main() {}", 0),
    ],
)
def test_broken_and_hostile_code_is_no_error(path: str, text: str, least: int) -> None:
    ##= man/spec/trace.md#commands
    ##% duvet MUST report invalid input without a traceback, and MUST NOT print control characters from it.
    assert len(find_symbols(path, text.encode())) >= least


def test_languages_of_symbols_and_titles_of_chunks() -> None:
    assert find_symbols("a.pyi", b"class A: ...") == (symbol("A", "class", 1, 1),)
    assert find_symbols("a.tsx", b"export const C = () => <p>{x}</p>;")[0].language == "tsx"
    declared = SymbolTrails(PYTHON, find_symbols("a.py", PYTHON.encode()))
    start, end = PYTHON.index("def m"), PYTHON.index("async")
    assert (declared.at(start, end), declared.at(0, 5)) == ("K.m, K.In, K.In.n", "")


def test_a_missing_extra_is_an_error_only_if_symbols_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [wants_symbols(one) for one in (None, True, False)] == [True, True, False]
    monkeypatch.setattr(chunks, "find_spec", lambda name: None)
    assert [wants_symbols(one) for one in (None, False)] == [False, False]
    with pytest.raises(DuvetError, match="extra `symbols`") as error:
        wants_symbols(True)
    assert "duvet-cli[symbols]" in error.value.hint
