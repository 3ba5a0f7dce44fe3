"""The text behind a card"""

from __future__ import annotations

import pytest

from duvet import MemoryTree, Project
from duvet.errors import UnreadableError
from duvet.model import Format

CONFIG = b"'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'pot.txt', format = 'ietf' }]\n"
TEXT = b"# Pot\n\n1.  Lid\n\n   It MUST fit.\n"


def test_the_text_in_the_format_that_has_the_sections() -> None:
    project = Project(tree=MemoryTree({".duvet/config.toml": CONFIG, "pot.txt": TEXT}))
    loaded = [project.specification(card) for card in project.catalogue.specifications]
    shown = [(one.format, [section.id for section in one.sections]) for one in loaded]
    assert (Format.IETF, ["section-1"]) in shown


def test_a_text_that_has_changed() -> None:
    files = {".duvet/config.toml": CONFIG, "pot.txt": TEXT}
    (card, *_) = Project(tree=MemoryTree(files)).catalogue.specifications
    project = Project(tree=MemoryTree({**files, "pot.txt": b"2.  Spout\n\n   It MUST NOT drip.\n"}))
    with pytest.raises(UnreadableError, match="it has changed meanwhile"):
        project.specification(card)
