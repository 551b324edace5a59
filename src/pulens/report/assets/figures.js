"use strict";
// A figure on a page: draws its chart, shows values under the pointer, saves pictures, copies data, keeps a table.
const figures = (() => {
  const all = [];
  let palette = null; // read once, and again when the theme changes: asking the browser for styles and sizes is slow

  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
      ink: read("--ink"),
      soft: read("--soft"),
      paper: read("--card"),
      grid: read("--grid"),
      main: read("--main"),
      other: read("--other"),
      plain: read("--plain"),
      prior: read("--prior"),
      alarm: read("--alarm"),
      accent: read("--accent"),
      series: [1, 2, 3, 4, 5, 6].map((k) => read(`--series-${k}`)),
    };
  };

  const colours = () => (palette ||= readColours());

  function download(name, content, type) {
    const link = document.createElement("a");
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  function savePng(picture, name) {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = picture.width * 2;
      canvas.height = picture.height * 2;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => download(name, blob), "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.text)}`;
  }

  async function copy(text, button) {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      // pages opened from disk may be refused the clipboard: the old way still works there
      const area = document.createElement("textarea");
      area.value = text;
      area.setAttribute("aria-hidden", "true");
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    const before = button.dataset.text || button.textContent;
    button.dataset.text = before;
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => (button.textContent = before), 1500);
  }

  const round = (value) =>
    typeof value === "number" ? (Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : "–") : value;

  function fillTable(holder, table) {
    const most = 25;
    const step = Math.max(1, (table.rows.length - 1) / (most - 1));
    const rows = [];
    for (let k = 0; rows.length < Math.min(most, table.rows.length); k++) rows.push(table.rows[Math.round(k * step)]);
    const element = document.createElement("table");
    const head = element.createTHead().insertRow();
    for (const name of table.header) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      head.append(cell);
    }
    const body = element.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const value of row) line.insertCell().textContent = round(value);
    }
    holder.replaceChildren(element);
    if (rows.length < table.rows.length) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = `${rows.length} of ${table.rows.length} rows; Copy CSV has them all.`;
      holder.append(note);
    }
  }

  // build() gives the chart's description: {title, x, y, layers, table(), trail?: {x, y, tell(k), pick(k)}}
  function mount(figure, build) {
    const plot = figure.querySelector(".plot");
    const tip = figure.querySelector(".tip");
    const data = figure.querySelector("details.data");
    let spec = null;
    let picture = null;
    let focus = -1;
    let width = 520;
    const canvas = plot.querySelector(".canvas");
    const mounted = { figure, draw, visible: true, stale: false, csv: () => chart.csv(now().table()) };
    const now = () => {
      if (mounted.stale) draw();
      return spec;
    };
    mounted.measure = () => (width = Math.max(280, Math.round(plot.clientWidth || 520)));

    function draw() {
      mounted.stale = false;
      spec = build(colours());
      picture = chart.svg(spec, colours(), width);
      canvas.innerHTML = picture.text;
      if (spec.after) spec.after();
      if (data.open) fillTable(data.querySelector(".scroll"), spec.table());
      hide();
    }

    function hide() {
      focus = -1;
      tip.hidden = true;
      const cursor = plot.querySelector(".cursor");
      if (cursor) cursor.innerHTML = "";
    }

    function show(k) {
      const { trail } = spec;
      if (!trail || !(k >= 0) || k >= trail.x.length) return;
      focus = k;
      const { frame } = picture;
      const x = frame.px(trail.x[k]);
      const y = trail.y ? frame.py(trail.y[k]) : null;
      const palette = colours();
      plot.querySelector(".cursor").innerHTML =
        y === null || !Number.isFinite(y)
          ? `<line x1="${x}" x2="${x}" y1="${frame.top}" y2="${frame.bottom}" stroke="${palette.ink}" stroke-width="1" stroke-dasharray="2 2"/>`
          : `<circle cx="${x}" cy="${y}" r="4.5" fill="none" stroke="${palette.ink}" stroke-width="2"/>`;
      tip.replaceChildren(
        ...trail.tell(k).map((line) => Object.assign(document.createElement("div"), { textContent: line })),
      );
      tip.hidden = false;
      const scale = plot.clientWidth / picture.width;
      const side = x * scale > plot.clientWidth / 2;
      tip.style.left = side ? "auto" : `${x * scale + 14}px`;
      tip.style.right = side ? `${plot.clientWidth - x * scale + 14}px` : "auto";
      tip.style.top = `${Math.max(4, Math.min((y === null || !Number.isFinite(y) ? frame.top + 10 : y - 20) * scale, plot.clientHeight - 90))}px`;
    }

    function nearest(event) {
      const { trail } = spec;
      if (!trail || !trail.x.length) return -1;
      const box = plot.querySelector("svg").getBoundingClientRect();
      const scale = picture.width / box.width;
      const atX = (event.clientX - box.left) * scale;
      const atY = (event.clientY - box.top) * scale;
      const { frame } = picture;
      let best = -1;
      let least = Infinity;
      for (let k = 0; k < trail.x.length; k++) {
        const dx = frame.px(trail.x[k]) - atX;
        const dy = trail.y ? frame.py(trail.y[k]) - atY : 0;
        const distance = dx * dx + dy * dy;
        if (distance < least) [best, least] = [k, distance];
      }
      return best;
    }

    plot.addEventListener("pointermove", (event) => show(nearest(event)));
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("click", (event) => spec.trail && spec.trail.pick && spec.trail.pick(nearest(event)));
    plot.addEventListener("keydown", (event) => {
      const { trail } = spec;
      if (!trail) return;
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20 };
      if (event.key in steps) {
        const size = Math.max(1, Math.round(trail.x.length / 100)) * steps[event.key];
        const from = focus >= 0 ? focus : (trail.now ?? 0);
        show(Math.min(Math.max(from + size, 0), trail.x.length - 1));
        event.preventDefault();
      } else if ((event.key === "Enter" || event.key === " ") && focus >= 0 && trail.pick) {
        trail.pick(focus);
        event.preventDefault();
      } else if (event.key === "Escape") hide();
    });
    data.addEventListener("toggle", () => data.open && fillTable(data.querySelector(".scroll"), now().table()));
    const name = figure.id.replace(/^chart-/, "pulens-");
    const whole = () => chart.svg(now(), colours(), 640, { title: true, background: true });
    figure
      .querySelector("[data-save=svg]")
      .addEventListener("click", () => download(`${name}.svg`, whole().text, "image/svg+xml"));
    figure.querySelector("[data-save=png]").addEventListener("click", () => savePng(whole(), `${name}.png`));
    figure
      .querySelector("[data-save=csv]")
      .addEventListener("click", (event) => copy(mounted.csv(), event.currentTarget));
    all.push(mounted);
    seen.observe(figure);
    return mounted;
  }

  // Charts out of sight are drawn when they come into it: a slider then moves only what the reader sees.
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const one = all.find((mounted) => mounted.figure === target);
        one.visible = isIntersecting;
        if (isIntersecting && one.stale) one.draw();
      }
    },
    { rootMargin: "300px" },
  );

  function drawAll() {
    for (const one of all) {
      if (one.visible) one.draw();
      else one.stale = true;
    }
  }

  // Call when sizes or colours may have changed.
  function redrawAll() {
    palette = null;
    for (const one of all) {
      one.measure();
      one.draw();
    }
  }

  return { mount, drawAll, redrawAll, all, colours };
})();
