"use strict";
// The leaderboard: what is shown, which marks, whose runs. Every name is written as text, never as markup.
const page = (() => {
  const raw = JSON.parse(document.getElementById("page-data").textContent);
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const MOST_DRAWN = 8;
  const state = {
    condition: raw.start.condition,
    selection: raw.start.selection,
    metric: raw.start.metric,
    find: "",
    hiddenDatasets: new Set(),
    published: false,
    where: raw.datasets.length === 1 ? 0 : "all",
    cost: "seconds",
    device: 0,
    frequency: null,
    drawn: null,
    cell: null,
    run: null,
  };

  const boardOf = (condition = state.condition, metric = state.metric) =>
    raw.boards[`${condition}|${state.selection}|${metric}`];
  // Where few learners were run, a mean over all data sets would be a mean of few learners: such data sets start switched off.
  const begun = boardOf();
  const sparse = raw.datasets
    .map((_, d) => d)
    .filter((d) => begun && begun.mean.filter((row) => row[d] !== null).length < 0.5 * raw.learners.length);
  if (sparse.length < raw.datasets.length) sparse.forEach((d) => state.hiddenDatasets.add(d));

  const datasets = () => raw.datasets.map((_, place) => place).filter((place) => !state.hiddenDatasets.has(place));
  const learners = () =>
    raw.learners
      .map((_, place) => place)
      .filter((m) => {
        const { title, name, family } = raw.learners[m];
        return `${title} ${name} ${family}`.toLowerCase().includes(state.find.toLowerCase());
      });
  const mean = (numbers) =>
    numbers.length ? numbers.reduce((total, value) => total + value, 0) / numbers.length : NaN;

  const sign = () => (raw.lower.includes(state.metric) ? -1 : 1);

  // A learner's metric: on the data set of the charts, or its mean over those shown or some, if it has all of them.
  function value(m, metric, condition = state.condition, place = chartPlace()) {
    const board = boardOf(condition, metric);
    if (!board) return NaN;
    if (Number.isInteger(place)) return board.mean[m][place] === null ? NaN : board.mean[m][place] / raw.scale;
    const there = Array.isArray(place) ? place : datasets().filter((d) => board.mean.some((row) => row[d] !== null));
    if (!there.length || there.some((d) => board.mean[m][d] === null)) return NaN;
    return mean(there.map((d) => board.mean[m][d])) / raw.scale;
  }

  // The data set of the charts. Where nobody has all of them there is no mean to draw: then the one that most have.
  function chartPlace() {
    const board = boardOf();
    if (state.where !== "all" || !board) return state.where;
    if (learners().some((m) => Number.isFinite(value(m, state.metric, state.condition, "all")))) return "all";
    const count = (d) => board.mean.filter((row) => row[d] !== null).length;
    return datasets().reduce((best, d) => (best === "all" || count(d) > count(best) ? d : best), "all");
  }

  // Data sets that all learners drawn were run on under every one of these conditions, those aside that were on none: a
  // mean over others would change its data sets from one condition or line to the next.
  function common(conditions) {
    if (chartPlace() !== "all") return chartPlace();
    const whole = (m) => datasets().filter((d) => conditions.every((c) => Number.isFinite(value(m, state.metric, c, d))));
    const own = drawn().map(whole).filter((sets) => sets.length);
    const shared = datasets().filter((d) => own.length && own.every((sets) => sets.includes(d)));
    return shared.length ? shared : own[0] || [];
  }

  // Mean cost on the device chosen, over the same data sets as the metric beside it, or none.
  function cost(m, kind) {
    const column = kind === "seconds" ? 3 : 4;
    const place = chartPlace();
    const board = boardOf();
    const wanted = place === "all" ? datasets().filter((d) => board && board.mean.some((row) => row[d] !== null)) : [place];
    const own = raw.costs[state.condition].cells.filter(
      (one) => one[0] === m && one[2] === state.device && wanted.includes(one[1]) && one[column] !== null,
    );
    return own.length === wanted.length ? mean(own.map((one) => one[column])) : NaN;
  }
  const device = () => raw.costs[state.condition].devices[state.device] || "";

  function drawn() {
    const shown = learners();
    if (state.drawn) return [...state.drawn].filter((m) => shown.includes(m));
    const ranked = shown
      .filter((m) => !raw.learners[m].truth && Number.isFinite(value(m, state.metric)))
      .sort((a, b) => sign() * (value(b, state.metric) - value(a, state.metric)));
    const first = ranked.slice(0, 4);
    if (raw.reference !== null && ranked.includes(raw.reference) && !first.includes(raw.reference)) first.push(raw.reference);
    return first;
  }

  // Whose own criterion reads true labels depends on the selection shown.
  const isOracle = (m) => Boolean(boardOf() && boardOf().oracle.includes(m));
  const marked = (m) => `${raw.learners[m].marked}${isOracle(m) ? (/[†‡]$/.test(raw.learners[m].marked) ? "§" : " §") : ""}`;

  // Points whose names found no room have numbers instead.
  const tellNumbers = (numbered) =>
    ($("#numbered").textContent = numbered.map((name, k) => `${k + 1} ${name}`).join(", "));

  const ask = { tellNumbers, board: () => boardOf(), learners, marked, value, cost, device, drawn, chartPlace, common, run: () => state.run };
  const { builders, percent, pretty } = leaderboardCharts(raw, state, ask);

  const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });

  function headings(table, names) {
    const row = document.createElement("tr");
    for (const [text, kind] of names) row.append(Object.assign(make("th", text), { scope: "col", className: kind || "" }));
    table.tHead.replaceChildren(row);
    sorting.ready(table);
  }

  function learnerCell(m, withFamily = false) {
    const cell = document.createElement("td");
    const name = make("bdi", raw.learners[m].title);
    cell.append(name);
    cell.dataset.value = raw.learners[m].title;
    if (raw.learners[m].truth) cell.append(" ", make("span", "† true classes", { className: "badge" }));
    if (raw.learners[m].support) cell.append(" ", make("span", raw.learners[m].title.includes("true support") ? "‡" : "‡ true support labels", { className: "badge" }));
    if (raw.learners[m].prior) cell.append(" ", make("span", "¶ told the class prior", { className: "badge", title: "though the method takes none" }));
    if (isOracle(m)) cell.append(" ", make("span", "§ true validation labels", { className: "badge" }));
    if (withFamily) cell.append(make("span", raw.learners[m].family, { className: "family" }));
    return cell;
  }

  // "better", "worse" or "" against the reference on a data set, and the words for it
  function verdict(board, m, d) {
    const sign = raw.reference === null || m === raw.reference ? 0 : board.verdict[m][d];
    return sign ? [sign > 0 ? "better" : "worse", `p = ${board.p[m][d]} (Holm) against ${raw.learners[raw.reference].title}`] : ["", ""];
  }

  function mark(cell, [kind, told]) {
    if (kind)
      cell.append(
        Object.assign(make("span", kind === "better" ? " ▲" : " ▼", { className: `sign ${kind}`, title: told }), {
          ariaLabel: `${kind}: ${told}`,
        }),
      );
  }

  function drawBoard() {
    const table = $("#board");
    const board = boardOf();
    const columns = datasets();
    const published = new Map();
    const canPublish = raw.conditions[state.condition].usual && state.metric === "accuracy" && raw.published.length > 0;
    if (state.published && canPublish) for (const [m, d, figure] of raw.published) published.set(`${m}|${d}`, figure);
    headings(table, [["learner"], ["mean"], ...columns.map((d) => [raw.datasets[d]])]);
    const rows = [];
    const few = new Map((board ? board.undefined : []).map(([m, d, count]) => [`${m}|${d}`, count]));
    const shown = board ? learners().filter((m) => columns.some((d) => board.mean[m][d] !== null)) : [];
    const best = new Map();
    for (const d of columns) {
      const order = shown
        .filter((m) => !raw.learners[m].truth && board.mean[m][d] !== null)
        .sort((a, b) => sign() * (board.mean[b][d] - board.mean[a][d]));
      order.slice(0, 2).forEach((m, place) => best.set(`${m}|${d}`, place ? "second" : "first"));
    }
    for (const m of shown) {
      const row = document.createElement("tr");
      row.dataset.learner = raw.learners[m].name;
      if (raw.learners[m].truth) row.className = "told";
      row.append(learnerCell(m, true));
      const all = value(m, state.metric, state.condition, "all");
      row.append(make("td", percent(all), { className: "value" }));
      for (const d of columns) {
        const cell = document.createElement("td");
        const whole = board.mean[m][d];
        if (whole === null) cell.textContent = "–";
        else {
          cell.dataset.value = String(whole / raw.scale);
          const button = make("button", percent(whole / raw.scale), { type: "button", className: `cell ${best.get(`${m}|${d}`) || ""}` });
          const count = board.n[m][d];
          const counted = count === board.seeds ? "" : `, ${count} seed${count === 1 ? "" : "s"}`;
          button.setAttribute("aria-label", `${raw.learners[m].title} on ${raw.datasets[d]}: ${percent(whole / raw.scale)}${counted}. Show runs`);
          if (board.sd[m][d] !== null)
            button.append(make("span", ` ± ${percent(board.sd[m][d] / raw.scale)}`, { className: "spread" }));
          if (counted) button.append(make("span", ` (${count})`, { className: "count", title: counted.slice(2) }));
          if (few.has(`${m}|${d}`)) button.append(make("span", "?", { title: `undefined in ${few.get(`${m}|${d}`)} runs` }));
          button.addEventListener("click", () => showRuns(m, d));
          cell.append(button);
          mark(cell, verdict(board, m, d));
          if (published.has(`${m}|${d}`))
            cell.append(make("span", `published ${percent(published.get(`${m}|${d}`) / raw.scale)}`, { className: "published" }));
        }
        row.append(cell);
      }
      rows.push(row);
    }
    table.tBodies[0].replaceChildren(...rows);
    table.classList.toggle("oracle-table", state.selection.startsWith("oracle"));
    if (!table.dataset.sorted) table.dataset.sorted = "1d";
    sorting.again(table);
    $("#oracle-warning").hidden = !state.selection.startsWith("oracle");
    $("[data-also=published]").hidden = !canPublish;
    $("#counts").textContent =
      board && shown.some((m) => columns.some((d) => board.n[m][d] !== null && board.n[m][d] !== board.seeds))
        ? `In brackets: the number of seeds, where it is not ${board.seeds}.`
        : "";
    const against = raw.reference === null ? "" : raw.learners[raw.reference].title;
    $("#legend").textContent = !board
      ? "The page holds no runs of this choice of condition and selection: choose each learner's own rule or the best true F1."
      : raw.reference === null
        ? "No significance marks."
        : `▲ ▼: better or worse than ${against} on that data set (paired t-test over seeds, Holm over learners, level 0.05). Bold: best; underlined: second; learners told the truth aside. Tests are over all learners and seeds, whatever is shown.`;
  }

  function drawCompared() {
    const board = boardOf();
    const table = $("#compared");
    headings(table, [["learner"], ["mean rank"], ["wins"], ["ties"], ["losses"], ["P(better)"], ["P(equal)"], ["P(worse)"], ["Wilcoxon p"]]);
    const ranked = new Map();
    if (board && !board.ranking.why) board.ranking.learners.forEach((m, k) => ranked.set(m, board.ranking.ranks[k]));
    const rows = (board ? learners() : [])
      .filter((m) => board.records[m])
      .sort((a, b) => (ranked.get(a) ?? 99) - (ranked.get(b) ?? 99))
      .map((m) => {
        const row = document.createElement("tr");
        row.dataset.learner = raw.learners[m].name;
        row.append(learnerCell(m));
        const put = (name, text) => {
          const cell = make("td", text);
          cell.dataset.name = name;
          row.append(cell);
        };
        put("mean rank", ranked.has(m) ? ranked.get(m).toFixed(2) : "–");
        board.records[m].forEach((count, k) => put(["wins", "ties", "losses"][k], String(count)));
        const over = board.over[m];
        const chances = over ? [over[0], over[1], Math.max(0, 1000 - over[0] - over[1])] : [null, null, null];
        chances.forEach((share, k) => put(["better", "equal", "worse"][k], share === null ? "–" : (share / 1000).toFixed(2)));
        const p = board.wilcoxon[m] ? board.wilcoxon[m][2] : null;
        put("Wilcoxon p", p === null ? "–" : p < 0.001 ? "<0.001" : p.toFixed(3));
        return row;
      });
    table.tBodies[0].replaceChildren(...rows);
    sorting.again(table);
    const ranking = board && board.ranking;
    const against = raw.reference === null ? "" : raw.learners[raw.reference].title;
    $("#ranks-note").textContent = !ranking
      ? ""
      : ranking.why
        ? `No ranks: ${ranking.why}`
        : `Wins, ties and losses: every pair of learners on every data set, paired t-test with Holm.${against ? ` Chances of being better, practically equal and worse, and Wilcoxon's p (Holm): against ${against}, over data sets.` : ""} Ranks over ${ranking.datasets} data sets that all ranked learners have: Friedman p = ${ranking.p}, Iman-Davenport p = ${ranking.f_p}.${ranking.datasets < 5 ? " With so few data sets hardly any difference is clear." : ""}`;
  }

  function drawChoices() {
    const holder = $("#drawn");
    const now = drawn();
    for (const old of [...holder.querySelectorAll("button")]) old.remove();
    for (const m of learners()) {
      const chip = make("button", marked(m), { type: "button" });
      chip.setAttribute("aria-pressed", String(now.includes(m)));
      chip.addEventListener("click", () => {
        const next = new Set(drawn());
        if (next.has(m)) next.delete(m);
        else if (next.size < MOST_DRAWN) next.add(m);
        state.drawn = next;
        refresh();
      });
      holder.append(chip);
    }
  }

  function showRuns(m, d) {
    state.cell = [m, d];
    state.run = raw.runs.find((run) => run.c === state.condition && run.m === m && run.d === d) || null;
    refresh();
    const section = $("#runs");
    section.scrollIntoView({ block: "start" });
    section.focus({ preventScroll: true });
  }

  function drawRuns() {
    const section = $("#runs");
    section.hidden = state.cell === null;
    if (state.cell === null) return;
    const [m, d] = state.cell;
    const mine = raw.runs.filter((run) => run.c === state.condition && run.m === m && run.d === d);
    if (!mine.includes(state.run)) state.run = mine[0] || null;
    $("#h-runs").textContent = `${marked(m)} on ${raw.datasets[d]}`;
    $("#runs-note").textContent = `Positives: ${raw.conditions[state.condition].words}; epochs selected by: ${raw.selection_titles[state.selection]}${state.selection.startsWith("oracle") || (state.selection === "own" && mine.some((run) => run.own?.startsWith("oracle"))) ? " (ORACLE: reads true validation labels)" : ""}. ${mine.length ? "Press a seed to draw its run." : `This page holds ${raw.runs.length} of ${raw.runs_of} runs, and none of these: write one for this condition with --condition.`}`;
    const table = $("#seeds");
    headings(table, [["seed"], ["epoch"], ["of"], ...raw.metrics.map((name) => [pretty(name)]), ["seconds"], ["key", "words"]]);
    const which = raw.selections.indexOf(state.selection);
    const rows = mine.map((run) => {
      const row = document.createElement("tr");
      if (run === state.run) row.className = "picked";
      const place = run.chosen[which];
      const there = place !== null && place !== undefined;
      const first = document.createElement("td");
      const button = make("button", String(run.s), { type: "button", className: "cell" });
      button.setAttribute("aria-pressed", String(run === state.run));
      button.addEventListener("click", () => {
        state.run = run;
        refresh();
      });
      first.append(button);
      row.append(first, make("td", there ? String(run.epochs[place]) : "–"), make("td", String(run.trained)));
      raw.metrics.forEach((metric, k) => {
        const whole = there ? run.values[place][k] : null;
        row.append(make("td", whole === null ? "–" : percent(whole / raw.scale, metric)));
      });
      row.append(make("td", run.seconds === null ? "–" : String(run.seconds)), make("td", run.key, { className: "words key" }));
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
    sorting.again(table);
    const run = state.run;
    const told = [];
    if (run && run.density) {
      const { above, overlap } = run.density;
      told.push(
        `Called positive: ${raw.kinds.map((kind, k) => `${above[k] === null ? "–" : (above[k] / 10).toFixed(1)}% of ${kind}`).join(", ")} rows.`,
        overlap > 0
          ? `The middle halves of hidden positives and negatives overlap (${(overlap / 10).toFixed(0)}% of the narrower): no threshold tells them apart well.`
          : "The middle halves of hidden positives and negatives do not overlap.",
      );
    }
    if (run && run.notices) told.push(...run.notices.map((text) => `Note: ${text.replace(/\.?$/, ".")}`));
    $("#run-words").textContent = told.join(" ");
    drawEstimates(run);
    for (const one of figures.all) if (section.contains(one.figure)) one.measure();
  }

  // What the PU labels of a run's test rows say, beside the truth.
  function drawEstimates(run) {
    const holder = $("#without-negatives");
    if (!holder) return;
    holder.hidden = !(run && run.pu);
    if (holder.hidden) return;
    const place = run.chosen[raw.selections.indexOf("own")];
    const table = $("#estimates");
    headings(table, [["metric"], ["estimate"], ["95% interval"], ["truth"], ["held", "words"]]);
    const share = (whole) => (100 * whole) / raw.estimates;
    const rows = raw.estimated.map(([name, metric], k) => {
      const row = document.createElement("tr");
      const truth = run.values[place][raw.metrics.indexOf(metric)];
      const shown = truth === null ? "–" : percent(truth / raw.scale, metric);
      const [estimate, low, high, held] = run.pu[k];
      const cells =
        run.pu[k].length === 1
          ? ["–", "–", shown, `no answer: ${raw.reasons[estimate]}`]
          : [share(estimate).toFixed(2), `${share(low).toFixed(2)} to ${share(high).toFixed(2)}`, shown, held ? "yes" : "no"];
      row.append(make("td", pretty(name)));
      ["estimate", "95% interval", "truth", "held"].forEach((title, at) => {
        const cell = make("td", cells[at], { className: at === 3 ? `words${cells[3] === "no" ? " missed" : ""}` : "" });
        cell.dataset.name = title;
        row.append(cell);
      });
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
    sorting.again(table);
    const biased = raw.conditions[run.c].alias === "S1" ? "" : " Labels are biased here: intervals need not hold the truth.";
    const others = state.selection === "own" || run.chosen[raw.selections.indexOf(state.selection)] === place ? "" : " That is another epoch than the one of the selection shown above.";
    $("#estimates-note").textContent = `In percent, from the PU labels of the test rows of seed ${run.s} alone with the class prior known, at epoch ${run.epochs[place]} (the learner's own criterion, ${run.own.replace(/_/g, " ")}).${others}${biased}`;
  }

  function press(selector, isOn) {
    for (const chip of $$(selector)) chip.setAttribute("aria-pressed", String(isOn(chip.dataset)));
  }

  function refresh() {
    for (const name of ["metric", "selection", "condition"]) $(`#${name}`).value = String(state[name]);
    $("#where").value = String(state.where);
    const off = sparse.filter((d) => state.hiddenDatasets.has(d)).map((d) => raw.datasets[d]);
    $("#datasets-note").textContent = off.length
      ? `Switched off, since fewer than half of the learners were run there: ${off.join(", ")}.`
      : "";
    press("[data-dataset]", (data) => !state.hiddenDatasets.has(Number(data.dataset)));
    press("[data-also]", (data) => state[data.also]);
    press("[data-cost]", (data) => data.cost === state.cost);
    offerFrequencies();
    offerDevices();
    drawBoard();
    drawCompared();
    drawChoices();
    drawRuns();
    const lacking = learners().filter((m) => Number.isFinite(value(m, "f1")) && !Number.isFinite(cost(m, state.cost)));
    $("#devices").textContent = `Seconds are a run's share of its stack's training, memory the stack's peak over its runs; measured on ${device()}. Costs on different devices do not compare, so the chart shows one.${lacking.length ? ` Not drawn, since not all of these data sets were measured there: ${lacking.map(marked).join(", ")}.` : ""}`;
    figures.drawAll();
    const kept = new URLSearchParams({ metric: state.metric, selection: state.selection, condition: raw.conditions[state.condition].name });
    if (state.run && state.cell) kept.set("run", state.run.key);
    history.replaceState(null, "", `#${kept}`);
  }

  function toggle(set, item) {
    if (set.has(item)) set.delete(item);
    else set.add(item);
  }

  function listen() {
    for (const name of ["metric", "selection"])
      $(`#${name}`).addEventListener("change", (event) => {
        state[name] = event.target.value;
        refresh();
      });
    $("#condition").addEventListener("change", (event) => {
      state.condition = Number(event.target.value);
      refresh();
    });
    $("#where").addEventListener("change", (event) => {
      state.where = event.target.value === "all" ? "all" : Number(event.target.value);
      refresh();
    });
    $("#find").addEventListener("input", (event) => {
      state.find = event.target.value.trim();
      refresh();
    });
    $("#close-runs").addEventListener("click", () => {
      state.cell = null;
      refresh();
      $("#board").scrollIntoView({ block: "nearest" });
    });
    const chips = (selector, act) => {
      for (const chip of $$(selector))
        chip.addEventListener("click", () => {
          act(chip.dataset);
          refresh();
        });
    };
    chips("[data-dataset]", (data) => {
      toggle(state.hiddenDatasets, Number(data.dataset));
      delete $("#board").dataset.sorted; // columns have moved
    });
    chips("[data-also]", (data) => (state[data.also] = !state[data.also]));
    chips("[data-cost]", (data) => (state.cost = data.cost));
  }

  // Chips for a choice that depends on the condition; a single one is no choice.
  function offer(holder, choices, name, chosen) {
    const before = document.activeElement && document.activeElement.dataset[name];
    holder.replaceChildren(
      ...choices.map(([value, text]) => {
        const chip = make("button", text, { type: "button" });
        chip.dataset[name] = String(value);
        chip.setAttribute("aria-pressed", String(value === chosen));
        chip.addEventListener("click", () => {
          state[name] = value;
          refresh();
        });
        return chip;
      }),
    );
    holder.hidden = choices.length < 2;
    const again = [...holder.children].find((chip) => before !== undefined && chip.dataset[name] === before);
    if (again) again.focus();
  }

  // Label frequencies that occur with random and with biased labels, all else as in the condition shown.
  function offerFrequencies() {
    const holder = $("#frequencies");
    if (!holder) return;
    const seen = new Map();
    for (const one of raw.conditions)
      if (one.setting === raw.conditions[state.condition].setting)
        seen.set(one.frequency, [...(seen.get(one.frequency) || []), one.alias]);
    const useful = [...seen]
      .filter(([, strategies]) => strategies.includes("S1") && new Set(strategies).size > 1)
      .map(([frequency]) => frequency);
    if (!useful.includes(state.frequency)) state.frequency = useful.length ? useful[0] : null;
    offer(holder, useful.map((frequency) => [frequency, `label frequency ${frequency}`]), "frequency", state.frequency);
  }

  function offerDevices() {
    const { devices } = raw.costs[state.condition];
    if (!(state.device < devices.length)) state.device = 0;
    offer($("#on-device"), devices.map((name, place) => [place, name]), "device", state.device);
  }

  function fromAddress() {
    const kept = new URLSearchParams(location.hash.slice(1));
    if (raw.metrics.includes(kept.get("metric"))) state.metric = kept.get("metric");
    if (raw.selections.includes(kept.get("selection"))) state.selection = kept.get("selection");
    const condition = raw.conditions.findIndex((one) => one.name === kept.get("condition"));
    if (condition >= 0) state.condition = condition;
    const run = raw.runs.find((one) => one.key === kept.get("run"));
    if (run) {
      state.run = run;
      state.condition = run.c;
      state.cell = [run.m, run.d];
    }
  }

  listen();
  fromAddress();
  for (const figure of $$("figure[data-chart]")) figures.mount(figure, builders[figure.dataset.chart]);
  $("#runs").hidden = state.cell === null;
  for (const one of figures.all) one.measure();
  refresh();
  return { raw, state, value, drawn };
})();
