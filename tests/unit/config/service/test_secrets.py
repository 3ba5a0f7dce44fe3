"""Secrets of configurations, which nothing shows"""

from __future__ import annotations

import pytest
from msgspec import json

from duvet.reports.problems import ProblemContext, ProblemFormat, render_problems
from tests.unit.config.service.made import found, problems, service

HIDDEN = ["sk-hidden", "$ecret7", "4711", "[sk-hidden]", "{sk-hidden: 1}", '"$KEY sk-hidden"', '"$KEY\\n"', "''"]


@pytest.mark.parametrize("value", HIDDEN)
@pytest.mark.parametrize("form", list(ProblemFormat))
def test_what_may_be_a_secret_is_never_shown(value: str, form: ProblemFormat) -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST NOT show the value of a secret or a variable in any message, whatever it is part of.
    text = f"providers: {{a: {{apiKey: {value}, apikey: sk-hidden}}}}\n"
    lines = text.split("\n")
    page = render_problems(problems(text), form, ProblemContext(read_line=lambda path, line: lines[line - 1])).decode()
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
    ##% duvet MUST NOT show the value of a secret or a variable in any message, whatever it is part of.
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
    page = render_problems(
        problems(text), ProblemFormat.TEXT, ProblemContext(read_line=lambda path, line: text)
    ).decode()
    assert "error" in page and "sk" not in page.replace("duvet.config", "")


def test_a_secret_is_hidden_in_what_was_read() -> None:
    config = service("providers: {a: {apiKey: $KEY}, b: {apiKey: '${KEY}'}}").config
    one, other = (provider.api_key for provider in config.providers.values())
    assert one is not None and one.reveal() == "sk-hidden" and one == other and {one} == {other}
    assert "hidden" not in f"{config!r} {config} {one}"
    with pytest.raises(TypeError):
        json.encode(config)
