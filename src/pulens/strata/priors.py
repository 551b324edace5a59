"""The share of positives among the unlabelled rows of every cell: given, one for all, estimated and pooled, audited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError, InputError, PulensError, listed
from pulens.estimate import Interval
from pulens.evidence import Evidence, IntervalOptions
from pulens.inference.kernels.jackknife import JackknifeCounts, jackknife_error
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior, population_prior
from pulens.priors.audit import check_audit, prior_from_audit
from pulens.priors.clustered import design_effect, few_clusters_for_prior
from pulens.priors.estimate import FEWEST_LABELLED, FEWEST_UNLABELLED, estimate_from_tally
from pulens.priors.pooling import pooled_logits
from pulens.recovery.feasibility import largest_possible_prior
from pulens.scenario import Scenario
from pulens.strata.counts import LabellingCells, cell_title, totals_of
from pulens.types import Floats

Split = Literal["estimated", "equal"]
SPLITS = ("estimated", "equal")
FEW_LABELLED = 5  # in a cell, below which estimated priors were seen to cover less often than they claim
ENOUGH_CHECKED = 100  # rows in each cell: with fewer, intervals were seen to cover less often than they claim
IN_RANGE = 5  # class priors of a range that are looked at
LEAST, MOST = 1e-4, 1 - 1e-4  # shares as log odds end here
DRAWS = 2000
LOOKS = 5  # thresholds at which clusters are compared with independent rows
BY_CHANCE = 3.0  # standard errors by which a cell's labelled positives may exceed those that its class prior expects


@dataclass(frozen=True, eq=False)
class PriorSetting:
    """One way in which the class priors may be: a share per cell, and draws of them where they are in doubt."""

    shares: Floats
    draws: Floats | None = None  # of shape (draws, cells)

    @property
    def key(self) -> tuple[bytes, bytes]:
        return self.shares.tobytes(), b"" if self.draws is None else self.draws.tobytes()


@dataclass(frozen=True)
class CellPriors:
    """Shares of positives among the unlabelled rows of the cells, how sure they are, and where they come from.

    ``low`` and ``high`` are ranges of single cells; ``along`` holds one setting for each class prior of a range that
    was given for all rows. ``caps`` are the largest shares that each cell's rows allow if its labels are random.
    ``total_held``: the number of all positives was said, so redraws do not move it.
    """

    shares: Floats
    method: str
    caps: Floats
    draws: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    along: tuple[PriorSetting, ...] = ()
    total_held: bool = False
    held: Literal["population", "unlabelled"] = "unlabelled"
    assumption: str = ""
    notices: tuple[Notice, ...] = ()
    own: tuple[ClassPrior | None, ...] = ()  # what each cell's rows said by themselves

    @property
    def is_estimated(self) -> bool:
        return self.method.startswith("estimated")

    @property
    def treatment(self) -> Literal["exact", "drawn", "range"]:
        if self.along or self.high is not None:
            return "range"
        return "exact" if self.draws is None else "drawn"

    def settings(self, order: Floats, rows: Floats) -> list[PriorSetting]:
        """The ways that have to be looked at for a number that rises with the cells in ``order`` of their own numbers.

        Of ranges for single cells: for some totals, the two splits that put as many positives as they can into the
        cells with the highest, and with the lowest, numbers. ``rows`` are the unlabelled rows of the cells.
        """
        if self.along:
            return list(self.along)
        if self.low is None or self.high is None:
            return [PriorSetting(self.shares, self.draws)]
        least, most = self.low * rows, self.high * rows
        result = [PriorSetting(self.shares, self.draws)]
        for total in np.linspace(least.sum(), most.sum(), IN_RANGE):
            for sign in (1.0, -1.0):
                split = fill(least, most, total, np.argsort(-sign * order, kind="stable"))
                shares = np.divide(split, rows, out=self.shares.copy(), where=rows > 0)
                result.append(PriorSetting(shares, self._moved_to(shares)))
        return result

    def _moved_to(self, shares: Floats) -> Floats | None:
        """Draws of the cells that are in doubt, with those that have a range at one place of it."""
        if self.draws is None or self.low is None or self.high is None:
            return None
        return np.where(self.high > self.low, shares, self.draws)


class CellShares(dict[str, "CellShare"]):
    """Shares of cells by their names, and the class prior of all rows that the same checked rows tell."""

    whole: ClassPrior | None = None


class CellShare(NamedTuple):
    """The share of positives among a cell's unlabelled rows, and how many random rows that is worth."""

    share: float
    worth: float
    checked: int

    @property
    def counts(self) -> tuple[float, float]:
        """Positives and others among the rows that it is worth, half a row added to each."""
        return self.share * self.worth + 0.5, (1 - self.share) * self.worth + 0.5

    def prior(self, totals: Totals, question: IntervalOptions) -> ClassPrior:
        """The cell's class prior by its own checked rows."""
        from pulens.special import betaincinv

        yes, no = self.counts
        low, high = (float(betaincinv(yes, no, level)) for level in (0.025, 0.975))
        scenario, noise = Scenario(question.scenario), question.label_noise
        low, high = min(low, self.share), max(high, self.share)
        value, first, last = (population_prior(each, totals, scenario, noise) for each in (self.share, low, high))
        method = f"{self.checked:,} checked rows"
        of_rows, reach = Interval(first, last, 0.95, method), Interval(low, high, 0.95, method)
        return ClassPrior(value, self.share, method, of_rows, reach)


def fill(least: Floats, most: Floats, total: float, order: Any) -> Floats:
    """Positives of each cell: the least everywhere, and what is left of a total to the cells in this order.

    >>> fill(np.zeros(2), np.array([1200.0, 1600.0]), 1800.0, np.array([1, 0])).tolist()
    [200.0, 1600.0]
    """
    split = least.astype(float).copy()
    left = total - split.sum()
    for index in order:
        more = min(max(left, 0.0), most[index] - least[index])
        split[index] += more
        left -= more
    return split


def resolve_strata(cells: LabellingCells, question: IntervalOptions, split: str = "estimated") -> CellPriors:
    """Choose among the roads to a class prior per cell; see :func:`pulens.evaluate` for what may be given."""
    given = {
        name: value
        for name in ("class_prior", "unlabelled_prior", "audit")
        if (value := getattr(question, name)) is not None
    }
    by_cell = [name for name, value in given.items() if isinstance(value, Mapping)]
    estimated = not given or (set(given) == {"class_prior"} and isinstance(given["class_prior"], str))
    _refuse_contradictions(question, split, given, by_cell, estimated=estimated)
    caps = _caps(cells, question)
    if by_cell == ["audit"]:
        return _audited(cells, question, given["audit"], caps)
    if by_cell:
        return _given(cells, question, by_cell[0], _complete(cells, by_cell[0], given[by_cell[0]]), caps)
    if split == "equal":
        return _one_for_all(cells, question, given, caps)
    if estimated:
        return _estimated(cells, question, caps)
    return _split(cells, question, question.settle(cells.whole).class_prior, caps)


def _refuse_contradictions(
    question: IntervalOptions, split: str, given: Mapping[str, Any], by_cell: list[str], *, estimated: bool
) -> None:
    if split not in SPLITS:
        raise AssumptionError(f"split must be one of {listed(SPLITS)}, got {split!r}.")
    if question.combine:
        raise AssumptionError(
            "combine= sharpens one audit by one estimate, and labelled_within= has a class prior for every cell: leave "
            "combine= out."
        )
    if split == "equal" and (estimated or by_cell):
        raise AssumptionError(
            "split='equal' takes one class prior for every cell, so it needs class_prior= as a number or a range, got "
            f"{given or 'none'}."
        )
    if by_cell and len(given) > 1:
        raise AssumptionError(f"{' and '.join(given)} both say what a cell's class prior is: give one of them.")


def _one_for_all(
    cells: LabellingCells, question: IntervalOptions, given: Mapping[str, Any], caps: Floats
) -> CellPriors:
    """The class prior that was given, in every cell."""
    (name,) = given if len(given) == 1 else ("class_prior",)
    if name == "audit":
        result = question.settle(cells.whole).class_prior
        return _given(cells, question, "unlabelled_prior", dict.fromkeys(cells.names, result), caps, equal=True)
    return _given(cells, question, name, dict.fromkeys(cells.names, given[name]), caps, equal=True)


def _caps(cells: LabellingCells, question: IntervalOptions) -> Floats:
    purity = 1 - question.label_noise
    result = [
        largest_possible_prior(tally, question.label_noise, Scenario(question.scenario))
        if tally.totals.labelled and tally.totals.unlabelled
        else 0.999 * purity
        for tally in _worth(cells)
    ]
    return np.array(result)


def _worth(cells: LabellingCells) -> tuple[Tally, ...]:
    """The cells' tallies, with as many rows as those that belong together are worth.

    What is more than chance is judged by numbers of rows, and a cluster's rows are not that many rows. At a few
    thresholds the variance of the share of labelled and of unlabelled rows above it is found without each bucket, and
    all counts are divided by the largest excess over that of independent rows.
    """
    if not cells.buckets:
        return cells.tallies
    return tuple(_divided(tally, _excess(held)) for tally, held in zip(cells.tallies, cells.buckets, strict=True))


def _excess(held: BucketTally) -> float:
    at = np.asarray(held.tally.thresholds, float)[np.linspace(0, len(held.tally) - 1, LOOKS + 2).astype(int)[1:-1]]
    left = JackknifeCounts.of(held, np.unique(at)[::-1])
    whole = held.above(np.unique(at)[::-1]).sum(axis=0)
    result = [1.0]
    for kind, rows in enumerate(held.totals.sum(axis=0)[:2].tolist()):
        if rows:
            share = (whole[:, kind] + 0.5) / (rows + 1)
            errors = np.atleast_1d(jackknife_error(left.rates()[kind]))
            result += np.nan_to_num(errors**2 / (share * (1 - share) / rows)).tolist()
    return max(result)


def _divided(tally: Tally, times: float) -> Tally:
    kinds = (np.asarray(kind, float) / times for kind in (tally.labelled, tally.unlabelled, tally.negative))
    return Tally(tally.thresholds, *kinds)


def _complete(cells: LabellingCells, name: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    """A mapping from cells to what was said of each; refused where cells are missing or unknown."""
    said = {cell_title(cell): value for cell, value in given.items()}
    missing = [cell for cell in cells.names if cell not in said]
    if missing:
        raise InputError(
            f"{name} was given for {listed(said)} but not for the cells {listed(missing)} of {cells.words}."
        )
    unknown = [cell for cell in said if cell not in cells.names]
    if unknown:
        raise InputError(f"{name} names {listed(unknown)}, but the cells of {cells.words} are {listed(cells.names)}.")
    return said


def _given(
    cells: LabellingCells,
    question: IntervalOptions,
    name: str,
    said: dict[str, Any],
    caps: Floats,
    *,
    equal: bool = False,
) -> CellPriors:
    result = _settled_alone(cells, question, name, said)
    shares = np.array([prior.unlabelled for prior in result])
    low, high = np.array([_ends_of(prior) for prior in result]).T
    impossible = (cells.totals[:, 1] > 0) & (low > caps) & (shares > caps)
    if impossible.any():
        _refuse_impossible(cells, shares, caps, impossible)
    ranged = np.array([_is_a_range(prior) for prior in result])
    priors = CellPriors(
        np.minimum(shares, np.where(ranged, caps, shares)),
        _words_of_given(cells, result, equal=equal),
        caps,
        _drawn_of(cells, question, result, ranged),
        held="population" if name == "class_prior" else "unlabelled",
        assumption="Every cell has the same class prior." if equal else "The class prior of each cell is as given.",
        notices=_worst_of(result),
        own=tuple(result),
    )
    if not ranged.any():
        return priors
    if equal:  # the cells move together
        steps = np.linspace(0, 1, IN_RANGE)[:, None]
        moved = low + steps * (high - low)
        return replace(priors, along=tuple(PriorSetting(np.minimum(each, caps)) for each in moved))
    return replace(
        priors,
        low=np.minimum(np.where(ranged, low, shares), caps),
        high=np.where(ranged, np.minimum(high, caps), shares),
    )


def _settled_alone(
    cells: LabellingCells, question: IntervalOptions, name: str, said: dict[str, Any]
) -> list[ClassPrior]:
    """What was said of each cell, as the class prior of its rows."""
    silent = {"class_prior": None, "unlabelled_prior": None, "audit": None}
    result = []
    for cell, tally in zip(cells.names, cells.tallies, strict=True):
        value = _not_below_labels(said[cell], name, tally.totals, question)
        key = "class_prior" if isinstance(value, ClassPrior | str) else name
        try:
            result.append(replace(question, **{**silent, key: value}).settle(tally).class_prior)
        except PulensError as error:
            raise AssumptionError(f"cell {cell!r} of {cells.words}: {error}") from error
    return result


def _ends_of(prior: ClassPrior) -> tuple[float, float]:
    """From where to where the share of positives among unlabelled rows reaches; itself where it is exact."""
    reach = prior.unlabelled_interval
    return (prior.unlabelled, prior.unlabelled) if reach is None else (reach.low, reach.high)


def _is_a_range(prior: ClassPrior) -> bool:
    """Whether it was given from one number to another, with no chance in it."""
    reach = prior.unlabelled_interval
    return reach is not None and reach.confidence is None and reach.width > 0


def _words_of_given(cells: LabellingCells, result: list[ClassPrior], *, equal: bool) -> str:
    many = "one class prior in every cell" if equal else "one for each cell"
    if any(prior.method.startswith("estimated") for prior in result):
        return f"estimated: {many} of {cells.words}"
    return f"given, {many} of {cells.words}"


def _not_below_labels(value: Any, name: str, totals: Totals, question: IntervalOptions) -> Any:
    """A cell's class prior, or its labelled share where that is higher by chance alone.

    A cell of 50 rows with a class prior of 0.1 may hold 7 labelled positives: then no other is taken to be there. More
    than chance explains is refused as without cells.
    """
    if name != "class_prior" or question.scenario != Scenario.SINGLE_SET or not isinstance(value, Real):
        return value
    known, expected = (1 - question.label_noise) * totals.labelled, float(value) * totals.rows
    if expected < known <= expected + BY_CHANCE * np.sqrt(max(expected, 1.0)):
        return known / totals.rows
    return value


def _drawn_of(cells: LabellingCells, question: IntervalOptions, result: list[ClassPrior], ranged: Any) -> Floats | None:
    """Draws of the cells' shares where they have an interval at a confidence; the others stay."""
    if not any(not prior.is_exact and not range_ for prior, range_ in zip(result, ranged, strict=True)):
        return None
    size = question.redraws
    rng = np.random.Generator(np.random.PCG64([question.seed, 29]))
    columns = []
    for tally, prior, is_range in zip(cells.tallies, result, ranged, strict=True):
        evidence = Evidence(tally, prior, question.label_noise, Scenario(question.scenario))
        doubt = PriorUncertainty(evidence)
        normal = _even_normal(size, rng)
        share = prior.unlabelled if is_range else doubt.possible(doubt.drawn(normal))
        columns.append(np.broadcast_to(share, (size,)))
    return np.column_stack(columns)


def _even_normal(size: int, rng: np.random.Generator) -> Floats:
    from pulens.special import ndtri

    return np.asarray(ndtri((rng.permutation(size) + 0.5) / size))


def _refuse_impossible(cells: LabellingCells, shares: Floats, caps: Floats, which: Any) -> None:
    told = [f"{cells.names[index]} {caps[index]:.4g} (not {shares[index]:.4g})" for index in np.flatnonzero(which)]
    raise AssumptionError(
        "these class priors are impossible if labels are random within the cells: recovered rates would leave [0, 1] "
        f"by more than chance. The most that the unlabelled rows of each allow: {listed(told)}. Lower them, give "
        "ranges, or leave labelled_within out to see which labelling is nearest to random."
    )


def _worst_of(result: list[ClassPrior]) -> tuple[Notice, ...]:
    """Serious notices of single cells, each kind once."""
    kinds: dict[str, Notice] = {}
    for prior in result:
        for notice in prior.notices:
            if notice.severity is Severity.SERIOUS:
                kinds.setdefault(notice.code, notice)
    return tuple(kinds.values())


@dataclass(frozen=True)
class _Own:
    """What each cell says by itself: log odds and their variances, nan where it says nothing."""

    logits: Floats
    variances: Floats
    priors: tuple[ClassPrior | None, ...]

    @property
    def many(self) -> int:
        return int(np.isfinite(self.logits).sum())


def _own_estimates(cells: LabellingCells, question: IntervalOptions) -> _Own:
    """Of every cell by its own rows; where rows belong together, with the variance of as many rows as these are worth.

    That is :math:`D` times the variance, :math:`D` being the design effect of the area between the cell's labelled and
    unlabelled rows. Pooling takes cells for independent, so that what a cluster does to several at once is left out.
    """
    method = question.class_prior if isinstance(question.class_prior, str) else None
    logits, variances = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    result: list[ClassPrior | None] = [None] * len(cells)
    for index, tally in enumerate(cells.tallies):
        labelled, unlabelled, _ = tally.totals
        if labelled < FEWEST_LABELLED or unlabelled < FEWEST_UNLABELLED or len(tally) < 2:
            continue
        prior = estimate_from_tally(
            tally, method, scenario=question.scenario, label_noise=question.label_noise, confidence=0.95
        )
        if cells.buckets:
            prior = replace(prior, notices=(*few_clusters_for_prior(prior, cells.buckets[index]), *prior.notices))
        result[index] = prior
        logits[index], variances[index] = as_log_odds(prior)
        variances[index] *= design_effect(cells.buckets[index]) if cells.buckets else 1.0
    return _Own(logits, variances, tuple(result))


def as_log_odds(prior: ClassPrior) -> tuple[float, float]:
    """An estimate on the scale of log odds, and its variance from the width of its interval.

    An interval that begins at 0 has no width there: its upper half stands for both.

    >>> from pulens.estimate import Interval
    >>> own = ClassPrior(0.2, 0.2, "estimated", unlabelled_interval=Interval(0.1, 0.3, 0.95, ""))
    >>> [round(number, 4) for number in as_log_odds(own)]
    [-1.3863, 0.1186]
    """
    value = _log_odds(prior.unlabelled)
    reach = prior.unlabelled_interval
    if reach is None or reach.confidence is None:  # no chance in it: as good as nothing is known
        return value, 4.0
    if reach.low > LEAST:
        error = (_log_odds(reach.high) - _log_odds(reach.low)) / 3.92
    else:
        error = (_log_odds(reach.high) - value) / 1.645
    return value, max(error, 1e-3) ** 2


def _log_odds(share: float) -> float:
    inside = min(max(share, LEAST), MOST)
    return float(np.log(inside / (1 - inside)))


def _expit(logits: Any) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(logits, float))))


def high_scores(cells: LabellingCells) -> Floats | None:
    """Log odds of an unlabelled row of each cell to score at least as high as half of all labelled rows, centred.

    How many rows of a cell score high is seen with hardly any error and goes with its share of positives, whatever the
    cell's labelling rate: cells are drawn to those with scores like theirs. ``None`` where nothing is labelled.
    """
    whole = cells.whole
    labelled = whole.totals.labelled
    if not labelled:
        return None
    middle = float(whole.thresholds[int(np.searchsorted(whole.labelled, labelled / 2))])
    above = np.array([tally.at(middle)[1] for tally in cells.tallies], float)
    rows = cells.totals[:, 1]
    result = np.log((above + 0.5) / (np.maximum(rows - above, 0.0) + 0.5))
    return np.asarray(result - np.average(result, weights=rows if rows.sum() else None))


def _pooled(
    cells: LabellingCells, question: IntervalOptions, own: _Own, what: str, beside: Floats | None = None
) -> Floats:
    """Draws of the cells' log odds, borrowed from one another."""
    if not own.many:
        raise AssumptionError(
            f"no cell of {cells.words} has enough rows for {what}: at least {FEWEST_LABELLED} labelled and "
            f"{FEWEST_UNLABELLED} unlabelled rows are needed in one of them. Give class_prior= for each cell (a "
            "mapping, --cell-prior CELL=SHARE), or one number with split='equal' (--split equal)."
        )
    size = max(question.redraws, DRAWS)
    return pooled_logits(own.logits, own.variances, size, question.seed, beside)


def _estimated(cells: LabellingCells, question: IntervalOptions, caps: Floats) -> CellPriors:
    own = _own_estimates(cells, question)
    method = question.class_prior if isinstance(question.class_prior, str) else "auto"
    drawn = _pooled(cells, question, own, "an estimate of its class prior", high_scores(cells))
    if len(cells) == 1 and own.priors[0] is not None:  # nothing to borrow from
        prior = own.priors[0]
        draws = _drawn_of(cells, question, [prior], [False])
        words = f"{prior.method} within {cells.words}"
        return CellPriors(
            np.array([prior.unlabelled]), words, caps, draws, notices=prior.notices, own=own.priors,
            assumption=prior.assumption,
        )  # fmt: skip
    logits = np.median(drawn, axis=0)
    shares, draws = np.minimum(_expit(logits), caps), np.minimum(_expit(drawn), caps)
    words = f"estimated: {method} within {cells.words}, pooled"
    assumption = next((prior.assumption for prior in own.priors if prior is not None), "")
    return CellPriors(
        shares, words, caps, draws[: question.redraws], notices=_about_few(cells, own), own=own.priors,
        assumption=f"{assumption} Cells with few rows borrow from the others.",
    )  # fmt: skip


def _about_few(cells: LabellingCells, own: _Own) -> tuple[Notice, ...]:
    few = [name for name, row in zip(cells.names, cells.totals, strict=True) if row[0] < FEW_LABELLED and row[1]]
    alone = [p for p in own.priors if p is not None]
    clusters = {each.code: each for p in alone for each in p.notices if each.code == "few-clusters-for-prior"}
    result = list(clusters.values())
    if len(alone) < len(cells):
        result.append(
            Notice(
                Severity.NOTE,
                "cells-without-estimate",
                f"{len(cells) - len(alone)} of {len(cells)} cells have too few rows for an estimate of their own "
                f"({FEWEST_LABELLED} labelled and {FEWEST_UNLABELLED} unlabelled rows); their class priors are what "
                "the other cells leave open.",
            )
        )
    if few:
        result.append(
            Notice(
                Severity.WARNING,
                "tiny-cells",
                f"{len(few)} of {len(cells)} cells ({listed(few, limit=5)}) have fewer than {FEW_LABELLED} labelled "
                "rows, and the cells' class priors are estimated: in simulations 95% intervals held the truth in 85% "
                "to 93% then. Give class priors for the cells if you can.",
            )
        )
    return tuple(result)


def _split(cells: LabellingCells, question: IntervalOptions, whole: ClassPrior, caps: Floats) -> CellPriors:
    """One class prior for all rows, divided among cells as their estimates say."""
    rows = cells.totals[:, 1]
    held = question.prior_held
    if len(cells) == 1:
        return _given_to_one(cells, question, whole, caps, held)
    own = _own_estimates(cells, replace(question, class_prior=None, unlabelled_prior=None, audit=None))
    borrowed = _pooled(cells, question, own, "an estimate of how the positives divide", high_scores(cells))
    drawn = borrowed[: question.redraws]
    logits = np.median(drawn, axis=0)

    def setting(share: float, shares: Any) -> PriorSetting:
        """At a share of positives among all unlabelled rows, and its draws."""
        return PriorSetting(
            shifted(logits[None], rows, caps, np.array([share]))[0],
            shifted(drawn, rows, caps, np.broadcast_to(np.asarray(shares, float), (drawn.shape[0],))),
        )

    reach = whole.unlabelled_interval
    most = float(caps @ rows / rows.sum())
    least = whole.unlabelled if reach is None else reach.low
    if least > most:
        raise AssumptionError(
            f"{whole} means {least:.4g} positives among the unlabelled rows, and the cells of {cells.words} allow "
            f"{most:.4g} together if labels are random within them. Lower it, or leave out labelled_within."
        )
    doubt = PriorUncertainty(Evidence(cells.whole, whole, question.label_noise, Scenario(question.scenario)))
    shares: Any = whole.unlabelled
    if doubt.treatment == "drawn":
        rng = np.random.Generator(np.random.PCG64([question.seed, 31]))
        shares = doubt.possible(doubt.drawn(_even_normal(drawn.shape[0], rng)))
    here = setting(min(whole.unlabelled, most), np.minimum(shares, most))
    along: tuple[PriorSetting, ...] = ()
    if doubt.treatment == "range":
        along = tuple(setting(min(share, most), min(share, most)) for share in doubt.over(IN_RANGE))
    return CellPriors(
        here.shares,
        f"{whole.method}, split among {cells.words} by estimates",
        caps,
        here.draws,
        along=along,
        total_held=True,
        held=held,
        assumption=f"{whole.assumption} It divides among {cells.words} as estimates from the cells' scores say.",
        notices=(*whole.notices, *_about_few(cells, own)),
        own=own.priors,
    )


def _given_to_one(
    cells: LabellingCells, question: IntervalOptions, whole: ClassPrior, caps: Floats, held: Any
) -> CellPriors:
    ranged = _is_a_range(whole)
    along: tuple[PriorSetting, ...] = ()
    if ranged:
        along = tuple(PriorSetting(np.array([share])) for share in np.linspace(*_ends_of(whole), IN_RANGE))
    draws = None if ranged else _drawn_of(cells, question, [whole], [False])
    return CellPriors(
        np.array([whole.unlabelled]), whole.method, caps, draws, along=along, total_held=True, held=held,
        notices=whole.notices, own=(whole,), assumption=whole.assumption,
    )  # fmt: skip


def one_cell(cells: LabellingCells, question: IntervalOptions, evidence: Evidence) -> CellPriors:
    """The class prior of evidence as that of a single cell."""
    result = _given_to_one(cells, question, evidence.class_prior, np.ones(1), evidence.prior_held)
    return replace(result, total_held=not evidence.class_prior.method.startswith("estimated"))


def shifted(logits: Floats, rows: Floats, caps: Floats, shares: Floats) -> Floats:
    r"""Log odds moved by one number each until the cells hold a share of all rows together; back as shares.

    Finds :math:`\delta` with :math:`\sum_g n_g \min(\bar\alpha_g, \sigma(t_g + \delta)) = \alpha \sum_g n_g` in every
    row of ``logits``.

    >>> shifted(np.array([[-2.0, 0.0]]), np.array([1.0, 1.0]), np.ones(2), np.array([0.5])).round(4).tolist()
    [[0.2689, 0.7311]]
    """
    weights = rows / rows.sum()
    low, high = np.full(shares.shape, -40.0), np.full(shares.shape, 40.0)
    for _ in range(60):
        middle = (low + high) / 2
        enough = np.minimum(_expit(logits + middle[:, None]), caps) @ weights >= shares
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.minimum(_expit(logits + high[:, None]), caps)


def _audited(cells: LabellingCells, question: IntervalOptions, said: Mapping[Any, Any], caps: Floats) -> CellPriors:
    """A binomial per cell; cells that nobody checked borrow from those that were."""
    checked = {cell_title(cell): value for cell, value in said.items()}
    unknown = [cell for cell in checked if cell not in cells.names]
    if unknown:
        raise InputError(f"audit names {listed(unknown)}, but the cells of {cells.words} are {listed(cells.names)}.")
    logits, variances = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    result: list[ClassPrior | None] = [None] * len(cells)
    for index, (cell, row) in enumerate(zip(cells.names, cells.totals, strict=True)):
        if cell not in checked:
            continue
        if isinstance(checked[cell], CellShare):
            yes, no = checked[cell].counts
            logits[index], variances[index] = float(np.log(yes / no)), 1 / yes + 1 / no
            result[index] = checked[cell].prior(totals_of(row), question)
            continue
        try:
            prior = prior_from_audit(
                checked[cell], totals_of(row), scenario=question.scenario, label_noise=question.label_noise
            )
        except PulensError as error:
            raise AssumptionError(f"cell {cell!r} of {cells.words}: {error}") from error
        positives, rows = check_audit(checked[cell])
        result[index] = prior
        yes, no = positives + 0.5, rows - positives + 0.5
        logits[index], variances[index] = float(np.log(yes / no)), 1 / yes + 1 / no
    own = _Own(logits, variances, tuple(result))
    if not own.many:
        raise InputError(f"audit is empty: give positives and rows checked for the cells {listed(cells.names)}.")
    if len(cells) == 1 and result[0] is not None:
        return _given_to_one(cells, question, result[0], caps, "unlabelled")
    logits = _pooled(cells, question, own, "an audit")
    if isinstance(said, CellShares) and said.whole is not None:
        found_whole = _audited_whole(cells, question, said.whole, own, logits[: question.redraws], caps)
        return replace(found_whole, notices=(*found_whole.notices, *few_checked(len(cells), checked.values())))
    drawn = _expit(logits)
    shares = np.minimum(np.median(drawn, axis=0), caps)
    return CellPriors(
        shares,
        f"audit in {own.many} of {len(cells)} cells of {cells.words}, pooled",
        caps,
        np.minimum(drawn, caps)[: question.redraws],
        own=own.priors,
        assumption="The rows checked in each cell are a random draw of its unlabelled rows.",
        notices=few_checked(len(cells), checked.values()),
    )


def few_checked(cells: int, checked: Iterable[Any]) -> tuple[Notice, ...]:
    """That so few rows were checked in each cell that intervals were measured to be too narrow."""
    rows = sum(each.checked if isinstance(each, CellShare) else check_audit(each)[1] for each in checked)
    if rows >= ENOUGH_CHECKED * cells:
        return ()
    words = (
        f"{rows:,} rows were checked in {cells} cells, {rows / cells:.0f} in each on average. With so few, intervals "
        "of recall and what rests on it may be too narrow: in simulations 95% intervals held in 90% with 75 rows "
        f"a cell and in 83% with 25. Check {ENOUGH_CHECKED} rows or more in each, or name fewer cells."
    )
    return (Notice(Severity.WARNING, "few-checked-in-cells", words),)


def _audited_whole(
    cells: LabellingCells, question: IntervalOptions, whole: ClassPrior, own: _Own, drawn: Floats, caps: Floats
) -> CellPriors:
    """Checked rows of all cells together tell the total, and those of each cell how it divides."""
    rows = cells.totals[:, 1]
    most = float(caps @ rows / rows.sum())
    doubt = PriorUncertainty(Evidence(cells.whole, whole, question.label_noise, Scenario(question.scenario)))
    rng = np.random.Generator(np.random.PCG64([question.seed, 59]))
    totals = np.broadcast_to(np.asarray(doubt.possible(doubt.drawn(_even_normal(len(drawn), rng)))), (len(drawn),))
    middle = np.median(drawn, axis=0)[None]
    return CellPriors(
        shifted(middle, rows, caps, np.array([min(whole.unlabelled, most)]))[0],
        f"audit in {own.many} of {len(cells)} cells of {cells.words}, pooled",
        caps,
        shifted(drawn, rows, caps, np.minimum(totals, most)),
        total_held=True,
        own=own.priors,
        assumption="The rows checked in each cell are a random draw of its unlabelled rows.",
        notices=whole.notices,
    )
