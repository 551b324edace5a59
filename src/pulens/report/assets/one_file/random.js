"use strict";
// numpy's PCG64 and the draws that intervals need, bit for bit: a redrawn interval of this page is the one that Python
// finds with the same seed. O'Neill (2014); Kachitvichyanukul and Schmeiser (1988) for binomial numbers, Hörmann (1993)
// for Poisson numbers, Marsaglia and Tsang (2000) for normal ones.
const random = (() => {
  const MULTIPLIER = [0x9fccf645, 0x4385df64, 0x1fc65da4, 0x2360ed05]; // lowest word first
  const { logGamma } = numbers;

  // numpy's SeedSequence: entropy and the key of a spawned child to eight words of 32 bits
  function seedWords(seed, key = null) {
    const entropy = [seed].flat().flatMap((each) => (each > 0xffffffff ? [each >>> 0, Math.floor(each / 4294967296)] : [each]));
    if (key !== null) {
      while (entropy.length < 4) entropy.push(0);
      entropy.push(key >>> 0);
    }
    let constant = 0x43b0d7e5;
    const hashed = (value) => {
      value = (value ^ constant) >>> 0;
      constant = Math.imul(constant, 0x931e8875) >>> 0;
      value = Math.imul(value, constant) >>> 0;
      return (value ^ (value >>> 16)) >>> 0;
    };
    const mixed = (x, y) => {
      const found = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
      return (found ^ (found >>> 16)) >>> 0;
    };
    const pool = [0, 1, 2, 3].map((k) => hashed(k < entropy.length ? entropy[k] : 0));
    for (let from = 0; from < 4; from++)
      for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
    for (let from = 4; from < entropy.length; from++)
      for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(entropy[from]));
    constant = 0x8b51f9dd;
    return Array.from({ length: 8 }, (_, k) => {
      let value = (pool[k % 4] ^ constant) >>> 0;
      constant = Math.imul(constant, 0x58f38ded) >>> 0;
      value = Math.imul(value, constant) >>> 0;
      return (value ^ (value >>> 16)) >>> 0;
    });
  }

  function highWord(a, b) {
    const [al, ah, bl, bh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
    const middle = ah * bl + ((al * bl) >>> 16);
    const other = (middle & 0xffff) + al * bh;
    return ah * bh + (middle >>> 16) + (other >>> 16);
  }

  class Generator {
    // state and increment as four words of 32 bits, lowest first
    constructor(state, increment) {
      [this.s0, this.s1, this.s2, this.s3] = state;
      [this.i0, this.i1, this.i2, this.i3] = increment;
      this.high = 0;
      this.low = 0;
      this.half = null; // of the last 64 bits, where only the other 32 were used
    }

    static seeded(seed, key = null) {
      const w = seedWords(seed, key);
      const start = [w[2], w[3], w[0], w[1]];
      const sequence = [w[6], w[7], w[4], w[5]];
      const increment = sequence.map((word, k) => ((word << 1) | (k ? sequence[k - 1] >>> 31 : 1)) >>> 0);
      const made = new Generator([0, 0, 0, 0], increment);
      made.step();
      let carry = 0;
      const state = [made.s0, made.s1, made.s2, made.s3].map((word, k) => {
        const sum = word + start[k] + carry;
        carry = sum > 0xffffffff ? 1 : 0;
        return sum >>> 0;
      });
      [made.s0, made.s1, made.s2, made.s3] = state;
      made.step();
      return made;
    }

    step() {
      const [m0, m1, m2, m3] = MULTIPLIER;
      const { s0, s1, s2, s3 } = this;
      let sum = (Math.imul(s0, m0) >>> 0) + this.i0;
      const r0 = sum >>> 0;
      sum = (sum > 0xffffffff ? 1 : 0) + highWord(s0, m0) + (Math.imul(s0, m1) >>> 0) + (Math.imul(s1, m0) >>> 0) + this.i1;
      const r1 = sum >>> 0;
      sum =
        (sum - r1) / 4294967296 +
        highWord(s0, m1) +
        highWord(s1, m0) +
        (Math.imul(s0, m2) >>> 0) +
        (Math.imul(s1, m1) >>> 0) +
        (Math.imul(s2, m0) >>> 0) +
        this.i2;
      const r2 = sum >>> 0;
      sum =
        (sum - r2) / 4294967296 +
        highWord(s0, m2) +
        highWord(s1, m1) +
        highWord(s2, m0) +
        (Math.imul(s0, m3) >>> 0) +
        (Math.imul(s1, m2) >>> 0) +
        (Math.imul(s2, m1) >>> 0) +
        (Math.imul(s3, m0) >>> 0) +
        this.i3;
      this.s0 = r0;
      this.s1 = r1;
      this.s2 = r2;
      this.s3 = sum >>> 0;
    }

    // 64 random bits, as two words
    next() {
      this.step();
      const low = (this.s0 ^ this.s2) >>> 0;
      const high = (this.s1 ^ this.s3) >>> 0;
      const turn = this.s3 >>> 26;
      const by = turn & 31;
      const [a, b] = turn < 32 ? [low, high] : [high, low];
      if (by === 0) {
        this.low = a;
        this.high = b;
      } else {
        this.low = ((a >>> by) | (b << (32 - by))) >>> 0;
        this.high = ((b >>> by) | (a << (32 - by))) >>> 0;
      }
    }

    uniform() {
      this.next();
      return (this.high * 2097152 + (this.low >>> 11)) / 9007199254740992;
    }

    // 32 random bits: one half of 64, then the other
    word() {
      const kept = this.half;
      if (kept !== null) {
        this.half = null;
        return kept;
      }
      this.next();
      this.half = this.high;
      return this.low;
    }

    // in any order; numpy shuffles with words that it cuts to so many bits
    shuffle(values) {
      for (let i = values.length - 1; i > 0; i--) {
        const mask = 0xffffffff >>> Math.clz32(i);
        let j = i + 1;
        while (j > i) j = (this.word() & mask) >>> 0;
        const held = values[i];
        values[i] = values[j];
        values[j] = held;
      }
      return values;
    }

    exponential() {
      for (;;) {
        this.next();
        const layer = (this.low >>> 3) & 0xff;
        const size = this.high * 2097152 + (this.low >>> 11);
        const { width, sure, density } = falling;
        const x = size * width[layer];
        if (size < sure[layer]) return x;
        if (layer === 0) return FALL - Math.log1p(-this.uniform());
        if ((density[layer - 1] - density[layer]) * this.uniform() + density[layer] < Math.exp(-x)) return x;
      }
    }

    // of a shape of 1 or more
    gamma(shape) {
      if (shape === 1) return this.exponential();
      const b = shape - 1 / 3;
      const c = 1 / Math.sqrt(9 * b);
      for (;;) {
        let [x, v] = [0, 0];
        while (v <= 0) {
          x = this.normal();
          v = 1 + c * x;
        }
        v = v * v * v;
        const u = this.uniform();
        if (u < 1 - 0.0331 * (x * x) * (x * x) || Math.log(u) < 0.5 * x * x + b * (1 - v + Math.log(v))) return b * v;
      }
    }

    // of two shapes of 1 or more
    beta(a, b) {
      while (a === 1 && b === 1) {
        const u = this.uniform();
        const sum = u + this.uniform();
        if (sum <= 1 && sum > 0) return u / sum;
      }
      const first = this.gamma(a);
      return first / (first + this.gamma(b));
    }

    normal() {
      for (;;) {
        this.next();
        const layer = this.low & 0xff;
        const isNegative = (this.low >>> 8) & 1;
        // bits 9 to 60 of the word
        const size = (this.high & 0x1fffffff) * 8388608 + (this.low >>> 9);
        let x = size * layers.width[layer];
        if (isNegative) x = -x;
        if (size < layers.sure[layer]) return x;
        if (layer === 0) {
          for (;;) {
            const beyond = -Math.log1p(-this.uniform()) / EDGE;
            const height = -Math.log1p(-this.uniform());
            if (height + height > beyond * beyond) return Math.floor(size / 256) & 1 ? -(EDGE + beyond) : EDGE + beyond;
          }
        }
        const { density } = layers;
        if ((density[layer - 1] - density[layer]) * this.uniform() + density[layer] < Math.exp(-0.5 * x * x)) return x;
      }
    }

    binomial(n, p) {
      if (n === 0 || p === 0) return 0;
      if (p <= 0.5) return p * n <= 30 ? this.byInversion(n, p) : this.byTriangles(n, p);
      const q = 1 - p;
      return n - (q * n <= 30 ? this.byInversion(n, q) : this.byTriangles(n, q));
    }

    byInversion(n, p) {
      const q = 1 - p;
      const none = Math.exp(n * Math.log(q));
      const mean = n * p;
      const most = Math.trunc(Math.min(n, mean + 10 * Math.sqrt(mean * q + 1)));
      let found = 0;
      let chance = none;
      let left = this.uniform();
      while (left > chance) {
        found += 1;
        if (found > most) {
          found = 0;
          chance = none;
          left = this.uniform();
        } else {
          left -= chance;
          chance = ((n - found + 1) * p * chance) / (found * q);
        }
      }
      return found;
    }

    byTriangles(n, p) {
      const r = Math.min(p, 1 - p);
      const q = 1 - r;
      const centre = n * r + r;
      const m = Math.floor(centre);
      const p1 = Math.floor(2.195 * Math.sqrt(n * r * q) - 4.6 * q) + 0.5;
      const xm = m + 0.5;
      const xl = xm - p1;
      const xr = xm + p1;
      const c = 0.134 + 20.5 / (15.3 + m);
      const left = (centre - xl) / (centre - xl * r);
      const laml = left * (1 + left / 2);
      const right = (xr - centre) / (xr * q);
      const lamr = right * (1 + right / 2);
      const p2 = p1 * (1 + 2 * c);
      const p3 = p2 + c / laml;
      const p4 = p3 + c / lamr;
      const spread = n * r * q;
      for (;;) {
        const u = this.uniform() * p4;
        let v = this.uniform();
        if (u <= p1) return Math.floor(xm - p1 * v + u);
        let y;
        if (u <= p2) {
          const x = xl + (u - p1) / c;
          v = v * c + 1 - Math.abs(m - x + 0.5) / p1;
          if (v > 1) continue;
          y = Math.floor(x);
        } else if (u <= p3) {
          y = Math.floor(xl + Math.log(v) / laml);
          if (y < 0 || v === 0) continue;
          v = v * (u - p2) * laml;
        } else {
          y = Math.floor(xr - Math.log(v) / lamr);
          if (y > n || v === 0) continue;
          v = v * (u - p3) * lamr;
        }
        const k = Math.abs(y - m);
        if (!(k > 20 && k < spread / 2 - 1)) {
          const s = r / q;
          const a = s * (n + 1);
          let f = 1;
          for (let i = m + 1; i <= y; i++) f *= a / i - s;
          for (let i = y + 1; i <= m; i++) f /= a / i - s;
          if (v > f) continue;
          return y;
        }
        const rho = (k / spread) * ((k * (k / 3 + 0.625) + 0.16666666666666666) / spread + 0.5);
        const t = (-k * k) / (2 * spread);
        const logV = Math.log(v);
        if (logV < t - rho) return y;
        if (logV > t + rho) continue;
        const [x1, f1, z, w] = [y + 1, m + 1, n + 1 - m, n - y + 1];
        const series = (x) => {
          const s = x * x;
          return (13680 - (462 - (132 - (99 - 140 / s) / s) / s) / s) / x / 166320;
        };
        if (
          logV >
          xm * Math.log(f1 / x1) +
            (n - m + 0.5) * Math.log(z / w) +
            (y - m) * Math.log((w * r) / (x1 * q)) +
            series(f1) +
            series(z) +
            series(x1) +
            series(w)
        )
          continue;
        return y;
      }
    }

    multinomial(n, chances, into) {
      let remaining = 1;
      let left = n;
      const last = chances.length - 1;
      into.fill(0);
      for (let j = 0; j < last; j++) {
        into[j] = this.binomial(left, chances[j] / remaining);
        left -= into[j];
        if (left <= 0) return into;
        remaining -= chances[j];
      }
      into[last] = left;
      return into;
    }

    poisson(mean) {
      if (mean >= 10) return this.poissonByRejection(mean);
      if (mean === 0) return 0;
      const none = Math.exp(-mean);
      let found = 0;
      let product = 1;
      for (;;) {
        product *= this.uniform();
        if (!(product > none)) return found;
        found += 1;
      }
    }

    poissonByRejection(mean) {
      const logMean = Math.log(mean);
      const b = 0.931 + 2.53 * Math.sqrt(mean);
      const a = -0.059 + 0.02483 * b;
      const inverse = 1.1239 + 1.1328 / (b - 3.4);
      const sure = 0.9277 - 3.6224 / (b - 2);
      for (;;) {
        const u = this.uniform() - 0.5;
        const v = this.uniform();
        const us = 0.5 - Math.abs(u);
        const k = Math.floor(((2 * a) / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= sure) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (Math.log(v) + Math.log(inverse) - Math.log(a / (us * us) + b) <= -mean + k * logMean - logGamma(k + 1)) return k;
      }
    }
  }

  // The 256 layers of equal area under a density that falls from 1, as whole numbers of so many bits.
  function layersOf(edge, area, bits, densityAt, placeOf) {
    const scale = 2 ** bits;
    const [width, sure, density] = [0, 1, 2].map(() => new Float64Array(256));
    let x = edge;
    const foot = area / densityAt(x);
    sure[0] = Math.floor((x / foot) * scale);
    width[0] = foot / scale;
    width[255] = x / scale;
    density[0] = 1;
    density[255] = densityAt(x);
    let last = x;
    for (let i = 254; i >= 1; i--) {
      x = placeOf(area / x + densityAt(x));
      sure[i + 1] = Math.floor((x / last) * scale);
      last = x;
      density[i] = densityAt(x);
      width[i] = x / scale;
    }
    return { width, sure, density };
  }
  const [EDGE, FALL] = [3.6541528853610087963519472518, 7.69711747013104972];
  const layers = layersOf(EDGE, 0.004928673233974658, 52, (x) => Math.exp(-0.5 * x * x), (height) => Math.sqrt(-2 * Math.log(height)));
  const falling = layersOf(FALL, 0.0039496598225815571993, 53, (x) => Math.exp(-x), (height) => -Math.log(height));

  return { Generator, highWord };
})();
if (typeof module !== "undefined") module.exports = random;
