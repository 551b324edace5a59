"use strict";
// What an audit proves about a classifier without any assumption about labelling: metrics as functions of the true
// positives and the false negatives, with limits; pulens.audits.estimates.
const auditEstimates = (() => {
  const { sum } = auditPlan;
  const RESTS_ON = ["checked rows drawn at random within each range of scores, and judged correctly"];
  const CONFIDENCE = 0.95;
  const TAIL = (1 - CONFIDENCE) / 2;
  const [FEW_BELOW, DECIDED_BY_FEW, MANY_UNDECIDED] = [5, 3, 0.05];

  const divide = (top, bottom) => (bottom > 0 ? top / bottom : NaN);
  const recall = (hits, missed) => divide(hits, hits + missed);
  const specificity = (hits, missed, flagged, rows) => divide(rows - flagged - missed, rows - hits - missed);
  const [NO_POSITIVE, NOT_FLAGGED, ONE_CLASS] = ["no positive was found", "no row is flagged at this threshold", "one of the classes was not found"];
  const usual = { reads: "both", rises: true, lowest: 0, highest: 1 };
  const FORMULAS = {
    class_prior: { ...usual, of: (positives, _, flagged, rows) => divide(positives, rows), because: "there are no rows", reads: "everywhere" },
    precision: { ...usual, of: (hits, _, flagged) => divide(hits, flagged), because: NOT_FLAGGED, reads: "above" },
    recall: { ...usual, of: recall, because: NO_POSITIVE },
    f1: { ...usual, of: (hits, missed, flagged) => divide(2 * hits, flagged + hits + missed), because: `${NO_POSITIVE}, and ${NOT_FLAGGED}` },
    accuracy: { ...usual, of: (hits, missed, flagged, rows) => divide(hits + (rows - flagged) - missed, rows), because: "there are no rows" },
    specificity: { ...usual, of: specificity, because: "no negative was found" },
    matthews_correlation: {
      ...usual,
      of(hits, missed, flagged, rows) {
        const positives = hits + missed;
        const spread = Math.sqrt(flagged) * Math.sqrt(rows - flagged) * Math.sqrt(positives) * Math.sqrt(rows - positives);
        return divide(rows * hits - flagged * positives, spread);
      },
      because: "one of the classes was not found, or all rows fall on one side of the threshold",
      lowest: -1,
    },
    balanced_accuracy: { ...usual, of: (...given) => (recall(...given) + specificity(...given)) / 2, because: ONE_CLASS },
    cohen_kappa: {
      ...usual,
      of(hits, missed, flagged, rows) {
        const positives = hits + missed;
        return divide(2 * (rows * hits - flagged * positives), flagged * (rows - positives) + (rows - flagged) * positives);
      },
      because: "prediction and answers are both constant",
      lowest: -1,
    },
    error_rate: { ...usual, of: (hits, missed, flagged, rows) => divide(flagged - hits + missed, rows), because: "there are no rows", rises: false },
    lift: { ...usual, of: (hits, missed, flagged, rows) => divide(recall(hits, missed) * rows, flagged), because: `${NO_POSITIVE}, or ${NOT_FLAGGED}`, highest: Infinity },
    youden_j: { ...usual, of: (...given) => recall(...given) + specificity(...given) - 1, because: ONE_CLASS, lowest: -1 },
  };

  // What an audit need not estimate: positives known before, flagged rows and all rows of the population.
  function marginsOf({ rows, labelled, knownNegative, flagged, scenario }) {
    const above = (values) => sum(values.slice(0, flagged));
    if (scenario === "case-control") return { above: 0, below: 0, flagged: above(rows), rows: sum(rows) };
    const known = rows.map((many, k) => many + labelled[k] + knownNegative[k]);
    return { above: above(labelled), below: sum(labelled) - above(labelled), flagged: above(known), rows: sum(known) };
  }

  // Positives of each stratum, undecided rows counted half; nan for rows of which none was checked.
  const positivesOf = ({ rows, checked, found, undecided }) =>
    rows.map((many, k) => (many === 0 ? 0 : checked[k] > 0 ? many * ((found[k] + undecided[k] / 2) / checked[k]) : NaN));

  const at = (formula, above, below, margins) =>
    formula.reads === "everywhere" ? formula.of(above + below, 0, margins.flagged, margins.rows) : formula.of(above, below, margins.flagged, margins.rows);

  // the finds if undecided rows are all negative or all positive, above and below apart
  function corners({ found, undecided, flagged }) {
    if (!sum(undecided)) return [found];
    const ways = [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ];
    return ways.map(([above, below]) => found.map((many, k) => many + undecided[k] * (k < flagged ? above : below)));
  }

  // a group of strata: what is left to chance in it, and its total's limits where one stratum alone is in doubt
  function groupOf({ rows, checked }, found, [begin, end]) {
    const places = rows.map((_, k) => k).slice(begin, end);
    const spared = sum(places.map((k) => (checked[k] ? 0 : rows[k])));
    const doubtful = places.filter((k) => checked[k] > 0 && rows[k] > checked[k]);
    if (doubtful.length > 1) return { byChance: doubtful.length, exact: null };
    let [low, high] = [0, 0].map(() => sum(places.map((k) => found[k])));
    for (const k of doubtful) {
      low += auditLimits.exactQuantile(TAIL, rows[k], checked[k], found[k]) - found[k];
      high += auditLimits.exactQuantile(1 - TAIL, rows[k], checked[k], found[k]) - found[k];
    }
    return { byChance: doubtful.length, exact: { low: [low], high: [high + spared] } };
  }

  const NOTHING = { low: [0], high: [0] };

  function exactPairs({ reads }, { above, below, everywhere }) {
    if (reads === "everywhere") return everywhere.exact && [everywhere.exact, NOTHING];
    if (reads === "above") return above.exact && [above.exact, NOTHING];
    return above.exact && below.exact && above.byChance + below.byChance <= 1 ? [above.exact, below.exact] : null;
  }

  // the metric at totals for its lower and for its upper limit; what is undefined says nothing
  function ends(formula, [first, second], margins) {
    const worst = formula.rises ? [first.low, second.high] : [first.high, second.low];
    const best = formula.rises ? [first.high, second.low] : [first.low, second.high];
    const highest = Number.isFinite(formula.highest) || margins.flagged === 0 ? formula.highest : margins.rows / margins.flagged;
    return [
      [worst, formula.lowest],
      [best, highest],
    ].map(([[above, below], undefined_]) => {
      const single = below.length === 1;
      return Float64Array.from(above, (many, i) => {
        const value = at(formula, many + margins.above, below[single ? 0 : i] + margins.below, margins);
        return Number.isNaN(value) ? undefined_ : value;
      });
    });
  }

  function limitsOf(counts, found, seed) {
    const margins = marginsOf(counts);
    const edge = counts.flagged;
    const places = { above: [0, edge], below: [edge, counts.rows.length], everywhere: [0, counts.rows.length] };
    const groups = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, groupOf(counts, found, place)]));
    let drawn = null;
    return Object.fromEntries(
      Object.entries(FORMULAS).map(([name, formula]) => {
        const exact = exactPairs(formula, groups);
        if (exact) return [name, ends(formula, exact, margins).map(([end]) => end)];
        drawn ??= auditLimits.drawTotals({ ...counts, found }, edge, seed);
        const pairs = formula.reads === "everywhere" ? [drawn.everywhere, NOTHING] : formula.reads === "above" ? [drawn.above, NOTHING] : [drawn.above, drawn.below];
        const [low, high] = ends(formula, pairs, margins);
        return [name, [auditLimits.quantile(low, TAIL), auditLimits.quantile(high, 1 - TAIL)]];
      }),
    );
  }

  const isLeftOut = ({ rows, checked }, k) => checked[k] === 0 && rows[k] > 0;

  function estimate(counts, name, value, [low, high]) {
    const formula = FORMULAS[name];
    const used = counts.rows.map((_, k) => k).slice(0, formula.reads === "above" ? counts.flagged : counts.rows.length);
    const leftOut = used.filter((k) => isLeftOut(counts, k));
    const byChance = used.some((k) => counts.checked[k] > 0 && counts.rows[k] > counts.checked[k]);
    let interval = { low, high, confidence: CONFIDENCE, method: "audit, balanced" };
    if (leftOut.length && !byChance) interval = { low, high, confidence: null, method: "bounds: rows nobody checked" };
    const isUndefined = Number.isNaN(value);
    if (!Number.isFinite(high)) interval = null;
    else if (!isUndefined) interval = { ...interval, low: Math.min(low, value), high: Math.max(high, value) };
    let because = null;
    if (isUndefined && leftOut.length) {
      const where = leftOut.every((k) => k >= counts.flagged) ? "below the threshold" : "that decide it";
      because = `${numbers.whole(sum(leftOut.map((k) => counts.rows[k])))} rows ${where} lie where no row was checked, so there are only bounds`;
    } else if (isUndefined) because = formula.because;
    return { metric: name, value, interval, basis: leftOut.length ? "bounds" : "design", rests_on: RESTS_ON, undefined_because: because, threshold: counts.threshold };
  }

  function estimates(counts, seed) {
    const margins = marginsOf(counts);
    const positives = positivesOf(counts);
    const above = sum(positives.slice(0, counts.flagged)) + margins.above;
    const below = sum(positives.slice(counts.flagged)) + margins.below;
    const every = corners(counts).map((found) => limitsOf(counts, found, seed));
    const hull = (name) => [Math.min(...every.map((each) => each[name][0])), Math.max(...every.map((each) => each[name][1]))];
    return Object.fromEntries(Object.entries(FORMULAS).map(([name, formula]) => [name, estimate(counts, name, at(formula, above, below, margins), hull(name))]));
  }

  // What a person should know before using the numbers.
  function cautions(counts) {
    const told = [];
    const say = (severity, code, message) => told.push({ severity, code, message });
    const [checked, undecided] = [sum(counts.checked), sum(counts.undecided)];
    if (checked && undecided > MANY_UNDECIDED * checked)
      say(
        1,
        "many-undecided",
        `${undecided} of ${checked} checked rows are undecided (${numbers.percents(undecided / checked, 0)}). Values count them half, limits hold whatever they are: have a second person decide them to narrow the intervals.`,
      );
    const leftOut = sum(counts.rows.filter((_, k) => isLeftOut(counts, k)));
    if (leftOut)
      say(
        1,
        "rows-never-checked",
        `${numbers.whole(leftOut)} rows lie where no row was checked: any number of them can be positive, so limits that depend on them are bounds. Check some of them at random.`,
      );
    const [found, took, rows] = [counts.found, counts.checked, counts.rows].map((kind) => sum(kind.slice(counts.flagged)));
    if (!took || took === rows) return told;
    if (found < FEW_BELOW)
      say(
        0,
        "few-found-below",
        `${found} of ${took} rows checked below the threshold ${found === 1 ? "was" : "were"} positive: recall is likely too high as a single number. Read its interval.`,
      );
    if (found < DECIDED_BY_FEW)
      say(
        0,
        "errors-of-judges",
        `Below the threshold ${found} of ${took} checked rows were found positive, a share of ${numbers.fixed(found / took, 4)}: single answers decide the limits, and judges who are wrong about as many rows would move recall as far: one who calls 1% of negatives positive would make about ${numbers.whole(auditPlan.rounded(rows / 100))} of the ${numbers.whole(rows)} rows there look missed. Have these answers checked twice, and allow for errors (--reviewer-errors, if_judges_err).`,
      );
    return told;
  }

  return { CONFIDENCE, TAIL, RESTS_ON, FORMULAS, estimates, cautions, marginsOf, ends, corners, positivesOf, isLeftOut };
})();
if (typeof module !== "undefined") module.exports = auditEstimates;
