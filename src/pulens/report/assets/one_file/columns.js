"use strict";
// What columns mean: which may be the score and which the label, which label values there are, and rows as counts.
const columns = (() => {
  const { Refusal } = evidence;
  const MOST_VALUES = 1000;
  const CHUNK_ROWS = 100000; // Python reads and checks so many rows at a time

  // A value in a message: quoted as Python quotes it, and cut where it is long.
  function shown(value) {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const inside = value
      .slice(0, 400)
      .replaceAll("\\", "\\\\")
      .replaceAll("\n", "\\n")
      .replaceAll("\r", "\\r")
      .replaceAll("\t", "\\t")
      .replace(/[\x00-\x1f\x7f]/g, (mark) => `\\x${mark.charCodeAt(0).toString(16).padStart(2, "0")}`)
      .replaceAll(quote, quote === "'" ? "\\'" : quote);
    const words = `${quote}${inside}${quote}`.split(/\s+/).join(" ");
    return words.length <= 60 ? words : `${words.slice(0, 38)}...${words.slice(-19)}`;
  }

  // Several values, in order and quoted, the first so many.
  function listed(values, limit) {
    const words = [];
    let used = 0;
    for (const value of values.slice(0, limit)) {
      used += words[words.push(shown(value)) - 1].length;
      if (used > 200) break;
    }
    return words.join(", ") + (words.length === values.length ? "" : ` and ${values.length - words.length} more`);
  }

  // Numbers and their text are the same label value; so are the spellings of true and false.
  function key(text) {
    const bare = text.trim();
    const number = reading.numberOfText(bare, false);
    if (typeof number === "number" && Number.isFinite(number)) return number;
    return /^(true|false)$/i.test(bare) ? bare.toLowerCase() : bare;
  }

  const usesComma = (table, place) => {
    if (table.separator === ",") return false;
    const cells = table.rows.map((row) => row[place].trim()).filter(Boolean);
    return cells.some((cell) => /^[+-]?\d+,\d+$/.test(cell)) && cells.every((cell) => /^[+-]?\d+(,\d+)?$/.test(cell));
  };

  // Which columns look like scores and labels, from their names and first rows.
  function guess(table) {
    const facts = table.names.map((name, place) => {
      const cells = table.rows.map((row) => row[place].trim());
      const filled = cells.filter(Boolean);
      const comma = usesComma(table, place);
      const isNumber = filled.length > 0 && filled.filter((cell) => typeof reading.numberOfText(cell, comma) === "number").length > 0.7 * filled.length;
      const distinct = new Set(filled).size;
      const asScore = /score|prob|pred|risk|p_?hat|logit/i.test(name) ? 4 : /^p$|^s$/i.test(name) ? 2 : 0;
      const asLabel = /label|confirmed|target|^y$|^class|positive|outcome/i.test(name) ? 4 : 0;
      const isWhole = filled.every((cell) => /^[+-]?\d+$/.test(cell));
      const isShare = isNumber && !isWhole && filled.every((cell) => reading.numberOfText(cell, comma) >= 0 && reading.numberOfText(cell, comma) <= 1);
      return {
        score: isNumber ? asScore + (isShare ? 3 : 0) + (isWhole ? 0 : 2) + (distinct > 3 ? 1 : 0) - asLabel : -9,
        label: asLabel + (distinct <= 3 ? 2 : distinct > 10 ? -3 : 0) - asScore + (filled.length < cells.length ? 1 : 0),
      };
    });
    // none where another column is as likely, or none is likely
    const best = (kind, least, except) => {
      const found = facts.map((fact, place) => [fact[kind], place]).filter(([, place]) => place !== except).sort(([a, i], [b, j]) => b - a || i - j);
      const [first, second] = found;
      return first && first[0] >= least && !(second && second[0] === first[0]) ? first[1] : -1;
    };
    const isOnly = facts.filter((fact) => fact.score > -9).length === 1; // of numbers
    const score = best("score", isOnly ? -8 : 4, -1);
    const highest = Math.max(...facts.map((fact) => fact.score));
    const likely = score < 0 && highest >= 4 ? [...facts.keys()].filter((place) => facts[place].score === highest) : [];
    return { score, likely, label: best("label", 2, score) };
  }

  // The first column that seems to identify rows: no cell of the first rows is empty, a decimal number or there twice.
  const unique = (table) => {
    const isKey = (_, place) => {
      const cells = table.rows.map((row) => row[place].trim());
      return cells.length > 3 && new Set(cells).size === cells.length && !cells.some((cell) => cell === "" || /^[+-]?\d*[.,]\d+/.test(cell));
    };
    const place = table.names.findIndex(isKey);
    return place < 0 ? null : place;
  };

  // The distinct values of the label column with their counts, most frequent first.
  async function values(file, name, table, place, progress) {
    const counts = new Map();
    let isFull = false;
    const rows = await reading.visitRows(
      file,
      name,
      table,
      (record) => {
        const text = record.text(place);
        const before = counts.get(text);
        if (before === undefined && counts.size >= MOST_VALUES) isFull = true;
        else counts.set(text, (before ?? 0) + 1);
      },
      progress,
    );
    const list = [...counts].map(([text, count]) => ({ text, count })).sort((a, b) => b.count - a.count);
    return { rows, isFull, values: list };
  }

  class Growing {
    constructor() {
      this.values = new Float64Array(1024);
      this.size = 0;
    }
    add(value) {
      if (this.size === this.values.length) {
        const longer = new Float64Array(2 * this.size);
        longer.set(this.values);
        this.values = longer;
      }
      this.values[this.size++] = value;
    }
    get all() {
      return this.values.subarray(0, this.size);
    }
  }

  // What a label means: 0 labelled, 1 unlabelled, 2 a known negative.
  function coder(asked) {
    const codes = new Map();
    for (const text of asked.negative) codes.set(key(text), 2);
    for (const text of asked.positive) codes.set(key(text), 0);
    const known = new Map();
    return (text) => {
      let code = known.get(text);
      if (code === undefined) {
        code = text === "" ? 1 : (codes.get(key(text)) ?? 1);
        if (known.size < MOST_VALUES) known.set(text, code);
      }
      return code;
    };
  }

  // Scores of labelled, unlabelled and known negative rows. Bad cells are named by row, value and column. Whoever else
  // counts rows is told each of them: its record, its kind and its score.
  async function count(file, name, table, asked, progress, tell = null) {
    const { score, label } = asked;
    const comma = usesComma(table, score);
    const column = `scores (column ${shown(table.names[score])})`;
    const codeOf = coder(asked);
    const kinds = [new Growing(), new Growing(), new Growing()];
    let chunk = fresh();
    function fresh() {
      return { bad: null, long: null, infinite: null, many: 0 };
    }
    // in the order in which Python looks: no number, a number too long, no finite number
    function check() {
      const { bad, long, infinite, many } = chunk;
      if (bad) throw new Refusal(`${name}: ${bad}`);
      if (long) throw new Refusal(`${name}: ${long}`);
      if (infinite)
        throw new Refusal(
          `${name}: ${column} must be finite numbers, got ${infinite.value} in data row ${infinite.row + 1} (${numbers.whole(many)} such row${many > 1 ? "s" : ""}). Drop or repair these rows first.`,
        );
      chunk = fresh();
    }
    await reading.visitRows(
      file,
      name,
      table,
      (record, row) => {
        if (row && row % CHUNK_ROWS === 0) check();
        const code = codeOf(record.text(label));
        const value = reading.numberOf(record, score, comma);
        if (value === null || value === undefined) {
          chunk.bad ??=
            value === null
              ? `${column} must be numbers, but data row ${row + 1} has none. Drop or repair rows without a number first.`
              : `${column} must be numbers, got ${shown(record.text(score))} in data row ${row + 1}.`;
        } else if (!Number.isFinite(value)) {
          chunk.infinite ??= { value: numbers.plain(value), row };
          chunk.many += 1;
        } else {
          if (Math.abs(value) >= 9007199254740992 && !chunk.long && reading.isTooLong(record.text(score)))
            chunk.long = `${column} are kept as double precision numbers, which are exact for whole numbers up to 2^53 = 9007199254740992, got ${record.text(score)} in data row ${row + 1}: rows of different scores would be counted as ties. Subtract a common offset or rank the rows first; if such ties do not matter, convert the column to floating point yourself.`;
          kinds[code].add(value);
          if (tell) tell(record, code, value);
        }
      },
      progress,
    );
    check();
    return tallies.fromScores(kinds.map((kind) => kind.all));
  }

  return { guess, unique, values, count, coder, key, usesComma, shown, listed, Growing };
})();
if (typeof module !== "undefined") module.exports = columns;
