"use strict";
// The page of an audit: which positives got labels, and how wide intervals would be with more rows.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const { short, three } = words;
  const finite = (value) => (value === null ? NaN : value);

  const builders = {
    "labelling-curve": (palette) => labellingCurve(raw.curve, palette),
    forecast: (palette) => {
      const { budgets, widths, spent } = raw.forecast;
      const metrics = Object.keys(widths);
      const across = budgets.map((rows) => Math.log10(rows));
      const most = Math.max(0.1, ...metrics.flatMap((name) => widths[name].map((w) => w ?? 0)));
      return {
        id: "forecast",
        title: "What more rows would give",
        x: { label: "rows checked in all", min: across[0], max: Math.max(across[across.length - 1], across[0] + 0.1), ticks: across, tell: (v) => `${Math.round(10 ** v)}` },
        y: { label: "width of the interval", min: 0, max: Math.min(1, most * 1.08) },
        layers: [
          { kind: "upright", at: Math.log10(spent), colour: palette.accent, dash: "3 3", name: `checked so far: ${spent}` },
          ...metrics.map((name, k) => ({ kind: "line", x: across, y: widths[name].map(finite), colour: palette.series[k % 6], name: raw.forecast.titles[name] })),
        ],
        table: () => ({ header: ["rows", ...metrics.map((name) => raw.forecast.titles[name])], rows: budgets.map((rows, k) => [rows, ...metrics.map((name) => finite(widths[name][k]))]) }),
        trail: { x: across, tell: (k) => [`${budgets[k]} rows`, ...metrics.map((name) => `${raw.forecast.titles[name]} ${short(finite(widths[name][k]))}`)] },
      };
    },
  };
  for (const figure of document.querySelectorAll("figure[data-chart]")) figures.mount(figure, builders[figure.dataset.chart]);
  for (const one of figures.all) one.measure();
  figures.drawAll();
  return { raw };
})();
