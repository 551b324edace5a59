"use strict";
// Pictures without two plain axes: critical differences, stacked chances, radars. Each gives SVG text and where to point.
const paint = (() => {
  const { cut, escapeText } = chart;
  const tidy = (number) => (Math.round(number * 100) / 100).toString();
  const same = (value) => value;

  function open(title, palette, width, height, options) {
    const shift = options.title ? 26 : 0;
    const parts = [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + shift}" width="${width}" height="${height + shift}" role="img" aria-label="${escapeText(title)}" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif" font-size="12" fill="${palette.ink}">`,
      `<title>${escapeText(title)}</title>`,
    ];
    if (options.background) parts.push(`<rect width="${width}" height="${height + shift}" fill="${palette.paper}"/>`);
    if (options.title) parts.push(`<text x="12" y="18" font-size="14" font-weight="600">${escapeText(title)}</text>`);
    parts.push(`<g transform="translate(0 ${shift})">`);
    return parts;
  }
  const close = (parts, width, height, options) => {
    parts.push(`<g class="cursor"></g></g></svg>`);
    const tall = height + (options.title ? 26 : 0);
    return { text: parts.join(""), frame: { px: same, py: same, top: 0, bottom: height }, width, height: tall };
  };
  // Words in the middle of an empty picture.
  function empty(title, words, palette, width, options = {}) {
    const parts = open(title, palette, width, 90, options);
    const room = Math.floor((width - 24) / 6.4);
    const lines = [];
    for (const word of words.split(" ")) {
      if (lines.length && lines[lines.length - 1].length + word.length < room) lines[lines.length - 1] += ` ${word}`;
      else lines.push(word);
    }
    lines.forEach((line, k) =>
      parts.push(`<text x="12" y="${24 + 16 * k}" fill="${palette.soft}">${escapeText(line)}</text>`),
    );
    return close(parts, width, 90, options);
  }

  // Mean ranks on a line, names on both sides, bars over those that do not differ clearly.
  function ranks(spec, palette, width, options = {}) {
    const { names, values, groups, difference } = spec.found;
    const half = Math.ceil(names.length / 2);
    const low = 1;
    const high = Math.max(names.length, 2);
    const room = Math.round(0.22 * width); // for names on both sides
    const [left, right] = [room, width - room];
    const px = (rank) => left + ((rank - low) / (high - low)) * (right - left);
    const top = 58;
    const bars = groups.length * 9;
    const step = 20;
    const height = top + 16 + bars + half * step + 8;
    const parts = open(spec.title, palette, width, height, options);
    const wide = Math.min(px(low + difference), right) - left;
    parts.push(
      `<path d="M${left} 22V30M${left} 26H${tidy(left + wide)}M${tidy(left + wide)} 22V30" stroke="${palette.accent}" stroke-width="2" fill="none"/>`,
      `<text x="${left}" y="15" fill="${palette.soft}">critical difference ${difference.toFixed(2)}</text>`,
      `<path d="M${left} ${top}H${right}" stroke="${palette.ink}" stroke-width="1.5"/>`,
    );
    const every = Math.max(1, Math.ceil((high - low) / Math.floor((right - left) / 34)));
    for (let rank = low; rank <= high; rank += every)
      parts.push(
        `<path d="M${tidy(px(rank))} ${top - 5}V${top}" stroke="${palette.ink}"/><text x="${tidy(px(rank))}" y="${top - 9}" text-anchor="middle" fill="${palette.soft}">${rank}</text>`,
      );
    groups.forEach(([first, last], k) => {
      const y = top + 10 + 9 * k;
      parts.push(
        `<path d="M${tidy(px(values[first]) - 3)} ${y}H${tidy(px(values[last]) + 3)}" stroke="${palette.prior}" stroke-width="4" stroke-linecap="round"/>`,
      );
    });
    const most = Math.max(8, Math.floor((room + 0.12 * width - 36) / 6.4));
    spec.trail = { x: [], y: [], tell: (k) => [names[k], `mean rank ${values[k].toFixed(2)}`] };
    names.forEach((name, k) => {
      const leftSide = k < half;
      const y = top + 16 + bars + (leftSide ? k : names.length - 1 - k) * step + 10;
      const x = tidy(px(values[k]));
      const edge = leftSide ? 8 : width - 8;
      const colour = spec.colours[k];
      parts.push(
        `<path d="M${x} ${top}V${y}H${edge}" stroke="${colour}" fill="none" stroke-width="${k === spec.reference ? 2.2 : 1}"/>`,
        `<text x="${edge}" y="${y - 4}" text-anchor="${leftSide ? "start" : "end"}" paint-order="stroke" stroke="${palette.paper}" stroke-width="4"${k === spec.reference ? ' font-weight="700"' : ""}>${escapeText(leftSide ? `${values[k].toFixed(2)} ${cut(name, most)}` : `${cut(name, most)} ${values[k].toFixed(2)}`)}</text>`,
        `<circle cx="${x}" cy="${top}" r="3" fill="${colour}"/>`,
      );
      spec.trail.x.push(px(values[k]));
      spec.trail.y.push(top);
    });
    return close(parts, width, height, options);
  }

  // One bar per learner: chances of better, equal, worse.
  function beliefs(spec, palette, width, options = {}) {
    const colours = [palette.series[2], palette.plain, palette.alarm];
    const labels = ["better", "practically equal", "worse"];
    const names = spec.found.map((one) => one.name);
    const most = Math.max(10, Math.floor((width * 0.36) / 6.6));
    const left = Math.min(width * 0.4, 24 + 6.8 * Math.min(most, Math.max(...names.map((name) => name.length))));
    const right = width - 14;
    const step = 21;
    const height = 32 + names.length * step + 24;
    const parts = open(spec.title, palette, width, height, options);
    let at = 8;
    labels.forEach((label, k) => {
      parts.push(
        `<rect x="${at}" y="6" width="14" height="10" fill="${colours[k]}" fill-opacity="0.75"/><text x="${at + 19}" y="15" fill="${palette.soft}">${label}</text>`,
      );
      at += 34 + 7 * label.length;
    });
    spec.trail = {
      x: [],
      y: [],
      tell: (k) => [
        spec.found[k].name,
        ...labels.map((label, which) => `${label} ${(100 * spec.found[k].chances[which]).toFixed(1)}%`),
      ],
    };
    spec.found.forEach((one, k) => {
      const y = 28 + k * step;
      let x = left;
      parts.push(`<text x="${tidy(left - 8)}" y="${y + 12}" text-anchor="end">${escapeText(cut(one.name, most))}</text>`);
      one.chances.forEach((chance, which) => {
        const wide = chance * (right - left);
        if (wide > 0.3)
          parts.push(
            `<rect x="${tidy(x)}" y="${y}" width="${tidy(wide)}" height="15" fill="${colours[which]}" fill-opacity="0.75"/>`,
          );
        if (wide > 34)
          parts.push(
            `<text x="${tidy(x + wide / 2)}" y="${y + 11.5}" text-anchor="middle" font-size="10.5" fill="${palette.paper}" font-weight="600">${(100 * chance).toFixed(0)}%</text>`,
          );
        x += wide;
      });
      spec.trail.x.push((left + right) / 2);
      spec.trail.y.push(y + 7);
    });
    const ends = height - 20;
    for (const share of [0, 0.5, 1])
      parts.push(
        `<text x="${tidy(left + share * (right - left))}" y="${ends + 12}" text-anchor="${share ? (share === 1 ? "end" : "middle") : "start"}" fill="${palette.soft}">${100 * share}%</text>`,
      );
    const level = tidy(left + 0.95 * (right - left));
    parts.push(
      `<path d="M${level} 24V${ends}" stroke="${palette.ink}" stroke-dasharray="2 3" stroke-opacity="0.6"/>`,
    );
    return close(parts, width, height, options);
  }

  // Spokes are metrics, rings are values from 0 to 1, a closed line is a learner.
  function radar(spec, palette, width, options = {}) {
    const { axes, lines } = spec.found;
    const legend = [[]];
    let used = 0;
    for (const line of lines) {
      const wide = 34 + 6.8 * Math.min(line.name.length, 34);
      if (used + wide > width - 16 && legend[legend.length - 1].length) {
        legend.push([]);
        used = 0;
      }
      legend[legend.length - 1].push({ ...line, at: used });
      used += wide;
    }
    const top = 14 + 18 * legend.length;
    const radius = Math.max(70, Math.min((width - 130) / 2, 165));
    const [cx, cy] = [width / 2, top + radius + 26];
    const height = Math.round(cy + radius + 30);
    const parts = open(spec.title, palette, width, height, options);
    const spot = (k, value) => {
      const far = radius * Math.max(0, value);
      const angle = (2 * Math.PI * k) / axes.length - Math.PI / 2;
      return [cx + far * Math.cos(angle), cy + far * Math.sin(angle)];
    };
    const ring = (value) => axes.map((_, k) => spot(k, value).map(tidy).join(" ")).join("L");
    const rings = [0.25, 0.5, 0.75, 1];
    for (const value of rings) parts.push(`<path d="M${ring(value)}Z" fill="none" stroke="${palette.grid}"/>`);
    axes.forEach((name, k) => {
      const [x, y] = spot(k, 1);
      const [tx, ty] = spot(k, 1.09);
      const anchor = Math.abs(tx - cx) < 8 ? "middle" : tx > cx ? "start" : "end";
      parts.push(
        `<path d="M${tidy(cx)} ${tidy(cy)}L${tidy(x)} ${tidy(y)}" stroke="${palette.grid}"/>`,
        `<text x="${tidy(tx)}" y="${tidy(ty + (ty > cy ? 8 : 0))}" text-anchor="${anchor}">${escapeText(name)}</text>`,
      );
    });
    spec.trail = { x: [], y: [], told: [], tell: (k) => spec.trail.told[k] };
    for (const line of lines) {
      const points = axes.map((_, k) => (Number.isFinite(line.values[k]) ? spot(k, line.values[k]) : null));
      const there = points.filter((point) => point);
      const dash = line.dash ? ` stroke-dasharray="${line.dash}"` : "";
      if (there.length)
        parts.push(
          `<path d="M${there.map((point) => point.map(tidy).join(" ")).join("L")}Z" fill="${line.colour}" fill-opacity="0.06" stroke="${line.colour}" stroke-width="2"${dash}/>`,
        );
      points.forEach((point, k) => {
        if (!point) return;
        parts.push(`<circle cx="${tidy(point[0])}" cy="${tidy(point[1])}" r="2.6" fill="${line.colour}"/>`);
        spec.trail.x.push(point[0]);
        spec.trail.y.push(point[1]);
        spec.trail.told.push([line.name, `${axes[k]} ${(100 * line.values[k]).toFixed(2)}`]);
      });
    }
    for (const value of rings)
      parts.push(
        `<text x="${tidy(cx + 4)}" y="${tidy(spot(0, value)[1] + 11)}" font-size="10" fill="${palette.soft}">${100 * value}</text>`,
      );
    legend.forEach((row, k) => {
      for (const item of row)
        parts.push(
          `<g transform="translate(${8 + item.at} ${14 + 18 * k})"><path d="M0 -4H18" stroke="${item.colour}" stroke-width="2"${item.dash ? ` stroke-dasharray="${item.dash}"` : ""}/><text x="23" fill="${palette.soft}">${escapeText(cut(item.name, 34))}</text></g>`,
        );
    });
    return close(parts, width, height, options);
  }

  return { ranks, beliefs, radar, empty };
})();
