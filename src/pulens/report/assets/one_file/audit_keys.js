"use strict";
// One random word for each row, a function of the seed and of the row alone, bit for bit as Python has them: splitmix64
// (Steele, Lea and Flood 2014) of its number, or the beginning of md5 (RFC 1321) of its id.
const auditKeys = (() => {
  const WORD = (1n << 64n) - 1n;
  const GOLDEN = 0x9e3779b97f4a7c15n;

  function mix(given) {
    let word = given & WORD;
    word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
    word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & WORD;
    return word ^ (word >> 31n);
  }

  // The same on two words of 32 bits, for a million rows: big whole numbers take ten times as long.
  let [high, low] = [0, 0];
  function times(byHigh, byLow) {
    high = (random.highWord(low, byLow) + Math.imul(low, byHigh) + Math.imul(high, byLow)) >>> 0;
    low = Math.imul(low, byLow) >>> 0;
  }
  function fold(by) {
    const shifted = (low >>> by) | (high << (32 - by));
    high = (high ^ (high >>> by)) >>> 0;
    low = (low ^ shifted) >>> 0;
  }

  // key(row) leaves its two words in key.high and key.low.
  function ofRows(seed) {
    const start = mix(BigInt(seed) * GOLDEN + 1n);
    const [startHigh, startLow] = [Number(start >> 32n), Number(start & 0xffffffffn)];
    return function key(row) {
      [high, low] = [0, row];
      times(0x9e3779b9, 0x7f4a7c15);
      const sum = low + startLow;
      high = (high + startHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
      low = sum >>> 0;
      fold(30);
      times(0xbf58476d, 0x1ce4e5b9);
      fold(27);
      times(0x94d049bb, 0x133111eb);
      fold(31);
      key.high = high;
      key.low = low;
    };
  }

  // Of a cell, by its bytes: a million ids as text would fill the memory.
  function ofIds(seed) {
    const encoder = new TextEncoder();
    const prefix = encoder.encode(`${seed}:`);
    let block = new Uint8Array(1 << 10); // room that all ids share
    return function key(record, place) {
      const isQuoted = record.bytes[record.starts[place]] === 34;
      const bytes = isQuoted ? encoder.encode(record.text(place)) : record.bytes;
      const [from, to] = isQuoted ? [0, bytes.length] : [record.starts[place], record.ends[place]];
      const size = prefix.length + to - from;
      if (size + 72 > block.length) block = new Uint8Array(2 * size + 72);
      block.set(prefix);
      for (let k = from, at = prefix.length; k < to; k++, at++) block[at] = bytes[k];
      md5(block, size);
      key.high = high;
      key.low = low;
      return to > from;
    };
  }

  const TURNS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
  const SINES = Int32Array.from({ length: 64 }, (_, k) => Math.floor(Math.abs(Math.sin(k + 1)) * 4294967296));
  const PLACES = Uint8Array.from({ length: 64 }, (_, k) => [k, 5 * k + 1, 3 * k + 5, 7 * k][k >> 4] & 15);
  const swapped = (word) => ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
  const words = new Int32Array(16);

  // leaves the first 64 bits of the digest in high and low; the bytes after the message are written over
  function md5(block, size) {
    const length = (size + 9 + 63) & ~63;
    block.fill(0, size, length);
    block[size] = 128;
    for (let k = 0; k < 4; k++) block[length - 8 + k] = (size << 3) >>> (8 * k);
    let a0 = 0x67452301;
    let b0 = 0xefcdab89 | 0;
    let c0 = 0x98badcfe | 0;
    let d0 = 0x10325476;
    for (let at = 0; at < length; at += 64) {
      for (let k = 0; k < 16; k++) {
        const from = at + 4 * k;
        words[k] = block[from] | (block[from + 1] << 8) | (block[from + 2] << 16) | (block[from + 3] << 24);
      }
      let a = a0;
      let b = b0;
      let c = c0;
      let d = d0;
      for (let k = 0; k < 64; k++) {
        const mixed = k < 16 ? (b & c) | (~b & d) : k < 32 ? (d & b) | (~d & c) : k < 48 ? b ^ c ^ d : c ^ (b | ~d);
        const sum = (a + mixed + SINES[k] + words[PLACES[k]]) | 0;
        const turn = TURNS[((k >> 4) << 2) | (k & 3)];
        a = d;
        d = c;
        c = b;
        b = (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0;
      }
      a0 = (a0 + a) | 0;
      b0 = (b0 + b) | 0;
      c0 = (c0 + c) | 0;
      d0 = (d0 + d) | 0;
    }
    high = swapped(a0);
    low = swapped(b0);
  }

  // A number in [0, 1) that depends on nothing but these three.
  function startOf(seed, batch, stratum) {
    const word = mix(mix(BigInt(seed) * GOLDEN + 2n) + ((BigInt(batch) << 32n) | BigInt(stratum)) * GOLDEN);
    return Number(word) / 2 ** 64;
  }

  return { ofRows, ofIds, startOf };
})();
if (typeof module !== "undefined") module.exports = auditKeys;
