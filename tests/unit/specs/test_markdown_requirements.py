from pytest_snapshot.plugin import Snapshot

from duvet.model import RequirementForm, Section
from duvet.project.project import Project
from duvet.specs.markdown import parse_markdown, remove_markup
from duvet.tree.files import MemoryTree


def sections(text: str, form: RequirementForm = RequirementForm()) -> tuple[Section, ...]:  # noqa: B008 - frozen
    return parse_markdown(text.encode(), form).sections


def list_requirements(text: str, **form: object) -> list[str]:
    return [
        f"{one.level.name} {one.name}: {one.text}".replace(" : ", ": ")
        for section in sections(f"# Spec\n\n{text}", RequirementForm(**form))  # type: ignore[arg-type]
        for one in (section.plain.statements if section.plain else ())
    ]


REQUIREMENTS = [
    "A MUST b. C MAY\nd.",
    # A list item is one requirement, with all that belongs to it.
    *("- A MUST b. It MAY c.\n- plain\n", "- A MUST:\n  - b\n  - c\n\n  And d.\n"),
    *("- Group\n  - A MUST b\n  - C SHOULD d\n", "- **FR-1**: A MUST b\n  - **FR-2**: C MUST d\n"),
    "- A MUST b\n\n  ```\n  code MUST c\n  ```\n",
    # A lead-in belongs to each of its items.
    *("The server MUST:\n\n- log\n- wait\n", "Go. The server MUST:\n- log\n- It MAY wait\n"),
    *("These MUST hold:\n- A MUST b\n", "It MUST:\n- **FR-1**: log\n"),
    *("- A MUST:\n  - b\n  - C MAY d\n  - by day:\n    - e\n\n    f\n", "- A MUST:\n  - **FR-1**: b\n  - c\n"),
    *("- **FR-1**: A MUST:\n  - b\n", "- A MUST:\n  - B MUST c\n"),
    # Rows of tables.
    "| ID | Rule | Prio |\n|-|-|-|\n| R-1 | The server MUST log | P1 |\n",
    "| ID | Ref | Rule |\n|-|-|-|\n| R-1 | R-2 | It MUST log all |\n",
    "| Rule | On |\n|-|-|\n| It MUST log all | start |\n",
    "| Thing | MUST | MAY |\n|-|-|-|\n| TLS | x | - |\n| IP | no | x |\n",
    "| Rule | Limit | Notes | State |\n|-|-|-|-|\n| A MUST b c | 20 ms | fast | ✅ Done |\n",
    "| Rule | Notes | [x] |\n|-|-|-|\n| A MUST b c | It MAY d | [x] |\n",
    "| Name | Level |\n|-|-|\n| TLS | MUST |\n",
    # The signs of notes and the like.
    '!!! note "It MUST"\n    A MUST b.\n\n??? tip\n\n    C MAY d.\n\n    - E MUST f\n\n    ```\n    g MUST h\n    ```\n',
    "???+ note\n    A MUST b.\n\n:::danger\nC MUST d.\n:::\n\n> [!NOTE]\n> E MUST f.\n",
    "!!! The A MUST b.\n",
    # What holds no requirement.
    *("    code MUST x\n\n<!-- A MUST b. -->\n\n```\nA MUST b\n", "`A MUST b.` is code."),
    # A quotation mark for inches has no partner outside the brackets around it.
    'A MUST (b 5" c) d. E MAY f 6" g.\n',
    # Markup is not a part of the text.
    '> A **MUST** [b](x "MUST") `c_d`&amp;e![f](g)[^1].\n\n[^1]: Note.\n',
    *("- [x] A MUST ~~b~~ c_d_e \\*f\\*\n", "<p>A <b>MUST</b> b.</p>\n", "WHEN a, b\nTHE SYSTEM SHALL c\n"),
    # The id of a heading belongs to the requirements below it.
    *("## REQ-001: Log\n\nA MUST b.\n\nIt MAY c.\n", "## REQ-001: Log\n\n- A MUST b.\n- C MAY d.\n"),
    *("## REQ-001: Log\n\nA MUST:\n- b\n- c\n", "## REQ-001: Log\n\nA MUST:\n- b\n- **FR-1**: c\n"),
    "## Requirement 3: x\n\n### Acceptance Criteria\n\n1. A SHALL b\n2. C SHALL d\n",
    "## Requirement 3: x\n\n### Requirement 4: Acceptance\n\n1. A SHALL b\n",
    "- FR-1: A MUST b\n- FR-2: A MUST b\n",
    "- サーバーはMUST応答する。\n- 系统SHALL运行。\n- 서버는 MUST해야 한다.\n- La dataéMUST non.\n",
]
SENTENCES = [
    *("A MUST b, e.g. c. D MUST e, i.e. F.", "A MUST b, c, etc. before d. E MUST f etc. The g MAY h."),
    *("A MUST b vs. C (cf. Fig. 2). D MAY e.", "A MUST use v1.2. B MUST use 3."),
    *('A MUST say "b. C" and `d. E` (f. G) h. I MAY j.', "A MUST ask J. Doe. B MAY c!"),
    "\u5b83 MUST \u8bb0\u5f55\u3002\u5b83 MAY \u505c\u6b62\u3002",
]
IDS = [
    *("- **FR-001**: A MUST b", "- FR-DOCS-10 \u2014 A MUST b", "- **FR-007** _(Implemented)_: A MUST b"),
    *("- `RING-001` A MUST b", "- [ ] FR-006a. A MUST b", "- [AC-1.2] A MUST b", "- ✅ **FR-001**: A MUST b"),
    *("- ☑️ 🚀 [AC-1.2] A MUST b", "- ✅ A MUST b", "- [-] 1\ufe0f\u20e3 A MUST b", "[ ] ❌ A MUST b"),
    *("| What |\n|-|\n| ☑️ A MUST b |", "R1.1 A MUST b", "- R12.3: A MUST b", "- 1.1 A MUST b"),
    *("**NFR-2**: A MUST b. It MAY c.", "| # | What |\n|-|-|\n| 1.2 | A MUST b |"),
    # These are no ids.
    *("- UTF-8 MUST be used", "- 1.5 GB MUST fit", "- FR-001 MUST come first"),
    *("- FR-001, FR-002: they MUST fit", "- [AC-1.2: A MUST b", "- [1.2] A MUST b", "- [RING-1] a MUST b"),
]


def test_requirements_of_markdown(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% Each Markdown list item, table row or other sentence with an RFC 2119 keyword MUST be one requirement. Further
    ##% paragraphs and nested items of a list item MUST be a part of its requirement, except nested items with their
    ##% own ids and, if the list item has no id, nested items with keywords. If a sentence with a keyword introduces a
    ##% list, each item without a keyword MUST be a requirement that begins with this sentence. The requirement of a
    ##% table row MUST contain all cells except its id and cells that only describe the requirement, such as its
    ##% priority or state.
    ##= man/spec/trace.md#requirements-in-markdown
    ##% The text of a requirement MUST NOT contain markup such as bullets, check boxes, emphasis and link targets. In
    ##% Chinese, Japanese and Korean text, duvet MUST recognise keywords without spaces around them.
    ##= man/spec/trace.md#requirements-in-markdown
    ##% An id at the beginning of a list item, paragraph, table row or heading MUST be the name of the requirement and
    ##% not a part of its text.
    for name, texts in (("requirements", REQUIREMENTS), ("sentences", SENTENCES), ("ids", IDS)):
        found = ["\n".join([repr(text), *(f"  {one}" for one in list_requirements(text))]) for text in texts]
        snapshot.assert_match("\n".join(found) + "\n", f"specs/markdown_{name}.txt")


def test_rows_with_only_a_keyword() -> None:
    rows = ["| The pot is warm | MUST | Open | |", "| | MUST | | |", "| | SHALL | | |", "| | MUST b | | |"]
    table = "\n".join(["| Req | Priority | Status | Notes |", "|-|-|-|-|", *rows])
    assert list_requirements(table) == ["MUST: The pot is warm", "MUST: MUST b"]
    (section,) = sections(f"# Spec\n\n{table}")
    assert section.plain
    reason = "keyword without other words"
    assert [(one.reason, one.text) for one in section.plain.uncounted] == [(reason, "MUST"), (reason, "SHALL")]


def test_code_comments_and_front_matter_hold_no_requirements() -> None:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% duvet MUST NOT find requirements in code, comments or front matter.
    text = "---\ntitle: A MUST b.\n---\n# Spec\n\n```\nA MUST b.\n```\n\n    A MUST b.\n\n<!--\nA MUST b.\n-->\n"
    (section,) = sections(text)
    assert (section.title, section.plain and section.plain.statements) == ("Spec", ())


def test_keywords_in_any_case() -> None:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% With `keywords = "any"`, duvet MUST also recognise `must`, `shall` and `should` in lower case.
    text = "A must b. C Should d. E may f. G MAY h. A must-have.\n"
    assert list_requirements(text) == ["MAY: G MAY h."]
    assert list_requirements(text, any_case=True) == ["MUST: A must b.", "SHOULD: C Should d.", "MAY: G MAY h."]
    (section,) = sections(f"# Spec\n\n{text}")
    assert section.plain
    assert [(one.reason, one.text, one.start) for one in section.plain.uncounted] == [
        ("lower-case keyword", "A must b.", 8),
        ("lower-case keyword", "C Should d.", 18),
    ]


def test_a_warning_about_keywords_in_lower_case() -> None:
    for keys, expected in [
        ("", ["2 sentences use lower-case keywords and are not counted"]),
        ("keywords = 'any'", []),
        ("keywords = 'uppercase'", []),
        ("requirements = 'ids'", []),
    ]:
        config = f"'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'spec.md'\n{keys}\n"
        files = {".duvet/config.toml": config.encode(), "spec.md": b"# A\n\nB must c. D MUST e.\n\n- F should g.\n"}
        problems = Project(tree=MemoryTree(files)).trace.problems
        assert [one.message for one in problems] == expected
        hint = 'set `keywords = "any"` to count lower-case keywords, or `keywords = "uppercase"` to ignore them; `duvet report -v` shows where the first few are'
        assert [(one.code, one.path, one.place.line, one.hint) for one in problems] == [
            ("DUV048", ".duvet/config.toml", 3, hint) for _ in expected
        ]


def test_requirements_with_ids_alone() -> None:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% With `requirements = "ids"`, the list items, table rows, paragraphs and headings with an id MUST be the only
    ##% requirements.
    text = "A MUST b.\n\n- **FR-1**: log\n- wait\n\n| Req | Test |\n|-|-|\n| FR-1 | a.py |\n\n- SC-1: [placeholder]\n"
    assert list_requirements(text, needs_id=True) == ["AUTO FR-1: log"]
    assert list_requirements("A MUST b.\n\n- REQ: c\n- X_7 d\n", needs_id=True, ids=r"X_\d+") == ["AUTO X_7: d"]


def test_words_without_markup() -> None:
    for text, expected in [
        ("- [ ] **A** _b_ [c](d) `*e*` <b>f</b> &lt;", "A b c *e* f <"),
        ("a_b_c 2 * 3 * 4", "a_b_c 2 * 3 * 4"),
        ("> a\n> b", "a b"),
    ]:
        assert remove_markup(text) == expected


def test_the_map_to_the_bytes_of_the_file() -> None:
    text = "# T\n\nCaf\u00e9 **MUST** `b\nc` &amp; d" + "\u00e9" * 600 + " e.\n"
    (section,) = sections(text)
    assert section.plain
    data, plain = text.encode(), section.plain
    for word in ("MUST", "b", "c", " e."):
        start = plain.byte_at(plain.text.index(word, 5))
        assert data[start : start + len(word)].decode() == word
    amp = plain.text.index("&")
    assert data[plain.byte_at(amp) : plain.byte_at(amp + 1)] == b"&amp;"
