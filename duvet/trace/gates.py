"""Gates for CI, and requirements that are declared not applicable, with an optional expiry date."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec.structs import asdict, replace

from duvet import rules
from duvet.config.settings import Config, NotApplicableTable
from duvet.errors import DuvetError, NotFoundError
from duvet.model import Format, Place, Problem, Specification
from duvet.specs.locator import canonical_url, resolve_specification
from duvet.text import LineNumbers, format_count, normalise, quote_phrase, shorten_text, suggest_nearest
from duvet.trace import locations, records
from duvet.trace.catalogue import Catalogue, NotApplicable, RequirementCard, State, make_specification_card
from duvet.tree.cache import Cache
from duvet.tree.files import Tree

_IMPLEMENTED = records.CITATION | records.EXCEPTION | records.IMPLICATION
_TESTED = records.TEST | records.EXCEPTION | records.IMPLICATION


def check_gates(
    trace: records.Trace, *, citations: bool, tests: bool, freed: frozenset[int] = frozenset()
) -> tuple[Problem, ...]:
    """A quote is ignored if all its annotations are in `freed` (not applicable)."""
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and without a configured snapshot, `duvet report` MUST list each requirement, and any
    ##% other annotated text, unless every line of it is excepted, implied, or cited by both code and
    ##% tests.
    problems: list[Problem] = []
    for coverage in trace.coverages:
        matches = [match for match in coverage.matches if not freed.issuperset(match.ids)]
        cited = _list_lines(matches, _IMPLEMENTED)
        if citations:
            problems += _find_problems(trace, coverage, matches, _list_lines(matches, ~0) - cited, rules.GATE_NOT_CITED)
        if tests:
            untested = cited - _list_lines(matches, _TESTED)
            problems += _find_problems(trace, coverage, matches, untested, rules.GATE_NOT_TESTED)
    return tuple(problems)


def has_implementation(trace: records.Trace) -> bool:
    return any(match.flags & _IMPLEMENTED for coverage in trace.coverages for match in coverage.matches)


def _list_lines(matches: Iterable[records.Match], flags: int) -> set[tuple[int, int]]:
    return {(match.section, piece.line) for match in matches if match.flags & flags for piece in match.pieces}


def _find_problems(
    trace: records.Trace,
    coverage: records.Coverage,
    matches: Iterable[records.Match],
    lines: set[tuple[int, int]],
    rule: rules.Rule,
) -> Iterator[Problem]:
    numbers = LineNumbers()
    for match in matches:
        first = next((piece for piece in match.pieces if (match.section, piece.line) in lines), None)
        if first is not None:
            quote = trace.annotations[match.ids[0]].quote
            section = coverage.specification.sections[match.section]
            name = trace.annotations[match.stating[0]].name if match.stating else ""
            text = f"{name} {quote_phrase(shorten_text(quote or section.title))}".lstrip()
            yield rule.problem(
                f"no {'code' if rule is rules.GATE_NOT_CITED else 'test'} cites all of {text}",
                coverage.specification.path,
                Place(numbers.of(coverage.specification.data, first.start)),
                hint=_make_hint(rule, f"{coverage.specification.locator.name}#{section.name}"),
            )


def _make_hint(rule: rules.Rule, target: str) -> str:
    place = "the code that implements it" if rule is rules.GATE_NOT_CITED else "the test that checks it"
    return f"cite this text of {target} in {place}"


_UPSTREAM_MESSAGES = {
    rules.SNAPSHOT_MISSING.code: "Could not read report snapshot. This is required to enforce CI checks.",
    rules.SNAPSHOT_DIFFERS.code: "Report snapshot does not match with CI mode enabled.",
    rules.GATE_NOT_CITED.code: "Specification requirements missing citation.",
    rules.GATE_NOT_TESTED.code: "Citation missing test.",
}


def use_upstream_wording(problem: Problem) -> Problem:
    return replace(problem, message=_UPSTREAM_MESSAGES.get(problem.code, problem.message))


def find_not_applicable_annotations(requirements: Iterable[records.Requirement]) -> frozenset[int]:
    freed: set[int] = set()
    required: set[int] = set()
    for one in requirements:
        (freed if one.state is State.NOT_APPLICABLE else required).update(one.ids, one.related)
    return frozenset(freed - required)


def find_incomplete(requirements: Iterable[records.Requirement], *, tests: bool) -> Iterator[Problem]:
    ##= man/spec/gates.md#gates-for-targets
    ##% With `--require-citations TARGET`, `duvet report` MUST list the requirements of the target in the states
    ##% `uncited`, `to do`, `in progress` and `needs code`, and with `--require-tests TARGET`, those in the states
    ##% `uncited`, `to do`, `in progress` and `needs tests`.
    started = {State.UNCITED, State.TO_DO, State.IN_PROGRESS}
    lacking = started | {State.NEEDS_TESTS if tests else State.NEEDS_CODE}
    rule, participle = (rules.GATE_NOT_TESTED, "tested") if tests else (rules.GATE_NOT_CITED, "implemented")
    lines = LineNumbers()
    for one in requirements:
        if one.state in lacking:
            specification = one.specification
            text = f"{one.name} {quote_phrase(shorten_text(one.text))}".lstrip()
            yield rule.problem(
                f"{text} is not fully {participle} ({one.state.words})",
                specification.path,
                Place(lines.of(specification.data, one.matches[0].pieces[0].start)),
                hint=_make_hint(rule, f"{specification.locator.name}#{one.section.name}"),
            )


class RequirementsByTarget:
    def __init__(
        self,
        specifications: Iterable[Specification],
        requirements: Sequence[records.Requirement],
        tree: Tree,
        base: str,
        unavailable: Collection[str] = (),
    ) -> None:
        self.requirements = requirements
        self.tree = tree
        self.base = base
        self.unavailable = frozenset(map(canonical_url, unavailable))
        """The names of specifications that could not be loaded."""
        cards = tuple(map(make_specification_card, specifications))
        numbers = {card.id: number for number, card in enumerate(cards)}
        stated = [
            RequirementCard(
                numbers[one.specification.id], one.section.id, one.text, one.level, one.state, 0, (), one.name
            )
            for one in requirements
        ]
        self._catalogue = Catalogue(cards, tuple(stated), (), ())
        self._found: dict[str, list[int]] = {}  # The specifications by the names that were looked up.

    def of(self, target: str, *, below: bool = True) -> list[int]:
        name, hash_sign, section = target.partition("#")
        if name not in self._found:
            found = locations.find_specifications(self._catalogue, name) or locations.find_specifications(
                self._catalogue, self._resolve_name(name)
            )
            self._found[name] = found or locations.require_specification(self._catalogue, name)
        known = self._found[name]
        if hash_sign:
            return locations.find_requirements_in(self._catalogue, section, known, below=below)
        return [index for index, card in enumerate(self._catalogue.requirements) if card.specification in known]

    def resolve_not_applicable(self, config: Config, today: date | None, memory: Cache) -> records.SettledRequirements:
        """If `today` is None, no entry expires."""
        problems: list[Problem] = []
        entries: list[NotApplicable] = []
        freed: dict[int, int] = {}
        for index, entry in enumerate(config.not_applicable):
            found, fault = _match_entry(entry, self)
            if fault:
                ##= man/spec/gates.md#not-applicable
                ##% duvet MUST report a `[[not-applicable]]` entry that matches no requirement, and suggest the most similar
                ##% text.
                broken, key, message, hint = fault
                problems.append(
                    broken.problem(
                        message, config.path, config.toml.value_place("not-applicable", index, key), hint=hint
                    )
                )
            has_expired = False
            if entry.expiry is not None:
                ##= man/spec/gates.md#not-applicable
                ##% Once the expiry date of a `[[not-applicable]]` entry has passed, duvet MUST report the entry and count
                ##% its requirements again.
                has_expired = today is not None and entry.expiry < today
                memory.note_day(entry.expiry.isoformat(), has_expired)
            if has_expired:
                message = f"this entry expired on {entry.expiry}; its requirements count again"
                place = config.toml.value_place("not-applicable", index, "expiry")
                hint = "set a later date, or remove the entry"
                problems.append(rules.NOT_APPLICABLE_EXPIRED.problem(message, config.path, place, hint=hint))
            else:
                freed.update((one, index) for one in found if one not in freed)
            written = {name: value for name, value in asdict(entry).items() if value is not None}
            entries.append(NotApplicable(**written, requirements=len(found), has_expired=has_expired))
        ##= man/spec/gates.md#not-applicable
        ##% duvet MUST NOT count a requirement that `[[not-applicable]]` names, or require code or tests for it, even if
        ##% code cites it.
        settled = [
            replace(one, state=State.NOT_APPLICABLE) if index in freed else one
            for index, one in enumerate(self.requirements)
        ]
        excuses = {requirement: entries[index] for requirement, index in freed.items()}
        return records.SettledRequirements(tuple(settled), tuple(entries), tuple(problems), excuses)

    def is_unavailable(self, target: str) -> bool:
        name = target.partition("#")[0]
        return bool(self.unavailable) and not self.unavailable.isdisjoint((name, self._resolve_name(name)))

    def _resolve_name(self, name: str) -> str:
        try:
            return canonical_url(resolve_specification(name, Format.AUTO, self.base, self.tree).name)
        except DuvetError:
            return name


def _match_entry(
    entry: NotApplicableTable, scopes: RequirementsByTarget
) -> tuple[list[int], tuple[rules.Rule, str, str, str] | None]:
    target = entry.target
    try:
        found = scopes.of(target, below=not entry.quote)
    except NotFoundError as error:
        fault = (rules.NOT_APPLICABLE_UNKNOWN, "target", error.message, error.hint)
        return [], None if scopes.is_unavailable(target) else fault
    if not found:
        stating = [f"{one.specification.locator.name}#{one.section.name}" for one in scopes.requirements]
        hint = suggest_nearest(target, stating) or "name a section with requirements, or remove the entry"
        return [], (rules.NOT_APPLICABLE_NOTHING, "target", f"{target} has no requirements", hint)
    ##= man/spec/gates.md#not-applicable
    ##% A `[[not-applicable]]` entry MUST apply to the requirement that it quotes or, without a quote, to all
    ##% requirements of its section or specification.
    if not entry.quote:
        return found, None
    texts = {index: scopes.requirements[index].text for index in found}
    quoted = _find_texts(texts, entry.quote)
    if not quoted and any(scopes.requirements[index].section.plain for index in found):
        from duvet.trace.plain_match import remove_quote_markup

        quoted = _find_texts(texts, remove_quote_markup(entry.quote))
    if len(quoted) == 1:
        return quoted, None
    if quoted:
        message = f"{format_count(len(quoted), 'requirement')} of {target} contain this quote"
        hint = "quote one whole requirement"
    else:
        message = f"no requirement of {target} contains this quote"
        near = suggest_nearest(quote_phrase(entry.quote), map(quote_phrase, texts.values()))
        hint = near or "quote one of its requirements, or remove the entry"
    return [], (rules.NOT_APPLICABLE_NOTHING, "quote", message, hint)


def _find_texts(texts: Mapping[int, str], quote: str) -> list[int]:
    wanted = normalise(" ".join(quote.split()))
    plain = {index: normalise(" ".join(text.split())) for index, text in texts.items()}
    return [index for index, text in plain.items() if text == wanted] or [
        index for index, text in plain.items() if wanted in text
    ]
