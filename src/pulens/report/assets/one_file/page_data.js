"use strict";
// What the page of an evaluation carries, made from counts in the same form as Python makes it (page_data.py).
const pageData = (() => {
  const { KINDS } = tallies;
  const [MOST_BINS, PRIORS_WITH_INTERVALS, FACTORS_TRIED, MOST_FAVOURED, PRIORS_CORRECTED] = [48, 17, 17, 5, 17];
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

  // on a long ranking this takes most of the time, and the scenario of the report asks twice
  const corrected = new WeakMap();
  function thinningData(found, thinned, top) {
    const known = corrected.get(thinned) ?? corrected.set(thinned, {}).get(thinned);
    return (known[`${found.recoveryScenario} ${top}`] ??= thinningFound(found, thinned, top));
  }

  function thinningFound(found, thinned, top) {
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

  // The same rows in another scenario: the class prior that was given, or the nearest that is possible there.
  function inScenario(found, scenario) {
    if (scenario === found.scenario) return found;
    const { prior, tally } = found;
    let share;
    try {
      share = evidence.inScenario(found, scenario).prior.unlabelled;
    } catch (error) {
      if (!(error instanceof evidence.Refusal)) throw error;
      share = prior.value < 0.5 ? 0 : 1;
    }
    share = Math.min(share, 0.9999);
    const { method, unlabelledFeasible } = prior;
    return evidence.make(tally, { value: evidence.populationPrior(share, tally, scenario), unlabelled: share, method, unlabelledFeasible, notices: [] }, scenario);
  }

  function scenarioData(evaluation, scenario, thinned) {
    const found = inScenario(evaluation.found, scenario);
    const limit = evidence.largestPossible(thinned.tally, scenario);
    const top = trackEnd(found, limit);
    const prior = priorData(found, limit, top);
    return {
      track: prior.track,
      possible: prior.possible,
      limit: prior.limit,
      population: evidence.population(found),
      area_offsets: areaOffsets(evaluation, found, top),
      missing: thinningData(found, thinned, Math.min(limit, top)).average_precision ?? null,
    };
  }

  // How far the ends of the ROC AUC's interval lie from its value, at class priors over the slider's range.
  function areaOffsets(evaluation, given, top) {
    if (evaluation.confidence === null) return null;
    const tally = tallies.compress(given.tally);
    const metric = { ...fixedFacts.byName.roc_auc, lowest: -Infinity, highest: Infinity };
    const found = { priors: [], low: [], high: [] };
    for (const share of numbers.evenly(0, top, PRIORS_WITH_INTERVALS)) {
      const value = evidence.populationPrior(share, tally, given.scenario);
      const exact = evidence.make(tally, { value, unlabelled: share, method: "tried", notices: [] }, given.scenario);
      const area = estimates.estimate(metric, exact, null, intervals.workshop(exact, evaluation.confidence));
      if (!area.interval) return null;
      found.priors.push(share);
      found.low.push(area.interval.low - area.value);
      found.high.push(area.interval.high - area.value);
    }
    return found;
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

  // --- ranges of the areas when labelling favoured high scores -----------------------------------------------------

  function sensitivity(evaluation, thinned) {
    const found = { ...evaluation.found, tally: thinned.tally };
    if (!found.tally.totals.labelled) return null;
    const last = Math.log10(MOST_FAVOURED);
    const factors = Array.from({ length: FACTORS_TRIED }, (_, k) => (k === 0 ? 1 : k === FACTORS_TRIED - 1 ? MOST_FAVOURED : 10 ** ((last / (FACTORS_TRIED - 1)) * k)));
    const areas = {};
    for (const [name, up] of [["roc_auc", rangeOfArea], ["average_precision", rangeOfAveragePrecision]]) {
      const known = estimates.valueAt(fixedFacts.byName[name], found, found.prior.unlabelled, null);
      if (Number.isNaN(known)) return null;
      const ends = factors.map((factor) => up(found, factor, known));
      areas[name] = {
        low: ends.map(([low]) => Math.min(known, Math.max(low, 0))),
        high: ends.map(([, high]) => Math.max(known, Math.min(high, 1))),
      };
    }
    return { factors, areas };
  }

  const shareOf = (tally, kind) => {
    const total = tally.totals[kind];
    return tally[kind].map((count) => (total ? count / total : 0));
  };
  const steps = (rates) => rates.map((rate, i) => rate - (i ? rates[i - 1] : 0));

  // In the single set a labelled row is one of the positives, and stands for at least itself.
  const floorOf = (found) => {
    const { positive } = evidence.mapOf(found);
    return found.recoveryScenario === "single-set" && positive > 0 ? Math.min(found.tally.totals.labelled / positive, 1) : 0;
  };

  // The smallest value of h and the mean of values at every corner: the step after the first k scores, k = 1 to all.
  function cornersOf(shares, values, factor) {
    const size = shares.length;
    const [above, mass] = [0, 0].map(() => new Float64Array(size));
    for (let i = 0; i < size; i++) {
      above[i] = (i ? above[i - 1] : 0) + shares[i];
      mass[i] = (i ? mass[i - 1] : 0) + shares[i] * values[i];
    }
    const [all, sum] = [above[size - 1], mass[size - 1]];
    const smallest = above.map((each) => (each > 0 ? 1 / (each + factor * (all - each)) : 1));
    return { smallest, means: mass.map((each, i) => (above[i] > 0 ? smallest[i] * (each + factor * (sum - each)) : sum)) };
  }

  const densityAt = (shares, place, factor) => {
    const weighed = Array.from(shares, (share, i) => share * (i <= place ? 1 : factor));
    const total = weighed.reduce((sum, each) => sum + each, 0);
    return weighed.map((each) => each / total);
  };

  const placeOfLeast = (values) => {
    let place = 0;
    for (let i = 1; i < values.length; i++) if (values[i] < values[place]) place = i;
    return place;
  };

  // The lowest mean of values over the positives: that of a corner, or the lower hull of all corners read at the floor.
  function lowestMean(shares, values, factor, asked) {
    const { smallest, means } = cornersOf(shares, values, factor);
    const floor = Math.min(asked, smallest[smallest.length - 1]);
    let left = placeOfLeast(means);
    if (smallest[left] >= floor) return { value: means[left], density: () => densityAt(shares, left, factor) };
    let right = means.length - 1;
    const scale = 1e-14 * (largest(means.map(Math.abs)) + 1);
    for (;;) {
      const slope = (means[right] - means[left]) / (smallest[right] - smallest[left]);
      const over = means.map((mean, i) => mean - slope * smallest[i]);
      const place = placeOfLeast(over);
      if (over[place] >= Math.min(over[left], over[right]) - scale) break;
      if (smallest[place] < floor) left = place;
      else right = place;
    }
    const part = (smallest[right] - floor) / (smallest[right] - smallest[left]);
    const mixed = (first, second) => first.map((each, i) => part * each + (1 - part) * second[i]);
    return {
      value: part * means[left] + (1 - part) * means[right],
      density: () => mixed(densityAt(shares, left, factor), densityAt(shares, right, factor)),
    };
  }

  const least = (values) => values.reduce((low, value) => Math.min(low, value), Infinity);
  const largest = (values) => values.reduce((high, value) => Math.max(high, value), -Infinity);

  function rangeOfArea(found, factor) {
    const { tally } = found;
    const map = evidence.mapOf(found);
    const rates = KINDS.map((kind) => shareOf(tally, kind));
    const outscored = rates.map((rate) => {
      const at = steps(rate);
      return rate.map((each, i) => 1 - (each - at[i] / 2));
    });
    const together = found.recoveryScenario === "single-set";
    const weights = together ? KINDS.map((kind) => tally.totals[kind] / map.negative) : [0, map.alarms[1], map.alarms[2]];
    const values = rates[0].map((_, i) => weights[0] * outscored[0][i] + weights[1] * outscored[1][i] + weights[2] * outscored[2][i]);
    const constant = together ? (-0.5 * map.positive) / map.negative : 0.5 * map.alarms[0];
    const shares = steps(rates[0]);
    const floor = floorOf(found);
    const low = lowestMean(shares, values, factor, floor).value + constant;
    const high = constant - lowestMean(shares, values.map((each) => -each), factor, floor).value;
    const share = found.prior.unlabelled;
    if (!floor || !share) return [low, high];
    // nor does any labelling go beyond the hidden positives being the lowest, or the highest, unlabelled rows
    const placed = (ranked, at) => {
      let [reached, sum] = [0, 0];
      for (let i = 0; i < ranked.length; i++) {
        const next = Math.min(reached + ranked[i] / share, 1);
        sum += (next - reached) * at[i];
        reached = next;
      }
      return sum;
    };
    const own = floor * shares.reduce((sum, each, i) => sum + each * values[i], 0) + constant;
    const others = steps(rates[1]);
    const backwards = (list) => Array.from(list).reverse();
    return [
      Math.max(low, own + (1 - floor) * placed(backwards(others), backwards(values))),
      Math.min(high, own + (1 - floor) * placed(others, values)),
    ];
  }

  function rangeOfAveragePrecision(found, factor, known) {
    const tally = tallies.compress(found.tally);
    const map = evidence.mapOf(found);
    const { totals, rows } = found.tally;
    const [labelled, unlabelled, refuted] = KINDS.map((kind) => tally[kind].map((count) => (totals[kind] ? count / totals[kind] : 0)));
    const prior = map.positive / (map.positive + map.negative);
    if (prior === 0) return [known, known];
    const shares = [];
    const called = [];
    const at = steps(labelled);
    let most = -Infinity;
    for (let i = 0; i < tally.size; i++) {
      if (!(at[i] > 0)) continue;
      const share =
        found.recoveryScenario === "single-set"
          ? (totals.labelled * labelled[i] + totals.unlabelled * unlabelled[i] + totals.negative * refuted[i]) / rows
          : unlabelled[i];
      most = Math.max(most, share, prior * labelled[i]);
      shares.push(at[i]);
      called.push(most);
    }
    const [low, high] = precisionSumRange(shares, called, factor, floorOf(found));
    const now = precisionSum(shares, called);
    return [known + prior * (low - now), known + prior * (high - now)];
  }

  function precisionSum(density, called) {
    let running = 0;
    let sum = 0;
    density.forEach((each, i) => {
      running += each;
      sum += (each * running) / called[i];
    });
    return sum;
  }

  // Extremes of the sum over the densities that the labelling allows: the highest at a corner, the lowest by the method
  // of Frank and Wolfe, less what is left of its gap.
  function precisionSumRange(shares, called, factor, floor, tolerance = 1e-6) {
    const size = shares.length;
    const highest = highestSum(shares, called, factor, floor);
    const total = shares.reduce((sum, each) => sum + each, 0);
    let f = shares.map((each) => each / total);
    let best = -Infinity;
    let value = precisionSum(f, called);
    for (let round = 0; round < 4000; round++) {
      const slope = new Float64Array(size);
      let running = 0;
      for (let i = 0; i < size; i++) slope[i] = (running += f[i]) / called[i];
      let tail = 0;
      for (let i = size - 1; i >= 0; i--) slope[i] += tail += f[i] / called[i];
      const target = lowestMean(shares, slope, factor, floor);
      const gap = f.reduce((sum, each, i) => sum + slope[i] * each, 0) - target.value;
      best = Math.max(best, value - gap);
      if (gap <= tolerance) break;
      const ahead = target.density().map((each, i) => each - f[i]);
      const bend = precisionSum(ahead, called);
      const step = bend <= 0 ? 1 : Math.min(1, gap / (2 * bend));
      f = f.map((each, i) => each + step * ahead[i]);
      value = precisionSum(f, called);
    }
    return [Math.min(best, highest), highest];
  }

  // The sum at every corner, and where edges meet the floor if the best corner lies below it.
  function highestSum(shares, called, factor, floor) {
    const { smallest } = cornersOf(shares, shares, factor);
    const corners = shares.map((_, place) => densityAt(shares, place, factor));
    const sums = corners.map((corner) => precisionSum(corner, called));
    const best = placeOfLeast(sums.map((sum) => -sum));
    if (smallest[best] >= floor) return sums[best];
    const over = corners.map((corner) => {
      let running = 0;
      return corner.map((each, i) => (running += each) / called[i]);
    });
    const dot = (a, b) => a.reduce((sum, each, i) => sum + each * b[i], 0);
    let highest = -Infinity;
    corners.forEach((below, i) => {
      if (smallest[i] >= floor) return;
      corners.forEach((above, j) => {
        if (smallest[j] < floor) return;
        const part = (smallest[j] - floor) / (smallest[j] - smallest[i]);
        const mixed = (dot(below, over[j]) + dot(over[i], above)) / 2;
        highest = Math.max(highest, part ** 2 * sums[i] + 2 * part * (1 - part) * mixed + (1 - part) ** 2 * sums[j]);
      });
    });
    return highest;
  }

  function make(evaluation, summary) {
    const { found, threshold } = evaluation;
    const { tally } = found;
    const thinned = tallies.thin(tally, [threshold]);
    const limit = evidence.largestPossible(thinned.tally, found.scenario);
    const top = trackEnd(found, limit);
    const { totals } = tally;
    const kept = thinned.tally;
    return {
      verdict: summary.verdict,
      interval_name: summary.interval_name,
      totals,
      scenario: found.scenario,
      label_noise: 0,
      counts: {
        thresholds: packed(kept.thresholds, false),
        labelled: packed(kept.labelled),
        unlabelled: packed(kept.unlabelled),
        negative: totals.negative ? packed(kept.negative) : null,
      },
      pairs: (tally.pairs ||= tallies.pairs(tally)),
      prior: priorData(found, limit, top),
      labelling: null,
      threshold: finite(threshold),
      metrics: fixedFacts.metrics.map((facts) => metricData(facts, evaluation)),
      histogram: histogram(tally),
      confidence: evaluation.confidence,
      scenarios: Object.fromEntries(["case-control", "single-set"].map((scenario) => [scenario, scenarioData(evaluation, scenario, thinned)])),
      sensitivity: sensitivity(evaluation, thinned),
      bounds: Boolean(evaluation.confidence !== null && totals.unlabelled && totals.labelled),
      thinning: thinningData(found, thinned, Math.min(limit, top)),
      top: [],
      ladder: ladder.data(evaluation.ladder, (scenario) => inScenario(found, scenario)),
      decision: costCard.of(evaluation),
    };
  }

  return { make };
})();
if (typeof module !== "undefined") module.exports = pageData;
