"use strict";
// How sure the numbers are: the constructions of the Python package (pulens.inference), with the same draws.
const intervals = (() => {
  const { KINDS } = tallies;
  const { normalQuantile, normalTail, normalBelow, studentQuantile, studentBelow, betaOdds, betaQuantile } = numbers;
  const REDRAWS = 2000;
  const SEED = 0;
  const HIGHEST_SHARE = 1 - 1e-9;
  const PRIORS_IN_RANGE = 5;
  const MULTINOMIAL_ROWS = 1000;
  const CHUNK_CELLS = 1 << 15;
  const [POINTS, REACH, BISECTIONS] = [33, 4, 50]; // normal quantiles that stand for the distribution of the class prior

  const twoSided = (confidence) => normalQuantile((1 + confidence) / 2);

  function percentiles(values, tail) {
    const kept = new Float64Array(values.filter((value) => !Number.isNaN(value))).sort();
    if (!kept.length) return [NaN, NaN];
    const at = (level) => {
      const place = level * (kept.length - 1);
      const below = Math.floor(place);
      return kept[below] + (place - below) * (kept[Math.min(below + 1, kept.length - 1)] - kept[below]);
    };
    return [at(tail), at(1 - tail)];
  }

  // The tail at which a percentile interval from so few rows is as wide as Student's (Hesterberg 2015).
  function expandedTail(tail, rows) {
    const n = Math.max(rows, 3);
    return normalBelow(Math.sqrt(n / (n - 1)) * studentQuantile(n - 1, tail));
  }

  // Chance of a miss to allow on either side when the estimate itself is a range (Imbens and Manski 2004).
  function tailForRange(confidence, length, spread) {
    const [fewest, most] = [(1 - confidence) / 2, 1 - confidence];
    const ratio = spread > 0 ? length / spread : length > 0 ? Infinity : 0;
    let [low, high] = [-normalQuantile(most), -normalQuantile(fewest)];
    for (let k = 0; k < 60; k++) {
      const c = (low + high) / 2;
      if (normalBelow(c + ratio) - normalTail(c) >= confidence) high = c;
      else low = c;
    }
    return Math.min(Math.max(normalTail(high), fewest), most);
  }

  // Quantiles of a Jeffreys posterior at even levels, through 49 Chebyshev points on the scale of log odds.
  const chebyshev = (() => {
    const DEGREE = 48;
    let made = null;
    return () => {
      if (made) return made;
      const at = Float64Array.from({ length: REDRAWS }, (_, k) => normalQuantile((k + 0.5) / REDRAWS));
      const nodes = Array.from({ length: DEGREE + 1 }, (_, k) => at[REDRAWS - 1] * Math.cos((Math.PI * k) / DEGREE));
      const signs = nodes.map((_, k) => (k % 2 ? -1 : 1) * (k === 0 || k === DEGREE ? 0.5 : 1));
      // what each point adds to the value at each level, in barycentric form (Berrut and Trefethen 2004)
      const weights = Array.from(at, (place) => {
        const meets = nodes.findIndex((node) => Math.abs(place - node) < 1e-13);
        if (meets >= 0) return Float64Array.from(nodes, (_, k) => Number(k === meets));
        const shares = nodes.map((node, k) => signs[k] / (place - node));
        const sum = shares.reduce((total, share) => total + share, 0);
        return Float64Array.from(shares, (share) => share / sum);
      });
      return (made = { nodes, weights });
    };
  })();

  function evenJeffreys(hits, total) {
    const { nodes, weights } = chebyshev();
    const rest = Math.max(total - hits, 0);
    const odds = nodes.map((node) =>
      node < 0 ? betaOdds(hits + 0.5, rest + 0.5, normalBelow(node)) : betaOdds(hits + 0.5, rest + 0.5, normalTail(node), true),
    );
    return Float64Array.from(weights, (own) => {
      let sum = 0;
      for (let k = 0; k < own.length; k++) sum += own[k] * odds[k];
      return 1 / (1 + Math.exp(-sum));
    });
  }

  // --- placements (DeLong, DeLong and Clarke-Pearson 1988) ---------------------------------------------------------

  function placementMoments(tally) {
    const totals = KINDS.map((kind) => tally.totals[kind]);
    const present = [0, 1, 2].filter((k) => totals[k] > 0);
    const cube = () => [0, 1, 2].map(() => [0, 1, 2].map(() => [0, 0, 0]));
    const areas = [0, 1, 2].map(() => [0.5, 0.5, 0.5]);
    const covariances = cube();
    const third = [0, 1, 2].map(() => cube());
    const at = [0, 0, 0];
    const outscored = [0, 0, 0];
    const walk = (visit) => {
      for (let i = 0; i < tally.size; i++) {
        for (const k of present) {
          const running = tally[KINDS[k]][i];
          at[k] = running - (i ? tally[KINDS[k]][i - 1] : 0);
          outscored[k] = 1 - (running - at[k] / 2) / totals[k];
        }
        visit();
      }
    };
    const sums = [0, 1, 2].map(() => [0, 0, 0]);
    walk(() => {
      for (const i of present) if (at[i]) for (const j of present) sums[i][j] += at[i] * outscored[j];
    });
    for (const i of present) for (const j of present) if (i !== j) areas[i][j] = sums[i][j] / totals[i];
    const others = [0, 1, 2].map((kind) => present.filter((j) => j !== kind));
    walk(() => {
      for (const kind of present) {
        if (!at[kind]) continue;
        for (const j of others[kind])
          for (const k of others[kind]) {
            const product = at[kind] * (outscored[j] - areas[kind][j]) * (outscored[k] - areas[kind][k]);
            covariances[kind][j][k] += product;
            for (const m of others[kind]) third[kind][j][k][m] += product * (outscored[m] - areas[kind][m]);
          }
      }
    });
    for (const kind of present)
      for (const j of others[kind])
        for (const k of others[kind]) {
          covariances[kind][j][k] /= totals[kind];
          for (const m of others[kind]) third[kind][j][k][m] /= totals[kind];
        }
    return { areas, covariances, third, totals };
  }

  // Value of the bilinear area, and what each kind adds to its variance and third cumulant.
  function bilinear(moments, left, right) {
    const { areas, covariances, third, totals } = moments;
    let value = 0;
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) value += left[i] * areas[i][j] * right[j];
    const variances = [0, 0, 0];
    const thirds = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      if (!(totals[k] > 0)) continue;
      const size = Math.max(totals[k], 2);
      const weights = [0, 1, 2].map((j) => left[k] * right[j] - right[k] * left[j]);
      let [second, skewed] = [0, 0];
      for (let i = 0; i < 3; i++)
        for (let j = 0; j < 3; j++) {
          second += weights[i] * weights[j] * covariances[k][i][j];
          for (let l = 0; l < 3; l++) skewed += weights[i] * weights[j] * weights[l] * third[k][i][j][l];
        }
      second *= size / (size - 1);
      const floor = 0.5 / (size + 1) ** 2;
      for (let j = 0; j < 3; j++) {
        // no spread seen is not no spread: such placements vary like a rate that was seen n times of n
        if (j === k || !(totals[j] > 0) || covariances[k][j][j] >= 1e-15) continue;
        second += weights[j] ** 2 * floor * size;
        skewed += weights[j] ** 3 * -Math.sign(areas[k][j] - 0.5) * 1.2 * floor ** 1.5 * size ** 2;
      }
      variances[k] = second / size;
      thirds[k] = skewed / size ** 2;
    }
    return { value, variances, thirds };
  }

  // Hall's (1992) transformation at Student's quantile.
  const studentised = (level, skew, freedom) => bent(studentQuantile(freedom, level), skew);

  function bent(z, skew) {
    const g = Math.min(Math.max(skew, -1.2), 1.2);
    return Math.abs(g) < 1e-6 ? z : (3 / g) * (Math.cbrt(1 + g * (z - g / 6)) - 1);
  }

  // Both ends of a mixture of weighted parts, each of which has the ends of its own transformation.
  function studentisedMixtureEnds(mixed, tail) {
    const parts = mixed.filter((part) => !Number.isNaN(part.value + part.error + part.skew + part.freedom));
    if (!parts.length) return [NaN, NaN];
    const whole = parts.reduce((sum, { weight }) => sum + weight, 0);
    const below = (at) =>
      parts.reduce((sum, { value, error, skew, freedom, weight }) => {
        const g = Math.min(Math.max(skew, -1.2), 1.2);
        const away = (value - at) / (error > 0 ? error : 1e-300);
        const z = Math.abs(g) < 1e-6 ? away : g / 6 + ((1 + (g * away) / 3) ** 3 - 1) / g;
        return sum + (weight / whole) * studentBelow(freedom, -z);
      }, 0);
    return [tail, 1 - tail].map((level) => {
      const each = parts.map(({ value, error, skew, freedom }) => value - error * studentised(1 - level, skew, freedom));
      let [low, high] = [Math.min(...each), Math.max(...each)];
      for (let k = 0; k < BISECTIONS; k++) {
        const middle = (low + high) / 2;
        if (below(middle) < level) low = middle;
        else high = middle;
      }
      return (low + high) / 2;
    });
  }

  // --- what the intervals of one evidence share --------------------------------------------------------------------

  // `chosen` is a threshold that was chosen on these rows, and is chosen anew in as many `redraws`
  function workshop(found, confidence, chosen = null, redraws = REDRAWS) {
    const { tally } = found;
    const own = found.prior.unlabelled;
    const tail = Number(((1 - confidence) / 2).toFixed(15));
    const single = found.recoveryScenario === "single-set";
    const { quantiles } = found.prior;
    const reach = evidence.isExact(found.prior) ? null : found.prior.unlabelledInterval;
    const isDrawn = Boolean(reach && (quantiles || reach.confidence !== null)); // then a share of null is drawn together with the rows
    const drawnShare = (normal) => (quantiles ? evidence.interpolate(normalBelow(normal), ...quantiles) : spreadShare(normal));
    // each half of the interval is half of a normal distribution
    const spreadShare = (normal) => own + ((normal < 0 ? own - reach.low : reach.high - own) / twoSided(reach.confidence)) * normal;
    const totalsOf = ([labelled, unlabelled, negative]) => ({ labelled, unlabelled, negative });
    const ownTotals = KINDS.map((kind) => tally.totals[kind]);
    const over = () => numbers.evenly(...[reach.low, reach.high].map((share) => Math.min(Math.max(share, 0), HIGHEST_SHARE)), PRIORS_IN_RANGE);

    // the share that holds for the data, carried over to a redraw with other numbers of rows
    function movedShare(share, totals) {
      let moved = share;
      if (single && ownTotals[1] && found.held === "population") {
        const population = (ownTotals[0] + share * ownTotals[1]) / (ownTotals[0] + ownTotals[1] + ownTotals[2]);
        moved = (population * (totals[0] + totals[1] + totals[2]) - totals[0]) / Math.max(totals[1], 1);
      }
      return Math.min(Math.max(moved, 0), HIGHEST_SHARE);
    }
    const mapAt = (totals, share) =>
      recovery.mapOf(totalsOf(totals), { unlabelledPrior: movedShare(share, totals), labelNoise: 0, scenario: found.recoveryScenario });

    const once = (make) => {
      let made;
      return () => (made ??= make());
    };
    const moments = once(() => placementMoments(tally));
    const compressed = once(() => tallies.compress(tally));

    // --- the area --------------------------------------------------------------------------------------------------

    function areaEnds(share, each) {
      if (share === null) return mixedEnds(each);
      const { value, error, skew, freedom } = areaParts(share);
      return [value - error * studentised(1 - each, skew, freedom), value - error * studentised(each, skew, freedom)];
    }

    // over the distribution of the class prior: a mixture of what each of its quantiles gives
    function mixedEnds(each) {
      const normal = numbers.evenly(-REACH, REACH, POINTS);
      const parts = normal.map((place) => ({ ...areaParts(drawnShare(place)), weight: Math.exp(-(place ** 2) / 2) }));
      return studentisedMixtureEnds(parts, each);
    }

    function areaParts(share) {
      const map = mapAt(ownTotals, share);
      const { value, variances, thirds } = bilinear(moments(), map.hits, map.alarms);
      let variance = variances.reduce((sum, part) => sum + part, 0);
      const parts = variances.reduce((sum, part, k) => sum + part ** 2 / Math.max(ownTotals[k] - 1, 1), 0);
      const freedom = parts > 0 ? variance ** 2 / parts : 1e9;
      if (single) variance += varianceFromTotals(share);
      const error = Math.sqrt(Math.max(variance, 0));
      const skew = error > 0 ? thirds.reduce((sum, part) => sum + part, 0) / error ** 3 : 0;
      return { value, error, skew, freedom };
    }

    // what the numbers of labelled and unlabelled rows, random in one sample, add to the area's variance
    function varianceFromTotals(share) {
      const base = movedShare(share, ownTotals);
      const slopes = ownTotals.map((total, k) => {
        const step = 1e-4 * total;
        if (!step) return 0;
        const [up, down] = [1, -1].map((sign) => {
          const moved = ownTotals.slice();
          moved[k] += sign * step;
          const map = mapAt(moved, base);
          return bilinear(moments(), map.hits, map.alarms).value;
        });
        return (up - down) / (2 * step);
      });
      const rows = ownTotals[0] + ownTotals[1] + ownTotals[2];
      const squares = slopes.reduce((sum, slope, k) => sum + ownTotals[k] * slope ** 2, 0);
      return squares - slopes.reduce((sum, slope, k) => sum + slope * ownTotals[k], 0) ** 2 / rows;
    }

    // --- at a threshold fixed beforehand ---------------------------------------------------------------------------

    const plausible = {};
    function plausibleAt(threshold) {
      if (plausible[threshold]) return plausible[threshold];
      const above = tallies.at(tally, threshold);
      const rates = ownTotals.map((total, k) => {
        if (!total) return new Float64Array(REDRAWS);
        const sorted = evenJeffreys(above[k], total);
        return fixedFacts.ranks[k].map((rank) => sorted[rank]);
      });
      const rows = ownTotals[0] + ownTotals[1] + ownTotals[2];
      let drawn = null;
      if (single) {
        const generator = new random.Generator(fixedFacts.afterLevels.state, fixedFacts.afterLevels.increment);
        const shares = ownTotals.map((total) => total / rows);
        const into = [0, 0, 0];
        drawn = Array.from({ length: REDRAWS }, () =>
          generator.multinomial(Math.max(Math.round(rows), 1), shares, into).map((count, k) => (ownTotals[k] > 0 ? Math.max(count, 1) : 0)),
        );
      }
      return (plausible[threshold] = { rates, drawn });
    }

    const tables = {};
    function tablesAt(threshold, share) {
      const key = `${threshold} ${share}`;
      if (tables[key]) return tables[key];
      const { rates, drawn } = plausibleAt(threshold);
      const table = { hits: new Float64Array(REDRAWS), alarms: new Float64Array(REDRAWS), positive: new Float64Array(REDRAWS), negative: new Float64Array(REDRAWS) };
      const steady = drawn || share === null ? null : mapAt(ownTotals, share);
      for (let k = 0; k < REDRAWS; k++) {
        const at = share ?? drawnShare(normalQuantile((fixedFacts.ranks[3][k] + 0.5) / REDRAWS));
        const map = steady || mapAt(drawn ? drawn[k] : ownTotals, at);
        table.hits[k] = map.hits[0] * rates[0][k] + map.hits[1] * rates[1][k] + map.hits[2] * rates[2][k];
        table.alarms[k] = map.alarms[0] * rates[0][k] + map.alarms[1] * rates[1][k] + map.alarms[2] * rates[2][k];
        table.positive[k] = map.positive;
        table.negative[k] = map.negative;
      }
      const here = estimates.cellsAt(found, share ?? own, threshold);
      const missing = [here.hits[0], here.alarms[0]].map((rate) => recovery.clip(rate) - rate);
      // each rate is cut by itself; where the table itself was cut, draws count as they are, too, and moved to the edge
      const eachCut = ([hits, alarms]) => ({
        ...table,
        hits: table.hits.map((rate) => recovery.clip(rate + hits)),
        alarms: table.alarms.map((rate) => recovery.clip(rate + alarms)),
      });
      const isCut = Math.max(...missing.map(Math.abs)) > recovery.ROUNDING;
      return (tables[key] = [eachCut([0, 0]), ...(isCut ? [eachCut(missing), table] : [])]);
    }
    const cellOf = (table, k) =>
      recovery.cellsOf({ hits: [table.hits[k]], alarms: [table.alarms[k]], positive: table.positive[k], negative: table.negative[k] }, 0);
    const valueOf = (facts, cell) => estimates.clipped(facts, recovery.metrics[facts.name](cell));
    const valuesOf = (facts, cells) => cells.map((each) => valueOf(facts, each));
    // cells are made again for every metric: thousands that are kept cost more than as many that are dropped at once
    const valuesIn = (facts, table) => table.hits.map((_, k) => valueOf(facts, cellOf(table, k)));

    function fixedEnds(facts, threshold, share, each) {
      const both = tablesAt(threshold, share).map((table) => percentiles(valuesIn(facts, table), each));
      return [Math.min(...both.map(([low]) => low)), Math.max(...both.map(([, high]) => high))];
    }

    // --- redraws of the counts -------------------------------------------------------------------------------------

    // Every redraw of the counts, chunk by chunk; visit(first redraw, normal numbers, totals, rates of one redraw)
    function eachChunk(visit) {
      const counts = compressed();
      const { size } = counts;
      const sizes = ownTotals.map((total) => (total ? Math.max(Math.round(total), 1) : 0));
      const expected = KINDS.map((kind) => tallies.increments(counts, kind).map((count) => Math.max(count, 0)));
      const chances = expected.map((kind) => {
        const total = kind.reduce((sum, count) => sum + count, 0);
        return kind.map((count) => count / total);
      });
      const perChunk = Math.max(1, Math.min(redraws, Math.floor(CHUNK_CELLS / Math.max(size, 1))));
      for (let start = 0, chunk = 0; start < redraws; start += perChunk, chunk++) {
        const many = Math.min(perChunk, redraws - start);
        const generator = random.Generator.seeded(SEED, chunk);
        const normal = Array.from({ length: many }, () => generator.normal()); // for a class prior that is itself drawn
        const rows = sizes[0] + sizes[1] + sizes[2];
        const shares = sizes.map((total) => total / rows);
        const drawn = Array.from({ length: many }, () => {
          if (!single) return sizes;
          return generator.multinomial(rows, shares, [0, 0, 0]).map((count, k) => (sizes[k] > 0 && count === 0 ? 1 : count));
        });
        const rates = KINDS.map((_, kind) => {
          const block = new Float64Array(many * size);
          if (!sizes[kind]) return block;
          const row = new Float64Array(size);
          for (let k = 0; k < many; k++) {
            if (sizes[kind] <= MULTINOMIAL_ROWS) generator.multinomial(drawn[k][kind], chances[kind], row);
            else for (let i = 0; i < size; i++) row[i] = generator.poisson(expected[kind][i]);
            let running = 0;
            for (let i = 0; i < size; i++) block[k * size + i] = running += row[i];
            for (let i = 0; i < size; i++) block[k * size + i] /= running;
          }
          return block;
        });
        visit(start, normal, drawn, (k) => rates.map((block) => block.subarray(k * size, (k + 1) * size)));
      }
    }

    const redrawn = once(() => {
      const asked = [own, ...(isDrawn ? [null] : reach ? over() : [])];
      const labelledAt = tallies.increments(compressed(), "labelled");
      const readings = asked.map(() => [new Float64Array(redraws), new Float64Array(redraws)]);
      const anew = { places: new Int32Array(redraws), totals: [], rates: [], normal: [] };
      eachChunk((start, normal, drawn, ratesOf) =>
        drawn.forEach((totals, k) => {
          const parts = ratesOf(k);
          asked.forEach((share, which) => {
            const map = mapAt(totals, share ?? drawnShare(normal[k]));
            const [cut, free] = averagePrecisions(map, totals, parts, labelledAt);
            readings[which][0][start + k] = cut;
            readings[which][1][start + k] = free;
            if (which || chosen === null) return;
            const place = bestPlace(map, parts);
            anew.normal.push(normal[k]);
            anew.totals.push(totals);
            anew.places[start + k] = place;
            anew.rates.push(parts.map((part) => part[place]));
          });
        }),
      );
      return { asked, readings, anew };
    });

    // Average precision of a redraw, read twice: with precision cut to [0, 1], and without where it is steady.
    function averagePrecisions(map, totals, [labelled, unlabelled, negative], labelledAt) {
      const { positive, negative: rest } = map;
      const tiny = 1e-9 * (positive + rest);
      let [before, labelledBefore, cutSum, freeSum] = [0, 0, 0, 0];
      for (let i = 0; i < labelled.length; i++) {
        const recall = map.hits[0] * labelled[i] + map.hits[1] * unlabelled[i] + map.hits[2] * negative[i];
        const alarm = map.alarms[0] * labelled[i] + map.alarms[1] * unlabelled[i] + map.alarms[2] * negative[i];
        const hits = positive * recall;
        const called = hits + rest * alarm;
        const step = recall - before;
        const cut = called > tiny ? hits / called : hits > 0 ? 1 : 0;
        cutSum += step * recovery.clip(cut);
        const drawn = (labelled[i] - labelledBefore) * totals[0];
        const weight = 1 + (labelledAt[i] > 1e-9 * totals[0] ? (drawn - 1) / labelledAt[i] : 0);
        const found = hits - (positive * 0.5 * weight) / totals[0];
        const steady = labelled[i] * totals[0] >= 10 && unlabelled[i] * totals[1] >= 10;
        const free = called + 0.5 > 0 ? found / (called + 0.5) : 1;
        freeSum += step * Math.min(Math.max(free, 0), steady ? 2 : 1);
        before = recall;
        labelledBefore = labelled[i];
      }
      return [cutSum, freeSum];
    }

    // the first threshold with the best F1; the last one where nothing is possible
    function bestPlace(map, [labelled, unlabelled, negative]) {
      let [best, place] = [-Infinity, labelled.length - 1];
      for (let i = 0; i < labelled.length; i++) {
        const hit = map.hits[0] * labelled[i] + map.hits[1] * unlabelled[i] + map.hits[2] * negative[i];
        const alarm = map.alarms[0] * labelled[i] + map.alarms[1] * unlabelled[i] + map.alarms[2] * negative[i];
        if (!(hit >= -recovery.ROUNDING && hit <= 1 + recovery.ROUNDING && alarm >= -recovery.ROUNDING && alarm <= 1 + recovery.ROUNDING)) continue;
        const hits = map.positive * recovery.clip(hit);
        const bottom = map.positive + hits + map.negative * recovery.clip(alarm);
        const value = bottom !== 0 ? (2 * hits) / bottom : NaN;
        if (value > best) [best, place] = [value, i];
      }
      return place;
    }

    function averagePrecisionEnds(share, each, valueAt) {
      const { asked, readings } = redrawn();
      const at = share ?? own;
      const moved = compressed().size === tally.size ? 0 : valueAt(at) - estimates.averagePrecision(compressed(), at, found.recoveryScenario);
      const shift = Number.isNaN(moved) ? 0 : moved;
      if (ownTotals[0] < 2) return [-Infinity, Infinity];
      const both = readings[asked.indexOf(share)];
      const all = both.flatMap((reading) => [...reading]);
      const [least, most] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
      if (most - least === 0) return [betaQuantile(ownTotals[0] + 0.5, 0.5, each) * (least + shift), 1];
      const outer = expandedTail(Math.min(1.2 * each, Math.max(each, 0.5)), ownTotals[0]);
      const ends = both.map((reading) => percentiles(reading.map((value) => value + shift), outer));
      return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
    }

    // What a redraw shows at the threshold it chose, less what the data show there: the optimism of choosing.
    const seenAnew = {};
    function anewAt(share) {
      if (seenAnew[share]) return seenAnew[share];
      const { anew } = redrawn();
      const counts = compressed();
      const steady = evidence.mapOf(found, share ?? own); // to the last bit the share of the data: nothing was redrawn
      const cells = (map, rates) =>
        recovery.cellsOf(
          {
            hits: [map.hits[0] * rates[0] + map.hits[1] * rates[1] + map.hits[2] * rates[2]],
            alarms: [map.alarms[0] * rates[0] + map.alarms[1] * rates[1] + map.alarms[2] * rates[2]],
            positive: map.positive,
            negative: map.negative,
          },
          0,
        );
      const observed = (place) => KINDS.map((kind, k) => (ownTotals[k] ? counts[kind][place] / ownTotals[k] : 0));
      const known = new Map();
      return (seenAnew[share] = {
        // the estimate's own error, seen from the truth, is the other way round
        redrawn: anew.rates.map((rates, k) => cells(mapAt(anew.totals[k], share ?? 2 * own - drawnShare(anew.normal[k])), rates)),
        known: [...anew.places].map((place) => {
          if (!known.has(place)) known.set(place, cells(steady, observed(place)));
          return known.get(place);
        }),
        here: cells(steady, tallies.at(tally, chosen).map((count, k) => (ownTotals[k] ? count / ownTotals[k] : 0))),
      });
    }

    // Ends as if the threshold had been given, with what choosing it adds.
    function withChoice(facts, share, each, value, given) {
      const seen = anewAt(share);
      const [redrawn, known] = [seen.redrawn, seen.known].map((cells) => valuesOf(facts, cells));
      const errors = redrawn.map((one, k) => one - known[k]).filter((error) => !Number.isNaN(error));
      if (!errors.length) return given;
      const optimism = errors.reduce((sum, error) => sum + error, 0) / errors.length;
      const [low, high] = percentiles(errors, expandedTail(each, ownTotals[0]));
      return [Math.min(value - high, given[0] - optimism), Math.max(value - low, given[1] - optimism)];
    }

    function chosenEnds(facts, share, each) {
      const [value] = valuesOf(facts, [anewAt(share).here]);
      return withChoice(facts, share, each, value, fixedEnds(facts, chosen, share, each));
    }

    // --- one contract for all --------------------------------------------------------------------------------------

    function construction(facts, threshold, valueAt) {
      if (facts.name === "roc_auc") return { method: "DeLong, Student, skewness-corrected", ends: areaEnds };
      if (facts.name === "average_precision")
        return { method: "percentile of redraws, read twice", ends: (share, each) => averagePrecisionEnds(share, each, valueAt) };
      if (chosen !== null && threshold === chosen)
        return { method: "redraws with the threshold chosen again each time", ends: (share, each) => chosenEnds(facts, share, each) };
      return { method: "Jeffreys", ends: (share, each) => fixedEnds(facts, threshold, share, each) };
    }

    function of(facts, known, cut, threshold, valueAt) {
      const { method, ends } = construction(facts, threshold, valueAt);
      const held = (share, each) => {
        let [low, high] = ends(share, each);
        low = nanMin(low + Math.min(cut, 0), known);
        high = nanMax(high + Math.max(cut, 0), known);
        return [low, high].map((end) => Math.min(Math.max(end, facts.lowest), facts.highest));
      };
      const [low, high] = held(own, tail);
      if (Number.isNaN(low) || Number.isNaN(high)) return null;
      const sample = { low, high, confidence, method };
      if (!reach || !facts.needs_class_prior) return { interval: sample, sample };
      if (isDrawn) {
        const [least, most] = held(null, tail);
        if (Number.isNaN(least) || Number.isNaN(most)) return null;
        return { interval: { low: least, high: most, confidence, method: `${method}, class prior drawn` }, sample };
      }
      const shares = over();
      const values = shares.map(valueAt).filter((value) => !Number.isNaN(value));
      const length = values.length ? Math.max(...values) - Math.min(...values) : 0;
      const each = tailForRange(confidence, length, (high - low) / (2 * twoSided(confidence)));
      const hull = shares.map((share) => held(share, each));
      const lows = hull.map(([end]) => end).filter((end) => !Number.isNaN(end));
      const highs = hull.map(([, end]) => end).filter((end) => !Number.isNaN(end));
      if (!lows.length || !highs.length) return null;
      const over5 = { low: Math.min(...lows), high: Math.max(...highs), confidence, method: `${method}, over the range of the class prior` };
      return { interval: over5, sample };
    }
    // Python's min and max keep their first argument beside nan
    const nanMin = (end, known) => (known < end ? known : end);
    const nanMax = (end, known) => (known > end ? known : end);

    function ofThreshold() {
      if (chosen === null) return null;
      const { thresholds } = compressed();
      const [low, high] = percentiles([...redrawn().anew.places].map((place) => thresholds[place]), tail);
      return { low: Math.min(low, chosen), high: Math.max(high, chosen), confidence, method: "percentile of redraws" };
    }

    // what labels that favour easy positives are drawn with
    const parts = { tail, ownTotals, shares: !reach ? [own] : isDrawn ? [null] : over(), single, movedShare, drawnShare, compressed, plausibleAt, eachChunk, withChoice };
    return { of, ofThreshold, parts };
  }

  return { workshop, percentiles, REDRAWS };
})();
if (typeof module !== "undefined") module.exports = intervals;
