"""Whole RFCs, compared with what awslabs duvet makes of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from duvet.model import Section
from duvet.specs.extraction import extract_requirements
from duvet.specs.ietf import parse_ietf


def summary(section: Section) -> list[object]:
    digest = sha256("\n".join(section.lines).encode()).hexdigest()
    return [section.id, section.title, len(section.lines), digest[:16]]


def quotes(section: Section) -> list[list[str]]:
    return [[found.level.name, "\n".join(found.pieces) + "\n"] for found in extract_requirements(section)]


def answers(shared: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(shared / "rfc" / "expected.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def test_sections_and_requirements(shared: Path) -> None:
    count = 0
    for expected in answers(shared):
        sections = parse_ietf((shared / "rfc" / f"rfc{expected['rfc']}.txt").read_bytes())
        assert [summary(section) for section in sections] == expected["sections"], expected["rfc"]
        unreadable = {id for id, found in expected["requirements"].items() if isinstance(found, dict)}
        known = {id: found for id, found in expected["requirements"].items() if id not in unreadable}
        found = {section.id: quotes(section) for section in sections if section.id not in unreadable}
        assert {id: each for id, each in found.items() if each} == known, expected["rfc"]
        count += 1
    assert count == len(list((shared / "rfc").glob("rfc*.txt"))) > 0
