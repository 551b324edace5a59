"use strict";
// The card that has rows checked: what it asks, the queue it saves, and what it says about the rows drawn.
const auditCard = (page) => {
  const $ = (selector) => document.querySelector(selector);
  const words = texts.page;
  const MOST_COLUMNS = 200;
  const made = (kind, text, more = {}) => Object.assign(document.createElement(kind), { textContent: text, ...more });
  const option = (value, text) => made("option", text, { value: String(value) });
  const shorten = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

  let asked = null; // what the report shown was asked for
  let drawn = null; // the queue saved last

  let offered = null; // columns of the table that the card is filled for
  $("#audit-goal").replaceChildren(...Object.entries(texts.goals).map(([goal, text]) => option(goal, text)));
  for (const [id, value] of Object.entries({ budget: "200", goal: "all", seed: "0" })) $(`#audit-${id}`).value = value;

  // After a report: ready for its table, at its threshold. Counts without rows have none to check.
  function offer(question, threshold) {
    asked = question;
    const { names } = page.table();
    $("#audit-card").hidden = !names || threshold === null;
    $("#audit-planned").hidden = true;
    $("#audit-threshold").value = String(threshold);
    if (!names || names === offered) return;
    offered = names;
    const shown = names.slice(0, MOST_COLUMNS);
    $("#audit-id").replaceChildren(option("", words.rowNumber), ...shown.map((name, place) => option(place, shorten(name))));
    $("#audit-id").value = page.table().unique ?? "";
    $("#audit-keep").replaceChildren(
      ...shown.map((name, place) => {
        const label = document.createElement("label");
        const tick = Object.assign(document.createElement("input"), { type: "checkbox", value: String(place) });
        label.append(tick, " ", made("bdi", shorten(name)));
        return label;
      }),
    );
    $("#audit-more-columns").textContent = names.length > shown.length ? texts.moreColumns(names.length - shown.length) : "";
  }

  function wanted() {
    const whole = (id, refusal) => {
      const text = $(id).value.replaceAll(/[\s,']/g, "");
      if (!/^\d{1,15}$/.test(text)) throw new Error(refusal);
      return Number(text);
    };
    const text = $("#audit-threshold").value.trim().replace(",", ".");
    const threshold = text === "" ? NaN : Number(text);
    if (!Number.isFinite(threshold)) throw new Error(texts.badThreshold);
    const id = $("#audit-id").value;
    const keep = [...document.querySelectorAll("#audit-keep input:checked")].map((each) => Number(each.value));
    return { budget: whole("#audit-budget", texts.badBudget), seed: whole("#audit-seed", texts.badSeed), goal: $("#audit-goal").value, threshold, id: id === "" ? null : Number(id), keep };
  }

  // The same on the command line.
  function commandOf(given, queue) {
    const { names } = page.table();
    const own = ["--audit", "--threshold"];
    const [program, , file, ...rest] = page.commandOf(asked);
    const options = [["--threshold", String(given.threshold)], ["--budget", String(given.budget)]];
    if (given.goal !== "all") options.push(["--goal", given.goal]);
    if (given.seed) options.push(["--seed", String(given.seed)]);
    if (given.id !== null) options.push(["--id", names[given.id]]);
    for (const place of given.keep) options.push(["--keep", names[place]]);
    return [program, ["audit"], ["plan"], file, ...rest.filter(([name]) => !own.includes(name)), ...options, ["--out", queue]];
  }

  const grouped = (many) => many.toLocaleString("en-US");
  const short = (number) => String(Number(number.toPrecision(6)));

  function rangeOf({ edges, flagged }, place) {
    const [low, high] = [edges[place], edges[place - 1]];
    const isFlagged = place < flagged;
    if (low === undefined && high === undefined) return texts.rangeAll(isFlagged);
    if (high === undefined) return texts.rangeTop(short(low), isFlagged);
    return low === undefined ? texts.rangeBottom(short(high)) : texts.rangeBetween(short(low), short(high));
  }

  function showPlan({ strata, allocation, budget, forecast, notices }) {
    const row = (cells, kind) => {
      const line = document.createElement("tr");
      line.append(...cells.map((cell) => made(kind, cell, kind === "th" ? { scope: "col" } : {})));
      if (kind === "td") cells.forEach((_, k) => k && (line.children[k].dataset.name = words.strataHeads[k])); // on a phone
      return line;
    };
    const all = strata.rows.reduce((sum, many) => sum + many, 0);
    $("#audit-done").textContent = texts.queued(grouped(budget), grouped(all), short(strata.threshold));
    $("#audit-strata thead").replaceChildren(row(words.strataHeads, "th"));
    $("#audit-strata tbody").replaceChildren(
      ...allocation.map((many, k) => row([rangeOf(strata, k), ...[strata.rows[k], strata.labelled[k], many].map(grouped), many ? (strata.rows[k] / many).toFixed(1) : "-"], "td")),
    );
    $("#audit-forecast").textContent = forecast;
    $("#audit-notices").replaceChildren(...notices.map(({ message }) => made("li", message)));
    $("#audit-planned").hidden = false;
  }

  $("#audit-form").addEventListener("submit", (event) => {
    event.preventDefault();
    page.busy(async (isMine) => {
      const given = wanted();
      const name = `${page.stem()}-queue.csv`;
      const found = await page.ask("queue", { asked, wanted: given });
      if (!isMine()) return;
      drawn = { text: found.plan, name: planName(name) };
      page.download(name, found.queue, "text/csv");
      showPlan(found);
      $("#audit-command").textContent = page.shellOf(commandOf(given, name));
    });
  });
  $("#save-plan").addEventListener("click", () => page.download(drawn.name, drawn.text, "application/json"));

  // --- the answers -------------------------------------------------------------------------------------------------

  const planName = (queue) => `${queue.replace(/\.[^.]*$/, "")}.audit.json`;

  // A queue is told from a table by the columns that only a queue has, a plan by its beginning.
  async function kindOf(file, name) {
    const bytes = new Uint8Array(await file.slice(0, 1 << 16).arrayBuffer());
    const head = new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8").decode(bytes);
    if (/\.json$/i.test(name) || /^\s*\{\s*"pulens_audit"/.test(head)) return "plan";
    const names = head.split(/[\r\n]/, 1)[0].split(/[,;\t]/).map((each) => each.trim().replace(/^"(.*)"$/, "$1"));
    const own = drawn ? ["batch", "answer"] : ["batch", "probability", "answer"]; // reviewers may have dropped a column
    return own.every((each) => names.includes(each)) ? "queue" : "table";
  }

  // Whether a file was no table but a queue or its plan, and was read as such.
  async function takes(file, name, plans, isMine) {
    for (const plan of plans) drawn = { text: await plan.text(), name: plan.name };
    const kind = await kindOf(file, name);
    if (kind === "table") {
      $("#audited").hidden = true;
      return false;
    }
    if (kind === "plan") {
      const text = await file.text();
      await page.ask("plan", { plan: text, planName: name });
      drawn = { text, name };
      if (isMine()) showSection(made("p", texts.planTaken(name), { id: "audited-title", tabIndex: -1 }));
      return true;
    }
    if (!drawn) throw new Error(texts.noPlan(name, planName(name)));
    const found = await page.ask("answers", { file, name, plan: drawn.text, planName: drawn.name }).catch((error) => {
      throw plans.length || !error.message.includes("not in the plan") ? error : new Error(`${error.message} ${texts.heldPlan(drawn.name)}`);
    });
    if (isMine()) showAnswers(found, name);
    return true;
  }

  function showSection(...parts) {
    const section = $("#audited");
    section.replaceChildren(...parts);
    section.hidden = false;
    $("#audited-title").focus({ preventScroll: true });
    section.scrollIntoView({ block: "start" });
  }

  function showAnswers(found, name) {
    if (found.isEmpty) throw new Error(texts.noAnswers(name));
    const command = page.shellOf([["pulens"], ["audit"], ["read"], [name], ...(drawn.name === planName(name) ? [] : [["--plan", drawn.name]])]);
    const filled = new DOMParser().parseFromString(filling.render("one_file_audited.html.j2", { ...found, words, name, command }), "text/html");
    showSection(...filled.body.childNodes);
    $("#save-audit").addEventListener("click", () => page.download(`${name.replace(/\.[^.]*$/, "")}.json`, `${JSON.stringify(found.answer, null, 2)}\n`, "application/json"));
  }

  return { offer, takes };
};
