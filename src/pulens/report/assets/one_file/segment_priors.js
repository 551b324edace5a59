"use strict";
// Where each segment's class prior comes from: implied by one label frequency, or one for all. The definitions are those
// of pulens.doors.segment_priors and pulens.priors.implied, and the tests compare them.
const segmentPriors = (() => {
  const { fixed, general, whole, plain, normalQuantile, betaQuantile } = numbers;
  const { Refusal } = evidence;
  const METHOD = "ratio of labelled shares";
  const CEILING = 1 - 1e-6;
  const rowsOf = ({ labelled, unlabelled, negative }) => labelled + unlabelled + negative;

  // --- one label frequency -----------------------------------------------------------------------------------------

  const frequencyOf = (totals, prior) => totals.labelled / (prior.value * rowsOf(totals));

  // Standard error, as a share of it, of the class prior of all rows from the sizes of segments being random.
  function errorFromSizes(parts) {
    const labelled = parts.reduce((sum, part) => sum + part.labelled, 0);
    const rows = parts.reduce((sum, part) => sum + rowsOf(part), 0);
    const spread = parts.reduce((sum, part) => {
      const size = rowsOf(part);
      return size ? sum + (size / rows) * (part.labelled / size / (labelled / rows) - 1) ** 2 : sum;
    }, 0);
    return Math.sqrt(spread / rows);
  }

  // A rate with its Jeffreys limits; one of which none was seen is taken for half a row, and so is never certain.
  function limits(hits, rows, confidence) {
    const [low, high] = [(1 - confidence) / 2, (1 + confidence) / 2].map((level) => betaQuantile(hits + 0.5, Math.max(rows - hits, 0) + 0.5, level));
    return { value: Math.min(Math.max(Math.max(hits, 0.5) / rows, low), high), low, high };
  }

  // How far the ends of q_g/q lie from its value, down and up, on the log scale (Zou and Donner 2008).
  function distances(inside, outside, share) {
    const relative = (ratio) => Math.log(ratio / (share * ratio + 1 - share));
    const ratio = inside.value / outside.value;
    const down = Math.hypot(Math.log(inside.value / inside.low), Math.log(outside.high / outside.value));
    const up = Math.hypot(Math.log(inside.high / inside.value), Math.log(outside.value / outside.low));
    const middle = relative(ratio);
    return [middle - relative(ratio * Math.exp(-down)), relative(ratio * Math.exp(up)) - middle];
  }

  // A segment's class prior if its positives are labelled as often as those of all rows.
  function implied(tally, totals, prior, confidence, sizeError) {
    const own = tally.totals;
    const [rows, all] = [tally.rows, rowsOf(totals)];
    const frequency = frequencyOf(totals, prior);
    const value = (prior.value * (own.labelled / rows)) / (totals.labelled / all);
    if (value > (own.labelled + CEILING * own.unlabelled) / rows)
      throw new Refusal(
        `one label frequency for all segments (${general(frequency, 3)}, from the class prior ${general(prior.value, 4)} of all rows) implies ${whole(value * rows)} positives here, and ${whole(rows)} rows with ${sentences.counted(own.labelled)} labelled hold fewer: positives of this segment are labelled more often than others, or the class prior of all rows is too high. Give this segment a class prior of its own.`,
      );
    const known = prior.interval && prior.interval.high > prior.interval.low ? prior.interval : null;
    const isRange = Boolean(known) && known.confidence === null;
    const level = known && !isRange ? known.confidence : confidence;
    const inside = limits(own.labelled, rows, level);
    const outside = limits(totals.labelled - own.labelled, all - rows, level);
    const sizes = sizeError * normalQuantile((1 + level) / 2);
    // from the labelled shares and the class prior's own ends, added in squares of logs
    const ends = (rate) => {
      const [down, up] = distances(rate, outside, rows / all);
      const [least, most] = known ? [known.low / prior.value, known.high / prior.value] : [1, 1];
      if (isRange) return [value * least * Math.exp(-Math.hypot(down, sizes)), value * most * Math.exp(Math.hypot(up, sizes))];
      const low = least > 0 ? value * Math.exp(-Math.hypot(down, sizes, Math.log(least))) : 0;
      return [low, value * Math.exp(Math.hypot(up, sizes, Math.log(most)))];
    };
    const among = (end) => Math.min(Math.max((end * rows - own.labelled) / own.unlabelled, 0), CEILING);
    const full = ends(inside).map((end) => Math.min(end, 1));
    const held = ends({ value: inside.value, low: inside.value, high: inside.value }).map(among);
    const told = { confidence: level, method: `${METHOD}${isRange ? " over the range of the class prior of all rows" : ""}` };
    const found = {
      value,
      unlabelled: among(value),
      method: `implied by label frequency ${general(frequency, 3)}`,
      interval: { low: full[0], high: full[1], ...told },
      unlabelledInterval: { low: among(full[0]), high: among(full[1]), ...told },
      assumption: `Positives are labelled equally often in every segment (label frequency ${general(frequency, 3)}, from the class prior ${general(prior.value, 4)} of all rows).`,
      notices: prior.notices,
      implied: {
        interval: { low: Math.min(...held), high: Math.max(...held), confidence: known ? known.confidence : level, method: METHOD },
        elsewhere: totals.labelled - own.labelled,
      },
    };
    return withinLimit(found, tally, evidence.highestPrior(tally, level));
  }

  // With a notice if it is above the most that the segment's scores allow.
  function withinLimit(found, tally, limit) {
    if (found.unlabelledInterval.low <= limit) return found;
    const most = (tally.totals.labelled + limit * tally.totals.unlabelled) / tally.rows;
    const message = `The class prior ${general(found.value, 3)} that one label frequency implies is above ${general(most, 3)}, the most that these scores allow: positives of this segment are labelled more often than those of others. Give it a class prior of its own.`;
    return { ...found, notices: [...found.notices, { severity: 2, code: "implied-prior-impossible", message }] };
  }

  // --- which way it is ---------------------------------------------------------------------------------------------

  const priorText = (prior) => {
    const reach = prior.interval ? ` [${fixed(prior.interval.low, 3)}, ${fixed(prior.interval.high, 3)}]` : "";
    return `class prior ${general(prior.value, 4)}${reach} (${prior.method})`;
  };
  const priorOf = (tally, { scenario, audit, classPrior }) =>
    audit ? evidence.auditPrior(tally, scenario, audit) : evidence.givenPrior(tally, scenario, classPrior);

  // In words, the kind of source, and the evidence of a segment; `asked` has the class prior of all rows, or one for all.
  function settle(tally, parts, asked) {
    const { scenario, samePrior } = asked;
    const alone = (own) => evidence.make(own, own.totals.unlabelled ? priorOf(own, asked) : evidence.givenPrior(own, scenario, asked.classPrior ?? [own.totals.labelled / own.rows]), scenario);
    if (samePrior) return { words: sameWords(asked), kind: "same for all", evidenceOf: alone };
    if (parts.length === 1) return { words: "class prior: that of all rows, which are one segment", kind: "given", evidenceOf: alone };
    if (scenario !== "single-set") throw new Refusal(texts.groupsApart);
    const prior = priorOf(tally, asked);
    const frequency = frequencyOf(tally.totals, prior);
    const sizeError = errorFromSizes(parts.map(({ totals }) => totals));
    const counted = (own) => ({ value: own.totals.labelled / own.rows, unlabelled: 0, method: "counted", assumption: "Every row is labelled positive or negative.", notices: [] });
    return {
      words: `class priors: implied by one label frequency, ${general(frequency, 3)}, in every segment (${priorText(prior)} of all rows); they are wrong where positives of a segment are labelled more or less often`,
      kind: "implied",
      evidenceOf: (own) => evidence.make(own, own.totals.unlabelled ? implied(own, tally.totals, prior, asked.confidence ?? 0.95, sizeError) : counted(own), scenario),
    };
  }

  function sameWords({ classPrior, isUnknown }) {
    const given = classPrior.length === 1 ? plain(classPrior[0]) : `(${classPrior.map(plain).join(", ")})`;
    return `ONE CLASS PRIOR FOR ALL SEGMENTS, as asked (${isUnknown ? texts.groupsUnknown : `class_prior=${given}`}): where segments differ in their share of positives, precision and all that rests on the class prior are wrong`;
  }

  function sourceOf(kind, { method }) {
    if (method === "counted") return "counted";
    return kind === "given" && method.startsWith("audit") ? "audit" : kind;
  }

  return { settle, sourceOf };
})();
if (typeof module !== "undefined") module.exports = segmentPriors;
