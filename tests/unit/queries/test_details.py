from duvet import MemoryTree
from duvet.queries.details import CitationReader
from duvet.trace.locations import ProjectFiles, read_comment, split_source_text
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.queries.query_projects import make_catalogue


def read_lines(files: dict[str, str], id: str, around: int) -> tuple[str, int, tuple[str, ...]]:
    catalogue = make_catalogue(files)
    reader = CitationReader(catalogue, ProjectFiles(MemoryTree({k: v.encode() for k, v in files.items()}), ""), around)
    found = reader.detail([card.id for card in catalogue.citations].index(id))
    return found.comment_text, found.context_start, found.context_lines


CATALOGUE = make_catalogue(TEA_PROJECT)
CARDS = {card.id: card for card in CATALOGUE.citations}
COMMENT = "//= tea.md#pot\n//# It SHOULD be round, and nobody MAY drop it."


def test_the_lines_around_a_citation_are_shown() -> None:
    for end in ["\n", "\r\n"]:
        text = TEA_PROJECT["src/pot.rs"].replace("\n", end)
        comment = tuple(COMMENT.split("\n"))
        more = ("//# The pot MUST be warm.", *comment, "fn warm(pot: &Pot) {")
        for around, start, lines in ((0, 5, comment), (1, 4, more), (1000, 1, tuple(text.splitlines()))):
            assert read_lines({**TEA_PROJECT, "src/pot.rs": text}, "src/pot.rs:5", around) == (COMMENT, start, lines)


def test_an_entry_of_a_requirement_file() -> None:
    path = ".duvet/exceptions/coffee.toml"
    text, card = TEA_PROJECT[path], CARDS[f"{path}:3"]
    _, _, *entry = text.splitlines()
    assert read_lines(TEA_PROJECT, f"{path}:3", 0) == ("\n".join(entry), 3, tuple(entry))
    assert read_comment(split_source_text(text + "[[exception]]\n"), 3, card.span[1]) == "\n".join(entry)
    # There may be blank lines in its text.
    entry = ["[[spec]]", "quote = '''", "[One", "", "[two]]", "'''", 'level = "MUST"']
    text = "\n".join(['target = "tea.md#pot"', *entry, "", "[[spec]]"])
    assert read_comment(split_source_text(text), 2, card.span[1]) == "\n".join(entry)


def test_a_citation_in_a_deleted_file_has_no_code() -> None:
    detail = CitationReader(CATALOGUE, ProjectFiles(MemoryTree({}), ""), 2).detail(list(CARDS).index("src/pot.rs:5"))
    assert (detail.comment_text, detail.context_lines, detail.line_number) == ("", (), 5)
    assert [row.text for row in detail.requirements] == ["It SHOULD be round, and nobody MAY drop it."]
