"use strict";
// How many positives a group of strata can hold, given those found in a random sample of each: the draws of
// pulens.audits.limits, number for number. One imaginary row more is put where it changes most.
const auditLimits = (() => {
  const DRAWS = 20000;
  const LISTED = 100000; // unseen rows up to which all chances of a stratum are written out
  const { sum } = auditPlan;

  // P(BB(unseen; first, second) <= x) for x = 0..unseen, each chance the last one times a ratio
  function cumulative(unseen, first, second) {
    const shares = new Float64Array(unseen + 1);
    if (first === 0 || second === 0) return shares.fill(1, first ? unseen : 0);
    let most = 0;
    for (let x = 0; x < unseen; x++) {
      shares[x + 1] = shares[x] + Math.log(((unseen - x) / (x + 1)) * ((first + x) / (second + unseen - x - 1)));
      if (shares[x + 1] > most) most = shares[x + 1];
    }
    let total = 0;
    for (let x = 0; x <= unseen; x++) shares[x] = total += Math.exp(shares[x] - most);
    for (let x = 0; x <= unseen; x++) shares[x] /= total;
    return shares;
  }

  // The smallest number of positives of one stratum at which a level is reached, the imaginary row being either.
  function exactQuantile(level, rows, checked, found) {
    const unseen = rows - checked;
    const shares = cumulative(unseen, found, checked - found + 1);
    const others = cumulative(unseen, found + 1, checked - found);
    for (let x = 0; x <= unseen; x++) shares[x] = 0.5 * shares[x] + 0.5 * others[x];
    return found + Math.min(tallies.search(shares, level - 1e-12), unseen);
  }

  function stratumLimits(rows, checked, found, confidence) {
    const tail = (1 - confidence) / 2;
    if (checked === 0) return [0, rows];
    return [exactQuantile(tail, rows, checked, found), exactQuantile(1 - tail, rows, checked, found)];
  }

  // Positives that one negative row more would take from the mean of each stratum, and that a positive one would add.
  function effects(rows, checked, found) {
    const each = rows.map((many, k) => (checked[k] > 0 ? (many - checked[k]) / (Math.max(checked[k], 1) * (checked[k] + 1)) : 0));
    return [each.map((one, k) => one * found[k]), each.map((one, k) => one * (checked[k] - found[k]))];
  }

  const largest = (values) => values.reduce((best, value, k) => (value > values[best] ? k : best), 0);

  // Quantiles of a beta-binomial at evenly spread levels; a number where nothing is left to chance.
  function spread(unseen, first, second, draws) {
    if (unseen === 0 || first === 0 || second === 0) return first && !second ? unseen : 0;
    const shares = cumulative(unseen, first, second);
    const found = new Float64Array(draws);
    for (let k = 0, x = 0; k < draws; k++) {
      while (x <= unseen && shares[x] < (k + 0.5) / draws) x += 1;
      found[k] = x;
    }
    return found;
  }

  // Positives among the rows of each stratum that nobody checked, one list a stratum, with imaginary rows of either kind.
  function unseenOf(generator, draws, rows, checked, found, positive, negative, listed = LISTED) {
    const [first, second] = [found.map((many) => many + positive), checked.map((many, k) => many - found[k] + negative)];
    const unseen = rows.map((many, k) => many - checked[k]);
    if (unseen.every((many) => many <= listed))
      return unseen.map((many, k) => {
        const all = spread(many, first[k], second[k], draws);
        return typeof all === "number" ? new Float64Array(draws).fill(all) : generator.shuffle(all);
      });
    const shares = unseen.map(() => new Float64Array(draws));
    for (let i = 0; i < draws; i++)
      for (let k = 0; k < unseen.length; k++) {
        const share = generator.beta(Math.max(first[k], 1), Math.max(second[k], 1));
        shares[k][i] = first[k] === 0 ? 0 : second[k] === 0 ? 1 : share;
      }
    for (let i = 0; i < draws; i++) for (let k = 0; k < unseen.length; k++) shares[k][i] = generator.binomial(unseen[k], shares[k][i]);
    return shares;
  }

  // What the imaginary row changes in the group of strata from begin to end: in the mean, and in each draw.
  function imagined(generator, plain, { rows, checked, found }, [begin, end], coin, up, draws, listed) {
    const change = new Float64Array(draws);
    if (begin === end) return { effect: 0, change };
    const parts = [rows, checked, found].map((kind) => kind.slice(begin, end));
    const effect = effects(...parts)[up];
    const best = largest(effect);
    const one = parts.map((kind) => [kind[best]]);
    for (const half of [true, false]) {
      const places = [...change.keys()].filter((k) => coin(k) === half);
      const [drawn] = unseenOf(generator, places.length, ...one, up, 1 - up, listed);
      if (effect[best] > 0) places.forEach((k, i) => (change[k] = drawn[i] + found[begin + best] - plain[begin + best][k]));
    }
    return { effect: effect[best], change };
  }

  // Draws of the positives among flagged rows, among the others, and (with one imaginary row in all) among all.
  function drawTotals(strata, flagged, seed, draws = DRAWS, listed = LISTED) {
    const { rows, checked, found } = strata;
    const generator = random.Generator.seeded(seed);
    const plain = unseenOf(generator, draws, rows, checked, found, 0, 0, listed).map((drawn, k) => (checked[k] ? drawn.map((many) => many + found[k]) : drawn.fill(0)));
    const coins = { above: (k) => k % 2 === 0, below: (k) => (k >> 1) % 2 === 0 };
    const groups = { above: [0, flagged], below: [flagged, rows.length] };
    const changes = Object.fromEntries(
      Object.entries(groups).map(([name, ends]) => [name, [0, 1].map((up) => imagined(generator, plain, strata, ends, coins[name], up, draws, listed))]),
    );
    changes.everywhere = changes.above.map((one, up) => (one.effect >= changes.below[up].effect ? one : changes.below[up]));
    groups.everywhere = [0, rows.length];
    coins.everywhere = coins.above;
    return Object.fromEntries(
      Object.entries(groups).map(([name, [begin, end]]) => {
        const low = Float64Array.from({ length: draws }, (_, i) => {
          let total = changes[name][coins[name](i) ? 1 : 0].change[i];
          for (let k = begin; k < end; k++) total += plain[k][i];
          return total;
        });
        const spared = sum(rows.slice(begin, end).map((many, k) => (checked[begin + k] ? 0 : many)));
        return [name, { low, high: low.map((total) => total + spared) }];
      }),
    );
  }

  // The smallest drawn value whose share of the draws reaches the level.
  function quantile(drawn, level) {
    const place = Math.min(Math.max(Math.ceil(level * drawn.length - 1e-9), 1), drawn.length) - 1;
    return Float64Array.from(drawn).sort()[place];
  }

  return { DRAWS, exactQuantile, stratumLimits, effects, largest, unseenOf, drawTotals, quantile };
})();
if (typeof module !== "undefined") module.exports = auditLimits;
