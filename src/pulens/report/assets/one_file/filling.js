"use strict";
// What the templates need to be filled in a browser: text is escaped unless a macro made it, values are true or not as
// in Python, and a name that nobody gave is an error.
const filling = (() => {
  class Safe {
    constructor(text) {
      this.text = text;
    }
    toString() {
      return this.text;
    }
  }
  const MARKS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };
  const safe = (text) => new Safe(text);
  // a notice stands for its message
  const escaped = (value) =>
    value instanceof Safe ? value.text : String(value?.message ?? value).replace(/[&<>"']/g, (mark) => MARKS[mark]);

  function truth(value) {
    if (value instanceof Safe) return value.text !== "";
    if (Array.isArray(value)) return value.length > 0;
    if (value && typeof value === "object") return Object.keys(value).length > 0;
    return Boolean(value);
  }

  function part(whole, name) {
    if (whole === null || whole === undefined || whole[name] === undefined) throw new Error(`nothing is named ${name}`);
    return whole[name];
  }

  const and = (left, right) => (truth(left) ? right() : left);
  const or = (left, right) => (truth(left) ? left : right());
  const concat = (parts) =>
    parts.some((each) => each instanceof Safe) ? safe(parts.map(escaped).join("")) : parts.map(String).join("");

  function each(items, body, test) {
    const kept = test ? items.filter((item) => test(item)) : items;
    return kept
      .map((item, index0) =>
        body(item, { index0, index: index0 + 1, first: index0 === 0, last: index0 === kept.length - 1, length: kept.length }),
      )
      .join("");
  }

  const filters = {
    length: (value) => value.length,
    list: (value) => [...value],
    replace: (value, old, other) => String(value).replaceAll(old, other),
    lower: (value) => String(value).toLowerCase(),
    capitalize: (value) => String(value).charAt(0).toUpperCase() + String(value).slice(1).toLowerCase(),
    selectattr: (items, name, test, wanted) => {
      if (test !== "equalto") throw new Error(`no test is named ${test}`);
      return items.filter((item) => part(item, name) === wanted);
    },
  };

  function call(place, name, given, named) {
    const [macro, order] = templates[place].macros[name];
    const taken = { ...named };
    given.forEach((value, k) => (taken[order[k]] = value));
    return macro(taken);
  }

  // A template filled with what the context holds, blocks of the template it extends replaced by its own.
  function render(name, context) {
    const blocks = {};
    let place = templates[name];
    for (;;) {
      for (const [block, body] of Object.entries(place.blocks)) blocks[block] ??= body;
      if (place.base === null) break;
      place = templates[place.base];
    }
    const fill = (block, c) => blocks[block](c, fill);
    return place.root(context, fill).trim();
  }

  return { safe, escaped, truth, part, and, or, concat, each, filters, call, render };
})();
