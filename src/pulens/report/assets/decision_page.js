"use strict";
// The page of a decision: three sliders, and what follows from them.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const { unpack } = priorControl;
  const { short, percent, rows } = words;
  const data = {
    totals: raw.totals,
    scenario: raw.scenario,
    labelNoise: raw.label_noise,
    counts: {
      thresholds: unpack(raw.counts.thresholds),
      labelled: unpack(raw.counts.labelled),
      unlabelled: unpack(raw.counts.unlabelled),
      negative: unpack(raw.counts.negative),
    },
  };
  const { thresholds } = data.counts;
  const size = thresholds.length;
  const home = {
    prior: raw.prior.unlabelled,
    index: raw.threshold === null ? 0 : recovery.indexAt(thresholds, raw.threshold),
    ratio: raw.decision.ratio,
  };
  const state = { ...home };
  const control = priorControl.mount(raw.prior, data, (prior) => moveTo({ prior }));
  const thresholdAt = (index) => (index === 0 ? Infinity : thresholds[index - 1]);
  const samePrior = () => state.prior === home.prior;
  const indexHome = () => state.index === home.index;
  const shownThreshold = () => (indexHome() && raw.threshold !== null ? raw.threshold : thresholdAt(state.index));
  const atHome = () => samePrior() && indexHome() && state.ratio === home.ratio;
  const contradicted = () => !shared.current.impossible.byChance && !samePrior();

  const shared = { raw, data, state, home, thresholdAt, shownThreshold, samePrior, indexHome, contradicted, moveTo };
  const card = decisionCard(shared);

  // At the threshold in use: the report's while nothing that they read has moved, the page's own elsewhere.
  function fillTiles() {
    const { points, use } = card.found;
    const at = state.index;
    const [flagged, hits] = [points.flagged[at], points.hits[at]];
    const of = raw.volume ?? raw.rows;
    const now = {
      cost: [use.value, Number(use.value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 })],
      flagged: [flagged, percent(flagged)],
      hits: [hits * of, rows(hits * of)],
      recall: [hits / points.prior, words.three(hits / points.prior)],
      precision: [hits / flagged, flagged > 0 ? words.three(hits / flagged) : "–"],
    };
    const still = (name) => samePrior() && indexHome() && (name !== "cost" || state.ratio === home.ratio);
    for (const tile of $$("[data-tile]")) {
      const name = tile.dataset.tile;
      const reach = tile.nextElementSibling;
      tile.dataset.report ||= tile.textContent;
      reach.dataset.report ??= reach.textContent;
      tile.textContent = still(name) ? tile.dataset.report : contradicted() ? "–" : now[name][1];
      tile.dataset.value = contradicted() ? "" : String(now[name][0]);
      reach.textContent = still(name) ? reach.dataset.report : "";
    }
    const parts = { found: hits, alarms: flagged - hits, missed: points.prior - hits, rest: 1 - flagged - points.prior + hits };
    for (const [name, share] of Object.entries(parts)) {
      $(`[data-list=${name}]`).style.width = `${100 * Math.max(share, 0)}%`;
      $(`[data-list-count=${name}]`).textContent = Math.round(Math.max(share, 0) * of).toLocaleString("en-US");
    }
    $("#list-of").textContent = `of ${Math.round(of).toLocaleString("en-US")} rows`;
  }

  function fillControls() {
    control.show(state.prior);
    $("#threshold").value = String(size - state.index + 1);
    $("#threshold").setAttribute("aria-valuetext", `threshold ${words.six(shownThreshold())}`);
    if (document.activeElement !== $("#threshold-number"))
      $("#threshold-number").value = Number.isFinite(shownThreshold()) ? words.six(shownThreshold()) : "none";
    $("#threshold-note").textContent = `${percent(card.found.points.flagged[state.index])} of the population flagged`;
    $("#reset").disabled = atHome();
    $("#moved").hidden = atHome();
    const warning = $("#live-warning");
    warning.hidden = !contradicted();
    warning.classList.toggle("alarming", contradicted());
    warning.textContent = "The data contradict this class prior: it is too high, or labels are not random.";
  }

  function refresh() {
    const scenario = state.prior === 0 ? "single-set" : data.scenario;
    const given = { unlabelledPrior: state.prior, labelNoise: data.labelNoise, scenario };
    const tables = recovery.tablesOf(data.counts, data.totals, given);
    shared.current = { given, tables, impossible: recovery.impossibleRates(data.counts, data.totals, tables) };
    card.refresh();
    fillTiles();
    fillControls();
    figures.drawAll();
  }

  function moveTo(target) {
    if ("prior" in target) state.prior = control.clamp(target.prior);
    if ("index" in target) state.index = Math.min(Math.max(target.index, 0), size);
    if ("ratio" in target) state.ratio = card.clampRatio(target.ratio);
    pageState.soon(() => {
      refresh();
      pageState.keep(kept);
    });
  }

  const kept = () => ({
    prior: samePrior() ? null : control.populationOf(state.prior),
    threshold: indexHome() ? null : thresholdAt(state.index),
    cost: state.ratio === home.ratio ? null : state.ratio,
  });

  function readState() {
    const [prior, threshold, ratio] = ["prior", "threshold", "cost"].map(pageState.number);
    Object.assign(state, home);
    if (Number.isFinite(prior)) {
      const share = control.clamp(control.unlabelledOf(prior));
      state.prior = Math.abs(share - home.prior) < 1e-12 ? home.prior : share;
    }
    if (Number.isFinite(threshold)) state.index = Math.max(1, recovery.indexAt(thresholds, threshold));
    if (ratio > 0 && ratio < 1) state.ratio = card.clampRatio(ratio);
  }

  const slider = $("#threshold");
  slider.min = "1";
  slider.max = String(size + 1); // the last step flags no row
  slider.addEventListener("input", () => moveTo({ index: size - Number(slider.value) + 1 }));
  $("#threshold-number").addEventListener("change", (event) => {
    const typed = Number.parseFloat(event.target.value);
    event.target.blur();
    if (Number.isFinite(typed)) moveTo({ index: recovery.indexAt(thresholds, typed) });
    else fillControls();
  });
  for (const button of $$("#reset, #moved button")) button.addEventListener("click", () => moveTo(home));
  card.start();
  for (const figure of $$("figure[data-chart]")) figures.mount(figure, card.builders[figure.dataset.chart]);
  addEventListener("hashchange", () => {
    readState();
    refresh();
  });
  readState();
  for (const one of figures.all) one.measure();
  refresh();
  return { raw, data, state, home, card, moveTo, shared };
})();
