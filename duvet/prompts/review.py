"""What the prompt about doubtful citations is filled with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.model import Annotation, Severity
from duvet.prompts.room import fitting
from duvet.queries.names import nearest_hint, specification_named, specifications_named
from duvet.queries.places import plain_paths
from duvet.text import quoted, shortened
from duvet.tools.context import Context

_Test = Callable[[Annotation], bool]


class Doubt(Struct, frozen=True):
    """A citation, and what is the matter with it."""

    place: str
    target: str
    quote: str
    matter: str
    advice: str

    @property
    def text(self) -> str:
        return self.place + self.target + self.quote + self.matter + self.advice


def review_values(context: Context, given: Mapping[str, str]) -> Mapping[str, object]:
    """The citations that are wrong, and those that somebody should look at."""
    tests = list(_tests(context, given))

    def is_meant(annotation: Annotation) -> bool:
        return all(test(annotation) for test in tests)

    wrong = list(_found(context, is_meant, Severity.ERROR))
    doubtful = list(_found(context, is_meant, Severity.WARNING))
    shown = fitting(wrong, lambda one: one.text)
    left = fitting(doubtful, lambda one: one.text) if len(shown) == len(wrong) else []
    return {
        "among": " and ".join(given.values()),
        "wrong": shown,
        "doubtful": left,
        "left_out": len(wrong) + len(doubtful) - len(shown) - len(left),
    }


def _tests(context: Context, given: Mapping[str, str]) -> Iterator[_Test]:
    if "spec" in given:
        catalogue = context.catalogue
        wanted = set(specification_named(catalogue, given["spec"]))
        # A target that leads nowhere may name a specification all the same.
        yield lambda one: not wanted.isdisjoint(specifications_named(catalogue, one.target.partition("#")[0]))
    if "file" in given:
        paths = plain_paths(given["file"], context.project.root)
        known = context.findings.files
        inside = {path for path in known if any(path == one or path.startswith(f"{one}/") for one in paths)}
        if not inside:
            hint = nearest_hint(given["file"], list(known)) or "give the path of a source, or of a folder with some"
            raise NotFoundError(f"no source is called {quoted(given['file'])}", hint=hint)
        yield lambda one: one.path in inside


def _found(context: Context, is_meant: _Test, severity: Severity) -> Iterator[Doubt]:
    annotations = context.project.trace.annotations
    for one in context.findings.found:
        if one.id >= 0 and one.problem.severity is severity and is_meant(annotations[one.id]):
            yield _doubt(annotations[one.id], f"{one.problem.message} [{one.problem.code}]", one.problem.hint)


def _doubt(annotation: Annotation, matter: str, advice: str) -> Doubt:
    place = f"{annotation.path}:{annotation.line}"
    return Doubt(place, annotation.target, shortened(" ".join(annotation.quote.split()), 300), matter, advice)
