"use strict";
// What flagging costs: the arithmetic of pulens.decide, so that the page follows a cost ratio, a class prior and a
// threshold by itself. Nothing here touches the document; node can load it, and a test compares both languages.
const decision = (() => {
  const { possibleHits } = typeof recovery === "undefined" ? require("./recovery.js") : recovery;
  const SLACK = 1e-12;

  // All that could be done, "flag none" first: recall as recovered, share flagged, hits per row cut to what is possible.
  function actionsOf(tables) {
    const prior = tables.positive / (tables.positive + tables.negative);
    const size = tables.hits.length;
    const flagged = new Float64Array(size);
    const hits = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      flagged[i] = Math.min(Math.max(prior * tables.hits[i] + (1 - prior) * tables.alarms[i], 0), 1);
      hits[i] = possibleHits(prior * tables.hits[i], flagged[i], prior, 1 - prior);
    }
    return { prior, recall: tables.hits, flagged, hits };
  }

  // Costs at another cost ratio: the price of a false alarm follows it.
  function moneyAt(ratio, costs) {
    const given = { ...costs, alarm: (ratio * (costs.miss + costs.hit) - costs.flag) / (1 - ratio) };
    return { ...given, price: given.alarm + given.flag, worth: given.miss + given.alarm + given.hit };
  }

  const costAt = (points, i, money) =>
    money.miss * points.prior + money.price * points.flagged[i] - money.worth * points.hits[i];
  const netBenefit = (points, i, ratio) => {
    const odds = ratio / (1 - ratio);
    return (1 + odds) * points.hits[i] - odds * points.flagged[i];
  };
  const flagAll = (prior, money) => money.miss * prior + money.price - money.worth * prior;

  // The place of the lowest cost among those allowed; of several the first, which is the highest threshold.
  function cheapest(points, money, allowed) {
    const size = points.flagged.length;
    let [lowest, largest] = [Infinity, 0];
    for (let i = 0; i < size; i++) {
      const cost = costAt(points, i, money);
      largest = Math.max(largest, Math.abs(cost));
      if (allowed(i)) lowest = Math.min(lowest, cost);
    }
    const slack = SLACK * Math.max(Math.abs(lowest), largest);
    for (let i = 0; i < size; i++) if (allowed(i) && costAt(points, i, money) <= lowest + slack) return i;
    return -1;
  }

  // Cost ratios between which a place beats flagging all and flagging none; null where nothing is flagged.
  function useful(points, i) {
    const [flagged, hits] = [points.flagged[i], points.hits[i]];
    if (!(flagged > 0)) return null;
    return [flagged < 1 ? Math.max((points.prior - hits) / (1 - flagged), 0) : 0, hits / flagged];
  }

  return { actionsOf, moneyAt, costAt, netBenefit, flagAll, cheapest, useful };
})();
if (typeof module !== "undefined") module.exports = decision;
