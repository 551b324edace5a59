"""Worlds for audits are what they say: class prior, labels, preference, truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pulens.testing import AUDIT_WORLDS, UNSEEN_AUDIT_WORLDS, AuditWorld


@pytest.mark.parametrize("world", [*AUDIT_WORLDS[4:7], *UNSEEN_AUDIT_WORLDS[-4:]], ids=lambda world: world.name)
def test_a_table_has_the_rows_and_the_class_prior_of_its_world(world: AuditWorld) -> None:
    table = world.draw(np.random.default_rng(0))
    assert (table.labelled.size, table.unlabelled.size) == (world.labelled, world.unlabelled)
    assert (np.diff(table.unlabelled) <= 0).all()
    assert table.truth()["class_prior"] == pytest.approx(world.class_prior, abs=1e-3)


def test_names_are_told_apart() -> None:
    names = [world.name for world in (*AUDIT_WORLDS, *UNSEEN_AUDIT_WORLDS)]
    assert len(set(names)) == len(names)
    assert len(UNSEEN_AUDIT_WORLDS) >= 5


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_labels_favour_high_scores_three_to_one(scenario: str) -> None:
    world = AuditWorld("pull", class_prior=0.5, labelled=500, unlabelled=20_000, shift=2.0, factor=3.0)
    table = replace(world, scenario=scenario).draw(np.random.default_rng(1))  # type: ignore[arg-type]
    above = (table.labelled > 2.0).sum()
    assert above / (500 - above) == pytest.approx(3, rel=0.3)


def test_truth_counts_labelled_positives_in_the_single_set_only() -> None:
    table = AuditWorld("two", class_prior=0.2, labelled=100, unlabelled=900, shift=2.0).draw(np.random.default_rng(2))
    flagged = table.unlabelled >= table.threshold
    assert table.truth()["precision"] == pytest.approx(table.positive[flagged].mean())
    assert table.truth()["recall"] == pytest.approx(flagged[table.positive].mean())
