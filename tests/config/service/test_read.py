"""What is wrong with configurations of the service, and what comes of good ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec import json

from duvet.config.find import CONFIG_PATH
from duvet.config.schema import ServerRule
from duvet.config.secret import Secret
from duvet.config.service.providers import ProviderKind
from duvet.config.service.read import service_config
from duvet.config.service.tables import ServiceConfig
from duvet.model import ProblemsError
from duvet.reports.problem_format import ProblemFormat, View, render
from duvet.tree.memory import MemoryTree
from tests.config.service.made import found, problems, service
from tests.conftest import ROOT

EXAMPLES = sorted((ROOT / "man/examples").glob("duvet.config.*"))
EVERYTHING = ROOT / "man/examples/contextive.yaml"
OF_PROJECT = b"'$schema' = 'duvet-cli/config/v1'\n[server]\nname = 'tea'\npacks = []\n"


def test_the_defaults() -> None:
    read = service_config(MemoryTree({}), {})
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
    assert service_config(MemoryTree({path.name: path.read_bytes()}), environ).config != ServiceConfig()


def test_the_example_with_every_section() -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "LOCAL_PORT": "11434", "USER": "me"}
    tree = MemoryTree({"duvet.config.yaml": EVERYTHING.read_bytes()})
    read = service_config(tree, environ)
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


WRONG = """\
server: {port: 0, mode: htt, name: " ", toolTimeout: 0, rate: .nan, pageSize: null}
providers:
  1x: {}
  a: {api_key: x, timeout: "1", retries: 0.5}
toolPacks:
  trace: {enabled: yes, tools: {a: 1}, settings: {x: .inf}}
workflows:
  audit:
    description: x
    variables: {n: {type: integer, default: a}, m: {default: 1}}
    steps:
      - {id: s, tool: 1}
      - {id: "s\\n", tool: x}
      - {id: u, prompt: x}
      - {id: v, tool: x, prompt: x}
      - {id: v2, model: a}
      - {id: v3, tool: x, model: a}
      - {id: w, wait: {tool: x, until: {path: x}, intervalSeconds: 0.1}}
      - {id: y, tool: x, assert: [{path: x, equals: 1, exists: true}]}
  leer: {description: x, steps: []}
routing:
  b: {fallbacks: a}
  c: {model: "a/ b"}
severs: {}
"""


def test_all_that_is_wrong_is_told() -> None:
    ##= man/spec/service.md#configuration
    ##% All that is wrong with a file MUST be listed, each with its line, its column and the path of its key.
    step = "workflows.audit.steps"
    actions, checks = "`tool`, `model`, `wait`", "`equals`, `notEquals`, `exists`"
    assert found(WRONG) == [
        "1:16+1 DUV005 server.port: integer `0` is out of range; write a number from 1 to 65535",
        "1:25+3 DUV005 server.mode: unknown variant `htt`, expected `stdio` or `http`; did you mean `http`?",
        "1:36+3 DUV005 server.name: this is blank",
        "1:54+1 DUV005 server.toolTimeout: integer `0` is out of range; write a number greater than 0 and up to 86400",
        "1:63+4 DUV005 server.rate: floating point `nan` is out of range; write a number from 0 to 1000000",
        (
            "1:79+4 DUV004 server.pageSize: invalid type: null, expected an integer; "
            "leave the key out, or give it a value"
        ),
        (
            '3:3+2 DUV005 providers."1x": this is not a name: a letter, and up to 63 letters, digits, `-` and `_` '
            "after it"
        ),
        (
            "4:7+7 DUV002 providers.a.api_key: unknown field `api_key`, expected one of `kind`, `enabled`, `baseUrl`, "
            "`apiKey`, `defaultModel`, `timeout`, `retries`, `discover`, `llmsTxt`; did you mean `apiKey`?"
        ),
        '4:28+3 DUV004 providers.a.timeout: invalid type: string "1", expected a number',
        "4:42+3 DUV004 providers.a.retries: invalid type: floating point `0.5`, expected an integer",
        '6:20+3 DUV004 toolPacks.trace.enabled: invalid type: string "yes", expected a boolean',
        "6:36+1 DUV004 toolPacks.trace.tools.a: invalid type: integer `1`, expected a boolean",
        "6:54+4 DUV005 toolPacks.trace.settings.x: this is no number",
        (
            "10:45+1 DUV005 workflows.audit.variables.n.default: the default is not of the type `integer`; "
            "change the one or the other"
        ),
        (
            "10:62+1 DUV005 workflows.audit.variables.m.default: the default is not of the type `string`; "
            "change the one or the other"
        ),
        f"12:23+1 DUV004 {step}[0].tool: invalid type: integer `1`, expected a string",
        (
            f'13:14+5 DUV005 {step}[1].id: "s\\n" is not a name: a letter, and up to 63 letters, digits, `-` and `_` '
            "after it"
        ),
        f"14:9+18 DUV003 {step}[2]: one of {actions} has to be here",
        f"15:34+1 DUV005 {step}[3].prompt: this is for a step with a `model`; leave it out",
        f"16:25+1 DUV003 {step}[4].model: missing field `prompt`; say what the model is asked",
        f"17:34+1 DUV005 {step}[5].model: only one of {actions} can be here; keep one of them",
        f"18:40+9 DUV003 {step}[6].wait.until: one of {checks} has to be here",
        (
            f"18:68+3 DUV005 {step}[6].wait.intervalSeconds: floating point `0.1` is out of range; "
            "write a number from 0.5 to 3600"
        ),
        f"19:64+4 DUV005 {step}[7].assert[0].exists: only one of {checks} can be here; keep one of them",
        "20:33+2 DUV005 workflows.leer.steps: invalid length 0, expected at least 1",
        "22:6+14 DUV003 routing.b: missing field `model`",
        '22:18+1 DUV004 routing.b.fallbacks: invalid type: string "a", expected a sequence',
        '23:14+6 DUV005 routing.c.model: "a/ b" is not PROVIDER/MODEL, or PROVIDER',
        (
            "24:1+6 DUV002 severs: unknown field `severs`, expected one of `$schema`, `server`, `providers`, "
            "`toolPacks`, `workflows`, `routing`, `pages`, `ingest`, `store`, `search`, `uploads`; did you mean `server`?"
        ),
    ]


def test_names_that_lead_nowhere() -> None:
    text = """\
providers: {local: {}}
routing:
  fast: {model: locl/x, fallbacks: [local, fast]}
  local: {model: local}
workflows:
  a:
    description: x
    steps:
      - {id: one, model: fast, prompt: x, capture: [{name: c, path: x}, {name: c, path: y}]}
      - {id: two, model: local/x, prompt: x}
      - {id: one, model: fast/x, prompt: x}
      - {id: four, model: remote, prompt: x, capture: [{name: c, path: x}]}
"""
    ##= man/spec/service.md#configuration
    ##% A model MUST name a provider that there is; in a step of a workflow it may name a task of `routing` instead.
    ##= man/spec/service.md#configuration
    ##% The steps of a workflow, and what they capture, MUST have names of their own.
    step = "workflows.a.steps"
    assert found(text) == [
        "3:17+6 DUV005 routing.fast.model: there is no provider `locl`; did you mean `local`?",
        "3:44+4 DUV005 routing.fast.fallbacks[1]: there is no provider `fast`; describe it in `providers`",
        (
            "4:3+5 DUV005 routing.local: `local` is a provider, too: nobody could tell which is meant; "
            "choose another name"
        ),
        f"9:80+1 DUV005 {step}[0].capture[1].name: `c` is the name of another at line 9 already; choose another name",
        f"11:14+3 DUV005 {step}[2].id: `one` is the name of another at line 9 already; choose another name",
        f"11:26+6 DUV005 {step}[2].model: there is no provider `fast`; describe it in `providers`",
        f"12:27+6 DUV005 {step}[3].model: there is no provider `remote`; describe it in `providers`",
        f"12:63+1 DUV005 {step}[3].capture[0].name: `c` is the name of another at line 9 already; choose another name",
    ]


def test_names_that_are_too_much_alike() -> None:
    ##= man/spec/service.md#configuration
    ##% Names of one table that differ only in case, or in `-` and `_`, MUST be refused.
    assert found("toolPacks:\n  a-b: {}\n  c: {}\n  A_B: {}\n") == [
        "4:3+3 DUV005 toolPacks.A_B: `A_B` and `a-b` at line 2 are too much alike; choose another name"
    ]


def test_variables_are_filled_in() -> None:
    text = """\
server: {host: $HOST, title: "$${HOST} is ${HOST}$$"}
toolPacks: {x: {settings: {a: [{b: "$HOST"}], c: 1, $HOST: no}}}
workflows: {w: {description: $HOST, steps: [{id: a, tool: $HOST, params: {x: "${vars.x}"}}]}}
"""
    ##= man/spec/service.md#configuration
    ##% `$NAME` and `${NAME}` in a text that may hold them MUST become the value of that environment variable, and `$$` a
    ##% dollar; a variable that is not set MUST be an error with its place.
    config = service(text).config
    assert (config.server.host, config.server.title) == ("kettle.example", "${HOST} is kettle.example$")
    assert config.tool_packs["x"].settings == {"a": [{"b": "kettle.example"}], "c": 1, "$HOST": "no"}
    assert (config.workflows["w"].description, config.workflows["w"].steps[0].tool) == ("$HOST", "$HOST")
    hint = "set it, or write `$$` for a dollar"
    assert found('server: {host: "a${NO}"}\ntoolPacks: {x: {settings: {a: [$no], b: 5$}}}') == [
        f"1:16+8 DUV007 server.host: the environment variable `NO` is not set; {hint}",
        f"2:32+3 DUV007 toolPacks.x.settings.a[0]: the environment variable is not set; {hint}",
        "2:41+2 DUV007 toolPacks.x.settings.b: a `$` with no name after it; write `$$` for a dollar, or `${NAME}`",
    ]


def test_what_variables_hold_is_checked() -> None:
    environ = {"BLANK": " ", "LINE": "sk\n", "ODD": "\udcff", "AGAIN": "$BLANK"}
    text = '{"server": {"host": "$BLANK", "name": "$ODD", "title": "$AGAIN"}, "providers": {"a": {"apiKey": "$LINE"}}}'
    with pytest.raises(ProblemsError) as error:
        service_config(MemoryTree({"duvet.config.json": text.encode()}), environ)
    assert [problem.message for problem in error.value.problems] == [
        "server.host: once its variables are filled in, this is blank",
        "server.name: the environment variable `ODD` is not UTF-8",
        "providers.a.apiKey: the variable holds nothing, or characters that no key has",
    ]


HIDDEN = ["sk-hidden", "$ecret7", "4711", "[sk-hidden]", "{sk-hidden: 1}", '"$KEY sk-hidden"', '"$KEY\\n"', "''"]


@pytest.mark.parametrize("value", HIDDEN)
@pytest.mark.parametrize("form", list(ProblemFormat))
def test_what_may_be_a_secret_is_never_shown(value: str, form: ProblemFormat) -> None:
    ##= man/spec/service.md#configuration
    ##% The value of a secret, or of a variable, MUST NOT be shown by any message, hint or excerpt.
    text = f"providers: {{a: {{apiKey: {value}, apikey: sk-hidden}}}}\n"
    lines = text.split("\n")
    page = render(problems(text), form, View(read_line=lambda path, line: lines[line - 1])).decode()
    assert "providers.a.apiKey" in page
    assert [part for part in ("hidden", "ecret7", "4711") if part in page] == []


SEEN_TWICE = [
    ("{apiKey: &k sk-hidden, kind: *k}", "providers.a.kind: unknown variant ***, expected one of "),
    ("{apiKey: &k sk-hidden, timeout: *k}", "providers.a.timeout: invalid type: string ***, expected a number"),
    ("{apiKey: &k 471147, kind: *k}", "providers.a.kind: invalid type: integer ***, expected a string"),
    ("{apiKey: &k 47.5, kind: *k}", "providers.a.kind: invalid type: floating point ***, expected a string"),
    ("{apiKey: &k 7, kind: *k}", "providers.a.kind: invalid type: integer ***, expected a string"),
    ("{apiKey: &k x, kind: *k}", "providers.a.kind: unknown variant ***, expected one of "),
    ("{apiKey: [&k sk-hidden], kind: *k}", "providers.a.kind: unknown variant ***, expected one of "),
    ('{apiKey: &k "sk\\"\\n\\u200b", timeout: *k}', "providers.a.timeout: invalid type: string ***, expected a number"),
    ("{apiKey: sk-hidden, sk-hidden: 1}", "providers.a.***: unknown field ***, expected one of "),
    ("{apiKey: &k $ecret7, kind: *k}", "providers.a.kind: unknown variant ***, expected one of "),
    (
        "{apiKey: &k %s, timeout: *k}" % ("sk" * 1000),
        "providers.a.timeout: invalid type: string ***, expected a number",
    ),
]


@pytest.mark.parametrize(("provider", "told"), SEEN_TWICE)
def test_nor_where_it_stands_a_second_time(provider: str, told: str) -> None:
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% What is written in the place of a secret MUST NOT be shown of another place either.
    (message,) = [one.message for one in problems(f"providers: {{a: {provider}}}") if "apiKey: " not in one.message]
    assert message.startswith(told)


def test_nor_where_there_are_many() -> None:
    keys = ", ".join(f"p{number}: {{apiKey: secret-{number}, kind: secret-{number}}}" for number in range(101))
    assert {one.message for one in problems(f"providers: {{{keys}}}")} == {
        "what is wrong here is told once fewer secrets are written down in this file"
    }


def test_names_of_variables_are_shown() -> None:
    assert found("providers: {a: {apiKey: &k $KEY, kind: *k}, b: {apiKey: &c '${KEY}', kind: *c}}") == [
        "1:40+2 DUV005 providers.a.kind: unknown variant `$KEY`, expected one of `openai`, `anthropic`, `client`",
        "1:76+2 DUV005 providers.b.kind: unknown variant `${KEY}`, expected one of `openai`, `anthropic`, `client`",
    ]


@pytest.mark.parametrize("text", ["a: &x {apiKey: sk-hidden", "apiKey: !sk-hidden x", "apiKey: *sk-hidden", "a: 'sk"])
def test_nor_where_the_file_is_broken(text: str) -> None:
    page = render(problems(text), ProblemFormat.TEXT, View(read_line=lambda path, line: text)).decode()
    assert "error" in page and "sk" not in page.replace("duvet.config", "")


def test_a_secret_is_hidden_in_what_was_read() -> None:
    config = service("providers: {a: {apiKey: $KEY}, b: {apiKey: '${KEY}'}}").config
    one, other = (provider.api_key for provider in config.providers.values())
    assert one is not None and one.reveal() == "sk-hidden" and one == other and {one} == {other}
    assert "hidden" not in f"{config!r} {config} {one}"
    with pytest.raises(TypeError):
        json.encode(config)


def test_one_table_in_two_files() -> None:
    ##= man/spec/service.md#configuration
    ##% A table that stands both in this file and in `.duvet/config.toml` MUST be an error that tells both places.
    tree = MemoryTree({"duvet.config.yaml": b"\nserver: {}\n", CONFIG_PATH: OF_PROJECT})
    with pytest.raises(ProblemsError) as error:
        service_config(tree, {})
    assert [(one.place.line, one.message) for one in error.value.problems] == [
        (2, "server: this stands in `.duvet/config.toml:2:2`, too")
    ]


def test_the_table_of_the_project_alone() -> None:
    ##= man/spec/service.md#configuration
    ##% Where only `.duvet/config.toml` has a table `server`, that one MUST be in force.
    alone = service_config(MemoryTree({CONFIG_PATH: OF_PROJECT}), {})
    assert alone.rule == ServerRule(name="tea", packs=())
    files = {"duvet.config.yaml": b"toolPacks: {introspect: {}}", "other.toml": OF_PROJECT}
    read = service_config(MemoryTree(files), {}, None, "other.toml")
    assert read.rule == ServerRule(name="tea", packs=("introspect",))


@pytest.mark.parametrize("data", [b"[server", b"[server]\nname = 'x'", OF_PROJECT + b"nam = 1", b"\xff"])
def test_a_project_that_can_not_be_read_says_nothing(data: bytes) -> None:
    assert service_config(MemoryTree({CONFIG_PATH: data}), {}).rule == ServerRule()


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
