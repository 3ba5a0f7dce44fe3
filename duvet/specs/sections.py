"""The section that a target means, and those that it might have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from duvet.model import Format, Specification
from duvet.specs.slug import slug

_PREFIXES = re.compile(r"(?:section-)*(?:appendix-)*")
_NAMED = re.compile(r"\A(?:section|appendix|name)[-.]")
_MOST = 3
_LIKENESS = 70


def section_index(specification: Specification, wanted: str) -> int | None:
    """Where the section of that id stands; in IETF text the prefix may be left out or be the wrong one."""
    by_id = specification.by_id
    found = by_id.get(wanted)
    if found is not None or specification.format is not Format.IETF:
        return found
    ##= man/spec/trace.md#targets
    ##% A section of IETF text MUST be found by its number alone.
    bare = _PREFIXES.sub("", wanted, count=1)
    return by_id.get(f"section-{bare}", by_id.get(f"appendix-{bare}"))


class _Named(Protocol):
    """A section as people call it."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...


class _Document(Protocol):
    """A specification, or what there is to know about it without its text."""

    @property
    def sections(self) -> Iterable[_Named]: ...


class SectionNames:
    """What the sections of specifications are called by their ids and titles."""

    def __init__(self, *documents: _Document) -> None:
        sections = [section for document in documents for section in document.sections]
        named = [(section.id, _bare(section.id), slug(section.title)) for section in sections]
        by_title = [(id, title) for id, bare, title in named if title != bare]
        self._ids = [id for id, _, _ in named] + [id for id, _ in by_title]
        self._names = [bare for _, bare, _ in named] + [title for _, title in by_title]

    def nearest(self, wanted: str) -> list[str]:
        """The ids of the few sections whose id or title is most like what is wanted, the best first."""
        ##= man/spec/trace.md#targets
        ##% A section that does not exist SHOULD be reported with the names that are most like it.
        from rapidfuzz import fuzz, process

        hits = process.extract(
            _bare(wanted), self._names, scorer=fuzz.ratio, processor=None, limit=2 * _MOST, score_cutoff=_LIKENESS
        )
        return list(dict.fromkeys(self._ids[index] for _, _, index in hits))[:_MOST]


def _bare(id: str) -> str:
    """The id without what all ids of IETF text begin with, which would make them all alike."""
    return _NAMED.sub("", id.lower())
