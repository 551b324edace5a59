"use strict";
// Special functions to double precision, and numbers as Python writes them: sentences and intervals of the page are
// those of the Python package to the last digit shown.
const numbers = (() => {
  // --- as Python writes them ---------------------------------------------------------------------------------------

  // Halves that a double holds exactly go to the even neighbour in Python, and up in JavaScript.
  function fixed(value, digits) {
    const shown = value.toFixed(digits);
    const long = value.toFixed(Math.min(digits + 30, 100));
    const rest = long.slice(long.indexOf(".") + 1 + digits);
    if (!/^50*$/.test(rest)) return shown;
    const down = digits ? long.slice(0, long.indexOf(".") + 1 + digits) : long.slice(0, long.indexOf("."));
    return Number(down.at(-1)) % 2 ? shown : down;
  }

  // The format "g": so many digits that count, without zeros at the end; powers of ten where they are far away.
  function general(value, digits = 6) {
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    if (value === 0) return Object.is(value, -0) ? "-0" : "0";
    const exponent = Number(halfEven(value, digits).split("e")[1]);
    if (exponent < -4 || exponent >= digits) {
      const [mantissa, power] = halfEven(value, digits).split("e");
      const bare = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
      const [sign, number] = [power[0] === "-" ? "-" : "+", power.replace(/^[+-]/, "")];
      return `${bare}e${sign}${number.padStart(2, "0")}`;
    }
    const text = fixed(value, Math.max(digits - 1 - exponent, 0));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  }

  function halfEven(value, digits) {
    const shown = value.toExponential(digits - 1);
    const long = value.toExponential(Math.min(digits + 29, 100));
    const [mantissa] = long.split("e");
    const kept = digits === 1 ? mantissa.split(".")[0] : mantissa.slice(0, mantissa.indexOf(".") + digits);
    const rest = mantissa.slice(mantissa.indexOf(".") + digits);
    if (!/^50*$/.test(rest)) return shown;
    return Number(kept.at(-1)) % 2 ? shown : `${kept}e${long.split("e")[1]}`;
  }

  const thousands = (text) => text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
  const whole = (value) => thousands(fixed(value, 0));
  const percents = (value, digits) => `${fixed(100 * value, digits)}%`;

  // As repr writes a float.
  function plain(value) {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
      const [mantissa, power] = value.toExponential().split("e");
      return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    const text = String(value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  }

  // --- the normal distribution -------------------------------------------------------------------------------------

  const along = (coefficients, x) => coefficients.reduce((sum, each) => sum * x + each, 0);

  // Cody (1969), three ranges of rational approximations.
  function normalTail(x) {
    // the chance of a normal number above x
    const size = Math.abs(x);
    if (size <= 0.67448975) {
      const square = size > 1.11e-16 ? x * x : 0;
      const top = along([0.065682337918207449113, 2.2352520354606839287, 161.02823106855587881, 1067.6894854603709582, 18154.981253343561249], square);
      const bottom = along([1, 47.20258190468824187, 976.09855173777669322, 10260.932208618978205, 45507.789335026729956], square);
      return 0.5 - (x * top) / bottom;
    }
    let found;
    if (size <= 5.656854249492380195) {
      const top = along(
        [1.0765576773720192317e-8, 0.39894151208813466764, 8.8831497943883759412, 93.506656132177855979, 597.27027639480026226, 2494.5375852903726711, 6848.1904505362823326, 11602.651437647350124, 9842.7148383839780218],
        size,
      );
      const bottom = along(
        [1, 22.266688044328115691, 235.38790178262499861, 1519.377599407554805, 6485.558298266760755, 18615.571640885098091, 34900.952721145977266, 38912.003286093271411, 19685.429676859990727],
        size,
      );
      found = top / bottom;
    } else {
      const square = 1 / (x * x);
      const top = along([0.02307344176494017303, 0.21589853405795699, 0.1274011611602473639, 0.022235277870649807, 0.001421619193227893466, 2.9112874951168792e-5], square);
      const bottom = along([1, 1.28426009614491121, 0.468238212480865118, 0.0659881378689285515, 0.00378239633202758244, 7.29751555083966205e-5], square);
      found = (0.398942280401432677939946 - (square * top) / bottom) / size;
    }
    const cut = Math.trunc(size * 16) / 16;
    const rest = (size - cut) * (size + cut);
    found *= Math.exp(-cut * cut * 0.5) * Math.exp(-rest * 0.5);
    return x > 0 ? found : 1 - found;
  }
  const normalBelow = (x) => (x < 0 ? normalTail(-x) : 1 - normalTail(x));

  // Wichura (1988), algorithm AS 241.
  function normalQuantile(level) {
    if (level <= 0) return level === 0 ? -Infinity : NaN;
    if (level >= 1) return level === 1 ? Infinity : NaN;
    const middle = level - 0.5;
    if (Math.abs(middle) <= 0.425) {
      const r = 0.180625 - middle * middle;
      return (
        (middle *
          along([2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608], r)) /
        along([5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1], r)
      );
    }
    let r = Math.sqrt(-Math.log(middle < 0 ? level : 1 - level));
    let found;
    if (r <= 5) {
      r -= 1.6;
      found =
        along([7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734], r) /
        along([1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1], r);
    } else {
      r -= 5;
      found =
        along([2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772], r) /
        along([2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1], r);
    }
    return middle < 0 ? -found : found;
  }

  // --- beta and Student --------------------------------------------------------------------------------------------

  function logGamma(x) {
    let shift = 0;
    let at = x;
    while (at < 15) {
      shift += Math.log(at);
      at += 1;
    }
    const inverse = 1 / (at * at);
    const series =
      along([-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12], inverse) / at;
    return (at - 0.5) * Math.log(at) - at + 0.91893853320467274178 + series - shift;
  }

  // The regularised incomplete beta function and its complement, and the density times x (1 - x); `odds` is the
  // logarithm of x / (1 - x), which keeps digits at both ends.
  function betaParts(a, b, odds) {
    const x = 1 / (1 + Math.exp(-odds));
    const y = 1 / (1 + Math.exp(odds));
    const logX = odds > 0 ? -Math.log1p(Math.exp(-odds)) : odds - Math.log1p(Math.exp(odds));
    const logY = logX - odds;
    const front = Math.exp(a * logX + b * logY + logGamma(a + b) - logGamma(a) - logGamma(b));
    const lower = x < (a + 1) / (a + b + 2);
    const fraction = lower ? betaFraction(a, b, x) / a : betaFraction(b, a, y) / b;
    const tail = front * fraction;
    return lower ? { below: tail, above: 1 - tail, slope: front } : { below: 1 - tail, above: tail, slope: front };
  }

  // Lentz's continued fraction.
  function betaFraction(a, b, x) {
    const TINY = 1e-300;
    let c = 1;
    let d = 1 - ((a + b) * x) / (a + 1);
    if (Math.abs(d) < TINY) d = TINY;
    d = 1 / d;
    let found = d;
    for (let m = 1; m < 100000; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 + even * d;
      if (Math.abs(d) < TINY) d = TINY;
      c = 1 + even / c;
      if (Math.abs(c) < TINY) c = TINY;
      d = 1 / d;
      found *= d * c;
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 + odd * d;
      if (Math.abs(d) < TINY) d = TINY;
      c = 1 + odd / c;
      if (Math.abs(c) < TINY) c = TINY;
      d = 1 / d;
      const step = d * c;
      found *= step;
      if (Math.abs(step - 1) < 1e-16) break;
    }
    return found;
  }

  // Log odds of the quantile of a beta distribution whose tail below (or above) it is `tail`.
  function betaOdds(a, b, tail, fromAbove = false) {
    const spread = Math.sqrt(1 / a + 1 / b);
    const start = Math.log(a / b) + (fromAbove ? -1 : 1) * normalQuantile(tail) * spread;
    let low = -745;
    let high = 745;
    let at = Math.min(Math.max(start, -700), 700);
    for (let round = 0; round < 200; round++) {
      const parts = betaParts(a, b, at);
      const seen = fromAbove ? parts.above : parts.below;
      const excess = seen - tail;
      if (fromAbove ? excess < 0 : excess > 0) high = at;
      else low = at;
      if (excess === 0) break;
      // Newton on the logarithm of the tail: straight where the tail is a power
      const slope = (fromAbove ? -parts.slope : parts.slope) / seen;
      let next = at - Math.log(seen / tail) / slope;
      const isNewton = Number.isFinite(next) && next > low && next < high;
      if (!isNewton) next = (low + high) / 2;
      const moved = Math.abs(next - at);
      at = next;
      // a step of so small a part of the spread leaves the square of it
      if (moved <= 1e-15 * Math.max(Math.abs(at), 1) || (isNewton && moved <= 1e-8 * spread)) break;
    }
    return at;
  }

  // the chance of a beta distributed number below x
  function betaBelow(a, b, x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    return betaParts(a, b, Math.log(x) - Math.log1p(-x)).below;
  }

  function betaQuantile(a, b, level) {
    if (level <= 0) return 0;
    if (level >= 1) return 1;
    const odds = level <= 0.5 ? betaOdds(a, b, level) : betaOdds(a, b, 1 - level, true);
    return 1 / (1 + Math.exp(-odds));
  }

  function studentQuantile(freedom, level) {
    if (level === 0.5) return 0;
    if (level > 0.5) return -studentQuantile(freedom, 1 - level);
    if (freedom > 3000) {
      // Fisher and Cornish's expansion around the normal quantile
      const z = normalQuantile(level);
      const s = z * z;
      const terms = [
        (s + 1) / 4,
        ((5 * s + 16) * s + 3) / 96,
        (((3 * s + 19) * s + 17) * s - 15) / 384,
        ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160,
      ];
      return z * (1 + terms.reduceRight((sum, term) => (sum + term) / freedom, 0));
    }
    const odds = betaOdds(freedom / 2, 0.5, 2 * level);
    return -Math.sqrt(freedom * Math.exp(-odds));
  }

  // The chance of a Student distributed number below t.
  function studentBelow(freedom, t) {
    if (t > 0) return 1 - studentBelow(freedom, -t);
    if (t === 0) return 0.5;
    if (freedom <= 3000) return 0.5 * betaParts(freedom / 2, 0.5, Math.log(freedom) - 2 * Math.log(-t)).below;
    // Hill (1970): the normal number with the same chance
    const a = freedom - 0.5;
    const b = 48 * a * a;
    const s = a * Math.log1p((t * t) / freedom);
    const more = (((-0.4 * s - 3.3) * s - 24) * s - 85.5) / (0.8 * s * s + 100 + b);
    return normalBelow(-Math.sqrt(s) * (1 + (more + s + 3) / b));
  }

  // Kolmogorov's distribution: the chance of a larger deviation.
  function kolmogorov(x) {
    if (x <= 0) return 1;
    if (x < 1) {
      let sum = 0;
      for (let k = 1; k < 40; k += 2) sum += Math.exp((-k * k * Math.PI * Math.PI) / (8 * x * x));
      return 1 - (Math.sqrt(2 * Math.PI) / x) * sum;
    }
    let sum = 0;
    for (let k = 1; k < 40; k++) sum += (k % 2 ? 1 : -1) * Math.exp(-2 * k * k * x * x);
    return Math.min(2 * sum, 1);
  }

  const evenly = (low, high, many) => Array.from({ length: many }, (_, k) => (k === many - 1 && many > 1 ? high : low + ((high - low) / (many - 1)) * k));

  return {
    ...{ fixed, general, whole, thousands, percents, plain, normalTail, normalBelow, normalQuantile, logGamma },
    ...{ betaQuantile, betaBelow, betaOdds, studentQuantile, studentBelow, kolmogorov, evenly },
  };
})();
if (typeof module !== "undefined") module.exports = numbers;
