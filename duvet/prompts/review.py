"""What the prompt about doubtful citations is filled with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.model import Annotation, Problem, Severity
from duvet.prompts.room import fitting
from duvet.queries.names import nearest_hint
from duvet.queries.places import plain_paths
from duvet.queries.spellings import specification_named, specifications_meant
from duvet.text import quoted, shortened
from duvet.tools.context import Context
from duvet.tools.unread import unread

_Test = Callable[[Annotation], bool]


class Doubt(Struct, frozen=True):
    """A citation, and what is the matter with it."""

    place: str
    target: str
    """Nothing where it can't be read."""
    quote: str
    """What it quotes, or else all that it says."""
    matter: str
    advice: str

    @property
    def text(self) -> str:
        return self.place + self.target + self.quote + self.matter + self.advice


def review_values(context: Context, given: Mapping[str, str]) -> Mapping[str, object]:
    """The citations that are wrong, and those that somebody should look at."""
    inside = _files(context, given["file"]) if "file" in given else None
    wanted = set(specification_named(context.catalogue, given["spec"])) if "spec" in given else None

    def is_inside(path: str) -> bool:
        return inside is None or path in inside

    def is_meant(one: Annotation) -> bool:
        # A target that leads nowhere may name a specification all the same.
        return is_inside(one.path) and (wanted is None or not wanted.isdisjoint(_specifications(context, one)))

    def found(severity: Severity) -> list[Doubt]:
        ##= man/spec/mcp.md#prompts
        ##% A comment that can't be read MUST be reviewed too, unless the citations of one specification are asked for.
        lost = _unread(context, is_inside, severity) if wanted is None else ()
        return [*lost, *_found(context, is_meant, severity)]

    wrong, doubtful = found(Severity.ERROR), found(Severity.WARNING)
    shown = fitting(wrong, lambda one: one.text)
    left = fitting(doubtful, lambda one: one.text) if len(shown) == len(wrong) else []
    return {
        "among": " and ".join(given.values()),
        "wrong": shown,
        "doubtful": left,
        "left_out": len(wrong) + len(doubtful) - len(shown) - len(left),
    }


def _specifications(context: Context, one: Annotation) -> list[int]:
    return specifications_meant(context.catalogue, one.target.partition("#")[0])


def _files(context: Context, name: str) -> set[str]:
    """The source of that name, or those in the folder of that name."""
    paths = plain_paths(name, context.project.root)
    known = context.findings.files
    inside = {path for path in known if any(path == one or path.startswith(f"{one}/") for one in paths)}
    if not inside:
        hint = nearest_hint(name, list(known)) or "give the path of a source, or of a folder with some"
        raise NotFoundError(f"no source is called {quoted(name)}", hint=hint)
    return inside


def _unread(context: Context, is_meant: Callable[[str], bool], severity: Severity) -> Iterator[Doubt]:
    """What would be citations, but can't be read."""
    for one in context.once(unread):
        for problem in one.problems if is_meant(one.path) else ():
            if problem.severity is severity:
                place = f"{one.path}:{problem.place.line}"
                yield Doubt(place, "", shortened(one.comment, 300), _matter(problem), problem.hint)


def _found(context: Context, is_meant: _Test, severity: Severity) -> Iterator[Doubt]:
    annotations = context.project.trace.annotations
    for one in context.findings.found:
        if one.id >= 0 and one.problem.severity is severity and is_meant(annotations[one.id]):
            yield _doubt(annotations[one.id], _matter(one.problem), one.problem.hint)


def _matter(problem: Problem) -> str:
    return f"{problem.message} [{problem.code}]"


def _doubt(annotation: Annotation, matter: str, advice: str) -> Doubt:
    place = f"{annotation.path}:{annotation.line}"
    return Doubt(place, annotation.target, shortened(" ".join(annotation.quote.split()), 300), matter, advice)
