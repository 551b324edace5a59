"""Protocols made in bad faith, or in haste: refused with a sentence when planned, in no time and no memory."""

from __future__ import annotations

import json

import pytest

from pulens.cli import main
from pulens.errors import InputError
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol, parse_protocol
from pulens.research.benchmark.rates import load_rates

HEAD = "name: mine\nmethods: nnpu\ndatasets: digits\nscenario: case-control\n"
REST = "conditions: [{mechanisms: S1, label_frequencies: 0.5}]\nseeds: 1\n"
BIASED = "conditions: [{mechanisms: S3, label_frequencies: 0.5, parameters: {offset: VALUE}}]\nseeds: 1\n"


def bomb(levels: int = 30) -> str:
    """Each line means twice the one before it, ten times over: half a kilobyte that means 10 ** 30 words."""
    lines = ["a0: &a0 [" + ", ".join(["x"] * 10) + "]"]
    lines += [f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]" for i in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bomb(), "with its aliases"),
        (HEAD + REST + "settings: &s {nnpu: *s}", "refers to itself"),
        (HEAD + REST + "title: " + "[" * 20_000, "nested more than"),
        (HEAD + REST + "settings: " + "{a: " * 5000, "nested more than"),
        ("- " * 20_000 + "a", "nested more than"),
        (HEAD + REST.replace("seeds: 1", f"seeds: {'9' * 6000}"), "not readable as YAML"),
        (HEAD + REST.replace("seeds: 1", f"seeds: {2**63}"), "seeds"),
        (HEAD + REST + "title: 2001-99-99", "not readable as YAML"),
        (HEAD + BIASED.replace("VALUE", ".nan"), "must be a finite number"),
        (HEAD + BIASED.replace("VALUE", "-.inf"), "must be a finite number"),
        (HEAD + BIASED.replace("VALUE", "1" + "0" * 400), "must be a finite number"),
        (HEAD + REST.replace("0.5", ".nan"), "must be a finite number"),
        (HEAD + REST + "validation_share: .inf", "must be a finite number"),
        (HEAD.replace("nnpu", "elkan_noto") + REST + "settings: {elkan_noto: {all: {hold_out: .nan}}}", "finite"),
        (
            HEAD + REST.replace("mechanisms: S1", "mechanisms: S2, parameters: {power: -1}"),
            "power above 0",
        ),
    ],
)
def test_a_protocol_that_cannot_be_meant_is_refused_with_a_sentence(text, words, tmp_path, capsys):
    place = tmp_path / "mine.yaml"
    place.write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["bench", "plan", str(place)])
    assert end.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert "Traceback" not in told.err


def test_anchors_and_aliases_may_be_used(tmp_path):
    text = HEAD + "seeds: &few [1, 2]\nconditions:\n- &c {mechanisms: S1, label_frequencies: 0.5}\n"
    text += "- {<<: *c, label_frequencies: 0.4}\n"
    assert parse_protocol(text, "mine").conditions[1].mechanisms == ("completely_at_random",)


def test_the_largest_seed_that_the_archive_can_hold_is_planned():
    text = HEAD + REST.replace("seeds: 1", f"seeds: {2**63 - 1}")
    assert expand(parse_protocol(text, "mine")).runs[0].seed == 2**63 - 1


def test_long_lists_that_multiply_are_counted_and_not_written_out():
    frequencies = [0.2 + place / 100_000 for place in range(2000)]
    protocol = load_protocol("smoke", seeds=list(range(20_000)))
    condition = protocol.conditions[0].model_copy(update={"label_frequencies": tuple(frequencies)})
    with pytest.raises(InputError, match=r"asks for .* runs, and 1,000,000 is the most"):
        expand(protocol.model_copy(update={"conditions": (condition,)}))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[]", "{}", '{"source": 1, "rates": [{}]}', '{"source": "a", "rates": 7}', "1" * 5000, "\x00"],
)
def test_a_file_of_rates_that_is_none_is_refused(text, tmp_path):
    place = tmp_path / "rates.json"
    place.write_text(text)
    with pytest.raises(InputError, match=r"rates\.json"):
        load_rates(place)


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": {"batch_size": []}}, {"settings": {"epochs": "3"}}, {"settings": [1]}, {"rows": "a"},
        {"rows": -5}, {"method": ["nnpu"]}, {"device": None}, {"seconds": float("nan")},
    ],
    ids=str,
)  # fmt: skip
def test_a_rate_of_other_values_than_numbers_and_words_is_refused(changed, tmp_path):
    rate = {"method": "nnpu", "dataset": "digits", "kind": "table", "device": "cpu", "seconds": 1.0, "memory": 1e6}
    rate |= {"runs": 3, "stack": 1.0, "rows": 1797, "settings": {"batch_size": 64, "epochs": 3}}
    place = tmp_path / "rates.json"
    place.write_text(json.dumps({"source": "me", "rates": [rate]}))
    assert len(load_rates(place)[1]) == 1
    place.write_text(json.dumps({"source": "me", "rates": [rate | changed]}))
    with pytest.raises(InputError, match=r"rates\.json: not a file of rates"):
        load_rates(place)


@pytest.mark.parametrize("device", ["meta", "nonsense", "mps", ""])
def test_a_device_that_computes_nothing_is_refused(device, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["bench", "run", "smoke", "--archive", str(tmp_path / "a"), "--device", device])
    assert end.value.code == 2
    assert "device" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()
