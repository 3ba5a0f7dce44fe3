"""The prompts that there are"""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from duvet.errors import NotFoundError
from duvet.prompts.library import REQUIREMENT_PROMPTS, load_prompts, render_prompt, require_prompt
from duvet.templates import prompt_names, prompt_text

KNOWN = "there are explain_section, implement_requirement, review_citations, system, triage_uncited, write_test"


def test_what_there_is() -> None:
    shown = [
        (one.name, [f"{arg.name}{'' if arg.required else '?'}" for arg in one.arguments]) for one in load_prompts()
    ]
    assert shown == [
        ("explain_section", ["section"]),
        ("implement_requirement", ["requirement"]),
        ("review_citations", ["spec?", "file?"]),
        ("system", []),
        ("triage_uncited", ["spec?", "level?"]),
        ("write_test", ["requirement"]),
    ]


def test_each_has_a_title_and_every_argument_is_described_in_a_sentence() -> None:
    described = [(one.name, argument.description) for one in load_prompts() for argument in one.arguments]
    assert [name for name, text in described if not text.endswith(".") or "\n" in text] == []
    assert [one.name for one in load_prompts() if not one.title or one.title.endswith(".")] == []


def test_each_is_called_like_its_file_and_described_in_a_sentence() -> None:
    found = load_prompts()
    assert tuple(prompt.name for prompt in found) == prompt_names()
    assert [one.description for one in found if not one.description.endswith(".") or "\n" in one.description] == []


@pytest.mark.parametrize("name", prompt_names())
def test_front_matter_is_no_template(name: str) -> None:
    _, front, _ = prompt_text(name).split("---\n", 2)
    assert [mark for mark in ("{{", "{%", "{#") if mark in front] == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("implement", "did you mean implement_requirement?"),
        ("Write-Test", "did you mean write_test?"),
        ("../init_config.toml", KNOWN),
        ("", KNOWN),
    ],
)
def test_an_unknown_name(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        require_prompt(name)
    assert (caught.value.message, caught.value.hint) == (f'there is no prompt "{name}"', hint)


def test_those_about_a_requirement() -> None:
    takes = {prompt.name: [argument.name for argument in prompt.arguments] for prompt in load_prompts()}
    assert [name for name, arguments in takes.items() if arguments == ["requirement"]] == [*REQUIREMENT_PROMPTS]


def test_a_name_among_some() -> None:
    with pytest.raises(NotFoundError) as caught:
        require_prompt("system", ("write_test",))
    assert caught.value.hint == "there are write_test"


def test_a_value_that_is_missing() -> None:
    ##= man/spec/mcp.md#prompts
    ##% duvet MUST refuse an unknown prompt with similar names, and an unknown or missing argument by its name.
    with pytest.raises(UndefinedError):
        render_prompt("write_test", {})
