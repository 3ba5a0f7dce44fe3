"""What targets should say that lead nowhere, or to a second name of one text."""

from __future__ import annotations

from posixpath import normpath

from duvet.model import Annotation
from duvet.specs.resolve import displayed
from duvet.specs.sections import SectionNames, section_index
from duvet.trace.build import second_spellings
from duvet.validation.answer import SHOWN, Answer, moved
from duvet.validation.quote_answers import elsewhere
from duvet.validation.texts import Texts

_LIKENESS = 60
"""How like another a name has to be to have been meant, of 100."""


def section(texts: Texts, annotation: Annotation) -> Answer:
    """The answer for a target with a section that is not there, or without one."""
    spot = texts.spot(annotation)
    if spot is None:
        return Answer()
    name, _, wanted = annotation.target.partition("#")
    near = SectionNames(spot.near.specification).nearest(wanted) if wanted else []
    held = spot.near.holding(annotation.quote)
    if held:
        ids = {spot.near.section_id(index): index for index in held}
        # Of several sections with these words, the one that is called nearly so is meant.
        meant = [ids[id] for id in near if id in ids]
        answer = moved(annotation, spot.near, meant if len(meant) == 1 else held)
        return answer._replace(target=f"{name}#{spot.near.section_id(meant[0])}") if len(meant) == 1 else answer
    if annotation.quote:
        found = elsewhere(texts, annotation, spot.near)
        # A section that is called nearly so has to have the text; without one, any section will do.
        return found if not near or (found.target and found.target.partition("#")[2] in near) else Answer()
    return Answer(target=f"{name}#{near[0]}" if len(near) == 1 else None)


def specification(texts: Texts, annotation: Annotation) -> Answer:
    """The answer for a target with a specification that is not there."""
    from rapidfuzz import fuzz

    name, _, wanted = annotation.target.partition("#")
    known = [(other, near) for other, near in texts.others() if fuzz.ratio(name, other) >= _LIKENESS]
    fitting = []
    for other, near in known:
        index = section_index(near.specification, wanted)
        if index is not None and near.holds(index, annotation.quote):
            fitting.append(other)
    if len(fitting) == 1:
        return Answer(f"did you mean {fitting[0]}?", f"{fitting[0]}#{wanted}")
    return Answer(f"did you mean {' or '.join(name for name, _ in known[:SHOWN])}?" if known else "")


def spelling(texts: Texts, annotation: Annotation) -> Answer:
    """The answer for a target with a second name of a text: the first one, where the two are spellings of one path."""
    spot = texts.spot(annotation)
    if spot is None:
        return Answer()
    written, _, wanted = annotation.target.partition("#")
    for other, first in second_spellings(texts.project.trace.coverages, texts.project.root):
        name = displayed(first.locator, texts.project.root)
        # A path that begins elsewhere may be the right one for whoever reads the file from there.
        if spot.near.specification.locator == other.locator and written != name and normpath(written) == normpath(name):
            return Answer(target=f"{name}#{wanted}")
    return Answer()
