"use strict";
// Numbers as people read them.
const words = {
  short: (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : "–"),
  three: (value) => (Number.isFinite(value) ? value.toFixed(3) : "undefined"),
  // whole per cents, with a decimal where they would hide something
  percent: (value) => {
    const hundred = 100 * value;
    return `${hundred >= 1 && hundred <= 99 ? hundred.toFixed(0) : hundred.toFixed(1).replace(/\.0$/, "")}%`;
  },
  rows: (value) => (value >= 10 ? Math.round(value).toLocaleString("en-US") : words.short(value)),
};
