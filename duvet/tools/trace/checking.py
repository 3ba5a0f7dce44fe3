"""Citations that stand nowhere yet, looked at as `duvet report` would look at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Annotation, Kind, Locator, Problem, Section, Severity
from duvet.progress import Progress
from duvet.sources.pasted import Pasted
from duvet.sources.style import Style
from duvet.text import shortened
from duvet.tools.context import Context
from duvet.tools.trace.by_section import requirements_by_section
from duvet.tools.trace.nearest import Near, Nearest
from duvet.tools.trace.pasting import given
from duvet.tools.trace.shelf import Shelf
from duvet.tools.trace.verdicts import URL_NOT_FOUND, as_written, error_of
from duvet.trace.link import link
from duvet.trace.match import Matcher
from duvet.trace.records import Fit, Match, Piece
from duvet.tree.memory import MemoryTree

_PATH = "\0"
"""What the text of a citation is called; no target can name it."""
_LONGEST = 500
"""So many characters of an error are told."""
_KEPT = 512
_NO_TARGET = "no target can be read; it is written `spec#section`"

_Spot = tuple[int, int]
"""The indexes of a specification and of a section in it."""
_Spans = list[Piece]
"""Where the requirements of a section stand."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What there is to say of a citation."""

    error: str = ""
    warning: str = ""
    nearest: str = ""
    hint: str = ""


class Checker:
    """Looks at citations; what is read of the specifications is kept as long as they are what they are."""

    def __init__(self, context: Context) -> None:
        self.shelf = context.once(Shelf)
        self.nearest = Nearest(context)
        config = context.project.config
        rules = [*context.project.options.sources, *(config.sources if config else ())]
        self.styles = tuple(dict.fromkeys(Style(rule.meta, rule.content) for rule in rules))
        self._indexes = context.once(requirements_by_section)
        self._requirements = context.catalogue.requirements
        self._spans: dict[_Spot, _Spans] = {}
        self._matchers = _Matchers()

    def verdict(self, citation: str, *, looks: bool = True) -> Verdict:
        """What there is to say of all that a text cites: of the first that is wrong, or of all of them.

        It looks for what was meant, unless it is told not to, which takes longer than all the rest.
        """
        found = given(_PATH, citation, self.styles)
        wrong = [one for one in found.problems if one.severity is Severity.ERROR]
        if wrong or not found.annotations:
            return _unreadable([*wrong, *found.problems])
        verdicts = []
        for annotation in found.annotations:
            verdict = self._of(annotation, found, looks=looks)
            if verdict.error:
                where = f" (line {annotation.line})" if len(found.annotations) > 1 else ""
                return replace(verdict, error=shortened(verdict.error, _LONGEST) + where)
            verdicts.append(verdict)
        return _together(verdicts, found.problems)

    def _of(self, annotation: Annotation, pasted: Pasted, *, looks: bool) -> Verdict:
        tree = MemoryTree({_PATH: pasted.text.encode()}, self.shelf.reachable)
        linked = link((annotation,), self.shelf, tree, self.shelf.cwd, Progress(), self._matchers.of)
        failure = linked.failures.get(0)
        found = [(locator, match) for locator, matches in linked.matches.items() for match in matches]
        for locator, match in found:
            warnings = [as_written(failure.message, annotation.target)] if failure else []
            return self._matched(annotation, locator, match, warnings)
        assert failure is not None
        ##= man/spec/mcp.md#tools
        ##% A citation that `duvet report` refuses MUST be invalid for the same reason, and any other MUST be valid.
        error = error_of(Problem(failure.rule.code, failure.message), annotation.target)
        near = self.nearest.to(failure.rule.code, annotation) if looks else Near()
        return Verdict(error=error, nearest=near.text, hint=near.hint)

    def _matched(self, annotation: Annotation, locator: Locator, match: Match, warnings: list[str]) -> Verdict:
        number = self.shelf.number_of(locator)
        if number is not None:
            number = self.shelf.first_of(number)
            first = self.shelf.cards[number].locator
            if first != locator.name:
                ##= man/spec/mcp.md#tools
                ##% A second spelling of a specification MUST be told as a warning, though it may be cited by that already.
                warnings.append(f"this counts as another specification than {first}: name that one")
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            warnings.append("this exception does not say why: add a line `reason=…`")
        is_required = number is not None and self._is_required((number, match.section), match.pieces)
        if match.fit is not Fit.TITLE and not is_required and annotation.kind is not Kind.SPEC:
            ##= man/spec/mcp.md#tools
            ##% A quote that stands in its section, but in no requirement, MUST be valid with a warning.
            warnings.append("these words stand in the section, but in no requirement")
        return Verdict(warning="; ".join(warnings))

    def _is_required(self, spot: _Spot, pieces: Sequence[Piece]) -> bool:
        """Whether some of these bytes of a section belong to a requirement."""
        if spot not in self._spans:
            self._spans[spot] = self._spans_of(spot)
        return any(one.start < other.end and other.start < one.end for one in self._spans[spot] for other in pieces)

    def _spans_of(self, spot: _Spot) -> _Spans:
        number, index = spot
        section = self.shelf.known(number).sections[index]
        matcher = Matcher(section)
        indexes = self._indexes.get((number, section.id), [])
        found = (matcher.find(self._requirements[one].text) for one in indexes)
        return [piece for place in found if place is not None for piece in place[0]]


class _Matchers:
    """What looks for quotes, for the last few sections that were asked for: to make one takes longer than to look."""

    def __init__(self) -> None:
        self._known: dict[int, Matcher] = {}

    def of(self, section: Section) -> Matcher:
        # A section that is kept here is no other one while it is.
        found = self._known.pop(id(section), None) or Matcher(section)
        self._known[id(section)] = found
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return found


def checker(context: Context) -> Checker:
    """The one that looks at the citations of this reading of the project."""
    return context.once(Checker)


def _unreadable(problems: Sequence[Problem]) -> Verdict:
    """The verdict on a text in which no citation can be read."""
    reason = problems[0].message if problems else _NO_TARGET
    return Verdict(error=f"{URL_NOT_FOUND}: {reason}", hint=problems[0].hint if problems else "")


def _together(verdicts: Iterable[Verdict], problems: Iterable[Problem]) -> Verdict:
    """The verdict on several citations that are all valid."""
    warnings = [*(one.warning for one in verdicts), *(one.message for one in problems)]
    return Verdict(warning="; ".join(dict.fromkeys(filter(None, warnings))))
