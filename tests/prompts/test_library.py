"""The prompts that there are"""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from duvet.errors import NotFoundError
from duvet.prompts.library import Argument, prompts, rendered, require_prompt
from duvet.templates import prompt_names, prompt_text

REQUIREMENT = Argument("requirement", "The requirement, by the first digits of its id or by the path of its resource.")


def test_what_there_is() -> None:
    assert [(one.name, one.title, one.arguments) for one in prompts()] == [
        ("implement_requirement", "Implement a requirement", (REQUIREMENT,)),
        ("system", "How to use this server", ()),
        ("write_test", "Write a test for a requirement", (REQUIREMENT,)),
    ]


def test_each_is_called_like_its_file_and_described_in_a_sentence() -> None:
    found = prompts()
    assert tuple(prompt.name for prompt in found) == prompt_names()
    assert [one.description for one in found if not one.description.endswith(".") or "\n" in one.description] == []


@pytest.mark.parametrize("name", prompt_names())
def test_front_matter_is_no_template(name: str) -> None:
    _, front, _ = prompt_text(name).split("---\n", 2)
    assert set("{}%#").isdisjoint(front)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("implement", "did you mean implement_requirement?"),
        ("Write-Test", "did you mean write_test?"),
        ("../init_config.toml", "there are implement_requirement, system, write_test"),
        ("", "there are implement_requirement, system, write_test"),
    ],
)
def test_an_unknown_name(name: str, hint: str) -> None:
    ##= man/spec/queries.md#prompts
    ##% A prompt that does not exist MUST be an error that names the ones that are most like it.
    with pytest.raises(NotFoundError) as caught:
        require_prompt(name)
    assert (caught.value.message, caught.value.hint) == (f'there is no prompt "{name}"', hint)


def test_a_value_that_is_missing() -> None:
    ##= man/spec/queries.md#prompts
    ##% A value that a prompt asks for and that is not there MUST be an error.
    with pytest.raises(UndefinedError):
        rendered("write_test", {})
