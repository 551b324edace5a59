"use strict";
// Which ranges of scores to check rows in, and how many rows in each; as pulens.audits does it, sum by sum.
const auditPlan = (() => {
  const { Refusal } = evidence;
  const GOALS = ["all", "f1", "precision", "recall", "class_prior", "roc_auc"];
  const PARTS_OF_ALL = ["precision", "recall", "f1", "class_prior"];
  const FLAGGED_FIRST = ["precision", "f1", "all"];
  const [RANGES_BELOW, SMALLEST_BASE] = [4, 30];
  const [FLOOR, FLAGGED_SHARE, LARGEST_SHARE, SMALLEST_SHARE] = [0.35, 0.25, 0.98, 1e-4];
  const [FEWEST_ROWS, MOST_ROWS, DEFAULT_ROWS, FEWEST] = [10, 200000, 200, 8];
  const [FEW_ROWS, FEW_LABELLED] = [25, 5];

  const sum = (values) => values.reduce((total, each) => total + each, 0);
  const clip = (value, low, high) => Math.min(Math.max(value, low), high);

  // to the nearest whole number, halves to the even one
  function rounded(value) {
    const down = Math.floor(value);
    const rest = value - down;
    return rest > 0.5 || (rest === 0.5 && down % 2) ? down + 1 : down;
  }

  // --- ranges of scores --------------------------------------------------------------------------------------------

  function cut(tally, threshold, ranges) {
    const above = [tallies.at(tally, threshold)];
    const edges = [threshold];
    for (const place of cuts(tally, above[0][1], ranges)) {
      edges.push(tally.thresholds[place]);
      above.push(tallies.KINDS.map((kind) => tally[kind][place]));
    }
    above.push(tallies.KINDS.map((kind) => tally.totals[kind]));
    const counts = above.map((each, k) => each.map((many, kind) => many - (k ? above[k - 1][kind] : 0)));
    const isEmpty = (each) => each.every((many) => many === 0);
    let flagged = 1;
    if (edges.length === 1 && isEmpty(counts.at(-1))) {
      counts.pop();
      edges.pop();
    } else if (isEmpty(counts[0])) {
      counts.shift();
      edges.shift();
      flagged = 0;
    }
    const [labelled, rows, knownNegative] = [0, 1, 2].map((kind) => counts.map((each) => each[kind]));
    return { threshold, edges, flagged, rows, labelled, knownNegative };
  }

  // places of the lowest score of each range below the flagged rows, but for the last range
  function cuts(tally, flagged, ranges) {
    const every = tally.totals.unlabelled;
    const base = Math.max(flagged, SMALLEST_BASE);
    const found = [];
    if (base >= every) return found;
    let above = flagged;
    for (let part = 1; part < ranges; part++) {
      const place = tallies.search(tally.unlabelled, rounded(base * (every / base) ** (part / ranges)));
      if (above < tally.unlabelled[place] && tally.unlabelled[place] < every) {
        found.push(place);
        above = tally.unlabelled[place];
      }
    }
    return found;
  }

  // --- how many rows in each ---------------------------------------------------------------------------------------

  function guesses({ rows, labelled, flagged }, positives) {
    const plain = rows.map((many) => many / 2);
    const shares = rows.slice(flagged).map((_, k) => 0.5 ** k);
    const half = sum(plain.slice(0, flagged));
    shares.forEach((share, k) => (plain[flagged + k] = Math.min(plain[flagged + k], (half * share) / sum(shares))));
    if (!sum(labelled)) return [plain];
    const total = positives ?? sum(plain);
    const all = sum(labelled) + 1;
    return [plain, rows.map((many, k) => Math.min(LARGEST_SHARE * many, total * ((labelled[k] + 1 / rows.length) / all)))];
  }

  const mean = (lists) => lists[0].map((_, k) => sum(lists.map((list) => list[k])) / lists.length);

  // Neyman's shares of the rows to check: the spread in each range times what a positive there moves the goal by
  function weights(rows, guess, flagged, goal) {
    if (goal === "all") return mean(PARTS_OF_ALL.map((part) => weights(rows, guess, flagged, part)));
    const share = rows.map((many, k) => clip(many > 0 ? guess[k] / many : 0, SMALLEST_SHARE, LARGEST_SHARE));
    const expected = share.map((each, k) => each * rows[k]);
    const [above, below] = derivatives(expected, rows, flagged, goal);
    const found = rows.map((many, k) => many * Math.abs(k < flagged ? above : below) * Math.sqrt(share[k] * (1 - share[k])));
    const total = sum(found);
    return total > 0 ? found.map((each) => each / total) : rows.map((many) => many / sum(rows));
  }

  function derivatives(guess, rows, flagged, goal) {
    const [hits, positives, size] = [sum(guess.slice(0, flagged)), sum(guess), sum(rows.slice(0, flagged))];
    if (goal === "precision") return [1, 0];
    if (goal === "recall") return [1 - hits / positives, -hits / positives];
    const f1 = (2 * hits) / (size + positives);
    return goal === "f1" ? [2 - f1, -f1] : [1, 1];
  }

  function allocate(strata, asked, goal, positives) {
    const { rows, flagged } = strata;
    const all = sum(rows);
    const budget = Math.min(asked, all);
    const share = mean(guesses(strata, positives).map((guess) => weights(rows, guess, flagged, goal)));
    const lowest = rows.map((many) => (FLOOR * budget * many) / all);
    const first = sum(rows.slice(0, flagged));
    if (FLAGGED_FIRST.includes(goal) && first)
      for (let k = 0; k < flagged; k++) lowest[k] = Math.max(lowest[k], Math.min((FLAGGED_SHARE * budget * rows[k]) / first, rows[k]));
    return whole(scaled(share, lowest.map((low, k) => Math.min(low, rows[k])), rows, budget), rows, budget);
  }

  // a multiple of the shares between both limits, with the sum asked for; the limits bend at known multiples
  function scaled(share, lowest, highest, budget) {
    if (sum(lowest) >= budget) return lowest;
    const at = (factor) => share.map((each, k) => clip(factor * each, lowest[k], highest[k]));
    const ends = share.flatMap((each, k) => (each > 0 ? [lowest[k] / each, highest[k] / each] : []));
    const bends = [...new Set([...ends, 0])].sort((a, b) => a - b);
    const totals = bends.map((bend) => sum(at(bend)));
    const place = tallies.search(totals, budget);
    if (place === bends.length) {
      const found = at(bends.at(-1));
      const room = highest.map((high, k) => high - found[k]);
      const left = sum(room) ? (budget - sum(found)) / sum(room) : 0;
      return found.map((each, k) => each + room[k] * left);
    }
    const before = Math.max(place - 1, 0);
    const rise = totals[place] - totals[before];
    return at(rise === 0 ? bends[place] : bends[place] - ((bends[place] - bends[before]) * (totals[place] - budget)) / rise);
  }

  // whole numbers by largest remainders; of equal ones the higher range comes first
  function whole(wanted, highest, budget) {
    const found = wanted.map((each, k) => Math.min(Math.floor(each + 1e-9), highest[k]));
    const remainder = wanted.map((each, k) => rounded((each - found[k]) * 1e9) / 1e9);
    let missing = budget - sum(found);
    while (missing > 0) {
      const order = [...found.keys()].filter((k) => found[k] < highest[k]).sort((a, b) => remainder[b] - remainder[a]);
      const taken = order.slice(0, missing);
      if (!taken.length) break;
      for (const k of taken) {
        found[k] += 1;
        remainder[k] -= 1;
      }
      missing -= taken.length;
    }
    return found;
  }

  // Ranges and rows in each; ranges below the threshold are fewer where some would be checked too thinly.
  function make(tally, threshold, budget, goal, positives) {
    if (!Number.isInteger(budget) || budget < FEWEST_ROWS || budget > MOST_ROWS)
      throw new Refusal(`budget must be a whole number of rows to check, ${FEWEST_ROWS} to ${numbers.whole(MOST_ROWS)}, got ${budget}.`);
    if (!tally.totals.unlabelled)
      throw new Refusal(
        `there is no unlabelled row among ${numbers.whole(tally.rows)} rows, so there is nothing that a person could check. Check which label value means labelled positive (positive=..., --positive).`,
      );
    for (let ranges = RANGES_BELOW; ; ranges--) {
      const strata = cut(tally, threshold, ranges);
      const allocation = allocate(strata, budget, goal, positives);
      const isThin = strata.rows.some((many, k) => k >= strata.flagged && allocation[k] < Math.min(FEWEST, many));
      if (!isThin || ranges === 1) return { strata, allocation };
    }
  }

  // Stratum and place of each row of the queue, mixed so that whoever stops early has checked every range in proportion.
  function order(counts, seed, batch = 1) {
    const found = counts.flatMap((many, stratum) => {
      const start = auditKeys.startOf(seed, batch, stratum);
      return Array.from({ length: many }, (_, place) => ({ stratum, place, key: (place + 1 - start) / many }));
    });
    return found.sort((a, b) => a.key - b.key || a.stratum - b.stratum);
  }

  // What a person should know before checking rows.
  function notices(strata, budget) {
    const found = [];
    const all = sum(strata.rows);
    const labelled = sum(strata.labelled);
    const flagged = sum(strata.rows.slice(0, strata.flagged));
    const at = numbers.general(strata.threshold);
    const note = (code, message) => found.push({ severity: 0, code, message });
    if (budget >= all) note("every-row", `Every one of the ${numbers.whole(budget)} unlabelled rows is in the queue: nothing is left to chance.`);
    else if (budget < FEW_ROWS)
      note("few-rows", `${budget} rows are few: most intervals will be nearly [0, 1]. ${FEWEST_ROWS} is the least that is planned for, 100 or more say something.`);
    if (labelled < FEW_LABELLED)
      note(
        "few-labelled",
        `${labelled} labelled row${labelled !== 1 ? "s are" : " is"} too few to say anything about how labels came about: the answers will be read without that assumption only.`,
      );
    if (flagged === 0) note("none-flagged", `No unlabelled row scores ${at} or more: precision cannot be found.`);
    else if (flagged === all) note("all-flagged", `Every unlabelled row scores ${at} or more: nothing lies below to be missed.`);
    return found;
  }

  return { GOALS, DEFAULT_ROWS, FEW_LABELLED, make, order, guesses, notices, sum, mean, rounded };
})();
if (typeof module !== "undefined") module.exports = auditPlan;
