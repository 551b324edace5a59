"use strict";
// Segments: find one by name, choose the order (headings do that too, where there is room for them).
(() => {
  const table = document.getElementById("segments");
  if (!table) return; // a report that compares no groups
  const order = document.getElementById("order");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const rows = [...table.tBodies[0].rows];
  const names = new Map(rows.map((row) => [row, row.cells[0].dataset.value.toLowerCase()]));
  order.addEventListener("change", () => {
    sorting.sortBy(table, Number.parseInt(order.value, 10), order.value.endsWith("d"));
  });
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !names.get(row).includes(wanted);
      if (!row.hidden) shown += 1;
    }
    found.textContent = wanted ? `${shown} of ${rows.length}` : "";
  });
})();
