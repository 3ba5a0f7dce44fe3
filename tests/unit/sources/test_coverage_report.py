import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.errors import DuvetError
from duvet.sources.coverage_report import read_jacoco_xml


def line(**counts: object) -> str:
    written = {"nr": 1, "mi": 0, "ci": 0, "mb": 0, "cb": 0, **counts}
    return "<line " + " ".join(f'{name}="{value}"' for name, value in written.items() if value is not None) + "/>"


def report(*lines: str, name: str = "A.java") -> str:
    return f'<package name="p"><sourcefile name="{name}">{"".join(lines)}</sourcefile></package>'


def read(text: str) -> dict[str, dict[int, bool]]:
    return read_jacoco_xml(text.encode(), "r.xml")


def test_executed_lines_are_read() -> None:
    for lines, hits in [
        ([line(ci=1)], {1: True}),
        ([line(ci=1, mi=9)], {1: True}),
        ([line(mi=1)], {1: False}),
        ([line()], {}),
        ([line(ci=1, mb=1)], {1: False}),
        ([line(mi=1, cb=1)], {1: True}),
        ([line(ci=1), line(mi=1)], {1: False}),
        ([line(ci=1), line()], {1: True}),
        ([line(ci=1), line(mi=1, mb=1)], {1: True}),
        ([line(mi=1), line(cb=1)], {1: True}),
        ([line(nr=0, ci=1), line(nr="+7", mi=1), line(nr=4294967295, ci=1)], {0: True, 7: False, 4294967295: True}),
        ([line(ci=18446744073709551615)], {1: True}),
    ]:
        assert read(report(*lines)) == {"p/A.java": hits}


def test_ignored_elements() -> None:
    for text in [
        f"\ufeff<?xml version='1.0'?><!DOCTYPE report PUBLIC '-//J' \"report.dtd\">{report(line(ci=1))}",
        f'<!DOCTYPE x [<!ENTITY lol "a>b"><!-- \' -->]><x>{report(line(ci=1))}</x>',
        f"<a><!-- <package> -->{report('<![CDATA[<line>]]>', line(ci=1))}",
        report(line(ci=1)).replace("<", "<j:").replace("<j:/", "</j:"),
        report(line(ci=1)).replace('"p"', "'&#112;'").replace('"A.java"', '"&#x41;.java" id="&lt;&amp;"'),
        report(line(ci=1), name="/A.java").replace('"p"', '""'),
        report("<class><method/></class>", line(ci=1, hint="x > y")),
    ]:
        assert [*read(text).values()] == [{1: True}]


REFUSED = [
    *("<package/>", "<package name='p'>\n<sourcefile/>", report("\n<line/>")),
    *(report(line(cb=None, mb=None, nr=None)), report(line(nr=None)), report(line(nr=4294967296))),
    *(report(line(ci=18446744073709551616)), report(line(mi=-1)), report(line(mb=""))),
    *(report(line(cb="\u0664")), "<a>\n</b>", "</a>", "<a>\n1 < 2", "<a b='", "<package name=p>"),
    *("<package name='p' name='q'>", "<package name='&lol;'>", "<package name='&#xD800;'>"),
]


def test_refused_reports(snapshot: Snapshot) -> None:
    lines = []
    for text in REFUSED:
        with pytest.raises(DuvetError) as refused:
            read(text)
        lines.append(f"{text!r}\n  {refused.value.path}:{refused.value.line} {refused.value.message}\n")
    snapshot.assert_match("".join(lines), "problems/jacoco.txt")


def test_truncated_reports() -> None:
    for end in ["", "</sourcefile>", "</sourcefile><sourcefile name='B.java'>"]:
        text = f"<report>{report(line(ci=1)).partition('</')[0]}{end}"
        with pytest.raises(DuvetError) as refused:
            read(text)
        assert refused.value.message == "Coverage error: XML parsing error: the file ends before </package>"


def test_lists_of_files() -> None:
    for text in [
        *("", "not XML at all", "TN:\nSF:a.rs\nDA:1,1\nend_of_record\n", "<report/>"),
        *("<report><counter type='LINE' missed='0'/>", "<line nr='1'/><sourcefile><line/></sourcefile>"),
    ]:
        assert read(text) == {}
    assert [*read(report(name="A.java") + report(line(ci=1), name="/B.java"))] == ["p/A.java", "p//B.java"]
    assert [*read(report().replace('"p"', '""'))] == ["A.java"]
    assert read(report(line(ci=1)) + report()) == {"p/A.java": {}}
    bomb = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 20))
    assert read(f"<!DOCTYPE x [{bomb}]><x>&l19;</x>") == {}
