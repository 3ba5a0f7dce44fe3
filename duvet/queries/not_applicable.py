"""What a configuration says is not owed, and the requirements that this means."""

from __future__ import annotations

from collections.abc import Container, Iterator
from datetime import date
from typing import NamedTuple

from msgspec.structs import replace

from duvet import rules
from duvet.cache.memory import Memory
from duvet.config.schema import Config, NotApplicableRule
from duvet.errors import NotFoundError
from duvet.model import Problem
from duvet.normalise import normalise
from duvet.queries.names import nearest_hint
from duvet.queries.scopes import Scopes
from duvet.text import plural, quoted
from duvet.trace.finished import Settled
from duvet.trace.requirements import Requirement
from duvet.trace.states import NotApplicable, State


def settle(config: Config, scopes: Scopes, today: date | None, memory: Memory) -> Settled:
    """What becomes of the requirements; where there is no today, no day is over."""
    problems: list[Problem] = []
    entries: list[NotApplicable] = []
    freed: dict[int, int] = {}
    for index, rule in enumerate(config.not_applicable):
        meant = _Entry(config, index, rule, scopes, problems).requirements()
        has_expired = rule.expiry is not None and _is_over(rule.expiry, today, memory)
        if has_expired:
            problems.append(_expired(config, index, rule))
        else:
            freed.update((one, index) for one in meant if one not in freed)
        entries.append(
            NotApplicable(
                target=rule.target,
                quote=rule.quote,
                reason=rule.reason,
                owner=rule.owner,
                expiry=rule.expiry,
                requirements=len(meant),
                has_expired=has_expired,
            )
        )
    return Settled(tuple(_freed(scopes, freed)), tuple(entries), tuple(problems), freed)


def _is_over(day: date, today: date | None, memory: Memory) -> bool:
    ##= man/spec/gates.md#not-applicable
    ##% An entry MUST hold until the end of the day on which it expires.
    is_over = today is not None and day < today
    memory.dated(day.isoformat(), is_over)
    return is_over


def _freed(scopes: Scopes, freed: Container[int]) -> Iterator[Requirement]:
    ##= man/spec/gates.md#not-applicable
    ##% The requirements that `[[not-applicable]]` names MUST be not applicable, whatever refers to them.
    for index, one in enumerate(scopes.requirements):
        yield replace(one, state=State.NOT_APPLICABLE) if index in freed else one


def _expired(config: Config, index: int, rule: NotApplicableRule) -> Problem:
    ##= man/spec/gates.md#not-applicable
    ##% An entry that has expired MUST be reported where its date is written, and its requirements MUST be applicable
    ##% again.
    return rules.NOT_APPLICABLE_EXPIRED.problem(
        f"this expired on {rule.expiry}, and the requirements of {rule.target} are owed again",
        config.path,
        config.not_applicable_place(index, "expiry"),
        hint="give it a later date, or remove it",
    )


class _Entry(NamedTuple):
    """An entry of the configuration, and where to tell what is wrong with it."""

    config: Config
    number: int
    rule: NotApplicableRule
    scopes: Scopes
    problems: list[Problem]

    def requirements(self) -> list[int]:
        """The indexes of the requirements that are meant; none where something is wrong."""
        target = self.rule.target
        try:
            found = self.scopes.of(target, below=not self.rule.quote)
        except NotFoundError as error:
            if not self.scopes.is_unavailable(target):
                self._wrong(rules.NOT_APPLICABLE_UNKNOWN, "target", error.message, error.hint)
            return []
        if not found:
            stating = [_target(one) for one in self.scopes.requirements]
            hint = nearest_hint(target, stating) or "name a section that has one, or remove the entry"
            self._wrong(rules.NOT_APPLICABLE_NOTHING, "target", f"{target} has no requirement", hint)
        return self._saying(found) if found and self.rule.quote else found

    def _saying(self, found: list[int]) -> list[int]:
        """The requirement that the quote is, or is a part of."""
        wanted = _plain(self.rule.quote)
        texts = {index: self.scopes.requirements[index].text for index in found}
        ##= man/spec/gates.md#not-applicable
        ##% A quote MUST stand for the one requirement of the section that says it, however it is wrapped.
        equal = [index for index, text in texts.items() if _plain(text) == wanted]
        meant = equal or [index for index, text in texts.items() if wanted in _plain(text)]
        if len(meant) == 1:
            return meant
        if meant:
            message = f"{plural(len(meant), 'requirement')} of {self.rule.target} say this"
            hint = "quote the whole of one sentence"
        else:
            message = f"no requirement of {self.rule.target} says this"
            hint = nearest_hint(quoted(self.rule.quote), map(quoted, texts.values())) or _NO_SENTENCE
        self._wrong(rules.NOT_APPLICABLE_NOTHING, "quote", message, hint)
        return []

    def _wrong(self, rule: rules.Rule, key: str, message: str, hint: str) -> None:
        ##= man/spec/gates.md#not-applicable
        ##% A target or a quote that leads to no requirement MUST be reported where it is written, and SHOULD be
        ##% reported with what is most like it.
        place = self.config.not_applicable_place(self.number, key)
        self.problems.append(rule.problem(message, self.config.path, place, hint=hint))


_NO_SENTENCE = "quote a sentence of it that is a requirement, or remove the entry"


def _target(requirement: Requirement) -> str:
    return f"{requirement.specification.locator.name}#{requirement.section.id}"


def _plain(text: str) -> str:
    """The text on one line, without the spacing that does not count."""
    return normalise(" ".join(text.split()))
