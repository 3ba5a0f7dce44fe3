from pytest_snapshot.plugin import Snapshot

from duvet.reports.graphics import Canvas, Diagnostic, DrawnFile, Slice

TEXTS = {
    "a.rs": "//= spec\n//# One.\nfn f() {}\n",
    "long.rs": "\n" * 8 + "    //= spec\n\t//= type=test\n    //# One.",
    "wide.rs": "\t\u4e2d //= s\x1b\u4e2d",
}


def draw(diagnostic: Diagnostic, width: int = 80, *, colour: bool = False) -> str:
    return "\n".join(Canvas(lambda path: DrawnFile.of(TEXTS[path]), width, colour).draw(diagnostic))


def slice_of(path: str, part: str, label: str = "Here") -> Slice:
    start = TEXTS[path].index(part)
    return Slice(path, start, start + len(part), label)


def test_drawings_match_their_golden_files(snapshot: Snapshot) -> None:
    wrong = Diagnostic("Wrong", slice_of("a.rs", "spec"))
    several = slice_of("long.rs", "spec\n\t//= type=test\n    //# One.")
    frame = Canvas(lambda path: DrawnFile.of(TEXTS[path]))
    assert "\n".join(frame.draw_errors([wrong])) == draw(wrong)
    drawn = [
        draw(wrong),
        draw(Diagnostic("Wrong:\n A quote", several, [slice_of("a.rs", "spec\n//# One.")])),
        draw(Diagnostic("A message that is long", help="\nPath one/two three-four x", is_advice=True), 21),
        draw(Diagnostic("\x1b[1m", slice_of("wide.rs", "s\x1b\u4e2d", "\x07"))),
        draw(Diagnostic("Wrong", slice_of("a.rs", "spec"), help="Fix it."), colour=True),
        "\n".join(frame.draw_errors([wrong, Diagnostic("Two")])),
    ]
    snapshot.assert_match("\n\n".join(drawn), "query/drawings.txt")
