"use strict";
// Charts as SVG text: what is on the screen is what prints and what is saved.
const chart = (() => {
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  const escapeText = (text) => String(text).replace(/[&<>"']/g, (character) => escapes[character]);
  const tidy = (number) => (Math.round(number * 100) / 100).toString();
  // Long names end early, but never lose the marks behind them.
  const cut = (text, most) => {
    const [marks] = text.match(/( [†‡§]+)?( [\d.]+)?$/);
    return text.length > most ? `${text.slice(0, Math.max(1, most - 1 - marks.length))}…${marks}` : text;
  };

  // About `count` round numbers from low to high.
  function ticks(low, high, count) {
    const raw = (high - low) / Math.max(count, 1);
    if (!(raw > 0) || !Number.isFinite(raw)) return [low];
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const far = (size) => Math.abs(Math.log(size / raw));
    const step = [1, 2, 5, 10]
      .map((factor) => factor * power)
      .reduce((best, size) => (far(size) < far(best) ? size : best));
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
    return found;
  }

  function label(number, step) {
    if (number === 0) return "0";
    const size = Math.abs(number);
    if (size >= 1e4 && size < 1e9) return Math.round(number).toLocaleString("en-US");
    if (size >= 1e5 || size < 1e-4) return Number(number.toPrecision(3)).toString();
    let decimals = 0;
    const unit = step || size;
    while (
      decimals < 6 &&
      Math.abs(unit * 10 ** decimals - Math.round(unit * 10 ** decimals)) > 1e-6 * unit * 10 ** decimals
    )
      decimals++;
    return number.toFixed(decimals);
  }

  // Width of text in pixels, to place a legend.
  const pen = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
  function textWidth(text, size) {
    if (!pen) return String(text).length * size * 0.6;
    pen.font = `${size}px ${FONT}`;
    return pen.measureText(text).width;
  }

  function widestLabel(values, size, tell) {
    const step = values.length > 1 ? values[1] - values[0] : 0;
    return Math.max(...values.map((value) => textWidth(tell ? tell(value) : label(value, step), size)));
  }

  function legendRows(items, width, size) {
    const rows = [[]];
    let used = 0;
    for (const item of items) {
      const wide = 40 + textWidth(item.name, size);
      if (used + wide > width && rows[rows.length - 1].length) {
        rows.push([]);
        used = 0;
      }
      rows[rows.length - 1].push({ ...item, at: used });
      used += wide;
    }
    return rows;
  }

  function path(layer, px, py, steps) {
    const parts = [];
    let lastX = NaN;
    let lastY = NaN;
    let open = false;
    const size = layer.x.length;
    for (let i = 0; i < size; i++) {
      if (!Number.isFinite(layer.y[i]) || !Number.isFinite(layer.x[i])) {
        open = false;
        continue;
      }
      const x = px(layer.x[i]);
      const y = py(layer.y[i]);
      // points closer than half a pixel cannot be seen apart
      if (open && i < size - 1 && Math.abs(x - lastX) < 0.5 && Math.abs(y - lastY) < 0.5) continue;
      if (open && steps) parts.push(`H${tidy(x)}V${tidy(y)}`);
      else parts.push(`${open ? "L" : "M"}${tidy(x)} ${tidy(y)}`);
      open = true;
      lastX = x;
      lastY = y;
    }
    return parts.join("");
  }

  const layerSvg = {
    line(layer, frame) {
      const line = path(layer, frame.px, frame.py, layer.steps);
      const dash = layer.dash ? ` stroke-dasharray="${layer.dash}"` : "";
      return `<path d="${line}" fill="none" stroke="${layer.colour}" stroke-width="${layer.width || 2}" stroke-linejoin="round"${dash}/>`;
    },
    area(layer, frame) {
      const outline = path(layer, frame.px, frame.py);
      return (
        outline &&
        `<path d="${outline}Z" fill="${layer.colour}" fill-opacity="${layer.opacity || 0.18}" stroke="none"/>`
      );
    },
    bars(layer, frame) {
      const base = frame.py(0);
      let bars = "";
      for (let i = 0; i < layer.y.length; i++) {
        const left = frame.px(layer.edges[i]);
        const right = frame.px(layer.edges[i + 1]);
        const top = frame.py(layer.y[i]);
        if (base - top > 0.05)
          bars += `M${tidy(left + 0.5)} ${tidy(base)}V${tidy(top)}H${tidy(Math.max(right - 0.5, left + 1))}V${tidy(base)}Z`;
      }
      return `<path d="${bars}" fill="${layer.colour}" fill-opacity="${layer.opacity || 0.35}"/>`;
    },
    between(layer, frame) {
      const left = Math.max(frame.px(layer.from), frame.left);
      const right = Math.min(frame.px(layer.to), frame.right);
      if (!(right > left)) return "";
      return `<rect x="${tidy(left)}" y="${frame.top}" width="${tidy(right - left)}" height="${tidy(frame.bottom - frame.top)}" fill="${layer.colour}" fill-opacity="${layer.opacity || 0.12}"/>`;
    },
    upright(layer, frame) {
      const x = tidy(frame.px(layer.at));
      const dash = layer.dash ? ` stroke-dasharray="${layer.dash}"` : "";
      return `<line x1="${x}" x2="${x}" y1="${frame.top}" y2="${frame.bottom}" stroke="${layer.colour}" stroke-width="${layer.width || 1.5}"${dash}/>`;
    },
    point(layer, frame) {
      if (!Number.isFinite(layer.x) || !Number.isFinite(layer.y)) return "";
      return `<circle cx="${tidy(frame.px(layer.x))}" cy="${tidy(frame.py(layer.y))}" r="${layer.radius || 5.5}" fill="${layer.fill || layer.colour}" stroke="${layer.ring}" stroke-width="2"/>`;
    },
    whiskers(layer, frame) {
      let lines = "";
      for (let i = 0; i < layer.x.length; i++) {
        const x = tidy(frame.px(layer.x[i]));
        lines += `M${x} ${tidy(frame.py(layer.low[i]))}V${tidy(frame.py(layer.high[i]))}`;
      }
      return `<path d="${lines}" fill="none" stroke="${layer.colour}" stroke-width="${layer.width || 1.5}" stroke-opacity="${layer.opacity || 1}"/>`;
    },
    dots(layer, frame) {
      let dots = "";
      for (let i = 0; i < layer.x.length; i++) {
        dots += `<circle cx="${tidy(frame.px(layer.x[i]))}" cy="${tidy(frame.py(layer.y[i]))}" r="${layer.radius || 4}" fill="${layer.fill || layer.colour}"${layer.fill ? ` stroke="${layer.colour}" stroke-width="1.5"` : ""}/>`;
      }
      return dots;
    },
    // slanting lines from x to x over the whole height: not yet known
    hatched(layer, frame) {
      const [left, right] = [Math.max(frame.px(layer.from), frame.left), Math.min(frame.px(layer.to), frame.right)];
      const tall = frame.bottom - frame.top;
      let lines = "";
      for (let at = Math.ceil((left - tall) / 9) * 9; at < right; at += 9) {
        const [from, to] = [Math.max(at, left), Math.min(at + tall, right)];
        if (to > from) lines += `M${tidy(from)} ${tidy(frame.bottom - (from - at))}L${tidy(to)} ${tidy(frame.bottom - (to - at))}`;
      }
      return `<path d="${lines}" fill="none" stroke="${layer.colour}" stroke-width="1" stroke-opacity="0.45"/>`;
    },
  };

  // A point below the frame: an arrow at the edge.
  layerSvg.down = (layer, frame) => {
    const [x, y] = [frame.px(layer.x), frame.py(layer.y)];
    return `<path d="M${tidy(x - 5.5)} ${tidy(y - 4)}H${tidy(x + 5.5)}L${tidy(x)} ${tidy(y + 6)}Z" fill="${layer.colour}" stroke="${layer.ring}" stroke-width="1.5"/>`;
  };

  // Names beside points, moved until they cover neither a point nor one another, with a line where they had to move.
  // Names that find no room near their point become numbers; `layer.numbered` says whose.
  const WAYS = [[1, 0], [-1, 0], [1, -0.7], [-1, -0.7], [1, 0.7], [-1, 0.7], [0, -1], [0, 1]];
  const NAME_SIZE = 11;
  const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const holds = ([left, top, right, bottom], [x, y]) => x > left && x < right && y > top && y < bottom;

  // A free place for so wide a text near a point, or null.
  function roomFor([x, y], wide, most, frame, boxes, lines) {
    for (let far = 11; far <= most; far += 4)
      for (const [across, up] of WAYS) {
        const left = across ? x + across * far - (across < 0 ? wide : 0) : x - wide / 2;
        const base = y + up * (far + 3) + 4;
        const box = [left - 2, base - NAME_SIZE + 1, left + wide + 2, base + 3];
        const end = [across ? left + (across < 0 ? wide + 1 : -1) : x, across ? base - 4 : base - 4 - 7 * up];
        const lead = far > 14 ? Array.from({ length: 9 }, (_, k) => [x + ((end[0] - x) * k) / 8, y + ((end[1] - y) * k) / 8]) : [];
        if (box[0] < frame.left || box[2] > frame.right + 6 || box[1] < frame.top - 4 || box[3] > frame.bottom + 3) continue;
        if (boxes.some((other) => meets(box, other) || lead.some((spot) => holds(other, spot)))) continue;
        if (lines.some((spot) => holds(box, spot))) continue;
        return { left, base, box, end, lead };
      }
    return null;
  }

  layerSvg.labels = (layer, frame) => {
    const spots = layer.x.map((x, i) => [frame.px(x), frame.py(layer.y[i])]);
    const points = spots.map(([x, y]) => [x - 7, y - 7, x + 7, y + 7]);
    const rank = (i) => (layer.first[i] ? 0 : 1);
    const order = spots.map((_, i) => i).sort((a, b) => rank(a) - rank(b) || spots[a][1] - spots[b][1]);
    const [names, lines] = [[], []];
    let found = "";
    layer.numbered = [];
    for (const i of order) {
      const others = [...points.filter((_, k) => k !== i), ...names];
      const place = (text, most) =>
        roomFor(spots[i], textWidth(text, NAME_SIZE) * (layer.first[i] ? 1.1 : 1), most, frame, others, lines);
      let text = cut(layer.text[i], 26);
      let at = place(text, 34);
      if (!at) {
        layer.numbered.push(layer.text[i]);
        text = String(layer.numbered.length);
        at = place(text, 60);
      }
      if (!at) continue; // in the list, and under the pointer
      names.push(at.box);
      lines.push(...at.lead);
      if (at.lead.length)
        found += `<path d="M${spots[i].map(tidy).join(" ")}L${at.end.map(tidy).join(" ")}" stroke="${layer.line}" stroke-width="0.8" fill="none"/>`;
      found += `<text class="name" x="${tidy(at.left)}" y="${tidy(at.base)}" font-size="${NAME_SIZE}" fill="${layer.colour}"${layer.first[i] ? ' font-weight="600"' : ""}>${escapeText(text)}</text>`;
    }
    return found;
  };

  const swatch = {
    area: (layer, y) =>
      `<rect x="0" y="${y - 9}" width="18" height="10" fill="${layer.colour}" fill-opacity="${Math.min(1, 1.6 * (layer.opacity || 0.25))}"/>`,
    line: (layer, y) =>
      `<line x1="0" x2="18" y1="${y - 4}" y2="${y - 4}" stroke="${layer.colour}" stroke-width="${layer.width || 2}"${layer.dash ? ` stroke-dasharray="${layer.dash}"` : ""}/>`,
    point: (layer, y) =>
      `<circle cx="9" cy="${y - 4}" r="4.5" fill="${layer.fill || layer.colour}" stroke="${layer.ring || layer.colour}" stroke-width="1.5"/>`,
    hatched: (layer, y) =>
      `<path d="M0 ${y + 1}l10 -10M6 ${y + 1}l10 -10M12 ${y + 1}l6 -6" stroke="${layer.colour}" stroke-opacity="0.7"/>`,
  };
  const swatchOf = { bars: "area", between: "area", area: "area", point: "point", dots: "point", hatched: "hatched" };

  // An axis whose values are powers of ten, with round numbers along it.
  function logAxis(label, low, high) {
    const every = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power++)
      for (const digit of [1, 2, 5]) every.push(Math.log10(digit) + power);
    const inside = every.filter((at) => at >= low - 1e-9 && at <= high + 1e-9);
    const ticks = inside.length > 9 ? inside.filter((at) => Math.abs(at - Math.round(at)) < 1e-9) : inside;
    return { label, min: low, max: high, ticks, tell: (at) => Number((10 ** at).toPrecision(2)).toString() };
  }

  // Which of an axis' own ticks get a label: those that leave room between them, powers of ten before the rest.
  function labelled(axis, px, size) {
    if (!axis.ticks) return null;
    const round = (at) => (Math.abs(at - Math.round(at)) < 1e-9 ? 0 : 1);
    const [shown, taken] = [new Set(), []];
    for (const at of [...axis.ticks].sort((a, b) => round(a) - round(b))) {
      const half = textWidth(axis.tell(at), size) / 2 + 4;
      const [from, to] = [px(at) - half, px(at) + half];
      if (taken.some((other) => from < other[1] && other[0] < to)) continue;
      taken.push([from, to]);
      shown.add(at);
    }
    return shown;
  }

  // The whole picture as SVG text, and the frame that turns values into pixels.
  function svg(spec, palette, width, options = {}) {
    if (spec.paint) return spec.paint(spec, palette, width, options); // pictures without two plain axes
    const size = 12;
    const title = options.title ? 26 : 0;
    const shown = spec.layers.filter((layer) => layer.name);
    const legend = legendRows(shown, width - 76, size);
    const ratio = spec.ratio || 0.62;
    const top = title + 8 + legend.length * 18;
    const { x, y } = spec;
    const tall = (from) => Math.max(160, Math.min(Math.max(120, width - from - 16) * ratio, 430));
    const ticksUp = (space) => y.ticks || ticks(y.min, y.max, Math.max(4, Math.floor(space / 55)));
    // the labels of the ticks need room beside the axis' own, however many digits they have
    const left = Math.max(60, Math.ceil(widestLabel(ticksUp(tall(60)), size, y.tell)) + 34);
    const inner = Math.max(120, width - left - 16);
    const height = Math.round(top + tall(left) + 46);
    const frame = { left, right: width - 16, top, bottom: height - 46 };
    frame.px = (value) => frame.left + ((value - x.min) / (x.max - x.min)) * (frame.right - frame.left);
    frame.py = (value) => frame.bottom - ((value - y.min) / (y.max - y.min)) * (frame.bottom - frame.top);

    const clipId = `clip-${spec.id}`;
    const out = [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeText(spec.title)}" font-family="${FONT}" font-size="${size}" fill="${palette.ink}">`,
      `<title>${escapeText(spec.title)}</title>`,
      `<defs><clipPath id="${clipId}"><rect x="${frame.left - 7}" y="${frame.top - 7}" width="${frame.right - frame.left + 14}" height="${frame.bottom - frame.top + 14}"/></clipPath><clipPath id="${clipId}-area"><rect x="${frame.left}" y="${frame.top}" width="${frame.right - frame.left}" height="${frame.bottom - frame.top}"/></clipPath></defs>`,
    ];
    if (options.background) out.push(`<rect width="${width}" height="${height}" fill="${palette.paper}"/>`);
    if (title)
      out.push(`<text x="${frame.left}" y="18" font-size="14" font-weight="600">${escapeText(spec.title)}</text>`);
    legend.forEach((row, k) => {
      const base = title + 14 + k * 18;
      for (const item of row) {
        const draw = swatch[swatchOf[item.kind] || "line"];
        out.push(
          `<g transform="translate(${tidy(frame.left + item.at)} 0)">${draw(item, base)}<text x="24" y="${base}" fill="${palette.soft}">${escapeText(item.name)}</text></g>`,
        );
      }
    });
    // what explains a label is left out where the picture is too narrow for it
    const mid = (frame.left + frame.right) / 2;
    const named = textWidth(x.label, size) / 2 <= width - mid ? x.label : x.label.split(":")[0];
    const across = x.ticks || ticks(x.min, x.max, Math.max(4, Math.floor(inner / 80)));
    const up = ticksUp(frame.bottom - frame.top);
    const stepX = across.length > 1 ? across[1] - across[0] : 0;
    const stepY = up.length > 1 ? up[1] - up[0] : 0;
    const told = labelled(x, frame.px, size);
    for (const value of across) {
      const at = tidy(frame.px(value));
      out.push(`<line x1="${at}" x2="${at}" y1="${frame.top}" y2="${frame.bottom}" stroke="${palette.grid}"/>`);
      if (told && !told.has(value)) continue;
      out.push(
        `<text x="${at}" y="${frame.bottom + 17}" text-anchor="middle" fill="${palette.soft}">${x.tell ? escapeText(x.tell(value)) : label(value, stepX)}</text>`,
      );
    }
    for (const value of up) {
      const at = tidy(frame.py(value));
      out.push(`<line x1="${frame.left}" x2="${frame.right}" y1="${at}" y2="${at}" stroke="${palette.grid}"/>`);
      out.push(
        `<text x="${frame.left - 7}" y="${Number(at) + 4}" text-anchor="end" fill="${palette.soft}">${y.tell ? escapeText(y.tell(value)) : label(value, stepY)}</text>`,
      );
    }
    out.push(
      `<text x="${mid}" y="${frame.bottom + 37}" text-anchor="middle">${escapeText(named)}</text>`,
    );
    out.push(
      `<text transform="translate(14 ${(frame.top + frame.bottom) / 2}) rotate(-90)" text-anchor="middle">${escapeText(y.label)}</text>`,
    );
    // points may stand out of the frame by half of themselves, a band may not
    const drawn = (layer) => {
      const text = layerSvg[layer.kind](layer, frame);
      return layer.kind === "area" ? `<g clip-path="url(#${clipId}-area)">${text}</g>` : text;
    };
    out.push(
      `<g clip-path="url(#${clipId})">${spec.layers.map((layer) => drawn(layer)).join("")}</g>`,
    );
    out.push(`<g class="cursor"></g></svg>`);
    return { text: out.join(""), frame, width, height };
  }

  const cell = (value) => {
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const csv = (table) => [table.header, ...table.rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";

  return { svg, ticks, label, logAxis, csv, cut, escapeText };
})();
if (typeof module !== "undefined") module.exports = chart;
