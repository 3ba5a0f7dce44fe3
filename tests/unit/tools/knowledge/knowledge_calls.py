"""Calls of the knowledge tools on real stores."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anyio
from jsonschema import validate  # type: ignore[import-untyped]
from msgspec.structs import replace

from duvet.config.service_tables import IngestRule, StoreSection, UploadRule
from duvet.knowledge.index import Knowledge, Maintenance
from duvet.knowledge.ingest.process import IngestSource
from duvet.store.location import KnowledgeSettings
from duvet.tools import tool as tools
from duvet.tools.arguments import output_schema
from duvet.tools.call_context import Caller
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import KNOWLEDGE as PACK, Registry
from duvet.tools.tool import EnabledPack, Scope, ToolAnswer, ToolError
from tests.unit.knowledge.stored_project import CLOCK, STORE, fill, plain
from tests.unit.tools.tool_calls import FILES, Fixed, context_of

USUAL = IngestRule()
CALLS: dict[str, dict[str, object]] = {"km-graph-node": {"node_id": "Subsystem:Kettle"}, "km-coverage-summary": {}}
CALLS |= {"km-graph-subsystem": {"name": "Kettle"}, "km-graph-search": {"term": "kettle"}, "km-lifecycle-report": {}}
STATUS = "km-ingest-status"


class Asking:
    def __init__(
        self,
        folder: Path,
        rule: IngestRule = USUAL,
        packs: Sequence[EnabledPack] = (EnabledPack(PACK),),
        services: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.folder = folder
        self.file = folder / STORE
        self.knowledge = Knowledge(lambda: KnowledgeSettings(str(folder), rule, StoreSection()))
        self.uploads = UploadRule()
        self.environ = {"PATH": os.environ["PATH"]}
        rules, uploads = (lambda: self.knowledge.rules()), (lambda: self.uploads)
        self.maintenance = Maintenance(rules, uploads, IngestSource, self.environ, lambda: CLOCK, patience=0.1)
        own = {tools.KNOWLEDGE_SERVICE: self.knowledge, tools.MAINTENANCE_SERVICE: self.maintenance}
        environment = ToolEnvironment(services={**own, **services})
        self.desk = ToolDispatcher(Registry(packs), Fixed(context_of(FILES)), environment)

    def answer(
        self, tool: str, arguments: dict[str, object] | None = None, face: str = "library", **more: Any
    ) -> ToolAnswer:
        """Return the tool's answer, after checking it against the tool's schema."""
        caller = Caller(face=face, **{"scopes": frozenset(Scope), **more})
        found = anyio.run(self.desk.call, tool, arguments or {}, caller)
        validate(plain(tools.make_structured_content(found)), output_schema(self.desk.registry.require(tool)))
        return found

    def turn_to(self, **more: Any) -> None:
        rules = replace(self.knowledge.rules(), **more)
        self.knowledge.rules = lambda: rules

    def value(self, tool: str, /, **arguments: object) -> Any:
        return plain(self.answer(tool, arguments).value)

    def refusal(self, tool: str, face: str = "library", holder: str = "", /, **given: object) -> tuple[str, str, str]:
        try:
            found = self.answer(tool, given, face, holder=holder)
        except ToolError as error:
            return error.code.value, error.message, error.hint
        raise AssertionError(f"it answered {found}")


@contextmanager
def asking(folder: Path, rule: IngestRule = USUAL) -> Iterator[Asking]:
    found = Asking(fill(folder), rule)
    try:
        yield found
    finally:
        found.knowledge.close()
        assert os.path.exists(found.file)


def ids(found: dict[str, Any]) -> list[str]:
    return [one["chunk"]["chunk_id"] for one in found["results"]]
