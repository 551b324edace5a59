"use strict";
// The page of a calibration: the diagram at any class prior.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const { three } = words;
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const world = { totals: raw.totals, scenario: raw.scenario, labelNoise: raw.label_noise };
  const state = { prior: raw.prior.unlabelled };
  const atHome = () => state.prior === raw.prior.unlabelled;
  let current = null;

  const builders = {
    reliability: (palette) => reliability.spec(raw.bins, current, atHome() ? raw.ends : null, palette, three),
    scores: (palette) => {
      const { edges } = raw.bins;
      const densities = current.population.map((mass, b) =>
        edges[b + 1] > edges[b] ? mass / (edges[b + 1] - edges[b]) : 0,
      );
      return {
        id: "scores",
        title: "Where the scores are",
        x: { label: "score", min: 0, max: 1 },
        y: { label: "density of the population", min: 0, max: Math.max(...densities, 1e-9) * 1.08 },
        layers: [
          { kind: "bars", edges, y: densities, colour: palette.main, opacity: 0.4, name: "population" },
          { kind: "upright", at: current.meanScore, colour: palette.accent, width: 2, name: "mean score" },
          { kind: "upright", at: current.prior, colour: palette.prior, width: 2, dash: "4 3", name: "class prior" },
        ],
        table: () => ({
          header: ["score from", "score to", "share of the population"],
          rows: current.population.map((mass, b) => [edges[b], edges[b + 1], mass]),
        }),
        trail: {
          x: densities.map((_, b) => (edges[b] + edges[b + 1]) / 2),
          tell: (k) => [
            `score ${three(edges[k])} to ${three(edges[k + 1])}`,
            `${(100 * current.population[k]).toPrecision(3)}% of rows`,
          ],
        },
      };
    },
    map: (palette) => ({
      id: "map",
      title: "The fitted map",
      ratio: 0.86,
      x: { label: "score", min: raw.map.x[0], max: raw.map.x[raw.map.x.length - 1] },
      y: { label: "probability after the map", min: 0, max: 1 },
      layers: [
        ...(raw.map.probabilities
          ? [{ kind: "line", x: [0, 1], y: [0, 1], colour: palette.plain, width: 1, dash: "2 4", name: "unchanged" }]
          : []),
        { kind: "line", x: raw.map.x, y: raw.map.y, colour: palette.main, width: 2.5, name: raw.map.method },
      ],
      table: () => ({ header: ["score", "probability"], rows: raw.map.x.map((x, k) => [x, raw.map.y[k]]) }),
      trail: {
        x: raw.map.x,
        y: raw.map.y,
        tell: (k) => [`score ${three(raw.map.x[k])}`, `becomes ${three(raw.map.y[k])}`],
      },
    }),
  };

  function refresh() {
    const given = {
      unlabelledPrior: state.prior,
      labelNoise: world.labelNoise,
      scenario: state.prior === 0 ? "single-set" : world.scenario,
    };
    if (raw.bins) current = reliability.evaluate(raw.bins, world.totals, given);
    result.current = current;
    if (control) {
      control.show(state.prior);
      for (const element of $$("[data-live-error]")) {
        element.textContent = current.error.toFixed(4);
        element.dataset.value = String(current.error);
      }
      for (const element of $$("[data-at-home]")) element.classList.toggle("faded", !atHome());
      document.getElementById("moved").hidden = atHome();
    }
    figures.drawAll();
  }

  function moveTo(prior) {
    state.prior = prior;
    pageState.soon(refresh);
    pageState.keep(() => ({ prior: atHome() ? null : control.populationOf(prior) }));
  }

  const result = { raw, state, current: null, moveTo };
  const control = raw.bins ? priorControl.mount(raw.prior, world, moveTo) : null;
  for (const button of $$("#moved button")) button.addEventListener("click", () => moveTo(raw.prior.unlabelled));
  const wanted = pageState.number("prior");
  if (control && Number.isFinite(wanted)) state.prior = control.clamp(control.unlabelledOf(wanted));
  for (const figure of $$("figure[data-chart]")) figures.mount(figure, builders[figure.dataset.chart]);
  for (const one of figures.all) one.measure();
  refresh();
  return result;
})();
