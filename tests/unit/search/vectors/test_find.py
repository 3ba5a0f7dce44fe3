"""The model that there is"""

from __future__ import annotations

import sys

import pytest

from duvet.errors import DuvetError
from duvet.queries.embeddings import DummyEmbedder, PurePythonMatrix, find_embedder
from duvet.store.records import VectorSegment
from tests.unit.search.vectors.made import TEXTS, cosine, unpacked


@pytest.mark.parametrize("missing", ["numpy", "wordllama"])
def test_the_extra_is_named_where_it_is_missing(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert find_embedder() is find_embedder(False) is None
    with pytest.raises(DuvetError, match="search by meaning needs the extra `semantic`") as raised:
        find_embedder(True)
    assert raised.value.hint == "install it: pip install 'duvet-cli[semantic]'"


def test_what_is_installed_is_found() -> None:
    assert find_embedder(False) is None
    for found in (find_embedder(), find_embedder(True)):
        assert found is not None
        assert found.name.startswith("wordllama 0.")
        assert found.width == 256


def test_dummies_tell_equal_texts() -> None:
    dummy = find_embedder(False, dummy=True)
    assert isinstance(dummy, DummyEmbedder)
    space = dummy.fitted(TEXTS)
    assert dummy.space(space.data) is not None
    assert dummy.space(b"") is None
    rows = space.rows(TEXTS)
    assert [round(cosine(one, one), 5) for one in unpacked(space, rows)] == [1.0] * len(TEXTS)
    matrix = PurePythonMatrix(space.width, [VectorSegment(tuple(range(len(TEXTS))), rows)])
    for at, text in enumerate(TEXTS):
        ((found, score),) = matrix.best(space.query(text), 1)
        assert (found, round(score, 5)) == (at, 1.0)
