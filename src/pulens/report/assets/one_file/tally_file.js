"use strict";
// Counts as a tally file: Parquet with a row for each distinct score, as `pulens tally` writes it and every command
// reads it (pulens/inputs/tally_files.py). Of Parquet just what these files have.
const tallyFile = (() => {
  const { Refusal } = evidence;
  const COLUMNS = ["score", "labelled", "unlabelled", "negative"];
  const [INT64, FLOAT, DOUBLE] = [2, 4, 5];
  const [PLAIN_CODEC, GZIP] = [0, 2];
  const MOST_SCORES = 5000000;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  // --- Thrift's compact protocol -----------------------------------------------------------------------------------

  class Writer {
    constructor() {
      this.bytes = [];
    }
    varint(value) {
      let left = BigInt.asUintN(64, BigInt(value));
      while (left > 127n) {
        this.bytes.push(Number(left & 127n) | 128);
        left >>= 7n;
      }
      this.bytes.push(Number(left));
    }
    number(value) {
      this.varint(BigInt(value) >= 0n ? BigInt(value) << 1n : (-BigInt(value) << 1n) - 1n);
    }
    text(value) {
      const bytes = encoder.encode(value);
      this.varint(bytes.length);
      for (const byte of bytes) this.bytes.push(byte);
    }
    // fields: [number, kind, value]; kinds: i32, i64, text, struct, and lists of them
    struct(fields) {
      let last = 0;
      for (const [id, kind, value] of fields) {
        this.bytes.push(((id - last) << 4) | TYPES[kind.replace(/^list of .*/, "list")]);
        last = id;
        this.value(kind, value);
      }
      this.bytes.push(0);
    }
    value(kind, value) {
      if (kind === "i32" || kind === "i64") this.number(value);
      else if (kind === "text") this.text(value);
      else if (kind === "struct") this.struct(value);
      else {
        const inner = kind.replace("list of ", "");
        const head = Math.min(value.length, 15);
        this.bytes.push((head << 4) | TYPES[inner]);
        if (head === 15) this.varint(value.length);
        for (const each of value) this.value(inner, each);
      }
    }
  }
  const TYPES = { i32: 5, i64: 6, text: 8, list: 9, struct: 12 };

  class Reader {
    constructor(bytes, at = 0) {
      this.bytes = bytes;
      this.at = at;
    }
    byte() {
      if (this.at >= this.bytes.length) throw new Refusal(texts.damagedTally);
      return this.bytes[this.at++];
    }
    varint() {
      let [found, scale] = [0, 1];
      for (;;) {
        const byte = this.byte();
        found += (byte & 127) * scale;
        if (byte < 128) return found;
        scale *= 128;
      }
    }
    number() {
      const value = this.varint();
      return value % 2 ? -(value + 1) / 2 : value / 2;
    }
    // a struct as an object of its fields by number
    struct(depth = 0) {
      if (depth > 12) throw new Refusal(texts.damagedTally);
      const found = {};
      let id = 0;
      for (;;) {
        const head = this.byte();
        if (head === 0) return found;
        id = head >> 4 ? id + (head >> 4) : this.number();
        found[id] = this.value(head & 15, depth);
      }
    }
    value(type, depth) {
      if (type === 1 || type === 2) return type === 1;
      if (type === 3) return this.byte();
      if (type >= 4 && type <= 6) return this.number();
      if (type === 7) return (this.at += 8);
      if (type === 8) {
        const size = this.varint();
        this.at += size;
        return this.bytes.subarray(this.at - size, this.at);
      }
      if (type === 9 || type === 10) {
        const head = this.byte();
        const size = head >> 4 === 15 ? this.varint() : head >> 4;
        if (size > this.bytes.length) throw new Refusal(texts.damagedTally);
        return Array.from({ length: size }, () => this.value(head & 15, depth + 1));
      }
      if (type === 12) return this.struct(depth + 1);
      throw new Refusal(texts.damagedTally);
    }
  }

  // --- writing -----------------------------------------------------------------------------------------------------

  // rows, what was counted and a digest of the counts, as Python tells them
  function metadata(tally, source, version) {
    const told = { ...source, digest: digest(tally) };
    const part = Object.keys({ ...told, rows: 0 })
      .sort()
      .map((key) => `${JSON.stringify(key)}: ${key === "rows" ? numbers.plain(tally.rows) : JSON.stringify(told[key])}`);
    return `{"format": 1, "parts": [{${part.join(", ")}}], "pulens": ${JSON.stringify(version)}}`;
  }

  function digest(tally) {
    const arrays = [tally.thresholds, tally.thresholds, ...tallies.KINDS.map((kind) => tallies.increments(tally, kind))];
    const bytes = new Uint8Array(arrays.length * 8 * tally.size);
    arrays.forEach((values, k) => bytes.set(new Uint8Array(Float64Array.from(values).buffer), k * 8 * tally.size));
    return sha256(bytes).slice(0, 32);
  }

  function write(tally, source, version) {
    const parts = [encoder.encode("PAR1")];
    let at = 4;
    const chunks = COLUMNS.map((name, k) => {
      const values = k ? tallies.increments(tally, tallies.KINDS[k - 1]) : tally.thresholds;
      const data = new Uint8Array(k ? BigInt64Array.from(values, BigInt).buffer : Float64Array.from(values).buffer);
      const header = new Writer();
      header.struct([
        [1, "i32", 0],
        [2, "i32", data.length],
        [3, "i32", data.length],
        [5, "struct", [[1, "i32", tally.size], [2, "i32", 0], [3, "i32", 3], [4, "i32", 3]]],
      ]);
      const head = Uint8Array.from(header.bytes);
      parts.push(head, data);
      const size = head.length + data.length;
      const meta = [
        [1, "i32", k ? INT64 : DOUBLE],
        [2, "list of i32", [0, 3]],
        [3, "list of text", [name]],
        [4, "i32", PLAIN_CODEC],
        [5, "i64", tally.size],
        [6, "i64", size],
        [7, "i64", size],
        [9, "i64", at],
      ];
      const chunk = [[2, "i64", at], [3, "struct", meta]];
      at += size;
      return chunk;
    });
    const footer = new Writer();
    footer.struct([
      [1, "i32", 1],
      [2, "list of struct", [
        [[4, "text", "schema"], [5, "i32", COLUMNS.length]],
        ...COLUMNS.map((name, k) => [[1, "i32", k ? INT64 : DOUBLE], [3, "i32", 0], [4, "text", name]]),
      ]],
      [3, "i64", tally.size],
      [4, "list of struct", [[[1, "list of struct", chunks], [2, "i64", at - 4], [3, "i64", tally.size]]]],
      [5, "list of struct", [[[1, "text", "pulens"], [2, "text", metadata(tally, source, version)]]]],
      [6, "text", `pulens ${version}`],
    ]);
    const end = Uint8Array.from(footer.bytes);
    const size = new Uint8Array(4);
    new DataView(size.buffer).setUint32(0, end.length, true);
    return new Blob([...parts, end, size, "PAR1"], { type: "application/octet-stream" });
  }

  // --- reading -----------------------------------------------------------------------------------------------------

  const isTally = (name) => /\.tally$/i.test(name);

  async function read(file, name) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const view = new DataView(bytes.buffer);
    const size = bytes.length;
    if (size < 12 || decoder.decode(bytes.subarray(size - 4)) !== "PAR1") throw new Refusal(texts.noTally(name));
    const length = view.getUint32(size - 8, true);
    if (length > size - 12) throw new Refusal(texts.noTally(name));
    const told = new Reader(bytes.subarray(size - 8 - length, size - 8)).struct();
    const pair = (told[5] ?? []).find((each) => decoder.decode(each[1]) === "pulens");
    if (!pair) throw new Refusal(texts.noTally(name));
    let words;
    try {
      words = JSON.parse(decoder.decode(pair[2]));
    } catch {
      throw new Refusal(texts.noTally(name));
    }
    if (words?.format !== 1) throw new Refusal(texts.otherTally(name));
    const rows = told[3];
    if (!(rows > 0)) throw new Refusal(texts.noDataRows(name));
    if (rows > MOST_SCORES) throw new Refusal(texts.longTally(name, numbers.whole(rows), numbers.whole(MOST_SCORES)));
    const elements = told[2].filter((each) => each[5] === undefined);
    const isOptional = Object.fromEntries(elements.map((each) => [decoder.decode(each[4]), each[3] === 1]));
    if ("highest" in isOptional) throw new Refusal(texts.binnedTally(name));
    if (COLUMNS.some((column) => !(column in isOptional))) throw new Refusal(texts.noTally(name));
    const found = Object.fromEntries(COLUMNS.map((column) => [column, new Float64Array(rows)]));
    const filled = Object.fromEntries(COLUMNS.map((column) => [column, 0]));
    for (const group of told[4])
      for (const chunk of group[1]) {
        const meta = chunk[3];
        const column = decoder.decode(meta[3].at(-1));
        if (!(column in found)) continue;
        filled[column] += await readColumn(bytes, meta, found[column].subarray(filled[column]), isOptional[column], name);
      }
    if (COLUMNS.some((column) => filled[column] !== rows)) throw new Refusal(texts.damagedTally);
    return counted(found);
  }

  async function readColumn(bytes, meta, into, isOptional, name) {
    const [type, codec, many] = [meta[1], meta[4], meta[5]];
    if (![INT64, FLOAT, DOUBLE].includes(type) || ![PLAIN_CODEC, GZIP].includes(codec)) throw new Refusal(texts.olderTally(name));
    let at = meta[9];
    let done = 0;
    while (done < many) {
      const reader = new Reader(bytes, at);
      const header = reader.struct();
      const data = header[5];
      if (header[1] !== 0 || !data || data[2] !== 0) throw new Refusal(texts.olderTally(name));
      let page = bytes.subarray(reader.at, reader.at + header[3]);
      at = reader.at + header[3];
      if (codec === GZIP) {
        const stream = new Blob([page]).stream().pipeThrough(new DecompressionStream("gzip"));
        page = new Uint8Array(await new Response(stream).arrayBuffer());
      }
      // which values are missing stands before them; none is in a tally
      let start = 0;
      if (isOptional) start = 4 + new DataView(page.buffer, page.byteOffset).getUint32(0, true);
      const width = type === FLOAT ? 4 : 8;
      if (done + data[1] > into.length || start + width * data[1] > page.length) throw new Refusal(texts.damagedTally);
      const values = new DataView(page.buffer, page.byteOffset + start);
      for (let k = 0; k < data[1]; k++)
        into[done + k] =
          type === DOUBLE ? values.getFloat64(8 * k, true) : type === FLOAT ? values.getFloat32(4 * k, true) : Number(values.getBigInt64(8 * k, true));
      done += data[1];
    }
    return done;
  }

  function counted({ score, labelled, unlabelled, negative }) {
    const order = Array.from(score.keys()).sort((a, b) => score[b] - score[a]);
    const running = (counts) => {
      let sum = 0;
      return Float64Array.from(order, (place) => (sum += counts[place]));
    };
    const thresholds = Float64Array.from(order, (place) => score[place]);
    const isFine =
      thresholds.every((each, k) => Number.isFinite(each) && (!k || each < thresholds[k - 1])) &&
      [labelled, unlabelled, negative].every((counts) => counts.every((count) => Number.isInteger(count) && count >= 0));
    if (!isFine) throw new Refusal(texts.damagedTally);
    return tallies.make(thresholds, running(labelled), running(unlabelled), running(negative));
  }

  // --- SHA-256 (FIPS 180-4): the browser's own is not there for every file that is opened from disk ------------------

  function sha256(bytes) {
    const primes = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
    const fraction = (value) => Math.floor((value - Math.floor(value)) * 4294967296) >>> 0;
    const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
    const state = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
    const length = (bytes.length + 9 + 63) & ~63;
    const padded = new Uint8Array(length);
    padded.set(bytes);
    padded[bytes.length] = 128;
    const view = new DataView(padded.buffer);
    view.setUint32(length - 8, Math.floor(bytes.length / 536870912));
    view.setUint32(length - 4, (bytes.length << 3) >>> 0);
    const w = new Uint32Array(64);
    const turn = (value, by) => (value >>> by) | (value << (32 - by));
    for (let at = 0; at < length; at += 64) {
      for (let k = 0; k < 16; k++) w[k] = view.getUint32(at + 4 * k);
      for (let k = 16; k < 64; k++) {
        const [x, y] = [w[k - 15], w[k - 2]];
        w[k] = w[k - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[k - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let k = 0; k < 64; k++) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[k] + w[k]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((value, k) => (state[k] = (state[k] + value) >>> 0));
    }
    return state.map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  return { write, read, isTally, digest, sha256 };
})();
if (typeof module !== "undefined") module.exports = tallyFile;
