"use strict";
// What flagging costs, as the report's card shows it: the cheapest threshold at the usual costs beside the one in use,
// and the decision curve. The card's own scripts move it from there.
const costCard = (() => {
  const { KINDS } = tallies;
  const { normalQuantile, normalBelow, betaQuantile, studentQuantile, general, whole, evenly } = numbers;
  const PER = 1000;
  const [HIGHEST_RATIO, USUAL_FLOOR] = [0.95, 0.8];
  const [POINTS, ANGLES] = [20, 4096];
  const [SHARES, NORMALS] = [25, 101]; // quantiles that stand for a class prior that is drawn, and for the rows
  const even = (many) => Array.from({ length: many }, (_, k) => (k + 0.5) / many);
  const finite = (value) => (Number.isFinite(value) ? value : null);

  // A false alarm costs 1, and a miss the round number nearest to where flagging all and flagging none cost the same.
  function usualCosts(prior) {
    const odds = Math.max((1 - prior) / Math.max(prior, 1e-6), 1e-6);
    const round = Array.from({ length: 5 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
    const away = (each) => Math.abs(Math.log(each / odds));
    const miss = round.reduce((best, each) => (away(each) < away(best) ? each : best));
    return { miss, alarm: 1, flag: 0, hit: 0, price: 1, worth: miss + 1 };
  }

  // --- what is linear in hits and in the share flagged -------------------------------------------------------------

  const populationOf = (map) => map.positive / (map.positive + map.negative);

  // a form's value at observed rates, hits cut to what is possible
  function formAt(form, map, rates) {
    const [gamma, eta] = [map.hits, map.alarms].map((of) => of.reduce((sum, each, k) => (each ? sum + each * rates[k] : sum), 0));
    const prior = populationOf(map);
    const flagged = recovery.clip(prior * gamma + (1 - prior) * eta);
    const hits = recovery.possibleHits(prior * gamma, flagged, prior, 1 - prior);
    return form.hits * hits + form.flagged * flagged + form.prior * prior;
  }

  // The place that a redraw would choose: the lowest cost, the infinite threshold first.
  function cheapestPlace({ miss, price, worth }, map, [labelled, unlabelled, negative]) {
    const prior = populationOf(map);
    const never = miss * prior;
    let [best, place] = [never, 0];
    for (let i = 0; i < labelled.length; i++) {
      const gamma = map.hits[0] * labelled[i] + map.hits[1] * unlabelled[i] + map.hits[2] * negative[i];
      const eta = map.alarms[0] * labelled[i] + map.alarms[1] * unlabelled[i] + map.alarms[2] * negative[i];
      const flagged = recovery.clip(prior * gamma + (1 - prior) * eta);
      const hits = recovery.possibleHits(prior * gamma, flagged, prior, 1 - prior);
      const cost = never + price * flagged - worth * hits;
      if (cost < best) [best, place] = [cost, i + 1];
    }
    return place;
  }

  // MOVER from Jeffreys ends (Zou and Donner 2008) at a threshold fixed beforehand; `above` counts rows of each kind.
  function linearAt(found, above) {
    const totals = KINDS.map((kind) => found.tally.totals[kind]);
    const rows = totals[0] + totals[1] + totals[2];
    const rates = above.map((count, k) => count / (totals[k] || 1));
    const single = found.recoveryScenario === "single-set";
    const coefficients = (form, share) => {
      const map = evidence.mapOf(found, share);
      const prior = populationOf(map);
      const each = map.hits.map((hit, k) => prior * hit * form.hits + (prior * hit + (1 - prior) * map.alarms[k]) * form.flagged);
      return { each, prior, map };
    };
    const value = (form, share) => {
      const { each, prior } = coefficients(form, share);
      return each[0] * rates[0] + each[1] * rates[1] + each[2] * rates[2] + form.prior * prior;
    };
    const known = {};
    const jeffreys = (tail) =>
      (known[tail] ??= above.map((count, k) => [tail, 1 - tail].map((level) => betaQuantile(count + 0.5, Math.max(totals[k] - count, 0) + 0.5, level))));
    // what a row of each kind adds on average; its number is random in one sample
    const parts = (form, share, at, map) => {
      const recall = map.hits.reduce((sum, each, k) => sum + each * at[k], 0);
      const decides = found.held !== "population" && totals[1]; // these numbers decide the class prior, too
      return at.map((rate, k) => form.flagged * rate + (decides ? (form.hits * recall + form.prior) * [1, share, 0][k] : 0));
    };
    const meanOf = (values) => values.reduce((sum, each, k) => sum + (totals[k] / rows) * each, 0);

    function ends(form, share, tail) {
      const { each, map } = coefficients(form, share);
      const at = value(form, share);
      let [down, up] = [0, 0];
      each.forEach((weight, k) => {
        if (!weight || !totals[k]) return;
        const [low, high] = jeffreys(tail)[k];
        const [below, over] = [weight * Math.max(rates[k] - low, 0), weight * Math.max(high - rates[k], 0)];
        down += (weight > 0 ? below : over) ** 2;
        up += (weight > 0 ? over : below) ** 2;
      });
      if (single) {
        const added = parts(form, share, rates, map);
        const more = (normalQuantile(tail) ** 2 * Math.max(meanOf(added.map((part) => part * part)) - meanOf(added) ** 2, 0)) / rows;
        [down, up] = [down + more, up + more];
      }
      return [at - Math.sqrt(down), at + Math.sqrt(up)];
    }

    // over the distribution of the class prior
    function mixedEnds(form, tail, drawnShare) {
      const reach = -normalQuantile(tail);
      const normals = even(NORMALS).map(normalQuantile);
      const mixed = even(SHARES).flatMap((level) => {
        const share = Math.min(Math.max(drawnShare(normalQuantile(level)), 0), 1 - 1e-9);
        const at = value(form, share);
        const [low, high] = ends(form, share, tail);
        return normals.map((normal) => at + ((normal < 0 ? at - low : high - at) / reach) * normal);
      });
      return intervals.percentiles(mixed, tail);
    }

    // of two forms, rates smoothed by half a row
    function covariance(first, second, share) {
      const smooth = above.map((count, k) => (count + 0.5) / (totals[k] + 1));
      const [one, other] = [first, second].map((form) => coefficients(form, share));
      let sum = 0;
      totals.forEach((total, k) => {
        if (total) sum += (one.each[k] * other.each[k] * (smooth[k] - smooth[k] * smooth[k])) / total;
      });
      if (!single) return sum;
      const at = smooth.map((rate, k) => (totals[k] > 0 ? rate : 0));
      const [left, right] = [first, second].map((form) => parts(form, share, at, one.map));
      return sum + (meanOf(left.map((part, k) => part * right[k])) - meanOf(left) * meanOf(right)) / rows;
    }

    return { value, ends, mixedEnds, covariance, rates };
  }

  // --- intervals ---------------------------------------------------------------------------------------------------

  // Redraws with the cheapest threshold chosen anew: what each shows there, less what the data show there.
  function errorsOf(found, shop, form, share) {
    const { places, totals, rates, normal } = shop.pricedAnew();
    const counts = shop.compressed();
    const steady = evidence.mapOf(found, share ?? shop.own);
    const known = new Map();
    const observed = (place) => KINDS.map((kind) => (place ? counts[kind][place - 1] / (found.tally.totals[kind] || 1) : 0));
    return places.map((place, k) => {
      if (!known.has(place)) known.set(place, formAt(form, steady, observed(place)));
      // the estimate's own error, seen from the truth, is the other way round
      const at = share ?? 2 * shop.own - shop.drawnShare(normal[k]);
      return formAt(form, shop.mapAt(totals[k], at), rates[k]) - known.get(place);
    });
  }

  // The hull of three: percentiles of those errors, and the interval of a fixed threshold, moved by their mean or not.
  function chosenAnew(found, shop, form, linear) {
    const fixed = fixedBefore(shop, form, linear);
    const own = (share) => formAt(form, evidence.mapOf(found, share), linear.rates);
    const ends = (share, tail) => {
      const errors = errorsOf(found, shop, form, share).filter((error) => !Number.isNaN(error));
      const given = fixed.ends(share, tail);
      if (!errors.length) return given;
      const value = own(share ?? shop.own);
      const [low, high] = intervals.percentiles(errors, intervals.expandedTail(tail, found.tally.totals.labelled));
      const moved = errors.reduce((sum, error) => sum + error, 0) / errors.length;
      return [Math.min(value - high, given[0] - moved, given[0]), Math.max(value - low, given[1] - moved, given[1])];
    };
    return { value: own, ends };
  }

  const fixedBefore = (shop, form, linear) => ({
    value: (share) => linear.value(form, share),
    ends: (share, tail) => (share === null ? linear.mixedEnds(form, tail, shop.drawnShare) : linear.ends(form, share, tail)),
  });

  // a cost per 1,000 rows with its interval
  function priced(value, construction, shop) {
    if (!shop) return { value: PER * value, low: null, high: null };
    const [low, high] = shop.inDoubt(construction);
    const found = { value: PER * value, low: PER * Math.min(low, value), high: PER * Math.max(high, value) };
    return Number.isFinite(found.low) && Number.isFinite(found.high) ? found : { ...found, low: null, high: null };
  }

  // --- the decision curve ------------------------------------------------------------------------------------------

  // How many standard errors hold the whole curve: its points are linear in hits and in the share flagged.
  function largestDeviation(linear, share, forms, confidence) {
    const [hits, flagged] = [{ hits: 1, flagged: 0, prior: 0 }, { hits: 0, flagged: 1, prior: 0 }];
    const first = Math.sqrt(Math.max(linear.covariance(hits, hits, share), 0));
    const second = first > 0 ? linear.covariance(hits, flagged, share) / first : 0;
    const rest = Math.sqrt(Math.max(linear.covariance(flagged, flagged, share) - second ** 2, 0));
    const units = forms.map((form) => {
      const row = [form.hits * first + form.flagged * second, form.flagged * rest];
      const length = Math.hypot(...row);
      return length > 0 ? row.map((each) => each / length) : [0, 0];
    });
    const reach = even(ANGLES).map((part) => {
      const [x, y] = [Math.cos(part * Math.PI), Math.sin(part * Math.PI)];
      return units.reduce((most, unit) => Math.max(most, Math.abs(x * unit[0] + y * unit[1])), 0);
    });
    if (!reach.some((each) => each > 0)) return 0;
    const beyond = (bound) => reach.reduce((sum, each) => sum + (each > 0 ? Math.exp(-((bound / each) ** 2) / 2) : 0), 0) / ANGLES;
    let [low, high] = [0, 2];
    while (beyond(high) > 1 - confidence) high *= 2;
    for (let k = 0; k < 60; k++) {
      const middle = (low + high) / 2;
      if (beyond(middle) > 1 - confidence) low = middle;
      else high = middle;
    }
    return high;
  }

  function bandAround(model, linear, forms, evaluation) {
    const { found, confidence, doubts } = evaluation;
    if (!doubts) return [null, null];
    const { shop } = doubts;
    const deviation = largestDeviation(linear, shop.own, forms, confidence);
    const freedom = Math.max(found.tally.totals.labelled - 1, 1);
    const tail = normalBelow(-Math.abs(studentQuantile(freedom, normalBelow(deviation))));
    const shares = shop.isDrawn ? [null] : shop.reach ? shop.over() : [shop.own];
    const ends = forms.map((form) => shares.map((share) => fixedBefore(shop, form, linear).ends(share, tail)));
    const low = ends.map((each, k) => Math.min(model[k], ...each.map(([end]) => end)));
    const high = ends.map((each, k) => Math.max(model[k], ...each.map(([, end]) => end)));
    return [...low, ...high].every(Number.isFinite) ? [low, high] : [null, null];
  }

  function curveOf(evaluation, points) {
    const { found, threshold, confidence, doubts } = evaluation;
    if (!Number.isFinite(threshold)) return null;
    const prior = Math.min(Math.max(points.prior, 1e-6), 0.9);
    const [low, high] = [prior / 8, Math.max(Math.min(4 * prior, 0.9), (1.5 * prior) / 8)].map((at) => Math.log(at / (1 - at)));
    const ratios = evenly(low, high, POINTS).map((odds) => 1 / (1 + Math.exp(-odds)));
    const weights = ratios.map((ratio) => ratio / (1 - ratio));
    const above = tallies.at(found.tally, threshold);
    const place = recovery.indexAt(found.tally.thresholds, threshold);
    const benefit = (weight, i) => (1 + weight) * points.hits[i] - weight * points.flagged[i];
    const model = weights.map((weight) => benefit(weight, place));
    const best = weights.map((weight) => {
      let most = -Infinity;
      for (let i = 0; i < points.hits.length; i++) most = Math.max(most, benefit(weight, i));
      return most;
    });
    const forms = weights.map((weight) => ({ hits: 1 + weight, flagged: -weight, prior: 0 }));
    const [lowest, highest] = bandAround(model, linearAt(found, above), forms, evaluation);
    return {
      ratios,
      model,
      flag_all: weights.map((weight) => points.prior - weight * (1 - points.prior)),
      low: lowest,
      high: highest,
      best,
      uncorrected: weights.map((weight) => (above[0] - weight * (above[1] + above[2])) / found.tally.rows),
      simultaneous: lowest !== null && !doubts.shop.isDrawn,
      warnings: [],
      confidence,
    };
  }

  // --- thresholds that people name ---------------------------------------------------------------------------------

  function namedPoints(evaluation) {
    const { found } = evaluation;
    const { tally } = found;
    const confidence = evaluation.confidence ?? 0.95;
    const named = [{ name: "best F1", threshold: estimates.bestThreshold(found) }];
    const labelled = tally.totals.labelled;
    if (labelled < Math.ceil(Math.log(1 - confidence) / Math.log(USUAL_FLOOR) - 1e-12)) return named;
    const passes = (place) => {
      const hits = tally.labelled[place];
      return hits > 0 && betaQuantile(hits, Math.max(labelled - hits, 0) + 1, 1 - confidence) >= USUAL_FLOOR - 1e-12;
    };
    let [low, high] = [0, tally.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (passes(middle)) high = middle;
      else low = middle + 1;
    }
    if (low < tally.size) named.push({ name: `recall ${USUAL_FLOOR}, ${numbers.percents(confidence, 0)} sure`, threshold: tally.thresholds[low] });
    return named;
  }

  // --- the card ----------------------------------------------------------------------------------------------------

  function amount(value) {
    const short = Number(general(value, 4));
    return Math.abs(short) >= 1000 ? whole(short) : general(short, 4);
  }
  const between = ({ low, high }) => (low === null ? "" : `${amount(low)} to ${amount(high)}`);

  function wordsOf(card, money) {
    const { home } = card;
    const what = home.threshold === null ? "flag no row" : `flag scores of ${general(home.threshold, 4)} and above`;
    const ends = home.choice.low === null ? "" : ` [${amount(home.choice.low)}, ${amount(home.choice.high)}]`;
    return [
      `If a miss costs as much as ${amount(money.miss)} false alarms (cost ratio ${general(card.ratio, 3)}), the cheapest is to ${what}: ${amount(home.choice.value)}${ends} per 1,000 rows, against ${amount(home.none)} for flagging none and ${amount(home.all)} for flagging all.`,
      `It stays the cheapest for class priors from ${general(home.priors[0], 3)} to ${general(home.priors[1], 3)}.`,
    ];
  }

  function rowsOf({ home }, inUse, flaggedInUse) {
    const at = (threshold) => (threshold !== null && Number.isFinite(threshold) ? general(threshold, 4) : "–");
    const row = (way, title, threshold, flagged, cost) => ({
      ...{ way, title, threshold: at(threshold), flagged: sentences.percent(flagged) },
      ...{ cost: amount(cost.value), interval: between(cost) },
    });
    const exact = (value) => ({ value, low: null, high: null });
    return [
      row("choice", "the cheapest threshold", home.threshold, home.flagged, home.choice),
      row("use", "the threshold in use", inUse, flaggedInUse, home.use),
      row("none", "flag no row", null, 0, exact(home.none)),
      row("all", "flag every row", null, 1, exact(home.all)),
    ];
  }

  function of(evaluation) {
    const { found, threshold, doubts } = evaluation;
    const { tally } = found;
    const money = evaluation.money;
    const ratio = money.price / money.worth;
    const shop = doubts ? doubts.shop : null;
    const data = { counts: { ...tally, negative: tally.totals.negative ? tally.negative : null }, totals: tally.totals };
    const given = evidence.given(found);
    const points = decision.actionsOf(recovery.tablesOf(data.counts, tally.totals, given));
    const anywhere = () => true;
    const place = decision.cheapest(points, money, anywhere);
    const chosen = place ? tally.thresholds[place - 1] : Infinity;
    const form = decision.costForm(money);
    const costOf = (at) => formAt(form, evidence.mapOf(found), at.map((count, k) => count / (tally.totals[KINDS[k]] || 1)));
    const counted = KINDS.map((kind) => (place ? tally[kind][place - 1] : 0));
    const choice = priced(costOf(counted), shop && chosenAnew(found, shop, form, linearAt(found, counted)), shop);
    if (choice.low !== null && choice.low < 0) choice.low = Math.min(0, choice.value); // nothing here brings money
    const above = tallies.at(tally, threshold);
    const use = threshold === chosen ? choice : priced(costOf(above), shop && fixedBefore(shop, form, linearAt(found, above)), shop);
    const prior = found.prior.value;
    const low = Math.min(prior / 8, ratio / 4);
    const high = Math.max(Math.min(4 * prior, 0.9), Math.min(4 * ratio, 0.9), 0.02);
    const card = {
      costs: null,
      ratio,
      track: [Math.max(low, 1e-6), Math.min(high, HIGHEST_RATIO)],
      allowed: { none: true, highest: finite(tally.thresholds[0]), lowest: finite(tally.thresholds.at(-1)) },
      doubt: shop && { tail: shop.tail, z: normalQuantile(shop.tail) },
      home: {
        threshold: finite(chosen),
        flagged: points.flagged[place],
        ...{ choice, use },
        none: PER * money.miss * points.prior,
        all: PER * decision.flagAll(points.prior, money),
        priors: decision.standing(data, given, points, place, anywhere, money),
        useful: decision.useful(points, place),
      },
      curve: curveOf(evaluation, points),
      points: namedPoints(evaluation),
      unit: " in false alarms",
    };
    const flagged = points.flagged[recovery.indexAt(tally.thresholds, threshold)];
    return { ...card, words: wordsOf(card, money), rows: rowsOf(card, threshold, flagged) };
  }

  // for the template, which writes numbers as Python does
  const asShown = (card) => ({ ...card, points: card.points.map(({ name, threshold }) => ({ name, threshold: numbers.plain(threshold) })) });

  return { usualCosts, cheapestPlace, of, asShown };
})();
if (typeof module !== "undefined") module.exports = costCard;
