"""From what an annotation should say to the edits of its file, each tried out before it is offered."""

from __future__ import annotations

from msgspec.structs import replace

from duvet.model import Annotation, Edit, Fix, Kind, Problem, Source
from duvet.project import Project
from duvet.sources.comments import scan
from duvet.sources.edit import edited, quote_edits, target_edit
from duvet.sources.style import Style
from duvet.sources.wrapping import words
from duvet.specs import requirement_edit
from duvet.specs.requirement_files import read
from duvet.trace.places import Places
from duvet.validation.answer import Answer
from duvet.validation.answers import Answers
from duvet.validation.texts import Texts

_NOWHERE = Source()
# Text with these may begin or end a comment, or a string around it.
_MARKS = ("/*", "*/", "(*", "*)", "<!--", "-->", "{-", "-}", '"""', "'''")


Readings = dict[Style | None, list[Annotation]]
"""The annotations of a file by the style that it is read in; a requirement file has none."""


class Mender:
    """Gives problems of annotations their answers, and the edits that make them."""

    def __init__(self, project: Project, places: Places, styles: dict[str, tuple[Style, ...]]) -> None:
        self.texts = Texts(project)
        self.answers = Answers(self.texts)
        self.places = places
        self.styles = styles
        self._read: dict[str, Readings] = {}

    def mended(self, annotation: Annotation, problem: Problem) -> Problem:
        """The problem with what there is to know, and with a fix where exactly one is good."""
        ##= man/spec/validate.md#mending
        ##% With `--fix`, a quote or a target that is wrong MUST be rewritten where exactly one answer is good.
        answer = self.answers.to(problem.code, annotation)
        hint = answer.hint or problem.hint
        return replace(problem, hint=hint, fix=self._fix(annotation, answer) if answer.is_sure else None)

    def _fix(self, annotation: Annotation, answer: Answer) -> Fix | None:
        text = self.places.text(annotation.path)
        edits = () if _is_dangerous(annotation, answer) else self._edits(annotation, answer, text)
        if not edits or not self._holds(annotation, answer, edited(text, edits)):
            return None
        return Fix(_described(answer), edits)

    def _edits(self, annotation: Annotation, answer: Answer, text: str) -> tuple[Edit, ...]:
        """What makes the annotation say the answer; nothing where its file holds something else by now."""
        ##= man/spec/validate.md#mending
        ##% An entry of a requirement file MUST be mended as a comment is.
        readings = self._readings(annotation.path)
        here = [style for style, found in readings.items() if annotation in found]
        edits: tuple[Edit, ...] = ()
        for style in here[:1]:
            if answer.target is not None:
                edit = target_edit if style else requirement_edit.target_edit
                edits += (edit(text, annotation, answer.target),)
            if answer.quote is not None and style:
                edits += quote_edits(text, annotation, style, answer.quote)
            elif answer.quote is not None:
                edits += requirement_edit.quote_edits(text, annotation, answer.quote)
        return edits

    def _readings(self, path: str) -> Readings:
        if path not in self._read:
            self._read[path] = self._readings_of(path, self.places.text(path))
        return self._read[path]

    def _readings_of(self, path: str, text: str) -> Readings:
        """What a text says in each style that its file is read in."""
        styles = self.styles.get(path)
        if styles is None:
            return {None: read(path, text.encode())[0]}
        return {style: scan(path, text, style)[0] for style in styles}

    def _holds(self, annotation: Annotation, answer: Answer, text: str) -> bool:
        """Whether the annotation is right in this text, and all others say what they said."""
        ##= man/spec/validate.md#mending
        ##% A mend that would not make its annotation valid, or would change another one, MUST NOT be made.
        readings = self._readings_of(annotation.path, text)
        pairs = [(found, readings[style]) for style, found in self._readings(annotation.path).items()]
        if any(len(before) != len(after) for before, after in pairs):
            return False
        for old, new in (pair for before, after in pairs for pair in zip(before, after, strict=True)):
            if old == annotation:
                if not _says(new, annotation, answer) or not self.texts.is_valid(new):
                    return False
            elif _meaning(old) != _meaning(new):
                return False
        return True


def _says(new: Annotation, old: Annotation, answer: Answer) -> bool:
    quote = old.quote if answer.quote is None else answer.quote
    target = old.target if answer.target is None else answer.target
    return words(new.quote) == words(quote) and _meaning(replace(new, quote="")) == _meaning(
        replace(old, target=target, quote="")
    )


def _meaning(annotation: Annotation) -> Annotation:
    """The annotation wherever it stands, and a requirement of a requirement file however it is wrapped."""
    is_stated = annotation.from_file and annotation.kind is Kind.SPEC
    return replace(annotation, line=0, source=_NOWHERE, reason="" if is_stated else annotation.reason)


def _is_dangerous(annotation: Annotation, answer: Answer) -> bool:
    """Whether the new words may do something to the code around the comment."""
    pairs = [(annotation.target, answer.target), (annotation.quote, answer.quote)]
    changes = [(old, new) for old, new in pairs if new is not None]
    return any(new.count(mark) != old.count(mark) for old, new in changes for mark in _MARKS) or any(
        word.endswith("\\") for old, new in changes for word in set(words(new)) ^ set(words(old))
    )


def _described(answer: Answer) -> str:
    if answer.quote is None:
        return f"name {answer.target}"
    return "quote what stands there" if answer.target is None else f"name {answer.target} and quote what stands there"
