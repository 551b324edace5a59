"use strict";
// From evidence to numbers: every metric's value, the range it takes over the class prior, and its interval.
const estimates = (() => {
  const NARROWEST = 1e-3;
  const PRIORS_TRIED = 33;
  const [LONG_TALLY, FEWER_PRIORS] = [200000, 9];

  // --- values ------------------------------------------------------------------------------------------------------

  function cellsAt(found, share, threshold) {
    const { tally } = found;
    const map = evidence.mapOf(found, share);
    const [hit, alarm] = recovery.ratesOf(map, tally.totals, ...tallies.at(tally, threshold));
    return { hits: [hit], alarms: [alarm], positive: map.positive, negative: map.negative };
  }

  // Over the recovered precision-recall curve, no interpolation; with clean labels the ranking is its order.
  function averagePrecision(tally, share, scenario) {
    const map = recovery.mapOf(tally.totals, { unlabelledPrior: share, labelNoise: 0, scenario });
    const { labelled, unlabelled, negative } = tally.totals;
    const [ofLabelled, ofUnlabelled, ofNegative] = [tally.labelled, tally.unlabelled, tally.negative];
    const [onLabelled, onUnlabelled, onNegative] = map.alarms;
    let sum = 0;
    let before = 0;
    let any = false;
    for (let i = 0; i < tally.size; i++) {
      const recall = labelled ? ofLabelled[i] / labelled : 0;
      const alarm =
        onLabelled * recall +
        onUnlabelled * (unlabelled ? ofUnlabelled[i] / unlabelled : 0) +
        onNegative * (negative ? ofNegative[i] / negative : 0);
      if (alarm < -recovery.ROUNDING || alarm > 1 + recovery.ROUNDING) continue;
      const hits = map.positive * recall;
      const called = hits + map.negative * recovery.clip(alarm);
      if (!(called > 0)) continue;
      sum += (recall - before) * (hits / called);
      before = recall;
      any = true;
    }
    return any ? sum : NaN;
  }

  function raw(facts, found, share, threshold) {
    if (facts.name === "roc_auc") {
      found.tally.pairs ||= tallies.pairs(found.tally);
      return recovery.rocAuc(found.tally.pairs, evidence.mapOf(found, share));
    }
    if (facts.name === "average_precision") return averagePrecision(found.tally, share, found.recoveryScenario);
    return recovery.metrics[facts.name](recovery.cellsOf(cellsAt(found, share, threshold), 0));
  }

  const clipped = (facts, value) => (Number.isNaN(value) ? value : Math.min(Math.max(value, facts.lowest), facts.highest));
  const valueAt = (facts, found, share, threshold) => clipped(facts, raw(facts, found, share, threshold));

  // The threshold with the best recovered F1; the highest one if several are best.
  function bestThreshold(found) {
    const { tally } = found;
    const tables = recovery.tablesOf(
      { ...tally, negative: tally.totals.negative ? tally.negative : null },
      tally.totals,
      evidence.given(found),
    );
    let best = -Infinity;
    let place = -1;
    for (let i = 1; i <= tally.size; i++) {
      if (!recovery.isPossible(tables, i)) continue;
      const value = recovery.metrics.f1(recovery.cellsOf(tables, i));
      if (value > best) [best, place] = [value, i];
    }
    return tally.thresholds[place < 0 ? tally.size - 1 : place - 1];
  }

  // --- how sure ----------------------------------------------------------------------------------------------------

  function priorRange(facts, found, known, threshold) {
    const reach = found.prior.unlabelledInterval;
    if (!reach) return null;
    if (!facts.needs_class_prior) return { low: known, high: known, confidence: null, method: "does not depend on the class prior" };
    const many = facts.reads === "ranking" && found.tally.size > LONG_TALLY ? FEWER_PRIORS : PRIORS_TRIED;
    const values = [known];
    for (const share of numbers.evenly(reach.low, reach.high, many)) {
      const value = valueAt(facts, found, share, threshold);
      if (!Number.isNaN(value)) values.push(value);
    }
    return { low: Math.min(...values), high: Math.max(...values), confidence: reach.confidence, method: "range over the class prior" };
  }

  function wasCut(facts, found, rawValue, known, threshold) {
    if (Math.abs(rawValue - known) > recovery.ROUNDING) return true;
    if (facts.reads === "threshold") return !recovery.isPossible(cellsAt(found, undefined, threshold), 0);
    return evidence.impossibleRates(found.tally, found.prior.unlabelled, found.recoveryScenario).thresholds > 0;
  }

  function atLeastSoWide(interval, facts) {
    const width = interval.high - interval.low;
    if (width >= NARROWEST) return interval;
    const high = Math.min(interval.high + (NARROWEST - width) / 2, facts.highest);
    const low = Math.max(high - NARROWEST, facts.lowest);
    return { ...interval, low: Math.min(low, interval.low), high: Math.max(high, low + NARROWEST) };
  }

  const basisOf = (found) => fixedFacts.basis[found.inPractice ? "practice" : "random"];

  function restsOn(facts, found) {
    if (facts.counted || !found.tally.totals.unlabelled) return [];
    return [basisOf(found), ...(facts.needs_class_prior || found.inPractice ? [`class prior (${found.prior.method})`] : [])];
  }

  // doubts: a workshop of intervals, or null where none are wanted
  function estimate(facts, found, threshold, doubts) {
    const own = found.prior.unlabelled;
    const rawValue = raw(facts, found, own, threshold);
    const known = clipped(facts, rawValue);
    const base = { name: facts.name, value: known, basis: basisOf(found), rests_on: restsOn(facts, found), threshold: facts.reads === "ranking" ? null : threshold };
    if (Number.isNaN(known)) return { ...base, interval: null, sources: {}, undefined_because: facts.undefined_because || "it is 0/0" };
    const reach = priorRange(facts, found, known, threshold);
    let interval = reach;
    let sources = reach ? { "class prior": reach } : {};
    if (doubts) {
      const at = (share) => valueAt(facts, found, share, threshold);
      const answer = doubts.of(facts, known, known - rawValue, threshold, at);
      if (answer) [interval, sources] = [answer.interval, { sample: answer.sample, ...sources }];
    }
    if (interval && interval.high - interval.low < NARROWEST && wasCut(facts, found, rawValue, known, threshold)) {
      interval = atLeastSoWide(interval, facts);
      sources = Object.fromEntries(Object.entries(sources).map(([name, each]) => [name, atLeastSoWide(each, facts)]));
    }
    interval = notBelow(interval, confirmedShare(facts, (doubts && found.rows) || found, threshold));
    return withhold({ ...base, interval, sources, undefined_because: null }, facts, found);
  }

  // The rule of pulens.metrics.parts.withholding: a number that a class prior nobody knows leaves open has no value.
  function withhold(estimated, facts, found) {
    const { interval, sources } = estimated;
    const reach = sources["class prior"];
    if (!found.prior.isUnknown || !interval || !reach || facts.counted) return estimated;
    const because = { value: NaN, unshown: estimated.value, withheld_because: fixedFacts.withheld.because };
    if (found.inPractice) return { ...estimated, ...because }; // its value is that of an estimate, which only Python makes
    if (!facts.needs_class_prior) return estimated;
    const widthOf = ({ low, high }) => high - low;
    const span = facts.highest === null ? interval.high : facts.highest - facts.lowest;
    if (widthOf(interval) <= fixedFacts.withheld.wide * span || widthOf(reach) < widthOf(interval) / 2) return estimated;
    return { ...estimated, ...because };
  }

  // Of precision in one sample, the share of the flagged rows that are labelled: it is at least that on these rows.
  function confirmedShare(facts, found, threshold) {
    if (!facts.confirmed || found.scenario !== "single-set") return 0;
    const above = tallies.at(found.tally, threshold);
    const flagged = above.reduce((sum, each) => sum + each, 0);
    return flagged ? above[0] / flagged : 0;
  }

  const notBelow = (interval, least) => (!interval || !least || interval.low >= least ? interval : { ...interval, low: Math.min(least, interval.high) });

  // Unlabelled rows counted as negatives.
  const uncorrected = (found) =>
    evidence.make(found.tally, { value: 0, unlabelled: 0, method: "unlabelled rows counted as negative", notices: [] }, "single-set");

  return { cellsAt, averagePrecision, raw, valueAt, clipped, bestThreshold, estimate, uncorrected };
})();
if (typeof module !== "undefined") module.exports = estimates;
