"use strict";
// What an answer rests on: counts, the class prior, the scenario. And what the counts say against it.
const evidence = (() => {
  const { KINDS } = tallies;
  const { general, fixed, percents, plain } = numbers;
  const CHANCE_LIMIT = 4;
  const FALSE_ALARMS = 0.005;
  const ROUNDING = recovery.ROUNDING;

  // An answer that cannot be given, in words for the person who asked.
  class Refusal extends Error {}

  const populationPrior = (share, tally, scenario) => recovery.populationPrior(share, tally.totals, scenario, 0);

  function unlabelledPrior(population, tally, scenario) {
    if (scenario === "case-control") return population;
    const { totals, rows } = tally;
    const known = totals.labelled / rows;
    if (!totals.unlabelled) return 0;
    let share = ((population - known) * rows) / totals.unlabelled;
    if (share < 0 && share > -1e-12) share = 0;
    if (share < 0)
      throw new Refusal(
        `class_prior ${plain(population)} is impossible in the single-set scenario: the labelled positives alone make up ${general(known)} of all rows. Give a class prior of at least that, say unlabelled_prior= if you meant the share among the unlabelled rows, or scenario='case-control' (--scenario case-control) if the labelled rows were collected separately and the unlabelled rows alone are the sample of the population.`,
      );
    if (share >= 1)
      throw new Refusal(
        `class_prior ${plain(population)} is impossible in the single-set scenario: even if every unlabelled row were positive it could not be above ${general(known + totals.unlabelled / rows)}.`,
      );
    return share;
  }

  // The class prior as it was given: a number, or a range that surely holds it.
  function givenPrior(tally, scenario, ends) {
    if (!ends.every((end, k) => Number.isFinite(end) && end >= 0 && end < 1 && (!k || end >= ends[k - 1])))
      throw new Refusal(
        `class_prior must be a number of at least 0 and below 1, or a range (low, high) of two such numbers, got ${ends.length === 1 ? plain(ends[0]) : `(${ends.map(plain).join(", ")})`}. It is the share of positives in the whole population: write 30% as 0.3.`,
      );
    if (!tally.totals.unlabelled) return countedPrior(tally, ends);
    const unlabelled = ends.map((end) => unlabelledPrior(end, tally, scenario));
    if (ends.length === 1)
      return { value: ends[0], unlabelled: unlabelled[0], method: "given", assumption: "The class prior is as given.", notices: [] };
    return {
      value: (ends[0] + ends[1]) / 2,
      unlabelled: (unlabelled[0] + unlabelled[1]) / 2,
      method: "given as a range",
      interval: { low: ends[0], high: ends[1], confidence: null, method: "given" },
      unlabelledInterval: { low: unlabelled[0], high: unlabelled[1], confidence: null, method: "given" },
      assumption: "The class prior lies in the given range.",
      notices: [],
    };
  }

  // Every row's class is known, and so is the share of positives; what was given must agree with it.
  function countedPrior(tally, ends) {
    const value = tally.totals.labelled / tally.rows;
    const [low, high] = [ends[0], ends.at(-1)];
    if (!(low - 1e-6 * value <= value && value <= high + 1e-6 * value)) {
      const told = ends.length === 1 ? plain(ends[0]) : `(${ends.map(plain).join(", ")})`;
      throw new Refusal(
        `every row is labelled positive or known negative, so the class prior is counted: ${general(value)}, which contradicts class_prior=${told}. Leave it out; if the rows were picked by their class and the population has another share of positives, give the rows weights that say so. If rows are really unlabelled, check which label value means that (unlabelled=..., or --unlabelled on the command line).`,
      );
    }
    return { value, unlabelled: 0, method: "counted", assumption: "Every row is labelled positive or negative.", notices: [] };
  }

  // Some unlabelled rows, drawn at random, were checked: the exact interval of Clopper and Pearson, and a distribution
  // whose tails are those of that interval at every confidence.
  function auditPrior(tally, scenario, [positives, checked]) {
    const isFine = [positives, checked].every(Number.isInteger) && positives >= 0 && positives <= checked && checked >= 1;
    if (!isFine)
      throw new Refusal(
        `audit must be two whole numbers, positives found and rows checked, such as (13, 200) or '13/200', with 0 <= positives <= checked and at least one row checked, got '${positives}/${checked}'.`,
      );
    if (!tally.totals.unlabelled) throw new Refusal(texts.nothingToAudit);
    const ceiling = 1 - 1e-6;
    const share = Math.min(positives / checked, ceiling);
    const miss = (1 - 0.95) / 2;
    const [low, high] = [lowerLimit(positives, checked, miss), upperLimit(positives, checked, miss)].map((end) => Math.min(end, ceiling));
    const told = { confidence: 0.95, method: "exact binomial (Clopper-Pearson)" };
    const moved = { low: populationPrior(low, tally, scenario), high: populationPrior(high, tally, scenario), ...told };
    const smoothed = (positives + 0.5) / (checked + 1);
    return {
      value: populationPrior(share, tally, scenario),
      unlabelled: share,
      method: `audit of ${checked} rows`,
      interval: moved,
      unlabelledInterval: { low, high, ...told },
      feasible: moved,
      unlabelledFeasible: { low, high, ...told },
      standardError: Math.sqrt((smoothed * (1 - smoothed)) / checked),
      quantiles: auditQuantiles(positives, checked),
      assumption: "The audited rows were drawn at random from the unlabelled ones and judged correctly.",
      notices: [],
    };
  }

  // the distribution of the share at the levels that stand for it: [levels, quantiles]
  function auditQuantiles(k, r) {
    const { evenly, betaQuantile, betaBelow } = numbers;
    const sorted = (values) => [...new Set(values)].sort((a, b) => a - b);
    const geometric = evenly(-6, Math.log10(0.005), 40).map((power) => 10 ** power);
    const one = [...geometric, ...evenly(0.005, 0.995, 401)];
    const levels = sorted([...one, ...one.map((level) => 1 - level)]);
    const clip = (value) => Math.min(Math.max(value, 1e-9), 1 - 1e-9);
    const limits = [1e-9, 1 - 1e-9];
    if (k) limits.push(...levels.map((level) => clip(betaQuantile(k, r - k + 1, level))));
    if (k < r) limits.push(...levels.map((level) => clip(betaQuantile(k + 1, r - k, level))));
    const values = sorted(limits);
    const last = values.length - 1;
    const borders = [
      Math.max(values[0] - (values[1] - values[0]) / 2, 0),
      ...values.slice(1).map((value, i) => (value + values[i]) / 2),
      Math.min(values[last] + (values[last] - values[last - 1]) / 2, 1),
    ];
    const cumulative = borders.map((at, i) => {
      if (i === 0 || i === borders.length - 1) return i ? 1 : 0;
      const low = k ? betaBelow(k, r - k + 1, at) : 1;
      return low <= 0.5 ? low : Math.max(k < r ? betaBelow(k + 1, r - k, at) : 0, 0.5);
    });
    const asked = [0, ...Array.from({ length: 201 }, (_, i) => (i + 0.5) / 201), 1];
    return [asked, asked.map((level) => interpolate(level, cumulative, borders))];
  }

  // straight between neighbours; the last of equal places counts, as in numpy
  function interpolate(x, xs, ys) {
    if (x <= xs[0]) return ys[0];
    if (x >= xs.at(-1)) return ys.at(-1);
    let [low, high] = [0, xs.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] <= x) low = middle;
      else high = middle;
    }
    return ys[low] + ((ys[high] - ys[low]) / (xs[high] - xs[low])) * (x - xs[low]);
  }

  const isExact = (prior) => !prior.unlabelledInterval || prior.unlabelledInterval.high === prior.unlabelledInterval.low;

  // the scenario as given, unless the class prior is given as 0: every row's class is then known
  function make(tally, prior, scenario) {
    const recoveryScenario = isExact(prior) && prior.unlabelled === 0 ? "single-set" : scenario;
    // an audit, and what the rows leave possible, are about the unlabelled rows; what was given is about the population
    return { tally, prior, scenario, recoveryScenario, held: prior.quantiles || prior.isUnknown ? "unlabelled" : "population" };
  }

  const given = (found, share = found.prior.unlabelled) => ({
    unlabelledPrior: share,
    labelNoise: 0,
    scenario: found.recoveryScenario,
  });
  const mapOf = (found, share) => recovery.mapOf(found.tally.totals, given(found, share));

  function population(found) {
    if (found.recoveryScenario === "case-control" && found.tally.totals.unlabelled)
      return "the population the unlabelled rows were drawn from";
    return found.tally.totals.negative
      ? "all rows given: labelled, unlabelled and known negative"
      : "all rows, labelled and unlabelled";
  }

  // --- rates that no classifier can have ---------------------------------------------------------------------------

  function binomialVariance(rate, total) {
    const smoothed = (rate * total + 0.5) / (total + 1);
    return (smoothed * (1 - smoothed)) / total;
  }

  // How far recovered rates leave [0, 1], where it is worst, and in standard errors.
  function impossibleRates(tally, share, scenario) {
    const map = recovery.mapOf(tally.totals, { unlabelledPrior: share, labelNoise: 0, scenario });
    const sizes = KINDS.map((kind) => tally.totals[kind]);
    const names = ["true positive rate", "false positive rate"];
    const worst = { deviation: -Infinity, threshold: 0, name: "", value: 0 };
    let thresholds = 0;
    for (let i = 0; i < tally.size; i++) {
      const a = sizes[0] ? tally.labelled[i] / sizes[0] : 0;
      const b = sizes[1] ? tally.unlabelled[i] / sizes[1] : 0;
      const c = sizes[2] ? tally.negative[i] / sizes[2] : 0;
      let outside = false;
      for (let which = 0; which < 2; which++) {
        const of = which ? map.alarms : map.hits;
        const rate = of[0] * a + of[1] * b + of[2] * c;
        const excess = Math.max(-rate, rate - 1);
        if (!(excess > ROUNDING)) continue;
        outside = true;
        const missing = recovery.clip(rate) - rate;
        let variance = 0;
        [a, b, c].forEach((observed, k) => {
          if (!of[k] || !sizes[k]) return;
          const edge = recovery.clip(observed + missing / of[k]);
          variance += of[k] ** 2 * Math.max(binomialVariance(observed, sizes[k]), binomialVariance(edge, sizes[k]));
        });
        const deviation = excess / Math.sqrt(variance);
        if (deviation > worst.deviation) Object.assign(worst, { deviation, threshold: tally.thresholds[i], name: names[which], value: rate });
      }
      if (outside) thresholds += 1;
    }
    return { thresholds, threshold: worst.threshold, rate: worst.name, value: worst.value, standardErrors: thresholds ? worst.deviation : 0 };
  }

  const fits = (tally, share, scenario) => impossibleRates(tally, share, scenario).standardErrors < CHANCE_LIMIT;

  // Largest share of positives among the unlabelled rows whose recovered rates chance can still explain.
  function largestPossible(tally, scenario, between = [0, 0.999]) {
    if (!tally.totals.unlabelled) return 1;
    let [low, high] = between;
    if (fits(tally, high, scenario)) return high;
    const halved = (counts, from, to, times) => {
      for (let k = 0; k < times; k++) {
        const middle = (from + to) / 2;
        if (fits(counts, middle, scenario)) from = middle;
        else to = middle;
      }
      return from;
    };
    const coarse = tallies.compress(tally, 4096);
    const found = halved(coarse, low, high, 30);
    return coarse === tally || fits(tally, found, scenario) ? found : halved(tally, low, found, 15);
  }

  function chanceOfExcess(found, x) {
    if (x <= 0) return 1;
    const { tally } = found;
    const map = mapOf(found);
    const sizes = KINDS.map((kind) => tally.totals[kind]);
    const single = 2 * numbers.normalTail(x);
    const slope = (2 * x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
    let chance = 0;
    for (const of of [map.hits, map.alarms]) {
      if (of.filter((each) => each).length < 2) continue;
      let before = null;
      for (let i = 0; i < tally.size; i++) {
        const rates = KINDS.map((kind, k) => (sizes[k] ? tally[kind][i] / sizes[k] : 0));
        let variance = 0;
        let added = 0;
        for (let k = 0; k < 3; k++) {
          if (!of[k] || !sizes[k]) continue;
          variance += of[k] ** 2 * binomialVariance(rates[k], sizes[k]);
          added += before ? (of[k] ** 2 * (rates[k] - before[k])) / sizes[k] : 0;
        }
        chance += (before ? 0 : single) + Math.min((slope * added) / (2 * variance), single);
        before = rates;
      }
    }
    return Math.min(chance, 1);
  }

  // A class prior given as a range, cut to the part that random labels allow, if any.
  function withinPossible(found) {
    const { tally, prior, scenario } = found;
    const reach = prior.unlabelledInterval;
    if (!reach || reach.confidence !== null || reach.high === reach.low || !tally.totals.labelled || !tally.totals.unlabelled) return found;
    const at = found.recoveryScenario;
    if (fits(tally, reach.high, at) || !fits(tally, reach.low, at)) return found;
    const top = largestPossible(tally, scenario, [reach.low, reach.high]);
    const [low, high, told] = [reach.low, top, reach.high].map((share) => populationPrior(share, tally, scenario));
    const message = `The class prior was given as ${general(low, 4)} to ${general(told, 4)}, and random labels allow ${general(high, 4)} at most: the part above that was left out. If it can be higher, labels are not a random draw; checking random unlabelled rows (an audit) shows which.`;
    return make(
      tally,
      {
        ...prior,
        value: (low + high) / 2,
        unlabelled: (reach.low + top) / 2,
        method: prior.isUnknown ? prior.method : `${prior.method}, cut to what random labels allow`,
        interval: { ...prior.interval, low, high },
        unlabelledInterval: { ...reach, high: top },
        notices: prior.isUnknown ? prior.notices : [...prior.notices, { severity: 1, code: "prior-range-cut", message }],
      },
      scenario,
    );
  }

  const isContradicted = (found) =>
    Boolean(found.tally.totals.labelled && found.tally.totals.unlabelled && found.prior.unlabelled) &&
    !fits(found.tally, found.prior.unlabelled, found.recoveryScenario) &&
    !priorExplains(found);

  // Whether the doubt about the class prior explains rates that its value and the rows' chance do not: the mean chance
  // over even quantiles of the share, of a range that at its lower end.
  function priorExplains({ tally, prior, recoveryScenario, held }) {
    const spread = recoveryScenario === "single-set" && held === "population" ? errorOfShare(tally, prior.unlabelled) : 0;
    if (isExact(prior) && !spread) return false;
    const shares = lowestFirst(prior, spread);
    const coarse = tallies.compress(tally, 4096);
    const allowed = FALSE_ALARMS * shares.length;
    let found = 0;
    for (let k = 0; k < shares.length; k++) {
      const errors = impossibleRates(coarse, Math.min(Math.max(shares[k], 0), 1 - 1e-9), recoveryScenario).standardErrors;
      const chance = Math.min(1, (FALSE_ALARMS * numbers.normalTail(errors)) / numbers.normalTail(CHANCE_LIMIT));
      found += chance;
      if (found > allowed) return true;
      if (found + chance * (shares.length - k - 1) <= allowed) return false; // higher shares have smaller chances
    }
    return false;
  }

  // In one sample the share among the unlabelled rows follows from the class prior and the number of labelled rows.
  function errorOfShare({ totals, rows }, share) {
    const labelled = totals.labelled / rows;
    return ((1 - share) * Math.sqrt(rows * labelled * (1 - labelled))) / totals.unlabelled;
  }

  function lowestFirst(prior, spread) {
    const reach = prior.unlabelledInterval;
    if (!isExact(prior) && reach.confidence !== null) return evenQuantiles(prior);
    const share = isExact(prior) ? prior.unlabelled : reach.low;
    return spread ? evenNormals().map((normal) => share + spread * normal) : [share];
  }

  const evenNormals = () => Array.from({ length: 201 }, (_, i) => numbers.normalQuantile((i + 0.5) / 201));

  function evenQuantiles({ quantiles, unlabelled, unlabelledInterval: reach }) {
    if (quantiles) return quantiles[1].slice(1, -1);
    const ninetyFive = numbers.normalQuantile((1 + reach.confidence) / 2);
    return evenNormals().map(
      (normal) => unlabelled + ((normal < 0 ? unlabelled - reach.low : reach.high - unlabelled) / ninetyFive) * normal,
    );
  }

  // What the page says instead of numbers that random labels cannot have given.
  function refuseContradiction(found) {
    if (!isContradicted(found)) return;
    const top = populationPrior(largestPossible(found.tally, found.scenario), found.tally, found.scenario);
    throw new Refusal(texts.contradicted(shares(found.prior.value), shares(top)));
  }

  // a share in per cent, to a tenth where that says something
  function shares(value) {
    const hundred = 100 * value;
    return `${hundred < 0.1 ? general(hundred, 2) : fixed(hundred, 1).replace(/\.0$/, "")}%`;
  }

  // --- shares that the data cannot exclude -------------------------------------------------------------------------

  const upperLimit = (hits, rows, miss) => (hits >= rows ? 1 : numbers.betaQuantile(hits + 1, rows - hits, 1 - miss));
  const lowerLimit = (hits, rows, miss) => (hits <= 0 ? 0 : numbers.betaQuantile(hits, rows - hits + 1, miss));

  // up to `factor` times as often high scores may have been labelled, which matters in one sample
  function highestPrior(tally, confidence, factor = 1, scenario = "case-control") {
    const { labelled, unlabelled } = tally.totals;
    const places = [];
    for (let k = 1; k <= 20; k++) {
      const place = Math.min(tallies.search(tally.labelled, (k / 20) * labelled), tally.size - 1);
      if (!places.includes(place)) places.push(place);
    }
    const miss = (1 - confidence) / (2 * places.length);
    const ratios = places.map((place) => {
      const below = lowerLimit(tally.labelled[place], labelled, miss);
      const share = below / (below + factor * (1 - below));
      const extra = scenario === "single-set" && unlabelled ? ((below - share) * labelled) / unlabelled : 0;
      return below > 0 ? (upperLimit(tally.unlabelled[place], unlabelled, miss) + extra) / share : Infinity;
    });
    return Math.min(...ratios, 1);
  }

  return {
    ...{ Refusal, make, given, mapOf, population, populationPrior, unlabelledPrior, givenPrior, auditPrior, interpolate, isExact },
    ...{ impossibleRates, largestPossible, chanceOfExcess, withinPossible, isContradicted, priorExplains, refuseContradiction },
    ...{ highestPrior, CHANCE_LIMIT },
  };
})();
if (typeof module !== "undefined") module.exports = evidence;
