"use strict";
// The page of a comparison: each model, and each difference, over the class priors that were traced.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const { short, three } = words;
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const state = { metric: raw.metric };
  const dashes = ["", "7 3", "2 3"];
  const style = (k, palette) => ({ colour: palette.series[k % 6], dash: dashes[Math.floor(k / 6) % 3] });
  const chosen = () => raw.metrics[state.metric];
  const numbers = (values) => values.map((value) => (value === null ? NaN : value));

  function limits(columns, low = Infinity, high = -Infinity) {
    for (const column of columns)
      for (const value of column)
        if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (!(high > low))
      [low, high] = [(Number.isFinite(low) ? low : 0) - 0.05, (Number.isFinite(high) ? high : 0) + 0.05];
    const room = 0.06 * (high - low);
    return { min: low - room, max: high + room };
  }

  const across = () => {
    const { priors } = chosen();
    const [first, last] = [priors[0], priors[priors.length - 1]];
    return { label: "class prior", min: first, max: last > first ? last : first + 0.01 };
  };

  // A metric cannot leave its limits; a recovered one may, by chance or because the class prior is too high. It is cut
  // there, and the chart says so.
  const within = (value) => Math.min(Math.max(value, chosen().lowest ?? -Infinity), chosen().highest ?? Infinity);
  const leaves = (value) => Math.abs(within(value) - value) > 1e-9;
  function cutAt(palette) {
    const { priors, values } = chosen();
    const outside = priors.map((_, k) => raw.models.some((model) => leaves(numbers(values[model])[k])));
    const first = outside.indexOf(true);
    if (first < 0) return [];
    const from = first ? priors[first - 1] : priors[0];
    const to = priors[outside.lastIndexOf(true)];
    return [{ kind: "hatched", from, to, colour: palette.alarm, name: "cut at its limit" }];
  }

  const coversAll = () => {
    const { min, max } = across();
    return raw.prior.high - raw.prior.low > 0.98 * (max - min);
  };
  const prior = (palette) => [
    ...(raw.prior.low !== null && raw.prior.high > raw.prior.low && !coversAll()
      ? [
          {
            kind: "between",
            from: raw.prior.low,
            to: raw.prior.high,
            colour: palette.prior,
            opacity: 0.15,
            name: raw.prior.confidence === null ? "given range" : `${Math.round(100 * raw.prior.confidence)}% interval`,
          },
        ]
      : []),
    { kind: "upright", at: raw.prior.value, colour: palette.prior, dash: "3 3", name: "report's class prior" },
  ];
  const crossings = (palette) =>
    chosen().crossings.map((crossing, k) => ({
      kind: "upright",
      at: crossing.class_prior,
      colour: palette.accent,
      width: 1.5,
      name: k ? undefined : "models change places",
    }));

  // Bands are known at every second class prior; between two of them they are drawn straight.
  function bandsOf() {
    const { priors, band } = chosen();
    if (!band) return [];
    return raw.models.map((model) => {
      const known = band.low[model].map((low, k) => [priors[2 * k], low, band.high[model][k]]).filter(([, low]) => low !== null);
      return { x: known.map(([at]) => at), low: known.map(([, low]) => low), high: known.map(([, , high]) => high) };
    });
  }
  const differencesOf = () => {
    const { pairs, values } = chosen();
    return pairs.map(([first, second]) => {
      const [one, other] = [numbers(values[first]), numbers(values[second])];
      return one.map((value, k) => value - other[k]);
    });
  };

  const builders = {
    models: (palette) => {
      const { priors, values, title } = chosen();
      const columns = raw.models.map((model) => numbers(values[model]).map(within));
      const bands = bandsOf();
      return {
        id: "models",
        title: `${title} of each model`,
        x: across(),
        y: { label: title, ...limits([...columns, ...bands.flatMap((band) => [band.low, band.high])]) },
        layers: [
          ...prior(palette),
          ...cutAt(palette),
          ...bands.map((band, k) => ({
            ...{ kind: "area", colour: style(k, palette).colour, opacity: 0.14 },
            ...{ x: [...band.x, ...band.x.slice().reverse()], y: [...band.low, ...band.high.slice().reverse()] },
            name: k ? undefined : `${Math.round(100 * raw.confidence)}% bands`,
          })),
          ...crossings(palette),
          ...raw.models.map((model, k) => ({
            kind: "line",
            x: priors,
            y: columns[k],
            ...style(k, palette),
            name: raw.short_names[k],
          })),
        ],
        table: () => ({
          header: ["class prior", ...raw.models],
          rows: priors.map((at, k) => [at, ...columns.map((column) => column[k])]),
        }),
        trail: {
          x: priors,
          tell: (k) => [
            `class prior ${short(priors[k])}`,
            ...raw.short_names.map((name, m) => `${name} ${three(columns[m][k])}`),
          ],
        },
      };
    },
    differences: (palette) => {
      const { priors, pairs, title, sign } = chosen();
      const columns = differencesOf();
      const whiskers = chosen().intervals.map((ends, k) => ({ ends, k })).filter(({ ends }) => ends);
      const name = ([first, second]) =>
        `${raw.short_names[raw.models.indexOf(first)]} − ${raw.short_names[raw.models.indexOf(second)]}`;
      return {
        id: "differences",
        title: `Difference in ${title}`,
        x: across(),
        y: {
          label: `${pairs.length === 1 ? raw.short_names[raw.models.indexOf(pairs[0][0])] : "the first is"} better ${sign > 0 ? "above" : "below"} 0`,
          ...limits([...columns, ...whiskers.map(({ ends }) => ends)], 0, 0),
        },
        layers: [
          ...prior(palette),
          {
            kind: "line",
            x: [across().min, across().max],
            y: [0, 0],
            colour: palette.plain,
            width: 1,
            dash: "2 4",
            name: "no difference",
          },
          ...columns.map((column, k) => ({
            kind: "line",
            x: priors,
            y: column,
            ...style(k, palette),
            name: name(pairs[k]),
          })),
          ...whiskers.map(({ ends, k }) => ({
            ...{ kind: "whiskers", x: [raw.prior.value + ((k - (whiskers.length - 1) / 2) * (priors.at(-1) - priors[0])) / 90] },
            ...{ low: [ends[0]], high: [ends[1]], colour: style(k, palette).colour, width: 4, opacity: 0.45 },
          })),
          ...crossings(palette),
          ...chosen().crossings.map((crossing) => ({
            kind: "point",
            x: crossing.class_prior,
            y: 0,
            colour: palette.accent,
            ring: palette.paper,
          })),
        ],
        table: () => ({
          header: ["class prior", ...pairs.map(name)],
          rows: priors.map((at, k) => [at, ...columns.map((column) => column[k])]),
        }),
        trail: {
          x: priors,
          tell: (k) => [
            `class prior ${short(priors[k])}`,
            ...pairs.map((pair, m) => `${name(pair)} ${columns[m][k] > 0 ? "+" : ""}${short(columns[m][k])}`),
          ],
        },
      };
    },
  };

  builders.worth = (palette) => {
    const { rates, pairs, track, class_prior: own, cost_ratio: asked } = raw.worth;
    const [from, to] = track.map(Math.log10);
    const ratios = Array.from({ length: 81 }, (_, k) => 10 ** (from + ((to - from) * k) / 80));
    const x = ratios.map(Math.log10);
    const worth = ({ hits, flagged }, ratio) => {
      const odds = ratio / (1 - ratio);
      return (1 + odds) * hits - odds * flagged;
    };
    const columns = rates.map((model) => ratios.map((ratio) => worth(model, ratio)));
    const all = ratios.map((ratio) => own - (ratio / (1 - ratio)) * (1 - own));
    const top = Math.max(...columns.flat(), 1e-9);
    return {
      id: "worth",
      title: "Net benefit of each model",
      x: chart.logAxis("cost ratio: price of a flag over worth of a hit", from, to),
      y: { label: "net benefit, hits per row", min: -0.35 * top, max: 1.1 * top },
      layers: [
        ...pairs
          .filter((pair) => pair.low !== null && pair.low < pair.high)
          .map((pair, k) => ({
            ...{ kind: "between", colour: palette.accent, opacity: 0.1, name: k ? undefined : "interval of a crossing" },
            ...{ from: Math.log10(Math.max(pair.low, 1e-12)), to: Math.log10(pair.high) },
          })),
        { kind: "line", x: [from, to], y: [0, 0], colour: palette.plain, width: 1.5, name: "flag none" },
        { kind: "line", x, y: all, colour: palette.plain, width: 1.75, dash: "6 4", name: "flag all" },
        ...columns.map((y, k) => ({ kind: "line", x, y, ...style(k, palette), name: raw.short_names[k] })),
        { kind: "upright", at: Math.log10(asked), colour: palette.prior, dash: "3 3", name: "cost ratio asked for" },
        ...pairs
          .filter((pair) => pair.ratio !== null)
          .map((pair, k) => ({
            ...{ kind: "upright", colour: palette.accent, width: 1.5, name: k ? undefined : "worth the same" },
            at: Math.log10(pair.ratio),
          })),
      ],
      table: () => ({
        header: ["cost ratio", ...raw.models, "flag all", "flag none"],
        rows: ratios.map((ratio, k) => [ratio, ...columns.map((column) => column[k]), all[k], 0]),
      }),
      trail: {
        x,
        tell: (k) => [
          `cost ratio ${short(ratios[k])}`,
          ...raw.short_names.map((name, m) => `${name} ${short(columns[m][k])}`),
          `flag all ${short(all[k])}`,
        ],
      },
    };
  };

  const keep = () => pageState.keep(() => ({ metric: state.metric === raw.metric ? null : state.metric }));

  function refresh() {
    for (const chip of $$("[data-metric-choice]"))
      chip.setAttribute("aria-pressed", String(chip.dataset.metricChoice === state.metric));
    for (const section of $$("[data-for-metric]")) section.hidden = section.dataset.forMetric !== state.metric;
    figures.drawAll();
  }

  for (const chip of $$("[data-metric-choice]")) {
    chip.addEventListener("click", () => {
      state.metric = chip.dataset.metricChoice;
      keep();
      refresh();
    });
  }
  const wanted = pageState.text("metric");
  if (wanted && Object.hasOwn(raw.metrics, wanted)) state.metric = wanted;
  for (const figure of $$("figure[data-chart]")) figures.mount(figure, builders[figure.dataset.chart]);
  for (const one of figures.all) one.measure();
  refresh();
  return { raw, state };
})();
