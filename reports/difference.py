"""What has changed since a revision: for people on a terminal, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from duvet.queries.bases import Base
from duvet.queries.difference import Difference
from duvet.reports.cells import visible
from duvet.reports.difference_items import Group, groups

_WIDTH = 100
_INDENT = " " * 6


def render(base: Base, difference: Difference, out: BinaryIO) -> None:
    """Write it for people."""
    ##= man/spec/diff.md#base
    ##% The commit that the project is compared with MUST be named in the output.
    lines = [visible(f"Compared with {base.words}"), ""]
    for group in groups(difference):
        lines += [*_group(group), ""]
    if len(lines) == 2:
        lines += ["Nothing has changed.", ""]
    lines += [f"then: {difference.then.words}", f"now:  {difference.now.words}"]
    out.write(("\n".join(lines) + "\n").encode(errors="replace"))


def render_json(base: Base, difference: Difference, out: BinaryIO) -> None:
    """Write it for programs."""
    from msgspec.structs import asdict

    from duvet.reports.json_document import document

    counts = {"regressions": difference.regressions, "new_uncited": len(difference.uncited)}
    out.write(document({"base": base, **counts, **asdict(difference)}))


def _group(group: Group) -> Iterator[str]:
    yield f"{group.title} ({len(group.items)})"
    for item in group.items:
        yield f"  {visible(item.place)}  {item.words}"
        for line in item.lines:
            yield from _wrapped(line.text, f"{line.sign} " if line.sign else "")


def _wrapped(text: str, sign: str) -> list[str]:
    from textwrap import wrap

    blank = " " * len(sign)
    return wrap(
        visible(text), _WIDTH, initial_indent=_INDENT + sign, subsequent_indent=_INDENT + blank, break_on_hyphens=False
    )
