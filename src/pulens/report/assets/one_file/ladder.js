"use strict";
// If somebody checks the top of the list: how many positives the first 20, 50, 100 … rows hold, how sure that is, and
// which share of all positives they are. The list is what the scenario calls the population.
const ladder = (() => {
  const { KINDS } = tallies;
  const { normalQuantile, betaQuantile, betaBelow, whole, general } = numbers;
  const [LONGEST, SHORTEST] = [5, 20]; // steps of a ladder; rows that are worth one
  const [LEVELS, COMPOSITIONS, SHARES] = [24, 9, 25]; // quantiles for a rate, for the share of labelled rows, for a class prior that is drawn
  const [FEW_SEEN, REACH, MOST_PLACES, PREDICTED] = [2, 5, 160, 401];
  const even = (many) => Array.from({ length: many }, (_, k) => (k + 0.5) / many);

  // halves go to the even neighbour, as Python rounds them
  const rounded = (value) => (value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

  // Round numbers of rows up to a fifth of the list.
  function steps(rows) {
    const powers = Array.from({ length: Math.max(String(Math.trunc(rows)).length - 1, 0) }, (_, k) => k + 1);
    const fitting = powers.flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power)).filter((step) => step >= SHORTEST && step <= rows / 5);
    if (fitting.length <= LONGEST) return fitting;
    return Array.from({ length: LONGEST }, (_, place) => fitting[rounded((place * (fitting.length - 1)) / (LONGEST - 1))]);
  }

  // --- the list ----------------------------------------------------------------------------------------------------

  const isUnlabelledList = (found) => found.recoveryScenario === "case-control" && found.tally.totals.unlabelled > 0;

  // how many rows of the list stand at or above each score
  function listOf(found) {
    const { tally } = found;
    const isApart = isUnlabelledList(found);
    const reached = isApart ? tally.unlabelled : tally.labelled.map((count, i) => count + tally.unlabelled[i] + tally.negative[i]);
    return { tally, isApart, reached, rows: reached.length ? reached.at(-1) : 0 };
  }

  // rows of a kind among the first k of the list: all above the score of the k-th, and a part of those that share it
  function among(list, kind, k) {
    const place = tallies.search(list.reached, k);
    const counts = list.tally[kind];
    if (place >= counts.length) return counts.length ? counts.at(-1) : 0;
    const [above, before] = place ? [list.reached[place - 1], counts[place - 1]] : [0, 0];
    return before + ((counts[place] - before) * (k - above)) / (list.reached[place] - above);
  }

  // the mean weight 1 / log2(rank + 1) of each kind among the first k ranks; ties stand at each of their ranks alike
  function discounted(list, k) {
    const sums = new Float64Array(k + 1);
    for (let rank = 1; rank <= k; rank++) sums[rank] = sums[rank - 1] + 1 / Math.log2(rank + 1);
    const totals = [0, 0, 0];
    const counts = KINDS.map((kind) => list.tally[kind]);
    for (let i = 0; i < list.reached.length; i++) {
      const above = i ? list.reached[i - 1] : 0;
      if (above >= k) break;
      const tied = list.reached[i] - above || 1;
      const weight = (sums[Math.min(above + tied, k)] - sums[above]) / tied;
      for (let j = 0; j < 3; j++) totals[j] += (counts[j][i] - (i ? counts[j][i - 1] : 0)) * weight;
    }
    return totals;
  }

  const meansOf = (list, sums) => sums.map((sum, j) => (list.tally.totals[KINDS[j]] ? sum / list.tally.totals[KINDS[j]] : 0));
  const memberOf = (list, k) => meansOf(list, KINDS.map((kind) => (k ? among(list, kind, k) : 0)));

  // what counts at other places of the list need to fit together with that of the first k
  function placesOf(list, k) {
    const places = [0, ...recovery.roundPlaces(list.rows).filter((step) => step !== k), k, list.rows];
    return {
      places: places.map((place) => [place, ...memberOf(list, place)]),
      totals: KINDS.map((kind) => list.tally.totals[kind]),
      proves: !list.isApart,
    };
  }

  function weights(list, k) {
    if (k > list.rows) return null;
    return { of: list.rows, member: memberOf(list, k), discount: meansOf(list, discounted(list, k)), ...placesOf(list, k) };
  }

  // --- measures and their intervals --------------------------------------------------------------------------------

  // a measure of the first k rows as other metrics are: its value, and how its interval is made
  function measure(facts, list, k) {
    const scaled = facts.name === "precision_at_k" ? (recall, prior) => (recall * prior * list.rows) / k : (recall) => recall;
    const paths = pathsAround(list, k);
    const { places, totals, proves } = placesOf(list, k);
    return {
      ...facts,
      compute(found, share) {
        const map = evidence.mapOf(found, share);
        if (facts.name === "precision_at_k") return recovery.positivesAmong(places, totals, map, proves) / k;
        return KINDS.reduce((sum, kind, j) => {
          const total = found.tally.totals[kind];
          return map.hits[j] && total ? sum + (map.hits[j] * among(list, kind, k)) / total : sum;
        }, 0);
      },
      construction: (shop) => ({
        method: "Jeffreys, at the place of the k-th row",
        ends(share, tail) {
          const shares = share === null ? even(SHARES).map((level) => shop.drawnShare(normalQuantile(level))) : [share];
          const [low, high] = intervals.percentiles(shares.flatMap((each) => spread(list, k, each, paths, scaled, shop)), tail);
          return [mayBeNone(list, k, tail) ? Math.min(low, 0) : low, high];
        },
      }),
    };
  }

  // Whether labelled rows among the first ones may be there by chance alone: one or two, none further up.
  function mayBeNone(list, k, tail) {
    const surely = Math.max(k - normalQuantile(1 - tail) * Math.sqrt(k), 0);
    const [seen, furtherUp] = [k, surely].map((place) => among(list, "labelled", place));
    return seen > 0 && seen <= FEW_SEEN && furtherUp === 0;
  }

  // the number at all levels, at one share of positives among the unlabelled rows
  function spread(list, k, share, paths, scaled, shop) {
    const { rows, isApart, tally } = list;
    const totals = KINDS.map((kind) => tally.totals[kind]);
    const priorOf = (map) => map.positive / (map.positive + map.negative);
    if (isApart) {
      const map = shop.mapAt(totals, share);
      return paths().apart.map((rate) => scaled(map.hits[0] * rate + (map.hits[1] * k) / rows, priorOf(map)));
    }
    return paths().together.flatMap(({ labelledShare, rates }) => {
      const others = ((1 - labelledShare) * rows) / Math.max(rows - totals[0], 1e-300);
      const prior = priorOf(shop.mapAt([labelledShare * rows, others * totals[1], others * totals[2]], share));
      return rates.map((rate) => scaled(rate, prior));
    });
  }

  // Jeffreys quantiles of labelled and other rows at the thresholds around the k-th place, highest first, and the
  // labelled rate at every pair of levels where the list reaches its k-th row
  function pathsAround(list, k) {
    let made = null;
    return () => (made ??= list.isApart ? { apart: labelledWhere(...quantilePaths(list, k), list, k) } : { together: inOneSample(...quantilePaths(list, k), list, k) });
  }

  function quantilePaths({ tally, isApart, reached, rows }, k) {
    const last = reached.length - 1;
    const around = REACH * Math.sqrt(Math.max(k * (1 - k / rows), 1)) + 1;
    const from = Math.max(tallies.search(reached, k - around) - 1, 0);
    const to = Math.min(tallies.search(reached, k + around) + 1, last);
    const places = [...new Set(numbers.evenly(from, to, MOST_PLACES).map(Math.trunc))];
    const others = (i) => tally.unlabelled[i] + (isApart ? 0 : tally.negative[i]);
    return [(i) => tally.labelled[i], others].map((count) => {
      const known = new Map(); // neighbouring places often have as many rows
      const path = places.map((place) => {
        const hits = count(place);
        const rest = Math.max(count(last) - hits, 0);
        if (!known.has(hits)) known.set(hits, even(LEVELS).map((level) => betaQuantile(hits + 0.5, rest + 0.5, level)));
        return known.get(hits);
      });
      if (from === 0) path.unshift(even(LEVELS).fill(0)); // above the highest score stands nothing
      if (to === last) path[path.length - 1] = even(LEVELS).fill(1); // and everything above the lowest
      return path;
    });
  }

  // the first place at which a rising path reaches k, and how far between there and the place before
  function crossing(reached, size, k) {
    let [low, high] = [0, size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reached(middle) < k) low = middle + 1;
      else high = middle;
    }
    const place = Math.min(Math.max(low, 1), size - 1);
    const [before, after] = [reached(place - 1), reached(place)];
    return [place, after > before ? recovery.clip((k - before) / (after - before)) : 1];
  }
  const along = (path, level, [place, part]) => path[place - 1][level] + part * (path[place][level] - path[place - 1][level]);
  const levels = Array.from({ length: LEVELS }, (_, k) => k);

  const labelledWhere = (labelled, rest, { rows }, k) =>
    levels.flatMap((other) => {
      const found = crossing((i) => rest[i][other] * rows, rest.length, k);
      return levels.map((level) => along(labelled, level, found));
    });

  const inOneSample = (labelled, rest, { tally, rows }, k) =>
    even(COMPOSITIONS).map((at) => {
      const { labelled: known } = tally.totals;
      const labelledShare = betaQuantile(known + 0.5, Math.max(rows - known, 0) + 0.5, at);
      const rates = levels.flatMap((level) =>
        levels.map((other) =>
          along(labelled, level, crossing((i) => rows * (labelledShare * labelled[i][level] + (1 - labelledShare) * rest[i][other]), rest.length, k)),
        ),
      );
      return { labelledShare, rates };
    });

  // --- hits to come ------------------------------------------------------------------------------------------------

  // the chance of at most so many hits; what no double can tell from 0 or 1 is not computed
  function atMost(hits, alarms, share) {
    if (hits >= alarms || share <= 0) return 1;
    if (share >= 1) return 0;
    const [seen, mean] = [(hits + 0.5) / alarms, share];
    const distance = alarms * (seen * Math.log(seen / mean) + (1 - seen) * Math.log((1 - seen) / (1 - mean)));
    if (distance > 60) return seen > mean ? 1 : 0;
    return betaBelow(alarms - hits, hits + 1, 1 - share);
  }

  // Hits among so many rows: precision spread as its interval says, then a binomial draw.
  function predicted(alarms, { value: shown, unshown, interval }) {
    const value = unshown ?? shown;
    const expected = alarms * shown;
    if (!interval || interval.confidence === null) return { expected, low: null, high: null };
    const { low, high, confidence } = interval;
    const reach = normalQuantile((1 + confidence) / 2);
    const shares = even(PREDICTED)
      .map(normalQuantile)
      .map((normal) => recovery.clip(value + ((normal < 0 ? value - low : high - value) / reach) * normal));
    const tail = (1 - confidence) / 2;
    const [fewest, most] = [tail, 1 - tail].map((level) => {
      let [from, to] = [0, alarms];
      while (from < to) {
        const middle = Math.floor((from + to) / 2);
        const chance = shares.reduce((sum, share) => sum + atMost(middle, alarms, share), 0) / PREDICTED;
        if (chance >= level) to = middle;
        else from = middle + 1;
      }
      return from;
    });
    return { expected, low: fewest, high: most };
  }

  // where some are known to be hits already
  const atLeast = (hits, known) =>
    hits.low === null || hits.low >= known ? hits : { ...hits, low: Math.ceil(known), high: Math.max(hits.high, Math.ceil(known)) };

  // --- in a report -------------------------------------------------------------------------------------------------

  function of(evaluation, doubts) {
    const { found } = evaluation;
    const list = listOf(found);
    return steps(list.rows).map((k) => {
      const [precision, recall] = fixedFacts.top.map((facts) => {
        const wanted = facts.name === "precision_at_k" ? doubts : null; // of recall only the value is shown
        return estimates.estimate(measure(facts, list, k), found, null, wanted);
      });
      const known = list.isApart ? 0 : among(list, "labelled", k);
      const floored = { ...precision, interval: estimates.notBelow(precision.interval, known / k) };
      return { k, precision: floored, recall, hits: atLeast(predicted(k, floored), known), known };
    });
  }

  const reach = ({ low, high }) => (whole(low) === whole(high) ? whole(low) : `${whole(low)} to ${whole(high)}`);

  function sentence({ k, hits, recall, known }) {
    const labelled = known >= 0.5 ? ` (${whole(known)} of them labelled already)` : "";
    const share = `, ${general(100 * recall.value, 3)}% of all positives`;
    const told = `${whole(hits.expected)}${labelled}${share}`;
    if (hits.low === null) return `Check ${whole(k)} rows: expect about ${told}.`;
    if (Number.isNaN(hits.expected) || (whole(hits.low) !== whole(hits.high) && hits.expected >= k - 0.5)) return `Check ${whole(k)} rows: expect ${reach(hits)} positives${labelled}${share}.`;
    return `Check ${whole(k)} rows: expect ${reach(hits)} positives; the estimate is ${told}.`;
  }

  const rows = (found) =>
    found.map(({ k, hits, recall }) => ({
      k: whole(k),
      hits: Number.isNaN(hits.expected) ? fixedFacts.withheld.mark : whole(hits.expected),
      interval: hits.low === null ? "" : reach(hits),
      recall: sentences.percent(recall.value),
    }));

  // what the report's sliders need: for each scenario the mean weight of each kind of rows
  function data(found, inScenario) {
    const lists = ["case-control", "single-set"].map((scenario) => [scenario, listOf(inScenario(scenario))]);
    return found.map((step) => ({
      k: step.k,
      sentence: sentence(step),
      hits: [step.hits.expected, step.hits.low, step.hits.high],
      values: { precision_at_k: step.precision.value, recall_at_k: step.recall.value },
      scenarios: Object.fromEntries(lists.map(([scenario, list]) => [scenario, weights(list, step.k)])),
    }));
  }

  return { of, rows, data };
})();
if (typeof module !== "undefined") module.exports = ladder;
