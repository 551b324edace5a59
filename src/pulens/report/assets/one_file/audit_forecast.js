"use strict";
// Before rows are checked: how well F1 will be known, from simulated audits of both guesses of where positives are. The
// sentence of `pulens audit plan`, to within the chance of sixty audits: these are drawn otherwise than Python's.
const auditForecast = (() => {
  const { sum } = auditPlan;
  const [AUDITS, DRAWS] = [60, 600];

  // so many of the rows drawn are positive
  function hypergeometric(generator, positive, rows, drawn) {
    let found = 0;
    for (let k = 0; k < drawn; k++) if (generator.uniform() * (rows - k) < positive - found) found += 1;
    return found;
  }

  function width(counts, guess, generator, seed) {
    const { rows, checked, flagged } = counts;
    const margins = auditEstimates.marginsOf(counts);
    const widths = Array.from({ length: AUDITS }, (_, audit) => {
      const found = rows.map((many, k) => hypergeometric(generator, Math.min(auditPlan.rounded(guess[k]), many), many, checked[k]));
      const drawn = auditLimits.drawTotals({ rows, checked, found }, flagged, seed + audit, DRAWS, -1);
      const [low, high] = auditEstimates.ends(auditEstimates.FORMULAS.f1, [drawn.above, drawn.below], margins);
      return auditLimits.quantile(high, 1 - auditEstimates.TAIL) - auditLimits.quantile(low, auditEstimates.TAIL);
    });
    return sum(widths) / AUDITS;
  }

  // two digits after the point, or three where two would be zeros
  const about = (number) => numbers.fixed(number, number >= 0.01 ? 2 : 3);

  function sentence(strata, allocation, scenario, positives, seed) {
    const budget = sum(allocation);
    if (budget >= sum(strata.rows)) return "";
    const generator = random.Generator.seeded(seed);
    const halves = auditPlan.guesses(strata, positives).map((guess) => width({ ...strata, scenario, checked: allocation }, guess, generator, seed) / 2);
    const [low, high] = [about(Math.min(...halves)), about(Math.max(...halves))];
    return `With ${numbers.whole(budget)} rows: F1 known to ± ${low === high ? low : `${low} to ${high}`}.`;
  }

  return { sentence };
})();
if (typeof module !== "undefined") module.exports = auditForecast;
