"""Table D.6 of PU-Bench: who is significantly better or worse than nnPU, ours beside the published p-values."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, sqrt

from scipy import stats

from pulens.research.benchmark.analyse import paired
from pulens.research.benchmark.methods import DISAMBIGUATION, GENERATIVE, RISK
from pulens.research.benchmark.published import table_1, table_d6
from pulens.research.studies import bench_table_1
from pulens.research.studies._bench import Runs, claim, runs, verdicts
from pulens.research.studies._study import Claim, Outcome, Study, Workbench

LEVEL, SEEDS, OTHERS = 0.05, 10, 17  # of the published tests: level, seeds, methods compared with nnPU
SELF_TRAINED = ("selfpu", "holisticpu")
Tests = Mapping[tuple[str, str], paired.Paired]


def run(bench: Workbench) -> Outcome:
    """Reads the archive that ``PULENS_ARCHIVE`` names; with --quick a few runs are made on data at hand."""
    result = runs(bench, "conventional", bench_table_1.QUICK)
    tests = tests_of(result)
    tables = (f"Runs: {result.source}.", _table(result, tests))
    return Outcome(tables, verdicts(result, claims_of(result, tests)))


def tests_of(result: Runs) -> dict[tuple[str, str], paired.Paired]:
    """Paired t-tests of every method against nnPU, Holm over methods, epochs by true validation labels."""
    cells = {place: own for place, own in result.seeds("accuracy", oracle=True).items() if place[0] in _methods()}
    return {(one.learner, one.dataset): one for one in paired.against_reference(cells) if not isnan(one.corrected)}


def _methods() -> set[str]:
    return {method for method, _ in table_d6()} | {"nnpu"}


def _table(result: Runs, tests: Tests) -> str:
    datasets = sorted({dataset for _, dataset in tests})
    lines = [
        "Corrected p-values of paired t-tests against nnPU, with the sign of the difference; published beside them",
        f"{'':<32}" + "".join(f"{one:>22}" for one in datasets),
    ]
    for method in sorted({method for method, _ in tests}):
        cells = []
        for dataset in datasets:
            test, published = tests.get((method, dataset)), table_d6().get((method, dataset))
            ours = "–" if test is None else f"{'+' if test.difference > 0 else '-'}{test.corrected:.1e}"
            cells.append(f"{ours + ('' if published is None else f' / {published:.1e}'):>22}")
        lines.append(f"{result.titles[method]:<32}{''.join(cells)}")
    return "\n".join(lines)


def claims_of(result: Runs, tests: Tests) -> tuple[Claim, ...]:
    """What section D.2.2 says of the table, and what became of it here."""
    return (_gains(result, tests), _self_trained(tests), _generative(result, tests), _noise(tests), _follows())


def _counted(tests: Tests, methods: set[str]) -> dict[str, int]:
    mine = [one.verdict(LEVEL) for (method, _), one in tests.items() if method in methods]
    return {kind: mine.count(kind) for kind in ("better", "tie", "worse")}


def _words(counted: Mapping[str, int]) -> str:
    return f"better {counted['better']}, worse {counted['worse']} of {sum(counted.values())} times"


def _gains(result: Runs, tests: Tests) -> Claim:
    statement = "Risk estimators and disambiguation-guided methods are significantly better than nnPU on some data sets"
    mine = {method for method, _ in tests if result.families[method] in (RISK, DISAMBIGUATION)}
    if not mine:
        return claim(statement, None, "no test against nnPU")
    counted = _counted(tests, mine)
    better = len({method for (method, _), one in tests.items() if method in mine and one.verdict(LEVEL) == "better"})
    return claim(statement, better >= 3, f"{better} of {len(mine)} methods; {_words(counted)}")


def _self_trained(tests: Tests) -> Claim:
    statement = "Self-training and holistic variants more often are significantly worse"
    counted = _counted(tests, set(SELF_TRAINED))
    if not sum(counted.values()):
        return claim(statement, None, "no test of Self-PU or Holistic-PU")
    return claim(statement, counted["worse"] > counted["better"], _words(counted))


def _generative(result: Runs, tests: Tests) -> Claim:
    statement = "Generative methods rarely are significantly better, and can be significantly worse"
    mine = {method for method, _ in tests if result.families[method] == GENERATIVE}
    if not mine:
        return claim(statement, None, "no test of a generative method")
    counted = _counted(tests, mine)
    rarely = counted["better"] <= 0.1 * sum(counted.values())
    return claim(statement, rarely and counted["worse"] > 0, _words(counted))


def _noise(tests: Tests) -> Claim:
    statement = "The gaps of Table 1 are not seed noise"
    if not tests:
        return claim(statement, None, "no test against nnPU")
    sure = sum(one.verdict(LEVEL) != "tie" for one in tests.values())
    published = sum(p < LEVEL for p in table_d6().values())
    told = f"{sure} of {len(tests)} differences from nnPU are significant; published: {published} of {len(table_d6())}"
    return claim(statement, sure > len(tests) / 2, told)


def limits(method: str, dataset: str) -> tuple[float, float]:
    """The least and the largest corrected p-value that the printed means and deviations of Table 1 allow.

    The deviation of a difference lies between the difference and the sum of both deviations, and Holm multiplies by at
    most the number of methods.
    """
    ours, nnpu = table_1()[method, dataset], table_1()["nnpu", dataset]
    gap = abs(ours.accuracy - nnpu.accuracy)
    result = []
    for spread, times in ((abs(ours.sd - nnpu.sd), 1), (ours.sd + nnpu.sd, OTHERS)):
        t = gap / (spread / sqrt(SEEDS)) if spread else float("inf")
        result.append(min(1.0, times * 2 * float(stats.t.sf(t, SEEDS - 1))))
    return result[0], result[1]


def _follows() -> Claim:
    """Whether the table can be right at all, whatever the seeds were."""
    statement = "The printed p-values can follow from Table 1's means and deviations"
    off = {place: p for place, p in table_d6().items() if p > 1.01 * limits(*place)[1]}
    below = {place: p for place, p in table_d6().items() if p < 0.99 * limits(*place)[0]}
    worst = sorted(off, key=lambda place: limits(*place)[1] / off[place])[:3]
    told = ", ".join(f"{m} on {d} {off[m, d]:.2g} for at most {limits(m, d)[1]:.1g}" for m, d in worst)
    words = (
        f"{len(off)} of {len(table_d6())} are larger than any pairing of seeds allows ({told}), {len(below)} smaller"
    )
    return claim(statement, not off and not below, words)


STUDY = Study("Who is significantly better than nnPU", "PU-Bench, Table D.6", run)
