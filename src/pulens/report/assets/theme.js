"use strict";
// Light or dark: the reader's system decides until the button is pressed; paper is always light.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try {
      return localStorage.getItem("pulens-theme");
    } catch {
      return null; // storage may be switched off: the theme is then not remembered
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const redrawAll = () => typeof figures !== "undefined" && figures.redrawAll(); // some pages have no chart
  const redraw = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    redrawAll();
  };
  if (kept()) root.dataset.theme = kept();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("pulens-theme", root.dataset.theme);
    } catch {
      // not remembered
    }
    redraw();
  });
  dark.addEventListener("change", redraw);
  let before;
  addEventListener("beforeprint", () => {
    for (const notes of document.querySelectorAll("details.on-paper")) notes.open = true;
    before = root.dataset.theme;
    root.dataset.theme = "light";
    root.classList.add("paper"); // charts are drawn as wide as the paper, and their words keep their size
    redrawAll();
  });
  addEventListener("afterprint", () => {
    root.classList.remove("paper");
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    redrawAll();
  });
  // charts have no width while they are folded away
  for (const fold of document.querySelectorAll("details.fold")) fold.addEventListener("toggle", () => fold.open && redrawAll());
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // phones resize when their address bar goes away
    width = innerWidth;
    redrawAll();
  });
  button.setAttribute("aria-pressed", String(isDark()));
  for (const sentence of document.querySelectorAll(".sentence")) words.together(sentence);
})();
