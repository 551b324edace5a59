"use strict";
// The page of a calibration: the diagram at any class prior.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const { short, three } = words;
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const world = { totals: raw.totals, scenario: raw.scenario, labelNoise: raw.label_noise };
  const state = { prior: raw.prior.unlabelled, scale: null }; // scale: "even" or "log"; null is what suits the rows
  const atHome = () => state.prior === raw.prior.unlabelled;
  let current = null;

  const scale = () => reliability.scaleFor(current, state.scale);

  const builders = {
    reliability: (palette) => reliability.spec(raw.bins, current, atHome() ? raw.ends : null, palette, three, scale()),
    scores: (palette) => {
      const axis = scale();
      const { edges } = raw.bins;
      const places = edges.map(axis.of);
      const density = (mass, b) => (places[b + 1] > places[b] ? mass / (places[b + 1] - places[b]) : 0);
      const densities = current.population.map(density);
      return {
        id: "scores",
        title: "Where the scores are",
        ratio: 0.86,
        x: axis.axis("score"),
        y: { label: axis.name === "log" ? "share of rows per power of ten" : "density of the population", min: 0, max: Math.max(...densities, 1e-9) * 1.08 },
        layers: [
          { kind: "bars", edges: places, y: densities, colour: palette.main, opacity: 0.4, name: "population" },
          { kind: "upright", at: axis.of(current.meanScore), colour: palette.accent, width: 2, name: "mean score" },
          { kind: "upright", at: axis.of(current.prior), colour: palette.prior, width: 2, dash: "4 3", name: "class prior" },
        ],
        table: () => ({
          header: ["score from", "score to", "share of the population"],
          rows: current.population.map((mass, b) => [edges[b], edges[b + 1], mass]),
        }),
        trail: {
          x: densities.map((_, b) => (places[b] + places[b + 1]) / 2),
          tell: (k) => [
            `score ${short(edges[k])} to ${short(edges[k + 1])}`,
            `${(100 * current.population[k]).toPrecision(3)}% of rows`,
          ],
        },
      };
    },
    map: (palette) => {
      const even = { of: (value) => value, axis: (label) => ({ label, min: raw.map.x[0], max: raw.map.x.at(-1) }) };
      const axis = raw.map.probabilities && raw.bins ? scale() : even;
      const up = axis === even ? { of: even.of, axis: (label) => ({ label, min: 0, max: 1 }) } : axis;
      const [x, y] = [raw.map.x.map(axis.of), raw.map.y.map(up.of)];
      const diagonal = [0, 1].map(axis.of);
      return {
        id: "map",
        title: "The fitted map",
        ratio: 0.62,
        x: axis.axis("score"),
        y: up.axis("probability after the map"),
        layers: [
          ...(raw.map.probabilities
            ? [{ kind: "line", x: diagonal, y: diagonal, colour: palette.plain, width: 1, dash: "2 4", name: "unchanged" }]
            : []),
          { kind: "line", x, y, colour: palette.main, width: 2.5, name: "fitted map" },
        ],
        table: () => ({ header: ["score", "probability"], rows: raw.map.x.map((x, k) => [x, raw.map.y[k]]) }),
        trail: { x, y, tell: (k) => [`score ${short(raw.map.x[k])}`, `becomes ${short(raw.map.y[k])}`] },
      };
    },
  };

  function refresh() {
    const given = {
      unlabelledPrior: state.prior,
      labelNoise: world.labelNoise,
      scenario: state.prior === 0 ? "single-set" : world.scenario,
    };
    if (raw.bins) current = reliability.evaluate(raw.bins, world.totals, given);
    result.current = current;
    if (current)
      for (const chip of $$("[data-scale]")) chip.setAttribute("aria-pressed", String(chip.dataset.scale === scale().name));
    if (control) {
      control.show(state.prior);
      for (const element of $$("[data-live-error]")) {
        element.textContent = current.error.toFixed(3);
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

  for (const chip of $$("[data-scale]")) {
    chip.addEventListener("click", () => {
      state.scale = chip.dataset.scale;
      refresh();
    });
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
