"""The prompts that there are"""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from duvet.errors import NotFoundError
from duvet.prompts.library import Argument, Prompt, prompt_named, prompts, rendered
from duvet.templates import prompt_names, prompt_text

REQUIREMENT = Argument("requirement", "The requirement, by the first digits of its id or by the path of its resource.")


def test_what_there_is() -> None:
    assert [(one.name, one.title, one.arguments) for one in prompts()] == [
        ("implement_requirement", "Implement a requirement", (REQUIREMENT,)),
        ("write_test", "Write a test for a requirement", (REQUIREMENT,)),
    ]


@pytest.mark.parametrize("name", prompt_names())
def test_each_is_called_like_its_file_and_described_in_a_sentence(name: str) -> None:
    prompt = prompt_named(name)
    assert prompt.name == name
    assert prompt.description.endswith(".") and "\n" not in prompt.description
    assert prompt_text(name).endswith(prompt.body) and prompt.body.strip()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("implement", "did you mean implement_requirement?"),
        ("Write-Test", "did you mean write_test?"),
        ("../init_config.toml", "there are implement_requirement, write_test"),
        ("", "there are implement_requirement, write_test"),
    ],
)
def test_an_unknown_name(name: str, hint: str) -> None:
    ##= man/spec/queries.md#prompts
    ##% A prompt that does not exist MUST be an error that names the ones that are most like it.
    with pytest.raises(NotFoundError) as caught:
        prompt_named(name)
    assert (caught.value.message, caught.value.hint) == (f'there is no prompt "{name}"', hint)


def test_what_is_filled_in_is_no_markup() -> None:
    prompt = Prompt("tea", "Tea", "Makes tea.", body="{{ leaf }}\n{% if leaf %}\n& hot\n{% endif %}\n")
    assert rendered(prompt, {"leaf": "<b>{{ leaf }}"}) == "<b>{{ leaf }}\n& hot\n"


def test_a_value_that_is_missing() -> None:
    ##= man/spec/queries.md#prompts
    ##% A value that a prompt asks for and that is not there MUST be an error.
    with pytest.raises(UndefinedError):
        rendered(Prompt("tea", "Tea", "Makes tea.", body="{{ leaf }}"), {})
