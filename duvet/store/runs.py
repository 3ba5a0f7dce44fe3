"""Runs and reports, as they stand in the tables."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from duvet.store.database import Database
from duvet.store.records import Run
from duvet.store.values import bound, packed, raw, unpacked

_MOST_RUNS = 1000
_RUNS = "SELECT data FROM run WHERE ? IS NULL OR profile = ? ORDER BY id DESC LIMIT ?"
_REPORTS = "SELECT data FROM report WHERE name = ? ORDER BY id DESC LIMIT ?"
_OLD_REPORTS = """DELETE FROM report WHERE name = ? AND id NOT IN
(SELECT id FROM report WHERE name = ? ORDER BY id DESC LIMIT ?)"""


def runs(database: Database, profile: str | None, limit: int) -> Sequence[Run]:
    wanted = None if profile is None else bound(profile)
    return database.read(lambda row: unpacked(raw(*row), Run), _RUNS, wanted, wanted, max(limit, 0))


def put_run(database: Database, run: Run) -> None:
    database.run("INSERT INTO run(profile, data) VALUES (?, ?)", bound(run.profile), packed(run))
    database.run("DELETE FROM run WHERE id <= (SELECT max(id) FROM run) - ?", _MOST_RUNS)


def reports(database: Database, name: str, limit: int) -> Sequence[bytes]:
    return database.read(lambda row: zlib.decompress(raw(*row)), _REPORTS, name, max(limit, 0))


def put_report(database: Database, name: str, run_id: str, data: bytes, keep: int) -> None:
    database.run("INSERT INTO report(name, run_id, data) VALUES (?, ?, ?)", name, run_id, zlib.compress(data))
    database.run(_OLD_REPORTS, name, name, max(keep, 0))
