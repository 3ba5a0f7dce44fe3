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
    UploadsSection,
)
from duvet.config.settings import NotesRule, ServerRule, ServiceSection, StoreSection, doc
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


_TABLES_OF_NAMES = ("providers", "toolPacks", "workflows", "routing")


def find_unresolved_names(at: DocumentLocation) -> Iterator[Problem]:
    """Return the problems with names across tables; other problems are skipped."""
    tables = {name: _list_tables(at.document.values.get(name)) for name in _TABLES_OF_NAMES}
    for name, named in tables.items():
        yield from _find_similar_names(named, at / name)
    providers, tasks = tables["providers"], tables["routing"]
    for task, route in tasks.items():
        yield from _check_route(task, route, providers, at / "routing" / task)
    for name, workflow in tables["workflows"].items():
        below = at / "workflows" / name
        for step, here in _list_steps(workflow, below):
            yield from _check_model(step.get("model"), {**providers, **tasks}, providers, here / "model")
        yield from find_repeated_names(workflow, below)


def _list_tables(value: Any) -> dict[str, dict[str, Any]]:
    return {name: inner for name, inner in value.items() if isinstance(inner, dict)} if isinstance(value, dict) else {}


def _list_items(value: Any, at: DocumentLocation) -> Iterator[tuple[Any, DocumentLocation]]:
    yield from ((item, at / index) for index, item in enumerate(value if isinstance(value, list) else ()))


def _list_steps(workflow: dict[str, Any], at: DocumentLocation) -> list[tuple[dict[str, Any], DocumentLocation]]:
    return [(step, here) for step, here in _list_items(workflow.get("steps"), at / "steps") if isinstance(step, dict)]


def _find_similar_names(names: Iterable[str], at: DocumentLocation) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name in names:
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
    yield from _check_model(route.get("model"), providers, providers, at / "model")
    for model, here in _list_items(route.get("fallbacks"), at / "fallbacks"):
        yield from _check_model(model, providers, providers, here)


def _check_model(
    model: Any, names: dict[str, Any], providers: dict[str, Any], at: DocumentLocation
) -> Iterator[Problem]:
    """Check that a model names one of `names`, or as `PROVIDER/MODEL` one of the providers."""
    if not isinstance(model, str) or not model.strip():
        return
    name, slash, _ = model.partition("/")
    known = providers if slash else names
    ##= man/spec/service.md#configuration
    ##% duvet MUST refuse unknown names of providers, packs and tools, and names of one table that differ only in case
    ##% or in `-` and `_`.
    if name not in known:
        hint = did_you_mean(name, known) or "describe it in `providers`"
        yield at.problem(rules.CONFIG_BAD_VALUE, f"there is no provider `{name}`", hint)


def find_repeated_names(workflow: dict[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    """Return problems with the names of steps and captures that are used twice."""
    steps = _list_steps(workflow, at)
    yield from _find_repeated([(step.get("id"), here / "id") for step, here in steps])
    captures = [found for step, here in steps for found in _list_items(step.get("capture"), here / "capture")]
    yield from _find_repeated(
        [(capture.get("name"), here / "name") for capture, here in captures if isinstance(capture, dict)]
    )


def _find_repeated(names: list[tuple[Any, DocumentLocation]]) -> Iterator[Problem]:
    seen: dict[str, DocumentLocation] = {}
    for name, at in names:
        if isinstance(name, str) and (first := seen.setdefault(name, at)) is not at:
            message = f"`{name}` is the name of another at line {first.place.line} already"
            yield at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name")
