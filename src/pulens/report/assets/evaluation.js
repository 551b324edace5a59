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
  // the rows themselves, where those of the counts are weighted: uncorrected numbers are theirs
  data.plain = raw.plain
    ? { counts: { ...data.counts, labelled: unpack(raw.plain.labelled), unlabelled: unpack(raw.plain.unlabelled) }, totals: raw.plain.totals }
    : data;
  const size = thresholds.length;
  // those people ask for first come first, in legends and colours
  const rank = (metric) => metric.tile || raw.metrics.length + 1;
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

  // --- numbers as text ---------------------------------------------------------------------------------------

  const { short, three, percent, rows } = words;
  const thresholdAt = (index) => (index === 0 ? Infinity : thresholds[index - 1]);
  const shownThreshold = () =>
    state.index === home.index && home.threshold !== null ? home.threshold : thresholdAt(state.index);
  const samePrior = () => state.prior === home.prior;
  const atHome = () => samePrior() && state.index === home.index;

  // --- values: Python's where the page stands as it was written, the page's own elsewhere ----------------------

  // Where the data contradict the class prior the page recovers nothing: the numbers would be cut at what is possible,
  // and seem certain. The report's own, over possible worlds, stay while nothing that they read has moved.
  const contradicted = () => (samePrior() ? raw.labelling !== null : !current.impossible.byChance);

  function valueOf(name) {
    const metric = metricsByName[name];
    if (atHome()) return metric && metric.value !== null ? metric.value : NaN;
    if (samePrior() && metric && metric.only_interval) return null; // withheld until the reader chooses a class prior
    if (contradicted())
      return metric && metric.reads === "ranking" && samePrior() ? (metric.value ?? NaN) : null;
    if (name in current.values) return current.values[name];
    // a metric the page cannot compute: it stays true while what it reads has not moved
    const still = metric.reads === "ranking" || state.index === home.index;
    if (still && (!metric.needs_class_prior || samePrior())) return metric.value ?? NaN;
    return null;
  }

  // Python's interval where nothing that it reads has moved, and none elsewhere.
  function intervalOf(name) {
    const metric = metricsByName[name];
    const still = metric && (metric.reads === "ranking" || state.index === home.index) && samePrior();
    return still && metric.low !== null ? metric : null;
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
    if (samePrior() && raw.labelling) return [...raw.labelling.verdict.slice(0, 2), withheld];
    return [
      `These numbers do not fit together: with ${share(populationOf(state.prior))} positives, labels cannot be a random draw.`,
      `The largest class prior that random labels allow is ${short(raw.prior.limit)}. Either it is no higher than that, or labelling followed the score; an audit (checking some unlabelled rows drawn at random) shows which. Numbers are withheld here: give pulens this class prior for what is possible.`,
    ];
  }

  function sentences() {
    if (contradicted()) return contradiction();
    if (atHome()) return raw.verdict;
    const area = valueOf("roc_auc");
    let first = `the model ranks a random positive above a random negative ${percent(area)} of the time${remark("roc_auc")}`;
    const found = intervalOf("roc_auc") || { low: area, high: area };
    const backwards = found.high < 0.5;
    first = backwards ? `Are your scores reversed? T${first.slice(1)}` : `T${first.slice(1)}`;
    if (backwards) first += ", which is worse than guessing (50%).";
    else if (found.low <= 0.5 || Math.abs(area - 0.5) < 0.01)
      first += ": these rows do not show that it beats guessing (50%).";
    else first += ".";
    const precision = valueOf("precision");
    const recall = valueOf("recall");
    const at = words.six(shownThreshold());
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

  const rangeIn = (element) => {
    const found = intervalOf(element.dataset.live);
    return element.matches("td") ? "" : `${three(found.low)} to ${three(found.high)}`;
  };

  // As many paragraphs as there are sentences, and under them the class prior that they assume.
  function fillVerdict() {
    const texts = sentences();
    const holder = $("#verdict [aria-live]");
    const shown = [...holder.children];
    texts.forEach((text, k) => {
      const line = shown[k] || holder.appendChild(Object.assign(document.createElement("p"), { className: "sentence" }));
      if (line.textContent === text) return;
      line.textContent = text;
      words.together(line);
    });
    for (const line of shown.slice(texts.length)) line.remove();
    const source = $("#verdict .source a");
    source.dataset.report ||= source.textContent;
    source.textContent = samePrior()
      ? source.dataset.report
      : `Class prior ${short(populationOf(state.prior))}, as set on this page`;
  }

  // --- filling the page -----------------------------------------------------------------------------------------

  // The number that counts every unlabelled row as a negative: it moves with the threshold, not with the class prior.
  function uncorrectedOf(name) {
    const metric = metricsByName[name];
    if (metric.reads === "ranking" || state.index === home.index) return metric.uncorrected ?? NaN;
    if (!(name in recovery.metrics)) return null;
    uncorrected ||= recovery.tablesOf(data.plain.counts, data.plain.totals, { unlabelledPrior: 0, labelNoise: 0, scenario: "single-set" });
    return recovery.metrics[name](recovery.cellsOf(uncorrected, state.index));
  }
  let uncorrected = null;

  function fillTiles() {
    for (const element of $$("[data-naive]")) {
      const value = uncorrectedOf(element.dataset.naive);
      element.textContent = value === null ? "–" : three(value);
      element.dataset.value = value === null ? "" : String(value);
    }
    const at = (mark, value) => {
      mark.hidden = !Number.isFinite(value ?? NaN);
      if (!mark.hidden) mark.style.width = `${100 * recovery.clip(value)}%`;
    };
    for (const bar of $$("[data-bar-of]")) {
      const name = bar.dataset.barOf;
      const found = intervalOf(name);
      const [span, naive, value] = bar.children;
      span.hidden = !found || found.low === found.high;
      if (!span.hidden) {
        span.style.left = `${100 * recovery.clip(found.low)}%`;
        span.style.right = `${100 * (1 - recovery.clip(found.high))}%`;
      }
      at(naive, uncorrectedOf(name));
      at(value, atHome() && metricsByName[name].only_interval ? null : valueOf(name));
    }
  }

  function fillNumbers() {
    for (const element of $$("[data-live]")) {
      const value = valueOf(element.dataset.live);
      // where the rows barely constrain the class prior, the report gives only the interval
      const said = atHome() && metricsByName[element.dataset.live].only_interval;
      element.textContent = said ? rangeIn(element) : value === null ? "–" : three(value);
      const open = metricsByName[element.dataset.live].only_interval && samePrior();
      element.title =
        value !== null ? "" : contradicted() ? "not possible under random labels" : open ? "it depends on the class prior: choose one" : "not recomputed here: reset to see it";
      element.dataset.value = said || value === null ? "" : String(value);
    }
    for (const element of $$("[data-interval]")) {
      const found = intervalOf(element.dataset.interval);
      element.textContent = found && found.low !== found.high ? `${three(found.low)} to ${three(found.high)}` : "";
      const above = atHome() && metricsByName[element.dataset.interval].only_interval; // the tile says it in large
      if (above && element.matches("dd")) element.textContent = raw.interval_name;
    }
    fillVerdict();
    fillTiles();
    // at a class prior that the reader chose, no number rests on the estimate
    document.body.classList.toggle("prior-moved", !samePrior());
    const open = samePrior() && metricsByName.precision.only_interval; // counts would give away what is withheld
    const cells = open ? {} : contradicted() ? (atHome() && raw.labelling && raw.labelling.cells) || {} : current.cells;
    for (const element of $$("[data-cell]")) {
      const value = cells[element.dataset.cell];
      element.dataset.value = value === undefined ? "" : String(value);
      element.querySelector(".count").textContent = value !== undefined ? rows(value) : open ? "~" : "–";
      element.querySelector(".share").textContent = value === undefined ? "" : percent(value / current.cells.total);
    }
  }

  function fillWarning() {
    const found = current.impossible;
    const warning = $("#live-warning");
    warning.hidden = found.thresholds === 0 || samePrior();
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
    $("#threshold").setAttribute("aria-valuetext", `threshold ${words.six(shownThreshold())}`);
    if (document.activeElement !== $("#threshold-number")) $("#threshold-number").value = words.six(shownThreshold());
    $("#threshold-note").textContent =
      `${percent(current.cells.called / current.cells.total)} of the population flagged`;
    $("#moved").hidden = atHome();
    $("#reset").disabled = atHome();
  }

  const track = { low: raw.prior.track[0], high: raw.prior.track[1], possible: raw.prior.possible };

  // --- moving ---------------------------------------------------------------------------------------------------

  function refresh() {
    const started = performance.now();
    current = recovery.evaluate(data, state.prior, state.index);
    current.impossible = recovery.impossibleRates(data.counts, data.totals, current.tables);
    result.current = current;
    fillNumbers();
    fillWarning();
    fillControls();
    figures.drawAll();
    result.milliseconds = performance.now() - started;
  }

  function moveTo(target) {
    if ("prior" in target) state.prior = control.clamp(target.prior);
    if ("index" in target) state.index = Math.min(Math.max(target.index, 0), size);
    pageState.soon(() => {
      refresh();
      pageState.keep(kept);
    });
  }

  const kept = () => ({
    prior: samePrior() ? null : populationOf(state.prior),
    threshold: state.index === home.index ? null : thresholdAt(state.index),
  });

  function readState() {
    const [prior, threshold] = ["prior", "threshold"].map(pageState.number);
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
    ...{ data, raw, state, home, track, populationOf, unlabelledOf, thresholdAt, shownThreshold, samePrior, moveTo, refresh },
    ...{ current: null, milliseconds: 0 },
  };
  const { builders, chosen } = evaluationCharts(result);
  const indexHome = () => state.index === home.index;
  Object.assign(result, { contradicted, indexHome });
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
