import sys
from pathlib import Path

import pytest

from tests.bench import clients, knowledge, notes
from tests.bench.clients import load, talking, talking_http
from tests.bench.knowledge import FEW, MANY, Size, sentences_of
from tests.bench.measure import ROOT, FailedError
from tests.bench.rows import Edit
from tests.bench.server import ARGUMENTS, COUNT, ELSEWHERE, RIGHT, TOGETHER, WRONG, arguments_of, citation_calls, edited
from tests.bench.watching import waits
from tests.cli.sample_project import KETTLE, make
from tests.cli.tea_project import TEA_PROJECT

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="clock and memory of another process are those of Linux")
SENTENCES = (
    "The server resumes a session when the ticket that it receives has not expired yet.",
    "Every record carries a number that the receiver compares with those it has seen before.",
)
HTTP = ("--http", "0", "--rate", "0")


@pytest.fixture(autouse=True)
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((knowledge, "CALLS"), (notes, "CALLS"), (clients, "EACH")):
        monkeypatch.setattr(module, name, 5)


@on_linux
def test_a_gateway_feedback_texts_and_backups_are_measured(duvet_command: str, tmp_path: Path) -> None:
    figures = list(knowledge.measure_gateway(duvet_command, tmp_path, 30, SENTENCES))
    assert [figure.name for figure in figures] == [
        "km-search through a gateway, to the same without",
        *(f"{what} is kept, {part} in ms" for what in ("feedback", "a text") for part in ("p50", "p99")),
        *("a backup, ms", "a restore, ms", "the archive, to the store"),
    ]
    assert all(figure.value > 0 for figure in figures)


SEARCHED = ("km-search, p50 in ms", "km-search, p99 in ms")
AT_ONCE, MEMORY = "8 clients, ms for each answer", "memory of the server, MB"
VECTORS = ("indexed with vectors, ms for each thousand", "indexed again, ms")


@on_linux
@pytest.mark.parametrize(
    ("size", "names"),
    [
        (FEW, ("indexed by words, ms for each thousand", *VECTORS, *SEARCHED, MEMORY)),
        (MANY, (*VECTORS, "room on disk, to what it may be", *SEARCHED, AT_ONCE, MEMORY)),
    ],
)
def test_indexing_and_searching_are_measured(
    duvet_command: str, tmp_path: Path, size: Size, names: tuple[str, ...]
) -> None:
    figures = list(knowledge.measure_index(duvet_command, tmp_path, size, 30, SENTENCES))
    assert [figure.name for figure in figures] == [f"{size.name}: {name}" for name in names]
    assert all(figure.value > 0 for figure in figures)


def test_sentences_are_read_from_rfcs(tmp_path: Path) -> None:
    text = "   " + SENTENCES[0].replace(" when", "\n   when") + "\n   +-----+\n   | Box |\n   +-----+\n"
    (tmp_path / "rfc1.txt").write_text(text)
    assert list(sentences_of(tmp_path)) == [SENTENCES[0]]


@on_linux
def test_pages_are_measured(duvet_command: str, tmp_path: Path) -> None:
    notes.make_pages(tmp_path, 20)
    assert (tmp_path / "docs/page-3.md").read_text().count("[[page-") == notes.LINKS
    figures = list(notes.measure_pages([duvet_command, "mcp", *HTTP], tmp_path, 1.0))
    calls = ("get_page", "get_connections", "search of one word", "search of six words", "list_pages")
    assert [figure.name for figure in figures] == [
        "pages: start to the first answer, ms of CPU",
        "pages: start to the first answer, cu",
        "pages: start to the first search, cu",
        *(f"pages: {call}, {unit}" for call in (*calls, "search after an edit") for unit in ("p50 in ms", "ms of CPU")),
        "pages: memory, MB",
    ]


@on_linux
def test_a_server_is_asked_and_watched(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, TEA_PROJECT)
    with talking([duvet_command, "mcp"], tmp_path) as server:
        server.greet()
        greeted = server.cpu
        server.begin()
        tools = arguments_of(server)
        assert ARGUMENTS.keys() <= tools.keys()
        assert tools["get_citation_context"]["context_lines"] == 2
        assert server.ask("ping", {}) == {}
        with pytest.raises(FailedError, match="Method not found"):
            server.ask("no/such", {})
        with pytest.raises(FailedError, match="not_found"):
            server.call("get_requirement_status", {"req_identifier": "ffffffffffff"})
        verdicts = {}
        for (tool, what), several in citation_calls(server).items():
            assert len(several) == COUNT // (TOGETHER if tool == "validate_citations" else 1)
            if tool == "validate_citation":
                verdicts[what] = {server.call(tool, one)["structuredContent"]["valid"] for one in several[:20]}
        assert verdicts == {RIGHT: {True}, WRONG: {False}, ELSEWHERE: {False}}
        figure = edited(server, Edit(tmp_path / "src/pot.rs"))
        assert (figure.value > 0, figure.goal) == (True, 300)
        assert 0 < greeted < server.cpu and server.memory > 1


@on_linux
def test_a_server_is_asked_over_http_by_one_and_by_many(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, TEA_PROJECT)
    with talking_http([duvet_command, "mcp", *HTTP], tmp_path) as server:
        tools = {"coverage_summary": arguments_of(server)["coverage_summary"]}
        assert server.memory > 1
        with pytest.raises(FailedError, match="Method not found"):
            server.ask("no/such", {})
        with pytest.raises(FailedError, match="Unknown tool"):
            load(server.where, {"no_such": {}})
        assert min(load(server.where, tools)) > 0


@on_linux
def test_the_idle_server_has_a_tool_that_does_nothing() -> None:
    with talking_http([sys.executable, "-m", "tests.bench.idle"], ROOT) as server:
        assert server.call("nothing", {})["content"][0]["text"] == "{}"


def test_each_edit_is_answered_by_a_watching_report(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, KETTLE)
    found = waits([duvet_command, "report", "--watch"], tmp_path, Edit(tmp_path / "src" / "a.rs"), 3, pause=0)
    assert len(found) == 3
    assert all(0 < reports < summary for reports, summary in found)


def test_a_command_that_ends_is_an_error(tmp_path: Path) -> None:
    with talking([sys.executable, "-c", "input()"], tmp_path) as server, pytest.raises(FailedError, match="has ended"):
        server.greet()
    with pytest.raises(FailedError, match="has ended\nbroken\n"):
        waits([sys.executable, "-c", "import sys; sys.exit('broken')"], tmp_path, lambda: None, 1)
    silent = [sys.executable, "-c", "print('serving')"]
    with pytest.raises(FailedError, match="doesn't serve"), talking_http(silent, tmp_path):
        pass
