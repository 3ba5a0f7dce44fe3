"""A specification of the project in the working directory with its text."""

from __future__ import annotations

from duvet.model import Specification
from duvet.queries.catalogue import SpecificationCard
from duvet.queries.loading import specification_of
from duvet.specs.library import Library
from duvet.terminal.options import open_cache
from duvet.terminal.settings import settings
from duvet.tree.disk import DiskTree


def load_specification(card: SpecificationCard) -> Specification:
    """The specification that a card is about, parsed already where nothing has changed."""
    cache = open_cache(settings())
    # The card says where the text is, so that no configuration needs to be read.
    library = Library(cache.tree, "", memory=cache) if cache else Library(DiskTree(), "")
    return specification_of(card, library)
