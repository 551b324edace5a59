"use strict";
// Do the answers contradict random labelling? The test, its power and the labelling curve, as pulens.audits has them.
const auditLabelling = (() => {
  const { sum, mean } = auditPlan;
  const [MOST_SETS, DRAWS, MOST_KEYS, FEWEST_LABELLED] = [10000, 9999, 4000000, 5];
  const [AUDITS, PARTS, FACTOR] = [400, 8, 3];
  const range = (size) => Array.from({ length: size }, (_, k) => k);
  const cumulated = (values) => {
    let total = 0;
    return values.map((value) => (total += value));
  };

  // --- the test ----------------------------------------------------------------------------------------------------

  // ranks from the lowest score, 1 first; equal scores share the mean of theirs
  function midranks(scores) {
    const order = range(scores.length).sort((a, b) => scores[a] - scores[b]);
    const ranks = new Float64Array(scores.length);
    for (let begin = 0; begin < order.length; ) {
      let end = begin;
      while (end < order.length && scores[order[end]] === scores[order[begin]]) end += 1;
      for (let k = begin; k < end; k++) ranks[order[k]] = (begin + 1 + end) / 2;
      begin = end;
    }
    return [...ranks];
  }

  function setsOf(size, chosen) {
    let sets = 1;
    for (let k = 1; k <= Math.min(chosen, size - chosen); k++) {
      sets = (sets * (size - k + 1)) / k;
      if (sets >= MOST_SETS) return Infinity;
    }
    return Math.round(sets);
  }

  function rankSumTest(ranks, stratum, fraction, seen, found, seed) {
    const sets = setsOf(ranks.length, found);
    const sums = [];
    let weights = null;
    if (sets < MOST_SETS) {
      weights = [];
      const visit = (from, left, total, weight) => {
        if (!left) {
          sums.push(total);
          weights.push(weight);
        } else for (let k = from; k <= ranks.length - left; k++) visit(k + 1, left - 1, total + ranks[k], weight * fraction[stratum[k]]);
      };
      visit(0, found, 0, 1);
      const all = sum(weights);
      weights = weights.map((weight) => weight / all);
    } else sums.push(...drawnSums(random.Generator.seeded(seed), ranks, stratum, fraction, found));
    const share = weights ? (k) => weights[k] : () => 1 / DRAWS;
    const middle = sum(sums.map((one, k) => share(k) * one));
    const spread = Math.sqrt(sum(sums.map((one, k) => share(k) * (one - middle) ** 2)));
    const tail = (test) => {
      const kept = range(sums.length).filter((k) => test(sums[k]));
      return weights ? Math.min(sum(kept.map(share)), 1) : (1 + kept.length) / (DRAWS + 1);
    };
    const [atMost, atLeast] = [tail((one) => one <= seen + 1e-9), tail((one) => one >= seen - 1e-9)];
    return {
      p: Math.min(1, 2 * Math.min(atMost, atLeast)),
      z: spread > 1e-12 ? (seen - middle) / spread : 0,
      method: weights ? `all ${numbers.whole(sets)} sets` : `${numbers.whole(DRAWS)} draws`,
    };
  }

  // rank sums of sets drawn by their weights: how many fall into each stratum, then any of its rows
  function drawnSums(generator, ranks, stratum, fraction, found) {
    const sizes = fraction.map((_, k) => stratum.filter((one) => one === k).length);
    const sums = new Float64Array(DRAWS);
    drawnNumbers(generator, sizes, fraction, found).forEach((taken, k) => {
      if (!taken.some(Boolean)) return;
      const here = ranks.filter((_, i) => stratum[i] === k);
      subsetSums(generator, here, taken).forEach((one, i) => (sums[i] += one));
    });
    return sums;
  }

  function drawnNumbers(generator, sizes, fraction, found) {
    const factorial = [0, ...cumulated(range(Math.max(...sizes, found)).map((k) => Math.log(k + 1)))];
    const logs = sizes.map((size, k) =>
      range(found + 1).map((many) => {
        if (many > size || (many && !(fraction[k] > 0))) return -Infinity;
        return factorial[size] - factorial[many] - factorial[size - many] + (many ? many * Math.log(fraction[k]) : 0);
      }),
    );
    const rest = [range(found + 1).map((many) => (many ? -Infinity : 0))];
    for (const one of [...logs].reverse()) {
      const after = rest[0];
      rest.unshift(
        range(found + 1).map((total) => {
          const both = range(total + 1).map((k) => one[k] + after[total - k]);
          const top = Math.max(...both);
          return top > -Infinity ? top + Math.log(sum(both.map((each) => Math.exp(each - top)))) : -Infinity;
        }),
      );
    }
    const left = new Array(DRAWS).fill(found);
    return sizes.map((_, place) => {
      const ends = new Map();
      const taken = left.map((total) => {
        if (!ends.has(total)) ends.set(total, cumulated(range(total + 1).map((k) => Math.exp(logs[place][k] + rest[place + 1][total - k] - rest[place][total]))));
        const wanted = generator.uniform() * ends.get(total).at(-1);
        const reached = ends.get(total).findIndex((end) => end > wanted);
        return reached < 0 ? total : reached;
      });
      taken.forEach((many, i) => (left[i] -= many));
      return taken;
    });
  }

  function subsetSums(generator, ranks, taken) {
    const [size, most] = [ranks.length, Math.max(...taken)];
    if (2 * most > size && Math.min(...taken) * 2 > size) {
      const whole = sum(ranks);
      return subsetSums(generator, ranks, taken.map((many) => size - many)).map((one) => whole - one);
    }
    if (2 * most > size || size < 64 || most * 8 > size)
      return taken.map((many) => sum(generator.shuffle([...ranks]).slice(0, many)));
    const step = Math.max(Math.floor(MOST_KEYS / most), 1);
    const sums = [];
    for (let start = 0; start < taken.length; start += step) {
      const part = taken.slice(start, start + step);
      distinct(generator, size, part.length, most).forEach((picked, i) => sums.push(sum(picked.slice(0, part[i]).map((k) => ranks[k]))));
    }
    return sums;
  }

  // places without repeats: a repeat is drawn again, as if one had been taken after the other
  function distinct(generator, size, draws, most) {
    const picked = range(draws).map(() => range(most).map(() => generator.upTo(size - 1)));
    for (;;) {
      const again = [];
      for (const line of picked) {
        const seen = new Set();
        line.forEach((one, k) => (seen.has(one) ? again.push([line, k]) : seen.add(one)));
      }
      if (!again.length) return picked;
      for (const [line, k] of again) line[k] = generator.upTo(size - 1);
    }
  }

  // --- how likely it is to notice a preference ---------------------------------------------------------------------

  // numpy sums in eight lines; a last bit of a chance decides which way a binomial number is drawn
  function eightfold(values) {
    const r = range(8).map((line) => sum(values.filter((_, i) => i % 8 === line)));
    return r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  }

  function powerOf({ rows, checked }, positives, labelled, level, seed) {
    const total = sum(positives);
    if (labelled <= 0 || total <= 0 || !sum(checked)) return 0;
    const share = positives.map((many) => many / total);
    const ends = cumulated(share);
    const reached = ends.findIndex((end) => end >= 0.5);
    const middle = reached < 0 ? share.length - 1 : reached;
    const before = 0.5 - (ends[middle] - share[middle]);
    // the stratum that holds the median twice
    const pieces = share.flatMap((each, k) => (k === middle ? [[k, before], [k, Math.max(each - before, 0)]] : [[k, each]]));
    const parts = pieces.flatMap(([k, each], place) => range(PARTS).map(() => ({ stratum: k, share: each / PARTS, isAbove: place <= middle })));
    const generator = random.Generator.seeded(seed);
    const chance = parts.map((part) => part.share * (part.isAbove ? FACTOR : 1));
    const drawn = (many, chances) => [...generator.multinomial(many, chances, new Float64Array(chances.length))];
    const scaled = (values) => {
      const whole = eightfold(values);
      return values.map((value) => value / whole);
    };
    const given = scaled(chance);
    const labels = range(AUDITS).map(() => drawn(labelled, given));
    const inStratum = range(AUDITS).map(() => rows.map((many, k) => generator.binomial(checked[k], recovery.clip(positives[k] / Math.max(many, 1)))));
    const found = labels.map((line) => line.map(() => 0));
    positives.forEach((many, k) => {
      if (!(many > 0)) return;
      const inside = scaled(parts.map((part) => (part.stratum === k ? part.share : 0)));
      found.forEach((line, i) => drawn(inStratum[i][k], inside).forEach((one, part) => (line[part] += one)));
    });
    const fraction = parts.map(({ stratum: k }) => checked[k] / Math.max(rows[k], 1));
    const limit = numbers.normalQuantile(1 - level / 2);
    return sum(found.map((line, i) => (Math.abs(rankSumZ(line.map((one, k) => one + labels[i][k]), line, fraction)) > limit ? 1 : 0))) / AUDITS;
  }

  // standard score of the rank sum of found positives; ranges run from high to low scores, and their rows are tied
  function rankSumZ(pooled, found, fraction) {
    const below = cumulated([...pooled].reverse()).reverse();
    const ranks = pooled.map((many, k) => below[k] - many + (many + 1) / 2);
    const total = sum(found);
    let [low, high] = [-40, 40];
    for (let step = 0; step < 50; step++) {
      const middle = (low + high) / 2;
      const factor = Math.exp(middle);
      const expected = sum(pooled.map((many, k) => (many * factor * fraction[k]) / (1 + factor * fraction[k])));
      if (expected < total) low = middle;
      else high = middle;
    }
    const odds = fraction.map((each) => Math.exp((low + high) / 2) * each);
    const spread = pooled.map((many, k) => (many * odds[k]) / (1 + odds[k]) ** 2);
    const whole = sum(spread);
    const variance = sum(spread.map((each, k) => each * ranks[k] ** 2)) - sum(spread.map((each, k) => each * ranks[k])) ** 2 / whole;
    const z = sum(found.map((many, k) => (many - (pooled[k] * odds[k]) / (1 + odds[k])) * ranks[k])) / Math.sqrt(variance);
    return Number.isFinite(z) && whole > 1e-9 && variance > 1e-9 ? z : 0;
  }

  // --- the labelling curve -----------------------------------------------------------------------------------------

  function curveOf(counts, seed) {
    const level = 1 - (1 - auditEstimates.CONFIDENCE) / Math.max(counts.rows.length, 1);
    const guess = counts.rows.map((many, k) => (counts.checked[k] ? many * ((counts.found[k] + counts.undecided[k] / 2) / counts.checked[k]) : NaN));
    const relative = counts.scenario === "case-control";
    return { relative, rates: counts.rows.map((_, k) => (relative ? relativeRate : shareRate)(counts, k, guess, level, seed)) };
  }

  function shareRate(counts, k, guess, level) {
    const [labelled, rows, checked, found] = [counts.labelled[k], counts.rows[k], counts.checked[k], counts.found[k]];
    const [fewest] = auditLimits.stratumLimits(rows, checked, found, level);
    const [, most] = auditLimits.stratumLimits(rows, checked, found + counts.undecided[k], level);
    const value = labelled + guess[k] > 0 ? labelled / (labelled + guess[k]) : NaN;
    return { value, low: labelled ? labelled / (labelled + most) : 0, high: labelled + fewest > 0 ? labelled / (labelled + fewest) : 1 };
  }

  function relativeRate(counts, k, guess, level, seed) {
    const [labelled, all] = [counts.labelled[k], sum(counts.labelled)];
    if (!all) return { value: NaN, low: 0, high: Infinity };
    const order = [k, ...range(counts.rows.length).filter((other) => other !== k)];
    const [rows, checked, found, open] = [counts.rows, counts.checked, counts.found, counts.undecided].map((kind) => order.map((place) => kind[place]));
    const totals = (isHere) => auditLimits.drawTotals({ rows, checked, found: found.map((many, i) => many + ((i === 0) === isHere ? open[i] : 0)) }, 1, seed);
    const fewer = totals(true);
    const more = sum(open) ? totals(false) : fewer;
    const generator = random.Generator.seeded([seed, k]);
    const beta = (first, second) => range(auditLimits.DRAWS).map(() => (first && second ? generator.beta(first, second) : first ? 1 : 0));
    const times = (shares, top, bottom, otherwise) =>
      shares.map((share, i) => {
        const product = share * (1 + top[i] / bottom[i]);
        return Number.isNaN(product) ? otherwise : product;
      });
    const low = times(beta(labelled, all - labelled + 1), fewer.below.low, fewer.above.high, 0);
    const high = times(beta(labelled + 1, all - labelled), more.below.high, more.above.low, Infinity);
    const whole = sum(guess);
    const value = guess[k] ? ((labelled / all) * whole) / guess[k] : labelled && guess[k] === 0 && sum(guess.filter((each) => each > 0)) ? Infinity : NaN;
    const tail = (1 - level) / 2;
    return { value, low: auditLimits.quantile(low, tail), high: auditLimits.quantile(high, 1 - tail) };
  }

  // --- the verdict -------------------------------------------------------------------------------------------------

  function notDefined(counts) {
    if (!sum(counts.labelled)) return "no row is labelled";
    if (sum(counts.undecided)) return "some answers are undecided";
    return sum(counts.found) ? null : "no positive was found";
  }

  function sentence({ p, z, power, because, contradicted }) {
    if (because) return `Random labelling could not be tested: ${because}.`;
    const chance = p >= 0.001 ? `p = ${numbers.general(p, 2)}` : "p < 0.001";
    if (!contradicted) return `Random labelling is not contradicted (${chance}; a 3:1 preference for high scores would be noticed with probability ${numbers.fixed(power, 2)}).`;
    const [lower, favoured] = z < 0 ? ["lower", "high"] : ["higher", "low"];
    return `Random labelling is contradicted by the audit (${chance}): positives that were found score ${lower} than labelled ones, so labels favoured ${favoured} scores.`;
  }

  // null where too few rows are labelled
  function verdict(counts, rows, tally, seed) {
    if (sum(counts.labelled) < FEWEST_LABELLED) return null;
    const level = 1 - auditEstimates.CONFIDENCE;
    const labelled = [...tally.thresholds].flatMap((score, k) => new Array(tally.labelled[k] - (k ? tally.labelled[k - 1] : 0)).fill(score));
    const before = mean(auditPlan.guesses(counts, null));
    const expected = counts.rows.map((many, k) => (many * (counts.found[k] + counts.undecided[k] / 2 + 4 * (many > 0 ? before[k] / many : 0))) / (counts.checked[k] + 4));
    const found = { because: notDefined(counts), curve: curveOf(counts, seed), power: powerOf(counts, expected, labelled.length, level, seed), method: "not defined" };
    if (!found.because) {
      const positive = range(rows.answer.length).filter((i) => rows.answer[i] === 1);
      // labelled scores of a thinned tally are known to their bin only, so found ones must not say more
      const lowered = (score) => (tally.isBinned ? tally.thresholds[Math.min(tally.thresholds.findIndex((each) => each <= score) >>> 0, tally.size - 1)] : score);
      const ranks = midranks([...labelled, ...positive.map((i) => lowered(rows.score[i]))]);
      const stratum = [...counts.labelled.flatMap((many, k) => new Array(many).fill(k)), ...positive.map((i) => rows.stratum[i])];
      const fraction = counts.rows.map((many, k) => (many > 0 ? counts.checked[k] / many : 0));
      Object.assign(found, rankSumTest(ranks, stratum, fraction, sum(ranks.slice(labelled.length)), positive.length, seed));
      found.contradicted = found.p <= level + 1e-12;
    }
    return { ...found, sentence: sentence(found) };
  }

  const finite = (value) => (Number.isFinite(value) ? value : null);

  function toDict(found) {
    if (!found) return null;
    const { p, z, power, contradicted, because, method, curve } = found;
    const told = {
      p_value: because ? null : p,
      z: because ? null : z,
      power,
      contradicted: because ? null : contradicted,
      verdict: found.sentence,
      method,
      curve: {
        relative: curve.relative,
        confidence: auditEstimates.CONFIDENCE,
        strata: curve.rates.map((rate) => ({ value: finite(rate.value), low: finite(rate.low), high: finite(rate.high) })),
      },
    };
    return because ? { ...told, undefined_because: because } : told;
  }

  return { verdict, toDict };
})();
if (typeof module !== "undefined") module.exports = auditLabelling;
