"use strict";
// Rows drawn into a queue, and the two files of it: the rows that people fill in, and the plan that makes their answers
// mean something. Both are those of `pulens audit plan`, byte for byte.
const auditQueue = (() => {
  const { Refusal } = evidence;
  const RESERVED = ["batch", "probability", "answer"];
  const LONGEST_CELL = 131072;

  // --- drawing -----------------------------------------------------------------------------------------------------

  const before = (a, b) => a.high - b.high || a.low - b.low || a.row - b.row;

  // the rows with the smallest keys so far in one range; sorted and cut whenever twice as many have come
  class Held {
    constructor(limit) {
      this.limit = limit;
      this.rows = [];
      this.highest = Infinity; // of the keys that can still be among them
    }
    wants(key) {
      return this.limit > 0 && key.high <= this.highest;
    }
    add(row) {
      if (this.rows.push(row) >= 2 * this.limit + 64) this.cut();
    }
    cut() {
      this.rows.sort(before).splice(this.limit);
      if (this.limit && this.rows.length === this.limit) this.highest = this.rows.at(-1).high;
      return this.rows;
    }
  }

  // Of the unlabelled rows in each range those with the smallest keys, in one pass over the file.
  async function draw({ file, name, table }, asked, plan, progress) {
    const { edges, many, seed, id, keep } = plan;
    const held = many.map((each) => new Held(each + (id === null ? 0 : 1))); // one more shows whether the last id comes twice
    const key = id === null ? auditKeys.ofRows(seed) : auditKeys.ofIds(seed);
    const codeOf = columns.coder(asked);
    const comma = columns.usesComma(table, asked.score);
    await reading.visitRows(
      file,
      name,
      table,
      (record, row) => {
        if (codeOf(record.text(asked.label)) !== 1) return;
        if (id === null) key(row);
        else if (!key(record, id)) throw new Refusal(`data row ${row + 1} has no id: every unlabelled row needs one. Write it, or leave id= (--id) out.`);
        const score = reading.numberOf(record, asked.score, comma);
        let stratum = 0;
        while (stratum < edges.length && score < edges[stratum]) stratum += 1;
        if (held[stratum].wants(key)) held[stratum].add({ high: key.high, low: key.low, row, score, id: id === null ? null : record.text(id), kept: keep.map((place) => record.text(place)) });
      },
      progress,
    );
    const drawn = held.map((each) => each.cut());
    if (id !== null) refuseTwice(drawn);
    return drawn.map((rows, k) => rows.slice(0, many[k]));
  }

  function refuseTwice(drawn) {
    const times = new Map();
    for (const { id } of drawn.flat()) times.set(id, (times.get(id) ?? 0) + 1);
    const twice = [...times].filter(([, many]) => many > 1).map(([id]) => id);
    if (twice.length)
      throw new Refusal(
        `several rows have the id ${columns.listed(twice, 3)}: an answer could not be given to one of them. Name a column that identifies every unlabelled row.`,
      );
  }

  // --- what is written ---------------------------------------------------------------------------------------------

  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
  const FORMULA = /^'*[ \u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
  const isFormula = (text) => FORMULA.test(text) && !NUMBER.test(text);
  const restored = (text) => (text[0] === "'" && isFormula(text) ? text.slice(1) : text);

  // One cell: what a spreadsheet could take for a formula as text.
  function cell(given) {
    const text = isFormula(given) ? `'${given}` : given;
    if (text.length > LONGEST_CELL)
      throw new Refusal(
        `a cell has ${numbers.whole(text.length)} characters, and programs that read CSV files take ${numbers.whole(LONGEST_CELL)} at most. Write .parquet instead, or leave its column out.`,
      );
    return /[",;\t\r\n]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function csv(plan) {
    const { rows, strata } = plan;
    const allocation = allocated(plan);
    const chances = strata.rows.map((many, k) => numbers.general(many > 0 ? allocation[k] / many : 1, 17));
    const lines = [[plan.id ?? "row", ...plan.keep, ...RESERVED]];
    rows.name.forEach((name, k) => lines.push([name, ...rows.kept[k], String(rows.batch[k]), chances[rows.stratum[k]], ""]));
    return lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
  }

  const allocated = ({ batches }) => batches[0].map((_, k) => auditPlan.sum(batches.map((batch) => batch[k])));

  const float = (value) => (Object.is(value, -0) ? "-0.0" : numbers.plain(value));
  const text = (value) => JSON.stringify(value).replace(/[\u007f-\uffff]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const list = (values, write = String) => `[${Array.from(values, write).join(", ")}]`;
  const object = (pairs) => `{${pairs.map(([name, written]) => `${text(name)}: ${written}`).join(", ")}}`;

  function digestOf({ edges, rows, labelled }) {
    const told = `[[${edges.map(float).join(",")}],[${rows.join(",")}],[${labelled.join(",")}]]`;
    return tallyFile.sha256(new TextEncoder().encode(told));
  }

  const MOST_STEPS = 4096;

  // A tally of about so many thresholds; the counts at and just above the scores named stay exact.
  function thinned(tally, exactAt) {
    if (tally.size <= MOST_STEPS) return { ...tally, highest: null };
    const named = exactAt.map((score) => recovery.indexAt(tally.thresholds, score) - 1);
    const places = [...named, ...named.map((place) => place - 1), tally.size - 1];
    for (const kind of tallies.KINDS)
      if (tally.totals[kind]) for (const rank of numbers.evenly(0, tally.totals[kind], Math.floor(MOST_STEPS / 3))) places.push(tallies.search(tally[kind], rank));
    const kept = [...new Set(places)].filter((place) => place >= 0 && place < tally.size).sort((a, b) => a - b);
    const highest = kept.map((_, k) => tally.thresholds[k ? kept[k - 1] + 1 : 0]);
    return { ...tallies.kept(tally, kept), highest };
  }

  const strataText = ({ strata, batches }) =>
    object([
      ["edges", list(strata.edges, float)],
      ["flagged", strata.flagged],
      ["rows", list(strata.rows)],
      ["labelled", list(strata.labelled)],
      ["known_negative", list(strata.knownNegative)],
      ["batches", list(batches, (batch) => list(batch))],
    ]);

  // The plan as JSON, a line for each part.
  function json(plan, tally) {
    const { rows, strata } = plan;
    const ladder = thinned(tally, [...new Set([...strata.edges, strata.threshold, ...rows.score])]);
    const told = [
      ["pulens_audit", 1],
      ["source", text(plan.source)],
      ["id", plan.id === null ? "null" : text(plan.id)],
      ["keep", list(plan.keep, text)],
      ["show_scores", false],
      ["reading", object(Object.entries(plan.reading).map(([name, value]) => [name, Array.isArray(value) ? list(value, text) : text(value)]))],
      ["scenario", text(plan.scenario)],
      ["label_noise", "0.0"],
      ["positives", plan.positives === null ? "null" : float(plan.positives)],
      ["goal", text(plan.goal)],
      ["seed", plan.seed],
      ["threshold", float(strata.threshold)],
      ["threshold_choice", text("given")],
      ["strata", strataText(plan)],
      ["digest", text(digestOf(strata))],
      ["rows", object([["name", list(rows.name, text)], ["stratum", list(rows.stratum)], ["score", list(rows.score, float)], ["batch", list(rows.batch)]])],
      [
        "counts",
        object([
          ["precision", text("float64")],
          ["threshold", list(ladder.thresholds, float)],
          ...(ladder.highest ? [["highest", list(ladder.highest, float)]] : []),
          ...tallies.KINDS.map((kind) => [kind, list(ladder[kind])]),
        ]),
      ],
    ];
    return `{\n${told.map(([name, written]) => `${text(name)}: ${written}`).join(",\n")}\n}\n`;
  }

  // --- the whole of it ---------------------------------------------------------------------------------------------

  function checkColumns(names, id, keep) {
    for (const name of [...keep, ...(id === null ? [] : [id])]) {
      if (RESERVED.includes(name) || (name === "row" && id === null))
        throw new Refusal(`a column named ${columns.shown(name)} cannot be kept: the queue has one of its own (${RESERVED.join(", ")}, row). Rename it, or leave it out.`);
      const times = names.filter((each) => each === name).length;
      if (times > 1) throw new Refusal(`there are ${times} columns named ${columns.shown(name)}. Rename all but one.`);
    }
  }

  // what was said about the rows, as far as it differs from what Python takes for granted
  function readingOf(table, asked) {
    const { names, separator } = table;
    const found = {};
    if (names[asked.score] !== "score") found.score = names[asked.score];
    if (names[asked.label] !== "label") found.label = names[asked.label];
    found.positive = asked.positive;
    if (asked.negative.length) found.negative = asked.negative;
    if (separator === "\t") found.format = "tsv";
    else if (separator !== ",") found.delimiter = separator;
    if (columns.usesComma(table, asked.score)) found.decimal = ",";
    return found;
  }

  // wanted: {budget, goal, seed, threshold, id: place or null, keep: places}
  async function make(opened, asked, tally, wanted, progress) {
    const { table } = opened;
    const { seed, goal, threshold } = wanted;
    const keep = [...new Set(wanted.keep)].filter((place) => place !== wanted.id);
    const [id, kept] = [wanted.id === null ? null : table.names[wanted.id], keep.map((place) => table.names[place])];
    checkColumns(table.names, id, kept);
    const prior = asked.classPrior && !asked.audit ? evidence.givenPrior(tally, asked.scenario, asked.classPrior) : null;
    const positives = prior ? prior.unlabelled * tally.totals.unlabelled : null;
    const { strata, allocation } = auditPlan.make(tally, threshold, wanted.budget, goal, positives);
    const drawn = await draw(opened, asked, { edges: strata.edges, many: allocation, seed, id: wanted.id, keep }, progress);
    const ordered = auditPlan.order(allocation, seed);
    const inOrder = (of) => ordered.map(({ stratum, place }) => of(drawn[stratum][place], stratum));
    const rows = {
      name: inOrder(({ row, id: own }) => own ?? String(row)),
      stratum: inOrder((_, stratum) => stratum),
      score: inOrder(({ score }) => score),
      batch: inOrder(() => 1),
      kept: inOrder(({ kept: cells }) => cells),
    };
    const plan = { strata, batches: [allocation], rows, goal, seed, scenario: asked.scenario, positives, source: opened.name, id, keep: kept, reading: readingOf(table, asked) };
    const budget = auditPlan.sum(allocation);
    const forecast = auditForecast.sentence(strata, allocation, asked.scenario, positives, seed);
    return { queue: csv(plan), plan: json(plan, tally), strata, allocation, budget, forecast, notices: auditPlan.notices(strata, budget) };
  }

  return { make, restored, digestOf, allocated };
})();
if (typeof module !== "undefined") module.exports = auditQueue;
