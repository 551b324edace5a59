"""Labels that are random only within cells: recovered cell by cell, put together by what the cells hold."""

from pulens.inference.intervals import interval_estimator
from pulens.strata.answer import CellRow, CellTable, cell_notices, cell_table, within_cells
from pulens.strata.counts import LabellingCells, check_cells
from pulens.strata.equal_rates import EqualRates, equal_rates
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.gathering import as_one_cell, gather_cells, gather_design, gather_within
from pulens.strata.intervals import StratifiedIntervalEstimator, uncertainty_of
from pulens.strata.prior_answer import CellPriorRow, PriorsWithin, priors_within
from pulens.strata.priors import CellPriors, resolve_strata
from pulens.strata.reading import read_cells
from pulens.strata.split import SplitRange, extreme_recalls
from pulens.strata.weighted import WeightedEvidence

__all__ = [
    "CellPriorRow",
    "CellPriors",
    "CellRow",
    "CellTable",
    "EqualRates",
    "LabellingCells",
    "PriorsWithin",
    "SplitRange",
    "StratifiedEvidence",
    "StratifiedIntervalEstimator",
    "WeightedEvidence",
    "as_one_cell",
    "cell_notices",
    "cell_table",
    "check_cells",
    "equal_rates",
    "extreme_recalls",
    "gather_cells",
    "gather_design",
    "gather_within",
    "interval_estimator",
    "priors_within",
    "read_cells",
    "resolve_strata",
    "uncertainty_of",
    "within_cells",
]
