"""Problems in the setup of a project that duvet's own schema reports and awslabs duvet accepts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from duvet import rules
from duvet.config.settings import Config
from duvet.model import Kind, Problem
from duvet.specs.locator import locate_specification
from duvet.text import quote_text
from duvet.trace.build import find_second_spellings
from duvet.trace.records import AnnotationPlaces, Requirement, Trace

if TYPE_CHECKING:
    from duvet.project.project import Project


def find_obstacles(
    config: Config | None, requirements: Collection[Requirement], unmatched: Iterable[Problem]
) -> Iterator[Problem]:
    """Yield a warning for each reason why a gate has nothing to check; only with duvet's own schema."""
    if config is None or not config.extended:
        return
    yield from unmatched
    if not requirements and config.specifications:
        hint = (
            "requirements contain MUST, SHOULD or MAY in capitals; check `source` and `format`, or set "
            '`keywords = "any"` for lower-case keywords or `requirements = "ids"` for ids such as FR-001'
        )
        yield rules.NO_REQUIREMENTS.problem("the specifications contain no requirements", config.path, hint=hint)
    elif not requirements:
        hint = (
            "run `duvet init --yes` to add the specifications in this folder, or `duvet init --specification URL|FILE`"
        )
        yield rules.NO_SPECIFICATION.problem("no specification is configured", config.path, hint=hint)


def find_setup_problems(project: Project) -> Iterator[Problem]:
    """Yield warnings about a setup that awslabs duvet accepts; only with duvet's own schema."""
    config = project.config
    if config is None or not config.extended:
        return
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% Without a gate, duvet MUST warn about such a setup.
    yield from project.setup_problems
    trace, places = project.trace, AnnotationPlaces(project.tree)
    known = {locate_specification(rule.source, rule.format).name for rule in config.specifications}
    # A second spelling has a separate problem.
    known |= {other.locator.name for other, _ in find_second_spellings(trace.coverages, project.root)}
    for coverage in trace.coverages:
        specification = coverage.specification
        ids = [id for match in coverage.matches for id in match.ids]
        is_stated = any(trace.annotations[id].kind is Kind.SPEC for id in ids)
        ##= man/spec/gates.md#gates-with-nothing-to-check
        ##% duvet MUST warn about a cited specification that is not configured.
        if not ids or is_stated or specification.locator.name in known:
            continue
        first = trace.annotations[min(ids)]
        message = f"{quote_text(specification.locator.name)} is cited, but not configured"
        hint = f"add a `[[specification]]` table with `source = {quote_text(specification.locator.name)}`"
        place = places.of(first, first.source.target)
        label = "its requirements are unknown"
        yield rules.SPECIFICATION_UNCONFIGURED.problem(message, first.path, place, label=label, hint=hint)


def find_missing_reasons(trace: Trace, places: AnnotationPlaces) -> Iterator[tuple[int, Problem]]:
    """Yield a problem for each exception without a reason, with the index of the annotation."""
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report an exception without a reason as an error.
    for id, annotation in enumerate(trace.annotations):
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            place, label = places.of(annotation, annotation.source.target), "exception without a reason"
            message, hint = "this exception has no reason", "add a line `reason=…` below the target"
            yield id, rules.EXCEPTION_NO_REASON.problem(message, annotation.path, place, label=label, hint=hint)
