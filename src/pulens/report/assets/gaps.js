"use strict";
// Two groups at one class prior, common to both: from recall r, share flagged q and prior a follows every number.
(() => {
  const formulas = {
    false_positive_rate: { value: (r, q, a) => (q - a * r) / (1 - a), turn: (dr, dq) => dq / dr },
    precision: { value: (r, q, a) => (q > 0 ? (a * r) / q : NaN), turn: () => NaN },
    accuracy: { value: (r, q, a) => 1 - a - q + 2 * a * r, turn: (dr, dq) => dq / (2 * dr) },
  };
  const parts = JSON.parse(document.getElementById("page-data").textContent).parts;
  const shown = (number) => (Number.isFinite(number) ? number.toFixed(3).replace("-", "−") : "–");

  const short = (name, size) => (name.length > size ? `${name.slice(0, size - 1)}…` : name);

  // the largest prior that a group allows: no more found, and no more missed, than there are
  const most = (r, q) => Math.min(1, r > 0 ? q / r : 1, r < 1 ? (1 - q) / (1 - r) : 1);

  for (const section of document.querySelectorAll("[data-try]")) {
    const part = parts[Number(section.dataset.try)];
    const role = (name) => section.querySelector(`[data-role="${name}"]`);
    const [first, second, slider] = [role("first"), role("second"), role("slider")];
    part.names.forEach((name, place) => {
      for (const [select, chosen] of [[first, part.first], [second, part.second]]) {
        const option = document.createElement("option");
        option.value = String(place);
        option.textContent = short(name, 40);
        option.selected = place === chosen;
        select.append(option);
      }
    });

    const pair = () => [Number(first.value), Number(second.value)];
    const limit = ([i, j]) => Math.min(most(part.found[i], part.flagged[i]), most(part.found[j], part.flagged[j]), 0.999);

    function turns([i, j]) {
      const [dr, dq] = [part.found[i] - part.found[j], part.flagged[i] - part.flagged[j]];
      const found = {};
      for (const [name, formula] of Object.entries(formulas)) {
        const at = formula.turn(dr, dq);
        found[name] = at > 0 && at < limit([i, j]) ? at : NaN;
      }
      return found;
    }

    function paint() {
      const both = pair();
      const [i, j] = both;
      const prior = Number(slider.value);
      const found = turns(both);
      role("prior").textContent = prior.toFixed(3);
      role("first-name").textContent = short(part.names[i], 28);
      role("second-name").textContent = short(part.names[j], 28);
      for (const row of section.querySelectorAll("tr[data-metric]")) {
        const formula = formulas[row.dataset.metric];
        const cell = (name) => row.querySelector(`[data-cell="${name}"]`);
        const [one, other] = both.map((k) => formula.value(part.found[k], part.flagged[k], prior));
        cell("first").textContent = shown(one);
        cell("first").dataset.name = short(part.names[i], 28);
        cell("second").textContent = shown(other);
        cell("second").dataset.name = short(part.names[j], 28);
        cell("difference").textContent = shown(one - other);
        cell("difference").dataset.name = "difference";
        cell("turn").textContent = Number.isFinite(found[row.dataset.metric]) ? found[row.dataset.metric].toFixed(3) : "nowhere";
        row.classList.toggle("reversed", Number.isFinite(found[row.dataset.metric]) && prior > found[row.dataset.metric]);
      }
    }

    function choose() {
      const both = pair();
      const largest = limit(both);
      slider.max = String(largest);
      slider.value = String(largest / 2);
      role("most").textContent = `possible up to ${largest.toFixed(3)}`;
      const marks = role("marks");
      marks.replaceChildren();
      for (const [name, at] of Object.entries(turns(both))) {
        const key = section.querySelector(`[data-key="${name}"]`);
        if (key) key.hidden = !Number.isFinite(at);
        if (!Number.isFinite(at)) continue;
        const mark = document.createElement("span");
        mark.className = "mark turning";
        // the thumb's middle runs from half its width to the end less half of it
        mark.style.left = `calc(9px + (100% - 18px) * ${at / largest})`;
        mark.title = `${name.replaceAll("_", " ")} changes places at ${at.toFixed(3)}`;
        mark.dataset.metric = name;
        marks.append(mark);
      }
      paint();
    }

    slider.addEventListener("input", paint);
    first.addEventListener("change", choose);
    second.addEventListener("change", choose);
    choose();
  }
})();
