"""Recipes in a folder, and a dispatcher with tools for them."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from duvet.config.service_tables import IngestRule
from duvet.tools import tool as tools
from duvet.tools.call_context import CallContext
from duvet.tools.packs import KNOWLEDGE as PACK, Registry
from duvet.tools.tool import EnabledPack, Pack, Scope, Tool, ToolAnswer, ToolError
from duvet.tree.files import DiskTree
from duvet.workflows.pack import make_workflow_tools
from duvet.workflows.recipe import check_recipe, make_recipe_environment
from duvet.workflows.recipes import RecipeCatalogue
from duvet.workflows.workflow import Workflow, WorkflowRun
from tests.unit.knowledge.stored_project import plain
from tests.unit.tools.knowledge.knowledge_calls import Asking

SHIPPED = ["daily-health", "release-prep", "stale-audit", "subsystem-freshness"]
FILES = Path(__file__).with_name("files")
FILLED = (FILES / "brew.yaml").read_text()


class Given(Struct, frozen=True):
    value: Any = None
    count: int = 1


class Held(Struct, frozen=True, omit_defaults=True):
    value: Any = None
    items: list[dict[str, Any]] = field(default_factory=list)
    face: str = ""
    scopes: list[str] = field(default_factory=list)


def hold(asked: Given, ctx: CallContext) -> Held:
    """Return the value, the requested number of items, and the caller."""
    items = [{"number": number} for number in range(asked.count)]
    return Held(asked.value, items, ctx.caller.face, sorted(ctx.caller.scopes))


class Blank(Struct, frozen=True):
    value: Any = None
    items: tuple[dict[str, int], ...] = ({"number": 0},)


def spill(asked: Given, ctx: CallContext) -> Held:
    raise ToolError(tools.ErrorCode.NOT_FOUND, "there is no pot", "put one there")


def leak(asked: Given, ctx: CallContext) -> ToolAnswer:
    return ToolAnswer(value=Held(asked.value), warning="half of it is lost")


HANDLERS: list[tuple[str, Any, Scope, type[Struct]]] = [
    ("pot-hold", hold, Scope.READER, Held),
    ("pot-blank", lambda asked, ctx: Blank(), Scope.READER, Blank),
    ("pot-spill", spill, Scope.READER, Held),
    ("pot-leak", leak, Scope.READER, Held),
    ("pot-fill", hold, Scope.MAINTAINER, Held),
]
POTS = Pack(
    "pots",
    [
        Tool(name=name, title=name, description=name, input=Given, output=output, handler=handler, scope=scope)
        for name, handler, scope, output in HANDLERS
    ],
)


class Kitchen(Asking):
    """A project with recipes, whose tools are called as users call them."""

    def __init__(self, folder: Path, workflows: Mapping[str, Workflow] | None = None) -> None:
        self.runs: list[WorkflowRun] = []
        self.disk = DiskTree(str(folder))
        packs = [EnabledPack(PACK), EnabledPack(POTS)]
        if workflows:
            packs.append(EnabledPack(make_workflow_tools(workflows, list(Registry(packs).list_all())).pack))
        services = {tools.RECIPES_SERVICE: RecipeCatalogue(self.disk), tools.RUNS_SERVICE: self.runs.append}
        super().__init__(folder, IngestRule(semantic=False), packs, services)

    def write(self, name: str, text: str, folder: str = "recipes") -> Path:
        path = self.folder / folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def start(
        self, recipe: str, vars: Mapping[str, Any] | None = None, scopes: Collection[Scope] = frozenset(Scope)
    ) -> ToolAnswer:
        asked: dict[str, object] = {"recipe": recipe, **({} if vars is None else {"vars": vars})}
        return self.answer("km-recipe-run", asked, "rest", scopes=frozenset(scopes))

    def run(self, recipe: str, /, **vars: Any) -> Any:
        return plain(tools.make_structured_content(self.start(recipe, vars)))

    def failure(self, recipe: str, /, **vars: Any) -> ToolError:
        """Return why a recipe fails."""
        try:
            found = self.start(recipe, vars)
        except ToolError as error:
            return error
        raise AssertionError(f"it answered {found}")

    def problems(self, name: str) -> list[tuple[str, int, str, str]]:
        """Return the problems of a recipe: path, line, message and hint."""
        every = RecipeCatalogue(self.disk).read_all()
        found = check_recipe(every[name], make_recipe_environment(self.desk.registry.list_all(), every))
        return [(one.path, one.place.line, one.message, one.hint) for one in found]


def states(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(step["id"], step["status"]) for step in run["steps"]]


def steps(*lines: str) -> str:
    return "\n".join(["steps:", *(f"  - {line}" for line in lines), ""])
