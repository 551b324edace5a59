"""Protocols: what is wrong in one is said with its line and the way out, before anything is trained."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from pulens.benchmark import methods, splits

from pulens.cli import main
from pulens.errors import InputError
from pulens.research.benchmark.plan import expand, stacks
from pulens.research.benchmark.protocol import Protocol, load_protocol, parse_protocol, shipped
from pulens.research.benchmark.protocol.checks import DECIDED
from pulens.research.benchmark.protocol.text import Text

GOOD = """\
name: mine
learners: [nnpu]
datasets: [digits]
seeds: [1]
conditions:
  - mechanisms: [S1]
    label_frequencies: [0.2]
"""


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_protocol(text, "mine.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD + "sedes: [2]\n", 8, "unknown key 'sedes'. Did you mean 'seeds'?"),
        (GOOD.replace("mechanisms", "mechanism"), 6, "unknown key 'mechanism'. Did you mean 'mechanisms'?"),
        (GOOD + "validation_share: 1.5\n", 8, "less than 1, got 1.5"),
        (GOOD.replace("0.2", "0"), 7, "greater than 0"),
        (GOOD.replace("digits", "digit"), 3, "Did you mean 'digits'?"),
        (GOOD.replace("S1", "S9"), 6, "there is no labelling mechanism 'S9'"),
        (GOOD.replace("nnpu", "nnpuu"), 2, "Did you mean 'nnpu'?"),
        (GOOD.replace("[1]", "[1, 1]"), 4, "1 stands there twice"),
        (GOOD + "settings:\n  nnpu:\n    all: {epoch: 3}\n", 10, "nnpu has no setting 'epoch'. Did you mean 'epochs'?"),
        (GOOD + "settings:\n  nnpu:\n    pictures: {epochs: 3}\n", 10, "Did you mean 'picture'?"),
        (GOOD + "settings:\n  nnpu:\n    all: {epochs: three}\n", 10, "epochs must be a whole number"),
        (GOOD + "settings:\n  nnpu:\n    all:\n      beta: 0.1\n      batch_size: -3\n", 12, "at least 1, got -3"),
        (GOOD + "settings:\n  nnpu:\n    all: {optimiser: lion}\n", 10, "optimiser must be one of 'adam'"),
        (GOOD + "settings:\n  nnpo:\n    all: {epochs: 3}\n", 9, "Did you mean 'nnpu'?"),
        (GOOD + "scenario: single-set\nunlabelled: whole-pool\n", 9, "belongs to scenario: case-control"),
        (GOOD + "backbones: {digits: resnet}\n", 8, "there is no backbone 'resnet'"),
        (GOOD.replace("digits", "rocker_protein"), 3, "nobody knows the true classes"),
        (GOOD + "    parameters: {offset: 1.5}\n", 8, "has no parameter 'offset'"),
        (GOOD + "title: a\ntitle: b\n", 9, "the key 'title' stands there twice, first on line 8"),
        (GOOD + f"settings: {{nnpu: {{all: {{batch_size: {2**63}}}}}}}\n", 8, "at most 9,223,372,036,854,775,807, got"),
        (GOOD + f"settings: {{nnpu: {{all: {{beta: {10**400}}}}}}}\n", 8, "beta must be a number, got 1000"),
        (GOOD + "settings:\n  nnpu:\n    all:\n      beta: 0.1\n      beta: 0.2\n", 12, "'beta' stands there twice"),
        (GOOD.replace("digits", "spambase") + "backbones: {spambase: lenet}\n", 8, "'lenet' cannot read spambase"),
        (GOOD + "backbones: {digits: lenet}\n", 8, "it reads pictures, and rows of digits are of the kind 'table'"),
        (GOOD + "backbones: {mnist: cifar_cnn}\n", 8, "got rows of shape (1, 28, 28)"),
        (GOOD + "validation_share: 0.999\n", 8, "leave 1 to train on"),
        (GOOD + "test_share: 0.999\n", 8, "leave 0 to train on"),
        (GOOD + "validation_share: 0.995\n", 7, "training positives of digits would be labelled"),
        (GOOD.replace("[1]", "[true]"), 4, "valid integer, got True"),
        (GOOD.replace("[1]", "['1']"), 4, "valid integer, got '1'"),
        (GOOD + "standardise: 'yes'\n", 8, "valid boolean, got 'yes'"),
        (GOOD + "rows: true\n", 8, "valid integer, got True"),
        (GOOD + "validation_share: 1e-1\n", 8, "must be a number: YAML reads 1e-2 as a word, write 1.0e-2"),
        (GOOD.replace("0.2", "true"), 7, "must be a number, got True"),
        (GOOD + "settings: {nnpu: {all: {learning_rate: 1e-3}}}\n", 8, "reads 1e-3 as a word: write 1.0e-3"),
        (
            GOOD + "dataset_options:\n  digits: {folder: x}\n",
            9,
            "not an option of the data set 'digits'; it takes none",
        ),
        (GOOD + "dataset_options:\n  adni: {foldr: x}\n", 9, "not an option of the data set 'adni'; it takes 'folder'"),
        (GOOD + "dataset_options:\n  adni: {folder: [x]}\n", 9, "a word or a number, got ['x']"),
    ],
)
def test_mistakes_are_named_with_their_line(text, line, words):
    message = refused(text)
    assert f"mine.yaml, line {line}:" in message
    assert words in message


@pytest.mark.parametrize("setting", sorted(DECIDED))
def test_settings_that_the_plan_decides_are_refused_with_the_way_out(setting):
    """They used to be accepted and dropped."""
    message = refused(GOOD + f"settings:\n  nnpu:\n    all:\n      beta: 0.1\n      {setting}: 0.2\n")
    assert message == f"mine.yaml, line 12: {setting} is no setting to choose here: {DECIDED[setting]}."


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        *(("class_prior", "class_prior"), ("random_state", "seeds"), ("standardise", "standardise")),
        *(("precision", "precisions"), ("backbone", "backbones"), ("validation_fraction", "validation_share")),
    ],
)
def test_the_way_out_is_a_key_of_the_protocol(setting, key):
    assert key in Protocol.model_fields
    assert key in DECIDED[setting]


def test_a_wrong_value_in_a_condition_is_said_once():
    assert refused(GOOD.replace("0.2", "1.2")).count("\n") == 0
    assert "\n" not in refused(GOOD.replace("S1", "S9"))
    assert "at least 1 item" in refused(GOOD[: GOOD.index("conditions")] + "conditions: []\n")


@pytest.mark.parametrize(("key", "value"), [("rows", 100), ("test_share", 0.995)])
def test_what_comes_from_an_extended_protocol_is_said_to(key, value):
    message = refused(f"extends: conventional\nname: mine\n{key}: {value}\n")
    assert message.startswith("mine.yaml, line 3: with label_frequency 0.1 (from the protocol 'conventional', which it")
    assert "None" not in message
    message = refused("extends: conventional\nname: mine\nscenario: single-set\nconditions: 3\n")
    assert message.startswith("mine.yaml, line 4: ")
    assert Text("mine.yaml", None, "smoke").place(("seeds",)) == (
        "mine.yaml (seeds comes from the protocol 'smoke', which it extends)"
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"learners": ["nnpu", "vppu"]}, "there is no learner 'vppu'"),
        ({"datasets": ["digit"]}, "there is no data set 'digit'"),
        ({"seeds": [3, 3]}, "3 stands there twice"),
    ],
)
def test_what_was_said_beside_a_protocol_is_named_by_its_option(given, words):
    (name,) = given
    with pytest.raises(InputError) as caught:
        load_protocol("smoke", **given)
    assert f"protocol smoke, with {name} given with it (--{name} on the command line): " in str(caught.value)
    assert words in str(caught.value)
    assert "line 4" not in str(caught.value)


def test_a_plan_that_cannot_be_prints_nothing_but_the_error(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace("digits", "spambase") + "backbones: {spambase: lenet}\n")
    with pytest.raises(SystemExit) as ended:
        main(["bench", "plan", str(path)])
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert shown.out == ""
    assert "mine.yaml, line 8" in shown.err


def test_a_missing_key_is_named():
    assert "the key 'seeds' is missing" in refused(GOOD.replace("seeds: [1]\n", ""))


def test_text_that_is_no_protocol_is_refused():
    assert "not readable as YAML" in refused("name: [")
    assert "a protocol is a mapping" in refused("- 1")


def test_a_validation_set_without_a_labelled_row_is_refused_before_training():
    message = refused(GOOD.replace("0.2", "0.001"))
    assert "line 7" in message
    assert "no epoch could be selected" in message


def test_an_unknown_protocol_lists_those_there_are():
    with pytest.raises(InputError, match=r"conventional.*Did you mean 'smoke'"):
        load_protocol("smok")


@pytest.mark.parametrize("name", shipped())
def test_shipped_protocols_expand(name):
    plan = expand(load_protocol(name, seeds=[2]))
    assert len({run.key for run in plan.runs}) == len(plan.runs) > 0


def test_the_full_protocol_is_the_study_of_paper_004():
    """18 learners x 8 data sets x 20 conditions, each with ten seeds."""
    plan = expand(load_protocol("full", seeds=[2]))
    competing = [name for name in methods.everything() if name not in methods.REFERENCES]
    assert [methods.find(name).place for name in competing] == list(range(1, 19))
    assert len(plan.runs) == 20 * 8 * (len(competing) + len(methods.REFERENCES))
    assert load_protocol("full").seeds == (2, 25, 42, 52, 99, 103, 250, 666, 777, 2026)


@pytest.mark.slow
def test_protocols_share_the_runs_they_have_in_common():
    names = ("conventional", "label-frequency", "selection-bias", "full")
    conventional, frequency, bias, full = ({run.key for run in expand(load_protocol(name)).runs} for name in names)
    assert conventional < frequency < full  # with every learner's own settings
    assert frequency | bias == full


def test_a_protocol_can_extend_a_shipped_one():
    mine = parse_protocol("extends: conventional\nname: mine\nseeds: [1]\nsettings: {}\n", "mine.yaml")
    base = load_protocol("conventional")
    assert (mine.name, mine.seeds, mine.settings) == ("mine", (1,), {})
    assert (mine.datasets, mine.conditions, mine.standardise) == (base.datasets, base.conditions, base.standardise)
    with pytest.raises(InputError, match=r"line 1: extends names a shipped protocol .* Did you mean 'conventional'"):
        parse_protocol("extends: conventionel\nname: mine\n", "mine.yaml")


def test_a_data_set_can_have_a_precision_of_its_own():
    plan = expand(load_protocol("conventional", learners=["nnpu", "puet"], datasets=["cifar10", "spambase"]))
    result = {(run.learner, run.dataset): run.precision for run in plan.runs}
    assert result == {
        ("nnpu", "cifar10"): "bfloat16",
        ("puet", "cifar10"): "float32",
        ("nnpu", "spambase"): "float32",
        ("puet", "spambase"): "float32",
    }


def test_keys_change_with_everything_that_decides_a_result():
    good = GOOD + "scenario: case-control\n"
    base = expand(parse_protocol(good, "mine.yaml")).runs[0]
    others = [
        good.replace("[1]", "[2]"),
        good.replace("0.2", "0.3"),
        good + "standardise: true\n",
        good + "class_prior: estimated\n",
        good + "unlabelled: disjoint\n",
        good + "settings: {nnpu: {all: {epochs: 39}}}\n",
        good + "settings: {nnpu: {digits: {beta: 0.1}}}\n",
        good + "rows: 500\n",
        GOOD,
    ]
    keys = [expand(parse_protocol(text, "mine.yaml")).runs[0].key for text in others]
    assert len({base.key, *keys}) == len(others) + 1
    renamed = expand(parse_protocol(good.replace("mine", "yours"), "mine.yaml")).runs[0]
    said = expand(parse_protocol(good + "settings: {nnpu: {all: {epochs: 40}}}\n", "mine.yaml")).runs[0]
    assert renamed.key == base.key == said.key  # another name, or a default written out, is the same run


def test_published_protocols_say_case_control_and_others_take_rows_for_one_sample():
    assert parse_protocol(GOOD, "mine.yaml").scenario == "single-set"
    for name in shipped():
        assert load_protocol(name).scenario == ("single-set" if name == "tables" else "case-control")
    message = refused(GOOD + "unlabelled: whole-pool\n")
    assert "Leave the key out, or say scenario: case-control" in message


def test_keys_stay_what_they_were():
    """Archives of earlier versions are found by these: a change of this key throws them away."""
    settings = {"elkan_noto": {"all": {"hold_out": 0.1}}}  # as it was by default
    protocol = load_protocol("conventional", learners=["elkan_noto"], datasets=["spambase"], settings=settings)
    assert expand(protocol).runs[0].key == "ac1c09273c757290cd88"


def test_keys_of_the_whole_study_stay_what_they_were():
    """All but those of LBE, PAN, CGenPU, PULDA and PUET, trained or cut in another way than archived runs were."""
    changed = ("lbe", "pan", "cgenpu", "pulda", "puet")
    added = ("naive_quantile", "naive_label_frequency")
    keys = "".join(run.key for run in expand(load_protocol("full")).runs if run.learner not in (*changed, *added))
    assert hashlib.sha256(keys.encode()).hexdigest()[:16] == "bc4ce5f5d8ebc028"


@pytest.mark.parametrize("learner", ["robust_pu", "self_pu"])
def test_a_setting_that_came_later_changes_the_key_only_where_it_changes_the_run(learner):
    def key(loss):
        settings = {learner: {"all": {"loss": loss}}}
        protocol = load_protocol("conventional", learners=[learner], datasets=["spambase"], settings=settings)
        return expand(protocol).runs[0].key

    plain = load_protocol("conventional", learners=[learner], datasets=["spambase"])
    assert expand(plain).runs[0].key == key("sigmoid") != key("logistic")


def test_options_that_change_the_data_change_the_key(tmp_path):
    run = expand(parse_protocol(GOOD, "mine.yaml")).runs[0]
    other = replace(run, dataset_options={"classes": 2})
    assert len({run.key, other.key, replace(run, dataset_options={"classes": 3}).key}) == 3
    assert run.group != other.group
    table = splits.table_of(run)
    for one in (run, other):  # what is computed from the rows once and kept is kept apart
        splits._log_odds(one, table, np.arange(100), tmp_path)
    assert len(list(tmp_path.glob("odds-digits-*.npy"))) == 2
    # a folder says where the files are, not what they hold
    text = GOOD.replace("digits", "adni") + "dataset_options: {adni: {folder: here}}\n"
    here, there = (expand(parse_protocol(words, "x")).runs[0] for words in (text, text.replace("here", "there")))
    assert here.dataset_options == {"folder": "here"}
    assert here.key == there.key == replace(here, dataset_options={}).key


def test_results_selected_with_the_true_prior_are_not_taken_for_those_of_an_estimated_one():
    """Runs with an estimated prior once selected epochs with the true one, under this key."""
    run = expand(parse_protocol(GOOD + "class_prior: estimated\n", "mine.yaml")).runs[0]
    assert run.key != "54201e14a04431525123"


def test_more_special_settings_win():
    text = GOOD + "settings: {nnpu: {all: {epochs: 1, beta: 0.5}, table: {epochs: 2}, digits: {gamma: 0.1}}}\n"
    settings = expand(parse_protocol(text, "mine.yaml")).runs[0].settings
    assert (settings["epochs"], settings["beta"], settings["gamma"]) == (2, 0.5, 0.1)


def test_stacks_hold_runs_that_can_be_trained_as_one():
    plan = expand(load_protocol("selection-bias", learners=["nnpu", "vae_pu"], datasets=["cifar10", "mnist"]))
    made, mixed = stacks(plan.runs, lambda group: 7), False
    assert sorted(run.key for stack in made for run in stack) == sorted(run.key for run in plan.runs)
    assert max(map(len, made)) <= 7
    for stack in made:
        assert len({run.group for run in stack}) == 1
        # batch norm, of the classifier or of the generator: all runs need the same number of labelled rows
        equal = stack[0].dataset == "cifar10" or stack[0].learner == "vae_pu"
        assert len({run.label_frequency for run in stack}) <= (1 if equal else 2)
        mixed = mixed or (not equal and len({run.label_frequency for run in stack}) == 2)
    assert mixed
