from duvet.project.project import Project
from duvet.trace.match import is_meaningful_edit
from duvet.tree.files import MemoryTree

CONFIG = """'$schema' = 'duvet-cli/config/v1'
[[source]]
language = 'python'
pattern = '*.py'
[[specification]]
source = 'spec.md'
"""
SPEC = """# Spec

- [ ] **FR-001**: System **MUST** authenticate owners by [OAuth 2.0](x).
- **FR-002**: A call MUST
  `stop` and **not** wait 12 s.

The server MUST:
- log
- wait

| ID | Rule | Prio |
|----|------|------|
| R-1 | The pot MUST be warm | P1 |

> It MUST be
> **quick** & caf\u00e9.

```
some code here
```

- **FR-008**: It fails.
- **FR-009**: Errors MUST end it.
- **FR-010**: Errors MUST end it.
"""


def project(*quotes: str, target: str = "spec.md#spec", spec: str = SPEC) -> Project:
    code = "".join(f"##= {target}\n{extra}##% {quote}\npass\n" for quote in quotes for extra in ("", "##= type=test\n"))
    files = {".duvet/config.toml": CONFIG, "spec.md": spec, "a.py": code}
    return Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))


def states(*quotes: str, target: str = "spec.md#spec", spec: str = SPEC) -> tuple[list[str], dict[str, str]]:
    found = project(*quotes, target=target, spec=spec)
    codes = [one.code for one in found.trace.problems if one.path == "a.py"]
    return codes, {one.name or one.text: one.state.words for one in found.requirements if one.state.words != "uncited"}


def test_a_quote_covers_its_requirement() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% With its own schema, duvet MUST also ignore differences in markup between a quote and its section.
    for quote, cited in [
        ("System MUST authenticate owners by OAuth 2.0.", "FR-001"),
        ("System **MUST** authenticate owners by [OAuth 2.0](x).", "FR-001"),
        ("- [ ] **FR-001**: System **MUST** authenticate owners by [OAuth 2.0](x).", "FR-001"),
        ("FR-001 - System __MUST__ authenticate owners by OAuth 2.0.", "FR-001"),
        ("A call MUST stop and not wait 12 s.", "FR-002"),
        ("A call MUST `stop` and *not* wait 12 s.", "FR-002"),
        ("The server MUST: log", "The server MUST: log"),
        ("wait", "The server MUST: wait"),
        ("The pot MUST be warm", "R-1"),
        ("| R-1 | The pot MUST be warm | P1 |", "R-1"),
        ("> It MUST be\n##% > **quick** &amp; caf\u00e9.", "It MUST be quick & caf\u00e9."),
    ]:
        assert states(quote) == ([], {cited: "done"})


def test_parts_of_a_requirement_cover_it_together() -> None:
    ##= man/spec/trace.md#coverage
    ##% With its own schema, duvet MUST count a requirement as completely quoted if annotations quote all of its words.
    parts = ("System MUST", "authenticate owners by", "OAuth 2.0.")
    assert states(*parts[:2]) == ([], {"FR-001": "in progress"})
    assert states(*parts) == ([], {"FR-001": "done"})


MARKED = """# Spec

- **FR-001**: `pot` MUST be [**warm**](x "y").
- The *`cup`*
  **MUST** be _full_
  **now**. **It MUST be `hot`**
- un**MUST** [x][y]

|Rule|
|-|
|**All** MUST~~stop~~ `now`|

[y]: z
"""


def test_markup_that_touches_the_words_belongs_to_them() -> None:
    for quote, texts in [
        ("pot MUST be warm.", ['`pot` MUST be [**warm**](x "y").']),
        ("be warm", ['be [**warm**](x "y")']),
        ("warm", ['[**warm**](x "y")']),
        ("ot MUST", ["ot` MUST"]),
        ("The cup", ["The *`cup`*"]),
        ("cup MUST be full", ["*`cup`*", "**MUST** be _full_"]),
        ("full now.", ["_full_", "**now**."]),
        ("It MUST be hot", ["**It MUST be `hot`**"]),
        ("MUST x", ["MUST** [x][y]"]),
        ("All MUSTstop now", ["**All** MUST~~stop~~ `now`"]),
        ("stop", ["stop~~"]),
    ]:
        trace = project(quote, spec=MARKED).trace
        data = MARKED.encode()
        (match,) = {one for id, one in enumerate(trace.match_of) if one and trace.annotations[id].path == "a.py"}
        assert [data[piece.start : piece.end].decode() for piece in match.pieces] == texts


def test_code_line_ends_and_equal_texts_may_be_quoted() -> None:
    assert states("some code here") == ([], {})
    quote = "The cup MUST be full now. It MUST be hot"
    assert states(quote, spec=MARKED) == ([], {quote: "done"})
    assert states("Errors MUST end it.") == ([], {"FR-009": "done"})
    assert states("Errors MUST end it.", target="spec.md#FR-010") == ([], {"FR-010": "done"})
    # The section contains these words, but another requirement.
    assert states("some code here", target="spec.md#FR-010") == (["DUV050"] * 2, {})


def test_an_edit_must_not_change_the_meaning() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% With its own schema, duvet MUST NOT accept a quote that differs from its section in a word or a number.
    for quote, code in [
        ("A call MUST stop and not wait 13 s.", "DUV050"),
        ("A call MUST stop and now wait 12 s.", "DUV050"),
        ("A call MUSTN stop and not wait 12 s.", "DUV050"),
        ("A call MUST stop and not wait 12 x.", "DUV050"),
        ("A call MUST stop and not wait 12 s!", "DUV051"),
        ("a call MUST stop and not wait 12 s.", "DUV051"),
        ("A call MUST stop and not wait 12 s,", "DUV051"),
    ]:
        assert states(quote)[0] == [code] * 2
    for one, other, expected in [
        ("a 12 b", "a 13 b", True),
        ("a 1.2 b", "a 12 b", True),
        ("a < b", "a > b", True),
        ("must a", "mist a", True),
        ("do not a", "do now a", True),
        ("can't a", "cant a", True),
        ("a 12. b", "a 12, b", False),
        ("water boils", "watr boils", True),
        ("nothing", "nothin", True),
        ("Water boils", "water boils", False),
        ("nothing", "nothing.", False),
    ]:
        assert (is_meaningful_edit(one, other), is_meaningful_edit(other, one)) == (expected, expected)
