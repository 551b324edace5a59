"use strict";
// The page of a watch: a class prior to move, a window to look at, and every number that follows.
const page = (() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const { live } = data;
  const { short } = words;
  const size = data.names.length;
  const home = { prior: data.base, values: data.home, trust: data.trust };
  const state = { ...home, window: data.scores && data.scores.since ? "since" : String(size - 1) };

  // --- numbers at a class prior ------------------------------------------------------------------------------

  const parts = live && new Float64Array(Uint8Array.from(atob(live.parts.data), (one) => one.charCodeAt(0)).buffer);

  function valuesAt(prior) {
    const least = watchRates.lowest(live.world, prior);
    for (const [k, own] of Object.entries(live.own)) watchRates.fillOwn(parts, Number(k) * watchRates.WIDTH, own, prior);
    const trust = data.trust.map((now, k) => {
      const at = k * watchRates.WIDTH;
      if (live.fixed[k] || live.shifts[k] < least(parts[at + 4])) return "withheld";
      return now === "withheld" ? "doubtful" : now; // the fit was judged at the report's class prior
    });
    const has = (name) => name === "prior" || data.home[name].some((found) => found !== null);
    const values = {};
    for (const name of watchRates.metrics) {
      // without label noise recall is counted, and rests on no class prior
      const still = name === "recall" && !live.world.noise;
      values[name] = data.names.map((_, k) => {
        if (still) return data.home.recall[k];
        if (!has(name) || (trust[k] === "withheld" && name !== "recall")) return null;
        return watchRates.rate(name, live.world, parts, k * watchRates.WIDTH, prior);
      });
    }
    return { prior, values, trust };
  }

  // --- what the reader sees ------------------------------------------------------------------------------------

  const two = (found, sign = "") => `${sign}${found.toFixed(2)}`;
  const cellWords = (found) => (found ? `${two(found[0])} (${two(found[1])} to ${two(found[2])})` : "withheld");

  const inSight = [...document.querySelectorAll("section > div > table.windows tr[data-place]")];
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
      const was = state.prior === home.prior ? null : beforeAt(tile.dataset.tile, state.prior);
      before.textContent = was === null ? before.dataset.before : `reference ${words.three(was)}`;
    }
  }

  // the reference as a window of its own: no shift, its own share flagged
  function beforeAt(name, prior) {
    const [recall, flagged] = [live.world.moments.labelled[3], live.world.moments.population[3]];
    const row = new Float64Array(watchRates.WIDTH).fill(0);
    row.set([0, recall, flagged, flagged, 1]);
    row[15] = NaN;
    const found = watchRates.rate(name, live.world, row, 0, prior);
    return found ? found[0] : NaN;
  }

  function movedWords() {
    const stands = data.alarms.find((alarm) => alarm.line === "share" && alarm.level);
    const at = `If the class prior of the reference were ${short(state.prior)}: `;
    if (!stands) return `${at}the numbers of this page are recomputed here. Alarms need no class prior and stay as they are.`;
    const [value, low, high] = stands.level.map((d) =>
      Math.min(Math.max(state.prior + (1 - data.noise - state.prior) * d, 0), 1),
    );
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

  function moveTo(prior) {
    Object.assign(state, prior === home.prior ? home : valuesAt(prior));
    showPrior();
    paint();
  }

  // --- the class prior's control ---------------------------------------------------------------------------------

  const [slider, field] = [$("#prior"), $("#prior-number")];
  function showPrior() {
    if (state.prior > Number(slider.max)) slider.max = String(state.prior);
    slider.value = String(state.prior);
    slider.setAttribute("aria-valuetext", `class prior ${short(state.prior)}`);
    if (document.activeElement !== field) field.value = short(state.prior);
  }
  const inReach = (prior) => Math.min(Math.max(prior, live.least), live.most);

  if (live) {
    const [low, high] = live.track;
    const place = (value) => Math.min(Math.max((value - low) / (high - low), 0), 1);
    slider.min = String(low);
    slider.max = String(high);
    slider.step = "any";
    $("#track-home").style.left = `calc(9px + ${place(live.value)} * (100% - 18px))`;
    const span = $("#track-interval");
    span.hidden = !(live.high > live.low);
    span.style.left = `calc(9px + ${place(live.low)} * (100% - 18px))`;
    span.style.width = `calc(${place(live.high) - place(live.low)} * (100% - 18px))`;
    slider.addEventListener("input", () => pageState.soon(() => moveTo(inReach(Number(slider.value)))));
    slider.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      moveTo(inReach(Number((state.prior + (step * (high - low)) / 100).toPrecision(6))));
    });
    field.addEventListener("change", () => {
      const typed = Number.parseFloat(field.value);
      field.blur();
      if (Number.isFinite(typed)) moveTo(inReach(typed));
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
