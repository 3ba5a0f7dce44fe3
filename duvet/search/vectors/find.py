"""The model that there is."""

from __future__ import annotations

from importlib.util import find_spec

from duvet.errors import DuvetError
from duvet.search.vectors.dummy import Dummy
from duvet.search.vectors.files import installed
from duvet.search.vectors.protocol import Embedder


def find_embedder(wanted: bool | None = None, dummy: bool = False) -> Embedder | None:
    """None where there is none or it isn't wanted; a DuvetError where it is, and isn't there."""
    if dummy:
        return Dummy()
    if wanted is False:
        return None
    ##= man/spec/knowledge.md#vectors
    ##% Vectors MUST be made with what is installed: nothing is looked for on the network.
    folder = installed()
    if folder is not None and find_spec("numpy") is not None:
        from duvet.search.vectors.wordllama import WordLlama

        return WordLlama(folder)
    if wanted:
        ##= man/spec/knowledge.md#vectors
        ##% Where vectors are asked for and the extra `semantic` is not installed, duvet MUST name it.
        raise DuvetError(
            "search by meaning needs the extra `semantic`", hint="install it: pip install 'duvet-cli[semantic]'"
        )
    return None
