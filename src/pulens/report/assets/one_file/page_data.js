"use strict";
// What the page of an evaluation carries, made from counts in the same form as Python makes it (page_data.py).
const pageData = (() => {
  const { KINDS } = tallies;
  const [MOST_BINS, PRIORS_CORRECTED] = [48, 17];
  const finite = (value) => (Number.isFinite(value) ? value : null);

  function packed(values, whole = true) {
    const kind = whole && values.every((value) => Number.isInteger(value) && value < 2 ** 32) ? "u4" : "f8";
    const array = kind === "u4" ? Uint32Array.from(values) : Float64Array.from(values);
    const bytes = new Uint8Array(array.buffer);
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return { type: kind, data: btoa(text) };
  }

  function trackEnd(found, limit) {
    const { prior } = found;
    const high = prior.unlabelledInterval ? prior.unlabelledInterval.high : prior.unlabelled;
    const feasible = prior.unlabelledFeasible ? 1.2 * prior.unlabelledFeasible.high : 0;
    return Math.min(Math.max(1.3 * limit, 1.3 * high, 1.6 * prior.unlabelled, 0.02, feasible), 0.98);
  }

  function priorData(found, limit, top) {
    const { prior, tally, scenario } = found;
    const population = (share) => evidence.populationPrior(share, tally, scenario);
    const fixed = !tally.totals.unlabelled;
    return {
      value: prior.value,
      unlabelled: prior.unlabelled,
      low: prior.interval ? prior.interval.low : null,
      high: prior.interval ? prior.interval.high : null,
      confidence: prior.interval ? prior.interval.confidence : null,
      method: prior.method,
      held: found.held,
      track: fixed ? [0, top] : [population(0), population(top)],
      possible: fixed ? 1 : population(prior.unlabelledFeasible ? prior.unlabelledFeasible.high : limit),
      limit: fixed ? 1 : population(limit),
      fixed,
    };
  }

  function thinningData(found, thinned, top) {
    const answer = { kept: thinned.tally.size, of: thinned.distinct };
    if (thinned.tally.size === thinned.distinct) return answer;
    const priors = numbers.evenly(top / 1000, top, 2 * PRIORS_CORRECTED - 1);
    const metric = fixedFacts.byName.average_precision;
    const missing = priors.map((share) => {
      const [whole, part] = [found.tally, thinned.tally].map((tally) => estimates.clipped(metric, estimates.averagePrecision(tally, share, found.recoveryScenario)));
      return Number.isNaN(whole - part) ? 0 : whole - part;
    });
    const known = missing.filter((_, k) => k % 2 === 0);
    const between = missing.filter((_, k) => k % 2 === 1);
    return {
      ...answer,
      labelled_gap: thinned.labelledGap,
      unlabelled_gap: thinned.unlabelledGap,
      average_precision: {
        priors: priors.filter((_, k) => k % 2 === 0),
        missing: known,
        error: Math.max(...between.map((value, k) => Math.abs(value - (known[k + 1] + known[k]) / 2))),
      },
    };
  }

  // Rows of each kind per bin of the score; scores far out are counted in the outermost bins.
  function histogram(tally) {
    const bins = Math.min(Math.max(roundHalfEven(2.5 * tally.totals.labelled ** (1 / 3)), 10), MOST_BINS);
    const scores = tally.thresholds;
    const counts = KINDS.map((kind) => tallies.increments(tally, kind));
    let [low, high] = [0, 1];
    if (tally.size) {
      const rows = tally.labelled.map((value, i) => value + tally.unlabelled[i] + tally.negative[i]);
      [high, low] = [0.002, 0.998].map((share) => scores[Math.min(tallies.search(rows, share * rows.at(-1)), scores.length - 1)]);
      if (scores.at(-1) >= 0 && scores[0] <= 1) {
        low = low < 0.2 ? Math.min(low, 0) : low;
        high = high > 0.8 ? Math.max(high, 1) : high;
      }
    }
    if (!(low < high)) [low, high] = [low - 0.5, high + 0.5];
    const edges = numbers.evenly(low, high, bins + 1);
    const found = counts.map(() => new Array(bins).fill(0));
    for (let i = 0; i < scores.length; i++) {
      let place = 0;
      while (place < edges.length && edges[place] <= scores[i]) place += 1;
      place = Math.min(Math.max(place - 1, 0), bins - 1);
      counts.forEach((kind, k) => (found[k][place] += kind[i]));
    }
    return { edges, labelled: found[0], unlabelled: found[1], negative: tally.totals.negative ? found[2] : null };
  }

  const roundHalfEven = (value) => {
    const down = Math.floor(value);
    if (value - down !== 0.5) return Math.round(value);
    return down % 2 ? down + 1 : down;
  };

  function metricData(facts, evaluation) {
    const found = evaluation.estimates[facts.name];
    const { interval } = found;
    return {
      name: facts.name,
      title: facts.title,
      tile: facts.tile,
      reads: facts.reads,
      needs_class_prior: facts.needs_class_prior,
      rests_on: found.rests_on,
      only_interval: Boolean(found.withheld_because),
      higher_is_better: facts.higher_is_better,
      value: finite(found.value),
      low: interval ? finite(interval.low) : null,
      high: interval ? finite(interval.high) : null,
      confidence: interval ? interval.confidence : null,
      uncorrected: finite(evaluation.uncorrected[facts.name].value),
      undefined: found.undefined_because || facts.undefined_because,
    };
  }

  // The rows themselves at the page's thresholds: uncorrected numbers weight none of them.
  function plainCounts(tally, thresholds) {
    const at = (kind) => packed(Float64Array.from(thresholds, (threshold) => tally[kind][recovery.indexAt(tally.thresholds, threshold) - 1]));
    return { labelled: at("labelled"), unlabelled: at("unlabelled"), totals: tally.totals };
  }

  // Moving a slider keeps the weights of labelled rows, and intervals are the report's.
  function make(evaluation, summary) {
    const { found, values, threshold } = evaluation;
    const { tally, scenario } = values;
    const isPractice = evaluation.labelling === "practice";
    const thinned = tallies.thin(tally, [threshold]);
    const limit = evidence.largestPossible(thinned.tally, scenario);
    const top = trackEnd(values, limit);
    const { totals } = tally;
    const kept = thinned.tally;
    const prior = priorData(values, limit, top);
    const thinning = thinningData(values, thinned, Math.min(limit, top));
    return {
      verdict: summary.verdict,
      interval_name: summary.interval_name,
      totals,
      scenario,
      label_noise: 0,
      counts: {
        thresholds: packed(kept.thresholds, false),
        labelled: packed(kept.labelled, !isPractice),
        unlabelled: packed(kept.unlabelled, !isPractice),
        negative: totals.negative ? packed(kept.negative) : null,
      },
      ...(isPractice ? { plain: plainCounts(found.tally, kept.thresholds) } : {}),
      pairs: (tally.pairs ||= tallies.pairs(tally)),
      prior,
      labelling: null,
      threshold: finite(threshold),
      metrics: fixedFacts.metrics.map((facts) => metricData(facts, evaluation)),
      histogram: histogram(found.tally),
      thinning,
      weighted: isPractice,
    };
  }

  return { make };
})();
if (typeof module !== "undefined") module.exports = pageData;
