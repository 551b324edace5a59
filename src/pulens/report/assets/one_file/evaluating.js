"use strict";
// The story in a page: counts, class prior, threshold, estimates, and what the report's template is filled with.
const evaluating = (() => {
  // asked: {scenario, labelling, classPrior: [number] or [low, high] or null, audit, threshold: number or null, confidence or null}
  function evaluate(tally, asked) {
    if (!tally.rows) throw new evidence.Refusal(texts.noRows);
    const { labelled, unlabelled } = tally.totals;
    const inPractice = asked.labelling === "practice" && labelled > 0 && unlabelled > 0;
    const prior = asked.audit ? evidence.auditPrior(tally, asked.scenario, asked.audit) : asked.classPrior === null ? unknownPrior(tally, asked.scenario, inPractice) : evidence.givenPrior(tally, asked.scenario, asked.classPrior);
    const given = evidence.make(tally, prior, asked.scenario);
    const evaluation = inPractice ? asLabelled(given, asked) : asIfRandom(evidence.withinPossible(given), asked);
    const { found, values, threshold, doubts } = evaluation;
    const naive = estimates.uncorrected(found);
    Object.assign(evaluation, { estimates: {}, uncorrected: {}, confidence: asked.confidence, choice: asked.threshold === null ? "best F1 on these rows" : "given" });
    for (const facts of fixedFacts.metrics) {
      evaluation.estimates[facts.name] = estimates.estimate(facts, values, threshold, doubts);
      evaluation.uncorrected[facts.name] = estimates.estimate(facts, naive, threshold, null);
    }
    evaluation.thresholdInterval = doubts ? doubts.ofThreshold() : null;
    evaluation.notices = sentences.notices(evaluation);
    return evaluation;
  }

  // Labels favour easy positives as in practice; beside it the values if they were a random draw, where they can be.
  function asLabelled(found, asked) {
    const tilts = practice.tiltsOf(found);
    const values = practice.distorted(found, tilts);
    const threshold = asked.threshold ?? estimates.bestThreshold(values);
    const random = evidence.withinPossible(found);
    const isPossible = !found.prior.isUnknown && !evidence.isContradicted(random);
    const ifRandom = (facts) => (isPossible ? estimates.estimate(facts, random, threshold, null) : { value: NaN });
    return {
      ...{ found, values, threshold, labelling: "practice" },
      doubts: asked.confidence === null ? null : practice.workshop(found, asked.confidence, tilts, values, asked.threshold === null ? threshold : null),
      ifRandom: Object.fromEntries(fixedFacts.metrics.map((facts) => [facts.name, ifRandom(facts)])),
    };
  }

  function asIfRandom(found, asked) {
    evidence.refuseContradiction(found);
    const threshold = asked.threshold ?? estimates.bestThreshold(found);
    const doubts = asked.confidence === null ? null : intervals.workshop(found, asked.confidence, asked.threshold === null ? threshold : null);
    return { found, values: found, threshold, doubts, labelling: "random", ifRandom: null };
  }

  // Nobody knows the class prior: every share that the data cannot exclude, as a range.
  function unknownPrior(tally, scenario, inPractice) {
    if (!tally.totals.unlabelled) return evidence.givenPrior(tally, scenario, [tally.totals.labelled / tally.rows]);
    if (!tally.totals.labelled) throw new evidence.Refusal(texts.noLabelled);
    const limit = inPractice ? evidence.highestPrior(tally, 0.95, fixedFacts.practice.uneven, scenario) : evidence.highestPrior(tally, 0.95);
    const highest = Math.min(limit, inPractice ? fixedFacts.practice.highest : 0.98);
    const ends = [0, highest].map((share) => evidence.populationPrior(share, tally, scenario));
    return { ...evidence.givenPrior(tally, scenario, ends), method: "not known", assumption: texts.priorNotKnown, isUnknown: true };
  }

  // Where the marks of a tile's bar stand, from 0 to 100; empty what is not known.
  function tileBar(evaluation, name) {
    const { value, interval } = evaluation.estimates[name];
    const known = { value, naive: evaluation.uncorrected[name].value, low: interval?.low ?? NaN, high: interval?.high ?? NaN };
    const place = (at) => (Number.isNaN(at) ? "" : numbers.fixed(100 * recovery.clip(at), 2));
    return Object.fromEntries(Object.entries(known).map(([part, at]) => [part, place(at)]));
  }

  // What evaluation.html.j2 is filled with, and the data that its scripts read; `typed` is the same on a command line.
  function context(evaluation, title, typed) {
    const summary = sentences.summarise(evaluation);
    const data = pageData.make(evaluation, summary);
    const rows = [...summary.ranking, ...summary.at_threshold];
    const chips = data.metrics
      .filter(({ name }) => fixedFacts.byName[name].page_computes)
      .map((metric) => ({ ...metric, first: fixedFacts.tiles.includes(metric.name) }));
    const rank = ({ name, first }) => (first ? fixedFacts.tiles.indexOf(name) : fixedFacts.tiles.length);
    const { interval } = evaluation.found.prior;
    const told = (severity) => ({ name: ["NOTE", "WARNING", "SERIOUS"][severity] });
    const shown = summary.notices.map(({ severity, message }) => ({ severity: told(severity), level: severity, message }));
    const isPractice = evaluation.labelling === "practice";
    return {
      data,
      answer: answer.toDict(evaluation, summary),
      title,
      summary,
      tops: [],
      ladder: [],
      tiles: fixedFacts.tiles
        .map((name, k) => [rows.find((row) => row.name === name), tileBar(evaluation, name), k])
        .sort(([a, , i], [b, , j]) => Number(a.is_a_range && i > 0) - Number(b.is_a_range && j > 0) || i - j)
        .map(([row, bar]) => [row, bar]),
      groups: [
        ["From the whole ranking", summary.ranking],
        ["At the threshold", summary.at_threshold],
      ],
      chips: chips.map((chip, k) => [chip, k]).sort(([a, i], [b, j]) => rank(a) - rank(b) || i - j).map(([chip]) => chip),
      derived: rows,
      prior_sentence: sentences.priorWords(evaluation.found),
      audit: null,
      against: [],
      alarming: shown.filter(({ level }) => level > 0),
      notes: shown.filter(({ level }) => level === 0),
      has_reliability: false,
      weighted: isPractice,
      slider_note: fixedFacts.sliders[isPractice ? "practice" : "random"],
      cells: null,
      cell_sentences: [],
      next_steps: summary.next_steps.map((step) => [step.sentence, sentences.shell(step, typed).split(/ (?=--)/)]),
      thinning: sentences.thinningWords(data.thinning),
      interval_name: interval ? (interval.confidence === null ? "range" : `${numbers.percents(interval.confidence, 0)} interval`) : "",
    };
  }

  return { evaluate, context };
})();
if (typeof module !== "undefined") module.exports = evaluating;
