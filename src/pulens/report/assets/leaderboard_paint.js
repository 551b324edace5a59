"use strict";
// Pictures without two plain axes: critical differences, stacked chances. Each gives SVG text and where to point.
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

  // Shares as whole percent that add up to 100: the largest remainders are rounded up.
  function wholePercents(shares) {
    const whole = shares.map((share) => Math.floor(100 * share));
    const byRemainder = shares.map((share, k) => [100 * share - whole[k], k]).sort((a, b) => b[0] - a[0]);
    for (const [, k] of byRemainder.slice(0, 100 - whole.reduce((sum, each) => sum + each, 0))) whole[k] += 1;
    return whole;
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
      const told = wholePercents(one.chances);
      one.chances.forEach((chance, which) => {
        const wide = chance * (right - left);
        if (wide > 0.3)
          parts.push(
            `<rect x="${tidy(x)}" y="${y}" width="${tidy(wide)}" height="15" fill="${colours[which]}" fill-opacity="0.75"/>`,
          );
        if (wide > 34)
          parts.push(
            `<text x="${tidy(x + wide / 2)}" y="${y + 11.5}" text-anchor="middle" font-size="10.5" fill="${palette.paper}" font-weight="600">${told[which]}%</text>`,
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

  return { ranks, beliefs, empty, wholePercents };
})();
