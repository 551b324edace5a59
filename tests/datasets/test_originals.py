"""Without a mirror, data sets come as their makers publish them, and are the same to the last value or refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import threading
from dataclasses import fields, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from pulens.benchmark import datasets
from scipy.sparse import issparse

from maker_files import EMPTIED_ONCE, MAKERS, SHA256, compress, number_records, published, workbook, zipped
from pulens.research.benchmark.datasets import DATASETS, DataUnavailableError
from pulens.research.benchmark.datasets._archive import codes, exactly, member
from pulens.research.benchmark.datasets._fetch import digest, fetch_arrays, read_file
from pulens.research.benchmark.datasets._lzw import uncompress
from pulens.research.benchmark.datasets._xls import read_numbers
from pulens.research.benchmark.datasets.idx_pictures import read_idx

UCI = "https://archive.ics.uci.edu/"
PICTURES = {"mnist", "fashion_mnist", "cifar10"}
# sets whose makers' files have no checksum that a public project noted
NOBODY_NOTED = {
    *("avila", "boston_housing", "concrete", "elkan_noto_protein", "grid_stability", "page_blocks", "pima"),
    "rocker_protein",
}


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """An HTTP server of the makers, an empty cache and no mirror: the data set with its addresses there."""
    contents = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = contents.get(self.path.lstrip("/"))
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PULENS_MIRROR", raising=False)
    monkeypatch.delenv("PULENS_OFFLINE", raising=False)

    def served(name, content):
        """The data set with addresses of this server; one content for all, or one for each file."""
        facts = DATASETS[name]
        there = []
        for file in facts.originals.files:
            contents[file.name] = content[file.name] if isinstance(content, dict) else content
            there.append(replace(file, url=f"http://127.0.0.1:{server.server_port}/{file.name}"))
        return replace(facts, originals=replace(facts.originals, files=tuple(there)))

    yield served
    server.shutdown()
    thread.join()
    server.server_close()


@cache
def arrays_of(mirror, name):
    (file,) = DATASETS[name].files
    return read_file(mirror / file.name)


@cache
def written(mirror, name):
    return MAKERS[name](arrays_of(mirror, name))


def with_one_value_changed(name, arrays, files):
    """The first value of the last row is another one."""
    if name == "concrete":
        changed = arrays["X"].copy()
        changed[-1, 0] += 1
        return MAKERS[name]({**arrays, "X": changed})
    place, text = list(files.items())[-1]
    if name == "elkan_noto_protein":  # of the last count: a line begins with a class, which the file's name tells
        return {**files, place: text.rstrip() + "1  \n"}
    before, last = text[:-2].rsplit("\n", 1)
    at = re.search("[0-9A-Za-z]", last).start()
    other = {"9": "0", "b": "x", "e": "p", "p": "e"}.get(last[at], chr(ord(last[at]) + 1))
    return {**files, place: f"{before}\n{last[:at]}{other}{last[at + 1 :]}{text[-2:]}"}


def assert_same(result, expected):
    for field in fields(expected):
        one, other = getattr(result, field.name), getattr(expected, field.name)
        if issparse(other):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            assert (one != other).nnz == 0, field.name
        elif isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=field.name)
            assert one.dtype == other.dtype, field.name
        else:
            assert one == other, field.name


@pytest.mark.parametrize("name", MAKERS)
def test_the_makers_file_gives_what_the_mirror_gives(shared, serve, name):
    arrays = arrays_of(shared / "data", name)
    facts = serve(name, published(name, written(shared / "data", name)))
    assert_same(facts.build(fetch_arrays(name, facts)), DATASETS[name].build(arrays))


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in NOBODY_NOTED])
def test_the_text_written_here_is_the_makers_to_the_byte(shared, name):
    known = {
        place.rsplit("/", 1)[-1]: text
        for place, text in written(shared / "data", name).items()
        if place.rsplit("/", 1)[-1] in SHA256
    }
    assert known
    for place, text in known.items():
        assert hashlib.sha256(text.encode()).hexdigest() == SHA256[place]


@pytest.mark.parametrize("name", MAKERS)
def test_one_changed_value_is_refused(shared, serve, tmp_path, name):
    files = with_one_value_changed(name, arrays_of(shared / "data", name), written(shared / "data", name))
    facts = serve(name, published(name, files, compressed=False))
    refusal = rf"{name}: the files from .* do not hold the expected data .digest [0-9a-f]{{64}}, expected"
    with pytest.raises(DataUnavailableError, match=refusal):
        fetch_arrays(name, facts)
    assert not list((tmp_path / "cache").iterdir())


def test_one_changed_word_is_refused(shared, serve):
    ((place, text),) = written(shared / "data", "bank_marketing").items()
    files = {place: text.replace('"retired"', '"student"', 1)}
    with pytest.raises(DataUnavailableError, match="do not hold the expected data"):
        fetch_arrays("bank_marketing", serve("bank_marketing", published("bank_marketing", files)))


@pytest.mark.parametrize("content", [b"<html>moved</html>", b"", zipped({"readme.txt": "nothing else"})])
@pytest.mark.parametrize("name", MAKERS)
def test_something_else_at_the_address_is_refused(serve, name, content):
    with pytest.raises(DataUnavailableError, match=r"digest unreadable: .*set PULENS_MIRROR to a folder with"):
        fetch_arrays(name, serve(name, content))


def test_a_mirror_may_hold_the_makers_files(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PULENS_MIRROR", str(tmp_path))
    monkeypatch.setenv("PULENS_OFFLINE", "1")
    with pytest.raises(DataUnavailableError, match=r"mushroom: mushroom.npz is not in the cache"):
        datasets.load("mushroom")
    ((name, content),) = published("mushroom", written(shared / "data", "mushroom")).items()
    (tmp_path / name).write_bytes(content)
    assert datasets.load("mushroom").y.sum() == 3916


def test_an_address_that_cannot_be_reached_leaves_a_way_out(serve, monkeypatch):
    facts = serve("letter", None)
    with pytest.raises(DataUnavailableError, match=r"letter: letter.zip could not be .*404.* folder with letter.npz"):
        fetch_arrays("letter", facts)
    monkeypatch.setenv("PULENS_OFFLINE", "1")
    with pytest.raises(DataUnavailableError, match=r"letter: letter.zip is not .*OFFLINE.* folder with letter.npz"):
        fetch_arrays("letter", facts)


def test_addresses_of_uci_agree_with_the_pages_of_the_data_sets():
    """A page is .../dataset/ID/NAME, its archive .../static/public/ID/NAME.zip."""
    seen = 0
    for facts in DATASETS.values():
        if facts.originals is None or not facts.source.startswith(UCI):
            continue
        (file,) = facts.originals.files
        number, name = facts.source.split("/")[-2:]
        assert file.url == f"{UCI}static/public/{number}/{name}.zip"
        seen += 1
    assert seen == 14


def test_every_set_can_be_had_from_its_makers_or_made_of_their_texts():
    silent = {name for name, facts in DATASETS.items() if facts.files and not facts.originals and not facts.vectors}
    both = {name for name, facts in DATASETS.items() if facts.originals and facts.vectors}
    assert (silent, both) == (set(), set())


@pytest.mark.parametrize("name", [name for name, facts in DATASETS.items() if facts.vectors])
def test_a_set_of_vectors_that_is_not_there_says_how_it_is_made(tmp_path, monkeypatch, name):
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("PULENS_MIRROR", raising=False)
    monkeypatch.delenv("PULENS_OFFLINE", raising=False)
    with pytest.raises(DataUnavailableError, match=rf"{name}: .*`pulens bench vectors {name}` makes .* Source: http"):
        datasets.load(name)


def test_every_set_with_makers_files_is_tested_here():
    assert {name for name, facts in DATASETS.items() if facts.originals is not None} == {*MAKERS, *PICTURES}


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_pictures_of_the_makers_have_named_classes(tmp_path, name):
    shapes = {"train-images": (3, 2, 2), "train-labels": (3,), "t10k-images": (2, 2, 2), "t10k-labels": (2,)}
    paths = {}
    for part, shape in shapes.items():
        header = bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
        paths[part] = tmp_path / part
        paths[part].write_bytes(gzip.compress(header + bytes(range(int(np.prod(shape))))))
    result = datasets.find(name).build(read_idx(paths))
    assert result.y.tolist() == [True, False, True]
    assert len(result.classes) == 10


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_classes_are_named_as_in_the_mirror(shared, name):
    with np.load(shared / "data" / f"{name}.npz") as stored:
        names = tuple(stored["classes"].tolist())
        arrays = {"X_train": np.zeros((1, 2, 2)), "y_train": np.zeros(1), "X_test": np.zeros((1, 2, 2))}
    assert DATASETS[name].build({**arrays, "y_test": np.zeros(1)}).classes == names


@pytest.mark.parametrize("name", MAKERS)
def test_features_are_named_as_in_the_mirror(shared, name):
    arrays = arrays_of(shared / "data", name)
    result = DATASETS[name].build(arrays)
    if "feature_names" in arrays and name not in {"connect4", "mushroom"}:
        assert result.feature_names == tuple(arrays["feature_names"].tolist())
    if name == "mushroom":
        levels = zip(arrays["feature_names"].tolist(), arrays["levels"].tolist(), strict=True)
        assert result.feature_names == tuple(f"{name}={level}" for name, all_of in levels for level in all_of)
    if result.classes:
        assert result.classes == tuple(arrays["classes"].tolist())


# --- what the formats need --------------------------------------------------------------------------------------------


def test_uncompress_reads_what_the_program_wrote():
    assert uncompress(bytes.fromhex("1f9d9061c4041c08")) == b"abababa"
    assert uncompress(bytes.fromhex("1f9d90")) == b""
    expected = b"a" * 20000 + bytes(40 + (place * place // 20) % 2 for place in range(21000))
    assert uncompress(base64.b85decode(EMPTIED_ONCE)) == expected


def test_the_tests_compress_as_the_program_does(shared):
    """The checksum of what ncompress 4.2.4 makes of the 355745 bytes of page blocks, codes of 9 to 16 bits."""
    text = written(shared / "data", "page_blocks")["page-blocks.data"].encode()
    packed = compress(text)
    assert hashlib.sha256(packed).hexdigest() == "399ece75ff0f97cfb8ae536448448a9e7d1836b63980690284cb2fc3c02b1dc6"
    assert uncompress(packed) == text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04", "begins with 504b03"),
        (b"\x1f\x9d", "begins with 1f9d"),
        (bytes.fromhex("1f9d8961c404"), "this file says 9"),
        (bytes.fromhex("1f9d90ffffff"), "damaged file of compress: code 511 where 257 are known"),
    ],
)
def test_a_damaged_compressed_file_is_named(content, message):
    with pytest.raises(ValueError, match=message):
        uncompress(content)


def test_a_member_is_found_in_any_folder_or_named_with_what_there_is(tmp_path):
    (tmp_path / "x.zip").write_bytes(zipped({"deep/er/a.txt": "A", "b.txt.Z": compress(b"BBB"), "c.txt": "C"}))
    assert [member(tmp_path / "x.zip", f"{name}.txt") for name in "abc"] == [b"A", b"BBB", b"C"]
    with pytest.raises(ValueError, match=r"no d.txt in the archive, which holds 'a.txt', 'b.txt.Z', 'c.txt'"):
        member(tmp_path / "x.zip", "d.txt")


def test_values_that_do_not_fit_are_not_folded_into_others():
    assert exactly([0.0, 255.0], "uint8").tolist() == [0, 255]
    for wrong in (256, -1, 0.5, np.nan):
        with pytest.raises(ValueError, match="values that are no uint8"):
            exactly([0, wrong], "uint8")
    assert codes("ab?", "ab").tolist() == [0, 1, 255]


def test_numbers_of_a_workbook_in_all_their_forms():
    cells = {(0, 0): 7.0, (0, 1): -7.0, (0, 2): 1.25, (1, 3): -0.01, (2, 0): 0.1 + 0.2, (70, 8): 1e300}
    assert read_numbers(workbook(number_records(cells))) == cells
    half = int.from_bytes(np.float64(-2.5).tobytes()[4:], "little")  # a double without its lower half
    row = b"".join((half | divided).to_bytes(4, "little").rjust(6, b"\0") for divided in (0, 1))
    many = (0xBD, bytes([3, 0, 4, 0]) + row + bytes([5, 0]))
    assert read_numbers(workbook([many])) == {(3, 4): -2.5, (3, 5): -0.025}


def test_a_workbook_that_is_none_is_named():
    with pytest.raises(ValueError, match="not a compound file"):
        read_numbers(b"PK\x03\x04" + bytes(600))
    with pytest.raises(ValueError, match="no Workbook in the compound file"):
        read_numbers(workbook([], name="WordDocument"))


def test_the_digest_sees_words_of_columns_but_not_our_names():
    one = {"job": np.array(["cook", "smith"]), "classes": np.array(["no", "yes"])}
    assert digest(one) == digest({"job": np.array(["cook", "smith"])})
    assert digest(one) != digest({"job": np.array(["cook", "smit"])})
    assert digest(one) != digest({"job": np.array(["cooks", "mith"])})
