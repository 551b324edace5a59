"use strict";
// A text table from bytes: encoding, separator, quotes and decimal commas told apart; rows visited one after the other,
// a few megabytes at a time, so that memory does not grow with the file.
const reading = (() => {
  const { Refusal } = evidence;
  const SLICE = 4 << 20;
  const [LONGEST_LINE, LONGEST_HEAD] = [64 << 20, 24 << 20];
  const MOST_COLUMNS = 2000;
  const SEPARATORS = [",", ";", "\t", "|"];
  const [QUOTE, RETURN, NEWLINE] = [34, 13, 10];

  const MAGIC = [
    [[0x1f, 0x8b], "gzip"],
    [[0x50, 0x4b, 3, 4], "zip"],
    [[0xd0, 0xcf, 0x11, 0xe0], "excel"],
    [[0x50, 0x41, 0x52, 0x31], "Parquet"],
    [[0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], "Arrow"],
    [[0x42, 0x5a, 0x68], "bzip2"],
    [[0xfd, 0x37, 0x7a, 0x58, 0x5a], "xz"],
  ];

  function encodingOf(head, name) {
    for (const [bytes, kind] of MAGIC)
      if (bytes.every((byte, k) => head[k] === byte)) throw new Refusal(kind === "excel" || /\.xls[xmb]?$/i.test(name) ? texts.excel(name) : texts.notText(name, kind));
    if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
    if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
    const zeros = [0, 0];
    head.forEach((byte, k) => byte === 0 && (zeros[k % 2] += 1));
    if (zeros[0] + zeros[1] === 0) return "utf-8";
    // text of one language in two bytes a letter has zeros at every other place
    const half = head.length / 2;
    if (zeros[1] > 0.4 * half && zeros[0] < 0.05 * half) return "utf-16le";
    if (zeros[0] > 0.4 * half && zeros[1] < 0.05 * half) return "utf-16be";
    throw new Refusal(texts.notText(name, "binary"));
  }

  // Slices of a file as UTF-8 bytes; what is no text is refused.
  async function* slices(file, name, progress) {
    const head = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
    const encoding = encodingOf(head, name);
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: false });
    const encoder = new TextEncoder();
    for (let at = 0; at < file.size; at += SLICE) {
      let bytes = new Uint8Array(await file.slice(at, at + SLICE).arrayBuffer());
      const isLast = at + SLICE >= file.size;
      try {
        const text = decoder.decode(bytes, { stream: !isLast });
        if (encoding !== "utf-8") bytes = encoder.encode(text);
      } catch {
        throw new Refusal(texts.notEncoded(name, encoding.toUpperCase()));
      }
      if (at === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
      yield bytes;
      if (progress) progress(Math.min((at + SLICE) / file.size, 1));
    }
  }

  const decoder = new TextDecoder();

  // The fields of one record, where they stand in the bytes; text is made of those that are asked for.
  class Record {
    constructor() {
      this.starts = new Int32Array(64);
      this.ends = new Int32Array(64);
      this.size = 0;
      this.bytes = null;
    }
    add(start, end) {
      if (this.size === this.starts.length) {
        for (const name of ["starts", "ends"]) {
          const longer = new Int32Array(2 * this.size);
          longer.set(this[name]);
          this[name] = longer;
        }
      }
      this.starts[this.size] = start;
      this.ends[this.size] = end;
      this.size += 1;
    }
    text(k) {
      const whole = decoder.decode(this.bytes.subarray(this.starts[k], this.ends[k]));
      if (whole.charCodeAt(0) !== QUOTE) return whole;
      let [found, at] = ["", 1];
      for (;;) {
        const quote = whole.indexOf('"', at);
        if (quote < 0) return found + whole.slice(at);
        found += whole.slice(at, quote);
        if (whole[quote + 1] !== '"') return found + whole.slice(quote + 1);
        found += '"';
        at = quote + 2;
      }
    }
    all() {
      return Array.from({ length: this.size }, (_, k) => this.text(k));
    }
  }

  // Calls visit(record, line) for every record that is not blank; returns how to hand bytes in. A visit that returns
  // true ends the reading.
  function splitter(separator, visit) {
    const cut = separator.charCodeAt(0);
    const record = new Record();
    let carry = null;
    let lines = 0;
    return function push(given, isLast) {
      let bytes = given;
      if (carry && carry.length) {
        bytes = new Uint8Array(carry.length + given.length);
        bytes.set(carry);
        bytes.set(given, carry.length);
      }
      record.bytes = bytes;
      const size = bytes.length;
      let begin = 0;
      while (begin < size) {
        record.size = 0;
        let at = begin;
        let start = begin;
        let passed = 0; // line ends inside quotes
        let isDone = false;
        for (;;) {
          if (at < size && at === start && bytes[at] === QUOTE) {
            at += 1;
            for (; at < size; at++) {
              const byte = bytes[at];
              if (byte === QUOTE) {
                if (bytes[at + 1] !== QUOTE) break;
                at += 1;
              } else if (byte === NEWLINE || (byte === RETURN && bytes[at + 1] !== NEWLINE)) passed += 1;
            }
            at += 1;
          }
          while (at < size && bytes[at] !== cut && bytes[at] !== NEWLINE && bytes[at] !== RETURN) at += 1;
          if (at >= size) break;
          record.add(start, at);
          if (bytes[at] === cut) {
            at += 1;
            start = at;
            continue;
          }
          if (bytes[at] === RETURN) {
            if (at + 1 >= size && !isLast) break; // a line feed may follow
            if (bytes[at + 1] === NEWLINE) at += 1;
          }
          at += 1;
          isDone = true;
          break;
        }
        if (!isDone) {
          if (!isLast) break;
          record.add(start, Math.min(at, size));
          at = size;
        }
        lines += 1 + passed;
        begin = at;
        if (record.size === 1 && record.starts[0] === record.ends[0]) continue; // a blank line
        if (visit(record, lines)) return true;
      }
      carry = bytes.slice(begin);
      if (carry.length > LONGEST_LINE) throw new Refusal(texts.longLine(lines + 1, LONGEST_LINE >> 20));
      return false;
    };
  }

  // What separates columns: the candidate that cuts the first lines into the same number of fields, more than one.
  function separatorOf(head) {
    let best = { separator: ",", score: 0 };
    for (const separator of SEPARATORS) {
      const widths = [];
      const push = splitter(separator, (record) => {
        widths.push(record.size);
        return widths.length >= 20;
      });
      push(head, true);
      const kept = widths.length > 2 ? widths.slice(0, -1) : widths; // the last line may be cut
      const same = kept.filter((width) => width === kept[0]).length / kept.length;
      const score = kept[0] > 1 ? same * 1000 + Math.min(kept[0], 900) : 0;
      if (score > best.score) best = { separator, score };
    }
    return best.separator;
  }

  // Names, the first rows, and how the file is written.
  async function preview(file, name) {
    if (!file.size) throw new Refusal(texts.emptyFile(name));
    const parts = [];
    let size = 0;
    for await (const bytes of slices(file.slice(0, LONGEST_HEAD), name)) {
      parts.push(bytes);
      size += bytes.length;
      if (size >= 1 << 16 && bytes.includes(NEWLINE)) break;
    }
    const head = new Uint8Array(await new Blob(parts).arrayBuffer());
    if (file.size > LONGEST_HEAD && !head.includes(NEWLINE) && !head.includes(RETURN)) throw new Refusal(texts.longLine(1, LONGEST_HEAD >> 20));
    const separator = separatorOf(head.subarray(0, 1 << 16));
    const rows = [];
    let width = null;
    const push = splitter(separator, (record) => {
      width ??= record.size;
      if (width > MOST_COLUMNS) throw new Refusal(texts.manyColumns(name, numbers.whole(width), numbers.whole(MOST_COLUMNS)));
      rows.push(record.all());
      return rows.length > 40;
    });
    push(head, true);
    if (!rows.length) throw new Refusal(texts.emptyFile(name));
    const [names, ...first] = rows;
    if (names.length < 2) throw new Refusal(texts.oneColumn(name));
    return { names: names.map((each) => each.trim()), rows: first.filter((row) => row.length === width), separator, width };
  }

  // Every data row of a file: visit(record, number from 0). Lines of another width are refused.
  async function visitRows(file, name, table, visit, progress) {
    let row = -1;
    const push = splitter(table.separator, (record, line) => {
      if (row >= 0 || record.size !== table.width)
        if (record.size !== table.width) throw new Refusal(texts.otherWidth(name, line, record.size, table.width));
      if (row >= 0) visit(record, row);
      row += 1;
    });
    for await (const bytes of slices(file, name, progress)) push(bytes, false);
    push(new Uint8Array(0), true);
    if (row <= 0) throw new Refusal(texts.noDataRows(name));
    return row;
  }

  // --- numbers -----------------------------------------------------------------------------------------------------

  const DIGITS = "\\d+(?:_\\d+)*";
  const NUMBER = new RegExp(`^[+-]?(?:${DIGITS}\\.?(?:${DIGITS})?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`);
  const POWERS = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));

  // A field as a number: null where there is none, undefined where it is no number. As Python's float reads it.
  function numberOf(record, k, comma) {
    const { bytes } = record;
    let at = record.starts[k];
    const end = record.ends[k];
    const sign = bytes[at] === 45 ? -1 : 1;
    if (sign < 0) at += 1;
    // a few digits with a point: exact as a whole number over a power of ten
    let [whole, digits, places, seen] = [0, 0, 0, false];
    const point = comma ? 44 : 46;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte >= 48 && byte <= 57) {
        whole = 10 * whole + byte - 48;
        digits += 1;
        if (seen) places += 1;
      } else if (byte === point && !seen) seen = true;
      else break;
    }
    if (at === end && digits > 0 && digits <= 15) return (sign * whole) / POWERS[places];
    return numberOfText(record.text(k), comma);
  }

  function numberOfText(given, comma) {
    let text = given.trim();
    if (given === "") return null;
    if (comma) text = text.replace(",", ".");
    if (NUMBER.test(text)) return Number(text.replaceAll("_", ""));
    if (/^[+-]?(inf|infinity)$/i.test(text)) return text[0] === "-" ? -Infinity : Infinity;
    if (/^[+-]?nan$/i.test(text)) return NaN;
    return undefined;
  }

  // a whole number that a double cannot tell from its neighbours
  const isTooLong = (text) =>
    /^[+-]?\d+(_\d+)*$/.test(text.trim()) && BigInt(text.trim().replaceAll("_", "").replace(/^[+-]/, "")) > 9007199254740992n;

  return { preview, visitRows, numberOf, numberOfText, isTooLong, splitter, separatorOf };
})();
if (typeof module !== "undefined") module.exports = reading;
