"""Every field of every kind of saved learner, tampered with in many ways: finite scores, or one sentence and exit 2."""

from __future__ import annotations

import io
import json
import math
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn

pytest.importorskip("torch", reason="network learners need PyTorch: pip install 'pulens[torch]'")
pytest.importorskip("skops", reason="wrappers are saved by skops: pip install 'pulens[skops]'")

from pulens.learners import NNPU, PUET, ElkanNoto, KernelPUSB, load

from pulens.cli import main
from pulens.errors import InputError, OtherVersionWarning

NAMES = ["height", "weight", "age"]
MISSING = object()
# ways to damage a value in JSON: gone, of another type, of another length, no number, huge, below zero
VALUES = [
    MISSING,
    None,
    True,
    "words",
    {},
    [],
    [1],
    [[]],
    {"a": [1]},
    math.nan,
    -math.inf,
    0,
    -1,
    10**9,
    1e308,
    -1e308,
    10**400,
    [math.nan] * 3,
    [10**9] * 3,
    [-1.0] * 3,
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [60, 140])
    features = rng.normal(size=(200, 3)) + 3 * (np.arange(200) < 100)[:, None]
    file = tmp_path_factory.mktemp("rows") / "rows.csv"
    np.savetxt(file, features, delimiter=",", header=",".join(NAMES), comments="")
    return features, labels, file


@pytest.fixture(scope="module")
def saved(table, tmp_path_factory):
    """One learner of each kind, by the way in which it is kept."""
    features, labels, _ = table
    place = tmp_path_factory.mktemp("saved")
    made = {
        "network": NNPU(class_prior=0.3, backbone="linear", epochs=3, standardise=True, device="cpu", progress=False),
        "trees": PUET(class_prior=0.3, n_estimators=3, max_depth=4),
        "kernel": KernelPUSB(class_prior=0.3, bandwidths=(1.0,), penalties=(0.1,), centres=20),
        "wrapper": ElkanNoto(),
    }
    for name, learner in made.items():
        learner.set_params(random_state=0, scenario="case-control").fit(features, labels)
        if name == "network":
            learner.columns_ = NAMES
        else:
            learner.feature_names_in_ = np.array(NAMES, dtype=object)
        learner.save(place / name)
    return place


@pytest.fixture
def scored(table, tmp_path, capsys):
    """Score with a learner by the command line; what it wrote is checked, or what it said."""

    def score(folder: Path) -> str:
        out = tmp_path / "scores.csv"
        out.unlink(missing_ok=True)
        code = 0
        try:
            main(["score", str(folder), str(table[2]), "--out", str(out)])
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr().err
        assert "Traceback" not in said
        assert "RuntimeWarning" not in said
        if code == 0:
            scores = np.loadtxt(out, skiprows=1)
            assert scores.shape == (200,)
            assert np.isfinite(scores).all()
            assert ((scores >= 0) & (scores <= 1)).all()
            return ""
        assert code == 2
        assert said.startswith("pulens: ")
        assert said.count("\n") == 1
        assert len(said) < 800
        assert not out.exists()
        return said

    return score


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")  # there is nothing to learn
@pytest.mark.parametrize("shape", [(200, 8, 8), (200, 1, 8, 8), (200, 2, 4)])
def test_a_learner_of_pictures_is_not_called_damaged(shape, tmp_path):
    rows = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    options = {"class_prior": 0.3, "backbone": "mlp", "epochs": 1, "standardise": True, "progress": False}
    learner = NNPU(scenario="case-control", device="cpu", **options).fit(rows, np.repeat([1, 0], [60, 140]))
    again = load(learner.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(rows), learner.predict_proba(rows))


def fields_of(facts) -> list[tuple[str, ...]]:
    inner = [(group, name) for group in ("parameters", "fitted") for name in facts[group]]
    return [(name,) for name in facts] + inner


KINDS = ("network", "trees", "kernel", "wrapper")


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_an_untouched_learner_scores(kind, saved, scored):
    assert scored(saved / kind) == ""


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", range(len(VALUES)))
def test_every_field_of_the_facts_may_be_damaged(kind, way, saved, scored, tmp_path):
    facts = json.loads((saved / kind / "learner.json").read_text())
    folder = Path(shutil.copytree(saved / kind, tmp_path / "model"))
    refused = 0
    for path in fields_of(facts):
        changed = json.loads(json.dumps(facts))
        inside = changed
        for part in path[:-1]:
            inside = inside[part]
        if VALUES[way] is MISSING:
            del inside[path[-1]]
        else:
            inside[path[-1]] = VALUES[way]
        (folder / "learner.json").write_text(json.dumps(changed))
        refused += scored(folder) != ""
    assert refused >= 4  # format, learner, parameters and fitted at least


@pytest.mark.torch
@pytest.mark.parametrize("text", ["", "[" * 100_000, "null", "[]", "7", "{", '{"format": 1}', "\x00", "1" * 10_000])
def test_facts_that_are_no_facts_are_refused(text, saved, scored, tmp_path):
    folder = Path(shutil.copytree(saved / "trees", tmp_path / "model"))
    (folder / "learner.json").write_text(text)
    assert "learner.json" in scored(folder)


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_may_be_cut_off_emptied_or_gone(kind, saved, scored, tmp_path):
    for file in sorted((saved / kind).iterdir()):
        for length in (0, 1, 7, file.stat().st_size // 2, file.stat().st_size - 1, None):
            folder = Path(shutil.copytree(saved / kind, tmp_path / "model"))
            (folder / file.name).unlink()
            if length is not None:
                (folder / file.name).write_bytes(file.read_bytes()[:length])
            # the last byte of the facts is the end of their last line
            assert file.name in scored(folder) or (file.suffix == ".json" and length == file.stat().st_size - 1)
            shutil.rmtree(folder)


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_bytes_may_be_changed_anywhere(kind, saved, scored, tmp_path):
    folder, rng = Path(shutil.copytree(saved / kind, tmp_path / "model")), np.random.default_rng(1)
    for file in sorted((saved / kind).iterdir()):
        content = file.read_bytes()
        for _ in range(25):
            changed = bytearray(content)
            for place in rng.integers(len(content), size=int(rng.integers(1, 9))):
                changed[place] = int(rng.integers(256))
            (folder / file.name).write_bytes(bytes(changed))
            scored(folder)
        (folder / file.name).write_bytes(content)


def ways(values: np.ndarray) -> dict[str, object]:
    """An array damaged in shape, type and numbers."""
    flat = values.astype(float) if values.dtype.kind != "f" else values
    with np.errstate(all="ignore"):
        return {
            "short": values[:-1],
            "long": np.concatenate([values, values]),
            "empty": values[:0],
            "number": np.array(7),
            "deeper": values[None],
            "words": np.full(values.shape, "a"),
            "complex": values.astype(complex),
            "nan": np.full(values.shape, np.nan),
            "infinite": np.full(values.shape, np.inf),
            "huge": np.full(values.shape, 1e300 if values.dtype.kind == "f" else 2**31 - 1).astype(values.dtype),
            "negative": (-np.abs(flat) - 2).astype(values.dtype if values.dtype.kind != "b" else float),
            "zeros": np.zeros_like(values),
        }


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["trees", "kernel"])
def test_every_array_may_be_damaged(kind, saved, scored, tmp_path):
    folder = Path(shutil.copytree(saved / kind, tmp_path / "model"))
    with np.load(folder / "arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    refused = 0
    for name in arrays:
        np.savez_compressed(folder / "arrays.npz", **{one: values for one, values in arrays.items() if one != name})
        assert name in scored(folder)
        for changed in ways(arrays[name]).values():
            np.savez_compressed(folder / "arrays.npz", **{**arrays, name: changed})
            refused += scored(folder) != ""
    assert refused >= 7 * len(arrays)  # wrong shapes and types are refused for every one of them


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (0.0, "deviation_ must hold numbers above 0"),
        (-1.0, "deviation_ must hold numbers above 0"),
        (math.nan, "deviation_ holds numbers that are not finite"),
        (math.inf, "deviation_ holds numbers that are not finite"),
    ],
)
def test_a_deviation_that_nothing_can_be_divided_by_is_refused(wrong, words, saved, scored, tmp_path):
    folder = Path(shutil.copytree(saved / "kernel", tmp_path / "model"))
    with np.load(folder / "arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["deviation_"][1] = wrong
    np.savez_compressed(folder / "arrays.npz", **arrays)
    assert words in scored(folder)


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore:X does not have valid feature names")
@pytest.mark.parametrize(("name", "value"), [("coefficients_", 1e308), ("deviation_", 1e-300), ("mean_", 1e308)])
def test_a_kernel_beyond_the_largest_number_scores_without_a_warning(name, value, saved, table):
    learner = load(saved / "kernel")
    setattr(learner, name, np.full_like(getattr(learner, name), value))
    scores = learner.score_samples(table[0])
    assert scores.shape == (200,)
    assert name != "coefficients_" or np.isinf(scores).any()


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore:X does not have valid feature names")
def test_a_wrapped_model_beyond_the_largest_number_scores_without_a_warning(saved, table):
    learner = load(saved / "wrapper")
    learner.labelling_model_[-1].coef_[:] = 1e308
    chances = learner.predict_proba(table[0])[:, 1]
    assert ((chances >= 0) & (chances <= 1)).all()


def test_trees_that_learned_from_less_than_a_row_are_refused(saved, scored, tmp_path):
    folder = Path(shutil.copytree(saved / "trees", tmp_path / "model"))
    facts = json.loads((folder / "learner.json").read_text())
    for wrong in (5e-324, 0.5):
        facts["fitted"]["unlabelled"] = wrong
        (folder / "learner.json").write_text(json.dumps(facts))
        assert "unlabelled must be a number of rows, at least 1, got" in scored(folder)


@pytest.mark.parametrize("side", ["left", "right"])
def test_trees_that_run_in_circles_are_refused(side, saved, tmp_path):
    folder = Path(shutil.copytree(saved / "trees", tmp_path / "model"))
    with np.load(folder / "arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    inner = np.flatnonzero(arrays["feature"] >= 0)
    arrays[side][inner[-1]] = 0
    np.savez_compressed(folder / "arrays.npz", **arrays)
    with pytest.raises(InputError, match=f"{side} must name nodes that come after their parent"):
        load(folder)


def test_an_array_that_claims_to_be_huge_is_refused_before_room_is_made(saved, tmp_path):
    folder = Path(shutil.copytree(saved / "kernel", tmp_path / "model"))
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(saved / "kernel" / "arrays.npz") as old, zipfile.ZipFile(folder / "arrays.npz", "w") as new:
        for name in old.namelist():
            new.writestr(name, content.getvalue() if name == "mean_.npy" else old.read(name))
    with pytest.raises(InputError, match="says it has the shape"):
        load(folder)


def test_a_file_that_unpacks_to_far_more_than_it_holds_is_refused(saved, tmp_path, monkeypatch):
    from pulens.learning.learners.saving import checks

    monkeypatch.setattr(checks, "ROOM", 1 << 20)
    folder = Path(shutil.copytree(saved / "wrapper", tmp_path / "model"))
    with zipfile.ZipFile(folder / "models.skops", "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("more", bytes(16 << 20))
    with pytest.raises(InputError, match="would unpack to"):
        load(folder)


@pytest.mark.torch
def test_every_tensor_may_be_damaged(saved, scored, tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(saved / "network", tmp_path / "model"))
    file = str(folder / "weights.safetensors")
    weights = load_file(file)
    for name, values in weights.items():
        others = {one: kept for one, kept in weights.items() if one != name}
        refused = [
            others,
            {**others, name: values[:0]},
            {**others, name: values[None].contiguous()},
            {**others, name: torch.full_like(values, torch.nan)},
            {**others, name: torch.full_like(values, torch.inf)},
            {**weights, "more": values.clone()},
        ]
        for changed in refused:
            save_file(changed, file)
            assert "weights.safetensors" in scored(folder)
        for changed in (values.to(torch.int64), -values, 3e38 * torch.ones_like(values)):
            save_file({**others, name: changed}, file)
            scored(folder)


def test_a_row_shape_of_a_thousand_million_is_refused_before_a_network_is_made(saved, tmp_path):
    folder = Path(shutil.copytree(saved / "network", tmp_path / "model"))
    facts = json.loads((folder / "learner.json").read_text())
    facts["fitted"] |= {"row_shape_": [9_000_000], "n_features_in_": 9_000_000}
    facts["parameters"] |= {"standardise": False, "backbone": "mlp"}
    for name in ("mean_", "deviation_", "columns_"):
        del facts["fitted"][name]
    (folder / "learner.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="does not hold the network that"):
        load(folder)


def test_a_saved_fact_cannot_take_the_place_of_a_method(saved, tmp_path):
    folder = Path(shutil.copytree(saved / "network", tmp_path / "model"))
    facts = json.loads((folder / "learner.json").read_text())
    for name in ("predict_proba", "__class__", "_program", "__dict__"):
        facts["fitted"] |= {"facts_": [name], name: 7}
        (folder / "learner.json").write_text(json.dumps(facts))
        with pytest.raises(InputError, match="is not what fitting"):
            load(folder)


@pytest.mark.slow
def test_every_value_of_a_stored_model_may_be_damaged(saved, scored, tmp_path):
    folder = Path(shutil.copytree(saved / "wrapper", tmp_path / "model"))
    with zipfile.ZipFile(saved / "wrapper" / "models.skops") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    schema = json.loads(parts["schema.json"])
    places = list(leaves(schema))
    assert len(places) > 50
    for number, path in enumerate(places):
        changed = json.loads(parts["schema.json"])
        inside = changed
        for part in path[:-1]:
            inside = inside[part]
        inside[path[-1]] = [None, "words", -1, 10**9, [], {}, "NaN"][number % 7]
        with zipfile.ZipFile(folder / "models.skops", "w") as file:
            for name, content in parts.items():
                file.writestr(name, json.dumps(changed) if name == "schema.json" else content)
        scored(folder)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("version", [None, "words", "0.24.2"])
def test_another_scikit_learn_is_named_in_our_own_words(version, saved, table, tmp_path, capsys):
    folder = Path(shutil.copytree(saved / "wrapper", tmp_path / "model"))
    with zipfile.ZipFile(saved / "wrapper" / "models.skops") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    own, schema = json.dumps(json.dumps(sklearn.__version__)).encode(), parts["schema.json"]
    other = schema.replace(own, json.dumps(json.dumps(version)).encode())
    parts["schema.json"] = schema.replace(b"_sklearn_version", b"_other_version") if version is None else other
    assert parts["schema.json"] != schema
    with zipfile.ZipFile(folder / "models.skops", "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    call = ["score", str(folder), str(table[2]), "--out", str(tmp_path / "scores.csv")]
    if version == "0.24.2":
        main(call)
        said = capsys.readouterr().err
        assert f"was written by scikit-learn '0.24.2', and this is {sklearn.__version__}" in said
        assert np.loadtxt(tmp_path / "scores.csv", skiprows=1).shape == (200,)
        with pytest.warns(OtherVersionWarning, match="Train the learner again"):
            load(folder)
    else:
        with pytest.raises(SystemExit) as end:
            main(call)
        said = capsys.readouterr().err
        assert end.value.code == 2
        assert "does not say which scikit-learn wrote it" in said
    assert said.startswith("pulens: ")
    assert said.count("\n") == 1


@pytest.mark.torch
@pytest.mark.parametrize("name", ["mean_", "deviation_"])
def test_scales_beyond_single_precision_are_refused(name, saved, scored, tmp_path):
    folder = Path(shutil.copytree(saved / "network", tmp_path / "model"))
    facts = json.loads((folder / "learner.json").read_text())
    facts["fitted"][name][1] = 1e308
    (folder / "learner.json").write_text(json.dumps(facts))
    assert f"{name} holds 1e+308, and the rows it was taken from are single precision numbers" in scored(folder)


@pytest.mark.torch
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_row_too_many_deviations_away_keeps_the_largest_number(saved, tmp_path):
    folder = Path(shutil.copytree(saved / "network", tmp_path / "model"))
    facts = json.loads((folder / "learner.json").read_text())
    facts["fitted"]["deviation_"][1] = 1e-20
    (folder / "learner.json").write_text(json.dumps(facts))
    scaled = load(folder)._scaled(np.array([[0.0, 1e30, 0.0], [0.0, -1e30, 0.0]], np.float32))
    assert scaled[:, 1].tolist() == [np.finfo(np.float32).max, np.finfo(np.float32).min]


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
def test_a_network_of_ones_own_may_compute_while_it_is_made(table, tmp_path):
    """As networks with a rate of dropout per layer do."""
    import torch

    def network(shape):
        rates = [rate.item() for rate in torch.linspace(0, 0.1, 2)]
        return torch.nn.Sequential(torch.nn.Linear(*shape, 2), torch.nn.Dropout(rates[1]), torch.nn.Linear(2, 1))

    features, labels, _ = table
    options = {"scenario": "case-control", "device": "cpu", "progress": False, "random_state": 0}
    learner = NNPU(class_prior=0.3, backbone=network, epochs=1, **options).fit(features, labels)
    again = load(learner.save(tmp_path / "model"), backbone=network)
    np.testing.assert_array_equal(again.predict_proba(features), learner.predict_proba(features))
