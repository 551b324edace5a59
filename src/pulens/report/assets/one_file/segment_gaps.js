"use strict";
// How far groups are apart in recall, with intervals that hold for all of them at once: pulens.doors.compare_groups with
// the same Sobol points (pulens.intervals.kernels.simultaneous), and the rows of pulens.report.gaps_page.
const segmentGaps = (() => {
  const { fixed, general, percents, betaQuantile, normalQuantile, normalTail } = numbers;
  const [FEWEST_LABELLED, MOST_GROUPS, MOST_PAIRS, MOST_UNTESTED] = [5, 100, 300, 100];
  const [BITS, COLUMNS, POINTS, FURTHEST] = [30, 12, 4096, 20];
  const SURE = ["given", "same for all", "audit", "counted"]; // class priors that say how positives divide among groups

  // --- the largest of many -----------------------------------------------------------------------------------------

  // scrambled as scipy does it: a shift and a triangular matrix of random bits for every dimension
  function sobol(dimensions) {
    const bit = bitsOf(random.Generator.seeded(0, 0)); // of a generator that scipy spawns for itself
    const shifts = Array.from({ length: dimensions }, () => {
      let shift = 0;
      for (let k = 0; k < BITS; k++) shift += bit() * 2 ** k;
      return shift;
    });
    return shifts.map((shift, d) => {
      const matrix = Array.from({ length: BITS }, (_, row) => {
        let found = 0;
        for (let column = 0; column < BITS; column++) {
          const drawn = bit();
          if (column === row || (column < row && drawn)) found |= 1 << (BITS - 1 - column);
        }
        return found;
      });
      const directions = Array.from({ length: COLUMNS }, (_, j) => {
        const own = fixedFacts.sobol[d * COLUMNS + j] * 2 ** (BITS - 1 - j);
        let found = 0;
        for (let row = 0; row < BITS; row++) if (isOdd(matrix[row] & own)) found |= 1 << (BITS - 1 - row);
        return found;
      });
      const points = new Float64Array(POINTS);
      let at = shift;
      for (let k = 0; k < POINTS; k++) {
        points[k] = at / 2 ** BITS;
        let zero = 0;
        while ((k >> zero) & 1) zero += 1;
        if (zero < COLUMNS) at ^= directions[zero];
      }
      return points;
    });
  }

  // numpy's choice between 0 and 1: the highest bit of half a word, the low half first
  function bitsOf(generator) {
    let isSecond = false;
    return () => {
      if (!isSecond) generator.next();
      isSecond = !isSecond;
      return (isSecond ? generator.low : generator.high) >>> 31;
    };
  }

  function isOdd(word) {
    let odd = word;
    for (const by of [16, 8, 4, 2, 1]) odd ^= odd >>> by;
    return odd & 1;
  }

  // directions that fill the sphere evenly, a column for each group
  let known = null;
  function directionsOf(groups) {
    if (known?.length === groups) return known;
    const normal = sobol(groups).map((points) => points.map((point) => normalQuantile(Math.min(Math.max(point, 1e-12), 1 - 1e-12))));
    for (let k = 0; k < POINTS; k++) {
      const length = Math.sqrt(normal.reduce((sum, column) => sum + column[k] ** 2, 0));
      for (const column of normal) column[k] /= length;
    }
    return (known = normal);
  }

  // the chance that a radius of so many dimensions is beyond a bound: halves of whole numbers need no series
  function radiusBeyond(dimensions, bound) {
    const x = bound ** 2 / 2;
    let [a, found, step] = dimensions % 2 ? [0.5, 2 * normalTail(bound), 2 * Math.sqrt(x / Math.PI) * Math.exp(-x)] : [1, Math.exp(-x), x * Math.exp(-x)];
    for (; a < dimensions / 2; a += 1) {
      found += step;
      step *= x / (a + 1);
    }
    return found;
  }

  function largestOf(reach, dimensions) {
    const beyond = (bound) => reach.reduce((sum, each) => sum + (each > 0 ? radiusBeyond(dimensions, bound / each) : 0), 0) / reach.length;
    return { beyond, quantile: (confidence) => halved((bound) => beyond(bound) - (1 - confidence), 0, FURTHEST) };
  }

  // where a falling function passes zero
  function halved(falling, from, to) {
    let [low, high] = [from, to];
    for (let k = 0; k < 60 && high - low > 1e-13; k++) {
      const middle = (low + high) / 2;
      if (falling(middle) > 0) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  function reachOfPairs(errors) {
    const directions = directionsOf(errors.length);
    const reach = new Float64Array(POINTS);
    for (let i = 0; i < errors.length; i++)
      for (let j = i + 1; j < errors.length; j++) {
        const scale = Math.hypot(errors[i], errors[j]);
        if (!(scale > 0)) continue;
        for (let k = 0; k < POINTS; k++) {
          const apart = Math.abs(directions[i][k] * errors[i] - directions[j][k] * errors[j]) / scale;
          if (apart > reach[k]) reach[k] = apart;
        }
      }
    return reach;
  }

  // Tukey's 95% point of the largest difference of equally sure groups
  function studentisedRange(groups) {
    const within = (range) => {
      let sum = 0;
      for (let z = -8; z <= 8; z += 0.01) sum += 0.01 * Math.exp(-(z ** 2) / 2) * (normalTail(z - range) - normalTail(z)) ** (groups - 1);
      return (groups * sum) / Math.sqrt(2 * Math.PI);
    };
    return halved((range) => 0.95 - within(range), 0, 20) / Math.SQRT2;
  }

  // what takes the points' error out where groups are equally sure
  const correctionOf = (groups) => studentisedRange(groups) / largestOf(reachOfPairs(new Float64Array(groups).fill(1)), groups).quantile(0.95);

  function largestOfPairs(errors) {
    if (errors.length === 2) return largestOf([1], 1);
    const by = correctionOf(errors.length);
    return largestOf(reachOfPairs(errors).map((reach) => reach * by), errors.length);
  }

  function largestOfContrasts(rows) {
    const directions = directionsOf(rows[0].length);
    const reach = new Float64Array(POINTS);
    for (const row of rows) {
      const length = Math.hypot(...row);
      for (let k = 0; k < POINTS; k++) {
        const own = Math.abs(row.reduce((sum, each, g) => sum + each * directions[g][k], 0)) / length;
        if (own > reach[k]) reach[k] = own;
      }
    }
    return largestOf(reach, rows[0].length);
  }

  const independentQuantile = (many, confidence) => -normalQuantile(-Math.expm1(Math.log(confidence) / Math.max(many, 1)) / 2);

  // --- shares of labelled rows -------------------------------------------------------------------------------------

  const valueOf = ({ hits, labelled }) => hits / labelled;

  function endsOf({ hits, labelled }, quantile) {
    const [tail, misses, value] = [normalTail(quantile), labelled - hits, hits / labelled];
    const low = hits <= 0 ? 0 : betaQuantile(hits + 0.5, misses + 0.5, tail);
    const high = misses <= 0 ? 1 : 1 - betaQuantile(misses + 0.5, hits + 0.5, tail);
    return [Math.min(low, value), Math.max(high, value)];
  }

  function errorOf({ hits, labelled }) {
    const smoothed = (hits + 0.5) / (labelled + 1);
    return Math.sqrt((smoothed * (1 - smoothed)) / labelled);
  }

  // the ends of a combination from those of its parts (Zou and Donner 2008)
  function mover(weights, values, ends) {
    let [middle, down, up] = [0, 0, 0];
    weights.forEach((weight, k) => {
      const [below, above] = [values[k] - ends[k][0], ends[k][1] - values[k]];
      middle += weight * values[k];
      down += (weight * (weight > 0 ? below : above)) ** 2;
      up += (weight * (weight > 0 ? above : below)) ** 2;
    });
    return [middle, middle - Math.sqrt(down), middle + Math.sqrt(up)];
  }

  const gapOf = (first, second, [value, low, high]) => ({ first, second, value, low, high, isClear: low > 0 || high < 0 });

  function compare(tested, confidence) {
    if (tested.length < 2) return { differences: [], pValue: null };
    const values = tested.map(valueOf);
    const largest = largestOfPairs(Float64Array.from(tested, errorOf));
    const pairs = tested.flatMap((_, i) => tested.slice(i + 1).map((_, k) => [i, i + 1 + k])).map(([i, j]) => (values[i] < values[j] ? [j, i] : [i, j]));
    const allAt = (quantile) => {
      const ends = tested.map((group) => endsOf(group, quantile));
      return pairs.map(([i, j]) => mover([1, -1], [values[i], values[j]], [ends[i], ends[j]]));
    };
    // how far out intervals may reach before the last of them takes in 0
    const lastLow = (quantile) => allAt(quantile).reduce((most, [, low, high]) => Math.max(most, low, -high), -Infinity);
    const reached = lastLow(0) <= 0 ? 0 : lastLow(FURTHEST) > 0 ? FURTHEST : halved(lastLow, 0, FURTHEST);
    const differences = allAt(largest.quantile(confidence))
      .map((ends, k) => gapOf(tested[pairs[k][0]], tested[pairs[k][1]], ends))
      .sort((a, b) => b.low - a.low || b.value - a.value);
    return { differences, pValue: reached > 0 ? largest.beyond(reached) : 1 };
  }

  // each group less all others together, which count by their weights
  function againstRest(tested, weights, confidence) {
    if (tested.length < 2 || !weights.every((weight) => weight > 0)) return new Map();
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const rows = tested.map((_, i) => weights.map((weight, k) => (k === i ? 1 : -weight / (all - weights[i]))));
    const [errors, values] = [tested.map(errorOf), tested.map(valueOf)];
    const largest = tested.length === 2 ? largestOf([1], 1) : largestOfContrasts(rows.map((row) => row.map((each, k) => each * errors[k])));
    const quantile = largest.quantile(confidence);
    const ends = tested.map((group) => endsOf(group, quantile));
    return new Map(rows.map((row, k) => [tested[k], gapOf(tested[k], null, mover(row, values, ends))]));
  }

  // The gaps of groups that were counted; `told` has those that were evaluated. None where too many would be compared.
  function gapsOf(groups, told) {
    const { threshold } = told.segments[0];
    const evaluated = new Map(told.segments.map((segment) => [segment.name, segment]));
    const population = ([labelled, unlabelled, negative], rest) => (told.scenario === "single-set" || !rest ? labelled + unlabelled + negative : unlabelled);
    const every = groups.map(({ name, tally }) => {
      const { labelled, unlabelled, negative } = tally.totals;
      const above = tallies.at(tally, threshold);
      const rows = population([labelled, unlabelled, negative], unlabelled);
      const untested = !labelled ? "no labelled row" : told.contradicted.has(name) ? texts.groupNotRandom : labelled < FEWEST_LABELLED ? `fewer than ${FEWEST_LABELLED} labelled rows` : "";
      return { name, labelled, hits: above[0], rows, flagged: rows ? population(above, unlabelled) / rows : NaN, untested };
    });
    const tested = every.filter(({ untested }) => !untested);
    if (tested.length > MOST_GROUPS) return null;
    const sources = tested.map(({ name }) => evaluated.get(name));
    const isSure = sources.length > 0 && sources.every((segment) => segment && SURE.includes(segment.source));
    const weights = tested.map((group, k) => (isSure ? group.rows * sources[k].found.prior.value : group.labelled));
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const [each, own] = [independentQuantile(tested.length, told.confidence), normalQuantile((1 + told.confidence) / 2)];
    for (const group of every) group.ends = group.labelled ? endsOf(group, group.untested ? own : each) : null;
    return {
      ...compare(tested, told.confidence),
      groups: every.map((group, k) => [group, k]).sort(([a, i], [b, j]) => !a.labelled - !b.labelled || (a.labelled ? valueOf(a) - valueOf(b) : 0) || i - j).map(([group]) => group),
      rest: againstRest(tested, weights, told.confidence),
      weighedBy: isSure ? "positives" : "labelled rows",
      together: all > 0 ? tested.reduce((sum, group, k) => sum + (weights[k] / all) * valueOf(group), 0) : null,
      tested: tested.length,
    };
  }

  // --- what the report shows ---------------------------------------------------------------------------------------

  const rounded = (value) => fixed(value, 0).replace(/^-0$/, "0");
  const nameOf = (name, most) => segments.shortened(segments.titleOf(name), most);

  function leadOf({ differences }) {
    if (!differences.length || differences[0].low > 0) return differences[0] ?? null;
    return differences.reduce((most, gap) => (gap.value > most.value ? gap : most));
  }

  function apart({ low, high }) {
    const [from, to] = [100 * low, 100 * high];
    return rounded(from) === "0" && from > 0 ? `${general(from, 1)} to ${fixed(to, 0)} points` : `${rounded(from)} to ${rounded(to)} points`;
  }

  function verdictOf(gaps) {
    const lead = leadOf(gaps);
    if (!lead) return `${gaps.tested ? "Only one group" : "No group"} has ${FEWEST_LABELLED} labelled rows or more: there is nothing to compare.`;
    // names that read from right to left keep to themselves
    const isolated = ({ name }) => nameOf(name).replace(/^.*[^\x00-\x7f].*$/su, "\u2068$&\u2069");
    const said = `${isolated(lead.first)} finds ${percents(valueOf(lead.first), 0)}, ${isolated(lead.second)} ${percents(valueOf(lead.second), 0)}`;
    return `${said}${lead.isClear ? "" : ", but no gap between groups is clear"}: ${apart(lead)} apart (all pairs considered).`;
  }

  function testOf({ pValue }) {
    if (pValue === null) return "";
    if (pValue < 0.001) return "Are all groups equal? p below 0.001.";
    const shown = fixed(pValue, 3);
    return `Are all groups equal? p = ${shown}: if all groups were equal, the largest gap would be as large, for its error, with chance ${shown}.`;
  }

  const placeOn = (value, [from, to]) => `${fixed(2 + 96 * recovery.clip((value - from) / (to - from)), 2)}%`;

  function pairOf(gap, reach) {
    const number = (value) => rounded(100 * value).replace("-", "−");
    const [at, low, high] = [gap.value, gap.low, gap.high].map((value) => placeOn(value, [-reach, reach]));
    const [first, second] = [gap.first, gap.second].map((group) => nameOf(group?.name ?? null));
    return { first, second, value: number(gap.value), sorts: general(gap.value), ends: `${number(gap.low)} to ${number(gap.high)}`, is_clear: gap.isClear, at, low, high, turns_at: "" };
  }

  function groupOf(group, axis, rest, reach) {
    const { ends } = group;
    const value = ends ? valueOf(group) : NaN;
    const [at, low, high] = ends ? [value, ...ends].map((each) => placeOn(each, axis)) : [];
    return {
      name: nameOf(group.name, 300),
      labelled: sentences.counted(group.labelled),
      value: ends ? fixed(value, 3) : "undefined",
      sorts: ends ? general(value) : "",
      ends: ends ? `${fixed(ends[0], 3)} to ${fixed(ends[1], 3)}` : "",
      picture: ends ? { at, low, high } : null,
      flagged: Number.isNaN(group.flagged) ? "" : fixed(group.flagged, 3),
      flagged_width: Number.isNaN(group.flagged) ? "0%" : `${fixed(100 * group.flagged, 2)}%`,
      rest: rest ? pairOf(rest, reach) : null,
      untested: group.untested,
    };
  }

  // What gap_parts.html.j2 is filled with.
  function context(groups, told) {
    const gaps = told.confidence === null ? null : gapsOf(groups, told);
    if (!gaps) return null;
    const untested = gaps.groups.filter((group) => group.untested);
    const shown = gaps.groups.filter((group) => !group.untested || untested.indexOf(group) < MOST_UNTESTED);
    const axis = segments.axisOf(shown.filter(({ ends }) => ends).map((group) => ({ value: valueOf(group), interval: { low: group.ends[0], high: group.ends[1] } })));
    const widest = [...gaps.differences, ...gaps.rest.values()].reduce((most, { low, high }) => Math.max(most, Math.abs(low), Math.abs(high)), 0);
    const reach = Math.ceil(10 * (widest || 0.1)) / 10 || 0.1;
    const isUnlabelled = groups.some(({ tally }) => tally.totals.unlabelled);
    return {
      group_by: told.column,
      verdict: verdictOf(gaps),
      test: testOf(gaps),
      heading: `Recall by ${told.column} at threshold ${told.thresholdWords}; worst first, ${percents(told.confidence, 0)} intervals for all at once.`,
      confidence: percents(told.confidence, 0),
      axis: axis.map(segments.tick),
      reach: fixed(100 * reach, 0),
      in_points: true,
      whole: gaps.together === null ? null : { at: placeOn(gaps.together, axis), value: fixed(gaps.together, 3) },
      weighed_by: gaps.weighedBy,
      groups: shown.map((group) => groupOf(group, axis, gaps.rest.get(group), reach)),
      left: gaps.groups.length - shown.length,
      pairs: gaps.differences.slice(0, MOST_PAIRS).map((gap) => pairOf(gap, reach)),
      clear_pairs: gaps.differences.filter(({ isClear }) => isClear).length,
      in_all: gaps.differences.length,
      notes: [
        ...(told.isChosen ? ["The threshold was chosen on these rows; intervals take it as given."] : []),
        ...(isUnlabelled ? ["Labels must be a random draw of the positives within each group; how often positives are labelled may differ between groups."] : []),
      ],
      turns: false,
    };
  }

  return { context, gapsOf };
})();
if (typeof module !== "undefined") module.exports = segmentGaps;
