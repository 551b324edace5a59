"use strict";
// Numbers of a window at another class prior: the formulas and intervals of pulens.monitoring.rates, line by line.
const watchRates = (() => {
  // numbers of a window in a row of `parts`: d, R, q0, q1, rows, then two symmetric matrices of these four: the
  // covariance, and the reference's part of it (nan where the window's own positives say the recall)
  const COVARIANCE = 5;
  const REFERENCE = 15;
  const WIDTH = 25;
  const clip = (value) => Math.min(Math.max(value, 0), 1);

  // slopes' times a packed symmetric matrix times slopes
  function squared(parts, at, slopes) {
    let found = 0;
    let k = at;
    for (let i = 0; i < 4; i++)
      for (let j = i; j < 4; j++) found += (i === j ? 1 : 2) * slopes[i] * slopes[j] * parts[k++];
    return found;
  }

  const metrics = {
    prior: { value: (A) => A, held: (A) => A, slopes: () => [1, 0, 0], own: null },
    recall: { value: (A, T) => T, held: (A, T) => T, slopes: () => [0, 1, 0], own: null },
    precision: {
      value: (A, T, q) => (A * T) / q,
      held: (A, hit, q) => hit / q,
      slopes: (A, T, q) => [T / q, A / q, (-A * T) / (q * q)],
      own: (A, hit, q) => [0, 1 / q],
    },
    f1: {
      value: (A, T, q) => (2 * A * T) / (A + q),
      held: (A, hit, q) => (2 * hit) / (A + q),
      slopes: (A, T, q) => [(2 * T * q) / (A + q) ** 2, (2 * A) / (A + q), (-2 * A * T) / (A + q) ** 2],
      own: (A, hit, q) => [(-2 * hit) / (A + q) ** 2, 2 / (A + q)],
      allFlagged: (A, q) => [(-2 * q) / (A + q) ** 2, (2 * A) / (A + q) ** 2],
    },
    accuracy: {
      value: (A, T, q) => 1 - A - q + 2 * A * T,
      held: (A, hit, q) => 1 - A - q + 2 * hit,
      slopes: (A, T) => [2 * T - 1, 2 * A, -1],
      own: () => [-1, 2],
      allFlagged: () => [-1, 1],
    },
  };

  // the doubt about a window's very rows: see OwnRows in pulens.monitoring.rates
  function ownVariance(world, d, rows, bySlope, [share, hit], [byShare, byHit], prior) {
    const { labelled, population } = world.moments;
    const among = ([ww, w, wf, f]) => [ww - 2 * d * w + d * d, w - d, wf - d * f, f];
    const [one, all] = [among(labelled), among(population)];
    const rest = all.map((value, k) => (value - prior * one[k]) / (1 - prior));
    const form = ([ww, w, wf, f], [a, b, c]) =>
      a * a * ww + b * b + c * c * f + 2 * a * b * w + 2 * a * c * wf + 2 * b * c * f;
    const centre = byShare * share + byHit * hit;
    const positive = Math.max(form(one, [bySlope, centre - byShare, -byHit]), 0);
    const negative = Math.max(form(rest, [bySlope, centre, 0]), 0);
    const held = clip(share);
    return ((held + 0.5 / rows) * positive + (1 - held) * negative) / rows;
  }

  // a metric of the window whose numbers begin at `at`, with its interval; world: {noise, z, moments}
  function rate(name, world, parts, at, prior) {
    const [shift, R, q0, q1, rows] = parts.subarray(at, at + 5);
    const { noise, z } = world;
    if ((name === "precision" || name === "f1") && !(q1 > 0)) return null;
    const room = 1 - noise - prior;
    const d = name === "f1" ? Math.max(shift, -prior / room) : shift; // it has no sense below a share of 0
    const A = prior + room * d;
    const T = noise ? (R * (1 - prior) - noise * q0) / room : R;
    const metric = metrics[name];
    const free = metric.value(A, T, q1);
    const [byA, byT, byQ] = metric.slopes(A, T, q1);
    const slopes = [byA * room, noise ? (byT * (1 - prior)) / room : byT, noise ? (-byT * noise) / room : 0, byQ];
    let variance = squared(parts, at + COVARIANCE, slopes);
    if (metric.own && !Number.isNaN(parts[at + REFERENCE])) {
      const hit = A * T;
      const own = ownVariance(world, shift, rows, slopes[0], [A, hit], metric.own(A, hit, q1), prior);
      variance = Math.max(variance, own + squared(parts, at + REFERENCE, slopes));
    }
    const reach = z * Math.sqrt(Math.max(variance, 0));
    const value = clip(name === "prior" || name === "recall" ? free : metric.held(A, Math.min(A * T, q1), q1));
    let [low, high] = [free - reach, free + reach];
    if (low >= 1) low = 1 - reach;
    if (high <= 0) high = reach;
    if (metric.allFlagged && A * T > q1) {
      // more true positives than rows flagged: the share of positives is in doubt still
      const [byShare, byFlagged] = metric.allFlagged(A, q1);
      const still = z * Math.sqrt(Math.max(squared(parts, at + COVARIANCE, [byShare * room, 0, 0, byFlagged]), 0));
      [low, high] = [Math.min(low, value - still), Math.max(high, value + still)];
    }
    return [value, Math.min(clip(low), value), Math.max(clip(high), value)];
  }

  // the row of a window that its own positives judge, found anew at a class prior: see with_own_positives
  function fillOwn(parts, at, own, prior) {
    const [window, mine, population, labelled, R, q0, q1] = own;
    const negatives = (population - prior * labelled) / (1 - prior);
    const apart = mine - negatives;
    const share = (window - negatives) / apart;
    const by = 1 / (apart * (1 - prior)); // d = (share - prior)/(1 - prior)
    const towards = [by, -by * share, (-by * (1 - share)) / (1 - prior), (by * (1 - share) * prior) / (1 - prior), 0, 0, 0];
    const pick = (k) => [0, 0, 0, 0, 0, 0, 0].map((_, place) => (place === k ? 1 : 0));
    const slopes = [towards, pick(4), pick(5), pick(6)];
    const covariance = [];
    let k = 7;
    for (let i = 0; i < 7; i++) for (let j = i; j < 7; j++) covariance[7 * i + j] = covariance[7 * j + i] = own[k++];
    parts.set([(share - prior) / (1 - prior), R, q0, q1], at);
    let place = at + COVARIANCE;
    for (let a = 0; a < 4; a++)
      for (let b = a; b < 4; b++) {
        let found = 0;
        for (let i = 0; i < 7; i++) for (let j = 0; j < 7; j++) found += slopes[a][i] * slopes[b][j] * covariance[7 * i + j];
        parts[place++] = found;
      }
    parts[at + REFERENCE] = NaN;
  }

  // the least shift that fewer positives can give, and how far below it a window's may lie by chance
  function lowest(world, prior) {
    const end = -prior / (1 - prior);
    const { p, q, w } = world.cells;
    const mixture = p.map((share, k) => Math.max((1 - end) * q[k] + end * share, 0));
    const total = mixture.reduce((sum, share) => sum + share, 0);
    const mean = mixture.reduce((sum, share, k) => sum + (share / total) * w[k], 0);
    const spread = (shares) => shares.reduce((sum, share, k) => sum + share * (w[k] - mean) ** 2, 0);
    const [own, half] = [spread(mixture) / total, spread(p) / 2];
    const [population, both, labelled] = world.reference;
    const shared = (1 - end) ** 2 * population + 2 * end * (1 - end) * both + end ** 2 * labelled;
    return (rows) => end - world.farthest * Math.sqrt((own + half / rows) / rows + shared);
  }

  return { rate, lowest, fillOwn, WIDTH, metrics: Object.keys(metrics) };
})();
if (typeof module !== "undefined") module.exports = watchRates;
