"use strict";
// The charts of a watch: windows from left to right, what is known of each, and how sure.
const watchCharts = (() => {
  const MOST_MARKS = 400; // above, marks become a line with its band
  const MOST_EVIDENCE = 6;
  const STARTS = "#d99a00";
  const { three, short } = words;
  const ends = (found) => (found ? `${three(found[0])} (${three(found[1])} to ${three(found[2])})` : "withheld");

  // Windows as an axis: days of one year lose the year, and as many names are shown as have room.
  function axisOf(names) {
    const days = names.every((name) => /^\d{4}-\d{2}-\d{2}$/.test(name));
    const year = days && names.every((name) => name.slice(0, 4) === names[0].slice(0, 4));
    const shown = names.map((name) => (year ? name.slice(5) : chart.cut(name, 12)));
    const wide = 6.8 * Math.max(...shown.map((name) => name.length)) + 14;
    const most = Math.max(2, Math.floor((Math.min(innerWidth - 40, 640) - 90) / wide));
    const step = Math.max(1, Math.ceil((names.length - 1) / Math.max(most - 1, 1)));
    const ticks = [];
    for (let k = 0; k < names.length; k += step) ticks.push(k);
    return {
      label: year ? `windows of ${names[0].slice(0, 4)}` : "windows",
      min: -0.5,
      max: names.length - 0.5,
      ticks,
      tell: (place) => shown[place],
    };
  }

  // Runs of places for which a test holds, as pairs from, to.
  function runs(size, test) {
    const found = [];
    for (let k = 0; k < size; k++) {
      if (!test(k)) continue;
      const last = found[found.length - 1];
      if (last && last[1] === k - 0.5) last[1] = k + 0.5;
      else found.push([k - 0.5, k + 0.5]);
    }
    return found;
  }

  const places = (values) => values.map((_, k) => k);
  // The band of a line, whole over each run of windows that have a number.
  function bands(values, colour) {
    return runs(values.length, (k) => values[k] !== null).map(([from, to]) => {
      const inside = places(values).slice(from + 0.5, to + 0.5);
      const wide = inside.length === 1 ? 0.3 : 0;
      const x = inside.length === 1 ? [inside[0] - wide, inside[0] + wide] : inside;
      const at = (k) => values[Math.round(k)];
      return {
        kind: "area",
        x: [...x, ...[...x].reverse()],
        y: [...x.map((k) => at(k)[2]), ...[...x].reverse().map((k) => at(k)[1])],
        colour,
        opacity: 0.16,
      };
    });
  }
  // A line; a window without neighbours is a dot.
  const line = (values, colour, name, width = 2) => {
    const alone = places(values).filter((k) => values[k] && !values[k - 1] && !values[k + 1]);
    return [
      { kind: "line", x: places(values), y: values.map((found) => (found ? found[0] : NaN)), colour, width, name },
      { kind: "dots", x: alone, y: alone.map((k) => values[k][0]), colour, radius: 3.5 },
    ];
  };

  // Marks with their intervals: full, hollow where doubtful; a line with a band where there are hundreds.
  function marks(values, hollow, palette) {
    const known = places(values).filter((k) => values[k] !== null);
    if (known.length > MOST_MARKS)
      return [...bands(values, palette.main), ...line(values, palette.main, "window, with its interval", 1.3)];
    const radius = values.length > 150 ? 1.8 : values.length > 70 ? 2.6 : 3.6;
    const group = (chosen, more) => [
      {
        kind: "whiskers",
        x: chosen,
        low: chosen.map((k) => values[k][1]),
        high: chosen.map((k) => values[k][2]),
        colour: palette.main,
        ...(values.length > 150 ? { width: 1, opacity: 0.4 } : {}), // so many that they would hide the dots
      },
      { kind: "dots", x: chosen, y: chosen.map((k) => values[k][0]), colour: palette.main, radius, ...more },
    ];
    const [full, empty] = [known.filter((k) => !hollow[k]), known.filter((k) => hollow[k])];
    return [
      ...(full.length ? group(full, { name: "window, with its interval" }) : []),
      ...(empty.length ? group(empty, { fill: palette.paper, name: "doubtful" }) : []),
    ];
  }

  const reach = (values, more) => {
    const all = [...values.flatMap((found) => found || []), ...more].filter(Number.isFinite);
    const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
    const room = (high - low) * 0.06 || 0.05;
    return [low - room, high + room];
  };
  const level = (value, palette, name) => ({
    kind: "line",
    x: [-0.5, 1e9],
    y: [value, value],
    colour: palette.plain,
    width: 1.3,
    dash: "5 4",
    name,
  });

  // When a change began, with the doubt about it, and after which window it was certain.
  const starts = (alarm) => ({
    kind: "between",
    from: alarm.since_low - 0.5,
    to: alarm.since_high + 0.5,
    colour: STARTS,
    opacity: 0.3,
    name: alarm.certain === null ? "change may have begun" : "change began",
  });
  const certain = (alarm, palette) => ({ kind: "upright", at: alarm.certain, colour: palette.alarm, width: 1.5, name: "alarm certain" });

  // The share of positives of every window, or its shift where nobody gave a class prior.
  function positives(page, palette) {
    const { data, values, prior } = page;
    const isShare = prior !== null;
    const found = isShare ? values.prior : data.shift;
    const size = data.names.length;
    const usual = page.sizes.slice(0, 2);
    const told = [...data.alarms, ...data.changes];
    const stands = told.find((alarm) => alarm.line === "share" && alarm.level);
    const since = stands ? page.sizes.slice(2) : [];
    const [min, max] = reach(found, [...usual, ...since]);
    const low = isShare ? Math.max(min, 0) : min;
    const layers = [
      {
        kind: "area",
        x: [-0.5, size - 0.5, size - 0.5, -0.5],
        y: [usual[0], usual[0], usual[1], usual[1]],
        colour: palette.plain,
        opacity: 0.16,
        name: `quiet windows, ${Math.round(100 * data.confidence)}% of them`,
      },
      { ...level(isShare ? prior : 0, palette, "reference"), x: [-0.5, size - 0.5] },
    ];
    const spoken = stands || told.find((alarm) => alarm.line === "fit");
    if (spoken) layers.push(starts(spoken));
    if (stands) {
      const x = [stands.since - 0.5, size - 0.5];
      layers.push({ kind: "area", x: [...x, x[1], x[0]], y: [since[1], since[1], since[2], since[2]], colour: palette.other, opacity: 0.2 });
      layers.push({ kind: "line", x, y: [since[0], since[0]], colour: palette.other, width: 2.2, name: stands.certain === null ? "level since, not certain" : "level since", dash: stands.certain === null ? "6 4" : undefined });
    }
    layers.push(...marks(found, page.trust.map((trust) => trust === "doubtful"), palette));
    const gone = places(found).filter((k) => found[k] === null);
    if (gone.length)
      layers.push({
        kind: "whiskers",
        x: gone,
        low: gone.map(() => low),
        high: gone.map(() => low + 0.05 * (max - low)),
        colour: palette.ink,
        name: "withheld",
      });
    if (spoken && spoken.certain !== null) layers.push(certain(spoken, palette));
    return {
      id: "positives",
      title: isShare ? "Share of positives" : "Shift d",
      ratio: 0.28,
      x: axisOf(data.names),
      y: { label: isShare ? "share of positives" : "shift d", min: low, max: isShare ? Math.min(max, 1) : max },
      layers,
      table: () => ({
        header: ["window", "rows", isShare ? "share of positives" : "change in share", "low", "high", "usable"],
        rows: data.names.map((name, k) => [name, data.rows[k], ...(found[k] || [NaN, NaN, NaN]), page.trust[k] === "ok" ? "yes" : page.trust[k]]),
      }),
      trail: {
        x: places(found),
        y: found.map((one) => (one ? one[0] : NaN)),
        now: size - 1,
        tell: (k) => [
          data.names[k],
          found[k] ? ends(found[k]) : page.why(k) || "withheld",
          `${words.rows(data.rows[k])} rows, ${page.trust[k]}`,
        ],
        pick: page.pick,
      },
    };
  }

  const NAMES = { precision: "Precision", recall: "Recall", f1: "F1" };
  // One metric by itself; recall is the reference's while the windows' own labels are not complete.
  const metric = (name) => (page, palette) => {
    const { data, values } = page;
    const found = values[name];
    const grey = runs(data.names.length, (k) => page.trust[k] !== "ok");
    const colour = palette.series[Object.keys(NAMES).indexOf(name)];
    return {
      id: name,
      title: `${NAMES[name]} at the threshold`,
      ratio: 0.2,
      x: axisOf(data.names),
      y: { label: name === "f1" ? "F1" : name, min: 0, max: 1 },
      layers: [
        ...grey.map(([from, to], k) => ({ kind: "between", from, to, colour: palette.plain, opacity: 0.22, name: k ? undefined : "do not report" })),
        ...bands(found, colour),
        ...line(found, colour, NAMES[name]),
      ],
      table: () => ({
        header: ["window", name, "low", "high", "usable"],
        rows: data.names.map((window, k) => [window, ...(found[k] || [NaN, NaN, NaN]), page.trust[k] === "ok" ? "yes" : page.trust[k]]),
      }),
      trail: {
        x: places(data.names),
        now: data.names.length - 1,
        tell: (k) => [data.names[k], `${NAMES[name]} ${ends(found[k])}`, page.trust[k] === "ok" ? "usable" : page.trust[k]],
        pick: page.pick,
      },
    };
  };

  const LINES = { share: "more or fewer positives", fit: "moved scores", recall: "own positives" };
  function evidence(page, palette) {
    const { data } = page;
    const shown = Object.keys(data.lines);
    const colour = (name) => palette.series[Object.keys(LINES).indexOf(name)];
    const drawn = (value) => (value === null ? NaN : Math.min(Math.max(value, 0), MOST_EVIDENCE));
    const all = shown.flatMap((name) => data.lines[name].evidence.map(drawn)).filter(Number.isFinite);
    const top = Math.min(Math.max(2.3, ...all) * 1.06, MOST_EVIDENCE * 1.03);
    return {
      id: "evidence",
      title: "How sure",
      ratio: 0.22,
      x: axisOf(data.names),
      y: { label: "log10 of evidence", min: 0, max: top },
      layers: [
        ...shown.map((name) => ({ kind: "line", x: [-0.5, data.names.length - 0.5], y: [data.lines[name].bar, data.lines[name].bar], colour: colour(name), width: 1.2, dash: "4 4" })),
        ...shown.flatMap((name) => line(data.lines[name].evidence.map((value) => (value === null ? null : [drawn(value)])), colour(name), LINES[name])),
        ...data.alarms.map((alarm) => ({ kind: "upright", at: alarm.certain, colour: colour(alarm.line), width: 1.2, dash: "1 3" })),
      ],
      table: () => ({
        header: ["window", ...shown],
        rows: data.names.map((name, k) => [name, ...shown.map((each) => data.lines[each].evidence[k] ?? NaN)]),
      }),
      trail: {
        x: places(data.names),
        now: data.names.length - 1,
        tell: (k) => [
          data.names[k],
          ...shown.map((name) => {
            const value = data.lines[name].evidence[k];
            return `${LINES[name]}: ${value === null ? "not judged yet" : value.toFixed(2)} of ${data.lines[name].bar.toFixed(2)}`;
          }),
        ],
        pick: page.pick,
      },
    };
  }

  // How many rows get labels, and how many of a window's own positives are found.
  function labels(kind) {
    return (page, palette) => {
      const { data } = page;
      const given = data.labels;
      const isRecall = kind === "recall";
      const found = isRecall ? given.recall : given.per_thousand;
      const size = data.names.length;
      const young = !given.waits ? [] : runs(size, (k) => !given.mature[k]);
      const base = isRecall ? given.known[0] : given.base;
      const [min, max] = isRecall ? [0, 1] : reach(found, given.base === null ? [] : [given.base]);
      const known = isRecall
        ? [{ kind: "area", x: [-0.5, size - 0.5, size - 0.5, -0.5], y: [given.known[1], given.known[1], given.known[2], given.known[2]], colour: palette.plain, opacity: 0.16 }]
        : [];
      const hollow = data.names.map((_, k) => isRecall && !given.mature[k]);
      const moved = isRecall ? data.alarms.find((alarm) => alarm.line === "recall") : undefined;
      return {
        id: `labels-${kind}`,
        title: isRecall ? "Own positives found at the threshold" : "Labelled rows per 1,000",
        ratio: 0.4,
        x: axisOf(data.names),
        y: { label: isRecall ? "share found" : "labelled per 1,000", min: Math.max(min, 0), max },
        layers: [
          ...young.map(([from, to], k) => ({ kind: "hatched", from, to, colour: palette.plain, name: k ? undefined : "labels not complete" })),
          ...known,
          ...(moved ? [starts(moved)] : []),
          ...(base === null ? [] : [{ ...level(base, palette, "reference"), x: [-0.5, size - 0.5] }]),
          ...marks(found, hollow, palette).map((layer) => ({ ...layer, name: layer.name === "doubtful" ? "not used" : layer.name && "window" })),
          ...(moved ? [certain(moved, palette)] : []),
        ],
        table: () => ({
          header: ["window", isRecall ? "share found" : "labelled per 1,000", "low", "high", "complete"],
          rows: data.names.map((name, k) => [name, ...(found[k] || [NaN, NaN, NaN]), given.mature[k] ? "yes" : "no"]),
        }),
        trail: {
          x: places(data.names),
          y: found.map((one) => (one ? one[0] : NaN)),
          now: size - 1,
          tell: (k) => [
            data.names[k],
            found[k] ? (isRecall ? ends(found[k]) : `${short(found[k][0])} (${short(found[k][1])} to ${short(found[k][2])})`) : "no labelled row",
            ...(given.matures[k] ? [given.matures[k]] : []),
          ],
          pick: page.pick,
        },
      };
    };
  }

  // Scores of the reference, of its labelled positives, and of one window (or all since a change).
  function scores(page, palette) {
    const { data } = page;
    const { edges, reference, labelled, threshold } = data.scores;
    const { name, shares } = page.chosen();
    const steps = (heights) => ({
      x: edges.flatMap((edge, k) => (k === 0 || k === edges.length - 1 ? [edge] : [edge, edge])),
      y: heights.flatMap((height) => [height, height]),
    });
    const outline = (heights, colour, told, width) => ({ kind: "line", ...steps(heights), colour, width, name: told });
    const middles = reference.map((_, k) => (edges[k] + edges[k + 1]) / 2);
    const top = Math.max(...reference, ...labelled, ...shares) * 1.08;
    return {
      id: "scores",
      title: `Scores: reference and ${name}`,
      ratio: 0.3,
      x: { label: "score", min: edges[0], max: edges[edges.length - 1] },
      y: { label: "share of rows", min: 0, max: top },
      layers: [
        { kind: "bars", edges, y: reference, colour: palette.plain, opacity: 0.4, name: "reference" },
        outline(labelled, palette.other, "its labelled positives", 1.5),
        outline(shares, palette.main, chart.cut(name, 30), 2.2),
        ...(threshold === null ? [] : [{ kind: "upright", at: threshold, colour: palette.ink, dash: "2 3", name: "threshold" }]),
      ],
      table: () => ({
        header: ["from", "to", "reference", "labelled positives", name],
        rows: reference.map((share, k) => [edges[k], edges[k + 1], share, labelled[k], shares[k]]),
      }),
      trail: {
        x: middles,
        tell: (k) => [
          `score ${short(edges[k])} to ${short(edges[k + 1])}`,
          `reference ${words.percent(reference[k])}`,
          `labelled positives ${words.percent(labelled[k])}`,
          `${chart.cut(name, 24)} ${words.percent(shares[k])}`,
        ],
      },
    };
  }

  return { positives, metric, evidence, labels, scores };
})();
