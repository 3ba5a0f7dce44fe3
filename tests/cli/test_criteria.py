"""The tables of acceptance criteria in the guide: each criterion has a row, and each row a test."""

from __future__ import annotations

import pytest
from pytest_snapshot.plugin import Snapshot

from man.criteria import CRITERIA, fill_tables, list_untested


def test_each_criterion_names_its_tests(snapshot: Snapshot) -> None:
    text = CRITERIA.read_text(encoding="utf-8")
    snapshot.snapshot_dir = CRITERIA.parent
    snapshot.assert_match(fill_tables(text), CRITERIA.name)
    assert list_untested(text) == []


def test_a_mark_without_a_row_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no row in criteria\.md for .*pages 3\.2"):
        fill_tables("| pages 1.1 | It boils. | |\n")
