"""A pack: for each tool the record of its arguments, the record that it answers, and a handler that makes one of the
other. It runs in a thread: what it raises does no harm to the server, nor how long it takes, as long as it is Python."""

from typing import Annotated

from msgspec import Meta, Struct

from duvet.tools.plugin_runner import PackContext
from duvet.tools.tool import Pack, Scope, Tool


class Boil(Struct, frozen=True):
    litres: Annotated[float, Meta(gt=0, le=3, description="How much water there is")]
    celsius: Annotated[int, Meta(description="How warm it is to be")] = 100


class Boiled(Struct, frozen=True):
    seconds: int
    kettle: str


def boil(asked: Boil, ctx: PackContext) -> Boiled:
    watts = ctx.settings.get("watts", 2000)
    ctx.progress(1, 1, "boiled")
    return Boiled(round(4186 * asked.litres * (asked.celsius - 20) / watts), ctx.settings.get("name", "kettle"))


class Nothing(Struct, frozen=True):
    """No arguments."""


class Owed(Struct, frozen=True):
    requirements: int
    uncited: int


def owed(asked: Nothing, ctx: PackContext) -> Owed:
    uncited = ctx.call("list_uncited_requirements", {"limit": 1})
    requirements = ctx.ask(lambda context: len(context.catalogue.requirements))
    return Owed(requirements, uncited.page.total if uncited.page else 0)


def descale(asked: Nothing, ctx: PackContext) -> Boiled:
    return Boiled(600, "clean")


PACK = Pack(
    "kettle",
    (
        Tool(
            name="boil",
            title="Boil water",
            description="How long water takes to boil.",
            input=Boil,
            output=Boiled,
            handler=boil,
            labels=("kettle", "water"),
            safety_notes=("The kettle is hot afterwards.",),
            invocation_hints=("Ask before tea is made.",),
        ),
        Tool(
            name="owed",
            title="What kettles owe",
            description="How many requirements there are, and how many of them nothing cites.",
            input=Nothing,
            output=Owed,
            handler=owed,
        ),
        Tool(
            name="descale",
            title="Descale",
            description="Cleans the kettle.",
            input=Nothing,
            output=Boiled,
            handler=descale,
            scope=Scope.MAINTAINER,
        ),
    ),
    "Kettles",
    "1.2.3",
)
