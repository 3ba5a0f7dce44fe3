from functools import partial
from typing import Any

import pytest
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import MAX_PAGE_BYTES
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.tools.tool_calls import TEA, answer, ask, context_of, describe_calls, refusal, value

CUP = "/specifications/tea/sections/cup/requirements/2c79658776d2"
HANDLING, HOT = "fe96266417b9", "8715a7930e03"
DELIVERED = f"/specifications/rfc2324/sections/section-2.1.1/requirements/{HOT}"
COVERED = f"/specifications/pot/sections/lid/requirements/{HOT}"
QUERIES: list[dict[str, str]] = [
    *({"query": query} for query in ("error handling", "hot tea", "the", "sugar", "potts", "src/main.rs:6")),
    *({"query": query} for query in ("nowhere.md#lid", "lid", "hot " + "a" * 3_000)),
    {"query": "lid", "level": "MUST"},
    {"query": "hot", "status": "needs tests"},
    {"query": "hot", "spec": "docs/pot.md"},
]
STATES = [HANDLING[:8], HOT, DELIVERED, f"duvet://{DELIVERED}", COVERED, f"duvet://{COVERED}"]
STATES += ["027a", "027A9BEFBCD1", " 027a9befbcd1\n"]


def test_requirements_are_listed_and_found_with_their_states(context: ProjectSnapshot, answers: Snapshot) -> None:
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst of its states and list all places.
    lists = ("list_uncited_requirements", "list_invalid_citations", "get_prioritized_requirements")
    calls: list[tuple[str, dict[str, Any]]] = [
        *((name, {}) for name in lists),
        *(("search_requirements", given) for given in QUERIES),
        *(("get_requirement_status", {"req_identifier": name}) for name in STATES),
    ]
    answers.assert_match(describe_calls(partial(ask, context), calls), "requirements.txt")


def test_a_search_can_be_continued(context: ProjectSnapshot) -> None:
    rows, words = answer(context, "search_requirements", query="lid", limit=2)
    cursor = words.partition("cursor=")[2].partition(" ")[0]
    assert words == f"2 of 3 shown; for more, set cursor={cursor} or a higher limit."
    whole = value(context, "search_requirements", query="lid")
    assert [*rows, *value(context, "search_requirements", query="lid", cursor=cursor)] == whole
    refused = refusal(context, "search_requirements", query="pot", cursor=cursor)
    assert refused[:2] == ("invalid_request", "the cursor does not belong to this list")


def test_a_requirement_is_found_by_any_reference(answers: Snapshot) -> None:
    found = answer(TEA, "get_requirement", reference="2c79")
    for reference in ("2C79658776D2", CUP, "src/pot.rs:14", found[0]["id"]):
        assert answer(TEA, "get_requirement", reference=reference) == found
    # One is in several places.
    calls = [("get_requirement", {"reference": name}) for name in ("2c79", "1dd64a535306")]
    answers.assert_match(describe_calls(partial(ask, TEA), calls), "requirement.txt")


@pytest.mark.parametrize("count", [30, 150, 2000])
def test_of_many_citations_as_many_are_shown_as_fit(count: int) -> None:
    cited = "//= tea.md#cup\n//# A cup MUST NOT leak.\n\nfn use_it();\n\n"
    told, step = answer(context_of({**TEA_PROJECT, "src/many.rs": cited * count}), "get_requirement", reference="2c79")
    assert len(json.encode(told)) < MAX_PAGE_BYTES * 1.1
    shown = sum(map(len, told["citations"].values()))
    assert (told["citation_count"], shown > min(count, 80)) == (count + 1, True)
    rest = f"{shown} of {count + 1} citations shown; for all, read duvet://{CUP}/citations."
    assert step == (rest if shown <= count else "")
