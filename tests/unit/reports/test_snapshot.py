from pytest_snapshot.plugin import Snapshot

from tests.unit.reports.report_projects import TYPES, finished, snapshot_of

CONFIG = TYPES[".duvet/config.toml"].partition("[[specification]]")[0]
POT = "1.  Pot\n\n   It may be.\n\n2.  Lid\n"


def test_all_annotation_types_are_in_a_snapshot(snapshot: Snapshot) -> None:
    snapshot.assert_match(snapshot_of(finished()), "snapshot/all_types.txt")


def test_snapshots_match_upstreams() -> None:
    for files, expected in [
        ({}, ""),
        # Specifications of which nothing but titles is cited are left out.
        (
            {
                "src/a.rs": "//= pot.txt#1\n\n//= pot.txt#2\n\n//= tea.md#pot\n",
                "pot.txt": POT.replace("may", "MUST"),
                "tea.md": TYPES["tea.md"],
                ".duvet/config.toml": CONFIG,
            },
            "\n",
        ),
        # IETF text has no title.
        (
            {"src/a.rs": "//= pot.txt#1\n//# It\n", "pot.txt": POT, ".duvet/config.toml": CONFIG},
            "SPECIFICATION: pot.txt\n  SECTION: [Pot](#section-1)\n    TEXT[implementation]:    It\n",
        ),
    ]:
        assert snapshot_of(finished(files)) == expected
