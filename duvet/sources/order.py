"""The order of annotations, which gives them their ids."""

from __future__ import annotations

from collections.abc import Iterable

from duvet.model import Annotation
from duvet.text import path_key


def ordered(by_path: dict[str, list[Annotation]]) -> tuple[Annotation, ...]:
    """All annotations by path, place and kind; two that are equal in everything become one."""
    found: list[Annotation] = []
    for path in sorted(by_path, key=path_key):
        found += _in_file(by_path[path])
    return tuple(found)


def _in_file(annotations: list[Annotation]) -> Iterable[Annotation]:
    if _is_rising(annotations):
        return annotations
    return sorted(dict.fromkeys(annotations), key=_key)


def _is_rising(annotations: list[Annotation]) -> bool:
    line = 0
    for annotation in annotations:
        if annotation.line <= line:
            return False
        line = annotation.line
    return True


def _key(annotation: Annotation) -> tuple[object, ...]:
    source = annotation.source
    return (
        annotation.line,
        (*source.target, *source.text, *source.quote),
        annotation.kind,
        annotation.level,
        annotation.reason,
        annotation.feature,
        annotation.tracking_issue,
        annotation.tags,
        annotation.blob_link is not None,
        annotation.blob_link or "",
    )
