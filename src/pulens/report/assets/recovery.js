"use strict";
// Recovery of true and false positive rates from counts, and the metrics read off them: the arithmetic of the Python
// package, operation for operation, so that a page answers "what if the class prior is different?" by itself.
// Nothing here touches the document; node can load it, and a test compares both languages.
const recovery = (() => {
  const ROUNDING = 1e-12;
  const CHANCE_LIMIT = 4;

  const clip = (value) => Math.min(Math.max(value, 0), 1);
  const divide = (numerator, denominator, empty = NaN) => (denominator !== 0 ? numerator / denominator : empty);

  // totals: {labelled, unlabelled, negative}; given: {unlabelledPrior, labelNoise, scenario}
  function mapOf(totals, given) {
    let alpha = given.unlabelledPrior;
    const beta = 1 - given.labelNoise;
    const rows = totals.labelled + totals.unlabelled + totals.negative;
    let hits, alarms;
    if (totals.unlabelled === 0) {
      hits = [1 / beta, 0, -(1 - beta) / beta];
      alarms = [0, 0, 1];
      alpha = 0;
    } else {
      const scale = beta - alpha;
      hits = [(1 - alpha) / scale, -(1 - beta) / scale, 0];
      let latent = (1 - alpha) * totals.unlabelled;
      if (given.scenario === "single-set") latent += (1 - beta) * totals.labelled;
      const known = totals.negative / (latent + totals.negative);
      alarms = [(-alpha / scale) * (1 - known), (beta / scale) * (1 - known), known];
    }
    let positive, negative;
    if (given.scenario === "case-control" && totals.unlabelled > 0) {
      positive = alpha * totals.unlabelled;
      negative = (1 - alpha) * totals.unlabelled;
    } else {
      positive = beta * totals.labelled + alpha * totals.unlabelled;
      negative = rows - positive;
    }
    return { hits, alarms, positive, negative };
  }

  const combine = (coefficients, a, b, c) => {
    let sum = 0;
    if (coefficients[0]) sum += coefficients[0] * a;
    if (coefficients[1]) sum += coefficients[1] * b;
    if (coefficients[2]) sum += coefficients[2] * c;
    return sum;
  };

  const share = (count, total) => (total ? count / total : 0);

  function ratesOf(map, totals, labelled, unlabelled, negative) {
    const a = share(labelled, totals.labelled);
    const b = share(unlabelled, totals.unlabelled);
    const c = share(negative, totals.negative);
    return [combine(map.hits, a, b, c), combine(map.alarms, a, b, c)];
  }

  // Rates at every threshold of the counts, "nothing is flagged" first; index i + 1 belongs to threshold i.
  function tablesOf(counts, totals, given) {
    const map = mapOf(totals, given);
    const size = counts.thresholds.length;
    const hits = new Float64Array(size + 1);
    const alarms = new Float64Array(size + 1);
    for (let i = 0; i < size; i++) {
      const negative = counts.negative ? counts.negative[i] : 0;
      const [hit, alarm] = ratesOf(map, totals, counts.labelled[i], counts.unlabelled[i], negative);
      hits[i + 1] = hit;
      alarms[i + 1] = alarm;
    }
    return { map, hits, alarms, positive: map.positive, negative: map.negative };
  }

  const within = (rate) => rate >= -ROUNDING && rate <= 1 + ROUNDING;
  const isPossible = (tables, i) => within(tables.hits[i]) && within(tables.alarms[i]);

  // True positives, cut to what the rows flagged (counted) and the positives (given) allow: the one rule for all numbers.
  const possibleHits = (hits, flagged, positive, negative) =>
    Math.min(Math.max(hits, Math.max(flagged - negative, 0)), Math.min(flagged, positive));

  // rows as a share of their class; the recovered rate itself where nothing was cut
  const rateOf = (rows, of, recovered) => {
    const raw = clip(recovered);
    const found = of > 0 ? rows / of : raw;
    return Math.abs(found - recovered) <= ROUNDING ? raw : found;
  };

  // The four cells of the nearest possible table at one index of the tables.
  function cellsOf(tables, i) {
    const total = tables.positive + tables.negative;
    const recovered = tables.positive * tables.hits[i] + tables.negative * tables.alarms[i];
    const called = Math.min(Math.max(recovered, 0), total);
    const truePositive = possibleHits(tables.positive * tables.hits[i], called, tables.positive, tables.negative);
    const falsePositive = called - truePositive;
    return {
      hit: rateOf(truePositive, tables.positive, tables.hits[i]),
      alarm: rateOf(falsePositive, tables.negative, tables.alarms[i]),
      truePositive,
      falsePositive,
      falseNegative: tables.positive - truePositive,
      trueNegative: tables.negative - falsePositive,
      positive: tables.positive,
      negative: tables.negative,
      called,
      total,
    };
  }

  const covariance = (t) => t.truePositive * t.trueNegative - t.falsePositive * t.falseNegative;

  const metrics = {
    accuracy: (t) => divide(t.truePositive + t.trueNegative, t.total),
    balanced_accuracy: (t) => (1 + t.hit - t.alarm) / 2,
    cohen_kappa: (t) => divide(2 * covariance(t), t.called * t.negative + (t.total - t.called) * t.positive),
    error_rate: (t) => divide(t.falsePositive + t.falseNegative, t.total),
    f1: (t) => divide(2 * t.truePositive, t.positive + t.called),
    f_beta: (t) => divide(5 * t.truePositive, 4 * t.positive + t.called),
    lift: (t) => divide(t.hit * t.total, t.called),
    macro_f1: (t) => divide(t.truePositive, t.positive + t.called) + divide(t.trueNegative, t.negative + t.total - t.called),
    matthews_correlation: (t) => {
      const spread =
        Math.sqrt(t.called) *
        Math.sqrt(Math.max(t.total - t.called, 0)) *
        Math.sqrt(t.positive) *
        Math.sqrt(t.negative);
      return Math.min(Math.max(divide(covariance(t), spread, 0), -1), 1);
    },
    precision: (t) => divide(t.truePositive, t.called),
    predicted_positive_rate: (t) => divide(t.called, t.total),
    recall: (t) => t.hit,
    specificity: (t) => 1 - t.alarm,
    youden_j: (t) => t.hit - t.alarm,
  };

  // Indices of the tables that could belong to a curve, ordered by false and then true positive rate (values within
  // rounding of each other count as equal), true positive rate never falling: Algorithm 1 of Jain, White and Radivojac
  // (2017).
  function rocCurve(tables) {
    const kept = [];
    for (let i = 0; i < tables.hits.length; i++) if (isPossible(tables, i)) kept.push(i);
    const alarm = (i) => clip(tables.alarms[i]);
    const hit = (i) => clip(tables.hits[i]);
    kept.sort((i, j) => alarm(i) - alarm(j) || i - j);
    const rank = new Map();
    let current = 0;
    kept.forEach((index, k) => {
      if (k && alarm(index) - alarm(kept[k - 1]) > ROUNDING) current += 1;
      rank.set(index, current);
    });
    const order = kept.slice().sort((i, j) => rank.get(i) - rank.get(j) || hit(i) - hit(j) || i - j);
    let best = 0;
    const y = order.map((i) => (best = Math.max(best, hit(i))));
    return { x: order.map(alarm), y, index: order };
  }

  // Precision against recall, each threshold by itself, recall never falling.
  function precisionRecallCurve(tables) {
    const points = [];
    for (let i = 0; i < tables.hits.length; i++) {
      if (!isPossible(tables, i)) continue;
      const cells = cellsOf(tables, i);
      if (cells.called > 0) {
        points.push({
          recall: clip(tables.hits[i]),
          called: cells.called,
          precision: cells.truePositive / cells.called,
          i,
        });
      }
    }
    // recalls that differ by rounding alone are one recall, or the order of its points would be luck
    points.sort((p, q) => p.recall - q.recall || p.i - q.i);
    for (let k = 1, last = points.length ? points[0].recall : 0; k < points.length; k++) {
      const own = points[k].recall;
      if (own - last <= ROUNDING) points[k].recall = points[k - 1].recall;
      last = own;
    }
    points.sort((p, q) => p.recall - q.recall || p.called - q.called || p.i - q.i);
    return { x: points.map((p) => p.recall), y: points.map((p) => p.precision), index: points.map((p) => p.i) };
  }

  function averagePrecision(curve) {
    let sum = 0;
    let before = 0;
    for (let i = 0; i < curve.x.length; i++) {
      sum += (curve.x[i] - before) * curve.y[i];
      before = curve.x[i];
    }
    return curve.x.length ? sum : NaN;
  }

  // pairs: chance that a labelled row outscores an unlabelled one, a labelled a negative one, an unlabelled a negative one
  function rocAuc(pairs, map) {
    const areas = [
      [0.5, pairs.labelled_unlabelled, pairs.labelled_negative],
      [1 - pairs.labelled_unlabelled, 0.5, pairs.unlabelled_negative],
      [1 - pairs.labelled_negative, 1 - pairs.unlabelled_negative, 0.5],
    ];
    let sum = 0;
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) sum += map.hits[i] * areas[i][j] * map.alarms[j];
    return sum;
  }

  function populationPrior(unlabelledPrior, totals, scenario, labelNoise) {
    if (scenario === "case-control") return unlabelledPrior;
    const rows = totals.labelled + totals.unlabelled + totals.negative;
    return ((1 - labelNoise) * totals.labelled + unlabelledPrior * totals.unlabelled) / rows;
  }

  function unlabelledPrior(population, totals, scenario, labelNoise) {
    if (scenario === "case-control") return population;
    const rows = totals.labelled + totals.unlabelled + totals.negative;
    if (!totals.unlabelled) return 0;
    return ((population - ((1 - labelNoise) * totals.labelled) / rows) * rows) / totals.unlabelled;
  }

  // How many thresholds have rates outside [0, 1], and by how many standard errors at worst.
  function impossibleRates(counts, totals, tables) {
    let thresholds = 0;
    let worst = 0;
    const sizes = [totals.labelled, totals.unlabelled, totals.negative];
    for (let i = 0; i < counts.thresholds.length; i++) {
      const rows = [counts.labelled[i], counts.unlabelled[i], counts.negative ? counts.negative[i] : 0];
      let outside = false;
      for (const [rate, coefficients] of [
        [tables.hits[i + 1], tables.map.hits],
        [tables.alarms[i + 1], tables.map.alarms],
      ]) {
        const excess = Math.max(-rate, rate - 1);
        if (excess <= ROUNDING) continue;
        outside = true;
        const missing = clip(rate) - rate;
        let variance = 0;
        for (let k = 0; k < 3; k++) {
          if (!coefficients[k] || !sizes[k]) continue;
          const observed = share(rows[k], sizes[k]);
          const spread = [observed, clip(observed + missing / coefficients[k])].map((each) => {
            const smoothed = (each * sizes[k] + 0.5) / (sizes[k] + 1);
            return (smoothed * (1 - smoothed)) / sizes[k];
          });
          variance += coefficients[k] * coefficients[k] * Math.max(...spread);
        }
        worst = Math.max(worst, excess / Math.sqrt(variance));
      }
      if (outside) thresholds += 1;
    }
    return { thresholds, standardErrors: worst, byChance: worst < CHANCE_LIMIT };
  }

  // A bound on the chance that the largest deviation along the ranking is so large with random labels; the tail of the
  // normal distribution is bounded by its density over x.
  function chanceOfExcess(counts, totals, tables, standardErrors) {
    const x = standardErrors;
    const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
    const single = x > 0 ? Math.min((2 * density) / x, 1) : 1;
    const sizes = [totals.labelled, totals.unlabelled, totals.negative];
    let chance = 0;
    for (const coefficients of [tables.map.hits, tables.map.alarms]) {
      if (coefficients.filter((each) => each).length < 2) continue;
      let before = null;
      for (let i = 0; i < counts.thresholds.length; i++) {
        const rates = [counts.labelled[i], counts.unlabelled[i], counts.negative ? counts.negative[i] : 0].map(
          (count, k) => share(count, sizes[k]),
        );
        let variance = 0;
        let added = 0;
        for (let k = 0; k < 3; k++) {
          if (!coefficients[k] || !sizes[k]) continue;
          const smoothed = (rates[k] * sizes[k] + 0.5) / (sizes[k] + 1);
          const weight = (coefficients[k] * coefficients[k]) / sizes[k];
          variance += weight * smoothed * (1 - smoothed);
          added += before ? weight * (rates[k] - before[k]) : 0;
        }
        chance += before ? Math.min((x * density * added) / variance, single) : single;
        before = rates;
      }
    }
    return Math.min(chance, 1);
  }

  // A threshold as the scores would hold it: among scores of single precision 0.7 is the one nearest to 0.7.
  function inPrecision(threshold, thresholds) {
    if (!(thresholds instanceof Float32Array)) return threshold;
    const rounded = Math.fround(threshold);
    return Math.abs(rounded - threshold) <= 2 ** -24 * Math.abs(threshold) ? rounded : threshold;
  }

  // Index into the tables of "score >= threshold": 0 when nothing is flagged.
  function indexAt(thresholds, wanted) {
    const threshold = inPrecision(wanted, thresholds);
    let low = 0;
    let high = thresholds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (thresholds[middle] >= threshold) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Shares of positives and negatives in each bin of scores: linear in the observed shares, so possibly negative.
  function densitiesOf(histogram, totals, map) {
    const size = histogram.labelled.length;
    const positive = new Float64Array(size);
    const negative = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      const known = histogram.negative ? histogram.negative[i] : 0;
      [positive[i], negative[i]] = ratesOf(map, totals, histogram.labelled[i], histogram.unlabelled[i], known);
    }
    return { positive, negative };
  }

  // What average precision loses because thresholds were left out, found at some priors, interpolated between them.
  function missingArea(known, prior) {
    if (!known) return 0;
    const { priors, missing } = known;
    const last = priors.length - 1;
    const place = Math.min(Math.max(((prior - priors[0]) / (priors[last] - priors[0])) * last, 0), last);
    const at = Math.min(Math.floor(place), last - 1);
    return missing[at] + (place - at) * (missing[at + 1] - missing[at]);
  }

  // Every metric at one class prior and one place of the ranking.
  function evaluate(data, unlabelledPriorValue, index) {
    // a class prior of exactly 0 says that every row's class is known: the rows are then the population
    const scenario = unlabelledPriorValue === 0 ? "single-set" : data.scenario;
    const given = { unlabelledPrior: unlabelledPriorValue, labelNoise: data.labelNoise, scenario };
    const tables = tablesOf(data.counts, data.totals, given);
    const cells = cellsOf(tables, index);
    const values = {};
    for (const name of Object.keys(metrics)) values[name] = metrics[name](cells);
    const precisionRecall = precisionRecallCurve(tables);
    const roc = rocCurve(tables);
    values.roc_auc = clip(rocAuc(data.pairs, tables.map));
    const area = averagePrecision(precisionRecall) + missingArea(data.missing, unlabelledPriorValue);
    values.average_precision = Number.isNaN(area) ? area : clip(area);
    return { given, tables, cells, values, roc, precisionRecall };
  }

  return {
    mapOf,
    ratesOf,
    tablesOf,
    cellsOf,
    possibleHits,
    isPossible,
    metrics,
    rocCurve,
    precisionRecallCurve,
    averagePrecision,
    rocAuc,
    populationPrior,
    unlabelledPrior,
    impossibleRates,
    chanceOfExcess,
    indexAt,
    densitiesOf,
    evaluate,
    clip,
    ROUNDING,
  };
})();
if (typeof module !== "undefined") module.exports = recovery;
