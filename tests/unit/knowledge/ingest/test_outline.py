"""Headings, links and titles of documents."""

from __future__ import annotations

import pytest

from duvet.errors import DuvetError
from duvet.knowledge.ingest.chunks import (
    DocumentOutline,
    FileRecord,
    HeadingTrails,
    read_document_front,
    read_outline,
)

TEXT = """# Top `code` #

See [a](b.md#x "t"), [c](<d e.md>), ![p](/img/p.png), [[page|label]], [[spec#sec]] and `[no](no.md)`.

Setext
------
[ref]: ../r.md
[web](https://x.org), [mail](mailto:a@b), [here](#top), [odd](a%20b.md?q=1)

```python
# No heading
[no](no.md)
```

- item
---
> quote
===

### Deep
~~~
# Never closed
"""


def test_markdown() -> None:
    found = read_outline("a.md", TEXT)
    assert [(one.level, one.title, TEXT[one.start :].partition("\n")[0]) for one in found.headings] == [
        (1, "Top code", "# Top `code` #"),
        (2, "Setext", "Setext"),
        (3, "Deep", "### Deep"),
    ]
    assert found.links == ("b.md", "d e.md", "/img/p.png", "../r.md", "a b.md")
    assert found.pages == ("page", "spec#sec")


def test_other_languages() -> None:
    rst = "Title\n=====\n\nText\n\nPart\n----\n\nMore\n\nOther\n=====\n"
    adoc = "= Title\n\nText\n\n== Part ==\n"
    assert [(one.start, one.level, one.title) for one in read_outline("a.rst", rst).headings] == [
        (0, 1, "Title"),
        (19, 2, "Part"),
        (36, 1, "Other"),
    ]
    assert [(one.level, one.title) for one in read_outline("a.adoc", adoc).headings] == [(1, "Title"), (2, "Part ==")]
    assert read_outline("a.txt", "# No\n") == DocumentOutline()


def test_trails() -> None:
    text = "intro\n# A\n## B\ntext\n### C\n## D\n# E\n"
    trails = HeadingTrails(read_outline("a.md", text), "Whole")
    named = {word: trails.at(text.index(word), text.index(word) + 1) for word in ("intro", "# A", "text", "# D", "# E")}
    assert named == {
        "intro": "Whole",
        "# A": "Whole > A",
        "text": "Whole > A > B",
        "# D": "Whole > A > D",
        "# E": "Whole > E",
    }
    assert trails.at(0, len(text)) == "Whole > A"
    assert HeadingTrails(DocumentOutline(), "").at(0, 1) == ""


@pytest.mark.parametrize("text", ["`" * 100_000, "# " + " #" * 50_000, "[[" * 50_000, "](<" * 50_000, "= \n" * 50_000])
def test_hostile_texts_end(text: str) -> None:
    assert len(read_outline("a.md", text).headings) < len(text)


def test_front_matter() -> None:
    text = "---\nsubsystem: Ledger\ntitle: A  title\nslug: a\ntags: [money, 1.10, money, {a: b}]\nmore: 1\n---\n"
    assert read_document_front("a.md", text) == FileRecord(
        subsystem="Ledger", title="A title", slug="a", tags=("money", "1.10")
    )
    assert read_document_front("a.md", "---\ntags: a, b\n---\n").tags == ("a", "b")
    assert read_document_front("a.md", "") == FileRecord()
    with pytest.raises(DuvetError):
        read_document_front("a.md", "---\na: &a [x]\nb: *c\n---\n")
