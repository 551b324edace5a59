"use strict";
// The page of an evaluation: two sliders, and everything that follows from them.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => [...document.querySelectorAll(selector)];

  const { unpack } = priorControl;

  const data = {
    totals: raw.totals,
    scenario: raw.scenario,
    labelNoise: raw.label_noise,
    pairs: raw.pairs,
    missing: raw.thinning.average_precision,
    counts: {
      thresholds: unpack(raw.counts.thresholds),
      labelled: unpack(raw.counts.labelled),
      unlabelled: unpack(raw.counts.unlabelled),
      negative: unpack(raw.counts.negative),
    },
  };
  const { thresholds } = data.counts;
  const size = thresholds.length;
  // those people ask for first come first, in legends and colours
  const order = ["roc_auc", "precision", "recall", "f1", "average_precision"];
  const rank = (metric) => (order.includes(metric.name) ? order.indexOf(metric.name) : order.length);
  raw.metrics.sort((a, b) => rank(a) - rank(b));
  const metricsByName = Object.fromEntries(raw.metrics.map((metric) => [metric.name, metric]));
  const home = {
    prior: raw.prior.unlabelled,
    index: raw.threshold === null ? 0 : recovery.indexAt(thresholds, raw.threshold),
    threshold: raw.threshold,
  };
  const state = { ...home };
  const control = priorControl.mount(raw.prior, data, (prior) => moveTo({ prior }));
  const { populationOf, unlabelledOf } = control;
  let current = null;
  let bounds = null;

  // --- numbers as text ---------------------------------------------------------------------------------------

  const { short, three, percent, rows } = words;
  const thresholdAt = (index) => (index === 0 ? Infinity : thresholds[index - 1]);
  const shownThreshold = () =>
    state.index === home.index && home.threshold !== null ? home.threshold : thresholdAt(state.index);
  const atHome = () => state.prior === home.prior && state.index === home.index;

  // --- values: Python's where the page stands as it was written, the page's own elsewhere ----------------------

  // Where the data contradict the class prior the page recovers nothing: the numbers would be cut at what is possible,
  // and seem certain. The report's own, over possible worlds, stay while nothing that they read has moved.
  const contradicted = () => !current.impossible.byChance || (state.prior === home.prior && raw.labelling !== null);

  function valueOf(name) {
    const metric = metricsByName[name];
    if (atHome()) return metric && metric.value !== null ? metric.value : NaN;
    if (contradicted())
      return metric && metric.reads === "ranking" && state.prior === home.prior ? (metric.value ?? NaN) : null;
    if (name in current.values) return current.values[name];
    // a metric the page cannot compute: it stays true while what it reads has not moved
    const still = metric.reads === "ranking" || state.index === home.index;
    if (still && (!metric.needs_class_prior || state.prior === home.prior)) return metric.value ?? NaN;
    return null;
  }

  // Python's interval, with the class prior's own doubt in it, where the page stands as it was written; elsewhere the
  // sample's alone, at the prior the reader chose.
  function intervalOf(name) {
    const metric = metricsByName[name];
    const still = metric && (metric.reads === "ranking" || state.index === home.index) && state.prior === home.prior;
    if (still) return metric.low === null ? null : metric;
    if (raw.confidence === null || contradicted()) return null;
    if (name === "roc_auc") return areaInterval();
    return (fresh.intervals ||= freshIntervals())[name] || null;
  }

  let fresh = {};
  const totalsDrawn = {}; // by scenario
  let ratesDrawn = { index: -1, rates: null };
  function freshIntervals() {
    const { scenario } = current.given;
    totalsDrawn[scenario] ||= doubt.drawTotals(data.totals, scenario);
    if (ratesDrawn.index !== state.index)
      ratesDrawn = { index: state.index, rates: doubt.drawRates(data.counts, data.totals, state.index) };
    return doubt.intervals(
      data,
      current.given,
      totalsDrawn[scenario],
      ratesDrawn.rates,
      current.values,
      raw.confidence,
      [current.tables.hits[state.index], current.tables.alarms[state.index]],
    );
  }

  function areaInterval() {
    const offsets = raw.area_offsets;
    if (!offsets) return null;
    const step = offsets.priors[1] - offsets.priors[0];
    const place = Math.min(Math.max(state.prior / step, 0), offsets.priors.length - 1);
    const at = Math.min(Math.floor(place), offsets.priors.length - 2);
    const between = (ends) => ends[at] + (place - at) * (ends[at + 1] - ends[at]);
    const value = current.values.roc_auc;
    return {
      low: recovery.clip(value + between(offsets.low)),
      high: recovery.clip(value + between(offsets.high)),
      confidence: raw.confidence,
    };
  }

  function remark(name) {
    const found = intervalOf(name);
    if (!found || found.low === found.high) return "";
    const ends = `${percent(found.low).slice(0, -1)} to ${percent(found.high).slice(0, -1)}`;
    return found.confidence === null
      ? ` (${ends} over the range of the class prior)`
      : ` (${Math.round(100 * found.confidence)}%: ${ends})`;
  }

  const share = (value) => `${100 * value < 0.1 ? (100 * value).toPrecision(2) : (100 * value).toFixed(1).replace(/\.0$/, "")}%`;

  function contradiction() {
    if (atHome() && raw.labelling) return raw.labelling.verdict;
    const withheld = "Numbers at another threshold are withheld here: ask pulens for them, with --threshold.";
    if (state.prior === home.prior && raw.labelling) return [...raw.labelling.verdict.slice(0, 2), withheld];
    return [
      `These numbers do not fit together: with ${share(populationOf(state.prior))} positives, labels cannot be a random draw.`,
      `The largest class prior that random labels allow is ${short(raw.prior.limit)}. Either it is no higher than that, or labelling followed the score; an audit (checking some unlabelled rows drawn at random) tells which. Numbers are withheld here: give pulens this class prior for what is possible.`,
    ];
  }

  function sentences() {
    if (contradicted()) return contradiction();
    const area = valueOf("roc_auc");
    let first = `The model ranks a random positive above a random negative ${percent(area)} of the time${remark("roc_auc")}`;
    const found = intervalOf("roc_auc") || { low: area, high: area };
    if (found.high < 0.5) first += ", which is worse than guessing: are the scores upside down?";
    else if (found.low <= 0.5 || Math.abs(area - 0.5) < 0.01)
      first += ": these rows do not show that it beats guessing (50%).";
    else first += ".";
    const precision = valueOf("precision");
    const recall = valueOf("recall");
    const at = short(shownThreshold());
    if (Number.isNaN(precision))
      return [first, `At the threshold ${at} precision is undefined: ${metricsByName.precision.undefined}.`];
    const second = `Of the rows flagged at ${at} or above, about ${percent(precision)}${remark("precision")} are truly positive`;
    return [
      first,
      Number.isNaN(recall)
        ? `${second}.`
        : `${second}; they are ${percent(recall)}${remark("recall")} of all positives.`,
    ];
  }

  // --- filling the page -----------------------------------------------------------------------------------------

  function fillNumbers() {
    for (const element of $$("[data-live]")) {
      const value = valueOf(element.dataset.live);
      element.textContent = value === null ? "–" : three(value);
      element.title =
        value !== null ? "" : contradicted() ? "not possible under random labels" : "not recomputed here: reset to see it";
      element.dataset.value = value === null ? "" : String(value);
    }
    for (const element of $$("[data-interval]")) {
      const found = intervalOf(element.dataset.interval);
      element.textContent = found && found.low !== found.high ? `${three(found.low)} to ${three(found.high)}` : "";
    }
    for (const element of $$("[data-bound-area]")) {
      element.textContent = bounds ? `${three(bounds.roc.lower.area)} to ${three(bounds.roc.upper.area)}` : "";
    }
    fillVerdict();
    const cells = contradicted() ? (atHome() && raw.labelling && raw.labelling.cells) || {} : current.cells;
    for (const element of $$("[data-cell]")) {
      const value = cells[element.dataset.cell];
      element.dataset.value = value === undefined ? "" : String(value);
      element.querySelector(".count").textContent = value === undefined ? "–" : rows(value);
      element.querySelector(".share").textContent = value === undefined ? "" : percent(value / current.cells.total);
    }
  }

  // As many paragraphs as there are sentences, and under them the class prior that they speak of.
  function fillVerdict() {
    const place = $("#verdict .sentence").parentElement;
    const said = sentences();
    while ($$("#verdict .sentence").length > said.length) place.lastElementChild.remove();
    while ($$("#verdict .sentence").length < said.length)
      place.append(Object.assign(document.createElement("p"), { className: "sentence" }));
    $$("#verdict .sentence").forEach((element, k) => (element.textContent = said[k]));
    const line = $("#verdict .source a");
    line.dataset.report ||= line.textContent;
    const among = data.scenario === "single-set" ? `; ${short(state.prior)} among the unlabelled rows` : "";
    line.textContent =
      state.prior === home.prior
        ? line.dataset.report
        : `Class prior ${short(populationOf(state.prior))}, as set on this page${among}`;
  }

  function fillWarning() {
    const found = current.impossible;
    const warning = $("#live-warning");
    warning.hidden = found.thresholds === 0 || state.prior === home.prior;
    if (warning.hidden) return;
    const places = `${found.thresholds.toLocaleString("en-US")} of ${size.toLocaleString("en-US")} thresholds`;
    const chance = recovery.chanceOfExcess(data.counts, data.totals, current.tables, found.standardErrors);
    const often = chance >= 0.3 ? "many samples show" : `at most about 1 sample in ${Math.round(1 / chance).toLocaleString("en-US")} shows`;
    warning.textContent = found.byChance
      ? `At this class prior recovered rates leave [0, 1] at ${places}, by ${found.standardErrors.toFixed(1)} standard errors at most: with random labels ${often} as much or more.`
      : `The data contradict this class prior: recovered rates leave [0, 1] at ${places}, by up to ${Math.min(found.standardErrors, 99).toFixed(0)} standard errors. It is too high, or labels are not random.`;
    warning.classList.toggle("alarming", !found.byChance);
  }

  function fillControls() {
    control.show(state.prior);
    $("#threshold").value = String(size - state.index + 1);
    $("#threshold").setAttribute("aria-valuetext", `threshold ${short(shownThreshold())}`);
    if (document.activeElement !== $("#threshold-number")) $("#threshold-number").value = short(shownThreshold());
    $("#threshold-note").textContent =
      `${percent(current.cells.called / current.cells.total)} of the population flagged`;
    $("#moved").hidden = atHome();
    $("#reset").disabled = atHome();
  }

  const track = { low: raw.prior.track[0], high: raw.prior.track[1] };
  // --- moving ---------------------------------------------------------------------------------------------------

  let waiting = 0;
  function refresh() {
    const started = performance.now();
    current = recovery.evaluate(data, state.prior, state.index);
    current.impossible = recovery.impossibleRates(data.counts, data.totals, current.tables);
    fresh = {};
    bounds = raw.bounds ? doubt.bounds(data, current.given, raw.confidence) : null;
    Object.assign(result, { current, bounds });
    fillNumbers();
    fillWarning();
    fillControls();
    figures.drawAll();
    result.milliseconds = performance.now() - started;
  }

  function moveTo(target) {
    if ("prior" in target) state.prior = control.clamp(target.prior);
    if ("index" in target) state.index = Math.min(Math.max(target.index, 0), size);
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      refresh();
      keepState();
    });
  }

  let keeping = 0;
  function keepState() {
    clearTimeout(keeping);
    keeping = setTimeout(() => {
      const parts = [];
      if (state.prior !== home.prior) parts.push(`prior=${populationOf(state.prior)}`);
      if (state.index !== home.index) parts.push(`threshold=${thresholdAt(state.index)}`);
      history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
    }, 120);
  }

  function readState() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const prior = Number.parseFloat(wanted.get("prior"));
    const threshold = Number.parseFloat(wanted.get("threshold"));
    state.prior = home.prior;
    state.index = home.index;
    if (Number.isFinite(prior)) {
      // the number in the address is the population's share; conversion may move its last bit
      const share = control.clamp(unlabelledOf(prior));
      state.prior = Math.abs(share - home.prior) < 1e-12 ? home.prior : share;
    }
    if (Number.isFinite(threshold)) state.index = Math.max(1, recovery.indexAt(thresholds, threshold));
  }

  function nearestIndex(threshold) {
    const at = recovery.indexAt(thresholds, threshold);
    if (raw.thinning.kept === raw.thinning.of) return Math.max(at, 1);
    // some thresholds are left out: take the nearest one there is
    const [above, below] = [Math.max(at, 1), Math.min(at + 1, size)];
    return Math.abs(thresholdAt(above) - threshold) <= Math.abs(thresholdAt(below) - threshold) ? above : below;
  }

  const result = {
    ...{ data, raw, state, home, track, populationOf, unlabelledOf, thresholdAt, shownThreshold, moveTo, refresh },
    ...{ current: null, bounds: null, milliseconds: 0 },
  };
  const { builders, chosen } = evaluationCharts(result);

  function start() {
    const thresholdSlider = $("#threshold");
    thresholdSlider.min = "1";
    thresholdSlider.max = String(size);
    thresholdSlider.addEventListener("input", () => moveTo({ index: size - Number(thresholdSlider.value) + 1 }));
    $("#threshold-number").addEventListener("change", (event) => {
      const typed = Number.parseFloat(event.target.value);
      event.target.blur();
      if (Number.isFinite(typed)) moveTo({ index: nearestIndex(typed) });
      else fillControls();
    });
    for (const button of $$("#reset, #moved button")) button.addEventListener("click", () => moveTo(home));
    for (const chip of $$("[data-chip]")) {
      const name = chip.dataset.chip;
      chip.addEventListener("click", () => {
        if (!chosen.delete(name)) chosen.add(name);
        for (const same of $$(`[data-chip="${name}"]`)) same.setAttribute("aria-pressed", String(chosen.has(name)));
        figures.drawAll();
      });
      chip.setAttribute("aria-pressed", String(chosen.has(name)));
    }
    for (const link of $$("a[href^='#']")) {
      // the address keeps the state of the sliders, so links within the page scroll without changing it
      link.addEventListener("click", (event) => {
        const target = document.getElementById(link.getAttribute("href").slice(1));
        if (!target) return;
        event.preventDefault();
        for (let outer = target.closest("details"); outer; outer = outer.parentElement.closest("details"))
          outer.open = true;
        target.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
        target.focus({ preventScroll: true });
      });
    }
    for (const figure of $$("figure[data-chart]")) figures.mount(figure, builders[figure.dataset.chart]);
    addEventListener("hashchange", () => {
      readState();
      refresh();
    });
    readState();
    for (const one of figures.all) one.measure();
    refresh();
  }

  start();
  return result;
})();
