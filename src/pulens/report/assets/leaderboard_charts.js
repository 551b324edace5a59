"use strict";
// Charts of the leaderboard, each built from what the page holds and what the reader chose.
const leaderboardCharts = (raw, state, ask) => {
  const { short } = words;
  const dashes = ["", "7 3", "2 3"];
  const families = [...new Set(raw.learners.map((learner) => learner.family))];
  const familyColour = (m, palette) => palette.series[families.indexOf(raw.learners[m].family) % 6];
  const drawnStyle = (k, palette) => ({ colour: palette.series[k % 6], dash: dashes[Math.floor(k / 6) % 3] });
  const isShare = (metric) => !raw.plain.includes(metric);
  const percent = (value, metric = state.metric) =>
    Number.isFinite(value) ? ((isShare(metric) ? 100 : 1) * value).toFixed(2) : "–";
  const pretty = (name) => ({ f1: "F1", macro_f1: "macro-F1", roc_auc: "ROC AUC" })[name] || name.replace(/_/g, " ");

  function limits(columns, least = 0.02) {
    let [low, high] = [Infinity, -Infinity];
    for (const column of columns)
      for (const value of column)
        if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (!Number.isFinite(low)) return { min: 0, max: 1 };
    const room = Math.max(least / 2, 0.08 * (high - low));
    return { min: low - room, max: high + room };
  }
  const hundred = (column) => column.map((value) => 100 * value);
  const nothing = (id, title, why) => ({
    id,
    title,
    paint: (spec, palette, width, options) => paint.empty(title, why, palette, width, options),
    table: () => ({ header: ["nothing to draw"], rows: [[why]] }),
  });
  const where = () => (ask.chartPlace() === "all" ? "mean over data sets shown" : raw.datasets[ask.chartPlace()]);

  function ranks(palette) {
    const board = ask.board();
    const title = `Critical difference, ${pretty(state.metric)}`;
    const found = board && board.ranking;
    if (!found || found.why) return nothing("ranks", title, found ? found.why : "There are no runs of this choice.");
    const names = found.learners.map((m) => ask.marked(m));
    return {
      id: "ranks",
      title,
      found: { names, values: found.ranks, groups: found.groups, difference: found.difference },
      colours: found.learners.map((m) => familyColour(m, palette)),
      reference: found.learners.indexOf(raw.reference),
      paint: paint.ranks,
      table: () => ({ header: ["learner", "mean rank"], rows: names.map((name, k) => [name, found.ranks[k]]) }),
    };
  }

  function beliefs() {
    const board = ask.board();
    const against = raw.reference === null ? "" : raw.learners[raw.reference].title;
    const title = `Against ${against}, ${pretty(state.metric)}, ${state.where === "all" ? "over data sets" : where()}`;
    if (!board || raw.reference === null) return nothing("beliefs", title, "There is no reference learner to compare with.");
    const found = ask
      .learners()
      .map((m) => ({ m, name: ask.marked(m), pair: state.where === "all" ? board.over[m] : board.belief[m][state.where] }))
      .filter((one) => one.pair)
      .map(({ name, pair: [better, equal] }) => ({
        name,
        chances: [better, equal, Math.max(0, 1000 - better - equal)].map((share) => share / 1000),
      }))
      .sort((a, b) => b.chances[0] - b.chances[2] - (a.chances[0] - a.chances[2]));
    if (!found.length) return nothing("beliefs", title, "Too few data sets or seeds in common with the reference.");
    return {
      id: "beliefs",
      title,
      found,
      paint: paint.beliefs,
      table: () => ({
        header: ["learner", "better", "practically equal", "worse"],
        rows: found.map((one) => [one.name, ...one.chances]),
      }),
    };
  }

  function tradeoff(palette) {
    const unit = state.cost === "seconds" ? "seconds of training a run" : "MiB a run";
    const title = `F1 against ${unit} on ${ask.device()}, ${where()}`;
    const points = ask
      .learners()
      .map((m) => ({ m, name: ask.marked(m), cost: ask.cost(m, state.cost), value: 100 * ask.value(m, "f1") }))
      .filter((one) => one.cost > 0 && Number.isFinite(one.value));
    if (!points.length) {
      const why = "No learner was measured on all of these data sets on this device. Choose a single data set.";
      return { ...nothing("tradeoff", title, why), after: () => ask.tellNumbers([]) };
    }
    const beats = (a, b) => a.value >= b.value && a.cost <= b.cost && (a.value > b.value || a.cost < b.cost);
    for (const one of points)
      one.best = !raw.learners[one.m].truth && !points.some((other) => !raw.learners[other.m].truth && beats(other, one));
    // a few that fail must not squeeze the others together: those far below stand at the lower edge, with their value
    const values = points.map((one) => one.value);
    const floor = lowest(values);
    for (const one of points) {
      one.y = Math.max(one.value, floor);
      one.below = one.value < floor;
    }
    const logs = points.map((one) => Math.log10(one.cost));
    const x = limits([logs], 0.3);
    const marks = [];
    const [first, last] = [Math.floor(x.min), Math.ceil(x.max)];
    for (let power = first; power <= last; power++)
      for (const factor of last - first > 3 ? [1] : [1, 2, 5]) marks.push(Math.log10(factor) + power);
    const names = {
      kind: "labels",
      x: logs,
      y: points.map((one) => one.y),
      text: points.map((one) => (one.below ? `${one.name} ${one.value.toFixed(1)}` : one.name)),
      first: points.map((one) => one.best),
      colour: palette.ink,
      line: palette.plain,
    };
    return {
      id: "tradeoff",
      title,
      after: () => ask.tellNumbers(names.numbered),
      x: {
        label: unit,
        ...x,
        ticks: marks.filter((mark) => mark >= x.min && mark <= x.max),
        tell: (value) => Number((10 ** value).toPrecision(2)).toString(),
      },
      y: { label: "F1 in percent", ...limits([points.map((one) => one.y)], 2) },
      layers: [
        ...points.map((one, k) => ({
          kind: one.below ? "down" : "point",
          x: logs[k],
          y: one.y,
          colour: familyColour(one.m, palette),
          ring: one.best ? palette.accent : palette.paper,
          radius: one.best ? 6.5 : 5,
        })),
        names,
      ],
      table: () => ({
        header: ["learner", unit, "F1 in percent", "beaten by none"],
        rows: points.map((one) => [one.name, one.cost, one.value, one.best ? "yes" : "no"]),
      }),
      trail: {
        x: logs,
        y: points.map((one) => one.y),
        tell: (k) => [points[k].name, `F1 ${points[k].value.toFixed(2)}`, `${short(points[k].cost)} ${unit}`],
      },
    };
  }

  // From where on up points are drawn to scale: all of them, unless a wide gap parts some of the lower half from the rest.
  function lowest(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const most = sorted[sorted.length - 1];
    let cut = 0;
    for (let k = 1; k <= sorted.length / 2; k++)
      if (sorted[k] - sorted[k - 1] > 0.4 * (most - sorted[k - 1])) cut = k;
    return cut ? sorted[cut] - 0.15 * (most - sorted[cut]) : sorted[0];
  }

  // One line per learner drawn over conditions that are given as [position, condition].
  function overConditions(id, name, x, spots, palette) {
    const places = ask.common(spots.map(([, condition]) => condition));
    const names = [places].flat().map((d) => raw.datasets[d]);
    const over = Array.isArray(places) ? `mean over ${names.length} data sets` : names[0];
    const title = `${name}, ${Array.isArray(places) ? `mean over ${names.join(", ")}` : names[0]}`;
    const lines = ask.drawn().map((m, k) => ({
      name: ask.marked(m),
      y: (isShare(state.metric) ? hundred : (values) => values)(
        spots.map(([, condition]) => ask.value(m, state.metric, condition, places)),
      ),
      ...drawnStyle(k, palette),
    }));
    const at = spots.map(([place]) => place);
    if (!lines.some((line) => line.y.some(Number.isFinite)))
      return nothing(id, title, "No runs of the learners drawn; try the selection own.");
    return {
      id,
      title,
      x: { ...x, label: `${x.label}; ${over}` },
      y: { label: `${pretty(state.metric)}${isShare(state.metric) ? " in percent" : ""}`, ...limits(lines.map((line) => line.y), 2) },
      layers: lines.flatMap((line) => {
        const kept = at.map((_, k) => k).filter((k) => Number.isFinite(line.y[k]));
        const [xs, ys] = [kept.map((k) => at[k]), kept.map((k) => line.y[k])];
        return [
          { kind: "line", x: xs, y: ys, colour: line.colour, dash: line.dash, name: line.name },
          { kind: "dots", x: xs, y: ys, colour: line.colour, radius: 3 },
        ];
      }),
      table: () => ({
        header: ["condition", ...lines.map((line) => line.name)],
        rows: spots.map(([, condition], k) => [raw.conditions[condition].name, ...lines.map((line) => line.y[k])]),
      }),
      trail: {
        x: at,
        tell: (k) => [
          raw.conditions[spots[k][1]].name,
          ...lines.map((line) => `${line.name} ${Number.isFinite(line.y[k]) ? line.y[k].toFixed(2) : "–"}`),
        ],
      },
    };
  }

  // Whether a condition differs from the one shown in how positives were labelled only.
  const isBeside = (one) => one.setting === raw.conditions[state.condition].setting;

  function labels(palette) {
    const spots = raw.conditions
      .map((one, place) => [Math.log10(one.frequency), place, one])
      .filter(([, , one]) => one.alias === "S1" && isBeside(one))
      .sort((a, b) => a[0] - b[0]);
    const x = limits([spots.map(([at]) => at)], 0.2);
    const marks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9].map(Math.log10).filter((mark) => mark >= x.min && mark <= x.max);
    const axis = {
      label: "label frequency",
      ...x,
      ticks: marks.length > 1 ? marks : spots.map(([at]) => at),
      tell: (value) => Number((10 ** value).toPrecision(2)).toString(),
    };
    return overConditions("labels", "Label efficiency", axis, spots, palette);
  }

  function bias(palette) {
    const spots = raw.conditions
      .map((one, place) => [0, place, one])
      .filter(([, , one]) => one.frequency === state.frequency && isBeside(one))
      .map(([, place], k) => [k, place]);
    const axis = {
      label: `labelling at ${state.frequency}`,
      min: -0.3,
      max: spots.length - 0.7,
      ticks: spots.map(([at]) => at),
      tell: (value) => {
        const { alias, name } = raw.conditions[spots[Math.round(value)][1]];
        return spots.filter(([, place]) => raw.conditions[place].alias === alias).length > 1 ? name : alias;
      },
    };
    return overConditions("bias", "Biased labels", axis, spots, palette);
  }

  function learning(palette) {
    const run = ask.run();
    const title = "Learning curve";
    if (!run || !run.curve) return nothing("learning", title, "This run has a single epoch: there is nothing to draw.");
    const { epoch, accuracy, f1, name } = run.curve;
    const thousandth = (column) => column.map((value) => (value === null ? NaN : value / 10));
    const seen = [thousandth(accuracy), thousandth(f1)];
    // a loss has a size of its own: drawn from the bottom to the top of the picture
    let criterion = run.curve.criterion.map((value) => (value === null ? NaN : value));
    const isShare = criterion.every((value) => !Number.isFinite(value) || (value >= -0.5 && value <= 1.5));
    const told = criterion;
    if (isShare) criterion = hundred(criterion);
    else {
      const own = limits([criterion], 0);
      const there = limits(seen, 0);
      criterion = criterion.map((value) => there.min + ((value - own.min) / (own.max - own.min || 1)) * (there.max - there.min));
    }
    const chosen = (selection) => {
      const place = run.chosen[raw.selections.indexOf(selection)];
      return place === null || place === undefined ? NaN : run.epochs[place];
    };
    return {
      id: "learning",
      title: `Learning curve, seed ${run.s}`,
      x: { label: "epoch", min: epoch[0], max: Math.max(epoch[epoch.length - 1], epoch[0] + 1) },
      y: { label: "percent", ...limits([criterion, ...seen], 2) },
      layers: [
        { kind: "upright", at: chosen(state.selection), colour: palette.accent, name: state.selection === "last" ? "last epoch" : `chosen by ${raw.selection_titles[state.selection].replace(/^each learner's /, "its ")}` },
        {
          kind: "upright",
          at: chosen("oracle_f1"),
          colour: palette.alarm,
          dash: "3 3",
          name: "oracle F1 (true labels)",
        },
        { kind: "line", x: epoch, y: criterion, colour: palette.prior, dash: "5 3", name: `${name.replace(/_/g, " ")} (validation${isShare ? "" : ", rescaled"})` },
        { kind: "line", x: epoch, y: seen[0], colour: palette.series[0], name: "test accuracy" },
        { kind: "line", x: epoch, y: seen[1], colour: palette.series[1], name: "test F1" },
      ].filter((layer) => layer.kind !== "upright" || Number.isFinite(layer.at)),
      table: () => ({
        header: ["epoch", name, "test accuracy", "test F1"],
        rows: epoch.map((at, k) => [at, told[k], seen[0][k] / 100, seen[1][k] / 100]),
      }),
      trail: {
        x: epoch,
        tell: (k) => [
          `epoch ${epoch[k]}`,
          `${name.replace(/_/g, " ")} ${short(told[k])}`,
          `test accuracy ${seen[0][k].toFixed(1)}`,
          `test F1 ${seen[1][k].toFixed(1)}`,
        ],
      },
    };
  }

  function density(palette) {
    const run = ask.run();
    const title = "Scores of test rows";
    if (!run || !run.density) return nothing("density", title, run ? run.undrawn : "No run is chosen.");
    const { low, high, shares } = run.density;
    const bins = shares[0].length;
    const edges = Array.from({ length: bins + 1 }, (_, k) => low + ((high - low) * k) / bins);
    const middle = edges.slice(0, -1).map((left, k) => (left + edges[k + 1]) / 2);
    const colours = [palette.series[0], palette.series[2], palette.alarm];
    const most = Math.max(...shares.flat(), 1) / 10;
    return {
      id: "density",
      title: `Scores of test rows, seed ${run.s}`,
      x: { label: "score", min: low, max: high },
      y: { label: "percent of the rows of a kind", min: 0, max: 1.08 * most },
      layers: [
        ...raw.kinds.map((kind, k) => ({ kind: "bars", edges, y: shares[k].map((share) => share / 10), colour: colours[k], opacity: 0.22, name: kind })),
        ...raw.kinds.map((kind, k) => ({ kind: "line", x: middle, y: shares[k].map((share) => share / 10), colour: colours[k] })),
        ...(low < 0 && high > 0 ? [{ kind: "upright", at: 0, colour: palette.ink, dash: "4 3", name: "decision" }] : []),
      ],
      table: () => ({
        header: ["from", "to", ...raw.kinds],
        rows: middle.map((_, k) => [edges[k], edges[k + 1], ...shares.map((own) => own[k] / 1000)]),
      }),
      trail: {
        x: middle,
        tell: (k) => [
          `scores ${short(edges[k])} to ${short(edges[k + 1])}`,
          ...raw.kinds.map((kind, which) => `${kind} ${(shares[which][k] / 10).toFixed(1)}%`),
        ],
      },
    };
  }

  return { builders: { ranks, beliefs, tradeoff, labels, bias, learning, density }, percent, pretty };
};
