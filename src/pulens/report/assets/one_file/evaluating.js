"use strict";
// The story in a page: counts, class prior, threshold, estimates, and what the report's template is filled with.
const evaluating = (() => {
  // asked: {scenario, classPrior: [number] or [low, high] or null, threshold: number or null, confidence or null}
  function evaluate(tally, asked) {
    if (!tally.rows) throw new evidence.Refusal(texts.noRows);
    const prior = asked.audit ? evidence.auditPrior(tally, asked.scenario, asked.audit) : asked.classPrior === null ? unknownPrior(tally, asked.scenario) : evidence.givenPrior(tally, asked.scenario, asked.classPrior);
    const found = evidence.withinPossible(evidence.make(tally, prior, asked.scenario));
    evidence.refuseContradiction(found);
    const threshold = asked.threshold ?? estimates.bestThreshold(found);
    const choice = asked.threshold === null ? "best f1 on these rows" : "given";
    const money = costCard.usualCosts(found.prior.value);
    const doubts = asked.confidence === null ? null : intervals.workshop(found, asked.confidence, choice === "given" ? null : threshold, money);
    const naive = estimates.uncorrected(found);
    const evaluation = { found, threshold, choice, confidence: asked.confidence, money, doubts, estimates: {}, uncorrected: {} };
    for (const facts of fixedFacts.metrics) {
      evaluation.estimates[facts.name] = estimates.estimate(facts, found, threshold, doubts);
      evaluation.uncorrected[facts.name] = estimates.estimate(facts, naive, threshold, null);
    }
    evaluation.thresholdInterval = doubts ? doubts.ofThreshold() : null;
    evaluation.other = estimates.otherScenario(found, evaluation.estimates, threshold);
    evaluation.notices = sentences.notices(evaluation);
    return evaluation;
  }

  // Nobody knows the class prior: every share that the data cannot exclude, as a range.
  function unknownPrior(tally, scenario) {
    if (!tally.totals.unlabelled) return evidence.givenPrior(tally, scenario, [tally.totals.labelled / tally.rows]);
    if (!tally.totals.labelled) throw new evidence.Refusal(texts.noLabelled);
    const highest = Math.min(evidence.highestPrior(tally, 0.95), 0.98);
    const ends = [0, highest].map((share) => evidence.populationPrior(share, tally, scenario));
    return {
      ...evidence.givenPrior(tally, scenario, ends),
      method: "not known",
      assumption: "Nobody gave the class prior: it may be any share that the scores leave room for.",
      isUnknown: true,
    };
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
    evaluation.ladder = ladder.of(evaluation, evaluation.doubts);
    const data = pageData.make(evaluation, summary);
    const rows = [...summary.ranking, ...summary.at_threshold];
    const chips = data.metrics
      .filter(({ name }) => fixedFacts.byName[name].page_computes)
      .map((metric) => ({ ...metric, first: fixedFacts.tiles.includes(metric.name) }));
    const rank = ({ name, first }) => (first ? fixedFacts.tiles.indexOf(name) : fixedFacts.tiles.length);
    const { interval } = evaluation.found.prior;
    const told = (severity) => ({ name: ["NOTE", "WARNING", "SERIOUS"][severity] });
    const shown = summary.notices.map(({ severity, message }) => ({ severity: told(severity), level: severity, message }));
    return {
      data,
      answer: answer.toDict(evaluation, summary),
      title,
      summary,
      tops: [],
      ladder: ladder.rows(evaluation.ladder),
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
      segments: null,
      against: [],
      alarming: shown.filter(({ level }) => level > 0),
      notes: shown.filter(({ level }) => level === 0),
      has_sensitivity: data.sensitivity !== null,
      has_bounds: data.bounds,
      has_reliability: false,
      card: costCard.asShown(data.decision),
      weighted: false,
      cells: null,
      cell_sentences: [],
      next_steps: summary.next_steps.map((step) => [step.sentence, sentences.shell(step, typed)]),
      thinning: sentences.thinningWords(data.thinning),
      interval_name: interval ? (interval.confidence === null ? "range" : `${numbers.percents(interval.confidence, 0)} interval`) : "",
    };
  }

  // The same with one evaluation per group; where nobody knows the class prior, over those that the rows cannot exclude.
  function withSegments(context, column, tally, groups, asked) {
    const isUnknown = asked.classPrior === null && !asked.audit;
    const classPrior = isUnknown ? priorEnds(unknownPrior(tally, asked.scenario)) : asked.classPrior;
    const told = segments.evaluate(column, tally, groups, { ...asked, classPrior, isUnknown });
    const { summary } = context;
    const assumptions = [...summary.assumptions, ...segments.assumptions(told, summary.assumptions)];
    return { ...context, summary: { ...summary, assumptions }, segments: segments.context(told, groups), segmentNumbers: segments.toDict(told) };
  }
  const priorEnds = ({ value, interval }) => (interval ? [interval.low, interval.high] : [value]);

  return { evaluate, context, withSegments };
})();
if (typeof module !== "undefined") module.exports = evaluating;
