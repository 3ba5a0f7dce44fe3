"""From what an annotation should say to the edits of its file, each tried out before it is offered."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from duvet.model import Annotation, Edit, Fix, Problem, Source
from duvet.project import Project
from duvet.sources.comments import scan
from duvet.sources.edit import edited, quote_edits, target_edit
from duvet.sources.style import Style
from duvet.sources.wrapping import words
from duvet.trace.places import Places
from duvet.validation.answers import Answer, Answers

_NOWHERE = Source()
# Text with these may end a comment before its time, or a string around it.
_CLOSING = ("*/", "*)", "-->", "-}", '"""', "'''")


class Mender:
    """Gives problems of annotations their answers, and the edits that make them."""

    def __init__(self, project: Project, places: Places, styles: dict[str, tuple[Style, ...]]) -> None:
        self.answers = Answers(project)
        self.places = places
        self.styles = styles
        self._scans: dict[tuple[str, Style], list[Annotation]] = {}

    def mended(self, annotation: Annotation, problem: Problem) -> Problem:
        """The problem with what there is to know, and with a fix where exactly one is good."""
        ##= man/spec/validate.md#mending
        ##% With `--fix`, a quote or a target that is wrong MUST be rewritten where exactly one answer is good.
        answer = self.answers.to(problem.code, annotation)
        hint = answer.hint or problem.hint
        return replace(problem, hint=hint, fix=self._fix(annotation, answer) if answer.is_sure else None)

    def _fix(self, annotation: Annotation, answer: Answer) -> Fix | None:
        ##= man/spec/validate.md#mending
        ##% Entries of requirement files MUST NOT be mended.
        style = None if annotation.from_file else self._style(annotation)
        if style is None or _is_dangerous(annotation, answer):
            return None
        text = self.places.text(annotation.path)
        edits: tuple[Edit, ...] = ()
        if answer.target is not None:
            edits += (target_edit(text, annotation, answer.target),)
        if answer.quote is not None:
            edits += quote_edits(text, annotation, style, answer.quote)
        if not edits or not self._holds(annotation, answer, style, edited(text, edits)):
            return None
        return Fix(_described(answer), edits)

    def _style(self, annotation: Annotation) -> Style | None:
        """The style that an annotation was read in; None where its file holds something else by now."""
        for style in self.styles.get(annotation.path, ()):
            if annotation in self._scanned(annotation.path, style):
                return style
        return None

    def _scanned(self, path: str, style: Style) -> list[Annotation]:
        if (path, style) not in self._scans:
            self._scans[path, style] = scan(path, self.places.text(path), style)[0]
        return self._scans[path, style]

    def _holds(self, annotation: Annotation, answer: Answer, style: Style, text: str) -> bool:
        """Whether the annotation is right in this text, and all others say what they said."""
        ##= man/spec/validate.md#mending
        ##% A mend that would not make its annotation valid, or would change another one, MUST NOT be made.
        for other in self.styles[annotation.path]:
            before, after = self._scanned(annotation.path, other), scan(annotation.path, text, other)[0]
            if len(before) != len(after):
                return False
            for old, new in zip(before, after, strict=True):
                if other is style and old == annotation:
                    if not _says(new, annotation, answer) or not self.answers.is_valid(new):
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
    """The annotation wherever it stands."""
    return replace(annotation, line=0, source=_NOWHERE)


def _is_dangerous(annotation: Annotation, answer: Answer) -> bool:
    """Whether the new words may do something to the code around the comment."""
    new, old = answer.quote or "", annotation.quote
    return any(new.count(one) > old.count(one) for one in _CLOSING) or any(
        word.endswith("\\") for word in set(words(new)) - set(words(old))
    )


def _described(answer: Answer) -> str:
    if answer.quote is None:
        return f"name {answer.target}"
    return "quote what stands there" if answer.target is None else f"name {answer.target} and quote what stands there"


def edits_of(problems: Iterable[Problem]) -> dict[str, list[Edit]]:
    """The edits of all fixes by the files that they belong to."""
    found: dict[str, list[Edit]] = {}
    for problem in problems:
        if problem.fix is not None:
            found.setdefault(problem.path, []).extend(problem.fix.edits)
    return found
