"""The lines of each annotation, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from duvet.sources.tokens import Token


class Block(Struct):
    """The lines of one annotation."""

    metas: list[Token]
    contents: list[Token]


def blocks(tokens: Iterable[Token]) -> list[Block]:
    """The blocks of one run."""
    block = Block([], [])
    found = [block]
    for token in tokens:
        ##= man/spec/trace.md#annotations
        ##% A target after quoted text MUST begin the next annotation.
        if token.is_meta and block.contents:
            block = Block([], [])
            found.append(block)
        if token.is_meta:
            block.metas.append(token)
        elif token.text:
            block.contents.append(token)
    return [block for block in found if block.metas or block.contents]
