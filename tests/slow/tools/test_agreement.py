import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from msgspec import json as msgspec_json, to_builtins

from duvet.tools.arguments import output_schema
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tools.tool import MAX_PAGE_BYTES, Tool
from tests.cli.command import Run, runner
from tests.cli.sample_project import make
from tests.cli.tea_project import TEA_PROJECT
from tests.slow.test_conformance import copy_with_links
from tests.unit.tools.tool_calls import FILES, ask, context_in, every, value
from tests.unit.tools.trace.test_citations_validation import find_disagreements

MADE = {"made": FILES, "tea": TEA_PROJECT}
CLASSES = {
    **dict.fromkeys(("uncited", "to do"), "not_started"),
    **dict.fromkeys(("in progress", "needs code", "needs tests"), "partially_implemented"),
    **dict.fromkeys(("excepted", "done", "not applicable"), "fully_implemented"),
}
Row = dict[str, Any]


class Both:
    def __init__(self, folder: Path, duvet: Run) -> None:
        self.duvet = duvet
        self.context = context_in(folder)

    def rows(self, *args: str) -> Any:
        return json.loads(self.duvet(*args, "--format", "json").out)

    def brief(self, *args: str) -> list[Row]:
        rows = self.rows(*args, "--limit", "0")
        return [{name: row[name] for name in ("identifier", "full_path", "text")} for row in rows]


@pytest.fixture(scope="module", params=[*MADE, "h3-704b37a", "s2n-tls-132053b"])
def both(request: pytest.FixtureRequest, duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("both") / request.param
    if request.param in MADE:
        make(folder, MADE[request.param])
    else:
        shared: Path = request.getfixturevalue("shared")
        copy_with_links(shared / "golden" / request.param / "project", folder)
    return Both(folder, runner(duvet_command, folder))


def test_uncited_requirements_and_search_results_are_those_of_the_commands(both: Both) -> None:
    uncited = partial(every, both.context, "list_uncited_requirements")
    assert uncited() == both.brief("uncited")
    assert uncited(level="MUST", limit=7) == both.brief("uncited", "--level", "must")
    for card in both.context.catalogue.specifications[:3]:
        assert uncited(spec=card.id) == both.brief("uncited", "--spec", card.id)
    for query in ("error handling", "must not", "pot", both.context.catalogue.ids[0][:12], "quite zebra error"):
        assert every(both.context, "search_requirements", query=query) == both.brief("search", query)


def test_priorities_and_statuses_are_those_of_the_commands(both: Both) -> None:
    rows = both.rows("prioritize", "--all", "--limit", "0")
    ranked = [
        {name: row[name] for name in ("full_path", "todo_count")}
        | {"level": row["level"] or "unspecified", "status": CLASSES[row["status"]]}
        for row in rows
    ]
    prioritized = partial(every, both.context, "get_prioritized_requirements")
    assert prioritized() == ranked
    for status in sorted(set(CLASSES.values())):
        assert prioritized(status=status) == [row for row in ranked if row["status"] == status]
    assert prioritized(level="SHOULD") == [row for row in ranked if row["level"] == "SHOULD"]
    for row in rows[:30]:
        assert value(both.context, "get_requirement_status", req_identifier=row["full_path"])["status"] == row["status"]


def is_about(problem: Row, row: Row) -> bool:
    if row["file_path"] != problem["path"] or problem["message"] not in row["error"]:
        return False
    behind = problem["line"] - row["line_number"]
    return bool(0 <= behind <= row["comment_text"].count("\n") or problem["path"].endswith(".toml"))


def test_invalid_citations_are_those_of_the_report_and_invalid_one_by_one(both: Both) -> None:
    found = every(both.context, "list_invalid_citations")
    problems = both.rows("validate")["problems"]
    told = [one for one in problems if one["severity"] == "error" and "DUV020" <= one["code"] < "DUV060"]
    assert [one for one in told if not any(map(partial(is_about, one), found))] == []
    # One problem of a file may be reported once for many citations.
    messages = {one["message"] for one in told}
    assert [row for row in found if not any(message in row["error"] for message in messages)] == []
    places = {(one["path"], one["line"]) for one in told}
    passing = {(one["path"], one["line"]) for one in problems if one["code"] == "DUV090"} - places
    ##= man/spec/mcp.md#tools
    ##% `list_invalid_citations` MUST list exactly the citations that `duvet report` refuses.
    assert passing & {(row["file_path"], row["line_number"]) for row in found} == set()
    for row in found:
        verdict = value(both.context, "validate_citation", citation=row["comment_text"])
        assert (verdict["valid"], verdict.get("error")) == (False, row["error"])


def test_the_coverage_is_that_of_the_commands(both: Both) -> None:
    found = value(both.context, "coverage_summary")
    rows = both.rows("prioritize", "--all", "--limit", "0")
    assert states_in(found["total"]) == Counter(row["status"] for row in rows)
    for one in found["total"]["levels"]:
        level = "" if one["level"] == "unspecified" else one["level"]
        assert states_in(one) == Counter(row["status"] for row in rows if (row["level"] or "") == level)
    for one in found["specifications"]:
        shown = both.rows("show", one["id"])
        levels = [{**level, "level": level["level"] or "unspecified"} for level in shown["levels"]]
        own = {"id": one["id"], **counted(shown["numbers"])}
        assert one == ({**own, "levels": tuple(map(counted, levels))} if levels else own)


def states_in(counts: Row) -> Counter[str]:
    states = Counter({name: counts.get(name.replace(" ", "_"), 0) for name in CLASSES})
    assert counts["requirements"] == states.total()
    return +states


def counted(numbers: Row) -> Row:
    found = {name: number for name, number in numbers.items() if name != "applicable"}
    kept = {name: number for name, number in found.items() if number or (name == "percent" and number is not None)}
    return {"requirements": 0, **kept}


def test_citations_are_judged_as_in_the_report_and_every_suggestion_is_valid(both: Both) -> None:
    project, catalogue = both.context.project, both.context.catalogue
    assert project.trace.annotations and find_disagreements(project) == []
    files = [path for _, paths in project.inputs.sources for path in paths]
    assert files and catalogue.requirements
    for index, card in enumerate(catalogue.requirements):
        path = catalogue.full_path_of(card)
        found = value(both.context, "suggest_citation", requirement=path, file=files[index % len(files)])
        assert value(both.context, "validate_citation", citation=found["comment"]) == {"valid": True}, path


def calls(context: ProjectSnapshot) -> list[tuple[Tool, dict[str, object]]]:
    catalogue, registry = context.catalogue, Registry()
    first = catalogue.requirements[0]
    target, path = catalogue.target_of(first), catalogue.full_path_of(first)
    cited = next(one for one in catalogue.citations if one.requirements)
    source = next(one.path for one in catalogue.citations if not one.path.startswith(".duvet"))
    arguments: dict[str, list[dict[str, object]]] = {
        "search_requirements": [{"query": "error"}, {"query": "zebra"}],
        "get_requirement_status": [{"req_identifier": catalogue.ids[0]}],
        "list_uncited_requirements": [{}, {"limit": 3}],
        "list_invalid_citations": [{}],
        "get_citation_context": [{"citation_id": catalogue.citations[0].id}],
        "resolve_spec_id": [{"url": catalogue.specifications[0].url}, {"url": "nowhere"}],
        "get_prioritized_requirements": [{}],
        "validate_citation": [{"citation": f"//= {target}"}, {"citation": "//= nowhere"}],
        "validate_citations": [{"citations": [f"//= {target}\n//# Nothing.", "//= nowhere#1"]}],
        "get_requirement": [{"reference": catalogue.ids[0]}, {"reference": cited.id}],
        "get_section": [{"reference": target}],
        "suggest_citation": [{"requirement": path, "file": source}, {"requirement": target, "file": source}],
        "coverage_summary": [{}, {"spec": catalogue.specifications[0].id}],
    }
    assert set(arguments) == {tool.name for tool in registry}
    return [(registry.require(name), one) for name, several in arguments.items() for one in several]


def test_answers_are_small_and_conform_to_the_schemas(both: Both) -> None:
    for tool, arguments in calls(both.context):
        schema = output_schema(tool)
        Draft202012Validator.check_schema(schema)
        found = ask(both.context, tool.name, arguments)
        content: Any = to_builtins(found.value)
        if found.page:
            more = {"next_cursor": found.page.next_cursor} if found.page.next_cursor else {}
            content = {"result": content, "total": found.page.total, **more}
        Draft202012Validator(schema).validate(json.loads(json.dumps(content)))
        assert "limit" in arguments or len(msgspec_json.encode(found.value)) <= MAX_PAGE_BYTES
