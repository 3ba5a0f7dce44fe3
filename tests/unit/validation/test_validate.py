"""What validation finds in a whole project, and what it offers."""

from __future__ import annotations

import pytest

from duvet.model import Note, Place
from duvet.project.project import Project
from duvet.project.validation import validate
from tests.unit.validation.made import FILES, project

SOAP = "The pot MUST be rinsed with water, [-but-]{+and+} MUST NOT be washed with soap."


def found(one: Project, path: str) -> list[tuple[int, str, str, str]]:
    """Line, code, hint and the description of the fix of each problem in a file."""
    checked = validate(one).of([path])
    return [
        (problem.place.line, problem.code, problem.hint, problem.fix.description if problem.fix else "")
        for problem in checked.problems
        if problem.path == path
    ]


def test_what_is_wrong_and_what_should_stand_there() -> None:
    ##= man/spec/validate.md#checks
    ##% For a quote that its section does not contain, `duvet validate` SHOULD show the most similar text with the
    ##% differing words marked, and name another section that contains the quote.
    nearest = "the nearest text in this section is\n"
    quote, name = "quote what stands there", "name tea.md#cleaning"
    assert found(project(), "src/broken.rs") == [
        (2, "DUV050", f"{nearest}The water MUST [-cook-]{{+boil+}} before the leaves are put into the pot.", quote),
        (7, "DUV050", "these words stand in #serving", "name tea.md#serving"),
        (11, "DUV050", f"{nearest}The [-leafs-]{{+leaves+}} MUST be dry.", quote),
        (12, "DUV043", "these words stand in #serving", "name tea.md#serving"),
        (16, "DUV042", "these words stand in #cleaning", name),
        (21, "DUV040", "did you mean tea.md?", name),
        (
            26,
            "DUV050",
            f"the nearest text stands in #cleaning:\n{SOAP}",
            f"{name} and {quote}",
        ),
        (30, "DUV050", "these words stand in docs/pot.md#lid", ""),
        (34, "DUV050", "quote the section's words as they stand there; only spacing may differ", ""),
        (37, "DUV044", "write tea.md everywhere", "name tea.md#serving"),
    ]


def test_what_a_report_lets_pass() -> None:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report an exception without a reason as an error.
    ##= man/spec/validate.md#checks
    ##% `duvet validate` SHOULD warn about duplicate annotations, annotations in string literals, and code or tests for
    ##% excepted text.
    problems = validate(project()).of(["src/doubtful.rs"]).problems
    assert [(one.place.line, one.code, one.severity.value) for one in problems] == [
        (1, "DUV090", "error"),
        (5, "DUV093", "warning"),
        (8, "DUV091", "warning"),
        (8, "DUV093", "warning"),
        (11, "DUV092", "warning"),
        (17, "DUV022", "error"),
    ]
    assert problems[1].message == "there is code for text that src/doubtful.rs:1 excepts"
    assert problems[2].notes == (Note(Place(5, 5, 15), "first written here"),)


@pytest.mark.parametrize(
    ("name", "hint", "fix"),
    [
        # The section has got another name, and its text has been reworded.
        (
            "rinsing",
            f"the nearest text stands in #cleaning:\n{SOAP}",
            "name tea.md#cleaning and quote what stands there",
        ),
        # What is called nearly so has no such text: one of the two is right, and nobody knows which.
        ("serving-it", "did you mean #serving?", ""),
    ],
)
def test_a_section_that_is_gone_and_a_quote_that_is_wrong(name: str, hint: str, fix: str) -> None:
    quote = "The pot MUST be rinsed with water, but MUST NOT be washed with soap."
    texts = {"src/gone.rs": f"//= tea.md#{name}\n//# {quote}\n"}
    assert found(project(texts), "src/gone.rs") == [(1, "DUV043", hint, fix)]


@pytest.mark.parametrize(("lines", "found"), [(0, 1), (2, 1), (3, 0), (40, 0)])
def test_what_is_repeated_for_other_code(lines: int, found: int) -> None:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` SHOULD warn about duplicate annotations, annotations in string literals, and code or tests for
    ##% excepted text.
    said = "//= tea.md#serving\n//# Everybody SHOULD wait\n"
    texts = {
        "src/twice.rs": said
        + "fit();\n" * lines
        + said
        + "//= tea.md#serving\n//= type=test\n//# Everybody SHOULD wait\n"
    }
    problems = validate(project(texts)).of(["src/twice.rs"]).problems
    assert [one.code for one in problems] == ["DUV091"] * found


def test_a_requirement_file() -> None:
    path = ".duvet/exceptions/cleaning.toml"
    hint = "the nearest text in this section is\nThe pot MUST be rinsed with [-vinegar-]{+water,+}"
    assert found(project(), path) == [(4, "DUV050", hint, "quote what stands there")]


def test_nothing_is_wrong() -> None:
    checked = validate(project()).of(["src/right.py"])
    assert (checked.problems, checked.annotations, checked.files) == ((), 1, 1)


def test_two_answers_are_none() -> None:
    frames = (
        "# Frames\n\n## A\n\nA frame of type A MUST be ignored by servers.\n\n"
        "## Both\n\nA frame of type B MUST be ignored by servers.\nA frame of type C MUST be ignored by servers.\n\n"
        "## Again\n\nA frame of type A MUST be ignored by servers.\n"
    )
    one = project(
        {
            "tea.md": frames,
            "src/broken.rs": "//= tea.md#both\n//# A frame of type F MUST be ignored by servers.\n"
            "//= tea.md#both\n//# A frame of type A MUST be ignored by servers.\n"
            "//= tea.md#bth\n//# A frame\n",
        }
    )
    assert found(one, "src/broken.rs") == [
        (
            2,
            "DUV051",
            "the nearest text in this section is\nA frame of type [-F-]{+B+} MUST be ignored by servers.",
            "",
        ),
        (
            4,
            "DUV051",
            "the nearest text in this section is\nA frame of type [-A-]{+B+} MUST be ignored by servers.",
            "",
        ),
        (5, "DUV043", "these words stand in #both", "name tea.md#both"),
    ]


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        # It would end the comment, or take the next line into it.
        ("The stars of a comment MUST be ", "*/"),
        ("The end of a line MUST be marked with a ", "backslash\\"),
    ],
)
def test_no_mend_breaks_the_code_around_it(quote: str, text: str) -> None:
    ##= man/spec/validate.md#fixes
    ##% A fix MUST make its annotation valid, and MUST NOT change anything else in the file, nor anything when it runs
    ##% again.
    files = {"tea.md": f"# Tea\n\n## Brewing\n\n{quote}{text} in all files.\n"}
    source = f"//= tea.md#brewing\n//# {quote}something in all files.\n"
    assert [one[3] for one in found(project({**files, "src/broken.rs": source}), "src/broken.rs")] == [""]
    ending = f"/*\n//= tea.md#brewing\n//# {quote}good {text}\nfn f() {{}}\n"
    harmless = {"tea.md": files["tea.md"].replace(text, "good"), "src/broken.rs": ending}
    assert [one[1::2] for one in found(project(harmless), "src/broken.rs")] == [("DUV050", "")]
    harmless["src/broken.rs"] = f"/*\n//= tea.md#brewng {text}\n//# {quote}good in all files.\n"
    assert [one[1::2] for one in found(project(harmless), "src/broken.rs")] == [("DUV043", "")]
    harmless["src/broken.rs"] = source
    assert [one[3] for one in found(project(harmless), "src/broken.rs")] == ["quote what stands there"]


def test_another_specification_has_something_like_it() -> None:
    """It is shown, and not written: the target says that another one is meant."""
    text = "The lid MUST fit the pot so well that no steam gets out at all."
    one = project({"src/broken.rs": f"//= tea.md#serving\n//# {text}\n"})
    diff = "The lid MUST fit the pot so well that no steam gets out [-at all.-]{+of it.+}"
    assert found(one, "src/broken.rs") == [(2, "DUV050", f"the nearest text stands in docs/pot.md#lid:\n{diff}", "")]


def test_another_way_to_a_specification_is_no_spelling() -> None:
    """Who reads the file from elsewhere may need it."""
    one = project({"src/broken.rs": "//= tea.md#brewing\n//# The leaves MUST be dry.\n"})
    root = one.root.lstrip("/")
    files = {
        f"/{root}/tea.md": FILES["tea.md"],
        "src/broken.rs": f"//= /{root}/tea.md#brewing\n//# The leaves MUST be dry.\n",
    }
    hint = "write tea.md everywhere"
    assert found(project({**files, "src/right.py": FILES["src/right.py"]}), "src/broken.rs") == [
        (1, "DUV044", hint, "")
    ]


def test_the_title_of_a_section() -> None:
    """A citation without a quote has nothing to tell its section by but the name."""
    one = project({"src/broken.rs": "//= tea.md#servng\n\n//= tae.md#cleaning\n\n//= tea.md\n"})
    assert [(line, fix) for line, _, _, fix in found(one, "src/broken.rs")] == [
        (1, "name tea.md#serving"),
        (3, "name tea.md#cleaning"),
        (5, ""),
    ]
