"""What quotes should say that stand nowhere in their sections, or not to the letter."""

from __future__ import annotations

from duvet.model import Annotation
from duvet.trace.nearest import Neighbourhood
from duvet.trace.stretches import Stretch
from duvet.trace.word_diff import word_diff
from duvet.validation.answer import SHOWN, Answer, moved
from duvet.validation.texts import Texts

_SAFE = 95.0
"""What is more like a quote than this is a second good answer to it."""
_FAR = 90.0
"""How like a quote text in another section has to be to have been meant."""


def drifted(texts: Texts, annotation: Annotation) -> Answer:
    """The answer for a quote that stands nowhere in its section."""
    spot, quote = texts.spot(annotation), annotation.quote
    if spot is None or spot.section is None:
        return Answer()
    held = spot.near.holding(quote)
    own = spot.near.near(spot.section, quote)
    if held:
        answer = moved(annotation, spot.near, held)
        return answer._replace(target=None) if own is not None and own.score > _SAFE else answer
    return elsewhere(texts, annotation, spot.near) if own is None else _here(quote, own)


def one_edit(texts: Texts, annotation: Annotation) -> Answer:
    """The answer for a quote that is found there, but for one character."""
    spot = texts.spot(annotation)
    own = spot.near.near(spot.section, annotation.quote) if spot and spot.section is not None else None
    return Answer() if own is None else _here(annotation.quote, own)


def _here(quote: str, own: Stretch) -> Answer:
    """The answer for a quote with something like it in its section."""
    ##= man/spec/validate.md#what-is-checked
    ##% For a quote that is not found, the text that is most like it SHOULD be shown, with what differs marked word by word.
    hint = f"the nearest text in this section is\n{word_diff(quote, own.text)}"
    return Answer(hint, quote=own.text if own.is_clear else None)


def elsewhere(texts: Texts, annotation: Annotation, near: Neighbourhood) -> Answer:
    """The answer for a quote with nothing like it where its target leads: another section, or another specification."""
    found = near.anywhere(annotation.quote)
    if found is None or found.stretch.score < _FAR:
        for name, other in texts.others(near):
            held = other.holding(annotation.quote)
            if held:
                return Answer(f"these words stand in {name}#{other.section_id(held[0])}")
    if found is None:
        return _in_others(texts, annotation.quote, near)
    id = near.section_id(found.section)
    hint = f"the nearest text stands in #{id}:\n{word_diff(annotation.quote, found.stretch.text)}"
    if not found.stretch.is_clear or found.stretch.score < _FAR:
        return Answer(hint)
    return Answer(hint, f"{annotation.target.partition('#')[0]}#{id}", found.stretch.text)


def _in_others(texts: Texts, quote: str, near: Neighbourhood) -> Answer:
    """What other specifications have that is like a quote: something to show, and nothing to write."""
    others = list(texts.others(near))
    likely = sorted(
        ((share, number, index) for number, (_, other) in enumerate(others) for share, index in other.likely(quote)),
        key=lambda one: -one[0],
    )
    found = [
        (stretch, number, index)
        for _, number, index in likely[:SHOWN]
        if (stretch := others[number][1].near(index, quote)) is not None
    ]
    if not found:
        return Answer()
    stretch, number, index = max(found, key=lambda one: one[0].score)
    name, other = others[number]
    return Answer(f"the nearest text stands in {name}#{other.section_id(index)}:\n{word_diff(quote, stretch.text)}")
