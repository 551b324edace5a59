"use strict";
// Rows as counts: how many of each kind stand at or above each distinct score, highest score first.
const tallies = (() => {
  const KINDS = ["labelled", "unlabelled", "negative"];

  function make(thresholds, labelled, unlabelled, negative) {
    const last = thresholds.length - 1;
    const [a, b, c] = [labelled, unlabelled, negative].map((kind) => (last < 0 ? 0 : kind[last]));
    return {
      ...{ thresholds, labelled, unlabelled, negative, size: last + 1 },
      totals: { labelled: a, unlabelled: b, negative: c },
      rows: a + b + c,
    };
  }

  // scores of each kind of row, in any order
  function fromScores(byKind) {
    const sorted = byKind.map((scores) => {
      const own = new Float64Array(scores);
      for (let i = 0; i < own.length; i++) own[i] += 0; // -0 and 0 are one score
      return own.sort();
    });
    const places = sorted.map((scores) => scores.length - 1);
    const most = sorted.reduce((sum, scores) => sum + scores.length, 0);
    const thresholds = new Float64Array(most);
    const counts = KINDS.map(() => new Float64Array(most));
    let size = 0;
    while (places.some((place) => place >= 0)) {
      let highest = -Infinity;
      for (let k = 0; k < 3; k++) if (places[k] >= 0 && sorted[k][places[k]] > highest) highest = sorted[k][places[k]];
      thresholds[size] = highest;
      for (let k = 0; k < 3; k++) {
        while (places[k] >= 0 && sorted[k][places[k]] === highest) places[k] -= 1;
        counts[k][size] = sorted[k].length - 1 - places[k];
      }
      size += 1;
    }
    return make(thresholds.slice(0, size), ...counts.map((kind) => kind.slice(0, size)));
  }

  const at = (tally, threshold) => {
    const place = recovery.indexAt(tally.thresholds, threshold) - 1;
    return KINDS.map((kind) => (place < 0 ? 0 : tally[kind][place]));
  };

  const kept = (tally, places) =>
    make(...["thresholds", ...KINDS].map((name) => Float64Array.from(places, (place) => tally[name][place])));

  const unique = (places) => [...new Set(places)].sort((a, b) => a - b);

  // first place at which rising values reach the wanted one
  function search(values, wanted) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const { evenly } = numbers;

  // Few thresholds that stand for all: half follow the labelled rows, half spread over the others.
  function compress(tally, most = 256) {
    if (tally.size <= most) return tally;
    const last = tally.size - 1;
    const kinds = KINDS.filter((kind) => tally.totals[kind]);
    const places = [0, last];
    const room = most - 2;
    const half = Math.floor(room / 2);
    const shares = kinds.length === 1 ? [room] : [half, ...kinds.slice(1).map(() => Math.floor(half / (kinds.length - 1)))];
    kinds.forEach((kind, k) => {
      for (const level of evenly(0, tally[kind][last], shares[k] + 1).slice(1)) places.push(Math.min(search(tally[kind], level), last));
    });
    return kept(tally, unique(places));
  }

  const MOST_THRESHOLDS = 2000;

  // Fewer thresholds for a page, and bounds on what lies between neighbours that were kept.
  function thin(tally, keep = []) {
    const size = tally.size;
    const places = size <= MOST_THRESHOLDS ? null : placesOf(tally, MOST_THRESHOLDS, keep);
    if (!places) return { tally, distinct: size, labelledGap: 0, unlabelledGap: 0 };
    const gap = (kind) => {
      const total = tally.totals[kind];
      if (!total || places.length === size) return 0;
      let widest = -Infinity;
      for (let k = 1; k < places.length; k++) widest = Math.max(widest, tally[kind][places[k] - 1] - tally[kind][places[k - 1]]);
      return widest / total;
    };
    return { tally: kept(tally, places), distinct: size, labelledGap: gap("labelled"), unlabelledGap: gap("unlabelled") };
  }

  function placesOf(tally, most, keep) {
    const size = tally.size;
    const position = new Float64Array(size);
    const called = new Float64Array(size);
    for (const kind of KINDS) {
      const total = tally.totals[kind];
      if (!total) continue;
      for (let i = 0; i < size; i++) {
        position[i] += tally[kind][i] / total;
        called[i] += tally[kind][i];
      }
    }
    const all = Math.log1p(called[size - 1]);
    for (let i = 0; i < size; i++) position[i] += Math.log1p(called[i]) / all;
    const fixed = [0, size - 1, ...keep.filter(Number.isFinite).map((cut) => firstNotAbove(tally.thresholds, cut))].map((place) =>
      Math.min(Math.max(place, 0), size - 1),
    );
    const steps = (many) => unique(evenly(position[0], position[size - 1], many).map((step) => Math.min(search(position, step), size - 1)));
    let [fewest, tooMany] = [most, 64 * most];
    while (tooMany - fewest > Math.floor(fewest / 16)) {
      const middle = Math.floor((fewest + tooMany) / 2);
      if (steps(middle).length <= most - fixed.length) fewest = middle;
      else tooMany = middle;
    }
    return unique([...steps(fewest).slice(0, most - fixed.length), ...fixed]);
  }

  function firstNotAbove(thresholds, cut) {
    let low = 0;
    let high = thresholds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (thresholds[middle] > cut) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // rows of a kind exactly at each threshold
  const increments = (tally, kind) => tally[kind].map((count, i) => count - (i ? tally[kind][i - 1] : 0));

  // chance that a row of one kind outscores one of another, ties counting one half; whole numbers stay exact
  function pairwise(tally, above, below) {
    const { size } = tally;
    const [first, second] = [tally[above], tally[below]];
    if (!size || !first[size - 1] || !second[size - 1]) return 0.5;
    let doubled = 0;
    for (let i = 0; i < size; i++) doubled += (first[i] + (i ? first[i - 1] : 0)) * (second[i] - (i ? second[i - 1] : 0));
    return doubled / (2 * first[size - 1] * second[size - 1]);
  }

  const pairs = (tally) =>
    Object.fromEntries(
      [["labelled", "unlabelled"], ["labelled", "negative"], ["unlabelled", "negative"]].map(([above, below]) => [
        `${above}_${below}`,
        pairwise(tally, above, below),
      ]),
    );

  return { KINDS, make, fromScores, at, compress, thin, increments, pairs, search, kept };
})();
if (typeof module !== "undefined") module.exports = tallies;
