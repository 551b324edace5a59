"use strict";
// One evaluation per value of a column, as pulens.evaluate_by makes them, and what the report shows of them: the rows of
// pulens.report.segments_page, which the tests compare.
const segments = (() => {
  const { fixed, general, thousands, whole } = numbers;
  const { Refusal } = evidence;
  const { counted } = sentences;
  const CHOOSING_SHARE = 0.4; // of all labelled rows, with which a segment as good as chooses the common threshold
  const CHOSEN = "best f1 on all rows, of which these are a large part";
  const [SHOWN, NAMED, LONGEST_NAME, MOST_SKIPPED, BEFORE_METRICS] = [3, 4, 40, 500, 4];

  const titleOf = (name) => name ?? "(null)";

  // --- evaluating --------------------------------------------------------------------------------------------------

  // Refuses counts that say nothing.
  function check({ totals, rows }) {
    const many = counted(rows);
    if (!totals.labelled)
      throw new Refusal(
        `there is no labelled positive among ${many} rows, so recall cannot be known. Check which label value means labelled positive (positive=..., or --positive on the command line).`,
      );
    if (totals.labelled === rows)
      throw new Refusal(
        `all ${many} rows are labelled positive: there is no unlabelled row (nor a known negative) to compare them with. Check which label value means labelled positive (positive=..., --positive).`,
      );
  }

  const NO_POSITIVE =
    " One label frequency takes this segment to hold no positive at all: if nobody labels here, leave its rows out, or the class priors of all others are too high.";

  // all: the tally of all rows; groups: [{name, scores, tally}] in the order in which they are told
  function evaluate(column, all, groups, asked) {
    const settled = segmentPriors.settle(all, groups.map(({ tally }) => tally), asked);
    const reasons = new Map();
    const attempt = (group, work) => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const more = settled.kind === "implied" && !group.tally.totals.labelled ? NO_POSITIVE : "";
        reasons.set(group, `${error.message}${more}`);
        return null;
      }
    };
    const found = groups.map((group) =>
      attempt(group, () => {
        check(group.tally);
        return { ...group, found: settled.evidenceOf(group.tally) };
      }),
    );
    const kept = found.filter(Boolean);
    const threshold = asked.threshold ?? (kept.length ? commonThreshold(kept, kept.length < groups.length ? segmentRows.together(kept) : all, asked.scenario) : NaN);
    const labelled = kept.reduce((sum, { tally }) => sum + tally.totals.labelled, 0);
    const list = [];
    const contradicted = new Set();
    groups.forEach((group, k) => {
      if (!found[k]) return;
      const isChosen = asked.threshold === null && group.tally.totals.labelled >= CHOOSING_SHARE * labelled;
      if (evidence.isContradicted(found[k].found)) contradicted.add(group.name);
      const segment = attempt(group, () => one(found[k], threshold, isChosen, asked.confidence));
      if (segment) list.push({ ...segment, source: segmentPriors.sourceOf(settled.kind, segment.found.prior) });
    });
    const skipped = groups.filter((group) => reasons.has(group)).map((group) => [group.name, reasons.get(group)]);
    if (!list.length) throw new Refusal(`none of the ${skipped.length} segments of ${columns.shown(column)} can be evaluated; the first: ${skipped[0][1]}`);
    const words = `${general(threshold)}${asked.threshold === null ? ", the best f1 on the rows of all segments together" : ""}`;
    return { column, segments: list, skipped, priorWords: settled.words, thresholdWords: words, isChosen: asked.threshold === null, contradicted, scenario: asked.scenario, confidence: asked.confidence };
  }

  // The best F1 on the rows of all segments, with the positives that they hold together.
  function commonThreshold(kept, tally, scenario) {
    const positives = kept.reduce((sum, { found }) => sum + found.prior.unlabelled * found.tally.totals.unlabelled, 0);
    const share = tally.totals.unlabelled ? positives / tally.totals.unlabelled : 0;
    return estimates.bestThreshold(evidence.make(tally, { value: share, unlabelled: share, method: "of all segments", notices: [] }, scenario));
  }

  function one({ name, found: own }, threshold, isChosen, confidence) {
    evidence.refuseContradiction(own, texts.contradictedGroup);
    const found = { ...own, isOneOfMany: confidence !== null };
    const doubts = confidence === null ? null : intervals.workshop(found, confidence, isChosen ? threshold : null);
    const estimated = fixedFacts.segments.map((metric) => [metric, estimates.estimate(fixedFacts.byName[metric], found, threshold, doubts)]);
    return { name, found, threshold, choice: isChosen ? CHOSEN : "given", estimates: Object.fromEntries(estimated), notices: sentences.alarms(found) };
  }

  // --- plain values, with the keys of `pulens evaluate --group-by COLUMN --json` ------------------------------------

  function toDict({ column, segments: list, skipped, priorWords, thresholdWords }) {
    return {
      group_by: column,
      class_priors: priorWords,
      threshold: thresholdWords,
      segments: list.map(plainOf),
      skipped: skipped.map(([segment, reason]) => ({ segment, reason })),
    };
  }

  function plainOf({ name, found, source, threshold, choice, estimates: estimated, notices }) {
    const { labelled, unlabelled, negative } = found.tally.totals;
    return {
      segment: name,
      prior_source: source,
      class_prior: answer.prior(found.prior),
      scenario: found.scenario,
      target_population: evidence.population(found),
      label_noise: 0,
      counts: { labelled, unlabelled, known_negative: negative, distinct_scores: found.tally.size },
      threshold: Number.isFinite(threshold) ? threshold : null,
      threshold_choice: choice,
      estimates: Object.fromEntries(Object.entries(estimated).map(([metric, each]) => [metric, answer.estimate(each)])),
      warnings: notices.map(({ message }) => message),
    };
  }

  // --- what the report shows ---------------------------------------------------------------------------------------

  // a name on one line of so many characters; what a terminal would obey is written out
  function shortened(name, most = LONGEST_NAME) {
    const flat = name.split(/\s+/).filter(Boolean).join(" ");
    const clean = flat.replace(/(?! )[\p{C}\p{Z}]/gu, (mark) => `\\x${mark.codePointAt(0).toString(16).padStart(2, "0")}`);
    const letters = [...clean];
    return letters.length <= most ? clean : `${letters.slice(0, most - 1).join("")}…`;
  }

  const sentence = (words) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
  const valueOf = (metric) => (segment) => segment.estimates[metric].value;

  // from the lowest to the highest value; those without one come last
  const byValue = (list, metric) =>
    list
      .map((segment, k) => [segment, valueOf(metric)(segment), k])
      .sort(([, a, i], [, b, j]) => Number.isNaN(a) - Number.isNaN(b) || a - b || i - j)
      .map(([segment]) => segment);

  function verdict(told, metrics) {
    const said = told.segments.some(({ source }) => source === "same for all") ? [sentence(told.priorWords)] : [];
    for (const metric of metrics) {
      const ordered = byValue(told.segments.filter((segment) => !Number.isNaN(valueOf(metric)(segment))), metric);
      if (!ordered.length) continue;
      const [low, high] = [ordered[0], ordered.at(-1)].map((segment) => named(segment, metric));
      said.push(`${fixedFacts.byName[metric].title} ${ordered.length > 1 ? `from ${low} to ${high}` : low}.`);
    }
    return said;
  }

  function named(segment, metric) {
    const { value, interval } = segment.estimates[metric];
    const ends = interval ? `; ${fixed(interval.low, 2)} to ${fixed(interval.high, 2)}` : "";
    return `${fixed(value, 2)} (\u2068${shortened(titleOf(segment.name))}\u2069${ends})`;
  }

  // Each kind of warning once, worst first, with the segments that it is about.
  function sharedNotices(list) {
    const kinds = new Map();
    for (const { name, notices } of list)
      for (const notice of notices) {
        if (!kinds.has(notice.code)) kinds.set(notice.code, { notice, many: 0, names: [] });
        const kind = kinds.get(notice.code);
        kind.many += 1;
        if (kind.names.length < NAMED) kind.names.push(shortened(titleOf(name)));
      }
    return [...kinds.values()]
      .sort((a, b) => b.notice.severity - a.notice.severity)
      .map(({ notice, many, names }) => ({ severity: { name: ["NOTE", "WARNING", "SERIOUS"][notice.severity] }, message: `${about(many, names)}: ${notice.message}` }));
  }

  function about(many, names) {
    if (many === 1) return names[0];
    const more = many > names.length ? ` and ${whole(many - names.length)} more` : "";
    return `${whole(many)} segments (${names.join(", ")}${more}), such as ${names[0]}`;
  }

  // whole tenths around all intervals, so that every row has the same axis
  function axisOf(values) {
    const known = values.filter(({ value }) => !Number.isNaN(value));
    const ends = (end, fallback, pick) => (known.length ? pick(...known.map(({ value, interval }) => (interval ? interval[end] : value))) : fallback);
    const [low, high] = [Math.floor(10 * ends("low", 0, Math.min)) / 10, Math.ceil(10 * ends("high", 1, Math.max)) / 10];
    return high > low ? [low, high] : [low, low + 0.1];
  }
  const tick = (value) => fixed(value, 1).replace(/\.0$/, "");

  function picture({ value, interval }, [from, to], title, cell) {
    if (Number.isNaN(value)) return { value: "", at: null, cell, title };
    const place = (number) => `${fixed(2 + 96 * recovery.clip((number - from) / (to - from)), 2)}%`;
    const [low, high] = interval ? [interval.low, interval.high] : [value, value];
    return { value: general(value), at: place(value), low: place(low), high: place(high), cell, title };
  }

  const endsOf = (interval) => (interval && interval.high > interval.low ? `${fixed(interval.low, 3)}-${fixed(interval.high, 3)}` : "");
  const cellOf = ({ value, interval, undefined_because: why }) =>
    why ? { value: "undefined", interval: "" } : { value: fixed(value, 3), interval: endsOf(interval) };

  function rowOf(segment, metrics, axes, priorAxis) {
    const { prior, tally } = segment.found;
    const severities = segment.notices.map(({ severity }) => severity);
    return {
      line: { name: titleOf(segment.name), labelled: counted(tally.totals.labelled), unlabelled: counted(tally.totals.unlabelled), source: segment.source },
      pictures: [
        picture(prior, priorAxis, "class prior", cellOf(prior)),
        ...metrics.map((metric) => picture(segment.estimates[metric], axes[metric], fixedFacts.byName[metric].title, cellOf(segment.estimates[metric]))),
      ],
      worst: severities.length ? ["note", "warning", "serious"][Math.max(...severities)] : "",
      warnings: segment.notices.map(({ message }) => message).join(" "),
    };
  }

  function countsOf({ column, segments: list, skipped, scenario }) {
    const [labelled, unlabelled] = ["labelled", "unlabelled"].map((kind) => list.reduce((sum, { found }) => sum + found.tally.totals[kind], 0));
    return `${whole(list.length)} segments of ${column}: ${counted(labelled)} labelled, ${counted(unlabelled)} unlabelled rows (${scenario})${skipped.length ? `; ${whole(skipped.length)} more not evaluated` : ""}`;
  }

  // What segment_parts.html.j2 is filled with.
  function context(told, groups) {
    const metrics = fixedFacts.segments.slice(0, SHOWN);
    const shown = byValue(told.segments, metrics[0]);
    const axes = Object.fromEntries(metrics.map((metric) => [metric, axisOf(shown.map((segment) => segment.estimates[metric]))]));
    const priorAxis = axisOf(shown.map(({ found }) => found.prior));
    const skipped = told.skipped.slice(0, MOST_SKIPPED).map(([name, reason]) => [titleOf(name), reason]);
    return {
      group_by: told.column,
      counts: countsOf(told),
      sentences: verdict(told, metrics),
      source: `${sentence(told.priorWords)} Labels: ${sentences.scenarioWords(told.scenario)}. Threshold: ${told.thresholdWords}.`,
      interval_name: told.confidence === null ? "range" : numbers.percents(told.confidence, 0),
      columns: metrics.map((metric, k) => ({ title: fixedFacts.byName[metric].title, place: k + BEFORE_METRICS, low: tick(axes[metric][0]), high: tick(axes[metric][1]) })),
      prior_column: { low: tick(priorAxis[0]), high: tick(priorAxis[1]) },
      rows: shown.map((segment) => rowOf(segment, metrics, axes, priorAxis)),
      left_out: 0,
      skipped,
      skipped_left: told.skipped.length - skipped.length,
      alarming: sharedNotices(told.segments),
      gaps: segmentGaps.context(groups, told),
    };
  }

  const BROKEN = {
    implied: "A segment whose positives are labelled more or less often than those of others: a clinic with other habits, a region without inspectors.",
    given: "Priors from another year or definition; segments mixed up.",
    "same for all": "Segments that hold more or fewer positives than others, which is the rule.",
  };

  // Assumptions beside what holds for all rows.
  function assumptions(told, [random]) {
    return [
      { ...random, statement: "Within each segment labelled positives are a random draw of its positives." },
      {
        statement: sentence(told.priorWords),
        broken_by: BROKEN[told.segments[0].source] ?? BROKEN.given,
        effect: "Precision and all that rests on the class prior are off in that segment; ROC AUC less, recall not at all.",
      },
    ];
  }

  return { evaluate, toDict, context, assumptions, shortened, titleOf, axisOf, tick };
})();
if (typeof module !== "undefined") module.exports = segments;
