"""The section that a target means, and those that it might have meant."""

from __future__ import annotations

import re

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


def nearest_sections(specification: Specification, wanted: str) -> list[str]:
    """The ids of the few sections whose id or title is most like what is wanted, the best first."""
    ##= man/spec/trace.md#targets
    ##% A section that does not exist SHOULD be reported with the names that are most like it.
    from rapidfuzz import fuzz, process

    sections = specification.sections
    names = [_bare(section.id) for section in sections] + [slug(section.title) for section in sections]
    hits = process.extract(
        _bare(wanted), names, scorer=fuzz.ratio, processor=None, limit=2 * _MOST, score_cutoff=_LIKENESS
    )
    ids = dict.fromkeys(sections[index % len(sections)].id for _, _, index in hits)
    return list(ids)[:_MOST]


def _bare(id: str) -> str:
    """The id without what all ids of IETF text begin with, which would make them all alike."""
    return _NAMED.sub("", id.lower())
