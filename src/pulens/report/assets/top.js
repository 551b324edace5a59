"use strict";
// The first k rows of the list: measures are linear in the mean weights of each kind of rows, which the page carries.
const topOfList = (() => {
  const clip = (value) => Math.min(Math.max(value, 0), 1);

  // The sum of 1 / log2(rank + 1) over the first x ranks, linear between whole numbers.
  function ideal(x) {
    let sum = 0;
    let rank = 1;
    for (; rank <= x; rank++) sum += 1 / Math.log2(rank + 1);
    return sum + (x - Math.floor(x)) / Math.log2(rank + 1);
  }

  const mean = (coefficients, weights) =>
    coefficients.reduce((sum, each, kind) => (each ? sum + each * weights[kind] : sum), 0);

  const { positivesAmong } = typeof recovery === "undefined" ? require("./recovery.js") : recovery;

  // weights: {of, member, discount?, places, between, totals, proves} of one place and scenario; map: the recovery at a class prior
  function evaluate(weights, k, map) {
    const positives = positivesAmong(weights, k, map);
    const recall = mean(map.hits, weights.member);
    const found = {
      precision_at_k: clip(positives / k),
      recall_at_k: clip(recall),
      enrichment_factor: Math.max((recall * weights.of) / k, 0),
    };
    if (weights.discount) {
      const gain = map.positive * mean(map.hits, weights.discount);
      found.dcg_at_k = Math.max(gain, 0);
      found.ndcg_at_k = map.positive > 0 ? clip(gain / ideal(Math.min(k, map.positive))) : NaN;
    }
    return { ...found, hits: k * found.precision_at_k };
  }

  // Fills the cards. `now`: {atHome, map (null where numbers are withheld), scenario}
  function fill(raw, now) {
    raw.forEach((place, number) => {
      const card = document.querySelector(`[data-top="${number}"]`);
      const weights = place.scenarios[now.scenario];
      const found = now.atHome ? place.values : now.map && weights ? evaluate(weights, place.k, now.map) : {};
      const { short, three, rows } = words;
      const told = card.querySelector("[data-top-sentence]");
      if (now.atHome) {
        if (told.textContent !== place.sentence) told.textContent = place.sentence;
      } else if ("hits" in found)
        told.textContent = `Check ${place.k.toLocaleString("en-US")} rows: at this class prior expect about ${rows(found.hits)} positives, ${words.percent(found.recall_at_k)} of all.`;
      else if (weights === undefined) told.textContent = "Not recomputed at another class prior: reset to see it.";
      else told.textContent = weights ? "Not possible under random labels: numbers are withheld here." : `The list has fewer than ${short(place.k)} rows so.`;
      for (const cell of card.querySelectorAll("[data-top-measure]")) {
        const value = found[cell.dataset.topMeasure];
        cell.dataset.report ||= cell.textContent;
        cell.textContent = now.atHome ? cell.dataset.report : value === undefined ? "–" : value === null ? "undefined" : three(value);
        cell.dataset.value = value === undefined || value === null ? "" : String(value);
      }
      for (const cell of card.querySelectorAll("[data-top-interval]")) {
        cell.dataset.report ||= cell.textContent;
        cell.textContent = now.atHome ? cell.dataset.report : "";
      }
      for (const [name, value] of [["pure", found.precision_at_k], ["reach", found.recall_at_k]]) {
        const bar = card.querySelector(`[data-bar=${name}]`);
        bar.style.width = `${100 * (value ?? 0)}%`;
        bar.parentElement.nextElementSibling.textContent = value === undefined || value === null ? "–" : words.percent(value);
      }
    });
  }

  // The ladder: how many positives among the first rows, and which share of all; intervals where Python found them.
  function climb(raw, now) {
    const { percent, rows } = words;
    raw.forEach((step, number) => {
      const line = document.querySelector(`[data-ladder="${number}"]`);
      const weights = step.scenarios[now.scenario];
      const found = !now.atHome && now.map && weights ? evaluate(weights, step.k, now.map) : null;
      const own = now.atHome ? { hits: step.hits && step.hits[0], recall_at_k: step.values.recall_at_k } : found || {};
      const cells = { hits: [own.hits, rows], recall: [own.recall_at_k, percent] };
      for (const [name, [value, tell]] of Object.entries(cells)) {
        const cell = line.querySelector(`[data-ladder-${name}]`);
        cell.dataset.report ||= cell.textContent;
        cell.dataset.value = value ?? "";
        cell.textContent = now.atHome ? cell.dataset.report : value === undefined ? "–" : tell(value);
      }
      const interval = line.querySelector("[data-ladder-interval]");
      if (!interval) return;
      interval.dataset.report ||= interval.textContent;
      interval.textContent = now.atHome ? interval.dataset.report : "";
    });
    const note = document.getElementById("ladder-note");
    if (note) note.textContent = now.atHome ? "" : "Without intervals, which are known for the report's own class prior only.";
  }

  return { evaluate, ideal, fill, climb };
})();
if (typeof module !== "undefined") module.exports = topOfList;
