import re
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import play, runner
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
GROUPS = {
    "requirements": (
        QUERIES,
        """
uncited --spec tee|uncited --section brew|uncited --section tea#lid|uncited --untested --todo|uncited --fail-on shall
uncited --limit -1|prioritize --prompt write-tests|prioritize --prompt --explain|prioritize --prompt --format json
prompt --arg spec=tea|prompt system --format json|prompt triage_uncited --arg spec
prompt triage_uncited --arg spec=a --arg spec=b|prompt triage_uncited --arg specs=a|prompt explain_section
prompt triage_uncited --arg level=x|prompt triage_uncited --arg spec=tee|prompt write-test
""",
    ),
    "tools": (
        TOOLS,
        """
call search_requirements|call search_requirements --qwery a|call search_requirements --query lid --pages .
call search_requirements lid|call search_requirements --query|call list_uncited_requirements --limit many
call list_uncited_requirements --limit 05|call list_uncited_requirements --limit 1e400
call list_uncited_requirements --level loud|call --json { coverage_summary|call --json [] coverage_summary
call coverage_sumary|call km-serch|call get_requirement_status --req_identifier ffffffff
call --pack nothing coverage_summary|recipe run look|recipe run look --var only|recipe run look --var mots=1
recipe run look --var only=x --var most=few|recipe run look --json []|recipe run look --json '{"mots": 1}'
recipe runn look|recipe run lok|recipe show nothing|recipe validate nothing.yaml|workflow run audit --var most
workflow run audit --var most=x|workflow run audit --var moist=1|workflow run audti|workflow show nothing
workflow walk|workflow validate
call km-search --query boil --filters '{"symbols": "steam"}' --symbol boil|call km-search --query boil --symbol
call km-search --query boil --json '{"filters": 5}' --kind class|call km-search --query boil --symbol ' , '
call km-search --query boil --symbols boil|call --pack knowledge km-search --query boil --kind poem
""",
    ),
    "validate": (
        WRONG,
        """
validate -|validate --stdin-path a.rs src|validate --stdin-path '' -|validate --fix --stdin-path src/a.rs -
validate --diff --format json|validate --interactive|validate --interactive --diff
validate --interactive --unsafe-fixes
""",
    ),
    "others": (
        KETTLE,
        """
mcp --config-path=a.toml --config=b.toml|mcp --config=b.toml --config-path=a.toml
mcp --service-config=a.json --config=b.json|mcp --config=b.json --service-config=a.json
report --require-tests true --require-tests spec.md --require-tests false|cite 5bfbf88b --at a:1 --type spec
report --format json --json -|report --format json --html -|report --format sarif --output - --html /dev/stdout
report --output - --json-v2 -|report --json - --html -
""",
    ),
}


@pytest.mark.parametrize("group", GROUPS)
def test_invalid_command_lines(group: str, duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    ##= man/spec/problems.md#formats
    ##% duvet MUST refuse to write two results to standard output.
    project, lines = GROUPS[group]
    duvet = runner(duvet_command, make(tmp_path, project))
    told = play(duvet, tmp_path, *lines.strip().replace("\n", "|").split("|"))
    gold.assert_match(re.sub(r"! Usage: .*\n! Try .*\n!\n", "", told), f"{group}.txt")
