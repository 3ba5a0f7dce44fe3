from duvet.reports.snapshot import SnapshotChange, SnapshotDiff, compare_snapshots

THEN = """\
SPECIFICATION: [Tea](tea.md)
  SECTION: [Brewing](#brewing)
    TEXT[!MUST,implementation]: The water MUST boil.
    TEXT[!MUST,implementation,test]: The pot MUST be
    TEXT[!MUST,implementation,test]: warm.
    TEXT[!MAY]: Milk MAY be added.
    TEXT[!MAY]: Again.

  SECTION: [Serving [now](x)](#serving)
    TEXT[!SHOULD]: Everybody SHOULD wait.

SPECIFICATION: plain.txt
  SECTION: [](#a)
    TEXT[]: Here TEXT[x]: is text.

NOT APPLICABLE: tea.md#lemon
  REQUIREMENTS: 1
"""
NOW = """\
SPECIFICATION: [Tea](tea.md)
  SECTION: [Brewing](#brewing)
    TEXT[!MUST,implementation,test]: The water MUST boil.
    TEXT[!MUST,implementation,test]: The pot MUST be
    TEXT[!MUST,test]: warm.
    TEXT[!MAY]: Again.
    TEXT[!MAY]: Again.

  SECTION: [Serving [now](x)](#serving)
    TEXT[!SHOULD,todo]: Everybody SHOULD wait.

SPECIFICATION: plain.txt
  SECTION: [](#a)
    TEXT[implication]: Here TEXT[x]: is text.
"""


def change(
    text: str, before: str, after: str, section: str = "brewing", specification: str = "tea.md"
) -> SnapshotChange:
    return SnapshotChange(specification=specification, section=section, text=text, before=before, after=after)


def test_changed_lines_are_listed() -> None:
    ##= man/spec/page.md#overview
    ##% If the commit `HEAD` contains a snapshot, the overview MUST list the coverage that was gained and lost since
    ##% that commit.
    assert compare_snapshots(THEN, NOW) == SnapshotDiff(
        gained=(
            change("The water MUST boil.", "implementation", "implementation, test"),
            change("Everybody SHOULD wait.", "", "todo", "serving"),
            change("Here TEXT[x]: is text.", "", "implication", "a", "plain.txt"),
        ),
        lost=(change("warm.", "implementation, test", "test"),),
        added=(change("Again.", "", ""),),
        removed=(change("Milk MAY be added.", "", ""),),
    )


def test_lost_coverage_is_listed() -> None:
    for before, after, is_lost in [
        ("implementation", "implementation,test", False),
        ("implementation,test", "implementation", True),
        ("implementation", "test", True),
        ("implementation", "implementation,todo", False),
        ("implementation,todo", "implementation", True),
        ("todo", "implementation", False),
        ("exception", "implementation", False),
        ("implementation", "exception", True),
    ]:
        then, now = (f"SPECIFICATION: s\n  SECTION: [S](#s)\n    TEXT[!MUST,{one}]: x\n" for one in (before, after))
        found = compare_snapshots(then, now)
        assert (len(found.lost), len(found.gained)) == (is_lost, not is_lost)


def test_sections_with_equal_titles_and_equal_snapshots() -> None:
    alike = (
        "SPECIFICATION: [Tea]({})\n  SECTION: [Pot](#pot)\n    TEXT[]: x\n\n  SECTION: [Pot](#pot-1)\n    TEXT[{}]: x\n"
    )
    then, now = ("\n".join(alike.format(name, status) for name in ("a.md", "b.md")) for status in ("", "test"))
    gained = tuple(change("x", "", "test", "pot-1", name) for name in ("a.md", "b.md"))
    assert compare_snapshots(then, now) == SnapshotDiff(gained=gained)
    for text in ["", "\n", "no snapshot", "SPECIFICATION: \n  SECTION: x", NOW, "    TEXT[!MUST: x"]:
        assert compare_snapshots(text, text) == compare_snapshots(text, text.replace("\n", "\r\n")) == SnapshotDiff()
        assert compare_snapshots("\x00 TEXT[: ]\n    TEXT[a]: b", text) == compare_snapshots("", text)
