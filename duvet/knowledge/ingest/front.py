"""What a document says of itself before its text."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from duvet.text import one_line, shortened

_LONGEST, _MOST = 300, 100


class Front(Struct, frozen=True):
    """What is of use to us."""

    subsystem: str = ""
    title: str = ""
    slug: str = ""
    tags: tuple[str, ...] = ()


def front_of(path: str, text: str) -> Front:
    """What the front matter says, which is given without the text after it; DuvetError where it can't be read."""
    if not text:
        return Front()
    from duvet.config.documents.limits import require_modest
    from duvet.config.documents.yaml_document import parse_yaml
    from duvet.config.documents.yaml_scalars import as_written

    document = parse_yaml(text.rstrip().removesuffix("...").removesuffix("---"), path, as_written)
    require_modest(document)
    values = document.values
    tags = values.get("tags")
    words = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else ()
    kept = tuple(dict.fromkeys(filter(None, map(_text, words[:_MOST]))))
    subsystem, title, slug = (_text(values.get(key)) for key in ("subsystem", "title", "slug"))
    return Front(subsystem, title, slug, kept)


def _text(value: Any) -> str:
    return shortened(one_line(value), _LONGEST) if isinstance(value, str) else ""
