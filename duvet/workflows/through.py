"""How workflows reach tools and models: by the call that they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from duvet.llm.errors import NoModelError
from duvet.llm.records import MOST_TOKENS, ModelRequest
from duvet.llm.router import StaticRouter
from duvet.tools.ctx import Ctx
from duvet.tools.faces import WORKFLOW
from duvet.tools.services import MODELS
from duvet.workflows.doing import Came, ModelAsked, ModelSaid
from duvet.workflows.names import RECIPE_TOOL, called_by


class Through:
    """Lets a workflow call tools and models as its own caller."""

    def __init__(self, ctx: Ctx) -> None:
        self._ctx = ctx

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> Came:
        from duvet.tools.results import structured

        answer = await self._ctx.call(name, arguments, face=WORKFLOW, seconds=time_limit)
        value = structured(answer)
        # What a workflow warns of stands in its record.
        inner = value.get("warnings", ()) if called_by(name) or name == RECIPE_TOOL else ()
        return Came(value, [*filter(None, [answer.warning]), *inner])

    async def model(self, asked: ModelAsked) -> ModelSaid:
        router: StaticRouter | None = self._ctx.services.get(MODELS)
        if router is None:
            raise NoModelError()
        if self._ctx.caller.sampler is not None:
            router = router.with_sampler(self._ctx.caller.sampler)
        response = await router.invoke(_request(asked, router.routing))
        return ModelSaid(text=response.text, model=response.name, warnings=response.warnings)


def _request(asked: ModelAsked, tasks: Collection[str]) -> ModelRequest:
    is_task = asked.model in tasks
    return ModelRequest(
        prompt=asked.prompt,
        system=asked.system or "",
        model=None if is_task else asked.model,
        task=asked.model if is_task else None,
        temperature=asked.temperature,
        max_tokens=MOST_TOKENS if asked.max_tokens is None else asked.max_tokens,
    )
