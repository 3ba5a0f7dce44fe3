"""What tests and documents are called after."""

from __future__ import annotations

import re
from collections.abc import Iterator

from duvet.store.records import Kind

_FOLDERS = {Kind.TEST: ("tests", "test", "__tests__"), Kind.DOC: ("docs", "doc", "man")}
_AFFIX = re.compile(r"^test_|_tests?$|[.-](?:test|spec)$|Tests?$")
_LAST_PART = re.compile(r"[._-]+[^._-]*\Z")


def names_beside(path: str, kind: Kind) -> Iterator[str]:
    """The names that may tell what a file is about, the likeliest first."""
    folders = _FOLDERS.get(kind)
    if folders is None:
        return
    *above, name = path.split("/")
    at = next((index for index, part in enumerate(above) if part in folders), None)
    if at is not None:
        yield from reversed(above[at + 1 :])
    elif kind is Kind.DOC:
        return
    stem = _AFFIX.sub("", name.rpartition(".")[0] or name)
    while stem:
        yield stem
        shorter = _LAST_PART.sub("", stem)
        stem = shorter if shorter != stem else ""
