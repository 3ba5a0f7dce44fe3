"""Kettles."""

from duvet import PackContext, prompt, resource, tool


@tool
def boil(litres: float, celsius: int = 100) -> int:
    """Return how many seconds water takes to boil.

    Args:
        litres: how much water
          is in the kettle
        celsius (int): how warm the water should be
    """
    return round(4186 * litres * (celsius - 20) / 2000)


@tool
def spill(cups: int) -> int:
    """Spill tea."""
    return 1 // cups


@tool
def pour(path: str, ctx: PackContext) -> str:
    """Wait until something is written to a pipe."""
    ctx.progress(1, 2, "pouring")
    with open(path) as pipe:
        return pipe.read()


@resource
def menu(ctx: PackContext) -> list[str]:
    """What there is to drink."""
    return [ctx.settings.get("drink", "tea")]


@prompt
def brew(kind: str, cups: str = "one") -> str:
    """Brew a drink.

    kind: what to brew
    """
    return f"Brew {cups} of {kind}."
