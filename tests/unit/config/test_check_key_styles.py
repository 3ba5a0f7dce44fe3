"""Keys in kebab-case, camelCase and snake_case."""

from __future__ import annotations

import pytest

from duvet.config.check import list_spellings
from duvet.config.project_file import read_config
from duvet.config.service import load_service
from duvet.errors import ProblemsError
from duvet.tree.files import MemoryTree
from duvet.workflows.recipe import read_recipe

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


def test_every_spelling_of_a_key() -> None:
    for key in ("shutdown-timeout", "shutdownTimeout", "shutdown_timeout"):
        assert list_spellings(key) == ("shutdown-timeout", "shutdownTimeout", "shutdown_timeout")
    assert list_spellings("$schema") == ("$schema",) * 3


def test_each_key_may_be_spelled_in_three_ways() -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST accept each key of a configuration or recipe in kebab-case, camelCase and snake_case.
    tree = MemoryTree({"duvet.config.yaml": SERVICE.encode(), ".duvet/config.toml": PROJECT.encode()})
    with pytest.raises(ProblemsError) as both:
        load_service(tree, {"KEY_OF_IT": "x"})
    assert [(one.place.line, one.message) for one in both.value.problems] == [
        (3, "server: this table is also in `.duvet/config.toml:10:2`")
    ]
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
    recipe = read_recipe(RECIPE.encode(), "recipes/look.yaml", "project")
    assert recipe.problems == ()


def test_a_problem_with_a_key_is_at_its_own_place() -> None:
    text = SERVICE.replace("page-size: 7", "page-size: many")
    with pytest.raises(ProblemsError) as raised:
        load_service(MemoryTree({"duvet.config.yaml": text.encode()}), {"KEY_OF_IT": "x"})
    (problem,) = raised.value.problems
    assert (problem.place.line, problem.place.column) == (3, text.splitlines()[2].index("many") + 1)
    assert problem.message.startswith("server.pageSize: invalid type")


@pytest.mark.parametrize("first", ["baseUrl", "base_url"])
def test_two_spellings_of_one_key_are_an_error(first: str) -> None:
    text = f'providers: {{a: {{{first}: "http://a/v1", base-url: "http://b/v1"}}}}'
    with pytest.raises(ProblemsError) as raised:
        load_service(MemoryTree({"duvet.config.yaml": text.encode()}), {})
    # `base_url` alone has been respelled before.
    message = "providers.a.base-url: `base-url` and `baseUrl` are two spellings of one key"
    assert [one.message for one in raised.value.problems] == [message]


def test_the_schema_of_awslabs_duvet_has_one_spelling() -> None:
    text = '\'$schema\' = "https://awslabs.github.io/duvet/config/v0.4.json"\n[[source]]\npattern = "*.rs"\nblob_link = ""\n'
    with pytest.raises(ProblemsError, match="unknown field `blob_link`"):
        read_config(text.encode(), ".duvet/config.toml", {})


def test_a_key_in_two_spellings() -> None:
    config = "'$schema' = \"duvet-cli/config/v1\"\n[report.html]\nblob-link = 'a'\nblobLink = 'b'\n"
    with pytest.raises(ProblemsError) as raised:
        read_config(config.encode(), ".duvet/config.toml", {})
    assert [(one.code, one.place.line, one.message, one.hint) for one in raised.value.problems] == [
        ("DUV005", 4, "`blobLink` and `blob-link` are two spellings of one key", "remove one of them")
    ]
