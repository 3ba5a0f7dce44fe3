"""The whole configuration of the service, and checks of references between its tables."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from msgspec import field

from duvet import rules
from duvet.config.check import DocumentLocation
from duvet.config.fields import did_you_mean
from duvet.config.service_tables import (
    IngestSection,
    Name,
    PackSection,
    PagesSection,
    ProviderSection,
    RouteSection,
    SearchSection,
    ServerSection,
    ServiceSection,
    StoreSection,
    UploadsSection,
)
from duvet.config.settings import NotesRule, ServerRule, doc
from duvet.config.workflow_tables import WorkflowSection
from duvet.model import Problem


class ServiceConfig(ServiceSection, frozen=True, kw_only=True):
    """The configuration of `duvet mcp` and of the commands that call tools."""

    schema: Annotated[str | None, doc("Where the schema of this file is, for editors")] = field(
        default=None, name="$schema"
    )
    server: Annotated[ServerSection, doc("The server")] = ServerSection()
    providers: Annotated[dict[Name, ProviderSection], doc("Who answers for models, by name")] = field(
        default_factory=dict
    )
    tool_packs: Annotated[dict[Name, PackSection], doc("Packs of tools, by name")] = field(default_factory=dict)
    workflows: Annotated[dict[Name, WorkflowSection], doc("Workflows, by name")] = field(default_factory=dict)
    routing: Annotated[dict[Name, RouteSection], doc("The model for each kind of task")] = field(default_factory=dict)
    pages: Annotated[
        tuple[PagesSection, ...], doc("Notes in Markdown; by default those in `docs` that are no specification")
    ] = ()
    ingest: Annotated[IngestSection, doc("What is taken in of the project")] = IngestSection()
    store: Annotated[StoreSection, doc("Where that is kept")] = StoreSection()
    search: Annotated[SearchSection, doc("What counts in a search in it, besides the words")] = SearchSection()
    uploads: Annotated[UploadsSection, doc("Files that are handed in by `km-upload` and `km-storetext`")] = (
        UploadsSection()
    )

    def notes(self) -> tuple[NotesRule, ...] | None:
        """Return the files that are pages; None if the tables name none."""
        return tuple(one.rule() for one in self.pages) or None

    def packs(self, by_default: tuple[str, ...] = ServerRule().packs) -> tuple[str, ...]:
        """Return the packs that are switched on; the default ones need no table."""
        named = self.tool_packs
        kept = [name for name in by_default if name not in named or named[name].enabled]
        return (*kept, *(name for name, pack in named.items() if pack.enabled and name not in by_default))


_Names = Iterable[tuple[str, DocumentLocation]]
_TABLES_OF_NAMES = ("providers", "toolPacks", "workflows", "routing")


def find_unresolved_names(at: DocumentLocation) -> Iterator[Problem]:
    """Return the problems with names across tables; other problems are skipped."""
    values = at.document.values
    for table in _TABLES_OF_NAMES:
        yield from _find_similar_names(_list_tables(values.get(table)), at / table)
    providers, tasks = (dict(_list_tables(values.get(name))) for name in ("providers", "routing"))
    for task, route in tasks.items():
        yield from _check_route(task, route, providers, at / "routing" / task)
    for name, workflow in _list_tables(values.get("workflows")):
        yield from _check_workflow(workflow, providers, tasks, at / "workflows" / name)


def _list_tables(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict):
            yield name, inner


def _list_items(value: Any) -> Iterator[tuple[int, Any]]:
    yield from enumerate(value) if isinstance(value, list) else ()


def _find_similar_names(tables: Iterable[tuple[str, Any]], at: DocumentLocation) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name, _ in tables:
        other = seen.setdefault(name.lower().replace("-", "_"), name)
        if other != name:
            line = at.document.key_place(*at.keys, other).line
            message = f"`{name}` and `{other}` at line {line} are too much alike"
            yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "choose another name", at_key=True)


def _check_route(
    task: str, route: dict[str, Any], providers: dict[str, Any], at: DocumentLocation
) -> Iterator[Problem]:
    if task in providers:
        message = f"`{task}` is a provider, too: nobody could tell which is meant"
        yield at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name", at_key=True)
    yield from _check_model(route.get("model"), providers, {}, at / "model")
    for index, model in _list_items(route.get("fallbacks")):
        yield from _check_model(model, providers, {}, at / "fallbacks" / index)


def _check_model(
    model: Any, providers: dict[str, Any], tasks: dict[str, Any], at: DocumentLocation
) -> Iterator[Problem]:
    if not isinstance(model, str) or not model.strip():
        return
    name, slash, _ = model.partition("/")
    known = providers if slash else {**providers, **tasks}
    ##= man/spec/service.md#configuration
    ##% duvet MUST refuse unknown names of providers, packs and tools, and names of one table that differ only in case
    ##% or in `-` and `_`.
    if name not in known:
        hint = did_you_mean(name, known) or "describe it in `providers`"
        yield at.problem(rules.CONFIG_BAD_VALUE, f"there is no provider `{name}`", hint)


def _check_workflow(
    workflow: dict[str, Any], providers: dict[str, Any], tasks: dict[str, Any], at: DocumentLocation
) -> Iterator[Problem]:
    steps = [
        (step, at / "steps" / index) for index, step in _list_items(workflow.get("steps")) if isinstance(step, dict)
    ]
    for step, here in steps:
        yield from _check_model(step.get("model"), providers, tasks, here / "model")
    yield from find_repeated_names(workflow, at)


def find_repeated_names(workflow: dict[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    """Return problems with the names of steps and captures that are used twice."""
    steps = [
        (step, at / "steps" / index) for index, step in _list_items(workflow.get("steps")) if isinstance(step, dict)
    ]
    ids = [(step.get("id"), here / "id") for step, here in steps]
    captures = [
        (capture.get("name"), here / "capture" / index / "name")
        for step, here in steps
        for index, capture in _list_items(step.get("capture"))
        if isinstance(capture, dict)
    ]
    yield from _find_repeated((name, here) for name, here in ids if isinstance(name, str))
    yield from _find_repeated((name, here) for name, here in captures if isinstance(name, str))


def _find_repeated(names: _Names) -> Iterator[Problem]:
    seen: dict[str, DocumentLocation] = {}
    for name, at in names:
        first = seen.setdefault(name, at)
        if first is not at:
            message = f"`{name}` is the name of another at line {first.place.line} already"
            yield at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name")
