"use strict";
// Labels that favour easy positives as they do in practice: the construction of pulens.selection, with its constants
// (fixedFacts.practice) and its draws.
const practice = (() => {
  const { KINDS } = tallies;
  const facts = fixedFacts.practice;
  const [PER_LOG_ODDS, LEAST_SHARE] = [16, 1e-6]; // of the grid on which tilts of a drawn class prior are found
  const { sqrt, exp, expm1, log1p, abs, min, max } = Math;

  // Recall of all positives from that of the labelled ones, at a tilt and a label frequency; a share `aside` of the
  // hidden ones scores like any unlabelled row, of which `rest` is flagged.
  function distort(rate, tilt, frequency, aside = 0, rest = 0) {
    const theta = min(max(tilt, -facts.steepest), facts.steepest);
    const up = abs(theta);
    let hidden = rate;
    if (up >= facts.flat) {
      const q = theta > 0 ? rate : 1 - rate;
      hidden = (exp(up * (q - 1)) * expm1(-up * q)) / expm1(-up);
      if (theta < 0) hidden = 1 - hidden;
    }
    return frequency * rate + (1 - frequency) * ((1 - aside) * hidden + aside * rest);
  }

  // The share of the population's positives that are labelled; 0 where the labelled rows are no part of it.
  function frequencyOf([labelled, unlabelled, negative], prior, scenario) {
    if (scenario !== "single-set") return 0;
    const positives = max(prior * (labelled + unlabelled + negative), labelled);
    return positives > 0 ? labelled / positives : 0;
  }

  const totalsOf = (tally) => KINDS.map((kind) => tally.totals[kind]);
  const listOf = (tally, scenario) =>
    scenario === "single-set" ? tally.unlabelled.map((count, i) => count + tally.labelled[i] + tally.negative[i]) : tally.unlabelled;

  // How many times as few labelled rows of equal weight would say as much (Kish).
  function meanSquareWeight(observed, recall) {
    let sum = 0;
    for (let i = 0; i < observed.length; i++) {
      const own = observed[i] - (i ? observed[i - 1] : 0);
      if (own > 0) sum += (recall[i] - (i ? recall[i - 1] : 0)) ** 2 / own;
    }
    return sum;
  }

  // Plausible tilts of one evidence, at any share of positives among its unlabelled rows.
  function tiltsOf({ tally, recoveryScenario: scenario }) {
    const coarse = tallies.compress(tally, facts.thresholds);
    const list = listOf(coarse, scenario);
    const rows = list.at(-1);
    const observed = coarse.labelled.map((count) => count / coarse.totals.labelled);
    const listed = list.map((count) => count / rows);
    const rest = coarse.unlabelled.map((count) => count / coarse.totals.unlabelled);
    const before = (values, i) => (i ? values[i - 1] : 0);

    // how far apart positives and negatives would be if labels were random
    function separation(prior) {
      let area = 0;
      for (let i = 0; i < observed.length; i++) area += (observed[i] - before(observed, i)) * (1 - (listed[i] + before(listed, i)) / 2);
      area = (area - prior / 2) / max(1 - prior, 1e-9);
      return sqrt(2) * numbers.normalQuantile(min(max(area, facts.areas[0]), facts.areas[1]));
    }

    // by how many standard errors a tilt needs more positives than there are rows
    function excess(tilt, prior, frequency, apart) {
      const share = asideAt(tilt, apart);
      const tilted = observed.map((rate) => distort(rate, tilt, frequency, share));
      const recall = tilted.map((rate, i) => rate + (1 - frequency) * share * rest[i]);
      const squares = meanSquareWeight(observed, tilted);
      let worst = 0;
      for (let i = 0; i < recall.length; i++) {
        const ofRecall = (max(recall[i] * (1 - recall[i]), facts.variance) * squares) / tally.totals.labelled;
        const error = sqrt(prior ** 2 * ofRecall + max(listed[i] * (1 - listed[i]), facts.variance) / rows);
        worst = max(worst, (prior * recall[i] - listed[i]) / error, (prior * (1 - recall[i]) - (1 - listed[i])) / error);
      }
      return worst;
    }

    const scaleAt = (apart) => facts.scale * (1 + facts.widening * max(apart - facts.widens_from, 0));

    // the share of hidden positives that score like any unlabelled row
    function asideAt(tilt, apart) {
      const [from, over, most] = facts.aside;
      return min(max(((tilt - facts.intercept - facts.slope * apart) / scaleAt(apart) - from) / over, 0), most);
    }

    function logDensity(tilt, apart, spread) {
      const scale = spread * scaleAt(apart);
      const [right, left] = [scale * facts.skew, scale / facts.skew];
      const away = tilt - (facts.intercept + facts.slope * apart - (right - left) * facts.shift);
      return (-(facts.freedom + 1) / 2) * log1p((away / (away > 0 ? right : left)) ** 2 / facts.freedom);
    }

    const known = new Map();
    function levelsAt(share, spread) {
      const key = `${share} ${spread}`;
      if (known.has(key)) return known.get(key);
      const prior = evidence.populationPrior(share, tally, scenario);
      const [apart, frequency] = [separation(prior), frequencyOf(totalsOf(tally), prior, scenario)];
      const weights = facts.grid.map((tilt) => logDensity(tilt, apart, spread) - 0.5 * excess(tilt, prior, frequency, apart) ** 2);
      const most = max(...weights);
      const density = weights.map((weight) => exp(weight - most));
      const sum = density.reduce((total, each) => total + each, 0);
      let running = 0;
      known.set(key, density.map((each) => ((running += each) - each / 2) / sum));
      return known.get(key);
    }
    const quantile = (share, level, spread = 1) => evidence.interpolate(level, levelsAt(share, spread), facts.grid);
    const aside = (share, tilt) => asideAt(tilt, separation(evidence.populationPrior(share, tally, scenario)));
    return { quantile, aside };
  }

  // The evidence whose labelled rows stand for all positives, at the tilt in the middle: what numbers are read off.
  function distorted(found, tilts) {
    const { tally, prior: given, recoveryScenario: scenario } = found;
    const prior = evidence.populationPrior(given.unlabelled, tally, scenario);
    const frequency = frequencyOf(totalsOf(tally), prior, scenario);
    const tilt = tilts.quantile(given.unlabelled, 0.5);
    const total = tally.totals.labelled;
    const observed = tally.labelled.map((count) => count / total);
    const aside = tilts.aside(given.unlabelled, tilt);
    const tilted = observed.map((rate) => distort(rate, tilt, frequency, aside));
    const recall = tilted.map((rate, i) => rate + ((1 - frequency) * aside * tally.unlabelled[i]) / tally.totals.unlabelled);
    const list = listOf(tally, scenario);
    // where the hidden positives at hand score is a matter of chance, too
    const hidden = max((1 - frequency) * prior * list.at(-1), 1);
    const squares = meanSquareWeight(observed, tilted) + ((1 - frequency) ** 2 * total) / hidden;
    const counts = tallies.make(tally.thresholds, recall.map((rate) => (rate * total) / squares), list, new Float64Array(tally.size));
    const { method, interval, assumption, notices, isUnknown } = given;
    const population = { value: prior, unlabelled: prior, method, interval, unlabelledInterval: interval, assumption, notices, isUnknown };
    return { ...evidence.make(counts, population, "case-control"), held: found.held, inPractice: true, rows: found };
  }

  // Even levels in an order of chance that nothing else shares.
  function levelOrder(many, { state, increment }) {
    return new random.Generator(state, increment).shuffle(Array.from({ length: many }, (_, k) => k));
  }

  // A tilt and who is aside for each redraw; without a share it was drawn, and `priors` are what redraws drew.
  function tiltsFor(tilts, share, priors, spread) {
    const many = priors.length;
    const order = levelOrder(many, facts.levels);
    const both = (at, rank) => {
      const tilt = tilts.quantile(at, (rank + 0.5) / many, spread);
      return [tilt, tilts.aside(at, tilt)];
    };
    if (share !== null) return order.map((rank) => both(share, rank));
    const sorted = Float64Array.from(priors).sort();
    const at = (place) => sorted[Math.floor(place)] + (place % 1) * ((sorted[Math.floor(place) + 1] ?? 0) - sorted[Math.floor(place)]);
    const onGrid = (share) => {
      const inside = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE);
      return 1 / (1 + Math.exp(-Math.round(PER_LOG_ODDS * Math.log(inside / (1 - inside))) / PER_LOG_ODDS));
    };
    const nodes = [...new Set(numbers.evenly(0, 1, facts.nodes).map((part) => onGrid(at(part * (many - 1)))))].sort((a, b) => a - b);
    return order.map((rank, k) => {
      const place = min(max(tallies.search(nodes, priors[k]) - 1, 0), max(nodes.length - 2, 0));
      const after = min(place + 1, nodes.length - 1);
      const wide = nodes[after] - nodes[place];
      const part = wide > 0 ? (priors[k] - nodes[place]) / wide : 0;
      const [low, high] = [place, after].map((node) => both(nodes[node], rank));
      return low.map((value, i) => (1 - part) * value + part * high[i]);
    });
  }

  // Intervals of one evidence's metrics; the redraws are those of random labels, before they are tilted. `values` are the
  // rows at the tilt in the middle, on which a threshold was `chosen`, if it was.
  function workshop(found, confidence, tilts, values, chosen = null) {
    // what is counted needs no class prior: of those possible the lowest, at which no rate is cut
    const { unlabelled, unlabelledInterval: reach, isUnknown } = found.prior;
    const plain = intervals.workshop({ ...found, prior: { ...found.prior, unlabelled: isUnknown ? reach.low : unlabelled } }, confidence);
    const { tail, ownTotals, shares, single, movedShare, drawnShare, compressed, plausibleAt, eachChunk } = plain.parts;
    const scenario = found.recoveryScenario;

    // The table of a redraw: recall is the labelled rows' own, distorted; the rest follows from the list.
    function margins(totals, prior, [tilt, aside], normal = null) {
      const rows = totals[0] + totals[1] + totals[2];
      const positive = min(max(single ? (totals[0] + prior * totals[1]) / rows : prior, 1e-12), 1 - 1e-12);
      const frequency = frequencyOf(totals, positive, scenario);
      const negative = 1 - positive;
      const table = { positive, negative, total: rows, hit: 0, alarm: 0 };
      return (labelled, unlabelled, refuted) => {
        const listed = single ? (totals[0] * labelled + totals[1] * unlabelled + totals[2] * refuted) / rows : unlabelled;
        let hidden = distort(labelled, tilt, 0, aside, unlabelled);
        if (normal !== null) {
          // how many of the hidden positives at hand are flagged is a matter of chance, too
          const count = max((1 - frequency) * positive * (single ? rows : totals[1]), 1);
          hidden = min(max(hidden + normal * sqrt(max(hidden * (1 - hidden), 0) / count), 0), 1);
        }
        const recall = frequency * labelled + (1 - frequency) * hidden;
        const hits = recovery.possibleHits(positive * recall, listed, positive, negative);
        table.hit = hits / positive;
        table.alarm = (listed - hits) / negative;
        return table;
      };
    }

    const tables = {};
    function tableAt(threshold, share) {
      return (tables[`${threshold} ${share}`] ??= (() => {
        const { rates, drawn } = plausibleAt(threshold);
        const normal = (k) => numbers.normalQuantile((fixedFacts.ranks[3][k] + 0.5) / intervals.REDRAWS);
        const priors = Array.from({ length: intervals.REDRAWS }, (_, k) => movedShare(share ?? drawnShare(normal(k)), drawn ? drawn[k] : ownTotals));
        const chosen = tiltsFor(tilts, share, priors, facts.at_thresholds);
        const normals = levelOrder(priors.length, facts.hidden).map((rank) => numbers.normalQuantile((rank + 0.5) / priors.length));
        return priors.map((prior, k) => {
          const { positive, negative, total, hit, alarm } = margins(drawn ? drawn[k] : ownTotals, prior, chosen[k], normals[k])(rates[0][k], rates[1][k], rates[2][k]);
          return recovery.cellsOf({ hits: [hit], alarms: [alarm], positive: positive * total, negative: negative * total }, 0);
        });
      })());
    }

    // ROC AUC and average precision in redraws of the whole ranking, at each share.
    let ranked = null;
    function rankedAt(share) {
      if (!ranked) {
        ranked = new Map(shares.map((each) => [each, { roc_auc: [], average_precision: [] }]));
        eachChunk((_, normal, drawn, ratesOf) => {
          for (const each of shares) {
            const priors = drawn.map((totals, k) => movedShare(each ?? drawnShare(normal[k]), totals));
            const chosen = tiltsFor(tilts, each, priors, 1);
            const into = ranked.get(each);
            drawn.forEach((totals, k) => {
              const [area, precision] = areas(margins(totals, priors[k], chosen[k]), ratesOf(k));
              into.roc_auc.push(area);
              into.average_precision.push(precision);
            });
          }
        });
      }
      return ranked.get(share);
    }

    function areas(tableOf, [labelled, unlabelled, refuted]) {
      let [hitBefore, alarmBefore, area, sum] = [0, 0, 1, 0];
      for (let i = 0; i < compressed().size; i++) {
        const { positive, negative, hit, alarm } = tableOf(labelled[i], unlabelled[i], refuted[i]);
        const called = positive * hit + negative * alarm;
        area -= (hit - hitBefore) * (alarm - (alarm - alarmBefore) / 2);
        sum += max(hit - hitBefore, 0) * (called > 0 ? (positive * hit) / called : 1);
        [hitBefore, alarmBefore] = [hit, alarm];
      }
      return [area, sum];
    }

    let again = null; // the threshold is chosen anew at the tilt in the middle, which chose it
    function ofChoice(metric, known, given) {
      again ??= intervals.workshop(values, confidence, chosen, facts.chosen_again);
      return again.parts.withChoice(metric, values.prior.unlabelled, tail, known, given);
    }

    function of(metric, known, cut, threshold, valueAt) {
      if (metric.counted) return plain.of(metric, known, cut, threshold, valueAt);
      const clipped = (value) => min(max(value, metric.lowest), metric.highest);
      const valuesAt = (share) =>
        metric.reads === "threshold" ? tableAt(threshold, share).map((cell) => estimates.clipped(metric, recovery.metrics[metric.name](cell))) : rankedAt(share)[metric.name];
      const ends = shares.map((share) => intervals.percentiles(valuesAt(share), tail)).filter(([low]) => !Number.isNaN(low));
      if (!ends.length) return null;
      let limits = [min(...ends.map(([end]) => end)), max(...ends.map(([, end]) => end))];
      if (metric.reads === "threshold" && threshold === chosen) limits = ofChoice(metric, known, limits);
      const [low, high] = [min(known, limits[0]), max(known, limits[1])].map(clipped);
      const interval = { low, high, confidence, method: facts.method, guarantee: facts.guarantee };
      return { interval, sample: interval };
    }

    return { of, ofThreshold: () => null };
  }

  return { tiltsOf, distorted, workshop, distort };
})();
if (typeof module !== "undefined") module.exports = practice;
