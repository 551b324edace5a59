"use strict";
// What flagging costs: the arithmetic of pulens.decide, so that the page follows a cost ratio, a class prior and a
// threshold by itself. Nothing here touches the document; node can load it, and a test compares both languages.
const decision = (() => {
  const { mapOf, tablesOf, populationPrior, possibleHits } = typeof recovery === "undefined" ? require("./recovery.js") : recovery;
  const [HIGHEST_SHARE, GRID, HALVINGS, SLACK] = [1 - 1e-9, 33, 40, 1e-12];

  // All that could be done, "flag none" first: recall as recovered, share flagged, hits per row cut to what is possible.
  function actionsOf(tables) {
    const prior = tables.positive / (tables.positive + tables.negative);
    const size = tables.hits.length;
    const flagged = new Float64Array(size);
    const hits = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      flagged[i] = Math.min(Math.max(prior * tables.hits[i] + (1 - prior) * tables.alarms[i], 0), 1);
      hits[i] = possibleHits(prior * tables.hits[i], flagged[i], prior, 1 - prior);
    }
    return { prior, recall: tables.hits, flagged, hits };
  }

  // Costs at another cost ratio: the price of a false alarm follows it, or, counted in false alarms, that of a miss.
  function moneyAt(ratio, costs) {
    const given = costs
      ? { ...costs, alarm: (ratio * (costs.miss + costs.hit) - costs.flag) / (1 - ratio) }
      : { miss: (1 - ratio) / ratio, alarm: 1, flag: 0, hit: 0 };
    return { ...given, price: given.alarm + given.flag, worth: given.miss + given.alarm + given.hit };
  }

  const costAt = (points, i, money) =>
    money.miss * points.prior + money.price * points.flagged[i] - money.worth * points.hits[i];
  const netBenefit = (points, i, ratio) => {
    const odds = ratio / (1 - ratio);
    return (1 + odds) * points.hits[i] - odds * points.flagged[i];
  };
  const flagAll = (prior, money) => money.miss * prior + money.price - money.worth * prior;

  // The place of the lowest cost among those allowed; of several the first, which is the highest threshold.
  function cheapest(points, money, allowed) {
    const size = points.flagged.length;
    let [lowest, largest] = [Infinity, 0];
    for (let i = 0; i < size; i++) {
      const cost = costAt(points, i, money);
      largest = Math.max(largest, Math.abs(cost));
      if (allowed(i)) lowest = Math.min(lowest, cost);
    }
    const slack = SLACK * Math.max(Math.abs(lowest), largest);
    for (let i = 0; i < size; i++) if (allowed(i) && costAt(points, i, money) <= lowest + slack) return i;
    return -1;
  }

  // The class priors between which a place stays the cheapest allowed one: closed formulas where rates do not move with
  // the class prior, halving where they do. data: {counts, totals}; given: {unlabelledPrior, labelNoise, scenario}
  function standing(data, given, points, place, allowed, money) {
    const moves = given.labelNoise || (given.scenario === "case-control" && data.totals.negative > 0);
    return moves ? searched(data, given, place, allowed, money) : solved(points, place, allowed, money);
  }

  // class priors from which on hits are cut: at the rows flagged, and at what the negatives cannot hold
  const bends = (flagged, recall) =>
    [recall > 0 ? flagged / recall : 1, recall < 1 ? (1 - flagged) / (1 - recall) : 1].map((at) => Math.min(Math.max(at, 0), 1));

  // The first place from the start on where a gap, linear between places, falls below 0.
  function firstBelow(at, gap, slack) {
    for (let k = 0; k + 1 < at.length; k++) {
      if (!(gap[k + 1] < -slack)) continue;
      return gap[k] > 0 ? at[k] + ((at[k + 1] - at[k]) * gap[k]) / (gap[k] - gap[k + 1]) : at[k];
    }
    return at.at(-1);
  }

  function solved(points, place, allowed, { price, worth }) {
    const own = points.prior;
    const slack = SLACK * Math.max(Math.abs(price), Math.abs(worth));
    const costOf = (prior, flagged, recall) => price * flagged - worth * possibleHits(prior * recall, flagged, prior, 1 - prior);
    const [q, gamma] = [points.flagged[place], points.recall[place]];
    let [low, high] = [0, 1];
    for (let i = 0; i < points.flagged.length; i++) {
      const [otherQ, otherGamma] = [points.flagged[i], points.recall[i]];
      if (!allowed(i) || (otherQ === q && otherGamma === gamma)) continue;
      const at = [0, own, 1, ...bends(q, gamma), ...bends(otherQ, otherGamma)].sort((a, b) => a - b);
      const gap = at.map((prior) => costOf(prior, otherQ, otherGamma) - costOf(prior, q, gamma));
      const here = at.indexOf(own);
      high = Math.min(high, firstBelow(at.slice(here), gap.slice(here), slack));
      low = Math.max(low, firstBelow(at.slice(0, here + 1).reverse(), gap.slice(0, here + 1).reverse(), slack));
    }
    return [low, high];
  }

  function searched(data, given, place, allowed, money) {
    const own = given.unlabelledPrior;
    const most = (1 - given.labelNoise) * HIGHEST_SHARE * (1 - 1e-6);
    const stands = (share) => {
      const tables = tablesOf(data.counts, data.totals, { ...given, unlabelledPrior: share });
      return cheapest(actionsOf(tables), money, allowed) === place;
    };
    const edge = (end) => {
      let kept = own;
      for (let k = 1; k < GRID; k++) {
        const share = own + ((end - own) / (GRID - 1)) * k;
        if (stands(share)) {
          kept = share;
          continue;
        }
        let [good, bad] = [kept, share];
        for (let n = 0; n < HALVINGS; n++) {
          const middle = (good + bad) / 2;
          if (stands(middle)) good = middle;
          else bad = middle;
        }
        return good;
      }
      return kept;
    };
    return [0, most].map((end) => populationPrior(edge(end), data.totals, given.scenario, given.labelNoise));
  }

  // Cost ratios between which a place beats flagging all and flagging none; null where nothing is flagged.
  function useful(points, i) {
    const [flagged, hits] = [points.flagged[i], points.hits[i]];
    if (!(flagged > 0)) return null;
    return [flagged < 1 ? Math.max((points.prior - hits) / (1 - flagged), 0) : 0, hits / flagged];
  }

  // --- quantiles of beta distributions -------------------------------------------------------------------------------

  const LANCZOS = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  function logGamma(x) {
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
    const shifted = x - 1;
    const t = shifted + 7.5;
    const sum = LANCZOS.slice(1).reduce((total, each, k) => total + each / (shifted + k + 1), LANCZOS[0]);
    return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(sum);
  }

  // The continued fraction of the incomplete beta function, by Lentz's method.
  function fraction(a, b, x) {
    const tiny = 1e-300;
    const nonzero = (value) => (Math.abs(value) < tiny ? tiny : value);
    let c = 1;
    let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
    let h = d;
    for (let m = 1; m < 100000; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / nonzero(1 + even * d);
      c = nonzero(1 + even / c);
      h *= d * c;
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / nonzero(1 + odd * d);
      c = nonzero(1 + odd / c);
      const step = d * c;
      h *= step;
      if (Math.abs(step - 1) < 1e-16) break;
    }
    return h;
  }

  function betaBelow(a, b, x, logBeta) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta);
    return x < (a + 1) / (a + b + 2) ? (front * fraction(a, b, x)) / a : 1 - (front * fraction(b, a, 1 - x)) / b;
  }

  // The point below which a beta distribution lies with this chance: Newton's steps, halving where they leave the bracket.
  const known = new Map();
  function betaQuantile(a, b, chance) {
    const key = `${a} ${b} ${chance}`;
    if (known.has(key)) return known.get(key);
    const logBeta = logGamma(a) + logGamma(b) - logGamma(a + b);
    let [low, high] = [0, 1];
    let x = a / (a + b);
    for (let n = 0; n < 200 && high - low > 1e-17; n++) {
      const missing = betaBelow(a, b, x, logBeta) - chance;
      if (missing > 0) high = x;
      else low = x;
      const density = Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) - logBeta);
      let next = x - missing / density;
      if (!(next > low && next < high)) next = (low + high) / 2;
      if (Math.abs(next - x) <= 1e-16 * x) break;
      x = next;
    }
    if (known.size > 4000) known.clear();
    known.set(key, x);
    return x;
  }

  // Ends of hits·π·γ + flagged·q + prior·π at one place, as if its threshold had been fixed beforehand: MOVER from
  // Jeffreys ends (Zou and Donner 2008), at a class prior taken as known. doubt: {tail, z}
  function ends(data, given, index, form, doubt) {
    const map = mapOf(data.totals, given);
    const prior = map.positive / (map.positive + map.negative);
    const totals = ["labelled", "unlabelled", "negative"].map((kind) => data.totals[kind]);
    const above = ["labelled", "unlabelled", "negative"].map((kind) =>
      index && data.counts[kind] ? data.counts[kind][index - 1] : 0,
    );
    const rates = above.map((count, k) => (totals[k] ? count / totals[k] : 0));
    let value = form.prior * prior;
    let [down, up] = [0, 0];
    for (let k = 0; k < 3; k++) {
      const hits = prior * map.hits[k];
      const weight = hits * form.hits + (hits + (1 - prior) * map.alarms[k]) * form.flagged;
      value += weight * rates[k];
      if (!weight || !totals[k]) continue;
      const rest = Math.max(totals[k] - above[k], 0);
      const [low, high] = [doubt.tail, 1 - doubt.tail].map((at) => betaQuantile(above[k] + 0.5, rest + 0.5, at));
      const [below, over] = [weight * Math.max(rates[k] - low, 0), weight * Math.max(high - rates[k], 0)];
      down += (weight > 0 ? below : over) ** 2;
      up += (weight > 0 ? over : below) ** 2;
    }
    if (given.scenario === "single-set") {
      const rows = totals[0] + totals[1] + totals[2];
      const parts = rates.map((rate) => form.flagged * rate);
      const mean = parts.reduce((sum, part, k) => sum + (totals[k] / rows) * part, 0);
      const square = parts.reduce((sum, part, k) => sum + (totals[k] / rows) * part * part, 0);
      const more = (doubt.z ** 2 * Math.max(square - mean * mean, 0)) / rows;
      [down, up] = [down + more, up + more];
    }
    return { low: value - Math.sqrt(down), high: value + Math.sqrt(up) };
  }

  const costForm = (money) => ({ hits: -money.worth, flagged: money.price, prior: money.miss });

  return {
    ...{ actionsOf, moneyAt, costAt, netBenefit, flagAll, cheapest, standing, useful },
    ...{ betaQuantile, ends, costForm },
  };
})();
if (typeof module !== "undefined") module.exports = decision;
