"""Data sets say where they come from, are checked before use, and count what the papers count."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from pulens.benchmark import datasets
from pulens.synthesis import synthesise

from pulens.errors import PulensError
from pulens.research.benchmark.datasets import (
    DATASETS,
    DataFile,
    Dataset,
    DataUnavailableError,
    LabelledData,
    Originals,
)
from pulens.research.benchmark.datasets._fetch import digest, fetch, fetch_arrays
from pulens.research.benchmark.datasets.idx_pictures import read_idx


@pytest.mark.parametrize("name", DATASETS)
def test_a_data_set_says_what_it_is(name):
    facts = DATASETS[name]
    assert all([facts.title, facts.source, facts.licence, facts.citation, facts.positive])
    assert facts.build.__doc__
    assert facts.rows > 0
    assert facts.positives is None or 0 < facts.positives < facts.rows
    assert bool(facts.files) != bool(facts.read), "files to fetch, or a way of its own"
    for file in facts.files:
        assert file.sha256 is not None
        assert len(file.sha256) == 64
    if facts.originals is not None:
        assert len(facts.originals.digest) == 64
        assert all(file.url for file in facts.originals.files)


@pytest.mark.parametrize("name", [name for name in DATASETS if DATASETS[name].read and name != "adni"])
def test_bundled_sets_need_no_file(name):
    result = datasets.load(name)
    assert (len(result.X), int(result.y.sum())) == (DATASETS[name].rows, DATASETS[name].positives)


# --- getting files, on generated ones -------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache, a mirror, and no network."""
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PULENS_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("PULENS_OFFLINE", "1")
    (tmp_path / "mirror").mkdir()
    return tmp_path


def stored(home, **arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    (home / "mirror" / "small.npz").write_bytes(buffer.getvalue())
    return DataFile("small.npz", hashlib.sha256(buffer.getvalue()).hexdigest())


def small(file, **more):
    return Dataset(
        title="Small",
        source="nowhere",
        licence="none",
        citation="nobody",
        positive="ones",
        build=lambda arrays: LabelledData(arrays["X"], arrays["y"] == 1),
        kind="table",
        rows=3,
        positives=1,
        files=(file,),
        **more,
    )


def test_a_file_comes_from_the_mirror_into_the_cache(home, monkeypatch):
    file = stored(home, X=np.arange(3.0), y=np.array([0, 1, 0]))
    arrays = fetch_arrays("small", small(file))
    np.testing.assert_array_equal(arrays["X"], [0, 1, 2])
    monkeypatch.delenv("PULENS_MIRROR")
    assert fetch(file) == home / "cache" / "small.npz"


@pytest.mark.parametrize("damage", [b"", b"\x00" * 64, None])
def test_a_corrupted_cache_file_is_fetched_again_and_never_used(home, damage):
    file = stored(home, X=np.arange(3.0))
    path = fetch(file)
    good = path.read_bytes()
    path.write_bytes(good[:-1] + b"?" if damage is None else damage)
    assert fetch(file).read_bytes() == good


def test_a_tampered_mirror_is_refused_and_leaves_nothing_behind(home):
    file = stored(home, X=np.arange(3.0))
    (home / "mirror" / "small.npz").write_bytes(b"something else")
    with pytest.raises(DataUnavailableError, match=r"small.npz is not the file it should be.*the mirror"):
        fetch(file)
    assert not (home / "cache" / "small.npz").exists()


def test_a_missing_file_names_the_variables_and_the_source(home, monkeypatch):
    file = DataFile("small.npz", "0" * 64)
    with pytest.raises(
        DataUnavailableError, match=r"PULENS_OFFLINE forbids the network.*PULENS_DATA_HOME.*Source: nowhere"
    ):
        fetch_arrays("small", small(file))
    monkeypatch.delenv("PULENS_OFFLINE")
    with pytest.raises(DataUnavailableError, match=r"no address of its own. Set PULENS_MIRROR.*SHA-256 is 000"):
        fetch_arrays("small", small(file))


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


def test_the_makers_files_are_converted_and_checked(home, monkeypatch):
    rng = np.random.default_rng(0)
    arrays = {
        "X_train": rng.integers(0, 256, (5, 4, 4), dtype=np.uint8),
        "y_train": np.arange(5, dtype=np.uint8),
        "X_test": rng.integers(0, 256, (2, 4, 4), dtype=np.uint8),
        "y_test": np.arange(2, dtype=np.uint8),
    }
    names = ("train-images", "train-labels", "t10k-images", "t10k-labels")
    contents = {f"{name}.gz": idx(array) for name, array in zip(names, arrays.values(), strict=True)}
    served = []

    def download(url):
        def write(url, output_file, pooch):
            served.append(url)
            with open(output_file, "wb") as file:
                file.write(contents[url.rsplit("/", 1)[1]])

        return write

    monkeypatch.setattr("pooch.downloaders.choose_downloader", download)
    monkeypatch.delenv("PULENS_OFFLINE")
    monkeypatch.delenv("PULENS_MIRROR")
    files = tuple(DataFile(name, None, f"https://example.org/{name}") for name in contents)
    facts = small(DataFile("small.npz", "0" * 64), originals=Originals(files, read_idx, digest(arrays)))
    result = fetch_arrays("small", facts)
    for key, array in arrays.items():
        np.testing.assert_array_equal(result[key], array)
    assert len(served) == 4
    fetch_arrays("small", facts)
    assert len(served) == 4, "from the cache"
    (home / "cache" / "train-labels.gz").write_bytes(b"damaged")
    fetch_arrays("small", facts)
    assert len(served) == 8, "fetched again"
    wrong = replace(facts, originals=replace(facts.originals, digest="1" * 64))
    with pytest.raises(DataUnavailableError, match="do not hold the expected data"):
        fetch_arrays("small", wrong)
    assert not list((home / "cache").glob("*.gz"))


def test_spambase_from_the_archive_of_uci(tmp_path):
    table = np.column_stack([np.round(np.random.default_rng(0).random((6, 57)), 2), [1, 0, 1, 0, 0, 1]])
    lines = "\n".join(",".join(f"{value:g}" for value in row) for row in table)
    with zipfile.ZipFile(tmp_path / "spambase.zip", "w") as archive:
        archive.writestr("spambase.data", lines)
    arrays = datasets.find("spambase").originals.convert({"spambase.zip": tmp_path / "spambase.zip"})
    np.testing.assert_allclose(arrays["X"], table[:, :-1])
    np.testing.assert_array_equal(arrays["y"], [1, 0, 1, 0, 0, 1])
    assert datasets.find("spambase").build(arrays).y.sum() == 3


def test_cifar_from_the_makers_archive_and_from_strips(tmp_path):
    import tarfile

    from pulens.research.benchmark.datasets.cifar10 import ARCHIVE, convert, unpack

    rng = np.random.default_rng(0)
    rows = rng.integers(0, 256, (6, 3073), dtype=np.uint8)
    rows[:, 0] = [0, 1, 2, 3, 8, 9]
    with tarfile.open(tmp_path / ARCHIVE, "w:gz") as archive:
        for name, part in (("data_batch_1.bin", rows[:4]), ("test_batch.bin", rows[4:])):
            information = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            information.size = part.nbytes
            archive.addfile(information, io.BytesIO(part.tobytes()))
    arrays = convert({ARCHIVE: tmp_path / ARCHIVE})
    result = datasets.find("cifar10").build(arrays)
    assert result.X.shape == (4, 3, 32, 32)
    assert result.y.tolist() == [True, True, False, False]
    assert result.y_test.tolist() == [True, True]
    strip = io.BytesIO()
    pictures = result.X.transpose(0, 2, 3, 1)
    Image.fromarray(pictures.reshape(-1, 32, 3)).save(strip, "WEBP", lossless=True, exact=True)
    packed = np.frombuffer(strip.getvalue(), np.uint8)
    np.testing.assert_array_equal(unpack(packed, np.array([0, packed.size])), result.X)
    assert result.prepared().max() <= 1


def test_adni_from_a_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.delenv("PULENS_ADNI", raising=False)
    with pytest.raises(DataUnavailableError, match=r"may not be passed on.*PULENS_ADNI"):
        datasets.load("adni")
    for place, stage in enumerate(("NonDemented", "VeryMildDemented", "ModerateDemented", "MildDemented")):
        (tmp_path / stage).mkdir()
        for number in range(2):
            Image.fromarray(np.full((20, 24), 40 * place + number, np.uint8)).save(tmp_path / stage / f"{number}.png")
    result = datasets.load("adni", folder=str(tmp_path))
    assert result.X.shape == (8, 1, 128, 128)
    assert result.y.tolist() == [True] * 2 + [False] * 6
    assert result.prepared().min() == -1
    with pytest.raises(PulensError, match="'place' is not an option of the data set 'adni'; it takes 'folder'"):
        datasets.load("adni", place="x")


def test_adni_in_the_two_folders_of_its_makers_keeps_their_test_rows(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for part, many in (("train", 2), ("Test", 1)):
        for stage in ("NonDemented", "VeryMildDemented", "ModerateDemented", "MildDemented"):
            (tmp_path / part / stage).mkdir(parents=True)
            for number in range(many):
                image.new("L", (20, 20), 10 * number).save(tmp_path / part / stage / f"{number}.png")
    result = datasets.load("adni", folder=str(tmp_path))
    assert (result.X.shape, result.X_test.shape) == ((8, 1, 128, 128), (4, 1, 128, 128))
    assert (result.y.sum(), result.y_test.tolist()) == (2, [True, False, False, False])
    (tmp_path / "NonDemented").mkdir()
    with pytest.raises(DataUnavailableError, match="stages lie next to it"):
        datasets.load("adni", folder=str(tmp_path))
    (tmp_path / "NonDemented").rmdir()
    (tmp_path / "Test").rename(tmp_path / "others")
    with pytest.raises(DataUnavailableError, match="no folder 'test' next to it"):
        datasets.load("adni", folder=str(tmp_path))


def test_an_unknown_data_set_is_answered_with_the_list():
    with pytest.raises(PulensError, match=r"no data set 'mnits'.*Did you mean 'mnist'"):
        datasets.load("mnits")


def test_the_digest_sees_values_and_not_number_types():
    one = {"X": np.array([[1, 2]], np.uint8), "names": np.array(["a"])}
    assert digest(one) == digest({"X": np.array([[1, 2]], np.int32)})
    assert digest(one) != digest({"X": np.array([[1, 3]], np.uint8)})
    assert digest(one) != digest({"X": np.array([[1], [2]], np.uint8)})


# --- the real files, where a mirror lies beside the checkout ----------------------------------------------------------


@pytest.fixture(scope="module")
def mirror(shared, tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("PULENS_MIRROR", str(shared / "data"))
    patch.setenv("PULENS_DATA_HOME", str(tmp_path_factory.mktemp("cache")))
    patch.setenv("PULENS_OFFLINE", "1")
    yield shared / "data"
    patch.undo()


LARGE = {"cifar10", "fashion_mnist", "imdb", "mnist", "newsgroups20"}


@pytest.mark.parametrize("name", [name for name in DATASETS if DATASETS[name].files and name not in LARGE])
def test_rows_and_positives_are_those_of_the_papers(mirror, name):
    result, facts = datasets.load(name), DATASETS[name]
    parts = [(result.X, result.y), (result.X_test, result.y_test)]
    assert sum(0 if X is None else X.shape[0] for X, _ in parts) == facts.rows
    if facts.positives is not None:
        assert sum(0 if y is None else int(y.sum()) for _, y in parts) == facts.positives
    if facts.originals is not None:
        assert digest(fetch_arrays(name, facts)) == facts.originals.digest


def test_elkan_and_notos_records_are_pu(mirror):
    result = datasets.load("elkan_noto_protein")
    assert (result.labels.sum(), (result.y & (result.labels == 0)).sum()) == (2453, 348)
    assert result.y[result.labels == 1].all()


def test_rocker_reads_are_weights(mirror):
    result = datasets.load("rocker_protein")
    assert result.weights[result.labels == 1].sum() == 703030
    assert result.weights[result.labels == 0].sum() == 1287155


# paper 004, table B.2: positives and negatives for training, validation rows, positives and negatives for testing
TABLE_B2 = {
    "newsgroups20": (6326, 4874, 114, 4254, 3278),
    "imdb": (12375, 12375, 250, 12500, 12500),
    "mnist": (29197, 30203, 600, 4926, 5074),
    "fashion_mnist": (29700, 29700, 600, 5000, 5000),
    "connect4": (35222, 18282, 541, 8895, 4617),
    "spambase": (1435, 2208, 37, 363, 558),
}


@pytest.mark.parametrize("name", TABLE_B2)
def test_splits_count_as_in_the_benchmark_paper(mirror, name):
    result = datasets.load(name)
    official = result.y_test is not None
    made = synthesise(
        np.zeros((result.y.size, 1)),
        result.y,
        label_frequency=0.1,
        unlabelled="whole-pool",
        scenario="case-control",
        validation_share=0.01,
        test_share=0.0 if official else 0.2,
        seed=2,
    )
    unlabelled = made.truth.train[made.train.labels == 0]
    test = result.y_test if official else made.truth.test
    validation = int((made.validation.labels == 0).sum())
    assert (unlabelled.sum(), (~unlabelled).sum(), validation, test.sum(), (~test).sum()) == TABLE_B2[name]
    assert made.train.n_labelled == TABLE_B2[name][0] // 10


def test_spambase_labels_are_biased_as_measured_for_the_published_mechanisms(mirror):
    """Mean posterior of the labelled rows: the protocol's table, for seed 2 of another split."""
    from pulens.labelling import auxiliary_log_odds
    from sklearn.preprocessing import StandardScaler

    result = datasets.load("spambase")
    X = StandardScaler().fit_transform(result.X)
    posterior = 1 / (1 + np.exp(-auxiliary_log_odds(X, result.y)))
    expected = {
        ("S1", 0.05): 0.850,
        ("S2", 0.05): 0.977,
        ("S3", 0.05): 0.195,
        ("S4", 0.05): 1.000,
        ("S2", 0.5): 0.977,
        ("S3", 0.5): 0.706,
        ("S4", 0.5): 0.995,
    }
    for (mechanism, frequency), mean in expected.items():
        made = synthesise(
            X,
            result.y,
            mechanism=mechanism,
            label_frequency=frequency,
            unlabelled="whole-pool",
            scenario="case-control",
            evidence=posterior,
        )
        chosen = posterior[made.train.rows[made.train.labels == 1]]
        assert chosen.mean() == pytest.approx(mean, abs=0.04), mechanism
    mild = [
        synthesise(
            X,
            result.y,
            mechanism="S3",
            offset=1.5,
            label_frequency=0.05,
            unlabelled="whole-pool",
            scenario="case-control",
            evidence=posterior,
            seed=seed,
        ).train
        for seed in range(10)
    ]
    means = [posterior[data.rows[data.labels == 1]].mean() for data in mild]
    assert np.mean(means) == pytest.approx(0.382, abs=0.06), "the published program's rule"
