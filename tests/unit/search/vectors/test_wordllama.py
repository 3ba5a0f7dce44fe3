"""The vectors of texts"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from struct import pack

from tests.unit.search.vectors.made import TEXTS, cosine, embedder, unpacked

KITCHEN = re.findall(
    r"\w+", "kettle pot cup spoon fork knife plate bowl pan oven stove tea coffee sugar milk butter bread"
)
OFFLINE = """
import socket, sys

def refuse(*args, **options):
    raise AssertionError("somebody asks the network")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from duvet.queries.embeddings import find_embedder
space = find_embedder(True).fitted(["one kettle", "two pots"])
assert len(space.rows(["a kettle"])) == 260
assert not {"tokenizers", "wordllama", "huggingface_hub"} & {*sys.modules}
"""


def test_near_texts_are_near() -> None:
    space = embedder().fitted(TEXTS)
    vectors = unpacked(space, space.rows([*TEXTS, "boil tea", "drop packets without tokens"]))
    assert max(range(6), key=lambda at: cosine(vectors[at], vectors[6])) == 1
    assert max(range(6), key=lambda at: cosine(vectors[at], vectors[7])) == 0


def test_rows_are_of_length_one_or_nothing() -> None:
    ##= man/spec/knowledge.md#vectors
    ##= type=test
    ##% A search by vectors MUST find the nearest chunks of all, and nothing by or for a text without words.
    space = embedder().fitted(TEXTS)
    vectors = unpacked(space, space.rows(TEXTS))
    assert [round(cosine(one, one), 1) for one in vectors] == [1, 1, 1, 1, 0, 0]
    assert space.query("--") == bytes(4 * space.width)
    assert space.rows([]) == b""


def test_a_space_is_had_again() -> None:
    model = embedder()
    space = model.fitted(TEXTS)
    again = embedder().space(space.data)
    assert again is not None
    assert again.data == space.data == model.fitted(TEXTS).data
    assert again.rows(TEXTS) == space.rows(TEXTS)
    assert again.query("a pot of tea") == space.query("a pot of tea")


def test_a_space_of_another_model_is_not_taken() -> None:
    ##= man/spec/knowledge.md#vectors
    ##= type=test
    ##% duvet MUST NOT compare vectors of different models, versions or corpora.
    model = embedder()
    data = model.fitted(TEXTS).data
    version = model.name.split()[1].encode()
    assert version in data
    for other in (b"", b"dummy 1", data[:-1], data[1:], data.replace(version, b"0" * len(version)), b"\x81\xa1a\x01"):
        assert model.space(other) is None


def test_a_space_that_was_overwritten_is_not_taken() -> None:
    model = embedder()
    data = model.fitted(TEXTS).data
    for at, other in (
        (10, b"\xff"),
        (-4, pack("<f", float("nan"))),
        (-4, pack("<f", 9.0)),
        (2000, b"\x7e" * 4),
    ):
        damaged = bytearray(data)
        damaged[at : at + len(other) or None] = other
        assert len(damaged) == len(data) and model.space(bytes(damaged)) is None


def test_what_all_of_many_texts_have_in_common_does_not_count() -> None:
    texts = [" ".join(some) for some in combinations(KITCHEN, 3)]
    few = embedder().fitted(texts[:100])
    many = embedder().fitted(texts)
    nearness = [cosine(*unpacked(space, space.rows(["pan", "bread"]))) for space in (few, many)]
    assert nearness[0] > 0.15 > nearness[1]


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#vectors
    ##= type=test
    ##% duvet MUST compute vectors with what is installed, without the network.
    environ = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", OFFLINE], env=environ, check=True)
    assert [*tmp_path.iterdir()] == []


THREADS = """
import os, sys
import duvet.queries.vectors
assert os.environ.get("OPENBLAS_NUM_THREADS") == (sys.argv[1] or None)
"""


def test_the_environment_stays(tmp_path: Path) -> None:
    for wish in ("", "3"):
        environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environ |= {"OPENBLAS_NUM_THREADS": wish} if wish else {}
        subprocess.run([sys.executable, "-c", THREADS, wish], env=environ, check=True)
