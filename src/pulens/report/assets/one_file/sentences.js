"use strict";
// What a reader is told in words: the verdict, notices, assumptions, next steps. The sentences are those of the Python
// package (pulens.report.words, pulens.diagnostics, pulens.report.next_steps), and the tests compare them.
const sentences = (() => {
  const { fixed, general, percents, whole, thousands } = numbers;
  const { KINDS } = tallies;
  const WORTH_A_WORD = 2; // standard errors by which a rate is outside [0, 1] from which on that is said
  const USUAL_EXCESS = 0.3; // chance of an excess from which on it is not worth a word
  const width = (interval) => interval.high - interval.low;
  const titleOf = (name) => fixedFacts.byName[name].title;
  const counted = (value) => thousands(general(value, 10));

  function percent(value) {
    const hundred = 100 * value;
    return `${hundred >= 1 && hundred <= 99 ? fixed(hundred, 0) : fixed(hundred, 1).replace(/\.0$/, "")}%`;
  }

  function doubt(interval) {
    if (!interval || width(interval) === 0) return "";
    const ends = `${percent(interval.low).slice(0, -1)} to ${percent(interval.high).slice(0, -1)}`;
    return interval.confidence === null ? ` (${ends} over the range of the class prior)` : ` (${percents(interval.confidence, 0)}: ${ends})`;
  }

  const ends = ({ low, high }) => `${percent(low).slice(0, -1)} to ${percent(high)}`;
  const between = ({ low, high }) => `somewhere between ${percent(low).slice(0, -1)} and ${percent(high)}`;

  const ranksBackwards = (area) =>
    !area.undefined_because && (area.interval ? area.interval.high < 0.5 : area.value < 0.45);

  function rankingRange(area) {
    if (!area.interval || area.undefined_because) return rankingSentence(area).replace("The model", "the model");
    const guessing = area.interval.low <= 0.5 ? ", which may be no better than guessing (50%)" : "";
    return `the model ranks a random positive above a random negative ${between(area.interval)} of the time${guessing}.`;
  }

  // The verdict where a class prior that nobody knows leaves precision open: first what does not need it.
  function verdictWithoutThePrior(evaluation) {
    const { estimates: found, threshold } = evaluation;
    const { recall, predicted_positive_rate: flagged, precision } = found;
    const { interval } = evaluation.found.prior;
    const finds = recall.undefined_because
      ? `At the threshold ${general(threshold)} recall is undefined: ${recall.undefined_because}.`
      : `Flagging the ${percent(flagged.value)} of rows that score ${general(threshold)} or above finds ${recall.withheld_because ? between(recall.interval) : `${percent(recall.value)}${doubt(recall.interval)}`} of all positives.`;
    const open = precision.interval && !precision.undefined_because ? between(precision.interval) : "no number can be given";
    return [
      finds,
      `How many flagged rows are truly positive depends on how common positives are, which this data barely constrains${interval ? ` (${ends(interval)})` : ""}: ${open}.`,
    ];
  }

  function rankingSentence(area) {
    if (area.withheld_because) return rankingRange(area).replace("the model", "The model");
    if (Number.isNaN(area.value)) return `How well the model ranks is undefined: ${area.undefined_because}.`;
    const sentence = `The model ranks a random positive above a random negative ${percent(area.value)} of the time${doubt(area.interval)}`;
    const low = area.interval ? area.interval.low : area.value;
    if (ranksBackwards(area)) return `Are your scores reversed? ${sentence}, which is worse than guessing (50%).`;
    if (low <= 0.5 || Math.abs(area.value - 0.5) < 0.01) return `${sentence}: these rows do not show that it beats guessing (50%).`;
    return `${sentence}.`;
  }

  function thresholdSentence(threshold, precision, recall) {
    if (precision.undefined_because) return `At the threshold ${general(threshold)} precision is undefined: ${precision.undefined_because}.`;
    const sentence = `Of the rows flagged at ${general(threshold)} or above, about ${percent(precision.value)}${doubt(precision.interval)} are truly positive`;
    if (Number.isNaN(recall.value)) return `${sentence}.`;
    return `${sentence}; they are ${percent(recall.value)}${doubt(recall.interval)} of all positives.`;
  }

  function priorWords(found) {
    const { prior } = found;
    if (prior.isUnknown) return `Class prior not known: ${general(prior.interval.low, 3)} to ${general(prior.interval.high, 3)}`;
    let words = `Class prior ${general(prior.value, 3)}`;
    const level = prior.interval?.confidence ? `${percents(prior.interval.confidence, 0)}: ` : "";
    if (prior.interval && width(prior.interval)) words += ` (${level}${general(prior.interval.low, 3)} to ${general(prior.interval.high, 3)})`;
    words += `, ${prior.method}`;
    return words;
  }

  function priorText({ prior }) {
    const reach = prior.interval ? `${general(prior.interval.low, 3)} to ${general(prior.interval.high, 3)}, ` : "";
    const among = prior.unlabelled !== prior.value ? `; ${general(prior.unlabelled, 4)} among the unlabelled rows` : "";
    return `${general(prior.value, 3)} (${reach}${prior.method})${among}`;
  }

  function countsOf(found) {
    const { labelled, unlabelled, negative } = found.tally.totals;
    return `${counted(labelled)} labelled, ${counted(unlabelled)} unlabelled${negative ? `, ${counted(negative)} known negative` : ""} (${found.scenario})`;
  }

  // --- what is taken for granted -----------------------------------------------------------------------------------

  // Python's own sentences, with the numbers of these rows
  function assumptions({ found, labelling, choice, threshold }) {
    const [first, prior, ...rest] = fixedFacts.assumptions[found.scenario];
    const list = [
      labelling === "practice" ? fixedFacts.assumptions.practice : first,
      { ...prior, statement: `${found.prior.assumption} The value used is ${general(found.prior.value, 4)}.` },
      ...rest.filter(({ statement }) => found.tally.totals.negative > 0 || !statement.startsWith("Rows known to be negative")),
    ];
    const { statement, ...chosen } = fixedFacts.assumptions.threshold;
    return choice === "given" ? list : [...list, { statement: statement.replace("THRESHOLD", general(threshold)), ...chosen }];
  }

  // --- notices -----------------------------------------------------------------------------------------------------

  const [NOTE, WARNING, SERIOUS] = [0, 1, 2];
  const notice = (severity, code, message) => ({ severity, code, message });

  function notices(evaluation) {
    const { found } = evaluation;
    const isRandom = evaluation.labelling === "random"; // what is known for labels random among all rows only
    const all = [
      ...found.prior.notices,
      ...(isRandom ? [...impossibleAreas(evaluation), ...impossibleRate(found)] : []),
      ...hardlyKnown(found),
      ...(isRandom ? [...wideRecall(evaluation.estimates.recall), ...notFeasible(found), ...noMixture(found)] : []),
      ...knownNegatives(found),
      ...ties(found.tally),
      ...labelledTwice(found.tally),
    ];
    if (evaluation.choice !== "given") {
      const reach = evaluation.thresholdInterval;
      const moves = reach ? ` (a fresh sample would choose ${general(reach.low, 4)} to ${general(reach.high, 4)})` : "";
      all.push(
        notice(
          NOTE,
          "chosen-threshold",
          `The threshold ${general(evaluation.threshold)}${moves} was chosen as the ${evaluation.choice}, which makes the values at it optimistic; ${reach ? "the intervals allow for that, " : ""}a threshold fixed beforehand avoids it.`,
        ),
      );
    }
    return all.sort((a, b) => b.severity - a.severity);
  }

  function impossibleAreas({ found }) {
    const list = [];
    for (const facts of fixedFacts.metrics.filter((each) => each.reads === "ranking")) {
      const value = estimates.raw(facts, found, found.prior.unlabelled, null);
      if (!(value < facts.lowest - 1e-12 || value > facts.highest + 1e-12)) continue;
      list.push(
        notice(
          WARNING,
          "impossible-area",
          `The recovered ${facts.name} is ${fixed(value, 4)}, which no classifier can have; it was clipped to ${general(estimates.clipped(facts, value))}. Likely causes: the class prior is too high (the unlabelled rows were taken to be ${percents(found.prior.unlabelled, 1)} positive), positives with high scores were labelled more often, or too few rows.`,
        ),
      );
    }
    return list;
  }

  function impossibleRate(found) {
    const rates = evidence.impossibleRates(found.tally, found.prior.unlabelled, found.recoveryScenario);
    if (!rates.thresholds || rates.standardErrors < WORTH_A_WORD) return [];
    const seen = `The recovered ${rates.rate} at threshold ${general(rates.threshold)} is ${fixed(rates.value, 4)}, outside [0, 1] (at ${whole(rates.thresholds)} threshold${rates.thresholds > 1 ? "s" : ""})`;
    if (rates.standardErrors >= evidence.CHANCE_LIMIT && evidence.priorExplains(found))
      return [
        notice(
          NOTE,
          "impossible-rates",
          `${seen}; values were clipped. The class prior's own uncertainty explains it: the unlabelled rows were taken to be ${percents(found.prior.unlabelled, 1)} positive, and random labels fit with fewer.`,
        ),
      ];
    // beyond chance nothing is shown at all
    const chance = evidence.chanceOfExcess(found, rates.standardErrors);
    if (chance >= USUAL_EXCESS) return [];
    return [
      notice(
        NOTE,
        "impossible-rates",
        `${seen}; values were clipped. The largest excess is ${fixed(rates.standardErrors, 1)} standard errors: with random labels and this class prior at most about 1 sample in ${whole(1 / chance)} shows as much or more.`,
      ),
    ];
  }

  function hardlyKnown(found) {
    const contrast = 1 - found.prior.unlabelled;
    const { labelled } = found.tally.totals;
    const list = [];
    if (contrast < 0.05)
      list.push(
        notice(
          WARNING,
          "weak-contrast",
          `Labelled and unlabelled rows differ by only ${fixed(contrast, 3)} in their share of positives: every error of the observed AUC is multiplied by ${fixed(1 / contrast, 0)}.`,
        ),
      );
    if (labelled < 30)
      list.push(
        notice(
          WARNING,
          "few-labelled",
          `Only ${general(labelled)} labelled positives: recall is known to about ±${fixed(0.98 / Math.sqrt(Math.max(labelled, 1)), 2)} at best.`,
        ),
      );
    return list;
  }

  function wideRecall(recall) {
    if (!recall.interval || width(recall.interval) <= 4 * 0.05) return [];
    const rate = Math.min(Math.max(recall.value, 0.05), 0.95);
    const needed = Math.ceil((numbers.normalQuantile((1 + 0.95) / 2) ** 2 * rate * (1 - rate)) / 0.05 ** 2);
    return [
      notice(
        NOTE,
        "wide-recall",
        `Recall is only known to within ${fixed(width(recall.interval) / 2, 2)}. To within 0.05 takes about ${whole(needed)} labelled positives; more unlabelled rows do not help.`,
      ),
    ];
  }

  function notFeasible(found) {
    const { labelled, unlabelled } = found.tally.totals;
    if (!labelled || !unlabelled) return [];
    const highest = evidence.highestPrior(found.tally, 1 - 0.001);
    const least = evidence.isExact(found.prior) ? found.prior.unlabelled : found.prior.unlabelledInterval.low;
    if (least <= highest) return [];
    return [
      notice(
        SERIOUS,
        "prior-not-feasible",
        `The unlabelled rows are taken to be ${evidence.isExact(found.prior) ? "" : "at least "}${percents(least, 1)} positive, but their scores leave room for ${percents(highest, 1)} at most if labelled positives are a random sample of positives. Either the class prior is too high, or positives with high scores were labelled more often.`,
      ),
    ];
  }

  // With known negatives the unlabelled rows must be a mixture of the labelled and the negative ones.
  function noMixture(found) {
    const { tally } = found;
    const { labelled, unlabelled, negative } = tally.totals;
    if (!labelled || !unlabelled || !negative) return [];
    const reach = found.prior.unlabelledInterval;
    const shares = reach ? numbers.evenly(reach.low, reach.high, 33) : [found.prior.unlabelled];
    let best = null;
    for (const share of shares) {
      let gap = 0;
      for (let i = 0; i < tally.size; i++)
        gap = Math.max(gap, Math.abs(tally.unlabelled[i] / unlabelled - (share * tally.labelled[i]) / labelled - ((1 - share) * tally.negative[i]) / negative));
      const variance = 1 / unlabelled + share ** 2 / labelled + (1 - share) ** 2 / negative;
      const chance = numbers.kolmogorov(gap / Math.sqrt(variance));
      if (!best || chance > best.chance || (chance === best.chance && gap > best.gap)) best = { chance, gap, share };
    }
    if (best.chance > 0.001) return [];
    return [
      notice(
        WARNING,
        "not-a-mixture",
        `The unlabelled rows are not a mixture of rows like the labelled positives (${percents(best.share, 1)}) and rows like the known negatives: their shares above a score differ by up to ${fixed(best.gap, 3)}, which chance alone gives with probability ${general(best.chance, 1)}. Labelled positives or known negatives are not random samples of their class, or the class prior is wrong.`,
      ),
    ];
  }

  function knownNegatives(found) {
    const { tally, scenario } = found;
    const { unlabelled, negative } = tally.totals;
    if (!negative || !unlabelled) return [];
    const wayOut =
      "If they come from a review, say so: reviews= with the chance of each row, or reviewed_above= (--reviews, --reviewed-above); they then count as unlabelled rows that were looked at.";
    const [m, k] = [unlabelled, negative];
    let area = 0;
    for (let i = 0; i < tally.size; i++) {
      const before = i ? tally.unlabelled[i - 1] : 0;
      const refuted = tally.negative[i] - (i ? tally.negative[i - 1] : 0);
      area += (refuted / k) * (m - tally.unlabelled[i] + (tally.unlabelled[i] - before) / 2);
    }
    const errors = ((area / m - 0.5) * Math.sqrt(k)) / Math.sqrt((m + k + 1) / (12 * m));
    const severity = errors > 3 ? WARNING : NOTE;
    const tooHigh = errors <= 3 ? "" : ", which they cannot be: they score higher than the unlabelled rows do, as rows from the top of a list do";
    const many = `${counted(negative)} known negatives`;
    const message =
      scenario === "case-control"
        ? `The ${many} are taken for a random draw of the negatives${tooHigh}. ${wayOut}`
        : `The ${many} count as rows of the population whose class is known, and labelled positives as a random draw of all positives. Were both found in one review, neither is: the review's cutoff would decide recall. ${wayOut}`;
    return [notice(severity, "known-negatives", message)];
  }

  function ties(tally) {
    const pairs = tally.totals.labelled * tally.totals.unlabelled;
    if (!pairs) return [];
    const [labelled, unlabelled] = ["labelled", "unlabelled"].map((kind) => tallies.increments(tally, kind));
    const tied = labelled.reduce((sum, count, i) => sum + count * unlabelled[i], 0) / pairs;
    if (tied < 0.05) return [];
    return [
      notice(
        NOTE,
        "heavy-ties",
        `${percents(tied, 0)} of the pairs of a labelled and an unlabelled row have equal scores (${whole(tally.size)} distinct scores in all). The observed AUC counts them one half: an order within ties could move it by ${fixed(tied / 2, 3)}. Use unrounded scores if there are any.`,
      ),
    ];
  }

  function labelledTwice(tally) {
    const { totals } = tally;
    if (totals.labelled < 10 || totals.unlabelled < 10) return [];
    const [labelled, unlabelled] = ["labelled", "unlabelled"].map((kind) => tallies.increments(tally, kind));
    const meeting = labelled.reduce((sum, count, i) => sum + (unlabelled[i] > 0 ? count : 0), 0) / totals.labelled;
    const among = unlabelled.reduce((sum, count) => sum + (count > 1 ? count : 0), 0) / totals.unlabelled;
    if (meeting < 0.5 || among > 0.05) return [];
    return [
      notice(
        WARNING,
        "labelled-among-unlabelled",
        `${percents(meeting, 0)} of the labelled rows have exactly the score of an unlabelled row, though scores rarely repeat otherwise: the labelled rows seem to be among the unlabelled ones too. The two samples are then not independent, and intervals are off. Remove them from the unlabelled rows and say scenario='single-set'.`,
      ),
    ];
  }

  // --- what to do next ---------------------------------------------------------------------------------------------

  const REPLACED = ["--class-prior", "--unlabelled-prior", "--audit", "--combine"];
  const READS = ["--score", "--label", "--positive", "--negative", "--unlabelled", "--format", "--delimiter", "--table", "--decimal", "--thousands", "--encoding", "--sheet", "--where", "--tolerance", "--scenario", "--threshold", "--id"];
  const USUAL = [["pulens"], ["evaluate"], ["FILE"]];

  const quoted = (word) => (word !== "" && !/[^\w@%+=:,./-]/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const joined = (words) => words.map(quoted).join(" ");

  function shell(step, typed = USUAL) {
    if (!step.options.length) return "";
    if (step.command) {
      const kept = typed.slice(3).filter(([name]) => READS.includes(name));
      const said = new Set(kept.map(([name]) => name));
      const added = [];
      for (let k = 0; k < step.options.length; k += 2) if (!said.has(step.options[k])) added.push(...step.options.slice(k, k + 2));
      return joined([...typed[0], ...step.command, ...typed[2], ...kept.flat(), ...added]);
    }
    return joined([...typed.filter(([name]) => !step.replaces.includes(name)).flat(), ...step.options]);
  }

  function nextSteps(evaluation) {
    const { found } = evaluation;
    if (ranksBackwards(evaluation.estimates.roc_auc))
      return [
        {
          code: "turn-scores",
          sentence: "Check that higher scores mean more positive. If they mean the opposite, change their sign.",
          call: "pulens.evaluate(<labels>, -<scores>)",
          options: [],
          replaces: [],
        },
      ];
    if (!found.tally.totals.unlabelled) return [];
    const about = [auditStep(evaluation), sayPrior(found) ?? sayRange(found)].filter(Boolean);
    if (evaluation.labelling === "practice") return about;
    const labelling = {
      code: "sensitivity",
      sentence: "Were high-scoring positives more likely to be labelled? See how each number changes if they were twice as likely.",
      call: "pulens.evaluate(<rows>, labelling=2)",
      options: ["--labelling", "2"],
      replaces: ["--labelling"],
    };
    return [...about, labelling].slice(0, 3);
  }

  function sayPrior({ prior }) {
    if (!prior.isUnknown) return null;
    return {
      code: "say-prior",
      sentence: "If you know how common positives are, give it: a number, or a range if you are not sure.",
      call: "pulens.evaluate(<rows>, class_prior=(<low>, <high>))",
      options: ["--class-prior", "<low>:<high>"],
      replaces: REPLACED,
    };
  }

  function sayRange(found) {
    const { prior, tally, scenario } = found;
    if (prior.method !== "given" || !(prior.value > 0 && prior.value < 1)) return null;
    const [smallest, low, high] = [0, prior.unlabelled / 1.25, Math.min(1.25 * prior.unlabelled, 0.99)].map((share) => evidence.populationPrior(share, tally, scenario));
    let ends;
    for (let digits = 2; digits < 12; digits++) {
      ends = [general(low, digits), general(high, digits)];
      if (smallest <= Number(ends[0]) && Number(ends[0]) < prior.value && prior.value < Number(ends[1]) && Number(ends[1]) < 1) break;
    }
    return {
      code: "say-range",
      sentence: `The class prior is rarely known exactly: try a range around ${general(prior.value, 3)}.`,
      call: `pulens.evaluate(<rows>, class_prior=(${ends.join(", ")}))`,
      options: ["--class-prior", ends.join(":")],
      replaces: REPLACED,
    };
  }

  function rowsToCheck(unlabelled) {
    if (unlabelled < 10) return 0;
    const tens = unlabelled / 50;
    const down = Math.floor(tens);
    const rounded = tens - down === 0.5 ? down + (down % 2) : Math.round(tens);
    return Math.min(200, Math.max(10, 10 * rounded));
  }

  function auditStep({ found, threshold, choice }) {
    const rows = rowsToCheck(found.tally.totals.unlabelled);
    if (!rows) return null;
    const isFinite = Number.isFinite(threshold);
    const said = choice === "given" && isFinite ? `threshold=${general(threshold)}, budget=${rows}` : `budget=${rows}`;
    return {
      code: "audit",
      sentence: `Check ${rows} rows by hand: that settles precision, recall and F1.`,
      call: `pulens.plan_audit(<rows>, ${said}).write("queue.csv")`,
      options: [...(isFinite ? ["--threshold", numbers.plain(threshold)] : []), "--budget", String(rows), "--out", "queue.csv"],
      replaces: [],
      command: ["audit", "plan"],
    };
  }

  // --- the summary that the template reads -------------------------------------------------------------------------

  function rowOf(evaluation, facts) {
    const [found, naive] = [evaluation.estimates[facts.name], evaluation.uncorrected[facts.name]];
    const shown = (estimate) => (estimate.undefined_because ? "undefined" : fixed(estimate.value, 3));
    const { interval } = found;
    const random = evaluation.ifRandom?.[facts.name];
    return {
      name: facts.name,
      title: facts.title,
      meaning: facts.meaning,
      derivation: facts.derivation,
      is_marked: Boolean(found.withheld_because),
      is_a_range: Boolean(found.withheld_because),
      value: found.withheld_because ? "" : shown(found),
      interval: !interval || width(interval) === 0 ? "" : `${fixed(interval.low, 3)} to ${fixed(interval.high, 3)}`,
      naive: shown(naive),
      if_random: random && (random.undefined_because || !Number.isNaN(random.value)) ? shown(random) : "",
    };
  }

  function summarise(evaluation) {
    const { found } = evaluation;
    const rows = fixedFacts.metrics.map((facts) => rowOf(evaluation, facts));
    const first = fixedFacts.metrics.map((facts) => evaluation.estimates[facts.name].interval).find(Boolean);
    const isOpen = Boolean(evaluation.estimates.precision.withheld_because);
    const status = fixedFacts.status[found.tally.totals.unlabelled ? evaluation.labelling : "known"];
    return {
      counts: countsOf(found),
      class_prior: priorText(found),
      population: evidence.population(found),
      threshold: general(evaluation.threshold),
      interval_name: first ? (first.confidence === null ? "range" : `${percents(first.confidence, 0)} interval`) : "",
      ranking: rows.filter((row) => fixedFacts.byName[row.name].reads === "ranking"),
      at_threshold: rows.filter((row) => fixedFacts.byName[row.name].reads !== "ranking"),
      notices: evaluation.notices,
      verdict:
        isOpen && !ranksBackwards(evaluation.estimates.roc_auc)
          ? verdictWithoutThePrior(evaluation)
          : [
              rankingSentence(evaluation.estimates.roc_auc),
              thresholdSentence(evaluation.threshold, evaluation.estimates.precision, evaluation.estimates.recall),
            ],
      assumptions: assumptions(evaluation),
      next_steps: nextSteps(evaluation),
      prior_hardly_known: isOpen,
      cells: null,
      scenario: "",
      audit: null,
      clusters: "",
      shows_random: rows.some((row) => row.if_random !== ""),
      status: isOpen && found.tally.totals.unlabelled ? "depends on the class prior" : status[0],
      labels: status[1],
      legend: rows.some((row) => row.is_a_range) ? `${fixedFacts.withheld.mark} ${fixedFacts.withheld.because}` : "",
    };
  }

  function thinningWords(thinning) {
    const { kept, of } = thinning;
    if (kept === of) return `All ${whole(of)} distinct scores are in this page, so sliders and curves are exact.`;
    const small = (share) => (share >= 0.001 ? percent(share) : `${general(100 * share, 2)}%`);
    return `This page holds ${whole(kept)} of ${whole(of)} distinct scores. ${titleOf("roc_auc")} and everything at a threshold shown are exact; between two neighbouring points of a curve lie at most ${small(Math.max(thinning.labelled_gap, thinning.unlabelled_gap))} of the rows, and average precision recomputed here was off by at most ${general(thinning.average_precision.error, 1)} at class priors the data allow.`;
  }

  return { summarise, notices, priorWords, thinningWords, shell, percent, doubt };
})();
if (typeof module !== "undefined") module.exports = sentences;
