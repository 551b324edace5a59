"use strict";
// Numbers as people read them.
const words = {
  short: (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : "–"),
  // a threshold, with the digits that a command takes
  six: (value) => (Number.isFinite(value) ? Number(value.toPrecision(6)).toString() : "–"),
  three: (value) => (Number.isFinite(value) ? value.toFixed(3) : "undefined"),
  // whole per cents, with a decimal where they would hide something
  percent: (value) => {
    const hundred = 100 * value;
    return `${hundred >= 1 && hundred <= 99 ? hundred.toFixed(0) : hundred.toFixed(1).replace(/\.0$/, "")}%`;
  },
  // "47 to 99.2" is never torn apart at the end of a line.
  together: (element) => {
    if (element.childElementCount) return;
    const parts = element.textContent.split(/([+-]?\d[\d.,]*%? to [+-]?\d[\d.,]*\d%?)/);
    if (parts.length < 2) return;
    const range = (text) => Object.assign(document.createElement("span"), { className: "together", textContent: text });
    element.replaceChildren(...parts.map((text, k) => (k % 2 ? range(text) : text)));
  },
  rows: (value) => (value >= 10 ? Math.round(value).toLocaleString("en-US") : words.short(value)),
};
