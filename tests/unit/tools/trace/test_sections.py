from functools import partial
from pathlib import Path
from typing import Any

from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import MAX_PAGE_BYTES
from tests.cli.sample_project import make
from tests.cli.tea_project import TEA_PROJECT
from tests.tokens import MOST, tokens
from tests.unit.tools.tool_calls import FILES, TEA, answer, ask, context_in, context_of, describe_calls, value

COVERAGE, SECTION, RESOLVE = "coverage_summary", "get_section", "resolve_spec_id"
CUP = {"reference": "tea.md#cup"}


def test_specifications_and_sections_are_found_by_any_name(context: ProjectSnapshot, answers: Snapshot) -> None:
    unknown = ("https://www.rfc-editor.org/rfc/rfc2325", "docs/pod.md", "/etc/passwd", "")
    calls: list[tuple[str, dict[str, Any]]] = [
        (COVERAGE, {}),
        (COVERAGE, {"spec": "docs/pot.md"}),
        *((RESOLVE, {"url": url}) for url in unknown),
    ]
    found = [describe_calls(partial(ask, context), calls), describe_calls(partial(ask, TEA), [(SECTION, CUP)])]
    answers.assert_match("\n".join(found), "sections.txt")
    for name in ("tea#cup", "cup", "/specifications/tea/sections/cup", "2c79658776d2", "src/pot.rs:14"):
        assert answer(TEA, SECTION, reference=name) == answer(TEA, SECTION, **CUP)


def make_many_specifications(count: int) -> dict[str, str]:
    rules = "".join(f"[[specification]]\nsource = 'docs/a{number}.md'\n" for number in range(count))
    texts = {f"docs/a{number}.md": f"# A {number}\n\nOne MUST. Two SHOULD.\n" * (number + 1) for number in range(count)}
    return {**FILES, ".duvet/config.toml": FILES[".duvet/config.toml"] + rules, **texts}


def test_of_many_specifications_the_levels_are_left_out() -> None:
    context = context_of(make_many_specifications(60))
    total = ask(ProjectSnapshot(context.project, context.catalogue, 0), COVERAGE).value.total  # type: ignore[attr-defined]
    found, words = answer(context, COVERAGE)
    assert words == "Set spec to see the levels of one specification."
    assert len(found["specifications"]) == 62 and not any("levels" in one for one in found["specifications"])
    assert found["total"]["requirements"] == total.requirements
    assert len(json.encode(ask(context, COVERAGE).value)) <= MAX_PAGE_BYTES


MANY = "if it is an afternoon with many guests, and if each of them likes sugar"
TEXT = "\n".join(f"{number:05} grains of sugar, counted by hand; they MAY be more, {MANY}." for number in range(1000))
LONG = context_of({**TEA_PROJECT, "tea.md": f"{TEA_PROJECT['tea.md']}\n{TEXT}\n"})


def test_a_long_section_comes_in_parts() -> None:
    parts, offset = [], 0
    while offset is not None:
        found, step = answer(LONG, SECTION, reference="tea#sugar", offset=offset)
        assert len(json.encode(found)) < MAX_PAGE_BYTES * 1.1
        assert ("requirements" in found) == (offset == 0)
        assert all(len(row["text"]) <= 100 for row in found.get("requirements", ()))
        parts.append(found["content"])
        offset = found.get("next_offset")
        more = f"The text has {len(TEXT)} characters; for the rest, set offset={offset}."
        assert step == (more if offset else "")
    assert "".join(parts) == TEXT and len(parts) > 4
    # More or less of it can be asked for.
    found = value(LONG, SECTION, reference="tea#sugar", offset=6, limit=150_000)
    assert found["content"] == TEXT[6:] and "next_offset" not in found
    assert value(LONG, SECTION, reference="tea#cup", limit=5)["content"] == "A cup"
    found, step = answer(LONG, SECTION, reference="tea#cup", offset=1_000_000)
    assert step == "offset=1000000 is not inside the text, which has 42 characters."
    assert found["content"] == "" and "next_offset" not in found
    # A dump of octets is cut earlier than words.
    dump = "\n".join(" ".join(f"{(line * 16 + octet) * 37 % 256:02x}" for octet in range(16)) for line in range(400))
    tea = context_of({**TEA_PROJECT, "tea.md": f"{TEA_PROJECT['tea.md']}\n{dump}\n"})
    content = value(tea, SECTION, reference="tea#sugar")["content"]
    assert dump.startswith(content) and content.endswith("\n")
    assert 2_500 < tokens(content) < MOST


SPELLINGS = [
    *("https://www.rfc-editor.org/rfc/rfc2324", "http://www.rfc-editor.org/rfc/rfc2324"),
    *("https://rfc-editor.org/rfc/rfc2324.txt", "https://www.rfc-editor.org/rfc/rfc2324.html"),
    *("https://www.rfc-editor.org/rfc/rfc2324.pdf", "https://www.rfc-editor.org/info/rfc2324"),
    *("https://www.rfc-editor.org/rfc/rfc2324.html#section-2.1.1", "https://www.rfc-editor.org:443/rfc/rfc2324/"),
    *("HTTPS://WWW.RFC-EDITOR.ORG/RFC/RFC2324.TXT", "www.rfc-editor.org/rfc/rfc2324"),
    *("https://tools.ietf.org/html/rfc2324#section-2", "https://tools.ietf.org/rfc/rfc2324.txt"),
    *("https://datatracker.ietf.org/doc/html/rfc2324", "https://datatracker.ietf.org/doc/html/rfc2324#section-2.1"),
    *("https://datatracker.ietf.org/doc/rfc2324/", "https://datatracker.ietf.org/doc/rfc2324/?include_text=1"),
    *("https://www.ietf.org/rfc/rfc2324.txt", "https://doi.org/10.17487/RFC2324", "doi:10.17487/RFC2324"),
    *("urn:ietf:rfc:2324", "RFC 2324", "rfc2324", "RFC-2324", " rfc 2324#section-2 ", "/specifications/rfc2324"),
    "duvet:///specifications/rfc2324/sections/section-2.1",
]
LISTS: dict[str, dict[str, Any]] = {"list_uncited_requirements": {}, "get_prioritized_requirements": {}, COVERAGE: {}}
LISTS["search_requirements"] = {"query": "coffee"}


def test_a_specification_is_known_in_every_spelling(context: ProjectSnapshot, tmp_path: Path) -> None:
    expected = {tool: value(context, tool, spec="rfc2324", **more) for tool, more in LISTS.items()}
    assert [] not in expected.values()
    for url in SPELLINGS:
        assert answer(context, RESOLVE, url=url) == ({"spec_id": "rfc2324"}, "")
        assert {tool: value(context, tool, spec=url, **more) for tool, more in LISTS.items()} == expected, url
        if "/specifications/" not in url:
            name = url.partition("#")[0].strip()
            assert value(context, SECTION, reference=f"{name}#section-2.1")["id"] == "section-2.1"
    context, root = context_in(make(tmp_path, FILES)), tmp_path.as_posix()
    spellings = ["docs/pot.md", "./docs/pot.md", "docs/pot.md#lid", "docs\\pot.md", "docs/../docs/pot.md", "Pot", "pot"]
    for url in [*spellings, f"{root}/docs/pot.md", f"file://{root}/docs/pot.md#lid"]:
        assert value(context, RESOLVE, url=url) == {"spec_id": "pot"}
