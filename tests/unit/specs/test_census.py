from pathlib import Path

from hypothesis import given, strategies as st
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.model import RequirementForm
from duvet.specs.census import Census, CensusReason, take_census
from duvet.specs.library import Library
from duvet.specs.locator import locate_specification
from duvet.tree.files import DiskTree, MemoryTree

SPECIFICATION = """\
---
title: The pot MUST be read
---
# Pots that MUST be warm

The pot MUST be warm. It MUST NOT leak, and the lid MUST fit.
The pot must be blue. Its lid should be red.
The word "MUST" is explained. The code `MUST` is not. <!-- It MUST be hidden. -->

    It MUST be indented.

```text
It MUST be fenced.
It MUST be short.
```

The server MUST:

- boil water
- whistle

| id | text | priority |
|---|---|---|
| FR-1 | The spout is made of clay and short | MUST |
| FR-2 | The handle MUST be made of good wood | SHOULD |

See [the pot](pot.md#MUST) and ![a MUST](pot.png).

It MUST be clean.

It MUST be clean.
"""


def count(text: str, form: RequirementForm | None = None, path: str = "spec.md") -> Census:
    chosen = form or RequirementForm()
    library = Library(MemoryTree({path: text.encode()}), "d", forms={path: chosen})
    return take_census(library.load(locate_specification(path)))


def test_each_sentence_with_a_keyword_counts_or_has_a_reason(snapshot: Snapshot) -> None:
    found = count(SPECIFICATION)
    assert found.description == "19 sentences with a keyword, 7 requirements, 3 of them without a keyword"
    snapshot.assert_match("".join(f"{one.description}\n" for one in found.reasons), "specs/census.txt")
    assert found.sentences == found.requirements - found.derived + sum(len(one.lines) for one in found.reasons)
    assert found.lost == ()


TEXT = """\
RFC 7

The text MUST NOT begin here.

1.  Pots that MUST be warm

   The pot MUST be warm.  The word "MUST NOT" is explained.
   The pot must be blue.

   The pot MUST be warm.

Leaf                     A pot MUST be here                    [Page 1]
\f
RFC 7                    A pot MUST be here                    May 2001

   The lid
   SHOULD fit.
"""


def test_sentences_of_ietf_text_are_counted() -> None:
    found = count(TEXT, path="rfc7.txt")
    reasons = {
        "above the first heading": (3,),
        "in a heading": (5,),
        "in quotation marks": (7,),
        "in lower case": (8,),
        "repeated in the same section": (10,),
        "in a page header or footer": (12,),
    }
    assert found == Census(8, 2, 0, tuple(CensusReason(*item) for item in reasons.items()), ())
    assert found.reasons[0].description == "1 above the first heading (line 3)"


def test_a_lost_sentence_is_found() -> None:
    text = b"# Pot\n\nThe pot MUST be warm.\nIt MUST be blue.\n"
    known = Library(MemoryTree({"spec.md": text}), "d", forms={}).load(locate_specification("spec.md"))
    (section,) = known.sections
    assert section.plain is not None
    found = take_census(replace(known, sections=(replace(section, plain=replace(section.plain, statements=())),)))
    assert found == Census(2, 0, 0, (), (3, 4))


WORDS = (
    'The pot |MUST |must |SHOULD NOT |`MUST` |"MUST" |be. |\n|\n\n|- |# |**|<!-- | -->|[a](MUST)|FR-1: |    |```\n|>'
)
PIECES = ["| ", "\n|---|---|\n", *WORDS.split("|"), "\n- FR-2 ", "e.g. ", "1. "]


def test_a_keyword_that_does_not_count_has_a_reason() -> None:
    found = count("# Pot\n\nIt MUST be:\n\n- warm\n- blue\n\nPots.\n\nIt MUST be:\n\n- warm\n- round\n")
    assert found == Census(2, 3, 3, (CensusReason("in the introduction of a list", (3, 10)),), ())
    for text, reason in [
        ("The pot MUST:\n\n- FR-2: boil the water\n", "in the introduction of a list"),
        ("The pot MUST:\n\n- FR-2\n", "in the introduction of a list"),
        ("The pot is a[n](x)MUST.\n", "in a longer word"),
        ("It is a **MUST**ard.\n", "in a longer word"),
    ]:
        found = count(text)
        assert [one.description for one in found.reasons] == [f"1 {reason} (line 1)"]
        assert (found.requirements, found.lost) == ("FR-2:" in text, ())


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.booleans(), st.booleans())
def test_no_sentence_is_lost(text: str, any_case: bool, needs_id: bool) -> None:
    assert count(text, RequirementForm(any_case=any_case, needs_id=needs_id)).lost == ()


# The form of requirements does not matter for RFCs.
def test_no_sentence_of_real_documents_is_lost(shared: Path) -> None:
    for folder, form in [
        *((folder, RequirementForm()) for folder in ("rfc", "markdown", "sdd")),
        ("markdown", RequirementForm(any_case=True)),
        ("sdd", RequirementForm(needs_id=True)),
    ]:
        paths = [str(path) for pattern in ("*.md", "rfc*.txt") for path in (shared / folder).rglob(pattern)]
        library = Library(DiskTree(), "", forms=dict.fromkeys(paths, form))
        found = {path: take_census(library.load(locate_specification(path))).lost for path in paths}
        assert paths and {name: lost for name, lost in found.items() if lost} == {}
