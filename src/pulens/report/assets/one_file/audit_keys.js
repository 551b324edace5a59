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

  function ofIds(seed) {
    const encoder = new TextEncoder();
    return function key(id) {
      [key.high, key.low] = md5(encoder.encode(`${seed}:${id}`));
    };
  }

  const TURNS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
  const SINES = Int32Array.from({ length: 64 }, (_, k) => Math.floor(Math.abs(Math.sin(k + 1)) * 4294967296));
  const swapped = (word) => ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;

  // the first 64 bits, as two words
  function md5(bytes) {
    const length = (bytes.length + 9 + 63) & ~63;
    const padded = new Uint8Array(length);
    padded.set(bytes);
    padded[bytes.length] = 128;
    const view = new DataView(padded.buffer);
    view.setUint32(length - 8, bytes.length << 3, true);
    let [a0, b0, c0, d0] = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
    for (let at = 0; at < length; at += 64) {
      let [a, b, c, d] = [a0, b0, c0, d0];
      for (let k = 0; k < 64; k++) {
        const round = k >> 4;
        const mixed = round === 0 ? (b & c) | (~b & d) : round === 1 ? (d & b) | (~d & c) : round === 2 ? b ^ c ^ d : c ^ (b | ~d);
        const place = round === 0 ? k : round === 1 ? (5 * k + 1) & 15 : round === 2 ? (3 * k + 5) & 15 : (7 * k) & 15;
        const sum = (a + mixed + SINES[k] + view.getInt32(at + 4 * place, true)) | 0;
        const turn = TURNS[4 * round + (k & 3)];
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
    return [swapped(a0), swapped(b0)];
  }

  // A number in [0, 1) that depends on nothing but these three.
  function startOf(seed, batch, stratum) {
    const word = mix(mix(BigInt(seed) * GOLDEN + 2n) + ((BigInt(batch) << 32n) | BigInt(stratum)) * GOLDEN);
    return Number(word) / 2 ** 64;
  }

  return { ofRows, ofIds, startOf };
})();
if (typeof module !== "undefined") module.exports = auditKeys;
