"use strict";
// The page of a watch: a class prior to move, a window to look at, and every number that follows.
const page = (() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const { live } = data;
  const { short } = words;
  const size = data.names.length;
  const home = { prior: data.base, values: data.home, trust: data.trust, sizes: data.sizes, before: null };
  const state = { ...home, window: data.scores && data.scores.since ? "since" : String(size - 1) };

  // --- numbers at a class prior ------------------------------------------------------------------------------

  const valuesAt = live && watchLive.of(live, size);

  // --- what the reader sees ------------------------------------------------------------------------------------

  const two = (found, sign = "") => `${sign}${found.toFixed(2)}`;
  const cellWords = (found) => (found ? `${two(found[0])} (${two(found[1])} to ${two(found[2])})` : "withheld");

  const inSight = [...document.querySelectorAll("#every-window > div > table.windows tr[data-place]")];
  const earlier = $("#earlier-windows");
  const behind = earlier ? [...earlier.querySelectorAll("tr[data-place]")] : [];

  function paintRows(rows) {
    for (const row of rows) {
      const k = Number(row.dataset.place);
      row.className = state.trust[k];
      for (const cell of row.cells) {
        if ("trust" in cell.dataset) cell.textContent = state.trust[k] === "ok" ? "yes" : state.trust[k];
        if (!cell.dataset.live) continue;
        const found = state.values[cell.dataset.live][k];
        cell.textContent = cellWords(found);
        cell.dataset.value = found ? found.join(" ") : "";
      }
    }
  }

  // hundreds of rows that nobody sees wait until they are opened
  function paintTable() {
    paintRows(inSight);
    if (earlier && earlier.open) paintRows(behind);
  }
  if (earlier) earlier.addEventListener("toggle", () => live && earlier.open && paintRows(behind));

  function paintTiles() {
    for (const tile of $$("[data-tile]")) {
      const found = state.values[tile.dataset.tile][size - 1];
      tile.querySelector(".big").textContent = found ? words.three(found[0]) : "withheld";
      tile.querySelector(".range").textContent = found ? `${words.three(found[1])} to ${words.three(found[2])}` : "";
      const before = tile.querySelector("[data-before]");
      if (!before) continue;
      const was = state.before && state.before[tile.dataset.tile];
      before.textContent = was === null ? before.dataset.before : `reference ${words.three(was)}`;
    }
  }

  function movedWords() {
    const stands = data.alarms.find((alarm) => alarm.line === "share" && alarm.level);
    const at = `If the class prior of the reference were ${short(Number(state.prior.toPrecision(3)))}: `;
    if (!stands) return `${at}the numbers of this page are recomputed here. Alarms need no class prior and stay as they are.`;
    const [value, low, high] = state.sizes.slice(2);
    return `${at}the share of positives since ${data.names[stands.since]} is ${short(Number(value.toPrecision(3)))} (${short(Number(low.toPrecision(3)))} to ${short(Number(high.toPrecision(3)))}). Alarms need no class prior and stay as they are.`;
  }

  function paint() {
    const moved = state.prior !== home.prior;
    paintTable();
    paintTiles();
    $("#moved").hidden = !moved;
    $("#moved span").textContent = moved ? movedWords() : "";
    $("#reset").disabled = !moved;
    figures.drawAll();
  }

  // to the nearest class prior at which there are numbers
  function moveTo(prior) {
    const at = watchLive.nearest(live.priors, prior);
    Object.assign(state, live.priors[at] === home.prior ? home : valuesAt(at));
    showPrior();
    paint();
  }

  // --- the class prior's control ---------------------------------------------------------------------------------

  const [slider, field] = [$("#prior"), $("#prior-number")];
  function showPrior() {
    slider.value = String(watchLive.nearest(live.priors, state.prior));
    slider.setAttribute("aria-valuetext", `class prior ${short(state.prior)}`);
    if (document.activeElement !== field) field.value = short(Number(state.prior.toPrecision(3)));
  }

  if (live) {
    const last = live.priors.length - 1;
    const place = (value) => watchLive.nearest(live.priors, value) / last;
    slider.max = String(last);
    $("#track-home").style.left = `calc(9px + ${place(live.value)} * (100% - 18px))`;
    const span = $("#track-interval");
    span.hidden = !(live.high > live.low);
    span.style.left = `calc(9px + ${place(live.low)} * (100% - 18px))`;
    span.style.width = `calc(${place(live.high) - place(live.low)} * (100% - 18px))`;
    slider.addEventListener("input", () => moveTo(live.priors[Number(slider.value)]));
    field.addEventListener("change", () => {
      const typed = Number.parseFloat(field.value);
      field.blur();
      if (typed > 0) moveTo(typed);
      else showPrior();
    });
    for (const button of [$("#reset"), $("#moved button")]) button.addEventListener("click", () => moveTo(home.prior));
    showPrior();
  }

  // --- the window whose scores are drawn ---------------------------------------------------------------------------

  const select = $("#scores-window");
  function chosen() {
    if (state.window === "since") return { name: `all since ${data.scores.since[0]}`, shares: data.scores.since[1] };
    return { name: data.names[Number(state.window)], shares: data.scores.windows[Number(state.window)] };
  }
  function choose(window) {
    state.window = String(window);
    select.value = state.window;
    document.querySelector("#chart-scores").closest("details").open = true;
    const drawn = figures.all.find((one) => one.figure.id === "chart-scores");
    if (drawn) drawn.draw();
  }
  if (select) {
    const option = (value, text) => select.append(Object.assign(document.createElement("option"), { value, textContent: text }));
    if (data.scores.since) option("since", `all windows since ${data.scores.since[0]}`);
    for (let k = size - 1; k >= 0; k--) option(String(k), data.names[k]);
    select.value = state.window;
    select.addEventListener("change", () => choose(select.value));
  }

  const view = {
    data,
    get values() {
      return state.values;
    },
    get trust() {
      return state.trust;
    },
    get prior() {
      return state.prior;
    },
    get sizes() {
      return state.sizes;
    },
    why: (k) => (state.prior === home.prior ? data.why[k] : null),
    chosen,
    pick: (k) => data.scores && k >= 0 && choose(k),
  };
  const builders = {
    positives: watchCharts.positives,
    precision: watchCharts.metric("precision"),
    recall: watchCharts.metric("recall"),
    f1: watchCharts.metric("f1"),
    evidence: watchCharts.evidence,
    "labels-rate": watchCharts.labels("rate"),
    "labels-recall": watchCharts.labels("recall"),
    scores: watchCharts.scores,
  };
  for (const figure of $$("figure[data-chart]")) {
    const build = builders[figure.dataset.chart];
    figures.mount(figure, (palette) => build(view, palette));
  }
  figures.redrawAll();
  return { state, moveTo };
})();
