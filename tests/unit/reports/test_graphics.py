"""Diagnostics around the source that they are about."""

from __future__ import annotations

from duvet.reports.graphics import Canvas, Diagnostic, DrawnFile, Slice

TEXTS = {
    "a.rs": "//= spec\n//# One.\nfn f() {}\n",
    "long.rs": "\n" * 8 + "    //= spec\n\t//= type=test\n    //# One.",
    "wide.rs": "\t\u4e2d //= s\x1b\u4e2d",
}


def draw(diagnostic: Diagnostic, width: int = 80, *, colour: bool = False) -> str:
    canvas = Canvas(lambda path: DrawnFile.of(TEXTS[path]), width, colour)
    return "\n".join(canvas.draw(diagnostic))


def slice_of(path: str, part: str, label: str = "Here") -> Slice:
    start = TEXTS[path].index(part)
    return Slice(path, start, start + len(part), label)


def test_one_line() -> None:
    assert (
        draw(Diagnostic("Wrong", slice_of("a.rs", "spec")))
        == """\
  \u00d7 Wrong
   ╭─[a.rs:1:5]
 1 │ //= spec
   ·     ──┬─
   ·       ╰── Here
 2 │ //# One.
   ╰────"""
    )


def test_several_lines_and_related_places() -> None:
    diagnostic = Diagnostic(
        "Wrong:\n A quote",
        slice_of("long.rs", "spec\n\t//= type=test\n    //# One."),
        [slice_of("a.rs", "spec\n//# One.")],
    )
    assert (
        draw(diagnostic)
        == """\
  \u00d7 Wrong:
  │  A quote
    ╭─[long.rs:9:9]
  8 │     
  9 │ ╭─▶     //= spec
 10 │ │       //= type=test
 11 │ ├─▶     //# One.
    · ╰──── Here
    ╰────

Advice: 
  \u261e Related context for:
  │  Wrong:
  │  A quote
   ╭─[a.rs:1:5]
 1 │ ╭─▶ //= spec
 2 │ ├─▶ //# One.
   · ╰──── Here
 3 │     fn f() {}
   ╰────"""
    )


def test_wrapping_and_help() -> None:
    diagnostic = Diagnostic("A message that is long", help="\nPath one/two three-four x", is_advice=True)
    assert (
        draw(diagnostic, 21)
        == """\
  \u261e A message that
  │ is long
  help: 
        Path one/
        two three-
        four x"""
    )


def test_wide_and_control_characters() -> None:
    assert (
        draw(Diagnostic("\x1b[1m", slice_of("wide.rs", "s\x1b\u4e2d", "\x07")))
        == """\
  \u00d7 \\u{1b}[1m
   ╭─[wide.rs:1:10]
 1 │     \u4e2d //= s\\u{1b}\u4e2d
   ·            ────┬────
   ·                ╰── \\u{7}
   ╰────"""
    )


def test_colours() -> None:
    assert (
        draw(Diagnostic("Wrong", slice_of("a.rs", "spec"), help="Fix it."), colour=True)
        == """\
\x1b[31m  \u00d7 \x1b[0mWrong
   ╭─[a.rs:1:5]
\x1b[2m 1 \x1b[0m│ //= spec
   · \x1b[35m    ──┬─\x1b[0m
   · \x1b[35m      ╰── Here\x1b[0m
\x1b[2m 2 \x1b[0m│ //# One.
   ╰────
\x1b[36m  help: \x1b[0mFix it."""
    )


def test_errors_in_a_frame() -> None:
    canvas = Canvas(lambda path: DrawnFile.of(TEXTS[path]))
    one = Diagnostic("One", slice_of("a.rs", "spec"))
    assert "\n".join(canvas.draw_errors([one])) == draw(one)
    assert (
        "\n".join(canvas.draw_errors([one, Diagnostic("Two")]))
        == """\
  \u00d7   \u00d7 One
  │    ╭─[a.rs:1:5]
  │  1 │ //= spec
  │    ·     ──┬─
  │    ·       ╰── Here
  │  2 │ //# One.
  │    ╰────
  │ 
  │   \u00d7 Two
  │ 
  │ 
  ╰─▶ encountered 2 errors"""
    )
