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

  // --- numbers as text ---------------------------------------------------------------------------------------

  const short = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : "–");
  const three = (value) => (Number.isFinite(value) ? value.toFixed(3) : "undefined");
  const percent = (value) => {
    const hundred = 100 * value;
    return hundred === 0 || hundred === 100 || (hundred >= 1 && hundred <= 99) ? `${hundred.toFixed(0)}%` : `${hundred.toFixed(1)}%`;
  };
  const rows = (value) => (value >= 100 ? Math.round(value).toLocaleString("en-US") : short(value));
  const thresholdAt = (index) => (index === 0 ? Infinity : thresholds[index - 1]);
  const shownThreshold = () => (state.index === home.index && home.threshold !== null ? home.threshold : thresholdAt(state.index));
  const atHome = () => state.prior === home.prior && state.index === home.index;

  // --- values: Python's where the page stands as it was written, the page's own elsewhere ----------------------

  function valueOf(name) {
    const metric = metricsByName[name];
    if (atHome()) return metric && metric.value !== null ? metric.value : NaN;
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
    if (raw.confidence === null) return null;
    if (name === "roc_auc") return areaInterval();
    return (fresh.intervals ||= freshIntervals())[name] || null;
  }

  let fresh = {};
  let totalsDrawn = null;
  let ratesDrawn = { index: -1, rates: null };
  function freshIntervals() {
    totalsDrawn ||= doubt.drawTotals(data.totals, data.scenario);
    if (ratesDrawn.index !== state.index) ratesDrawn = { index: state.index, rates: doubt.drawRates(data.counts, data.totals, state.index) };
    return doubt.intervals(data, current.given, totalsDrawn, ratesDrawn.rates, current.values, raw.confidence);
  }

  function areaInterval() {
    const offsets = raw.area_offsets;
    if (!offsets) return null;
    const step = offsets.priors[1] - offsets.priors[0];
    const place = Math.min(Math.max(state.prior / step, 0), offsets.priors.length - 1);
    const at = Math.min(Math.floor(place), offsets.priors.length - 2);
    const between = (ends) => ends[at] + (place - at) * (ends[at + 1] - ends[at]);
    const value = current.values.roc_auc;
    return { low: recovery.clip(value + between(offsets.low)), high: recovery.clip(value + between(offsets.high)), confidence: raw.confidence };
  }

  function remark(name) {
    const found = intervalOf(name);
    if (!found || found.low === found.high) return "";
    const ends = `${percent(found.low).slice(0, -1)} to ${percent(found.high).slice(0, -1)}`;
    return found.confidence === null ? ` (${ends} over the range of the class prior)` : ` (${Math.round(100 * found.confidence)}%: ${ends})`;
  }

  function sentences() {
    const area = valueOf("roc_auc");
    let first = `The model ranks a random positive above a random negative ${percent(area)} of the time${remark("roc_auc")}`;
    const found = intervalOf("roc_auc") || { low: area, high: area };
    if (found.high < 0.5) first += ", which is worse than guessing: are the scores upside down?";
    else if (found.low <= 0.5 || Math.abs(area - 0.5) < 0.01) first += ": these rows do not show that it beats guessing (50%).";
    else first += ".";
    const precision = valueOf("precision");
    const recall = valueOf("recall");
    const at = short(shownThreshold());
    if (Number.isNaN(precision)) return [first, `At the threshold ${at} precision is undefined: ${metricsByName.precision.undefined}.`];
    const second = `Of the rows flagged at ${at} or above, about ${percent(precision)}${remark("precision")} are truly positive`;
    return [first, Number.isNaN(recall) ? `${second}.` : `${second}; they are ${percent(recall)}${remark("recall")} of all positives.`];
  }

  // --- filling the page -----------------------------------------------------------------------------------------

  function fillNumbers() {
    for (const element of $$("[data-live]")) {
      const value = valueOf(element.dataset.live);
      element.textContent = value === null ? "–" : three(value);
      element.title = value === null ? "not recomputed here: reset to see it" : "";
      element.dataset.value = value === null ? "" : String(value);
    }
    for (const element of $$("[data-interval]")) {
      const found = intervalOf(element.dataset.interval);
      element.textContent = found && found.low !== found.high ? `${three(found.low)} to ${three(found.high)}` : "";
    }
    for (const element of $$("[data-bound-area]")) {
      element.textContent = bounds ? `${three(bounds.roc.lower.area)} to ${three(bounds.roc.upper.area)}` : "";
    }
    sentences().forEach((text, k) => ($$("#verdict .sentence")[k].textContent = text));
    for (const element of $$("[data-cell]")) {
      const value = current.cells[element.dataset.cell];
      element.dataset.value = String(value);
      element.querySelector(".count").textContent = rows(value);
      element.querySelector(".share").textContent = percent(value / current.cells.total);
    }
  }

  function fillWarning() {
    const found = recovery.impossibleRates(data.counts, data.totals, current.tables);
    const warning = $("#live-warning");
    warning.hidden = found.thresholds === 0 || state.prior === home.prior;
    if (warning.hidden) return;
    const places = `${found.thresholds.toLocaleString("en-US")} of ${size.toLocaleString("en-US")} thresholds`;
    warning.textContent = found.byChance
      ? `At this class prior recovered rates leave [0, 1] at ${places}, by ${found.standardErrors.toFixed(1)} standard errors at most: small samples do that by chance.`
      : `The data contradict this class prior: recovered rates leave [0, 1] at ${places}, by up to ${Math.min(found.standardErrors, 99).toFixed(0)} standard errors. It is too high, or labels are not random.`;
    warning.classList.toggle("alarming", !found.byChance);
  }

  function fillControls() {
    control.show(state.prior);
    $("#threshold").value = String(size - state.index + 1);
    $("#threshold").setAttribute("aria-valuetext", `threshold ${short(shownThreshold())}`);
    if (document.activeElement !== $("#threshold-number")) $("#threshold-number").value = short(shownThreshold());
    $("#threshold-note").textContent = `${percent(current.cells.called / current.cells.total)} of the population flagged`;
    $("#moved").hidden = atHome();
    $("#reset").disabled = atHome();
  }

  const track = { low: raw.prior.track[0], high: raw.prior.track[1] };
  // --- charts ---------------------------------------------------------------------------------------------------

  const uncorrected = (() => {
    const tables = recovery.tablesOf(data.counts, data.totals, { unlabelledPrior: 0, labelNoise: 0, scenario: "single-set" });
    return { tables, roc: recovery.rocCurve(tables), precisionRecall: recovery.precisionRecallCurve(tables) };
  })();

  const here = (x, y, palette) => ({ kind: "point", x, y, colour: palette.accent, ring: palette.paper, name: "at the threshold" });

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
      tell: (k) => [`threshold ${curve.index[k] ? short(thresholdAt(curve.index[k])) : "above every score"}`, `${xName} ${three(curve.x[k])}`, `${yName} ${three(curve.y[k])}`],
      pick: (k) => curve.index[k] && moveTo({ index: curve.index[k] }),
    };
  }

  let bounds = null;
  // A band between two curves, as one outline.
  function boundLayer(pair, palette) {
    if (!bounds) return [];
    const { lower, upper } = bounds[pair];
    return [{ kind: "area", x: [...upper.x, ...lower.x.slice().reverse()], y: [...upper.y, ...lower.y.slice().reverse()], colour: palette.main, opacity: 0.13, name: `${Math.round(100 * raw.confidence)}% bounds` }];
  }

  const unit = (label) => ({ label, min: 0, max: 1 });
  const builders = {
    roc: (palette) => {
      const place = { x: recovery.clip(current.tables.alarms[state.index]), y: recovery.clip(current.tables.hits[state.index]) };
      return {
        id: "roc", title: "ROC curve", ratio: 0.86, x: unit("false positive rate"), y: unit("true positive rate (recall)"),
        layers: [
          ...boundLayer("roc", palette),
          { kind: "line", x: [0, 1], y: [0, 1], colour: palette.plain, width: 1, dash: "2 4", name: "guessing" },
          { kind: "line", x: uncorrected.roc.x, y: uncorrected.roc.y, colour: palette.plain, width: 1.75, dash: "6 4", name: "uncorrected" },
          { kind: "line", x: current.roc.x, y: current.roc.y, colour: palette.main, width: 2.5, name: "recovered" },
          here(place.x, place.y, palette),
        ],
        table: () => curveTable(current.roc, ["false positive rate", "true positive rate"]),
        trail: trailOf(current.roc, "false positive rate", "recall"),
      };
    },
    "precision-recall": (palette) => {
      const prior = current.tables.positive / (current.tables.positive + current.tables.negative);
      return {
        id: "precision-recall", title: "Precision-recall curve", ratio: 0.86, x: unit("recall"), y: unit("precision"),
        layers: [
          ...boundLayer("precisionRecall", palette),
          { kind: "line", x: [0, 1], y: [prior, prior], colour: palette.plain, width: 1, dash: "2 4", name: "guessing" },
          { kind: "line", x: uncorrected.precisionRecall.x, y: uncorrected.precisionRecall.y, colour: palette.plain, width: 1.75, dash: "6 4", name: "uncorrected" },
          { kind: "line", x: current.precisionRecall.x, y: current.precisionRecall.y, colour: palette.main, width: 2.5, name: "recovered" },
          here(current.values.recall, current.values.precision, palette),
        ],
        table: () => curveTable(current.precisionRecall, ["recall", "precision"]),
        trail: trailOf(current.precisionRecall, "recall", "precision"),
      };
    },
    scores: (palette) => {
      const { edges } = raw.histogram;
      const shares = (counts, total) => counts.map((count) => (total ? count / total : 0));
      const labelled = shares(raw.histogram.labelled, data.totals.labelled);
      const unlabelled = shares(raw.histogram.unlabelled, data.totals.unlabelled);
      const found = recovery.densitiesOf(raw.histogram, data.totals, current.tables.map);
      const stairs = (values) => ({
        x: [edges[0], ...edges.slice(0, -1).flatMap((edge, k) => [edge, edges[k + 1]]), edges[edges.length - 1]],
        y: [0, ...[...values].flatMap((value) => [Math.max(value, 0), Math.max(value, 0)]), 0],
      });
      const highest = Math.max(...labelled, ...unlabelled, ...found.positive, ...found.negative);
      const middles = edges.slice(0, -1).map((edge, k) => (edge + edges[k + 1]) / 2);
      const layers = [{ kind: "bars", edges, y: labelled, colour: palette.main, opacity: 0.28, name: "labelled" }];
      if (data.totals.unlabelled) layers.unshift({ kind: "bars", edges, y: unlabelled, colour: palette.plain, opacity: 0.4, name: "unlabelled" });
      return {
        id: "scores", title: "Scores of positives and negatives", x: { label: "score", min: edges[0], max: edges[edges.length - 1] },
        y: { label: "share of rows in the bin", min: 0, max: highest > 0 ? highest * 1.08 : 1 },
        layers: [
          ...layers,
          { kind: "line", ...stairs(found.negative), colour: palette.other, width: 2, name: "negatives, recovered" },
          { kind: "line", ...stairs(found.positive), colour: palette.main, width: 2, name: "positives, recovered" },
          { kind: "upright", at: shownThreshold(), colour: palette.accent, width: 2, name: "threshold" },
        ],
        table: () => ({
          header: ["from", "to", "labelled", "unlabelled", "share of positives", "share of negatives"],
          rows: middles.map((_, k) => [edges[k], edges[k + 1], raw.histogram.labelled[k], raw.histogram.unlabelled[k], found.positive[k], found.negative[k]]),
        }),
        trail: {
          x: middles,
          tell: (k) => [`score ${short(edges[k])} to ${short(edges[k + 1])}`, `labelled ${rows(raw.histogram.labelled[k])}, unlabelled ${rows(raw.histogram.unlabelled[k])}`, `${percent(found.positive[k])} of positives, ${percent(found.negative[k])} of negatives`],
          pick: (k) => moveTo({ index: Math.max(1, recovery.indexAt(thresholds, edges[k])) }),
        },
      };
    },
    prior: (palette) => {
      const shown = raw.metrics.filter((metric) => chosen.has(metric.name) && metric.name in current.values);
      const curves = overPriors();
      return {
        id: "prior", title: "What if the class prior were another?", x: { label: "class prior", min: track.low, max: track.high }, y: range(shown.map((metric) => curves.values[metric.name]), "value"),
        layers: [
          ...(raw.prior.possible < track.high ? [{ kind: "between", from: raw.prior.possible, to: track.high, colour: palette.alarm, opacity: 0.13, name: "contradicted by the data" }] : []),
          ...(raw.prior.low !== null ? [{ kind: "between", from: raw.prior.low, to: raw.prior.high, colour: palette.prior, opacity: 0.16, name: raw.prior.confidence === null ? "given range" : `${Math.round(raw.prior.confidence * 100)}% interval` }] : []),
          { kind: "upright", at: raw.prior.value, colour: palette.prior, width: 1.5, dash: "3 3", name: "report's class prior" },
          ...shown.map((metric) => ({ kind: "line", x: curves.priors, y: curves.values[metric.name], ...lineOf(metric.name, palette), name: metric.title })),
          ...(state.prior === home.prior ? [] : [{ kind: "upright", at: populationOf(state.prior), colour: palette.accent, width: 2, name: "now" }]),
        ],
        table: () => ({ header: ["class prior", ...shown.map((metric) => metric.title)], rows: curves.priors.map((prior, k) => [prior, ...shown.map((metric) => curves.values[metric.name][k])]) }),
        trail: {
          x: curves.priors,
          tell: (k) => [`class prior ${short(curves.priors[k])}`, ...shown.map((metric) => `${metric.title} ${three(curves.values[metric.name][k])}`)],
          pick: (k) => moveTo({ prior: curves.unlabelled[k] }),
        },
      };
    },
    threshold: (palette) => {
      const shown = raw.metrics.filter((metric) => metric.reads === "threshold" && chosen.has(metric.name) && metric.name in current.values);
      const { edges } = raw.histogram;
      const values = shown.map(() => new Float64Array(size));
      for (let i = 0; i < size; i++) {
        const cells = recovery.cellsOf(current.tables, i + 1);
        shown.forEach((metric, k) => (values[k][size - 1 - i] = recovery.metrics[metric.name](cells)));
      }
      const across = Array.from(thresholds).reverse();
      return {
        id: "threshold", title: "What if the threshold were another?", x: { label: "threshold", min: edges[0], max: edges[edges.length - 1] }, y: range(values, "value"),
        layers: [
          ...shown.map((metric, k) => ({ kind: "line", x: across, y: values[k], ...lineOf(metric.name, palette), name: metric.title })),
          { kind: "upright", at: shownThreshold(), colour: palette.accent, width: 2, name: "threshold" },
        ],
        table: () => ({ header: ["threshold", ...shown.map((metric) => metric.title)], rows: across.map((at, k) => [at, ...values.map((column) => column[k])]) }),
        trail: {
          x: across,
          now: size - state.index,
          tell: (k) => [`threshold ${short(across[k])}`, ...shown.map((metric, m) => `${metric.title} ${three(values[m][k])}`)],
          pick: (k) => moveTo({ index: size - k }),
        },
      };
    },
  };

  builders.reliability = (palette) => {
    const found = reliability.evaluate(raw.reliability, data.totals, current.given);
    return reliability.spec(raw.reliability, found, state.prior === home.prior ? raw.reliability.ends : null, palette, three);
  };

  builders.labelling = (palette) => {
    const { factors, areas } = raw.sensitivity;
    // the areas were found when the page was written, for its own class prior
    const shown = raw.metrics.filter((metric) => chosen.has(metric.name) && (metric.name in recovery.metrics || (metric.name in areas && state.prior === home.prior)));
    const ranges = shown.map((metric) => {
      if (metric.name in areas) return areas[metric.name];
      const found = factors.map((factor) => doubt.sensitivity(data, current.tables.map, data.scenario, state.index, metric.name, factor));
      return { low: found.map((range) => range.low), high: found.map((range) => range.high) };
    });
    const worst = shown.map((metric, k) => (metric.higher_is_better ? ranges[k].low : ranges[k].high));
    return {
      id: "labelling", title: "What if labelling was not random?", x: { label: "positives with high scores labelled up to … times as often", min: 1, max: factors[factors.length - 1] },
      y: range(worst, "worst value possible"),
      layers: shown.map((metric, k) => ({ kind: "line", x: factors, y: worst[k], ...lineOf(metric.name, palette), name: metric.title })),
      table: () => ({
        header: ["factor", ...shown.flatMap((metric) => [`${metric.title}, lowest`, `${metric.title}, highest`])],
        rows: factors.map((factor, k) => [factor, ...ranges.flatMap((ends) => [ends.low[k], ends.high[k]])]),
      }),
      trail: {
        x: factors,
        tell: (k) => [`up to ${short(factors[k])} times as often`, ...shown.map((metric, m) => `${metric.title} ${three(ranges[m].low[k])} to ${three(ranges[m].high[k])}`)],
      },
    };
  };

  const chosen = new Set(["roc_auc", "average_precision", "precision", "recall", "f1"]);
  function lineOf(name, palette) {
    const place = raw.metrics.findIndex((metric) => metric.name === name);
    const dashes = ["", "7 3", "2 3"];
    return { colour: palette.series[place % palette.series.length], dash: dashes[Math.floor(place / palette.series.length) % dashes.length] };
  }

  function range(columns, label) {
    let min = 0;
    let max = 1;
    for (const column of columns) for (const value of column) if (Number.isFinite(value)) [min, max] = [Math.min(min, value), Math.max(max, value)];
    return { label, min, max };
  }

  // Metrics over the slider's range at the present threshold; average precision does not depend on the threshold.
  const priorsTried = 81;
  let overPriorsAt = -1;
  let overPriorsFound = null;
  function overPriors() {
    if (overPriorsAt === state.index) return overPriorsFound;
    const before = overPriorsFound;
    const priors = Array.from({ length: priorsTried }, (_, k) => track.low + ((track.high - track.low) * k) / (priorsTried - 1));
    const unlabelled = priors.map((prior) => Math.max(unlabelledOf(prior), 0));
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
    const [hit, alarm] = at < 0 ? [0, 0] : recovery.ratesOf(map, data.totals, data.counts.labelled[at], data.counts.unlabelled[at], negative);
    const cells = recovery.cellsOf({ hits: [hit], alarms: [alarm], positive: map.positive, negative: map.negative }, 0);
    const found = { roc_auc: recovery.clip(recovery.rocAuc(data.pairs, map)) };
    for (const name of Object.keys(recovery.metrics)) found[name] = recovery.metrics[name](cells);
    return found;
  }

  // --- moving ---------------------------------------------------------------------------------------------------

  let waiting = 0;
  function refresh() {
    const started = performance.now();
    current = recovery.evaluate(data, state.prior, state.index);
    fresh = {};
    bounds = raw.bounds ? doubt.bounds(data, current.given, raw.confidence) : null;
    fillNumbers();
    fillWarning();
    fillControls();
    figures.drawAll();
    result.current = current;
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

  const result = { data, raw, state, home, moveTo, refresh, current: null, milliseconds: 0, valueOf };

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
        for (let outer = target.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
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
