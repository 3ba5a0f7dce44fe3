"""The tool `ask` of pages by `/api/mcp`, criterion by criterion"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.llm.records import ModelError, ModelRequest, ModelResponse, NoModelError, ResolvedModel
from tests.unit.server.http.nexus import nexus, post

pytestmark = pytest.mark.anyio
SETTING_UP = NoModelError().hint


class FakeRouter:
    """Answers what a test wants, or fails; keeps what it was asked."""

    def __init__(self, text: str = "", failure: Exception | None = None) -> None:
        self.text = text
        self.failure = failure
        self.asked: list[ModelRequest] = []

    def pick(self, request: ModelRequest) -> ResolvedModel:
        if isinstance(self.failure, NoModelError):
            raise self.failure
        return ResolvedModel("one", "small", "a test")

    async def invoke(self, request: ModelRequest, resolved: ResolvedModel | None = None) -> ModelResponse:
        self.asked.append(request)
        if self.failure:
            raise self.failure
        return ModelResponse(self.text, "one", "small")


async def test_criterion_5_1(tmp_path: Path) -> None:
    router = FakeRouter("It boils [1].")
    async with nexus(tmp_path, router=router) as client:
        status, found = await post(client, "ask", question="When does the kettle boil?")
    assert (status, found) == (
        200,
        {"answer": "It boils [1].", "sources": [{"slug": "alpha", "title": "Alpha"}]},
    )
    (asked,) = router.asked
    assert "The kettle boils." in asked.prompt and asked.task == "ask"


@pytest.mark.parametrize("router", [None, FakeRouter(failure=NoModelError())], ids=["no router", "no model"])
async def test_criterion_5_2(tmp_path: Path, router: FakeRouter | None) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `ask` MUST name the pages that it gave to the model, answer `upstream_error` without a model, and say so without
    ##% calling one when it finds no page.
    unavailable = {
        "status": "error",
        "error": "AI search is not available",
        "code": "upstream_error",
        "hint": SETTING_UP,
    }
    async with nexus(tmp_path, router=router) as client:
        for question in ("When does the kettle boil?", "nothing like it"):
            assert await post(client, "ask", question=question) == (503, unavailable)


async def test_criterion_5_3(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `ask` MUST name the pages that it gave to the model, answer `upstream_error` without a model, and say so without
    ##% calling one when it finds no page.
    files = {f"docs/{number}.md": f"# Tea {number}\n\nWarm the pot.\n" for number in range(7)}
    router = FakeRouter("Warm it [1][2].")
    async with nexus(tmp_path, files, router=router) as client:
        sources = (await post(client, "ask", question="How is tea made in a warm pot?"))[1]["sources"]
    assert len(sources) == 5
    assert [row["title"] for row in sources] == [
        line.partition("page: ")[2] for line in router.asked[0].prompt.splitlines() if "] page: " in line
    ]


async def test_criterion_5_4(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `ask` MUST name the pages that it gave to the model, answer `upstream_error` without a model, and say so without
    ##% calling one when it finds no page.
    router = FakeRouter("never")
    nothing = {"answer": "No relevant information found in the knowledge base.", "sources": []}
    async with nexus(tmp_path, router=router) as client:
        assert await post(client, "ask", question="What about airplanes?") == (200, nothing)
    async with nexus(tmp_path / "empty", {}, router=router) as client:
        assert await post(client, "ask", question="When does the kettle boil?") == (200, nothing)
    assert router.asked == []


async def test_a_model_that_fails(tmp_path: Path) -> None:
    from duvet.llm.records import ModelFault

    router = FakeRouter(failure=ModelError(ModelFault.UNAVAILABLE, "one does not answer"))
    async with nexus(tmp_path, router=router) as client:
        status, found = await post(client, "ask", question="When does the kettle boil?")
    assert (status, found["error"], found["code"]) == (503, "one does not answer", "upstream_error")


async def test_criterion_7_4(tmp_path: Path) -> None:
    router = FakeRouter(failure=RuntimeError("secret of /etc/passwd"))
    async with nexus(tmp_path, router=router) as client:
        status, found = await post(client, "ask", question="When does the kettle boil?")
    assert (status, found) == (
        500,
        {"status": "error", "error": "Internal server error", "code": "upstream_error", "hint": ""},
    )
