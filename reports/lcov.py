"""LCOV: each specification is a source file, its sections are functions, and its cited lines are lines of code."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator

from duvet.model import Annotation, Kind
from duvet.trace.records import Coverage, Finished

# The branches that annotations hit: implementation and tests.
_HITS = {
    Kind.SPEC: (0, 0),
    Kind.TODO: (0, 0),
    Kind.CITATION: (1, 0),
    Kind.TEST: (0, 1),
    Kind.EXCEPTION: (1, 1),
    Kind.IMPLICATION: (1, 1),
}

_Title = tuple[int, str]  # The line and the title of a section, as LCOV names a function.


def render_lcov(
    report: Finished, require_citations: bool = True, require_tests: bool = True
) -> Iterator[tuple[str, bytes]]:
    for index, coverage in enumerate(report.trace.coverages):
        specification = coverage.specification
        path = specification.locator.written or specification.path
        is_rooted = path.startswith("/") and report.root
        name = posixpath.relpath(path, report.root) if is_rooted else path.removeprefix("./")
        lines = _list_lines(coverage, report.trace.annotations, name, require_citations, require_tests)
        yield f"compliance.{index}.lcov", "".join(f"{line}\n" for line in lines).encode()


def _list_lines(
    coverage: Coverage, annotations: tuple[Annotation, ...], name: str, require_citations: bool, require_tests: bool
) -> Iterator[str]:
    newlines = [found.start() for found in re.finditer(b"\n", coverage.specification.data)]
    # A record must fit on one line, even for a heading with line ends.
    titles = [
        (bisect_left(newlines, section.heading[0]) + 1, re.sub(r"\s*[\r\n]\s*", " ", section.full_title))
        for section in coverage.specification.sections
    ]
    yield from ("TN:Compliance", f"SF:{name}")
    yield from (f"FN:{line},{title}" for line, title in sorted(titles))
    yield f"FNF:{len(titles)}"
    referred: set[int] = set()
    cited: set[int] = set()
    tested: set[int] = set()
    matches = {id: match for match in coverage.matches for id in match.ids}
    for id, match in sorted(matches.items(), key=lambda one: one[0]):
        implemented, checked = _HITS[annotations[id].kind]
        for piece in match.pieces:
            line, title = bisect_left(newlines, piece.start) + 1, titles[match.section]
            referred.add(line)
            yield _render_branches(0, line, title, implemented, cited)
            yield _render_branches(1, line, title, checked, tested)
    yield from (f"DA:{line},0" for line in sorted(referred))
    if require_citations and require_tests:
        covered = cited & tested
    elif require_citations:
        covered = cited
    else:
        covered = tested if require_tests else cited | tested
    yield from (f"DA:{line},1" for line in sorted(covered))
    yield from (f"DA:{line},0" for line in sorted((cited | tested) - covered))
    yield "end_of_record"


def _render_branches(block: int, line: int, title: _Title, count: int, hit: set[int]) -> str:
    # The title of a section is hit once, by the first of its lines that is hit.
    first = 0
    if count:
        hit.add(line)
        first = int(title[0] not in hit)
        hit.add(title[0])
    return f"BRDA:{line},{block},0,{count}\nFNDA:{first},{title[1]}\nBRDA:{title[0]},{block},0,{first}"
