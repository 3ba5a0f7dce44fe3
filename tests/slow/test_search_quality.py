import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from duvet.config.service_tables import IngestRule
from duvet.knowledge.ingest.run import ingest_project
from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import FoundChunk, parse_search_request
from duvet.queries.embeddings import find_chunk_embedder
from duvet.store.location import open_store
from duvet.store.sqlite import Store
from tests.conftest import ROOT
from tests.unit.knowledge.ingest.ingest_projects import project
from tests.unit.queries.search_quality import Scores, read, scores, systems


def test_words_and_vectors_find_more_than_either(shared: Path) -> None:
    lines, questions = (read(shared / "retrieval" / f"{name}.jsonl") for name in ("corpus", "queries"))
    measured: dict[str, Scores] = {name: scores(rank, questions) for name, rank in systems(lines).items()}
    words, both = measured["words"], measured["both"]
    # Half the sentences that answer are among the first five; a difference of less than 0.06 is noise.
    assert words.recall_5 >= 0.46 and words.reciprocal >= 0.47
    assert both.recall_5 >= 0.50 and both.reciprocal >= 0.52 and both.recall_20 > words.recall_20
    for alone in (words, measured["vectors"]):
        assert both.recall_5 > alone.recall_5
        assert both.reciprocal > alone.reciprocal


SOURCES = (
    *("duvet", "commands", "reports", "man/spec", "man/build.py", "tests/unit/knowledge", "tests/unit/tools"),
    *("pyproject.toml", "README.md"),
)
_THIS = Path(__file__).relative_to(ROOT).as_posix()
SOME = 40
"""So many names of each kind are looked for."""
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "which tests are missing for a subsystem": ("duvet/knowledge/reports.py",),
    "how are subsystems read from the catalogue": ("duvet/knowledge/ingest/subsystems.py",),
    "parse the front matter of a page": ("duvet/knowledge/pages/", "duvet/knowledge/ingest/chunks.py"),
    "download a specification from the web": ("duvet/specs/",),
    "a quote that does not stand in its section to the letter": ("duvet/trace/", "duvet/project/fixes.py"),
    "files that git ignores": ("duvet/sources/",),
    "send a request to the model of a provider": ("duvet/llm/", "man/spec/ask.md"),
    "compare two catalogues of requirements": ("duvet/queries/",),
    "shell completion": ("duvet/console/completion.py", "duvet/console/completion_values.py", "commands/completion.py"),
    "nearest vectors by cosine": ("duvet/queries/vectors", "duvet/queries/embeddings", "duvet/knowledge/search.py"),
    "render a man page in roff": ("man/build.py",),
    "the steps of a workflow run one after the other": ("duvet/workflows/", "man/spec/workflows.md"),
    "slug of a heading": ("duvet/specs/", "duvet/knowledge/pages/page.py"),
    "where does a comment that cites go in a source file": ("duvet/sources/",),
    "watch the folders of a project for changes": ("duvet/project/changes.py", "duvet/tree/file_events.py"),
    "no API key is ever shown in a message": ("duvet/config/", "duvet/llm/"),
}
"""And where the answers stand."""
Fits = Callable[[FoundChunk], bool]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(str(tmp_path_factory.mktemp("quality") / "store.db"), create=True)
    # This file contains the questions themselves.
    ingest_project(project(ROOT), store, IngestRule(include=SOURCES, exclude=(_THIS,)))
    yield store
    store.close()


@pytest.fixture(scope="module", params=["lexical", "hybrid"])
def engine(request: pytest.FixtureRequest, sources: Store) -> SearchEngine:
    embedder = find_chunk_embedder(IngestRule(), 0) if request.param == "hybrid" else None
    return SearchEngine(sources, embedder, None, str(ROOT))


def ranks(engine: SearchEngine, cases: Mapping[str, Fits]) -> tuple[int, int]:
    places = []
    for query, fits in cases.items():
        results = engine.search(parse_search_request({"query": query, "limit": 5, "include_graph": False})).results
        places.append(next((place for place, one in enumerate(results) if fits(one.chunk)), 5))
    return places.count(0), sum(place < 5 for place in places)


def definitions(sources: Store, form: str) -> Mapping[str, Fits]:
    places = defaultdict[str, set[str]](set)
    for path in sources.artifacts():
        if path.endswith(".py"):
            for one in ast.parse(Path(ROOT, path).read_text(encoding="utf-8")).body:
                if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    places[one.name].add(path)
    names = sorted(name for name, files in places.items() if len(files) == 1 and re.fullmatch(form, name))
    found = names[:: max(1, len(names) // SOME)][:SOME]
    assert len(found) == SOME

    def declares(name: str, path: str) -> Fits:
        # A chunk may begin after the decorators of a function, or end before its name.
        return lambda chunk: chunk.artifact_path == path and any(one.name == name for one in chunk.symbols)

    return {name: declares(name, *places[name]) for name in found}


CLASS, FUNCTION = r"[A-Z][a-z]+(?:[A-Z][a-z]+)+", r"[a-z]+(?:_[a-z]+)+"


@pytest.mark.parametrize("form", [CLASS, FUNCTION])
def test_names_find_what_is_declared(engine: SearchEngine, sources: Store, form: str) -> None:
    cases = definitions(sources, form)
    for asked in (cases, {f"where is {name} used?": fits for name, fits in cases.items()}):
        first, among_five = ranks(engine, asked)
        assert first >= SOME - 2 and among_five >= SOME - 1


def test_questions_find_their_requirements(engine: SearchEngine) -> None:
    def is_at(where: tuple[str, ...]) -> Fits:
        return lambda chunk: chunk.artifact_path.startswith(where)

    first, among_five = ranks(engine, {question: is_at(where) for question, where in QUESTIONS.items()})
    assert first >= len(QUESTIONS) // 2 and among_five >= len(QUESTIONS) - 3
