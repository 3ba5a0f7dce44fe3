from itertools import product

import pytest
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.config.service import load_service
from duvet.config.service_tables import Auto, Secret
from duvet.errors import ProblemsError
from duvet.reports.problems import ProblemContext, ProblemFormat, render_problems
from duvet.tree.files import MemoryTree
from tests.unit.config.configurations import encode, load, service_problems, show_service_problems

WRONG = """\
server: {port: 0, mode: htt, name: " ", toolTimeout: 0, rate: .nan, pageSize: null}
providers:
  1x: {}
  a: {api_kay: x, timeout: "1", retries: 0.5}
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
      - {id: z, wait: {tool: x, until: {path: x, exists: true}}, system: b}
      - {id: z2, wait: {tool: x, until: {path: x, exists: true}}, params: {b: 1}}
  leer: {description: x, steps: []}
  number: {description: x, steps: 1}
routing:
  a2: {fallbacks: 1}
  b: {fallbacks: a}
  c: {model: "a/ b"}
  d: {fallbacks: {a: 1}}
ingest: {semantic: maybe}
severs: {}
"""
UNKNOWN_NAMES = """\
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
ALIKE = "toolPacks:\n  a-b: {}\n  c: {}\n  A_B: {}\n"
UNSET = 'server: {host: "a${NO}"}\ntoolPacks: {x: {settings: {a: [$no], b: 5$}}}'
HIDDEN = ["sk-hidden", "$ecret7", "4711", "[sk-hidden]", "{sk-hidden: 1}", '"$KEY sk-hidden"', '"$KEY\\n"', "''"]
KIND, UNKNOWN = "kind: invalid type: {} ***, expected a string", "kind: unknown variant ***, expected one of "
TIMEOUT = "timeout: invalid type: string ***, expected a number"


UNREADABLE = {
    "yaml": [b"a: 1\r\n b: \xff"],
    "toml": [b"a = '\xff'", b"a = ", b"toolPacks.x.settings.day = 2027-12-31"],
    "json": [b'{"a" 1}'],
}


def test_every_problem_is_listed(snapshot: Snapshot) -> None:
    for name, texts in {"service": [WRONG], "names": [UNKNOWN_NAMES, ALIKE, UNSET]}.items():
        lines = [line for text in texts for line in [*show_service_problems(text), ""]]
        snapshot.assert_match("\n".join(lines), f"problems/{name}.txt")
    files = [(f"duvet.config.{ending}", data) for ending, texts in UNREADABLE.items() for data in texts]
    lines = [line for path, data in files for line in show_service_problems(data, path)]
    snapshot.assert_match("\n".join(lines), "problems/unreadable.txt")


def test_variables_are_filled_in_and_their_values_checked() -> None:
    config = load("""\
server: {host: $HOST, title: "$${HOST} is ${HOST}$$"}
toolPacks: {x: {settings: {a: [{b: "$HOST"}], c: 1, $HOST: no}}}
workflows: {w: {description: $HOST, steps: [{id: a, tool: $HOST, params: {x: "${vars.x}"}}]}}
""").config
    assert (config.server.host, config.server.title) == ("kettle.example", "${HOST} is kettle.example$")
    assert config.tool_packs["x"].settings == {"a": [{"b": "kettle.example"}], "c": 1, "$HOST": "no"}
    assert (config.workflows["w"].description, config.workflows["w"].steps[0].tool) == ("$HOST", "$HOST")
    environ = {"BLANK": " ", "LINE": "sk\n", "ODD": "\udcff", "AGAIN": "$BLANK"}
    text = '{"server": {"host": "$BLANK", "name": "$ODD", "title": "$AGAIN"}, "providers": {"a": {"apiKey": "$LINE"}}}'
    with pytest.raises(ProblemsError) as error:
        load_service(MemoryTree({"duvet.config.json": text.encode()}), environ)
    assert [problem.message for problem in error.value.problems] == [
        "server.host: the value is blank after its variables are expanded",
        "server.name: the environment variable `ODD` is not UTF-8",
        "providers.a.apiKey: the variable is blank or contains unprintable characters",
    ]


def test_a_variable_may_have_any_type_of_its_key() -> None:
    for value, wanted in (("auto", Auto.AUTO), ("True", True), ("false", False)):
        files = MemoryTree({"duvet.config.yaml": b"ingest: {symbols: $SYMBOLS}"})
        assert load_service(files, {"SYMBOLS": value}).config.ingest.symbols is wanted
    (problem,) = service_problems("ingest: {symbols: $HOST}")
    assert problem.message == "ingest.symbols: the value is not a boolean or `auto` after its variables are expanded"


YAML = ("write a list: put `- ` before each table", "remove `- `: only one table is allowed")
FORMATS = {
    "toml": ("write `[[workflows.w.steps]]` above each table", "write `[server]`: only one table is allowed"),
    "json": ("write a list: put `[` and `]` around the tables", "remove `[` and `]`: only one table is allowed"),
}


def test_hints_are_in_the_format_of_the_file() -> None:
    steps = {"id": "a", "tool": "km-search"}
    for ending in ("toml", "yaml", "yml", "json"):
        data = encode({"workflows": {"w": {"description": "x", "steps": steps}}, "server": [{"port": 1}]}, ending)
        hints = {one.message.partition(":")[0]: one.hint for one in service_problems(data, f"duvet.config.{ending}")}
        assert hints == dict(zip(("workflows.w.steps", "server"), FORMATS.get(ending, YAML), strict=True))
    (problem,) = service_problems("providers: [{kind: openai}]")
    assert problem.hint == "write a table instead of a list, with a name for each entry"


def render_service_problems(text: str, form: ProblemFormat = ProblemFormat.TEXT) -> str:
    context = ProblemContext(read_line=lambda path, line: text.split("\n")[line - 1])
    return render_problems(service_problems(text), form, context).decode()


def test_possible_secrets_are_never_shown() -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST NOT show the values of secrets and environment variables in messages.
    for value, form in product(HIDDEN, ProblemFormat):
        page = render_service_problems(f"providers: {{a: {{apiKey: {value}, apikey: sk-hidden}}}}\n", form)
        assert "providers.a.apiKey" in page
        assert [part for part in ("hidden", "ecret7", "4711") if part in page] == []
    for text in ("a: &x {apiKey: sk-hidden", "apiKey: !sk-hidden x", "apiKey: *sk-hidden", "a: 'sk"):
        page = render_service_problems(text)
        assert "error" in page and "sk" not in page.replace("duvet.config", "")


def test_a_secret_is_not_shown_where_it_stands_a_second_time() -> None:
    for provider, words in {
        "{apiKey: &k sk-hidden, kind: *k}": UNKNOWN,
        "{apiKey: &k x, kind: *k}": UNKNOWN,
        "{apiKey: [&k sk-hidden], kind: *k}": UNKNOWN,
        "{apiKey: &k $ecret7, kind: *k}": "kind: the environment variable is not set",
        "{apiKey: &k 471147, kind: *k}": KIND.format("integer"),
        "{apiKey: &k 47.5, kind: *k}": KIND.format("floating point"),
        "{apiKey: &k 7, kind: *k}": KIND.format("integer"),
        "{apiKey: &k sk-hidden, timeout: *k}": TIMEOUT,
        '{apiKey: &k "sk\\"\\n\\u200b", timeout: *k}': TIMEOUT,
        "{apiKey: &k %s, timeout: *k}" % ("sk" * 1000): TIMEOUT,
        "{apiKey: sk-hidden, sk-hidden: 1}": "***: unknown field ***, expected one of ",
    }.items():
        problems = service_problems(f"providers: {{a: {provider}}}")
        (message,) = [one.message for one in problems if "apiKey: " not in one.message]
        assert message.startswith(f"providers.a.{words}")
    keys = ", ".join(f"p{number}: {{apiKey: secret-{number}, kind: secret-{number}}}" for number in range(101))
    messages = {one.message for one in service_problems(f"providers: {{{keys}}}")}
    assert messages == {"details hidden, because this file contains more than 100 secrets"}
    text = "providers: {a: {apiKey: &k $KEY, kind: *k}, b: {apiKey: &c '${KEY}', kind: *c}}"
    what = "the value is not one of `openai`, `anthropic`, `client` after its variables are expanded"
    assert show_service_problems(text) == [
        f"{place} DUV005 providers.{name}.kind: {what}; set the variable to a valid value"
        for place, name in (("1:40+2", "a"), ("1:76+2", "b"))
    ]


def test_a_secret_is_hidden_in_what_was_read() -> None:
    config = load("providers: {a: {apiKey: $KEY}, b: {apiKey: '${KEY}'}}").config
    one, other = (provider.api_key for provider in config.providers.values())
    assert one is not None and one.reveal() == "sk-hidden" and one == other and {one} == {other}
    assert one != Secret("sk-other") and one != "sk-hidden"
    assert "hidden" not in f"{config!r} {config} {one}" and repr(one) == str(one) == "Secret(…)"
    with pytest.raises(TypeError):
        json.encode(config)
