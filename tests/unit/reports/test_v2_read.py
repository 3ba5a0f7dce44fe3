"""Reading reports"""

from __future__ import annotations

import pytest

from duvet.errors import ProblemsError
from duvet.reports.json_v2 import V2Report, encode_v2_report, read_reports
from duvet.tree.files import MemoryTree


def test_each_report_has_the_name_of_its_file() -> None:
    report = V2Report(issue_links=("i",))
    tree = MemoryTree({"b.json": encode_v2_report(report), "a.json": encode_v2_report(V2Report())})
    assert read_reports(["b.json", "a.json"], tree) == [("b.json", report), ("a.json", V2Report())]


def test_every_file_that_holds_none_is_named() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_reports(["none", "bad", "good"], MemoryTree({"bad": b"{", "good": encode_v2_report(V2Report())}))
    assert [(problem.code, problem.path, problem.message) for problem in caught.value.problems] == [
        ("DUV070", "none", "failed to open file 'none': No such file or directory (os error 2)"),
        ("DUV070", "bad", "failed to read report from 'bad': failed to parse JSON: Input data was truncated"),
    ]
