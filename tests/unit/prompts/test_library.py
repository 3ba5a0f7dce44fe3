import pytest
from jinja2 import UndefinedError

from duvet.errors import NotFoundError
from duvet.prompts.library import REQUIREMENT_PROMPTS, load_prompts, render_prompt, require_prompt
from duvet.templates import prompt_names, prompt_text

KNOWN = "available: answer_from_pages, explain_section, implement_requirement, review_citations, system, triage_uncited, write_test"


def test_each_prompt_has_a_title_and_is_described_in_sentences() -> None:
    found = load_prompts()
    assert tuple(prompt.name for prompt in found) == prompt_names()
    arguments = {one.name: [argument.name for argument in one.arguments] for one in found}
    assert [name for name, taken in arguments.items() if taken == ["requirement"]] == [*REQUIREMENT_PROMPTS]
    assert [one.name for one in found if not one.title or one.title.endswith(".")] == []
    texts = [text for one in found for text in (one.description, *(argument.description for argument in one.arguments))]
    assert [text for text in texts if not text.endswith(".") or "\n" in text] == []
    fronts = [prompt_text(name).split("---\n", 2)[1] for name in prompt_names()]
    assert [front for front in fronts if "{{" in front or "{%" in front or "{#" in front] == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("implement", "did you mean implement_requirement?"),
        ("Write-Test", "did you mean write_test?"),
        ("../init_config.toml", KNOWN),
        ("", KNOWN),
    ],
)
def test_an_unknown_prompt_is_refused_with_similar_names(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        require_prompt(name)
    assert (caught.value.message, caught.value.hint) == (f'unknown prompt "{name}"', hint)
    with pytest.raises(NotFoundError) as caught:
        require_prompt("system", ("write_test",))
    assert caught.value.hint == "available: write_test"
    with pytest.raises(UndefinedError):
        render_prompt("write_test", {})
