"""Sentence vectors that somebody made: taken under the data set's own name where they agree with ours, else refused."""

import io
import tarfile
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from pulens.benchmark import datasets

from pulens.cli import main
from pulens.errors import InputError
from pulens.research.benchmark.datasets import DATASETS, DataUnavailableError, imdb, newsgroups20
from pulens.research.benchmark.datasets._vectors import TextVectors, labels_digest, make_vectors

COUNTS = {"train": 6, "test": 4}
OURS = {part: np.random.default_rng(len(part)).normal(0, 0.05, (rows, 8)) for part, rows in COUNTS.items()}
CODES = {part: (np.arange(rows) % 2).astype(np.uint8) for part, rows in COUNTS.items()}


class Small(TextVectors):
    """A data set of ten texts whose vectors are known."""

    @property
    def sample(self):
        result = {f"places_{part}": np.array([0, 3]) for part in COUNTS}
        return result | {f"X_{part}": OURS[part][[0, 3]].astype(np.float16) for part in COUNTS}


def texts(_):
    return {part: ([f"{part} {row}" for row in range(rows)], CODES[part]) for part, rows in COUNTS.items()}


def encode(written, off=0.0):
    return np.array([OURS[text.split()[0]][int(text.split()[1])] for text in written]) + off


SMALL = Small(texts, "small_made.npz", labels_digest({f"y_{part}": CODES[part] for part in COUNTS}), ("neg", "pos"))


def test_vectors_are_made_of_texts_and_read_again(tmp_path):
    made = make_vectors(SMALL, None, tmp_path, encode)
    assert (made.path.name, made.rows) == ("small_made.npz", 10)
    assert made.difference < 1e-4
    result = SMALL.arrays(made.path)
    np.testing.assert_allclose(result["X_test"], OURS["test"], atol=1e-3)
    assert result["y_train"].tolist() == CODES["train"].tolist()


def test_vectors_of_another_model_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(InputError, match=r"differ from ours by up to 0\.0[23].*all-MiniLM-L6-v2"):
        make_vectors(SMALL, None, tmp_path, lambda written: encode(written, 0.02))
    assert not list(tmp_path.iterdir())


def test_texts_in_another_order_are_refused_before_anything_is_encoded(tmp_path):
    other = replace(SMALL, texts=lambda _: {part: (own, codes[::-1]) for part, (own, codes) in texts(None).items()})
    with pytest.raises(InputError, match="not those of the data set"):
        make_vectors(other, None, tmp_path, lambda _: pytest.fail("encoded"))


def test_a_file_that_somebody_made_is_loaded_under_the_data_sets_name(tmp_path, monkeypatch):
    facts = replace(DATASETS["imdb"], vectors=SMALL)
    monkeypatch.setattr(datasets, "find", lambda name: facts)
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("PULENS_MIRROR", raising=False)
    with pytest.raises(DataUnavailableError, match="`pulens bench vectors imdb` makes such a file"):
        datasets.load("imdb")
    make_vectors(SMALL, None, tmp_path, encode)
    assert datasets.load("imdb").y.tolist() == [False, True] * 3
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PULENS_MIRROR", str(tmp_path))
    assert datasets.load("imdb").X_test.shape == (4, 8)


def test_reviews_are_read_from_the_makers_archive_and_from_its_folder(tmp_path):
    tree = {
        f"{part}/{kind}/{number}_{7}.txt": f"{part} {kind} {number}"
        for part in COUNTS
        for kind in ("pos", "neg")
        for number in (10, 9)
    }
    tree |= {"train/unsup/0_0.txt": "nobody's", "README": "about"}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        for name, text in tree.items():
            member = tarfile.TarInfo(f"aclImdb/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
            place = tmp_path / "aclImdb" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    for place in (tmp_path / "a.tar.gz", tmp_path / "aclImdb"):
        result = imdb.read_texts(place)
        assert result["test"][0] == ["test neg 9", "test neg 10", "test pos 9", "test pos 10"]
        assert result["train"][1].tolist() == [0, 0, 1, 1]


def test_posts_are_read_from_a_file(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(
        pa.table({"text": ["a", "b", "c"], "label": [3, 1, 2], "split": ["train", "test", "train"]}),
        tmp_path / "t.parquet",
    )
    result = newsgroups20.read_texts(tmp_path / "t.parquet")
    assert (result["train"][0], result["train"][1].tolist(), result["test"][0]) == (["a", "c"], [3, 2], ["b"])


def test_one_long_post_does_not_take_its_room_for_every_post(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = ["long " * 100_000, *["short"] * 99]
    pq.write_table(
        pa.table({"text": texts, "label": [1] * 100, "split": ["train", "test"] * 50}), tmp_path / "t.parquet"
    )
    tracemalloc.start()
    try:
        assert len(newsgroups20.read_texts(tmp_path / "t.parquet")["train"][0]) == 50
        assert tracemalloc.get_traced_memory()[1] < 2e7  # 100 times 2 MB as an array of words
    finally:
        tracemalloc.stop()


def test_without_the_library_the_command_says_what_to_install(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(SystemExit) as ended:
        main(["bench", "vectors", "imdb", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "pulens[text]" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["newsgroups20", "imdb"])
def test_our_own_vectors_pass_the_check_that_others_must_pass(shared, name):
    with np.load(shared / "data" / f"{name}_minilm.npz") as stored:
        arrays = {key: stored[key] for key in stored.files}
    vectors = DATASETS[name].vectors
    assert vectors.check(arrays, "ours") == 0
    assert tuple(arrays["classes"].tolist()) == vectors.classes
    moved = arrays | {"X_test": np.roll(arrays["X_test"], 1, axis=0)}
    with pytest.raises(InputError, match="differ from ours"):
        vectors.check(moved, "moved")


def test_a_set_that_is_not_made_of_texts_and_texts_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"'mnist' is not made of texts; 'imdb', 'newsgroups20' are"):
        datasets.make("mnist")
    with pytest.raises(InputError, match="there are no texts"):
        datasets.make("imdb", texts=tmp_path / "nowhere")
