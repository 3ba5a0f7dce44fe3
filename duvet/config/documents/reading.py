"""Reads a file in the format that its name says."""

from __future__ import annotations

from enum import StrEnum

from duvet.config.documents.document import Document, DocumentError
from duvet.config.documents.limits import MOST_BYTES, require_modest
from duvet.model import Place
from duvet.text import BOM, place_of

ENDINGS = ("json", "yaml", "yml", "toml")
"""What the names of files end with that can be read."""


class Format(StrEnum):
    """What files are written in."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


def ending(path: str) -> str:
    """What the name of a file ends with, without the dot."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def format_of(path: str) -> Format:
    """The format that the name of a file says."""
    found = ending(path)
    return Format(found) if found in (Format.JSON, Format.TOML) else Format.YAML


def read_document(data: bytes, path: str) -> Document:
    """The values in a file, or DocumentError."""
    if len(data) > MOST_BYTES:
        raise DocumentError("larger than 1 MiB", path, Place())
    document = _parsed(_text(data, path), path)
    require_modest(document)
    return document


def _parsed(text: str, path: str) -> Document:
    # Each format costs its imports only where it is met.
    match format_of(path):
        case Format.JSON:
            from duvet.config.documents.json_document import parse_json

            return parse_json(text, path)
        case Format.TOML:
            from duvet.config.documents.toml_document import parse_toml

            return parse_toml(text, path)
        case Format.YAML:
            from duvet.config.documents.yaml_document import parse_yaml

            return parse_yaml(text, path)


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        message = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        place = place_of(before, len(before), len(before))
        raise DocumentError(message, path, place, "save the file as UTF-8", is_text=False) from None
