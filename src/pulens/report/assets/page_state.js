"use strict";
// Where a page's sliders stand: drawn once per frame however fast they move, and kept in the address once they rest.
const pageState = (() => {
  let waiting = 0;
  let keeping = 0;

  function soon(draw) {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  }

  // parts() gives {name: value}; what is null or undefined stands as the report has it, and is left out.
  function keep(parts) {
    clearTimeout(keeping);
    keeping = setTimeout(() => {
      const told = Object.entries(parts()).filter(([, value]) => value !== null && value !== undefined);
      const hash = told.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    }, 120);
  }

  // What the address asks for, as text or as a number (NaN if it says none).
  const text = (name) => new URLSearchParams(location.hash.slice(1)).get(name);
  const number = (name) => Number.parseFloat(text(name));

  return { soon, keep, text, number };
})();
