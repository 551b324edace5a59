"use strict";
// Numbers of a watch at the class priors at which Python found them.
const watchLive = (() => {
  const MOVED = ["prior", "precision", "recall", "f1"];
  const WITHHELD = 65535;

  // the place of the class prior that is nearest, in factors
  function nearest(priors, prior) {
    const far = priors.map((one) => Math.abs(Math.log(one / prior)));
    return far.indexOf(Math.min(...far));
  }

  // live: the class priors, a row of numbers for each (all windows, then what they are compared with), and trust
  function of({ priors, numbers, trust }, size) {
    const table = new Uint16Array(Uint8Array.from(atob(numbers), (one) => one.charCodeAt(0)).buffer);
    const width = table.length / priors.length;
    return (at) => {
      const number = (column) => {
        const found = table[at * width + column];
        return found === WITHHELD ? null : found / (WITHHELD - 1);
      };
      const ends = (column) => (number(column) === null ? null : [number(column), number(column + 1), number(column + 2)]);
      const values = {};
      MOVED.forEach((name, metric) => {
        values[name] = Array.from({ length: size }, (_, k) => ends(3 * (MOVED.length * k + metric)));
      });
      const rest = 3 * MOVED.length * size;
      const sizes = [0, 1, 2, 3, 4].map((k) => number(rest + k));
      const before = Object.fromEntries(MOVED.map((name, k) => [name, number(rest + 5 + k)]));
      return { prior: priors[at], values, trust: trust[at], sizes, before };
    };
  }

  return { of, nearest };
})();
if (typeof module !== "undefined") module.exports = watchLive;
