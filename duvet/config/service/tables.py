"""The whole file."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from typing import Annotated

from msgspec import Meta, field

from duvet.config.schema import NotesRule, ServerRule
from duvet.config.service.ingest import IngestSection, StoreSection
from duvet.config.service.packs import PackSection
from duvet.config.service.pages import PagesSection
from duvet.config.service.providers import ProviderSection, RouteSection
from duvet.config.service.search import SearchSection
from duvet.config.service.section import Name, Section
from duvet.config.service.serving import ServerSection
from duvet.config.service.uploads import UploadsSection
from duvet.config.service.workflows import WorkflowSection


class ServiceConfig(Section, frozen=True, kw_only=True):
    """The configuration of `duvet mcp` and of the commands that call tools."""

    schema: Annotated[str | None, Meta(description="Where the schema of this file is, for editors")] = field(
        default=None, name="$schema"
    )
    server: Annotated[ServerSection, Meta(description="The server")] = ServerSection()
    providers: Annotated[dict[Name, ProviderSection], Meta(description="Who answers for models, by name")] = field(
        default_factory=dict
    )
    tool_packs: Annotated[dict[Name, PackSection], Meta(description="Packs of tools, by name")] = field(
        default_factory=dict
    )
    workflows: Annotated[dict[Name, WorkflowSection], Meta(description="Workflows, by name")] = field(
        default_factory=dict
    )
    routing: Annotated[dict[Name, RouteSection], Meta(description="The model for each kind of task")] = field(
        default_factory=dict
    )
    pages: Annotated[
        tuple[PagesSection, ...],
        Meta(description="Notes in Markdown; by default those in `docs` that are no specification"),
    ] = ()
    ingest: Annotated[IngestSection, Meta(description="What is taken in of the project")] = IngestSection()
    store: Annotated[StoreSection, Meta(description="Where that is kept")] = StoreSection()
    search: Annotated[SearchSection, Meta(description="What counts in a search in it, besides the words")] = (
        SearchSection()
    )
    uploads: Annotated[
        UploadsSection, Meta(description="Files that are handed in by `km-upload` and `km-storetext`")
    ] = UploadsSection()

    def notes(self) -> tuple[NotesRule, ...] | None:
        """Which files are pages; None where nothing is said of that."""
        return tuple(one.rule() for one in self.pages) or None

    def packs(self, by_default: tuple[str, ...] = ServerRule().packs) -> tuple[str, ...]:
        """The packs that are switched on, where these are when nothing is said of them."""
        named = self.tool_packs
        kept = [name for name in by_default if name not in named or named[name].enabled]
        return (*kept, *(name for name, pack in named.items() if pack.enabled and name not in by_default))
