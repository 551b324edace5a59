"use strict";
// ROC AUC from an audit: where in the ranking the positives stand, nothing assumed about labelling; pulens.audits.area.
const auditArea = (() => {
  const { sum } = auditPlan;
  const { DRAWS, effects, largest, unseenOf, quantile } = auditLimits;

  // how many falling values lie above the wanted one
  function above(falling, wanted) {
    let [low, high] = [0, falling.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (falling[middle] > wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The share of the population that checked rows, the ends of strata and known positives outscore; ties count half.
  function placed(counts, { score }, tally) {
    const isSingle = counts.scenario === "single-set";
    const ofAll = tally.unlabelled.map((many, k) => (isSingle ? many + tally.labelled[k] + tally.negative[k] : many));
    const size = ofAll.at(-1) ?? 0;
    const outscored = ofAll.map((many, k) => (size - ((k ? ofAll[k - 1] : 0) + many) / 2) / Math.max(size, 1));
    const at = (place) => outscored[Math.min(place, outscored.length - 1)];
    let end = 0;
    const ends = counts.rows.map((many) => {
      end += many;
      return { lowest: at(tallies.search(tally.unlabelled, end)), highest: at(tallies.search(tally.unlabelled, end - many + 0.5)) };
    });
    const labelled = isSingle ? tally.labelled.map((many, k) => many - (k ? tally.labelled[k - 1] : 0)) : [];
    return { rows: size, checked: score.map((each) => at(above(tally.thresholds, each))), ends, known: sum(labelled), knownSum: sum(labelled.map((many, k) => many * outscored[k])) };
  }

  function area(total, positives, rows) {
    const pairs = positives * (rows - positives);
    return pairs > 1e-12 * rows ** 2 ? (rows * total - positives ** 2 / 2) / pairs : NaN;
  }

  // means with exponential weights; 0 where nothing was found, which is where nothing is drawn either
  function means(generator, b) {
    if (b.length < 2) return new Float64Array(DRAWS).fill(b[0] ?? 0);
    return Float64Array.from({ length: DRAWS }, () => {
      let [top, bottom] = [0, 0];
      for (const each of b) {
        const weight = generator.exponential();
        top += weight * each;
        bottom += weight;
      }
      return top / bottom;
    });
  }

  const times = (values, others) => values.map((value, i) => value * others[i]);

  function limits(counts, { stratum }, isPositive, where, seed) {
    const generator = random.Generator.seeded(seed);
    const found = counts.rows.map((_, k) => where.checked.filter((_, i) => stratum[i] === k && isPositive(i)));
    const hits = found.map(({ length }) => length);
    if (counts.rows.every((many, k) => many === counts.checked[k])) {
      const exact = area(where.knownSum + sum(found.flat()), where.known + sum(hits), where.rows); // nothing is left to chance
      return Number.isNaN(exact) ? [0, 1] : [recovery.clip(exact), recovery.clip(exact)];
    }
    const unseenIn = (k, up, down) => unseenOf(generator, DRAWS, [counts.rows[k]], [counts.checked[k]], [hits[k]], up, down)[0];
    const drawn = found.map((b, k) => {
      const unseen = unseenIn(k, 0, 0);
      return { unseen, part: times(unseen, means(generator, b)) };
    });
    const [known, knownSum] = [where.known + sum(hits), where.knownSum + sum(found.flat())];
    const [positives, total] = ["unseen", "part"].map((kind) => Float64Array.from({ length: DRAWS }, (_, i) => sum(drawn.map((each) => each[kind][i]))));
    const both = effects(counts.rows, counts.checked, hits).map((effect, up) => {
      const k = largest(effect);
      const unseen = unseenIn(k, up, 1 - up);
      const { lowest, highest } = where.ends[k];
      const totals = up ? [lowest, highest].map((end) => times(unseen, means(generator, [...found[k], end]))) : [times(unseen, means(generator, found[k]))];
      const at = (instead) => instead.map((one, i) => area(knownSum + total[i] - drawn[k].part[i] + one, known + positives[i] - drawn[k].unseen[i] + unseen[i], where.rows));
      return [at(totals[0]), at(totals.at(-1))];
    });
    return [0, 1].map((end) => {
      const all = both[0][end].map((one, i) => {
        const value = i % 2 ? both[1][end][i] : one;
        return Number.isNaN(value) ? end : value;
      });
      const tail = auditEstimates.TAIL;
      return recovery.clip(quantile(all, end ? 1 - tail : tail));
    });
  }

  // which rows are positive, undecided ones being all negative or all positive, above and below apart
  function decisions(counts, { stratum, answer }) {
    if (!answer.includes(-1)) return [(i) => answer[i] === 1];
    return [0, 1, 2, 3].map((way) => (i) => answer[i] === 1 || (answer[i] === -1 && (stratum[i] < counts.flagged ? way & 1 : way & 2) > 0));
  }

  const NOT_RANKED = { value: NaN, interval: null, basis: "bounds", undefined_because: "some rows lie where no row was checked, so positives can be anywhere among them" };

  function estimate(counts, rows, tally, seed) {
    const told = { metric: "roc_auc", rests_on: auditEstimates.RESTS_ON, threshold: null };
    if (counts.rows.some((_, k) => auditEstimates.isLeftOut(counts, k)))
      return { ...told, ...NOT_RANKED };
    const where = placed(counts, rows, tally);
    const weights = rows.answer.map((code, i) => (code === 1 ? 1 : code ? 0.5 : 0) * (counts.rows[rows.stratum[i]] / counts.checked[rows.stratum[i]]));
    const exact = area(sum(weights.map((weight, i) => weight * where.checked[i])) + where.knownSum, sum(weights) + where.known, where.rows);
    const value = Number.isNaN(exact) ? NaN : recovery.clip(exact);
    const every = decisions(counts, rows).map((isPositive) => limits(counts, rows, isPositive, where, seed));
    let [low, high] = [Math.min(...every.map(([end]) => end)), Math.max(...every.map(([, end]) => end))];
    const because = Number.isNaN(value) ? (sum(counts.found) ? "no negative was found" : "no positive was found") : null;
    if (!because) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return { ...told, value, interval: { low, high, confidence: auditEstimates.CONFIDENCE, method: "audit, balanced" }, basis: "design", undefined_because: because };
  }

  return { estimate, above, decisions, NOT_RANKED };
})();
if (typeof module !== "undefined") module.exports = auditArea;
