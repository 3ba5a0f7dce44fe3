"""What comes of good configurations of the service, and of files that can't be read"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from duvet.config.project_file import CONFIG_PATH
from duvet.config.schema import ServiceConfig
from duvet.config.service import load_service
from duvet.config.service_tables import ProviderKind
from duvet.config.settings import Secret, ServerRule
from duvet.errors import ProblemsError
from duvet.tree.files import MemoryTree
from tests.conftest import ROOT
from tests.unit.config.service.made import found, service

EXAMPLES = sorted((ROOT / "man/examples").glob("duvet.config.*"))
EVERYTHING = ROOT / "man/examples/contextive.yaml"
OF_PROJECT = b"'$schema' = 'duvet-cli/config/v1'\n[server]\nname = 'tea'\npacks = []\n"


def test_the_defaults() -> None:
    read = load_service(MemoryTree({}), {})
    assert (read.config, read.path, read.origin, read.document, read.rule) == (
        ServiceConfig(),
        "",
        "defaults",
        None,
        ServerRule(),
    )


@pytest.mark.parametrize("name", ["duvet.config.json", "duvet.config.yaml", "duvet.config.yml", "duvet.config.toml"])
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\r\n"])
def test_an_empty_file_stands_for_the_defaults(name: str, data: bytes) -> None:
    read = service(data, name)
    assert (read.config, read.path, read.origin) == (ServiceConfig(), name, "found")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_of_the_manual(path: Path) -> None:
    environ = {"ANTHROPIC_API_KEY": "sk"}
    assert load_service(MemoryTree({path.name: path.read_bytes()}), environ).config != ServiceConfig()


def test_the_example_with_every_section() -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "LOCAL_PORT": "11434", "USER": "me"}
    tree = MemoryTree({"duvet.config.yaml": EVERYTHING.read_bytes()})
    read = load_service(tree, environ)
    config = read.config
    names = [field for field in ServiceConfig.__struct_fields__ if field != "schema"]
    assert [name for name in names if not getattr(config, name)] == []
    assert [provider.api_key for provider in config.providers.values()] == [Secret("sk-1"), None, Secret("sk-2")]
    assert config.providers["local"].base_url == "http://127.0.0.1:11434/v1"
    assert config.providers["claude"].kind is ProviderKind.ANTHROPIC
    assert config.tool_packs["introspect"].settings == {"greeting": "That is $5, me"}
    assert config.workflows["audit"].steps[0].params["level"] == "${vars.level}"
    assert read.rule == ServerRule(
        name="kettle",
        title="The requirements of the kettle",
        version="2.1",
        description="What the kettle must do, and what does it",
        page_size=20,
        packs=("trace", "introspect"),
    )


def test_one_table_in_two_files() -> None:
    ##= man/spec/service.md#configuration
    ##% A table in both this file and `.duvet/config.toml` MUST be an error with both places, and `server` MUST be read
    ##% from the one that has it.
    tree = MemoryTree({"duvet.config.yaml": b"\nserver: {}\n", CONFIG_PATH: OF_PROJECT})
    with pytest.raises(ProblemsError) as error:
        load_service(tree, {})
    assert [(one.place.line, one.message) for one in error.value.problems] == [
        (2, "server: this stands in `.duvet/config.toml:2:2`, too")
    ]


def test_the_table_of_the_project_alone() -> None:
    ##= man/spec/service.md#configuration
    ##% A table in both this file and `.duvet/config.toml` MUST be an error with both places, and `server` MUST be read
    ##% from the one that has it.
    alone = load_service(MemoryTree({CONFIG_PATH: OF_PROJECT}), {})
    assert alone.rule == ServerRule(name="tea", packs=())
    files = {"duvet.config.yaml": b"toolPacks: {introspect: {}}", "other.toml": OF_PROJECT}
    read = load_service(MemoryTree(files), {}, None, "other.toml")
    assert read.rule == ServerRule(name="tea", packs=("introspect",))


@pytest.mark.parametrize("data", [b"[server", b"[server]\nname = 'x'", OF_PROJECT + b"nam = 1", b"\xff"])
def test_a_project_that_can_not_be_read_says_nothing(data: bytes) -> None:
    assert load_service(MemoryTree({CONFIG_PATH: data}), {}).rule == ServerRule()


def test_packs_are_switched_off_and_on() -> None:
    assert service("toolPacks: {trace: {enabled: false}, x: {}, y: {enabled: false}}").packs == ("x",)


@dataclass
class Encoded:
    """A file in a format, and what is said of it."""

    path: str
    data: bytes
    said: str


@pytest.mark.parametrize(
    "one",
    [
        Encoded(
            "duvet.config.yaml", b"a: 1\r\n b: \xff", "2:5+1 DUV011 invalid utf-8 sequence of 1 bytes from index 10"
        ),
        Encoded("duvet.config.toml", b"a = '\xff'", "1:6+1 DUV011 invalid utf-8 sequence of 1 bytes from index 5"),
        Encoded("duvet.config.json", b'{"a" 1}', "1:6+1 DUV001 JSON parse error at line 1, column 6: expected ':'"),
        Encoded("duvet.config.toml", b"a = ", "1:5+1 DUV001 TOML parse error at line 1, column 5: invalid value"),
    ],
    ids=lambda one: f"{one.path}",
)
def test_files_that_can_not_be_read(one: Encoded) -> None:
    assert [line.partition("; ")[0] for line in found(one.data, one.path)] == [one.said]


def test_dates_are_written_as_text() -> None:
    text = b"[toolPacks.x.settings]\nday = 2027-12-31\n"
    assert found(text, "duvet.config.toml") == [
        (
            "2:7+10 DUV004 toolPacks.x.settings.day: invalid type: datetime, expected what JSON can hold; "
            "write it between quotes"
        )
    ]
    assert service("toolPacks: {x: {settings: {day: 2027-12-31}}}").config.tool_packs["x"].settings == {
        "day": "2027-12-31"
    }
