from collections.abc import Mapping
from pathlib import Path
from struct import unpack

from duvet.config.service_tables import SearchModel
from duvet.project.project import Project
from duvet.queries.embeddings import Embedder, VectorSpace, find_embedder
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles
from duvet.tree.files import MemoryTree
from tests.sample_project import read_files

PROJECTS = Path(__file__).with_name("projects")
FILES = read_files(PROJECTS / "brewing")
CONFIG = FILES[".duvet/config.toml"]
NUMBERED_FILES = read_files(PROJECTS / "numbered")
RFC = "https://www.rfc-editor.org/rfc/rfc7"
SEARCH_FILES = read_files(PROJECTS / "search")
NO_FILES = ProjectFiles(MemoryTree({}), "")
EMBEDDED_TEXTS = (
    "A client MUST discard a packet that holds an empty token.",
    "The kettle is filled with fresh water and set on the stove.",
    "A certificate that has expired MUST be refused.",
    "Logs are rotated each night.",
    "",
    "--- *** ---",
)


def make_catalogue(files: Mapping[str, str]) -> Catalogue:
    return Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).catalogue


def catalogue_of_files(**changed: str) -> Catalogue:
    return make_catalogue({**FILES, **changed})


def texts(catalogue: Catalogue, indexes: list[int] | tuple[int, ...]) -> list[str]:
    return [catalogue.requirements[index].text for index in indexes]


def embedder() -> Embedder:
    found = find_embedder(SearchModel.STATIC, required=True)
    assert found is not None
    return found


def unpacked(space: VectorSpace, rows: bytes) -> list[list[float]]:
    size = space.width + 4
    vectors = []
    for at in range(0, len(rows), size):
        *numbers, scale = unpack(f"<{space.width}bf", rows[at : at + size])
        vectors.append([number * scale for number in numbers])
    return vectors


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
