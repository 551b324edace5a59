"""Labels that are random only within cells: recovered cell by cell, put together by what the cells hold."""

from pulens.cells.answer import CellRow, CellTable, cell_notices, cell_table, within_cells
from pulens.cells.counts import LabellingCells, check_cells
from pulens.cells.doubts import CellDoubts, doubts_of
from pulens.cells.equal_rates import EqualRates, equal_rates
from pulens.cells.evidence import CellEvidence
from pulens.cells.gathering import as_one_cell, gather_cells, gather_within
from pulens.cells.prior_answer import CellPriorRow, PriorsWithin, priors_within
from pulens.cells.priors import CellPriors, settle_cells
from pulens.cells.reading import read_cells
from pulens.cells.split import SplitRange, extreme_recalls
from pulens.cells.weighted import MassReplicates, WeightedEvidence, hull

__all__ = [
    "CellDoubts",
    "CellEvidence",
    "CellPriorRow",
    "CellPriors",
    "CellRow",
    "CellTable",
    "EqualRates",
    "LabellingCells",
    "MassReplicates",
    "PriorsWithin",
    "SplitRange",
    "WeightedEvidence",
    "as_one_cell",
    "cell_notices",
    "cell_table",
    "check_cells",
    "doubts_of",
    "equal_rates",
    "extreme_recalls",
    "gather_cells",
    "gather_within",
    "hull",
    "priors_within",
    "read_cells",
    "settle_cells",
    "within_cells",
]
