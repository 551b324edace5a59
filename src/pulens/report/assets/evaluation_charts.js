"use strict";
// The charts of an evaluation's page. `shared` is the page's state: what it carries, where the sliders stand, and what
// follows from that (shared.current).
const evaluationCharts = (shared) => {
  const { raw, data, state, home, track, populationOf, unlabelledOf, thresholdAt, shownThreshold, samePrior, moveTo } = shared;
  const { short, three, percent, rows } = words;
  const { thresholds } = data.counts;
  const size = thresholds.length;

  const uncorrected = (() => {
    const tables = recovery.tablesOf(data.plain.counts, data.plain.totals, {
      unlabelledPrior: 0,
      labelNoise: 0,
      scenario: "single-set",
    });
    return { tables, roc: recovery.rocCurve(tables), precisionRecall: recovery.precisionRecallCurve(tables) };
  })();

  const here = (x, y, palette) => ({
    kind: "point",
    x,
    y,
    colour: palette.accent,
    ring: palette.paper,
    name: "at the threshold",
  });

  function curveTable(curve, names) {
    return {
      header: ["threshold", ...names],
      rows: curve.index.map((index, k) => [index ? thresholds[index - 1] : Infinity, curve.x[k], curve.y[k]]),
    };
  }

  function trailOf(curve, xName, yName) {
    return {
      x: curve.x,
      y: curve.y,
      now: curve.index.indexOf(state.index),
      tell: (k) => [
        `threshold ${curve.index[k] ? words.six(thresholdAt(curve.index[k])) : "above every score"}`,
        `${xName} ${three(curve.x[k])}`,
        `${yName} ${three(curve.y[k])}`,
      ],
      pick: (k) => curve.index[k] && moveTo({ index: curve.index[k] }),
    };
  }

  // What is withheld at the report's class prior has no curve either, until the reader chooses one; nor has what the
  // data contradict, whose curve would be cut at what is possible and look like that of a perfect model.
  const EMPTY = { x: [], y: [], index: [] };
  const isWithheld = (metric) =>
    shared.contradicted() || (samePrior() && raw.metrics.some(({ name, only_interval: open }) => name === metric && open));
  const caption = (id, isOpen, otherwise) =>
    (document.querySelector(`#chart-${id} figcaption p`).textContent = shared.contradicted()
      ? "No recovered curve: with random labels these rows rule out this class prior."
      : isOpen
        ? "The recovered curve depends on the class prior, which this data barely constrains: choose one with the slider."
        : otherwise);

  const unit = (label) => ({ label, min: 0, max: 1 });
  const builders = {
    roc: (palette) => {
      const isOpen = isWithheld("roc_auc");
      const shown = isOpen ? EMPTY : shared.current.roc;
      return {
        id: "roc",
        title: "ROC curve",
        after: () => caption("roc", isOpen, "Positives found against false alarms. The dashed curve counts every unlabelled row as a negative."),
        ratio: 0.86,
        x: unit("false positive rate"),
        y: unit("true positive rate (recall)"),
        layers: [
          { kind: "line", x: [0, 1], y: [0, 1], colour: palette.plain, width: 1, dash: "2 4", name: "guessing" },
          {
            kind: "line",
            x: uncorrected.roc.x,
            y: uncorrected.roc.y,
            colour: palette.plain,
            width: 1.75,
            dash: "6 4",
            name: "uncorrected",
          },
          ...(isOpen
            ? []
            : [
                { kind: "line", x: shown.x, y: shown.y, colour: palette.main, width: 2.5, name: "recovered" },
                here(shared.current.cells.alarm, shared.current.cells.hit, palette),
              ]),
        ],
        table: () => curveTable(shown, ["false positive rate", "true positive rate"]),
        trail: trailOf(shown, "false positive rate", "recall"),
      };
    },
    "precision-recall": (palette) => {
      // a precision that is withheld has no curve either, until the reader chooses a class prior
      const isOpen = isWithheld("precision");
      const shown = isOpen ? EMPTY : shared.current.precisionRecall;
      const prior = shared.current.tables.positive / (shared.current.tables.positive + shared.current.tables.negative);
      return {
        id: "precision-recall",
        title: "Precision-recall curve",
        after: () => caption("precision-recall", isOpen, "Precision as recall increases."),
        ratio: 0.86,
        x: unit("recall"),
        y: unit("precision"),
        layers: [
          ...(isOpen ? [] : [{ kind: "line", x: [0, 1], y: [prior, prior], colour: palette.plain, width: 1, dash: "2 4", name: "guessing" }]),
          {
            kind: "line",
            x: uncorrected.precisionRecall.x,
            y: uncorrected.precisionRecall.y,
            colour: palette.plain,
            width: 1.75,
            dash: "6 4",
            name: "uncorrected",
          },
          ...(isOpen
            ? []
            : [
                { kind: "line", x: shown.x, y: shown.y, colour: palette.main, width: 2.5, name: "recovered" },
                here(shared.current.values.recall, shared.current.values.precision, palette),
              ]),
        ],
        table: () => curveTable(shown, ["recall", "precision"]),
        trail: trailOf(shown, "recall", "precision"),
      };
    },
    scores: (palette) => {
      const { edges } = raw.histogram;
      const shares = (counts, total) => counts.map((count) => (total ? count / total : 0));
      const labelled = shares(raw.histogram.labelled, data.totals.labelled);
      const unlabelled = shares(raw.histogram.unlabelled, data.totals.unlabelled);
      const found = recovery.densitiesOf(raw.histogram, data.totals, shared.current.tables.map);
      const stairs = (values) => ({
        x: [edges[0], ...edges.slice(0, -1).flatMap((edge, k) => [edge, edges[k + 1]]), edges[edges.length - 1]],
        y: [0, ...[...values].flatMap((value) => [Math.max(value, 0), Math.max(value, 0)]), 0],
      });
      const highest = Math.max(...labelled, ...unlabelled, ...found.positive, ...found.negative);
      const middles = edges.slice(0, -1).map((edge, k) => (edge + edges[k + 1]) / 2);
      const layers = [{ kind: "bars", edges, y: labelled, colour: palette.main, opacity: 0.28, name: "labelled" }];
      if (data.totals.unlabelled)
        layers.unshift({ kind: "bars", edges, y: unlabelled, colour: palette.plain, opacity: 0.4, name: "unlabelled" });
      return {
        id: "scores",
        title: "Scores of positives and negatives",
        x: { label: "score", min: edges[0], max: edges[edges.length - 1] },
        y: { label: "share of rows in the bin", min: 0, max: highest > 0 ? highest * 1.08 : 1 },
        layers: [
          ...layers,
          { kind: "line", ...stairs(found.negative), colour: palette.other, width: 2, name: "negatives, recovered" },
          { kind: "line", ...stairs(found.positive), colour: palette.main, width: 2, name: "positives, recovered" },
          { kind: "upright", at: shownThreshold(), colour: palette.accent, width: 2, name: "threshold" },
        ],
        table: () => ({
          header: ["from", "to", "labelled", "unlabelled", "share of positives", "share of negatives"],
          rows: middles.map((_, k) => [
            edges[k],
            edges[k + 1],
            raw.histogram.labelled[k],
            raw.histogram.unlabelled[k],
            found.positive[k],
            found.negative[k],
          ]),
        }),
        trail: {
          x: middles,
          tell: (k) => [
            `score ${short(edges[k])} to ${short(edges[k + 1])}`,
            `labelled ${rows(raw.histogram.labelled[k])}, unlabelled ${rows(raw.histogram.unlabelled[k])}`,
            `${percent(found.positive[k])} of positives, ${percent(found.negative[k])} of negatives`,
          ],
          pick: (k) => moveTo({ index: Math.max(1, recovery.indexAt(thresholds, edges[k])) }),
        },
      };
    },
    prior: (palette) => {
      const shown = raw.metrics.filter((metric) => chosen.has(metric.name) && metric.name in shared.current.values);
      const curves = overPriors();
      return {
        id: "prior",
        title: "What if the class prior is different?",
        x: { label: "class prior", min: track.low, max: track.high },
        y: range(
          shown.map((metric) => curves.values[metric.name]),
          "value",
        ),
        layers: [
          ...(track.possible < track.high
            ? [
                {
                  kind: "between",
                  from: track.possible,
                  to: track.high,
                  colour: palette.alarm,
                  opacity: 0.13,
                  name: "ruled out by the data",
                },
              ]
            : []),
          ...(raw.prior.low !== null
            ? [
                {
                  kind: "between",
                  from: raw.prior.low,
                  to: raw.prior.high,
                  colour: palette.prior,
                  opacity: 0.16,
                  name:
                    raw.prior.confidence === null
                      ? "given range"
                      : `${Math.round(raw.prior.confidence * 100)}% interval`,
                },
              ]
            : []),
          {
            kind: "upright",
            at: raw.prior.value,
            colour: palette.prior,
            width: 1.5,
            dash: "3 3",
            name: "report's class prior",
          },
          ...shown.map((metric) => ({
            kind: "line",
            x: curves.priors,
            y: curves.values[metric.name],
            ...lineOf(metric.name, palette),
            name: metric.title,
          })),
          ...(samePrior()
            ? []
            : [{ kind: "upright", at: populationOf(state.prior), colour: palette.accent, width: 2, name: "now" }]),
        ],
        table: () => ({
          header: ["class prior", ...shown.map((metric) => metric.title)],
          rows: curves.priors.map((prior, k) => [prior, ...shown.map((metric) => curves.values[metric.name][k])]),
        }),
        trail: {
          x: curves.priors,
          tell: (k) => [
            `class prior ${short(curves.priors[k])}`,
            ...(curves.priors[k] > raw.prior.limit ? ["not possible under random labels; cut:"] : []),
            ...shown.map((metric) => `${metric.title} ${three(curves.values[metric.name][k])}`),
          ],
          pick: (k) => moveTo({ prior: curves.unlabelled[k] }),
        },
      };
    },
    threshold: (palette) => {
      const shown = raw.metrics.filter(
        (metric) => metric.reads === "threshold" && chosen.has(metric.name) && metric.name in shared.current.values,
      );
      const { edges } = raw.histogram;
      const values = shown.map(() => new Float64Array(size));
      for (let i = 0; i < size; i++) {
        const cells = recovery.cellsOf(shared.current.tables, i + 1);
        shown.forEach((metric, k) => (values[k][size - 1 - i] = recovery.metrics[metric.name](cells)));
      }
      const across = Array.from(thresholds).reverse();
      return {
        id: "threshold",
        title: "What if the threshold were another?",
        x: { label: "threshold", min: edges[0], max: edges[edges.length - 1] },
        y: range(values, "value"),
        layers: [
          ...shown.map((metric, k) => ({
            kind: "line",
            x: across,
            y: values[k],
            ...lineOf(metric.name, palette),
            name: metric.title,
          })),
          { kind: "upright", at: shownThreshold(), colour: palette.accent, width: 2, name: "threshold" },
        ],
        table: () => ({
          header: ["threshold", ...shown.map((metric) => metric.title)],
          rows: across.map((at, k) => [at, ...values.map((column) => column[k])]),
        }),
        trail: {
          x: across,
          now: size - state.index,
          tell: (k) => [
            `threshold ${words.six(across[k])}`,
            ...shown.map((metric, m) => `${metric.title} ${three(values[m][k])}`),
          ],
          pick: (k) => moveTo({ index: size - k }),
        },
      };
    },
  };

  builders.reliability = (palette) => {
    const found = reliability.evaluate(raw.reliability, data.totals, shared.current.given);
    return reliability.spec(
      raw.reliability,
      found,
      samePrior() ? raw.reliability.ends : null,
      palette,
      three,
    );
  };

  builders["labelling-curve"] = (palette) => labellingCurve(raw.curve, palette);

  const chosen = new Set(raw.metrics.filter((metric) => metric.tile).map((metric) => metric.name));
  function lineOf(name, palette) {
    const place = raw.metrics.findIndex((metric) => metric.name === name);
    const dashes = ["", "7 3", "2 3"];
    return {
      colour: palette.series[place % palette.series.length],
      dash: dashes[Math.floor(place / palette.series.length) % dashes.length],
    };
  }

  function range(columns, label) {
    let min = 0;
    let max = 1;
    for (const column of columns)
      for (const value of column) if (Number.isFinite(value)) [min, max] = [Math.min(min, value), Math.max(max, value)];
    return { label, min, max };
  }

  // Metrics over the slider's range at the present threshold; average precision does not depend on the threshold.
  const priorsTried = 81;
  let overPriorsAt = null; // the threshold that they were found at
  let overPriorsFound = null;
  function overPriors() {
    if (overPriorsAt === state.index) return overPriorsFound;
    const before = overPriorsFound;
    const priors = Array.from(
      { length: priorsTried },
      (_, k) => track.low + ((track.high - track.low) * k) / (priorsTried - 1),
    );
    // a prior of exactly 0 would be that of another population than its neighbours'
    const unlabelled = priors.map((prior) => Math.max(unlabelledOf(prior), 1e-9));
    const values = {};
    unlabelled.forEach((prior, k) => {
      const given = { unlabelledPrior: prior, labelNoise: data.labelNoise, scenario: data.scenario };
      const found = before ? pointwise(given) : recovery.evaluate(data, prior, state.index).values;
      if (before) found.average_precision = before.values.average_precision[k];
      for (const name of Object.keys(found)) (values[name] ||= [])[k] = found[name];
    });
    overPriorsAt = state.index;
    overPriorsFound = { priors, unlabelled, values };
    return overPriorsFound;
  }

  function pointwise(given) {
    const map = recovery.mapOf(data.totals, given);
    const at = state.index - 1;
    const negative = data.counts.negative ? data.counts.negative[at] : 0;
    const [hit, alarm] =
      at < 0
        ? [0, 0]
        : recovery.ratesOf(map, data.totals, data.counts.labelled[at], data.counts.unlabelled[at], negative);
    const cells = recovery.cellsOf({ hits: [hit], alarms: [alarm], positive: map.positive, negative: map.negative }, 0);
    const found = { roc_auc: recovery.clip(recovery.rocAuc(data.pairs, map)) };
    for (const name of Object.keys(recovery.metrics)) found[name] = recovery.metrics[name](cells);
    return found;
  }

  return { builders, chosen };
};
