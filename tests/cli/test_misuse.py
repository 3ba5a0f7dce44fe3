from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import refuses, runner
from tests.cli.sample_project import KETTLE, make
from tests.cli.test_recipe import LOOK
from tests.cli.test_workflow import CONFIG
from tests.unit.project.faulty_project import FILES as WRONG
from tests.unit.queries.query_projects import FILES as QUERIES
from tests.unit.tools.tool_calls import FILES

TOOLS = {
    **FILES,
    "recipes/look.yaml": LOOK,
    "duvet.config.yaml": CONFIG.replace("URL", "http://127.0.0.1:9").replace("apiKey: $POT_KEY, ", ""),
}
Refused = list[tuple[str, int, str]]
ABOUT_REQUIREMENTS: Refused = [
    ("uncited --spec tee", 1, 'error: unknown specification "tee" [DUV120]\n  = help: did you mean tea?\n'),
    ("uncited --section brew", 1, 'error: unknown section "brew" [DUV120]\n  = help: did you mean brewing?\n'),
    ("uncited --section tea#lid", 1, 'error: unknown section "lid" of tea.md [DUV120]\n'),
    ("uncited --untested --todo", 2, "Error: --untested and --todo can't be used together\n"),
    ("uncited --fail-on shall", 2, "Error: Invalid value for '--fail-on': 'shall' is not one of"),
    ("uncited --limit -1", 2, "Error: Invalid value for '--limit': -1 is not in the range x>=0.\n"),
    (
        "prioritize --prompt write-tests",
        1,
        'unknown prompt "write-tests" [DUV120]\n  = help: did you mean write_test?\n',
    ),
    ("prioritize --prompt --explain", 2, "Error: --prompt can't be used with --explain or --format\n"),
    ("prioritize --prompt --format json", 2, "Error: --prompt can't be used with --explain or --format\n"),
    ("prompt --arg spec=tea", 2, "Error: --arg requires the NAME of a prompt\n"),
    ("prompt system --format json", 2, "Error: --format only applies to the list of prompts; leave out NAME\n"),
    ("prompt triage_uncited --arg spec", 2, 'Error: --arg "spec" has no `=`; write NAME=VALUE\n'),
    ("prompt triage_uncited --arg spec=a --arg spec=b", 2, 'Error: --arg sets "spec" twice\n'),
    ("prompt triage_uncited --arg specs=a", 2, 'has no argument "specs"\n  = help: did you mean spec?\n'),
    ("prompt explain_section", 2, 'Error: the prompt explain_section requires the argument "section"\n'),
    (
        "prompt triage_uncited --arg level=x",
        2,
        'Error: "x" is not a level\n  = help: available: must, should, may, none',
    ),
    ("prompt triage_uncited --arg spec=tee", 1, 'error: unknown specification "tee" [DUV120]\n  = help: did you mean'),
    ("prompt write-test", 1, 'error: unknown prompt "write-test" [DUV120]\n  = help: did you mean write_test?\n'),
]
OF_TOOLS: Refused = [
    (
        "call search_requirements",
        2,
        'query is missing\n  = help: Keywords, "a phrase", an id, file:line or spec#section',
    ),
    (
        "call search_requirements --qwery a",
        2,
        'search_requirements has no argument "qwery"\n  = help: did you mean query?',
    ),
    (
        "call search_requirements --query lid --pages .",
        2,
        'no argument "pages"\n  = help: write --pages before search_requirements, because it is an option of the command',
    ),
    ("call search_requirements lid", 2, 'unexpected argument "lid"\n  = help: `duvet tools search_requirements` shows'),
    ("call search_requirements --query", 2, "--query needs a value"),
    ("call list_uncited_requirements --limit many", 2, "limit: expected integer, got string"),
    ("call list_uncited_requirements --limit 05", 2, "limit: expected integer, got string"),
    ("call list_uncited_requirements --limit 1e400", 2, "limit: expected integer"),
    ("call list_uncited_requirements --level loud", 2, "use one of MUST, SHOULD, MAY, unspecified"),
    ("call --json { coverage_summary", 2, "--json is not JSON"),
    ("call --json [] coverage_summary", 2, "--json is not an object"),
    ("call coverage_sumary", 1, 'no tool is named "coverage_sumary" [DUV120]'),
    ("call km-serch", 1, 'no tool is named "km-serch" [DUV120]\n  = help: did you mean km-search or '),
    ("call get_requirement_status --req_identifier ffffffff", 1, "ffffffff"),
    ("call --pack nothing coverage_summary", 1, 'unknown pack "nothing"'),
    ("recipe run look", 2, "missing variable only"),
    ("recipe run look --var only", 2, '--var needs NAME=VALUE, not "only"'),
    ("recipe run look --var mots=1", 2, 'look has no variable "mots"\n  = help: did you mean most?'),
    ("recipe run look --var only=x --var most=few", 2, "variable most must be an integer"),
    ("recipe run look --json []", 2, "--json is not an object"),
    ("recipe run look --json '{\"mots\": 1}'", 2, 'recipe look has no variable "mots"'),
    ("recipe runn look", 2, "Error: No such command 'runn'; did you mean `duvet recipe run`?\n"),
    ("recipe run lok", 1, 'unknown recipe "lok" [DUV120]\n  = help: did you mean look? available: daily-health'),
    ("recipe show nothing", 1, 'unknown recipe "nothing"'),
    ("recipe validate nothing.yaml", 1, "this path does not exist [DUV010]"),
    ("workflow run audit --var most", 2, 'Error: --var needs NAME=VALUE, not "most"\n'),
    ("workflow run audit --var most=x", 2, "most: expected integer, got string"),
    ("workflow run audit --var moist=1", 2, 'workflow.audit has no argument "moist"'),
    ("workflow run audti", 1, "did you mean audit?"),
    ("workflow show nothing", 1, 'error: unknown workflow "nothing" [DUV120]\n  = help: available: audit\n'),
    ("workflow walk", 2, "Error: No such command 'walk'; available: list, show, check, run\n"),
    ("workflow validate", 2, "Error: No such command 'validate'; did you mean `duvet workflow check`?\n"),
]
OF_VALIDATE: Refused = [
    ("validate -", 2, "\nError: `-` and --stdin-path require each other\n"),
    ("validate --stdin-path a.rs src", 2, "\nError: `-` and --stdin-path require each other\n"),
    ("validate --stdin-path '' -", 2, "\nError: `-` and --stdin-path require each other\n"),
    ("validate --fix --stdin-path src/a.rs -", 2, "\nError: duvet can't write fixes to standard input; use --diff\n"),
    (
        "validate --diff --format json",
        2,
        "Error: two results would be written to standard output; write one of them to a file\n",
    ),
    ("validate --interactive", 2, "Error: --interactive requires a terminal; use --diff, then --unsafe-fixes\n"),
    ("validate --interactive --diff", 2, "Error: --interactive and --diff can't be used together\n"),
    ("validate --interactive --unsafe-fixes", 2, "Error: --interactive and --unsafe-fixes can't be used together\n"),
]
TWO_CONFIGURATIONS = "Error: --config and {} both name a configuration; give only one of them\n"
OTHERS: Refused = [
    *(
        (f"mcp {' '.join(order)}", 2, TWO_CONFIGURATIONS.format(other.partition("=")[0]))
        for other, config in (
            ("--config-path=a.toml", "--config=b.toml"),
            ("--service-config=a.json", "--config=b.json"),
        )
        for order in ((other, config), (config, other))
    ),
    (
        "report --require-tests true --require-tests spec.md --require-tests false",
        2,
        "Error: the argument '--require-tests <REQUIRE_TESTS>' cannot be used multiple times\n",
    ),
    ("cite 5bfbf88b --at a:1 --type spec", 2, "spec"),
]
GROUPS = {
    "requirements": (QUERIES, ABOUT_REQUIREMENTS),
    "tools": (TOOLS, OF_TOOLS),
    "validate": (WRONG, OF_VALIDATE),
    "others": (KETTLE, OTHERS),
}


@pytest.mark.parametrize("group", GROUPS)
def test_invalid_command_lines(group: str, duvet_command: str, tmp_path: Path) -> None:
    project, cases = GROUPS[group]
    duvet = runner(duvet_command, make(tmp_path / "project", project))
    for line, code, message in cases:
        refuses(duvet, line, code, message)
