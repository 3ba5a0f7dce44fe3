"""Names that refer to one another, and names that are too much alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from duvet import rules
from duvet.config.at import At
from duvet.config.wording import did_you_mean
from duvet.model import Problem

_Names = Iterable[tuple[str, At]]
_NAMED = ("providers", "toolPacks", "workflows", "routing")


def unresolved(at: At) -> Iterator[Problem]:
    """What is wrong with the names of a whole file; whatever else is wrong with it is passed over."""
    values = at.document.values
    for table in _NAMED:
        yield from _alike(_tables(values.get(table)), at / table)
    providers, tasks = (dict(_tables(values.get(name))) for name in ("providers", "routing"))
    for task, route in tasks.items():
        yield from _route(task, route, providers, at / "routing" / task)
    for name, workflow in _tables(values.get("workflows")):
        yield from _workflow(workflow, providers, tasks, at / "workflows" / name)


def _tables(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables in a table by their names."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict):
            yield name, inner


def _items(value: Any) -> Iterator[tuple[int, Any]]:
    yield from enumerate(value) if isinstance(value, list) else ()


def _alike(tables: Iterable[tuple[str, Any]], at: At) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name, _ in tables:
        ##= man/spec/service.md#configuration
        ##% Names of one table that differ only in case, or in `-` and `_`, MUST be refused.
        other = seen.setdefault(name.lower().replace("-", "_"), name)
        if other != name:
            line = at.document.key_place(*at.keys, other).line
            message = f"`{name}` and `{other}` at line {line} are too much alike"
            yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "choose another name", at_key=True)


def _route(task: str, route: dict[str, Any], providers: dict[str, Any], at: At) -> Iterator[Problem]:
    if task in providers:
        message = f"`{task}` is a provider, too: nobody could tell which is meant"
        yield at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name", at_key=True)
    yield from _model(route.get("model"), providers, {}, at / "model")
    for index, model in _items(route.get("fallbacks")):
        yield from _model(model, providers, {}, at / "fallbacks" / index)


def _model(model: Any, providers: dict[str, Any], tasks: dict[str, Any], at: At) -> Iterator[Problem]:
    if not isinstance(model, str) or not model.strip():
        return
    name, slash, _ = model.partition("/")
    known = providers if slash else {**providers, **tasks}
    ##= man/spec/service.md#configuration
    ##% A model MUST name a provider that there is; in a step of a workflow it may name a task of `routing` instead.
    if name not in known:
        hint = did_you_mean(name, known) or "describe it in `providers`"
        yield at.problem(rules.CONFIG_BAD_VALUE, f"there is no provider `{name}`", hint)


def _workflow(workflow: dict[str, Any], providers: dict[str, Any], tasks: dict[str, Any], at: At) -> Iterator[Problem]:
    steps = [(step, at / "steps" / index) for index, step in _items(workflow.get("steps")) if isinstance(step, dict)]
    for step, here in steps:
        yield from _model(step.get("model"), providers, tasks, here / "model")
    yield from repeated(workflow, at)


def repeated(workflow: dict[str, Any], at: At) -> Iterator[Problem]:
    """The names of steps, and of what they capture, that are those of others before them."""
    steps = [(step, at / "steps" / index) for index, step in _items(workflow.get("steps")) if isinstance(step, dict)]
    ids = [(step.get("id"), here / "id") for step, here in steps]
    captures = [
        (capture.get("name"), here / "capture" / index / "name")
        for step, here in steps
        for index, capture in _items(step.get("capture"))
        if isinstance(capture, dict)
    ]
    yield from _repeated((name, here) for name, here in ids if isinstance(name, str))
    yield from _repeated((name, here) for name, here in captures if isinstance(name, str))


def _repeated(names: _Names) -> Iterator[Problem]:
    seen: dict[str, At] = {}
    for name, at in names:
        ##= man/spec/service.md#configuration
        ##% The steps of a workflow, and what they capture, MUST have names of their own.
        first = seen.setdefault(name, at)
        if first is not at:
            message = f"`{name}` is the name of another at line {first.place.line} already"
            yield at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name")
