"use strict";
// An evaluation as plain values, with the keys of `pulens evaluate --json`.
const answer = (() => {
  const finite = (value) => (Number.isFinite(value) ? value : null);
  const guarantee = (found) => found.guarantee ?? (found.confidence === null || found.confidence === undefined ? "possible set" : "asymptotic");
  const interval = (found) => found && {
    low: finite(found.low),
    high: finite(found.high),
    confidence: found.confidence,
    method: found.method,
    guarantee: guarantee(found),
  };

  function estimate(found) {
    const told = { value: finite(found.value), low: null, high: null, basis: found.basis, target: "population", ...interval(found.interval) };
    const sources = Object.entries(found.sources);
    if (sources.length) told.sources = Object.fromEntries(sources.map(([name, each]) => [name, interval(each)]));
    told.rests_on = found.rests_on;
    if (found.undefined_because) told.undefined_because = found.undefined_because;
    if (found.withheld_because) told.withheld_because = found.withheld_because;
    if (found.threshold !== null) told.threshold = finite(found.threshold);
    return told;
  }

  const all = (estimated) => Object.fromEntries(fixedFacts.metrics.map(({ name }) => [name, estimate(estimated[name])]));

  // the limit that uneven labels leave is Python's beside its estimate, which this page does not have
  function prior({ value, unlabelled, method, interval: reach, unlabelledInterval: among, assumption, standardError, feasible }) {
    return {
      value,
      low: reach ? reach.low : null,
      high: reach ? reach.high : null,
      confidence: reach ? reach.confidence : null,
      method,
      unlabelled_prior: unlabelled,
      unlabelled_low: among ? among.low : null,
      unlabelled_high: among ? among.high : null,
      standard_error: standardError ?? null,
      feasible_low: feasible ? feasible.low : null,
      feasible_high: feasible ? feasible.high : null,
      feasible_high_uneven: null,
      assumption,
    };
  }

  function toDict(evaluation, summary) {
    const { found, threshold } = evaluation;
    const { labelled, unlabelled, negative } = found.tally.totals;
    return {
      verdict: summary.verdict,
      status: summary.status,
      assumed_of_labels: summary.labels,
      precision_by_class_prior: [],
      scenario_note: "",
      prior_hardly_known: summary.prior_hardly_known,
      assumptions: summary.assumptions,
      next_steps: summary.next_steps.map((step) => ({ code: step.code, sentence: step.sentence, python: step.call, shell: sentences.shell(step) })),
      class_prior: prior(found.prior),
      scenario: found.scenario,
      other_scenario: null,
      target_population: summary.population,
      label_noise: 0,
      counts: { labelled, unlabelled, known_negative: negative, distinct_scores: found.tally.size },
      clusters: null,
      labelling: evaluation.labelling,
      contradiction: null,
      ...(evaluation.ifRandom && { if_random: Object.fromEntries(Object.entries(evaluation.ifRandom).map(([name, { value }]) => [name, { value: finite(value) }])) }),
      threshold: finite(threshold),
      threshold_choice: evaluation.choice,
      threshold_interval: interval(evaluation.thresholdInterval),
      estimates: all(evaluation.estimates),
      uncorrected: all(evaluation.uncorrected),
      warnings: evaluation.notices.map(({ message }) => message),
    };
  }

  return { toDict };
})();
if (typeof module !== "undefined") module.exports = answer;
