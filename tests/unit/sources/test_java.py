import pytest

from duvet.sources.java import LineScope, classify_java

LETTERS = "SDOCcABN"
"""Statement, declaration, scope opened and closed, comment, annotation, blank, not linear; a dot is unknown."""


def classify(text: str) -> list[str]:
    found = classify_java(text, "A.java").properties[1:]
    return ["".join(letter for bit, letter in enumerate(LETTERS) if one >> bit & 1) or "." for one in found]


def check(annotated: str, before: str = "", after: str = "") -> None:
    """Classify text written as `CLASSES | CODE`, between lines that are not checked."""
    rows = [(row[:3].strip(), row[6:]) for row in annotated.strip("\n").split("\n")]
    code = [text for _, text in rows]
    first = before.count("\n")
    found = classify(before + "\n".join(code) + "\n" + after)[first : first + len(rows)]
    assert [*zip(found, code, strict=True)] == rows


def test_lines_of_declarations_are_classified() -> None:
    for text in [
        """
D   | package a;
D   | import b.C;
B   |
c   | /* A class.
cB  |
c   |  */
D   | @Deprecated
D   | @Suppress(
D   |   "x")
O   | public class A extends B {
DO  |   interface I {
.   |     int LIMIT = 1;
D   |     void f();
C   |   }
DO  |   enum E {
D   |     ONE,
SD  |     TWO(2);
C   |   }
DOC |   record R(int a) {}
.   |   @interface X {
.   |     int value();
.   |   }
C   | }
""",
        """
DO  | class A {
D   |   int field;
SD  |   int other = 1, more;
DO  |   static {
S   |     other = 2;
C   |   }
D   |   @Override
D   |   void long_signature(
D   |       int a,
O   |       int b) {
C   |   }
D   |   void brace_below()
O   |   {
C   |   }
D   |   native void f();
DOC |   A() {}
C   | }
""",
        """
DO  | record R(int a) {
DO  |   R {
S   |     f();
C   |   }
C   | }
""",
    ]:
        check(text)


def test_lines_of_bodies_and_comments_behind_code_are_classified() -> None:
    for text in [
        """
S   | f();
S   | f(
S   |   1,
S   |   2);
D   | int a;
SD  | int b =
SD  |   1;
S   | return;
""",
        """
SO  | if (a) {
S   |   b();
OC  | } else {
S   |   assert c;
SC  | } f();
S   | if (a)
S   |   return;
.   | else
S   |   throw x;
SO  | while (a) {
S   |   continue;
C   | }
SO  | do {
S   |   break;
C   | } while (a);
.   | ;
""",
        """
SDO | for (int i = 0; i < 1; i++) {
C   | }
SO  | for (int i : list) {
C   | }
N   | outer:
SO  | for (;;) {
S   |   break outer;
C   | }
SN  | inner: while (a) break inner;
""",
        """
DO  | try {
S   |   f();
DOC | } catch (E e) {
DOC | } finally {
C   | }
O   | try (A a = b()) {
C   | }
O   | synchronized (this) {
C   | }
""",
        """
SO  | switch (a) {
.   |   case 1:
S   |     f();
.   |   default:
S   |     g();
C   | }
SDO | int x = switch (a) {
SD  |   case 1 -> 2;
SDO |   default -> {
SD  |     yield 3;
SDC |   }
SDC | };
""",
        """
SDO | Runnable r = () -> {
SD  |   f();
SDC | };
SO  | list.add(new A() {
SDO |   void g() {
SC  |   }
SC  | });
""",
        """
c   | // A comment.
S   | f(); // A comment.
c   | /* A comment
c   |  * of three lines
c   |  */
S   | /* here */ f();
""",
        """
A   | //= spec.md#a
A   | //# A quote.
S   | f(
A   |   //= spec.md#a
B   |
S   |   1);
""",
    ]:
        check(text, "class A {\nvoid f() {\n", "}\n}\n")
    check("Cc  | } // end", "class A {\n", "")
    check("OC  | } { // next", "class A {\n{\n", "}\n}\n")


def test_line_ends_and_scopes() -> None:
    assert classify_java(
        "class A {\n  void f() {\n    if (a) { b(); }\n    g(() -> { h(); });\n  }\n  int x; }\n", "A.java"
    ).scopes == tuple(LineScope(*lines) for lines in ((3, 3), (4, 4), (2, 5), (1, 6)))
    assert classify_java("import a;\n\n", "A.java").scopes == (LineScope(1, 2),)
    assert classify("class A {\r\n\r\n  int a;\r\n}") == ["DO", "B", "D", "C"]
    assert classify("") == []


@pytest.mark.parametrize(
    ("text", "faults"),
    [("class A {\n  void f( {\n  }\n}\n", (2,)), ("class A {\n  int a\n  int b;\n}\n", (2,)), ("class A {\n", (1,))],
)
def test_parse_errors_are_reported(text: str, faults: tuple[int, ...]) -> None:
    found = classify_java(text, "A.java")
    assert (found.faults, found.scopes, set(found.properties)) == (faults, (), {0})


def test_deeply_nested_code_is_parsed() -> None:
    depth = 3000
    found = classify_java("class A { void f() {\n" + "{\n" * depth + "}\n" * depth + "} }\n", "A.java")
    assert (len(found.scopes), found.faults) == (depth + 1, ())
