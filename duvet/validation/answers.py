"""From problems of annotations to their answers."""

from __future__ import annotations

from collections.abc import Callable

from duvet import rules
from duvet.model import Annotation, Format
from duvet.validation.answer import Answer
from duvet.validation.quote_answers import drifted, one_edit
from duvet.validation.target_answers import section, specification, spelling
from duvet.validation.texts import Texts

_BY_CODE: dict[str, Callable[[Texts, Annotation], Answer]] = {
    rules.QUOTE_NOT_FOUND.code: drifted,
    rules.QUOTE_ONE_EDIT.code: one_edit,
    rules.TARGET_UNKNOWN_SECTION.code: section,
    rules.TARGET_NO_SECTION.code: section,
    rules.TARGET_UNRESOLVED.code: specification,
    rules.TARGET_TWO_SPELLINGS.code: spelling,
}


class Answers:
    """Finds answers in the specifications of a project."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._known: dict[tuple[str, str, str, Format, str], Answer] = {}

    def to(self, code: str, annotation: Annotation) -> Answer:
        """The answer to a problem of an annotation; one that others have, too, is found once."""
        find = _BY_CODE.get(code)
        if find is None:
            return Answer()
        base = annotation.path if annotation.from_file else ""
        known = (code, annotation.target, annotation.quote, annotation.format, base)
        if known not in self._known:
            self._known[known] = find(self.texts, annotation)
        return self._known[known]
