"""What is said of a reference that means nothing."""

from __future__ import annotations

import re

from duvet.errors import NotFoundError
from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.queries.names import nearest_hint, specification_names
from duvet.queries.places import Files, place_of, plain_paths
from duvet.text import quoted

_LIKE_ID = re.compile(r"(?=.*\d)[0-9a-zA-Z]{4,64}\Z")


def unknown(catalogue: Catalogue, wanted: str, files: Files | None) -> NotFoundError:
    """The error that says what is like it."""
    place = place_of(wanted)
    path = place.path if place else wanted
    if files and any(map(files.has, plain_paths(path, files.root))):
        return NotFoundError(f"there is no annotation in {quoted(path)}")
    # Words are like some of thousands of ids by chance.
    ids = {id[: len(path)]: id[:SHOWN] for id in catalogue.ids} if _LIKE_ID.match(path) else {}
    paths = {card.path: card.path for card in catalogue.citations}
    hint = nearest_hint(path, ids | specification_names(catalogue) | paths)
    return NotFoundError(
        f"nothing is called {quoted(wanted)}",
        hint=hint or "give the beginning of an id, spec#section, a specification, file:line or a file",
    )
