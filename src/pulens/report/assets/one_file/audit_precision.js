"use strict";
// Average precision from an audit: strata cut into cells of about eight checked rows; for limits, halfway between the
// positives of each spread evenly and at its lower or its upper end; pulens.audits.average_precision.
const auditPrecision = (() => {
  const { sum, rounded } = auditPlan;
  const [DRAWS, CHECKED_PER_CELL, FEWEST_PER_CELL, MOST_CELLS] = [5000, 8, 4, 8];
  const steps = (values) => values.map((value, k) => value - (k ? values[k - 1] : 0));
  const before = (values) => {
    let total = 0;
    return values.map((value) => (total += value) - value);
  };

  // the logarithmic derivative of the gamma function, from 1 on
  function digamma(given) {
    let [x, found] = [given, 0];
    while (x < 10) found -= 1 / x++;
    const square = 1 / (x * x);
    return found + Math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))));
  }

  function populationOf({ scenario }, tally) {
    const isSingle = scenario === "single-set" ? 1 : 0;
    const [running, labelled, negative] = ["unlabelled", "labelled", "negative"].map((kind) => [...tally[kind]]);
    return { running, labelled: labelled.map((many) => many * isSingle), all: running.map((many, k) => many + (labelled[k] + negative[k]) * isSingle) };
  }

  function cellsOf(counts, rows, tally, places) {
    const { running, labelled, all } = populationOf(counts, tally);
    const kept = [];
    let [end, first] = [0, 0];
    counts.rows.forEach((size, k) => {
      end += size;
      const parts = Math.min(Math.max(Math.floor(counts.checked[k] / CHECKED_PER_CELL), 1), MOST_CELLS);
      const ranks = Array.from({ length: size ? parts : 0 }, (_, part) => rounded(end - size + (size * (part + 1)) / parts));
      const ends = [...new Set(ranks.map((rank) => tallies.search(running, rank)))].sort((a, b) => a - b);
      const inside = places.filter((_, i) => rows.stratum[i] === k);
      let seen = 0;
      for (const last of ends) {
        const here = inside.filter((place) => place <= last).length - seen;
        if (last !== ends.at(-1) && (here < FEWEST_PER_CELL || inside.length - seen - here < FEWEST_PER_CELL)) continue;
        kept.push({ stratum: k, last });
        seen += here;
        first = last + 1;
      }
    });
    if (kept.length && first < tally.size) kept.at(-1).last = tally.size - 1; // labelled rows below every unlabelled one
    const lasts = kept.map(({ last }) => last);
    const part = (kind) => steps(lasts.map((last) => kind[last]));
    const size = part(all);
    const distinct = lasts.map((last, k) => last - (k ? lasts[k - 1] : -1));
    return {
      stratum: kept.map(({ stratum }) => stratum),
      rows: size,
      unlabelled: part(running),
      known: part(labelled),
      tied: distinct.map((many, k) => many < size[k]),
      ofRow: places.map((place) => Math.min(tallies.search(lasts, place), lasts.length - 1)),
    };
  }

  const shareOf = (code) => (code === 1 ? 1 : code ? 0.5 : 0);

  // found positives and, in the single set, labelled ones, each weighted by the rows it stands for
  function byPositives(counts, rows, tally, places) {
    const { labelled, all } = populationOf(counts, tally);
    const atScore = steps(labelled);
    const beyond = new Float64Array(tally.size);
    places.forEach((place, i) => {
      const k = rows.stratum[i];
      const standsFor = counts.rows[k] / counts.checked[k];
      atScore[place] += shareOf(rows.answer[i]) * standsFor;
      beyond[place] += shareOf(rows.answer[i]) * (standsFor - 1); // half of it lies below
    });
    const total = sum(atScore);
    if (!total) return NaN;
    const met = before(atScore).map((many, k) => (all[k] > 0 ? atScore[k] * Math.min((many + atScore[k] - beyond[k] / 2) / all[k], 1) : 0));
    return Math.min(sum(met) / total, 1);
  }

  // the sum of the precisions met by positives spread evenly within cells
  function spreadEvenly(here, cells) {
    const [earlier, flagged] = [before(here), before(cells.rows)];
    return sum(
      here.map((many, k) => {
        const rate = cells.rows[k] > 0 ? many / cells.rows[k] : 0;
        const log = flagged[k] > 0 ? Math.log(Math.max(flagged[k] + cells.rows[k], 1) / Math.max(flagged[k], 1)) : 0;
        return rate * ((earlier[k] - rate * flagged[k]) * log + rate * cells.rows[k]);
      }),
    );
  }

  function byCells(cells, rows) {
    const [took, found] = [cells.rows.map(() => 0), cells.rows.map(() => 0)];
    cells.ofRow.forEach((cell, i) => {
      took[cell] += 1;
      found[cell] += shareOf(rows.answer[i]);
    });
    const here = cells.unlabelled.map((many, k) => (took[k] ? many * (found[k] / took[k]) : 0) + cells.known[k]);
    const total = sum(here);
    return total ? recovery.clip(spreadEvenly(here, cells) / total) : NaN;
  }

  function limits(counts, cells, isPositive, seed) {
    const generator = random.Generator.seeded(seed);
    const [took, hits] = [cells.rows.map(() => 0), cells.rows.map(() => 0)];
    cells.ofRow.forEach((cell, i) => {
      took[cell] += 1;
      if (isPositive(i)) hits[cell] += 1;
    });
    const size = cells.unlabelled;
    const drawn = (k, up, down) => auditLimits.unseenOf(generator, DRAWS, [size[k]], [took[k]], [hits[k]], up, down)[0].map((many) => many + hits[k]);
    const plain = size.map((_, k) => drawn(k, 0, 0));
    for (const [isAbove, coin] of [
      [true, (i) => i % 2 === 0],
      [false, (i) => (i >> 1) % 2 === 0],
    ])
      auditLimits.effects(size, took, hits).forEach((effect, up) => {
        const inGroup = effect.map((each, k) => (cells.stratum[k] < counts.flagged === isAbove ? each : -1));
        const best = auditLimits.largest(inGroup);
        if (!(inGroup[best] > 0)) return;
        drawn(best, up, 1 - up).forEach((many, i) => coin(i) === (up === 1) && (plain[best][i] = many));
      });
    const tail = auditEstimates.TAIL;
    return [0, 1].map((atTop) => {
      const all = Float64Array.from({ length: DRAWS }, (_, i) => average(plain.map((each) => each[i]), cells, atTop));
      return recovery.clip(auditLimits.quantile(all, atTop ? 1 - tail : tail));
    });
  }

  // halfway between positives spread evenly and at the upper or the lower end of each cell
  function average(positives, cells, atTop) {
    const here = positives.map((many, k) => many + cells.known[k]);
    const [earlier, flagged, total] = [before(here), before(cells.rows), sum(here)];
    const met = here.map((many, k) => {
      if (atTop && cells.tied[k]) return (many * (earlier[k] + many)) / Math.max(flagged[k] + many, 1);
      const start = atTop ? flagged[k] : flagged[k] + cells.rows[k] - many;
      return many + (earlier[k] - start) * (digamma(start + many + 1) - digamma(start + 1));
    });
    return total > 0 ? (sum(met) + spreadEvenly(here, cells)) / 2 / total : atTop;
  }

  function estimate(counts, rows, tally, seed) {
    const told = { metric: "average_precision", rests_on: auditEstimates.RESTS_ON, threshold: null, basis: "design", undefined_because: null };
    if (counts.rows.some((_, k) => auditEstimates.isLeftOut(counts, k))) return { ...told, ...auditArea.NOT_RANKED };
    const places = rows.score.map((score) => Math.min(auditArea.above(tally.thresholds, score), tally.size - 1));
    let value = byPositives(counts, rows, tally, places);
    let ends = [[value, value]];
    if (counts.rows.some((many, k) => many !== counts.checked[k]) || sum(counts.undecided)) {
      const cells = cellsOf(counts, rows, tally, places);
      const weight = sum(counts.checked) / sum(counts.rows);
      value = weight * value + (1 - weight) * byCells(cells, rows);
      ends = auditArea.decisions(counts, rows).map((isPositive) => limits(counts, cells, isPositive, seed));
    }
    let [low, high] = [Math.min(...ends.map(([end]) => end)), Math.max(...ends.map(([, end]) => end))];
    if (Number.isNaN(value)) told.undefined_because = "no positive was found";
    else [low, high] = [Math.min(low, value), Math.max(high, value)];
    return { ...told, value, interval: Number.isNaN(low) ? null : { low, high, confidence: auditEstimates.CONFIDENCE, method: "audit, balanced" } };
  }

  return { estimate };
})();
if (typeof module !== "undefined") module.exports = auditPrecision;
