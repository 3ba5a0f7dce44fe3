"""What the package `wordllama` brings, and where."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
VERSION = Path("_version.py")


def installed() -> Path | None:
    """Its folder, where all of it is there; nothing of it is imported, for that takes long."""
    found = find_spec("wordllama")
    for place in (found and found.submodule_search_locations) or ():
        if all((Path(place) / file).is_file() for file in (WEIGHTS, TOKENIZER, VERSION)):
            return Path(place)
    return None
