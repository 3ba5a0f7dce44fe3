import json
import shlex
from pathlib import Path
from typing import Any

import click

from duvet.cli import cli
from duvet.llm.ask import NOTHING_FOUND
from duvet.llm.records import SETUP_HINT
from tests.cli.command import Done, Run, failed, files
from tests.cli.documents import list_examples
from tests.cli.sample_project import make
from tests.unit.llm.provider_server import Reply, Wire, anthropic_says, openai_says, refuses
from tests.unit.queries.query_projects import SEARCH_FILES as FILES

PROJECT = FILES
KEY = "sk-very-secret-1234"
API_KEY, TIMEOUT = "`providers.one.apiKey`", "increase `providers.one.timeout`"
SOURCES = """\
[1] tea.md#serving (MAY, uncited)
    tea.md:11
    Cups MAY be warmed.

[2] Serving (tea.md#serving)
    tea.md:9
    Cups MAY be warmed.
    The server MUST pour within five minutes.
"""
ANSWERED = f"They may be [1].\n\n{SOURCES}"
FLAG = "warning: the answer cites no source; check it against the sources before you rely on it\n"


def config(wire: Wire, **more: Any) -> str:
    return json.dumps({"providers": {"one": {"baseUrl": f"{wire.url}/v1", "defaultModel": "small", **more}}})


def test_an_answer(duvet: Run, folder: Path, wire: Wire) -> None:
    make(folder, {"duvet.config.json": config(wire, apiKey="$MY_KEY")})
    wire.plan(openai_says("They may be [1] [7]."))
    before = files(folder)
    done = duvet("ask", "cups", environ={"MY_KEY": KEY})
    warning = "warning: removed references to sources that do not exist: [7]\n"
    assert done == Done(0, ANSWERED, warning)
    assert files(folder) == before
    (asked,) = wire.asked
    assert (asked.body["model"], asked.headers["authorization"]) == ("small", f"Bearer {KEY}")
    assert asked.body["messages"][1]["content"].endswith("\nQuestion: cups\n")
    # A proxy is no way to this machine.
    proxy = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9", "MY_KEY": KEY}
    assert duvet("ask", "cups", environ=proxy) == done


def test_an_answer_as_json(duvet: Run, folder: Path, wire: Wire) -> None:
    config = f"providers: {{one: {{kind: anthropic, baseUrl: '{wire.url}', defaultModel: small}}}}\n"
    make(folder, {"models.yaml": config})
    wire.plan(anthropic_says("Maybe."))
    done = duvet("ask", "cups", "--service-config", "models.yaml", "--format", "json")
    found = json.loads(done.out)
    assert (done.code, done.err) == (0, FLAG)
    assert [*found] == ["answer", "sources", "model", "warnings"]
    assert (found["answer"], found["model"]) == ("Maybe.", "one/small")
    assert found["warnings"] == [FLAG.removeprefix("warning: ").rstrip()]
    place = "/specifications/tea/sections/serving"
    both = "Cups MAY be warmed.\nThe server MUST pour within five minutes."
    keys = ["number", "kind", "title", "full_path", "file_path", "line_number", "text"]
    may = ("tea.md#serving (MAY, uncited)", f"{place}/requirements/035b57d7f4bd", "tea.md", 11, both[:19])
    rows = [(1, "requirement", *may), (2, "section", "Serving (tea.md#serving)", place, "tea.md", 9, both)]
    assert found["sources"] == [dict(zip(keys, row, strict=True)) for row in rows]
    assert duvet("-q", "ask", "cups", "--service-config", "models.yaml").err == ""


def test_no_model_is_configured(duvet: Run, folder: Path, wire: Wire) -> None:
    for words in ("cups", "coffee", "cups --format json"):
        done = duvet("ask", *words.split(), environ={"OPENAI_API_KEY": KEY})
        assert done == failed("no model is configured [DUV121]", hint=SETUP_HINT)
    make(folder, {"duvet.config.json": config(wire)})
    done = duvet("ask", "cups", "--model", "two")
    assert done == failed("no usable model: two: unknown provider [DUV121]", hint="available: one")
    assert wire.asked == []


def test_a_provider_that_fails(duvet: Run, folder: Path, wire: Wire) -> None:
    for reply, message, hint in (
        (
            refuses(401, f"bad key {KEY}"),
            "refused access (401): bad key ***",
            f"check the key in {API_KEY} or in the environment",
        ),
        (Reply(body=b"x", stops_before="headers"), "did not answer within 0.3 s", TIMEOUT),
    ):
        timeout = 0.3 if reply.stops_before else 60
        make(folder, {"duvet.config.json": config(wire, apiKey="$MY_KEY", retries=0, timeout=timeout)})
        wire.replies.clear()
        wire.plan(reply)
        done = failed(f"provider `one` {message} [DUV121]", hint=hint, out=SOURCES)
        assert duvet("ask", "cups", environ={"MY_KEY": KEY}) == done


def test_nothing_is_found(duvet: Run, folder: Path, wire: Wire) -> None:
    make(folder, {"duvet.config.json": config(wire)})
    assert duvet("ask", "coffee") == Done(1, f"{NOTHING_FOUND}\n", "")
    nothing: dict[str, Any] = {"answer": NOTHING_FOUND, "sources": [], "model": None, "warnings": []}
    assert json.loads(duvet("ask", "coffee", "--format", "json").out) == nothing
    assert wire.asked == []
    assert [duvet("ask", *words).code for words in ((), ("?!",), ("cups", "--format", "xml"))] == [2, 2, 2]


def test_a_wrong_configuration(duvet: Run, folder: Path) -> None:
    make(folder, {"duvet.config.json": f'{{"providers": {{"one": {{"apiKey": "{KEY}"}}}}}}'})
    code, out, err = duvet("ask", "cups")
    assert (code, out, "providers" in err, "duvet.config.json" in err, KEY in err) == (1, "", True, True, False)


def test_examples_work(duvet: Run, folder: Path, wire: Wire) -> None:
    one = json.loads(config(wire))["providers"]["one"]
    make(folder, {name: json.dumps({"providers": {"local": one}}) for name in ("duvet.config.json", "models.yaml")})
    wire.plan(openai_says("So it is [1]."))
    for line in list_examples(click.Context(cli)):
        if line.startswith("duvet ask "):
            done = duvet(*shlex.split(line)[1:])
            assert (done.code, done.err, "So it is [1]." in done.out) == (0, "", True)
