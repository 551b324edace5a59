"use strict";
// Which positives got labels: a chance for each range of scores, its band, and where random labels would lie.
function labellingCurve({ value, low, high, names, random, relative }, palette) {
  const { three } = words;
  const finite = (number) => (number === null ? NaN : number);
  const size = names.length;
  const drawn = [...value, ...low, ...high].map(finite).filter(Number.isFinite);
  const top = relative ? Math.min(Math.max(2, ...value.map(finite).filter(Number.isFinite), ...high.map(finite).filter((v) => v < 6)) * 1.08, 6.5) : 1;
  const cap = (v) => (Number.isFinite(v) ? Math.min(v, top) : top);
  const at = names.map((_, k) => k + 0.5);
  const ends = (k) => (high[k] === null ? "no limit" : three(high[k]));
  return {
    id: "labelling-curve",
    title: "Who gets labelled",
    x: { label: "range of scores, highest first", min: 0, max: size, ticks: at, tell: (v) => `${Math.floor(v) + 1}` },
    y: { label: relative ? "chance of a label, average = 1" : "share labelled", min: 0, max: drawn.length ? top : 1 },
    layers: [
      ...at.map((x, k) => ({
        kind: "area",
        x: [k + 0.12, k + 0.88, k + 0.88, k + 0.12],
        y: [finite(low[k]), finite(low[k]), cap(finite(high[k])), cap(finite(high[k]))],
        colour: palette.main,
        opacity: 0.2,
        name: k ? undefined : "band for the whole curve",
      })),
      { kind: "line", x: [0, size], y: [random, random], colour: palette.plain, width: 1.5, dash: "5 4", name: "random labels" },
      { kind: "dots", x: at.filter((_, k) => value[k] !== null), y: value.filter((v) => v !== null).map(cap), colour: palette.main, radius: 5, name: "found" },
    ],
    table: () => ({
      header: ["range", "value", "low", "high"],
      rows: names.map((name, k) => [name, finite(value[k]), finite(low[k]), high[k] === null ? "no limit" : high[k]]),
    }),
    trail: { x: at, tell: (k) => [names[k], `${value[k] === null ? "unknown" : three(value[k])} (${three(finite(low[k]))} to ${ends(k)})`] },
  };
}
