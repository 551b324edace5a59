"use strict";
// An audit that was answered: the sentences and tables that `pulens audit read` shows, and its numbers as JSON.
const auditShown = (() => {
  const { sum } = auditPlan;
  const { fixed, whole, general } = numbers;
  const SHOWN = ["precision", "recall", "f1", "class_prior", "accuracy", "specificity", "matthews_correlation", "roc_auc"];
  const three = (value) => fixed(value, 3);

  const number = (found) => (found.undefined_because ? "undefined" : three(found.value));

  // an interval as it is shown: one-sided where the value is the end of its scale
  function limits({ value, interval, basis }) {
    if (!interval) return "";
    const { low, high } = interval;
    if (basis === "bounds" && low < high) return `bounds ${three(low)} to ${three(high)}`;
    if (value === 1 && high === 1 && low < 1) return `at least ${three(low)}`;
    if (value === 0 && low === 0 && high > 0) return `at most ${three(high)}`;
    return `${three(low)} to ${three(high)}`;
  }

  function checkedSentence({ counts }) {
    const strata = counts.rows.length;
    const found = (begin, end) => whole(sum(counts.found.slice(begin, end)));
    const words = `${whole(sum(counts.checked))} of ${whole(sum(counts.rows))} unlabelled rows were checked, in ${strata} ${strata === 1 ? "range" : "ranges"} of scores: ${found(0)} positive (${found(0, counts.flagged)} of the flagged rows, ${found(counts.flagged)} of the others)`;
    const undecided = sum(counts.undecided);
    return undecided ? `${words}, ${whole(undecided)} undecided.` : `${words}.`;
  }

  // what the checked rows prove, nothing assumed about labelling
  function verdict({ estimates, counts }) {
    const { percent, doubt } = sentences;
    const { precision, recall, f1 } = estimates;
    let first = `Precision is not known: ${precision.undefined_because}.`;
    if (!Number.isNaN(precision.value))
      first = `Of the rows flagged at ${general(counts.threshold, 4)} or above, ${percent(precision.value)}${doubt(precision.interval)} are truly positive; ${shareFound(recall)}.`;
    const reach = Number.isNaN(f1.value) || f1.basis === "bounds" ? "" : `F1 is ${three(f1.value)}${f1.interval ? ` (${three(f1.interval.low)} to ${three(f1.interval.high)})` : ""}. `;
    return [first, `${reach}This is based on ${whole(sum(counts.checked))} checked rows and assumes nothing about how labels were chosen.`];
  }

  function shareFound({ value, interval, basis, undefined_because: because }) {
    const { percent, doubt } = sentences;
    if (interval && basis === "bounds") return `they are between ${percent(interval.low)} and ${percent(interval.high)} of all positives`;
    if (Number.isNaN(value)) return `what share of all positives they are is not known (${because})`;
    if (value === 1 && interval && interval.low < 1) return `they are at least ${percent(interval.low)} of all positives (none was found below)`;
    return `they are ${percent(value)}${doubt(interval)} of all positives`;
  }

  // --- tables, as the template takes them --------------------------------------------------------------------------

  function picture({ value, interval }) {
    const all = [...(Number.isNaN(value) ? [] : [value]), ...(interval ? [interval.low, interval.high] : [])];
    if (!all.length) return null;
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const step = most - least > 0.1 ? 0.1 : 0.01;
    const low = Math.floor(least / step + 1e-9) * step;
    const high = Math.max(Math.ceil(most / step - 1e-9) * step, low + step);
    const place = (at) => `${fixed(2 + (96 * (at - low)) / (high - low), 2)}%`;
    const tick = (at) => fixed(at, 2).replace(/0+$/, "").replace(/\.$/, "") || "0";
    const one = interval && { low: place(interval.low), high: place(interval.high), at: Number.isNaN(value) ? "" : place(value) };
    return { one, recovered: "", from: tick(low), to: tick(high) };
  }

  function columnsTable(estimates) {
    const titleOf = (name) => (name === "class_prior" ? "Class prior" : fixedFacts.byName[name].title);
    const rows = SHOWN.filter((name) => estimates[name]).map((name) => {
      const found = estimates[name];
      return { title: titleOf(name), one: number(found), one_limits: limits(found), recovered: "", picture: picture(found) };
    });
    return { has_recovered: false, contradicted: "", rows };
  }

  function rangeWords(place, strata, edges) {
    if (strata === 1) return "1";
    if (place === 0) return `${general(edges[0], 4)} or more`;
    return place === strata - 1 ? `below ${general(edges.at(-1), 4)}` : `${general(edges[place], 4)} to ${general(edges[place - 1], 4)}`;
  }

  function strataTable({ counts }) {
    const positives = auditEstimates.positivesOf(counts);
    const widest = Math.max(...counts.rows, 1);
    const rows = counts.rows.map((size, k) => {
      const [checked, found, undecided] = [counts.checked[k], counts.found[k], counts.undecided[k]];
      const end = (up) => auditLimits.stratumLimits(size, checked, found + (up ? undecided : 0), auditEstimates.CONFIDENCE)[up] / Math.max(size, 1);
      const [low, high, share] = [end(0), end(1), size > 0 ? positives[k] / size : NaN];
      const isUnknown = Number.isNaN(share);
      return {
        range: rangeWords(k, counts.rows.length, counts.edges),
        flagged: k < counts.flagged,
        size: whole(size),
        wide: fixed((100 * size) / widest, 1),
        checked: whole(checked),
        fraction: size ? numbers.percents(checked / size, 1) : "",
        found: whole(found),
        undecided: undecided ? whole(undecided) : "",
        labelled: whole(counts.labelled[k]),
        low: `${fixed(2 + 96 * low, 2)}%`,
        high: `${fixed(2 + 96 * high, 2)}%`,
        at: isUnknown ? "" : `${fixed(2 + 96 * share, 2)}%`,
        share_words: `${isUnknown ? "not checked" : three(share)} (${three(low)} to ${three(high)})`,
      };
    });
    return { name: "scores", rows };
  }

  // --- numbers as JSON ---------------------------------------------------------------------------------------------

  const finite = (value) => (Number.isFinite(value) ? value : null);

  function estimateDict({ value, interval, basis, rests_on, undefined_because, threshold }) {
    const told = { value: finite(value), low: null, high: null, basis, target: "rows", ...(interval && { ...interval, low: finite(interval.low), high: finite(interval.high), guarantee: interval.confidence === null ? "possible set" : "design-based" }), rests_on };
    if (undefined_because) told.undefined_because = undefined_because;
    if (threshold !== null) told.threshold = finite(threshold);
    return told;
  }

  // The keys of `pulens audit read --json`; what the page does not compute is null.
  function toDict({ plan, counts, estimates, notices }) {
    const levels = ["note", "warning", "serious"];
    return {
      scenario: counts.scenario,
      threshold: finite(counts.threshold),
      goal: plan.goal,
      confidence: auditEstimates.CONFIDENCE,
      interval: "balanced",
      seed: plan.seed,
      checked: sum(counts.checked),
      found: sum(counts.found),
      undecided: sum(counts.undecided),
      strata: counts.rows.map((rows, k) => ({
        rows,
        checked: counts.checked[k],
        found: counts.found[k],
        undecided: counts.undecided[k],
        labelled: counts.labelled[k],
        known_negative: counts.knownNegative[k],
        probability: rows ? counts.checked[k] / rows : null,
        flagged: k < counts.flagged,
      })),
      estimates: Object.fromEntries(Object.entries(estimates).map(([name, found]) => [name, estimateDict(found)])),
      labelling: null,
      notices: notices.map(({ severity, code, message }) => ({ severity: levels[severity], code, message })),
      forecast: null,
    };
  }

  // Everything that the page shows of a queue: what is filled into its template, and the numbers to save.
  async function read(file, name, planText, planName) {
    const plan = auditAnswers.readPlan(planText, planName);
    const { counts, checkedRows, notices: told } = await auditAnswers.read(file, name, plan);
    if (!sum(counts.checked)) return { isEmpty: true };
    const given = [counts, checkedRows, plan.tally, plan.seed];
    const estimates = { ...auditEstimates.estimates(counts, plan.seed), roc_auc: auditArea.estimate(...given), average_precision: auditPrecision.estimate(...given) };
    const few = auditPlan.notices(plan.strata, sum(auditQueue.allocated(plan))).filter(({ code }) => code === "few-labelled");
    const notices = [...told, ...few, ...auditEstimates.cautions(counts)].sort((a, b) => b.severity - a.severity);
    const found = { plan, counts, estimates, notices };
    const shown = notices.map(({ severity, message }) => ({ severity: { name: ["NOTE", "WARNING", "SERIOUS"][severity] }, level: severity, message }));
    return {
      checked: checkedSentence(found),
      verdict: verdict(found),
      alarming: shown.filter(({ level }) => level > 0),
      notes: shown.filter(({ level }) => level === 0),
      table: columnsTable(estimates),
      strata: strataTable(found),
      answer: toDict(found),
    };
  }

  return { read };
})();
if (typeof module !== "undefined") module.exports = auditShown;
