"""One quantity is one number, whichever door, source or order of rows it comes from (tests/fuzz has the doors)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

pytest.importorskip("pyarrow")
from python_calls import law

import pulens
from pulens.errors import PulensError

CASES = 6


@pytest.mark.parametrize("check", law.LAWS, ids=lambda check: check.__name__)
def test_a_quantity_is_one_number_through_every_door(check, tmp_path):
    wrong, answered = [], 0
    for number in range(CASES):
        chance = random.Random(f"{check.__name__} {number}")
        case = law.draw(chance)
        if check not in law.OF_EVALUATIONS:  # the other functions take labels for random
            case = replace(case, labelling="random")
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            result = [f"{case.told()}: {each}" for each in check(case, chance, folder)]
        except PulensError:
            continue
        answered += 1
        wrong += result
    assert not wrong, "\n".join(wrong[:6])
    assert answered, "every door refused: nothing was compared"


def test_a_door_that_gives_another_number_is_found(monkeypatch, tmp_path):
    plain = pulens.Evaluation.to_dict

    def doctored(evaluation):
        result = plain(evaluation)
        result["estimates"]["recall"]["low"] -= 1e-6
        return result

    monkeypatch.setattr(pulens.Evaluation, "to_dict", doctored)
    chance = random.Random(1)
    case = replace(law.draw(chance), assumed={"unlabelled_prior": 0.1})
    (said,) = law.in_json(case, chance, tmp_path)
    assert "low of recall" in said
