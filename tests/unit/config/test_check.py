import datetime

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.config import document
from duvet.config.check import list_spellings
from duvet.config.project_file import read_config
from duvet.config.service import load_service
from duvet.errors import ProblemsError
from duvet.tree.files import MemoryTree
from duvet.workflows.recipe import read_recipe
from tests.unit.config.configurations import EXTENDED, UPSTREAM, project_problems, service_problems, show

WRONG_TYPES = """\
source = [
  1,
  { pattern = 1.5 },
  { pattern = "x", comment-style = "//=" },
  { pattern = "x", comment-style = { meta = 1, content = [] } },
  { pattern = "x", type = 3, blob-link = false },
]
requirement = [{ pattern = 1979-05-27 }]
specification = [{ source = {}, format = 07:32:00 }]
report.html = { enabled = "yes", path = 1, blob-link = 2, issue-link = [] }
report.json = { enabled = 1, path = false }
report.snapshot = { enabled = {}, path = nan }
"""
UNKNOWN_KEYS = """\
sources = []
[[source]]
patern = "x"
[[source]]
pattern = "x"
comment_style = {}
comment-style.meat = "x"
[[requirement]]
patterns = "x"
[[specification]]
src = "x"
[report]
pdf = 1
html.pth = 1
json.blob-link = "x"
[report.snapshot]
enable = true
"""
NOT_APPLICABLE = """\
[[not-applicable]]
target = ""
reason = " "
[[not-applicable]]
target = "spec.md"
reason = "no"
expiry = "2030-02-31"
[[not-applicable]]
target = "spec.md"
reason = "no"
expiry = 2030-01-31T00:00:00Z
[[not-applicable]]
target = "spec.md"
quote = "x"
reason = "no"
[[not-applicable]]
target = "spec.md#x"
ovner = "me"
"""
PAGE = "[report.html]\ntitle = 3\nlogoo = 'x'\nspec-text = 'ful'\nsnippet-lines = 51\nembed-json = 'no'\n"
SERVER = """\
[server]
name = " "
protocol-version = "2026-07-28"
page-size = -1
packs = ["trace", "notes"]
titel = "x"
"""
LINKS = """\
source = [{ pattern = "x", blob-link = "${{ NONE }}" }, { type = "test", blob-link = "${{" }]
report.html = { issue-link = "${{}}", blob-link = "${{ 'fine' }}" }
"""
CASES = {
    "nothing": ("", ""),
    "an unknown schema": (UPSTREAM.replace("0.4", "0.9"), ""),
    "another spelling of a key, in the schema of awslabs duvet": (
        UPSTREAM,
        "[[source]]\npattern = ''\nblob_link = ''\n",
    ),
    "two spellings of a key": (EXTENDED, "[report.html]\nblob-link = 'a'\nblobLink = 'b'\n"),
    "no schema, and keys of either": ("", "[[source]]\nlanguage = 'go'\npatern = 'x'\n"),
    "a schema that is no text": ("", "'$schema' = ['x']"),
    "a byte that is not UTF-8": ("", "a = 'one'\nb = 'x\udcff'"),
    "broken TOML": ("", "[[source]\n"),
    "an unknown language": (EXTENDED, "source = [{ language = 'pyton' }]"),
    "types at the top": (UPSTREAM, "source = 1\nrequirement = 'x'\nspecification = true\nreport = [1]\n"),
    "types everywhere": (UPSTREAM, WRONG_TYPES),
    "brackets": (UPSTREAM, "[source]\npattern = 'x'\n[[report.html]]\npath = 'x'\n"),
    "an integer that is too long to be written out": (UPSTREAM, f"source = 0x{'F' * 5000}"),
    "keys at every level": (UPSTREAM, UNKNOWN_KEYS),
    "names of types and formats": (
        UPSTREAM,
        (
            "source = [{ pattern = 'x', type = 'citation' }, { pattern = 'x', type = 'TEST' }]\n"
            "specification = [{ format = 'auto' }, { format = 'Markdown' }]"
        ),
    ),
    "templates of links": (UPSTREAM, LINKS),
    "keys of the extended schema alone": (UPSTREAM, "[[source]]\npattern = ['x']\nlanguage = 'go'\ngitignore = 1\n"),
    "requirements that are not applicable, in the schema of awslabs duvet": (
        UPSTREAM,
        "[[not-applicable]]\ntarget = 'a'\nreason = 'b'\n",
    ),
    "the report, in the schema of awslabs duvet": (UPSTREAM, "[report.html]\ntitle = 'x'\nsnippet-lines = 99\n"),
    "the server, in the schema of awslabs duvet": (UPSTREAM, "[server]\nname = 'x'\n"),
    "sources": (
        EXTENDED,
        (
            "source = [\n  {},\n  { pattern = [] },\n  { pattern = ['x', 1], exclude = 1, gitignore = 'no' },\n"
            "  { language = 'lua', exclude = [1] },\n]"
        ),
    ),
    "requirements that are not applicable": (EXTENDED, NOT_APPLICABLE),
    "the report": (EXTENDED, PAGE),
    "too few lines": (EXTENDED, "[report.html]\nsnippet-lines = -1\n"),
    "no number of lines": (EXTENDED, "[report.html]\nsnippet-lines = true\n"),
    "the server": (EXTENDED, SERVER),
}


def test_problems_are_reported_with_place_and_hint(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST report each configuration key that is unknown, missing or of the wrong type, with its path and line.
    found: list[str] = []
    for name, (schema, text) in CASES.items():
        head = f"'$schema' = \"{schema}\"\n" if schema else ""
        problems = project_problems(f"{head}{text}".encode(errors="surrogateescape"))
        found += [f"# {name}", *map(show, problems), ""]
    snapshot.assert_match("\n".join(found), "problems/configuration.txt")


def test_wrong_keys_and_types_are_described() -> None:
    assert document.describe_unknown_field("x", ["a"]) == "unknown field `x`, expected `a`"
    assert document.describe_unknown_field("x", []) == "unknown field `x`, there are no fields"
    assert document.describe_unknown_field("X", ["a"], noun="variant") == "unknown variant `X`, expected `a`"
    types = {'a"\n': 'string "a\\"\\n"', datetime.date(2000, 1, 1): "datetime", datetime.time(): "datetime"}
    found = [document.describe_invalid_type(value, "a string") for value in types]
    assert found == [f"invalid type: {words}, expected a string" for words in types.values()]
    keys = ["pattern", "type", "TODO"]
    assert [document.did_you_mean(word, keys) for word in ("todo", "colour")] == ["did you mean `TODO`?", ""]


SERVICE = """\
tool-packs:
  knowledge: {settings: {base-url: kept}}
server: {page-size: 7, log_level: info}
providers:
  my-own_name: {base_url: "http://localhost:1/v1", api-key: $KEY_OF_IT}
routing: {}
"""
PROJECT = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "src/**/*.rs"
commentStyle = { meta = "##=", content = "##%" }
[[notApplicable]]
target = "spec.md#a"
reason = "no"
[report.html]
snippet_lines = 3
[server]
pageSize = 9
"""
RECIPE = """\
name: look
steps:
  - id: one
    wait: {tool: a, until: {path: b, notEquals: 1}}
    timeout-seconds: 5
"""


def test_each_key_may_be_spelled_in_three_ways() -> None:
    ##= man/spec/service.md#configuration
    ##% Except with awslabs duvet's schema, duvet MUST accept each key of a configuration or recipe in kebab-case,
    ##% camelCase and snake_case.
    for key in ("shutdown-timeout", "shutdownTimeout", "shutdown_timeout"):
        assert list_spellings(key) == ("shutdown-timeout", "shutdownTimeout", "shutdown_timeout")
    assert list_spellings("$schema") == ("$schema",) * 3
    tree = MemoryTree({"duvet.config.yaml": SERVICE.encode()})
    config = load_service(tree, {"KEY_OF_IT": "x"}).config
    assert (config.server.page_size, config.server.log_level) == (7, "info")
    assert config.providers["my-own_name"].base_url == "http://localhost:1/v1"
    assert config.tool_packs["knowledge"].settings == {"base-url": "kept"}
    tree = MemoryTree({".duvet/config.toml": PROJECT.encode()})
    assert load_service(tree, {}).config.server.page_size == 9
    project = read_config(PROJECT.encode(), ".duvet/config.toml", {})
    assert project.sources[0].meta == "##="
    assert [one.target for one in project.not_applicable] == ["spec.md#a"]
    assert project.toml.value_place("report", "html", "snippet-lines").line == 9
    with pytest.raises(ProblemsError, match="unknown field `commentStyle`"):
        read_config(PROJECT.replace("duvet-cli/config/v1", UPSTREAM).encode(), ".duvet/config.toml", {})
    assert read_recipe(RECIPE.encode(), "recipes/look.yaml", "project").problems == ()
    (problem,) = service_problems("\nserver: {page-size: many, log_level: info}\n")
    assert (problem.place.line, problem.place.column) == (2, 21)
    assert problem.message.startswith("server.pageSize: invalid type")
    for first, second in (("baseUrl", "base-url"), ("base_url", "base-url"), ("base-url", "baseUrl")):
        (problem,) = service_problems(f'providers: {{a: {{{first}: "http://a/v1", {second}: "http://b/v1"}}}}')
        # `base_url` alone has been respelled before.
        assert problem.message == "providers.a.base-url: `base-url` and `baseUrl` are two spellings of one key"
