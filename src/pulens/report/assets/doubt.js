"use strict";
// How sure the page is of what it recomputes: intervals at another class prior or threshold, bounds on the curves, and
// ranges when labelling was not random. The constructions are those of the Python package.
const doubt = (() => {
  const DRAWS = 1000;

  // A small generator with a fixed start: the same page shows the same numbers every time.
  function generator(seed) {
    let state = seed >>> 0;
    const uniform = () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = state;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
    };
    const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    // Marsaglia and Tsang (2000); shapes below one by the usual power of a uniform
    const gamma = (shape) => {
      if (shape < 1) return gamma(shape + 1) * Math.pow(uniform(), 1 / shape);
      const d = shape - 1 / 3;
      const c = 1 / Math.sqrt(9 * d);
      for (;;) {
        const x = normal();
        const v = (1 + c * x) ** 3;
        if (v > 0 && Math.log(uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
      }
    };
    const beta = (a, b) => {
      const x = gamma(a);
      return x / (x + gamma(b));
    };
    const binomial = (rows, chance) => {
      const spread = rows * chance * (1 - chance);
      if (spread > 200) return Math.min(Math.max(Math.round(rows * chance + Math.sqrt(spread) * normal()), 0), rows);
      let hits = 0;
      for (let i = 0; i < rows; i++) if (uniform() < chance) hits += 1;
      return hits;
    };
    return { uniform, normal, beta, binomial };
  }

  // How many rows of each kind a new sample of the same size would have: random in one sample, fixed otherwise.
  function drawTotals(totals, scenario) {
    const random = generator(1);
    const rows = Math.max(Math.round(totals.labelled + totals.unlabelled + totals.negative), 1);
    return Array.from({ length: DRAWS }, () => {
      if (scenario !== "single-set") return totals;
      const labelled = random.binomial(rows, totals.labelled / rows);
      const rest = rows - totals.labelled;
      const negative = totals.negative ? random.binomial(rows - labelled, totals.negative / rest) : 0;
      const atLeast = (count, total) => (total > 0 ? Math.max(count, 1) : 0);
      return {
        labelled: atLeast(labelled, totals.labelled),
        unlabelled: atLeast(rows - labelled - negative, totals.unlabelled),
        negative: atLeast(negative, totals.negative),
      };
    });
  }

  // Jeffreys draws of the observed rates at one place of the ranking: half a row keeps 0 and 1 from being certain.
  function drawRates(counts, totals, index) {
    const random = generator(2);
    const above = (kind) => (index && counts[kind] ? counts[kind][index - 1] : 0);
    return ["labelled", "unlabelled", "negative"].map((kind) =>
      Float64Array.from({ length: DRAWS }, () =>
        totals[kind] ? random.beta(above(kind) + 0.5, Math.max(totals[kind] - above(kind), 0) + 0.5) : 0,
      ),
    );
  }

  function quantile(sorted, level) {
    const place = (sorted.length - 1) * level;
    const low = Math.floor(place);
    return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  }

  // What metrics can be, where that is not 0 to 1.
  const LOWEST = { cohen_kappa: -1, matthews_correlation: -1, youden_j: -1 };
  const HIGHEST = { lift: Infinity };

  // Intervals of every metric at a threshold fixed beforehand, for a class prior taken as known.
  // `observed` are the true and false positive rate recovered from the data themselves.
  // `factor` is how many times as far from the value as redraws say the ends lie: more was drawn than rows.
  function intervals(data, given, drawnTotals, drawnRates, known, confidence, observed = [0, 0], factor = 1) {
    const { totals } = data;
    const rows = totals.labelled + totals.unlabelled + totals.negative;
    const purity = 1 - given.labelNoise;
    const population = (purity * totals.labelled + given.unlabelledPrior * totals.unlabelled) / rows;
    const names = Object.keys(recovery.metrics);
    // an estimated rate outside [0, 1] counts as one at the edge, with the same spread: draws are read as they are, and
    // moved there
    const missing = observed.map((rate) => recovery.clip(rate) - rate);
    const moves = missing.some((each) => Math.abs(each) > recovery.ROUNDING) ? [[0, 0], missing] : [[0, 0]];
    const values = moves.map(() => names.map(() => new Float64Array(DRAWS)));
    for (let k = 0; k < DRAWS; k++) {
      const drawn = drawnTotals[k];
      let prior = given.unlabelledPrior;
      if (given.scenario === "single-set" && totals.unlabelled) {
        const all = drawn.labelled + drawn.unlabelled + drawn.negative;
        prior = Math.min(
          Math.max((population * all - purity * drawn.labelled) / Math.max(drawn.unlabelled, 1), 0),
          purity * (1 - 1e-9),
        );
      }
      const map = recovery.mapOf(drawn, { ...given, unlabelledPrior: prior });
      const rate = (coefficients) =>
        coefficients[0] * drawnRates[0][k] + coefficients[1] * drawnRates[1][k] + coefficients[2] * drawnRates[2][k];
      moves.forEach(([hit, alarm], reading) => {
        const rates = { hits: [rate(map.hits) + hit], alarms: [rate(map.alarms) + alarm] };
        const cells = recovery.cellsOf({ ...rates, positive: map.positive, negative: map.negative }, 0);
        names.forEach((name, m) => (values[reading][m][k] = recovery.metrics[name](cells)));
      });
    }
    const tail = (1 - confidence) / 2;
    const found = {};
    names.forEach((name, m) => {
      const readings = values.map((each) => each[m].filter((value) => !Number.isNaN(value)).sort());
      if (readings.some((sorted) => !sorted.length) || Number.isNaN(known[name])) return;
      const value = known[name];
      const low = Math.min(...readings.map((sorted) => quantile(sorted, tail)), value);
      const high = Math.max(...readings.map((sorted) => quantile(sorted, 1 - tail)), value);
      found[name] =
        factor === 1
          ? { low, high, confidence }
          : {
              low: Math.max(value - factor * (value - low), LOWEST[name] ?? 0),
              high: Math.min(value + factor * (high - value), HIGHEST[name] ?? 1),
              confidence,
            };
    });
    return found;
  }

  // --- bounds that need no estimate (paper 001) ---------------------------------------------------------------

  const slack = (value) => Math.max(1e-9, 4 * Math.abs(value) * Number.EPSILON);
  const roundUp = (value) => Math.ceil(value - slack(value));
  const roundDown = (value) => Math.floor(value + slack(value));

  function inHead(head, rows, latent, theta) {
    const tail = rows - head;
    return latent - theta > tail ? latent - tail : Math.min(head, theta);
  }

  // Lower and upper tables at every threshold; the band is the two-sample one of Dvoretzky, Kiefer and Wolfowitz.
  function boundTables(data, given, confidence) {
    const { counts, totals } = data;
    const rows = totals.unlabelled;
    const share = given.unlabelledPrior * rows;
    const latent = Math.floor(share + 0.5 + slack(share));
    const reach = Math.sqrt((Math.log(2 / (1 - confidence)) / 2) * (1 / totals.labelled + 1 / Math.max(latent, 1)));
    const together = given.scenario === "single-set";
    const size = counts.thresholds.length + 1;
    const make = () => ({
      hits: new Float64Array(size),
      alarms: new Float64Array(size),
      called: new Float64Array(size),
      found: new Float64Array(size),
    });
    const lower = make();
    const upper = make();
    const positive = latent + (together ? totals.labelled : 0);
    const negative = rows - latent + (together ? totals.negative : 0);
    for (let i = 0; i < size; i++) {
      const known = i ? counts.labelled[i - 1] : 0;
      const head = i ? counts.unlabelled[i - 1] : 0;
      const refuted = i && counts.negative ? counts.negative[i - 1] : 0;
      const rate = known / totals.labelled;
      const fewest = inHead(head, rows, latent, roundDown(Math.max(rate - reach, 0) * latent));
      const most = Math.max(inHead(head, rows, latent, roundUp(Math.min(rate + reach, 1) * latent)), fewest);
      for (const [table, hidden] of [
        [lower, fewest],
        [upper, most],
      ]) {
        const found = hidden + (together ? known : 0);
        const alarms = head - hidden + (together ? refuted : 0);
        table.found[i] = found;
        table.called[i] = found + alarms;
        table.hits[i] = found / positive;
        table.alarms[i] = alarms / negative;
      }
    }
    return { lower, upper };
  }

  function boundRoc(table) {
    const order = Array.from(table.hits.keys()).sort(
      (i, j) => table.alarms[i] - table.alarms[j] || table.hits[i] - table.hits[j] || i - j,
    );
    let best = -Infinity;
    const curve = { x: order.map((i) => table.alarms[i]), y: order.map((i) => (best = Math.max(best, table.hits[i]))) };
    let area = 0;
    for (let k = 1; k < curve.x.length; k++)
      area += ((curve.x[k] - curve.x[k - 1]) * (curve.y[k] + curve.y[k - 1])) / 2;
    return { ...curve, area };
  }

  function boundPrecisionRecall(table) {
    const shown = Array.from(table.called.keys()).filter((i) => table.called[i] > 0);
    return { x: shown.map((i) => table.hits[i]), y: shown.map((i) => table.found[i] / table.called[i]) };
  }

  function bounds(data, given, confidence) {
    const tables = boundTables(data, given, confidence);
    if (!Number.isFinite(tables.upper.hits[0]) || !Number.isFinite(tables.upper.alarms[0])) return null; // a class is empty
    return {
      roc: { lower: boundRoc(tables.lower), upper: boundRoc(tables.upper) },
      precisionRecall: { lower: boundPrecisionRecall(tables.lower), upper: boundPrecisionRecall(tables.upper) },
    };
  }

  // --- labelling that favours high scores ----------------------------------------------------------------------

  // Range of a metric at a threshold if positives with high scores were labelled up to `factor` times as often.
  function sensitivity(data, map, scenario, index, name, factor) {
    const { counts, totals } = data;
    const rate = (kind) => (index && counts[kind] && totals[kind] ? counts[kind][index - 1] / totals[kind] : 0);
    const [labelled, unlabelled, refuted] = [rate("labelled"), rate("unlabelled"), rate("negative")];
    const alarmsFor = (hits) =>
      scenario === "single-set"
        ? (totals.labelled * labelled +
            totals.unlabelled * unlabelled +
            totals.negative * refuted -
            map.positive * hits) /
          map.negative
        : map.alarms[0] * hits + map.alarms[1] * unlabelled + map.alarms[2] * refuted;
    // in the single set a labelled row is one of the positives, and stands for at least itself
    const floor = scenario === "single-set" && map.positive > 0 ? Math.min(totals.labelled / map.positive, 1) : 0;
    let ends = [Math.max(labelled / (labelled + factor * (1 - labelled)), floor * labelled), labelled];
    const [none, all] = [alarmsFor(0), alarmsFor(1)];
    if (none > all) {
      const inside = [Math.max(ends[0], (none - 1) / (none - all)), Math.min(ends[1], none / (none - all))];
      if (inside[0] <= inside[1]) ends = inside;
    }
    const known = recovery.metrics[name](
      recovery.cellsOf(
        {
          hits: [labelled],
          alarms: [map.alarms[0] * labelled + map.alarms[1] * unlabelled + map.alarms[2] * refuted],
          positive: map.positive,
          negative: map.negative,
        },
        0,
      ),
    );
    let [low, high] = [known, known];
    for (let k = 0; k < 65; k++) {
      const hits = ends[0] + ((ends[1] - ends[0]) * k) / 64;
      const value = recovery.metrics[name](
        recovery.cellsOf(
          { hits: [hits], alarms: [alarmsFor(hits)], positive: map.positive, negative: map.negative },
          0,
        ),
      );
      if (Number.isNaN(value)) continue;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
    return { low, high };
  }

  return { DRAWS, generator, drawTotals, drawRates, intervals, quantile, bounds, sensitivity };
})();
if (typeof module !== "undefined") module.exports = doubt;
