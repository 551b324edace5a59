"use strict";
// The page itself: takes a table, asks what it means, has a worker count it, and shows the report.
(() => {
  const $ = (selector) => document.querySelector(selector);
  const words = texts.page;
  const sourceOf = (id) => document.getElementById(id).textContent;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = words[element.dataset.text];

  // --- the worker --------------------------------------------------------------------------------------------------

  let worker = null;
  let waiting = null;
  let asked = 0;

  function start() {
    // with the scripts of the report that compute, which stand in the file once
    const parts = [...document.querySelectorAll("script[data-shared], #computing")].map((each) => `${each.textContent}\n`);
    const url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({ data }) => {
      if (!waiting || data.id !== waiting.id) return; // of a request that nobody waits for
      if ("progress" in data) return showProgress(data.progress);
      if ("first" in data) return showFirst(data.first);
      const { resolve, reject } = waiting;
      waiting = null;
      if ("refusal" in data) reject(new Error(data.refusal));
      else resolve(data.answer);
    };
  }

  function ask(request, given) {
    if (!worker) start();
    if (waiting) stop();
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject, id: ++asked };
      worker.postMessage({ id: asked, request, ...given });
    });
  }

  // What is under way is dropped with its worker; the next request starts another, and opens the file again.
  function stop() {
    worker.terminate();
    worker = null;
    waiting = null;
    start();
    if (source) worker.postMessage({ id: 0, request: "open", ...source });
  }

  function showProgress(share) {
    const bar = $("#progress progress");
    $("#progress").hidden = false;
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    $("#progress-words").textContent = share === null ? words.computing : words.reading;
  }

  function showFirst(verdict) {
    $("#first").replaceChildren(...[...verdict, words.intervalsFollow].map((text) => Object.assign(document.createElement("p"), { textContent: text })));
  }

  let turn = 0;
  async function busy(work) {
    const mine = ++turn;
    $("#first").replaceChildren();
    $("#problem").hidden = true;
    const later = setTimeout(() => mine === turn && showProgress(null), 150);
    try {
      await work(() => mine === turn);
    } catch (error) {
      if (mine === turn) {
        $("#problem").textContent = error.message;
        $("#problem").hidden = false;
        $("#problem").scrollIntoView({ block: "nearest" });
      }
    } finally {
      clearTimeout(later);
      if (mine === turn) {
        $("#progress").hidden = true;
        $("#first").replaceChildren();
      }
    }
  }

  $("#cancel").addEventListener("click", () => {
    turn += 1;
    $("#first").replaceChildren();
    $("#progress").hidden = true;
    if (waiting) stop();
  });

  // --- taking a table ----------------------------------------------------------------------------------------------

  let source = null;
  let table = null;

  function take(file, name, plans = []) {
    const isAsked = !$("#form").hidden;
    $("#form").hidden = true;
    busy(async (isMine) => {
      if (await audit.takes(file, name, plans, isMine).finally(() => ($("#form").hidden = !isAsked))) return;
      if (!isMine()) return;
      $("#form").hidden = true;
      clearReport();
      source = { file, name };
      const found = await ask("open", source);
      if (!isMine()) return;
      table = found;
      $(".sketch").hidden = true;
      $("#of-a-table").hidden = !table.names;
      if (table.names) {
        showTable();
        await lookAtLabels(isMine);
      } else showTotals();
      if (isMine()) unfold(true);
      if (isMine()) $(table.names ? "#score" : "#way-unknown").focus({ preventScroll: true });
    });
  }

  const zone = $("#drop");
  for (const type of ["dragenter", "dragover"])
    addEventListener(type, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  addEventListener("dragleave", (event) => event.relatedTarget === null && zone.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    takeAll(event.dataTransfer.files);
  });
  // one table, or a queue with its plan
  function takeAll(files) {
    const [plans, others] = [true, false].map((isPlan) => [...files].filter(({ name }) => /\.json$/i.test(name) === isPlan));
    const file = others[0] ?? plans.pop();
    if (file) take(file, file.name, plans);
  }
  $("#choose").addEventListener("click", () => $("#file").click());
  $("#file").addEventListener("change", () => {
    takeAll($("#file").files);
    $("#file").value = "";
  });
  $("#paste").addEventListener("click", () => {
    $("#pasting").hidden = !$("#pasting").hidden;
    $("#paste").setAttribute("aria-expanded", String(!$("#pasting").hidden));
    if (!$("#pasting").hidden) $("#pasted").focus();
  });
  $("#take-pasted").addEventListener("click", () => take(new Blob([$("#pasted").value]), words.pasted));
  $("#example").addEventListener("click", () => take(new Blob([exampleTable()]), "example.csv"));
  // five digits for each row: four of the score, and the label
  const exampleTable = () =>
    ["case,score,confirmed", ...sourceOf("example-table").match(/\d{5}/g).map((row, place) => `${place},0.${row.slice(0, 4)},${row[4]}`)].join("\n");

  // --- asking what it means ----------------------------------------------------------------------------------------

  const option = (value, text) => Object.assign(document.createElement("option"), { value: String(value), textContent: text });
  const shorten = (text, most = 60) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const MOST_SHOWN = 12;

  function showTable() {
    const comma = table.rows.some((row) => row.some((cell) => /^[+-]?\d+,\d+$/.test(cell.trim()))) && table.separator !== ",";
    $("#told").textContent = texts.told(table.names.length, texts.separators[table.separator], comma);
    // score and label first, where a phone shows them
    const places = [...new Set([table.guess.score, ...table.guess.likely, table.guess.label, ...table.names.keys()])].filter((place) => place >= 0).slice(0, MOST_SHOWN);
    const row = (cells, kind) => {
      const line = document.createElement("tr");
      for (const cell of cells) {
        const made = line.appendChild(document.createElement(kind));
        if (kind === "th") made.scope = "col";
        made.appendChild(document.createElement("bdi")).textContent = shorten(cell, 40);
      }
      return line;
    };
    $("#preview thead").replaceChildren(row(places.map((place) => table.names[place]), "th"));
    $("#preview tbody").replaceChildren(...table.rows.map((cells) => row(places.map((place) => cells[place]), "td")));
    const left = table.names.length - places.length;
    $("#more-columns").textContent = left ? texts.moreColumns(left) : "";
    for (const id of ["score", "label"]) {
      const isSure = table.guess[id] >= 0;
      $(`#${id}`).replaceChildren(...(isSure ? [] : [option("", words.choose_column)]), ...table.names.map((name, place) => option(place, shorten(name))));
      $(`#${id}`).value = isSure ? String(table.guess[id]) : "";
    }
  }

  function showTotals() {
    const [labelled, unlabelled, negative] = ["labelled", "unlabelled", "negative"].map((kind) => table.totals[kind].toLocaleString("en-US"));
    $("#told").textContent = texts.toldTally(labelled, unlabelled, table.totals.negative ? texts.toldNegative(negative) : "");
  }

  let values = [];
  async function lookAtLabels(isMine) {
    if (!$("#label").value) {
      for (const id of ["positive", "negative"]) $(`#${id}`).replaceChildren(option("", words.label_first));
      return;
    }
    const found = await ask("values", { label: Number($("#label").value) });
    if (!isMine()) return;
    values = found.values.slice(0, 200);
    const options = () => values.map(({ text, count }, k) => option(k, texts.value(text === "" ? words.empty : shorten(text), count.toLocaleString("en-US"))));
    $("#positive").replaceChildren(...options().filter((_, k) => values[k].text !== ""));
    $("#negative").replaceChildren(option("", words.none), ...options());
    const place = (wanted) => values.findIndex(({ text }) => wanted.includes(text.trim().toLowerCase()));
    const positive = place(["1", "1.0", "true", "yes", "positive", "confirmed"]);
    const rarest = values.reduce((found, { text, count }, k) => (text !== "" && (found < 0 || count < values[found].count) ? k : found), -1);
    $("#positive").value = String(positive >= 0 ? positive : rarest);
    const negative = place(["-1", "-1.0"]);
    $("#negative").value = negative >= 0 && place(["0", "0.0", "", "false"]) >= 0 ? String(negative) : "";
    $("#values-note").textContent = found.isFull ? texts.manyValues(1000) : "";
  }
  $("#label").addEventListener("change", () => busy(lookAtLabels));

  const chosenPrior = () => $("input[name='prior-way']:checked").value;
  const typed = (id) => Number.parseFloat($(id).value.replace(",", "."));
  for (const [id, way] of [["#prior-number-given", "number"], ["#prior-low", "range"], ["#prior-high", "range"], ["#audit-positives", "audit"], ["#audit-checked", "audit"]])
    $(id).addEventListener("input", () => ($(`#way-${way}`).checked = true));

  function askedFor() {
    const way = chosenPrior();
    const audit = way === "audit" ? [Number($("#audit-positives").value || NaN), Number($("#audit-checked").value || NaN)] : null;
    if (audit && !(audit.every(Number.isInteger) && audit[0] >= 0 && audit[0] <= audit[1] && audit[1] > 0)) throw new Error(texts.badAudit);
    const classPrior = way === "unknown" || audit ? null : way === "number" ? [typed("#prior-number-given")] : [typed("#prior-low"), typed("#prior-high")];
    if (classPrior && !classPrior.every((each, k) => each >= 0 && each < 1 && (!k || each >= classPrior[k - 1]))) throw new Error(texts.badPrior);
    const at = $("#threshold-given").value.trim();
    const threshold = at === "" ? null : Number(at.replace(",", "."));
    if (Number.isNaN(threshold)) throw new Error(texts.badThreshold);
    const [scenario, labelling] = ["scenario", "labelling"].map((name) => $(`input[name='${name}-given']:checked`).value);
    const question = { scenario, labelling, classPrior, audit, threshold, confidence: 0.95 };
    if (!table.names) return question;
    const missing = ["score", "label"].filter((id) => !$(`#${id}`).value);
    if (missing.length) {
      $(`#${missing[0]}`).focus();
      throw new Error(texts.noColumn(missing, missing[0] === "score" ? table.guess.likely.map((place) => shorten(table.names[place])) : []));
    }
    const [score, label] = [Number($("#score").value), Number($("#label").value)];
    if (score === label) throw new Error(texts.sameColumn);
    const pick = (id) => ($(id).value === "" ? [] : [values[Number($(id).value)].text]);
    const [positive, negative] = [pick("#positive"), pick("#negative")];
    if (!positive.length) throw new Error(texts.noLabelled);
    return { ...question, score, label, positive, negative: negative[0] === positive[0] ? [] : negative };
  }

  // The same on the command line, an option and its value together.
  function commandOf(asked) {
    const options = [];
    if (table.names) {
      options.push(["--score", table.names[asked.score]], ["--label", table.names[asked.label]], ["--positive", asked.positive[0]]);
      if (asked.negative.length) options.push(["--negative", asked.negative[0]]);
      if (table.separator === "\t") options.push(["--format", "tsv"]);
      else if (table.separator !== ",") options.push(["--delimiter", table.separator]);
      if (table.rows.some((row) => /^[+-]?\d+,\d+$/.test(row[asked.score].trim()))) options.push(["--decimal", ","]);
    }
    options.push(["--scenario", asked.scenario]);
    if (asked.labelling !== "practice") options.push(["--labelling", asked.labelling]);
    if (asked.audit) options.push(["--audit", asked.audit.join("/")]);
    if (asked.classPrior) options.push(["--class-prior", asked.classPrior.join(":")]);
    if (asked.threshold !== null) options.push(["--threshold", String(asked.threshold)]);
    return [["pulens"], ["evaluate"], [source.name], ...options];
  }

  // --- the report --------------------------------------------------------------------------------------------------

  let listening = null;
  let reported = null; // what the report shown was made of

  const version = $("meta[name='generator']").content.replace("pulens ", "");
  const madeOn = () => new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  const origin = () => ({ version, home: $("#home").href, made_on: madeOn() });
  const stem = () => source.name.replace(/\.[^.]*$/, "") || "report";

  function download(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // The report as the command line writes it: one page of its own, with its scripts and styles.
  function wholeReport() {
    const scripts = [...document.querySelectorAll("script[data-report]")].map((each) => filling.safe(each.textContent));
    const given = { styles: filling.safe(sourceOf("report-styles")), scripts, data: filling.safe(safeJson(reported.data)), ...origin() };
    return `${filling.render("evaluation.html.j2", { ...reported, ...given })}\n`;
  }
  $("#save-report").addEventListener("click", () => download(`${stem()}.html`, wholeReport(), "text/html"));
  $("#save-counts").addEventListener("click", () => busy(async () => download(`${stem()}.tally`, await ask("counts", { version }), "application/octet-stream")));
  $("#save-numbers").addEventListener("click", () => download(`${stem()}.json`, `${JSON.stringify(reported.answer, null, 2)}\n`, "application/json"));

  const audit = auditCard({ ask, busy, download, stem, table: () => table, commandOf: (asked) => commandOf(asked), shellOf: (command) => sentencesOf(command) });

  function clearReport() {
    if (listening) listening.abort();
    $("#report").replaceChildren();
    $("#report").hidden = true;
    $("#results").hidden = true;
    $("#asked-line").hidden = true;
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  }

  // the report's scripts in a scope of their own; the policy knows this text by its hash
  const reportScript = () => [...document.querySelectorAll("script[data-report], script[data-around]")].map((each) => each.textContent).join("\n");

  const safeJson = (data) => JSON.stringify(data).replace(/[<>&]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);

  function show(context) {
    clearReport();
    reported = context;
    const text = filling.render("evaluation.html.j2", { ...context, styles: "", scripts: [], data: filling.safe(safeJson(context.data)), ...origin() });
    const made = new DOMParser().parseFromString(text.replace("<style></style>", ""), "text/html"); // the policy knows no empty style
    const parts = ["header.top", "main", "footer", "#page-data"].map((selector) => document.importNode(made.querySelector(selector), true));
    // the page has one main landmark already
    const body = document.createElement("div");
    body.className = parts[1].className;
    body.append(...parts[1].childNodes);
    parts[1] = body;
    $("#report").append(...parts);
    $("#report").hidden = false;
    listening = new AbortController();
    window.reportSignal = listening.signal;
    const script = document.createElement("script");
    script.textContent = reportScript();
    $("#report").append(script);
    $("#done").textContent = words.reportReady;
    $("#report header").scrollIntoView({ block: "start" });
  }

  // The form in a line, once it was used.
  function fold(asked) {
    const prior = asked.audit ? texts.shortAudit(asked.audit) : asked.classPrior ? texts.shortPrior(asked.classPrior.join(" to ")) : texts.shortUnknown;
    const columns = table.names ? [texts.shortColumns(table.names[asked.score], table.names[asked.label], asked.positive[0])] : [];
    $("#asked-line bdi").textContent = [source.name, ...columns, prior, texts.shortLabelling[asked.labelling]].join(" · ");
    unfold(false);
  }
  function unfold(isOpen) {
    $("#form").hidden = !isOpen;
    $("#asked-line").hidden = isOpen;
    $(".start").classList.toggle("used", !isOpen);
  }
  $("#change").addEventListener("click", () => {
    unfold(true);
    $("#evaluate").scrollIntoView({ block: "center" });
  });

  $("#form").addEventListener("submit", (event) => {
    event.preventDefault();
    busy(async (isMine) => {
      const asked = askedFor();
      const command = commandOf(asked);
      const context = await ask("evaluate", { asked, title: table.names ? texts.title(table.names[asked.score], source.name) : source.name, typed: command });
      if (!isMine()) return;
      show(context);
      $("#command-lead").textContent = asked.classPrior || asked.audit ? words.commandLead : words.estimateLead;
      $("#command code").textContent = sentencesOf(command);
      $("#results").hidden = false;
      fold(asked);
      audit.offer(asked, context.answer.threshold);
      offerHere();
    });
  });
  // A reader without a command line draws the rows to check in the card below.
  function offerHere() {
    const [card, step] = [$("#audit-card"), [...document.querySelectorAll("#report .next li")].find((each) => each.textContent.includes("pulens audit plan"))];
    if (!step || card.hidden) return;
    const button = Object.assign(document.createElement("button"), { type: "button", id: "audit-here", textContent: words.auditHere });
    button.addEventListener("click", () => {
      card.open = true;
      card.scrollIntoView({ block: "start" });
    });
    step.querySelector("code").before(button);
  }
  const quoted = (word) => (word !== "" && !/[^\w@%+=:,./-]/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const sentencesOf = (command) => command.flat().map(quoted).join(" ");
})();
