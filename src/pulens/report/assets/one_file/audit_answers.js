"use strict";
// What people wrote into a queue, matched to its plan: which rows are positive, which negative, which nobody could
// decide. Nonsense is refused in the words of the command line.
const auditAnswers = (() => {
  const { Refusal } = evidence;
  const { sum } = auditPlan;
  const [POSITIVE, NEGATIVE, UNDECIDED, OPEN] = [1, 0, -1, -2];
  const YES = ["1", "yes", "true", "positive", "+"];
  const NO = ["0", "no", "false", "negative", "-", "\u2212"];
  const UNSURE = ["unsure", "undecided", "unclear", "unknown", "maybe", "don't know", "dont know", "not sure", "skip"];
  const MOST_UNDECIDED = 0.05;
  const MEANINGS = new Map([...YES.map((word) => [word, POSITIVE]), ...NO.map((word) => [word, NEGATIVE]), ...UNSURE.map((word) => [word, UNDECIDED]), ["", OPEN], ["?", OPEN]]);

  // --- the plan ----------------------------------------------------------------------------------------------------

  const isWhole = (values) => Array.isArray(values) && values.every((one) => Number.isSafeInteger(one) && one >= 0);
  const areNumbers = (values) => Array.isArray(values) && values.every(Number.isFinite);
  const falls = (values) => values.every((value, k) => !k || value < values[k - 1]);

  // The plan that was written beside a queue, checked in every part.
  function readPlan(text, name) {
    let told;
    try {
      told = JSON.parse(text);
    } catch {
      throw new Refusal(`${name}: this is not the plan of an audit.`);
    }
    if (told === null || typeof told !== "object" || !("pulens_audit" in told)) throw new Refusal(`${name}: this is not the plan of an audit.`);
    if (told.pulens_audit !== 1)
      throw new Refusal(`${name}: a plan of format ${columns.shown(String(told.pulens_audit))}; this version reads format 1. Use the version that wrote it, or a newer one.`);
    if (told.label_noise > 0) throw new Refusal(texts.noisyPlan(name));
    const wrong = problemOf(told);
    if (wrong) throw new Refusal(`${name}: ${wrong}`);
    const { edges, flagged, rows, labelled, known_negative: knownNegative, batches } = told.strata;
    const strata = { threshold: told.threshold, edges, flagged, rows, labelled, knownNegative };
    if (auditQueue.digestOf(strata) !== told.digest)
      throw new Refusal(
        `${name}: the plan was changed since it was written: its counts do not match its digest. Take the file that was written, or plan again.`,
      );
    const { threshold: thresholds, highest } = told.counts;
    const tally = tallies.make(...[thresholds, ...tallies.KINDS.map((kind) => told.counts[kind])].map((values) => Float64Array.from(values)));
    return { ...told, strata, batches, tally: { ...tally, isBinned: highest !== undefined } };
  }

  function problemOf(told) {
    const { strata, rows, counts } = told;
    const size = strata?.rows?.length;
    const lists = [strata?.rows, strata?.labelled, strata?.known_negative, ...(strata?.batches ?? [null])];
    if (!lists.every((list) => isWhole(list) && list.length === size) || !(strata.flagged >= 0 && strata.flagged <= size)) return texts.damagedPlan;
    if (!areNumbers(strata.edges) || strata.edges.length !== size - 1 || !falls(strata.edges) || !Number.isFinite(told.threshold))
      return "the plan is damaged: its strata and their edges do not fit together.";
    const names = rows?.name;
    const areRows = Array.isArray(names) && names.every((name) => typeof name === "string") && new Set(names).size === names.length;
    if (!areRows || ![rows.stratum, rows.score, rows.batch].every((list) => areNumbers(list) && list.length === names.length))
      return "the plan is damaged: its rows are not one name, stratum, score and batch each.";
    if (!isWhole(rows.stratum) || !rows.stratum.every((one) => one < size)) return "the plan is damaged: it names strata that it does not have.";
    for (const [k, batch] of strata.batches.entries())
      if (!batch.every((many, stratum) => many === rows.name.filter((_, i) => rows.batch[i] === k + 1 && rows.stratum[i] === stratum).length))
        return `the plan is damaged: batch ${k + 1} has other rows than it says.`;
    if (!rows.batch.every((one) => one >= 1 && one <= strata.batches.length) || auditQueue.allocated(strata).some((many, k) => many > strata.rows[k]))
      return "the plan is damaged: it holds more rows than there are.";
    const ladder = [counts?.threshold, ...tallies.KINDS.map((kind) => counts?.[kind])];
    const isLadder = ladder.every((list, k) => areNumbers(list) && list.length === ladder[0].length && (k ? isWhole(list) : falls(list)));
    const fits = isLadder && told.label_noise === 0 && ["single-set", "case-control"].includes(told.scenario) && Number.isSafeInteger(told.seed) && told.seed >= 0;
    return fits ? null : texts.damagedPlan;
  }

  // --- the queue ---------------------------------------------------------------------------------------------------

  const fileRow = (place) => `data row ${place + 1}`;

  function wordOf(text) {
    const word = text.trim().split(/\s+/).join(" ").toLowerCase();
    return word === "1.0" || word === "0.0" ? word[0] : word;
  }

  // The cells that matter of every row: what names it, its answer, its probability; blank lines are null.
  async function cellsOf(file, name, plan) {
    const table = await reading.preview(file, name);
    const names = table.names.map(auditQueue.restored);
    const place = (wanted) => {
      const times = names.filter((each) => each === wanted).length;
      if (times > 1) throw new Refusal(`${name}: there are ${times} columns named ${columns.shown(wanted)}. Rename all but one.`);
      if (!times) throw new Refusal(`${name}: there is no column ${columns.shown(wanted)}; the columns are ${columns.listed(names, 30)}.`);
      return names.indexOf(wanted);
    };
    const column = plan.id ?? "row";
    const [answer, own] = [place("answer"), place(column)];
    const chance = names.includes("probability") ? place("probability") : null;
    const named = [...names.keys()].filter((k) => names[k]);
    const rows = [];
    await reading.visitRows(file, name, table, (record) => {
      const isBlank = named.every((k) => record.text(k) === "");
      const cell = (k) => auditQueue.restored(record.text(k));
      rows.push(isBlank ? null : { name: cell(own), answer: cell(answer), chance: chance === null ? null : cell(chance) });
    });
    return { rows, column };
  }

  function checkChances(rows) {
    rows.forEach((row, k) => {
      if (!row || row.chance === null) return;
      const number = reading.numberOfText(row.chance.replaceAll(",", "."), false) ?? NaN;
      if (!(number > 0 && number <= 1))
        throw new Refusal(
          `the probability in ${fileRow(k)} must lie above 0 and be at most 1, got ${row.chance === "" ? "nothing" : columns.shown(row.chance)}. It is the chance that the row was drawn: take the file that was written, or leave the column out.`,
        );
    });
  }

  // spreadsheets turn 007 into 7 and 7 into 7.0
  function loose(text) {
    const word = text.trim();
    const whole = word.endsWith(".0") ? word.slice(0, -2) : word;
    return /^\d{1,299}$/.test(whole) ? String(BigInt(whole)) : word;
  }

  // The planned row that each row of the queue is, and its place there.
  function matched(plan, rows, column) {
    const exact = new Set(plan.rows.name);
    const near = new Map();
    for (const name of plan.rows.name) near.set(loose(name), near.has(loose(name)) ? null : name);
    const [found, strange] = [[], []];
    rows.forEach((row, k) => {
      if (!row) return;
      const name = exact.has(row.name) ? row.name : near.get(loose(row.name));
      if (name === undefined || name === null) strange.push([row.name, k]);
      else found.push([name, k]);
    });
    if (strange.length) {
      const [[first, k]] = strange;
      if (first === "") throw new Refusal(`${fileRow(k)} has no ${columns.shown(column)}, so it is unclear which row was answered.`);
      throw new Refusal(
        `${numbers.whole(strange.length)} row${strange.length > 1 ? "s are" : " is"} not in the plan: ${column} ${columns.listed(strange.map(([name]) => name), 5)}, first in ${fileRow(k)}. Is the plan that of this queue? Rows that were not drawn by it say nothing about the others: take them out.`,
      );
    }
    return found;
  }

  function meaningOf(row, k) {
    const meaning = MEANINGS.get(wordOf(row.answer));
    if (meaning === undefined)
      throw new Refusal(
        `the answer ${columns.shown(row.answer)} in ${fileRow(k)} is neither yes nor no. Answers are ${YES.join(", ")} or ${NO.slice(0, -1).join(", ")}, nothing or ? where there is none, unsure; declare other words where the queue is read: read_audit(..., yes=..., no=...), or pulens audit read --yes and --no.`,
      );
    return meaning;
  }

  // one meaning for each row; a row answered twice must have been answered alike
  function once(given) {
    const [found, different] = [new Map(), []];
    let twice = 0;
    for (const [name, answers] of given) {
      const meanings = [...new Set(answers)].filter((one) => one !== OPEN);
      if (answers.length > 1) twice += 1;
      if (meanings.length > 1) different.push(name);
      found.set(name, meanings[0] ?? OPEN);
    }
    if (different.length)
      throw new Refusal(
        `${numbers.whole(different.length)} row${different.length > 1 ? "s were" : " was"} answered twice, and differently: ${columns.listed(different, 5)}. Keep one answer for each.`,
      );
    return { found, twice };
  }

  function noticesOf(seen, twice, missing, planned) {
    const told = [];
    const note = (code, message) => told.push({ severity: 0, code, message });
    const undecided = seen.filter((one) => one === UNDECIDED).length;
    if (undecided && undecided <= MOST_UNDECIDED * seen.length)
      note("undecided-rows", `${numbers.whole(undecided)} of ${numbers.whole(seen.length)} checked rows have no yes or no: values count them half, and intervals hold whatever they are.`);
    if (missing)
      note(
        "missing-rows",
        `${numbers.whole(missing)} of the ${numbers.whole(planned)} rows of the plan are missing in the queue: those before the last answered row count as undecided, the others as not reached.`,
      );
    if (twice) note("doubled-rows", `${numbers.whole(twice)} row${twice > 1 ? "s stand" : " stands"} in the queue more than once, answered alike: counted once.`);
    return told;
  }

  // Rows after the last answered one were not reached; rows before it without an answer are rows nobody could decide.
  function counted(plan, codes, twice, missing) {
    const reached = codes.findLastIndex((code) => code !== OPEN) + 1;
    const seen = codes.slice(0, reached).map((code) => (code === OPEN ? UNDECIDED : code));
    const { strata, rows } = plan;
    const stratum = rows.stratum.slice(0, reached);
    const count = (test) => strata.rows.map((_, k) => sum(seen.map((code, i) => (stratum[i] === k && test(code) ? 1 : 0))));
    const counts = { ...strata, scenario: plan.scenario, checked: count(() => true), found: count((code) => code === POSITIVE), undecided: count((code) => code === UNDECIDED) };
    const checkedRows = { stratum, score: rows.score.slice(0, reached), answer: seen };
    return { counts, checkedRows, notices: noticesOf(seen, twice, missing, codes.length) };
  }

  async function read(file, name, plan) {
    const { rows, column } = await cellsOf(file, name, plan);
    try {
      checkChances(rows);
      const given = new Map();
      for (const [own, k] of matched(plan, rows, column)) {
        const meaning = meaningOf(rows[k], k);
        if (given.has(own)) given.get(own).push(meaning);
        else given.set(own, [meaning]);
      }
      const { found, twice } = once(given);
      const missing = plan.rows.name.filter((own) => !given.has(own)).length;
      return counted(plan, plan.rows.name.map((own) => found.get(own) ?? OPEN), twice, missing);
    } catch (error) {
      if (error instanceof Refusal) throw new Refusal(`${name}: ${error.message}`);
      throw error;
    }
  }

  return { readPlan, read };
})();
if (typeof module !== "undefined") module.exports = auditAnswers;
