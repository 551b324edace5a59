"use strict";
// The card of costs on the page of a decision: its slider, its table, the decision curve. `shared` is the page's state, as for its charts.
const decisionCard = (shared) => {
  const card = shared.raw.decision;
  if (!card) return null;
  const { state, samePrior, thresholdAt, moveTo } = shared;
  const { thresholds } = shared.data.counts;
  const { short, percent } = words;
  const $ = (selector) => document.querySelector(selector);
  const PER = 1000;
  const [lowest, highest] = card.track;

  const three = (value) => Number(value.toPrecision(3)).toString();
  const amount = (value) => Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
  const between = (found) => (found && found.low !== null ? `${amount(found.low)} to ${amount(found.high)}` : "");
  const clampRatio = (ratio) => Math.min(Math.max(ratio, Math.min(card.track[0], 1e-6)), 0.999);
  const ratioHome = () => state.ratio === card.ratio;
  const allowed = (i) => {
    if (i === 0) return card.allowed.none;
    const at = thresholds[i - 1];
    return card.allowed.highest !== null && at <= card.allowed.highest && at >= card.allowed.lowest;
  };

  let found = null;
  function compute() {
    const { given, tables } = shared.current;
    const points = decision.actionsOf(tables);
    const money = decision.moneyAt(state.ratio, card.costs);
    const asReported = samePrior() && ratioHome();
    const place = asReported
      ? card.home.threshold === null ? 0 : recovery.indexAt(thresholds, card.home.threshold)
      : decision.cheapest(points, money, allowed);
    const at = (i) => ({ value: PER * decision.costAt(points, i, money), low: null });
    const { index } = state;
    found = {
      ...{ points, money, place, index, asReported },
      choice: asReported ? card.home.cost : at(place),
      use: asReported && shared.indexHome() ? card.home.cost : at(index),
      none: PER * money.miss * points.prior,
      all: PER * decision.flagAll(points.prior, money),
      useful: decision.useful(points, index),
    };
    result.found = found;
  }

  // --- words and numbers ---------------------------------------------------------------------------------------------

  const said = () => `a miss costs ${amount(found.money.miss)} and a false alarm ${amount(found.money.alarm)}`;

  function sentence() {
    if (shared.contradicted()) return "These rows rule out random labels at this class prior: costs are withheld here.";
    if (found.asReported) return card.words;
    const what = found.place ? `flag scores of ${words.six(thresholdAt(found.place))} and above` : "flag no row";
    return `If ${said()} (cost ratio ${three(state.ratio)}), the cheapest is to ${what}: ${amount(found.choice.value)} per 1,000 rows, against ${amount(found.none)} for flagging none and ${amount(found.all)} for flagging all.`;
  }

  function note() {
    if (shared.contradicted()) return "";
    const { useful } = found;
    const worth = useful && useful[0] < useful[1]
      ? `The threshold in use is worth having for cost ratios from ${short(useful[0])} to ${short(useful[1])}. `
      : "The threshold in use is worth having at no cost ratio. ";
    return worth + (card.home.cost.low !== null ? found.asReported ? "The interval of the cheapest allows for choosing it on these rows." : "Intervals are those of the report only." : "");
  }

  function fill() {
    $("[data-decision]").textContent = sentence();
    $("tr[data-way=use]").hidden = found.place === found.index;
    const hidden = shared.contradicted();
    const { points, place, index } = found;
    const rows = {
      choice: [thresholdAt(place), points.flagged[place], found.choice],
      use: [index === shared.home.index ? shared.shownThreshold() : thresholdAt(index), points.flagged[index], found.use],
      none: [Infinity, 0, { value: found.none, low: null }],
      all: [-Infinity, 1, { value: found.all, low: null }],
    };
    for (const [way, [threshold, flagged, cost]] of Object.entries(rows)) {
      const row = $(`tr[data-way=${way}]`);
      const put = (part, text, value) => {
        const cell = row.querySelector(`[data-part=${part}]`);
        if (!cell) return;
        cell.textContent = hidden ? "–" : text;
        cell.dataset.value = hidden || value === undefined ? "" : String(value);
      };
      put("threshold", Number.isFinite(threshold) ? words.six(threshold) : "–", threshold);
      put("flagged", percent(flagged), flagged);
      put("cost", amount(cost.value), cost.value);
      put("interval", between(cost));
    }
    $("#decision-note").textContent = note();
  }

  // --- the slider, in powers of ten --------------------------------------------------------------------------------

  const [from, to] = [Math.log10(lowest), Math.log10(highest)];
  const across = (ratio) => Math.min(Math.max((Math.log10(ratio) - from) / (to - from), 0), 1);
  function fillControl() {
    $("#cost").value = String(Math.log10(state.ratio));
    $("#cost").setAttribute("aria-valuetext", `cost ratio ${short(state.ratio)}, ${said()}`);
    if (document.activeElement !== $("#cost-number")) $("#cost-number").value = short(state.ratio);
    $("#cost-note").textContent = `false alarm ${amount(found.money.alarm)}, miss ${amount(found.money.miss)}`;
    const mark = $("#cost-useful");
    const useful = found.useful && found.useful[0] < found.useful[1] ? found.useful : null;
    mark.hidden = !useful || shared.contradicted();
    if (useful) {
      const [left, right] = useful.map((ratio) => across(Math.max(ratio, lowest)));
      mark.style.left = `calc(9px + ${left} * (100% - 18px))`;
      mark.style.width = `calc(${right - left} * (100% - 18px))`;
    }
    $("#cost-home").style.left = `calc(9px + ${across(card.ratio)} * (100% - 18px))`;
  }

  // 0.04 as it is, or as it comes about: 20/500
  function typedRatio(text) {
    const [above, below, ...more] = text.split("/").map((part) => Number.parseFloat(part));
    const ratio = below === undefined ? above : above / below;
    return !more.length && ratio > 0 && ratio < 1 ? ratio : NaN;
  }

  function start() {
    const slider = $("#cost");
    Object.assign(slider, { min: String(from), max: String(to), step: "0.002" });
    slider.addEventListener("input", () => moveTo({ ratio: 10 ** Number(slider.value) }));
    $("#cost-number").addEventListener("change", (event) => {
      const ratio = typedRatio(event.target.value);
      event.target.blur();
      if (Number.isFinite(ratio)) moveTo({ ratio });
      else fillControl();
    });
  }

  // --- charts --------------------------------------------------------------------------------------------------------

  const TRIED = 61;
  const log = (values) => values.map((value) => Math.log10(value));
  function bandLayer(palette) {
    const { curve } = card;
    if (!curve || !curve.low) return [];
    const still = samePrior() && shared.indexHome();
    const x = log(curve.ratios);
    return [
      {
        kind: "area",
        x: [...x, ...x.slice().reverse()],
        y: [...curve.high, ...curve.low.slice().reverse()],
        colour: still ? palette.main : palette.plain,
        opacity: still ? 0.18 : 0.1,
        name: still
          ? `${Math.round(100 * curve.confidence)}% band${curve.simultaneous ? " of the whole curve" : ""}`
          : "band of the report, elsewhere",
      },
    ];
  }

  const builders = {
    "decision-curve": (palette) => {
      const { points, index, useful } = found;
      const ratios = Array.from({ length: TRIED }, (_, k) => 10 ** (from + ((to - from) * k) / (TRIED - 1)));
      const model = ratios.map((ratio) => decision.netBenefit(points, index, ratio));
      const all = ratios.map((ratio) => points.prior - (ratio / (1 - ratio)) * (1 - points.prior));
      const best = ratios.map((ratio) => {
        const odds = ratio / (1 - ratio);
        let most = 0;
        for (let i = 0; i < points.flagged.length; i++) most = Math.max(most, (1 + odds) * points.hits[i] - odds * points.flagged[i]);
        return most;
      });
      const top = Math.max(...best, points.prior, 1e-9);
      const x = log(ratios);
      const flat = { kind: "line", colour: palette.plain };
      return {
        id: "decision-curve",
        title: "Decision curve",
        x: chart.logAxis("cost ratio: price of a flag over worth of a hit", from, to),
        y: { label: "net benefit, hits per row", min: -0.3 * top, max: 1.12 * top },
        layers: [
          ...(useful && useful[0] < useful[1]
            ? [
                {
                  ...{ kind: "between", colour: palette.prior, opacity: 0.1, name: "threshold worth having" },
                  ...{ from: Math.log10(Math.max(useful[0], 1e-12)), to: Math.log10(useful[1]) },
                },
              ]
            : []),
          ...bandLayer(palette),
          { ...flat, x: [from, to], y: [0, 0], width: 1.5, name: "flag none" },
          { ...flat, x, y: all, width: 1.75, dash: "6 4", name: "flag all" },
          { kind: "line", x, y: best, colour: palette.other, width: 1, dash: "2 3", name: "best on these rows (optimistic)" },
          { kind: "line", x, y: model, colour: palette.main, width: 2.5, name: "threshold in use" },
          { kind: "upright", at: Math.log10(state.ratio), colour: palette.accent, width: 2, name: "now" },
        ],
        table: () => ({
          header: ["cost ratio", "threshold in use", "flag all", "flag none", "best on these rows"],
          rows: ratios.map((ratio, k) => [ratio, model[k], all[k], 0, best[k]]),
        }),
        trail: {
          x,
          tell: (k) => [
            `cost ratio ${short(ratios[k])}`,
            `threshold in use ${short(model[k])}`,
            `flag all ${short(all[k])}`,
            `best ${short(best[k])}`,
          ],
          pick: (k) => moveTo({ ratio: ratios[k] }),
        },
      };
    },
    cost: (palette) => {
      const { points, money, place, index, none, all } = found;
      const kept = [];
      for (let i = 1; i < points.flagged.length; i++) if (points.flagged[i] > 0) kept.push(i);
      const x = kept.map((i) => Math.log10(points.flagged[i]));
      const y = kept.map((i) => PER * decision.costAt(points, i, money));
      const least = Math.min(x.length ? x[0] : -1, -1);
      const limited = kept.filter(allowed);
      const isLimited = limited.length < kept.length && limited.length;
      const dear = isLimited ? Math.max(none, all) : Math.min(Math.max(none, all), 6 * Math.min(none, all));
      const high = 1.08 * Math.max(dear, found.use.value, found.choice.value, 1e-9);
      const low = Math.min(0, ...y, found.choice.value);
      const spot = (i, value, colour, name) => ({
        ...{ kind: "point", colour, ring: palette.paper, name },
        ...{ x: i ? Math.log10(points.flagged[i]) : least, y: value },
      });
      return {
        id: "cost",
        title: "What each threshold costs",
        x: chart.logAxis("share of rows flagged", least, 0),
        y: { label: "cost per 1,000 rows", min: low, max: high },
        layers: [
          ...(isLimited
            ? [
                {
                  ...{ kind: "between", colour: palette.prior, opacity: 0.1, name: "allowed" },
                  ...{
                    from: Math.log10(points.flagged[limited[0]]),
                    to: Math.log10(points.flagged[limited[limited.length - 1]]),
                  },
                },
              ]
            : []),
          { kind: "line", x: [least, 0], y: [none, none], colour: palette.plain, width: 1.5, name: "flag none" },
          { kind: "line", x: [least, 0], y: [all, all], colour: palette.plain, width: 1.75, dash: "6 4", name: "flag all" },
          { kind: "line", x, y, colour: palette.main, width: 2.25, name: "flag this share" },
          spot(place, PER * decision.costAt(points, place, money), palette.other, "cheapest"),
          spot(index, PER * decision.costAt(points, index, money), palette.accent, "in use"),
        ],
        table: () => ({
          header: ["threshold", "share flagged", "cost per 1,000 rows"],
          rows: kept.map((i, k) => [thresholds[i - 1], points.flagged[i], y[k]]),
        }),
        trail: {
          x,
          tell: (k) => [
            `threshold ${words.six(thresholds[kept[k] - 1])}`,
            `${percent(points.flagged[kept[k]])} of rows flagged`,
            `cost per 1,000 rows ${amount(y[k])}`,
          ],
          pick: (k) => moveTo({ index: kept[k] }),
        },
      };
    },
  };

  function refresh() {
    compute();
    fill();
    fillControl();
  }

  const result = { refresh, start, builders, clampRatio, typedRatio, found: null };
  return result;
};
