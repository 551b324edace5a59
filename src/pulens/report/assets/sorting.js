"use strict";
// Tables that sort when a heading is pressed: numbers by size, words by letter, empty cells last, rows told the truth below all.
const sorting = (() => {
  const textOf = (cell) => cell.dataset.value ?? cell.textContent.trim();
  const numberOf = (text) => {
    const found = /^[<+\-−]?\s*\d[\d,]*(\.\d+)?(e-?\d+)?/i.exec(text.replace("−", "-"));
    return found ? Number.parseFloat(text.replace(/[<,\s]/g, "").replace("−", "-")) : NaN;
  };

  function sortBy(table, column, descending) {
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row, place) => {
      const text = row.cells[column] ? textOf(row.cells[column]) : "";
      return { row, place, text, number: numberOf(text), empty: text === "" || text === "–", told: row.classList.contains("told") };
    });
    const numeric = keyed.every((one) => one.empty || Number.isFinite(one.number));
    const sign = descending ? -1 : 1;
    keyed.sort((a, b) => {
      if (a.told !== b.told) return a.told ? 1 : -1; // who is told the truth does not compete
      if (a.empty !== b.empty) return a.empty ? 1 : -1;
      const order = numeric ? a.number - b.number : a.text.localeCompare(b.text);
      return sign * order || a.place - b.place;
    });
    body.append(...keyed.map((one) => one.row));
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    table.dataset.sorted = `${column}${descending ? "d" : "a"}`;
  }

  // Headings become buttons; safe to call again after a table was filled anew.
  function ready(table) {
    if (!table.tHead || !table.tHead.rows.length) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.querySelector("button")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      const axis = [...head.children].filter((child) => child.classList.contains("axis"));
      axis.forEach((child) => child.remove());
      head.dataset.words = head.textContent.trim(); // paper shows these: headings repeated on a page lose their buttons
      button.append(...head.childNodes);
      head.append(...axis, button); // numbers of an axis are no part of the words
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        // words begin with a, numbers with the largest
        const first = column === 0 ? "ascending" : "descending";
        const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
        sortBy(table, column, next === "descending");
      });
    });
  }

  // The same order again, after the rows were replaced.
  function again(table) {
    const kept = /^(\d+)([ad])$/.exec(table.dataset.sorted || "");
    if (kept && Number(kept[1]) < table.tHead.rows[0].cells.length) sortBy(table, Number(kept[1]), kept[2] === "d");
  }

  for (const table of document.querySelectorAll("table.sortable")) ready(table);
  return { ready, again, sortBy };
})();
