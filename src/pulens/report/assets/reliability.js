"use strict";
// The reliability diagram, recomputed for any class prior from counts and sums of scores per bin.
const reliability = (() => {
  // Coefficients of the rates of labelled, unlabelled and known negative rows, for positives and for everyone.
  function massesOf(totals, given) {
    const map = recovery.mapOf(totals, given);
    const prior = map.positive / (map.positive + map.negative);
    const rows = totals.labelled + totals.unlabelled + totals.negative;
    const positive = map.hits.map((coefficient) => (coefficient ? prior * coefficient : 0));
    let population;
    if (given.scenario !== "case-control" || !totals.unlabelled) {
      population = [totals.labelled / rows, totals.unlabelled / rows, totals.negative / rows];
    } else if (!totals.negative) population = [0, 1, 0];
    else population = positive.map((mass, kind) => mass + (1 - prior) * map.alarms[kind]);
    return { positive, population, prior };
  }

  // bins: {edges, counts: [kind][bin], sums: [kind][bin]}
  function evaluate(bins, totals, given) {
    const masses = massesOf(totals, given);
    const sizes = [totals.labelled, totals.unlabelled, totals.negative].map((total) => total || 1);
    const add = (coefficients, values, b) =>
      coefficients.reduce((sum, coefficient, kind) => sum + coefficient * (values[kind][b] / sizes[kind]), 0);
    const found = { promised: [], share: [], population: [], error: 0, meanScore: 0, prior: masses.prior };
    for (let b = 0; b < bins.edges.length - 1; b++) {
      const population = add(masses.population, bins.counts, b);
      const positive = add(masses.positive, bins.counts, b);
      const score = add(masses.population, bins.sums, b);
      found.error += Math.abs(positive - score);
      found.meanScore += score;
      found.population.push(population);
      found.promised.push(population > 0 ? score / population : NaN);
      found.share.push(population > 0 ? positive / population : NaN);
    }
    return found;
  }

  // Axes from 0 to 1: even, or by powers of ten where nearly all rows would otherwise stand in one corner. What lies
  // below the lowest power stands on the edge.
  const CROWDED = 0.6; // of the rows, below a tenth
  const EVEN = { name: "even", of: (value) => value, axis: (label) => ({ label, min: 0, max: 1 }) };
  function logScale(found) {
    const positive = found.promised.filter((value) => value > 0);
    const lowest = Math.max(Math.floor(Math.log10(Math.min(...positive, 0.01))), -6);
    return {
      name: "log",
      of: (value) => Math.log10(Math.min(Math.max(value, 10 ** lowest), 1)),
      axis: (label) => ({ ...chart.logAxis(label, lowest, 0), tell: (at) => (at === lowest ? "≤ " : "") + Number((10 ** at).toPrecision(2)) }),
    };
  }
  function scaleFor(found, wanted = null) {
    const low = found.population.reduce((sum, mass, b) => (found.promised[b] < 0.1 ? sum + mass : sum), 0);
    return (wanted || (low > CROWDED ? "log" : "even")) === "log" ? logScale(found) : EVEN;
  }

  // The chart: points with their intervals (known at the report's own class prior only) and the diagonal.
  function spec(bins, found, ends, palette, three, scale = scaleFor(found)) {
    const kept = found.share.map((_, b) => b).filter((b) => Number.isFinite(found.share[b]));
    const clipped = (b) => recovery.clip(found.share[b]);
    const promised = kept.map((b) => found.promised[b]);
    const x = promised.map(scale.of);
    const y = kept.map(clipped).map(scale.of);
    const whiskers = ends
      ? [
          {
            kind: "whiskers",
            x,
            low: kept.map((b) => scale.of(ends.low[b])),
            high: kept.map((b) => scale.of(ends.high[b])),
            colour: palette.main,
          },
        ]
      : [];
    const diagonal = [0, 1].map(scale.of);
    return {
      id: "reliability",
      title: "Reliability diagram",
      ratio: 0.86,
      x: scale.axis("predicted probability"),
      y: scale.axis("share of positives, recovered"),
      layers: [
        { kind: "line", x: diagonal, y: diagonal, colour: palette.plain, width: 1, dash: "2 4", name: "predicted = actual" },
        ...whiskers,
        // by powers of ten a share of nothing lies on the edge, and a line would only leap there and back
        ...(scale === EVEN ? [{ kind: "line", x, y, colour: palette.main, width: 1.5 }] : []),
        { kind: "dots", x, y, colour: palette.main, name: ends ? "recovered, with intervals" : "recovered" },
      ],
      table: () => ({
        header: [
          "score from",
          "score to",
          "labelled",
          "unlabelled",
          "predicted",
          "recovered",
          ...(ends ? ["low", "high"] : []),
        ],
        rows: found.share.map((share, b) => [
          bins.edges[b],
          bins.edges[b + 1],
          bins.rows[0][b],
          bins.rows[1][b],
          found.promised[b],
          share,
          ...(ends ? [ends.low[b] ?? NaN, ends.high[b] ?? NaN] : []),
        ]),
      }),
      trail: {
        x,
        y,
        tell: (k) => [
          `predicted ${words.short(promised[k])}`,
          `recovered ${three(found.share[kept[k]])}`,
          ...(ends ? [`${three(ends.low[kept[k]])} to ${three(ends.high[kept[k]])}`] : []),
          `${(100 * found.population[kept[k]]).toPrecision(3)}% of rows`,
        ],
      },
    };
  }

  return { massesOf, evaluate, spec, scaleFor };
})();
if (typeof module !== "undefined") module.exports = reliability;
