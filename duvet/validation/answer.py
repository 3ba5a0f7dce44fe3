"""What an annotation that is wrong should say."""

from __future__ import annotations

from typing import NamedTuple

from duvet.model import Annotation
from duvet.trace.nearest import Neighbourhood

SHOWN = 3
"""So many names are shown of what may be meant."""
_FEWEST = 3
"""Fewer words than this may stand in the only section that has them by chance."""


class Answer(NamedTuple):
    """What an annotation should say, where that is sure, and what people should know."""

    hint: str = ""
    target: str | None = None
    quote: str | None = None

    @property
    def is_sure(self) -> bool:
        return self.target is not None or self.quote is not None


def moved(annotation: Annotation, near: Neighbourhood, held: list[int]) -> Answer:
    """The answer for a quote that stands in these sections."""
    ids = [near.section_id(index) for index in held]
    names = " and ".join(f"#{id}" for id in ids[:SHOWN])
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    sure = len(ids) == 1 and len(annotation.quote.split()) >= _FEWEST
    target = f"{annotation.target.partition('#')[0]}#{ids[0]}" if sure else None
    ##= man/spec/validate.md#what-is-checked
    ##% For a quote that stands in another section, that section SHOULD be named.
    return Answer(f"these words stand in {names}{more}", target)
