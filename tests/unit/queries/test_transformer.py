from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from duvet.config.service_tables import SearchModel
from duvet.queries import embeddings
from duvet.queries.transformer import MiniLm, MiniLmSpace
from duvet.queries.vectors import np, unpack_rows

TEXTS = (
    "resume a session with a ticket",
    "The server MUST NOT send a frame before the receiver closes the stream, Café, 茶壶.",
    "x",
    "def boil(water):\n    return heat(water)\n" * 40,
)


def find_file(package: str, name: Path) -> Path:
    folder = embeddings._find_folder(package, name)
    assert folder is not None
    return folder / name


@pytest.fixture(scope="module")
def space() -> MiniLmSpace:
    found = embeddings.find_embedder(SearchModel.TRANSFORMER, required=True)
    assert isinstance(found, MiniLm)
    return found.fitted(TEXTS)


@pytest.fixture(scope="module")
def encode() -> Callable[[str], Any]:
    onnxruntime, tokenizers = pytest.importorskip("onnxruntime"), pytest.importorskip("tokenizers")
    model, tokenizer = (find_file(*one) for one in embeddings._TRANSFORMER_FILES)
    splitter = tokenizers.Tokenizer.from_file(str(tokenizer))
    splitter.enable_truncation(256)
    splitter.no_padding()
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])

    def compute(text: str) -> Any:
        ids = np.asarray([splitter.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, {one.name: given[one.name] for one in session.get_inputs()})[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    return compute


def test_vectors_are_those_of_the_model(space: MiniLmSpace, encode: Callable[[str], Any]) -> None:
    for text in TEXTS:
        (row,) = unpack_rows(space.rows([text]), space.width)
        assert float((row[:384] / np.linalg.norm(row[:384])) @ encode(text)) > 0.9999


def test_a_text_has_the_same_vector_in_every_batch(space: MiniLmSpace) -> None:
    assert space.rows(TEXTS) == b"".join(space.rows([text]) for text in TEXTS)


@pytest.mark.parametrize(
    "damage",
    [
        *(itemgetter(slice(size)) for size in (0, 100, 100_000, 20_000_000)),
        lambda data: data.replace(b"layer.3.output.dense.bias", b"layer.3.output.dense.none"),
    ],
)
def test_a_damaged_file_is_a_broken_model(
    damage: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package, name), tokenizer = embeddings._TRANSFORMER_FILES
    whole = find_file(package, name)
    (tmp_path / "broken_model").mkdir()
    (tmp_path / "broken_model" / name).write_bytes(damage(whole.read_bytes()))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(embeddings, "_TRANSFORMER_FILES", (("broken_model", name), tokenizer))
    assert embeddings.find_embedder(SearchModel.TRANSFORMER) is None
    found = embeddings.find_embedder()
    assert found is not None and found.name.startswith("wordllama")
