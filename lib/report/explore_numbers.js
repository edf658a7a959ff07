// explore_numbers.js -- numbers as text, intervals, and the ticks of an axis.

const short = v => {
  if (!Number.isFinite(v)) return "–";
  if (Number.isInteger(v) && Math.abs(v) < 1e9) return String(v);
  const size = Math.abs(v);
  return size !== 0 && (size >= 1e6 || size < 1e-3) ? v.toExponential(2) : String(Number(v.toPrecision(4)));
};
// Four significant digits, as in tables; `short` leaves out zeros at the end, for axes.
const digits = v => {
  const size = Math.abs(v);
  return !Number.isFinite(v) || Number.isInteger(v) && size < 1e9 ? short(v)
    : size < 1e-4 || size >= 1e7 ? v.toExponential(3) : size < 1000 ? v.toPrecision(4) : v.toFixed(0);
};
// A mean and its standard error se > 0, with the digits of report_uncertain: se has one digit, or two if the first is 1.
const uncertain = (v, se) => {
  const size = x => Math.floor(Math.log10(Math.abs(x))), top = v === 0 ? size(se) : size(v), end = top - 3;
  if (se < 0.02 * 10 ** end) return digits(v);
  const own = size(se) - (se / 10 ** size(se) < 1.95 ? 1 : 0), last = Math.max(own, end), largest = Math.max(top, size(se));
  const power = largest < -4 || largest >= 7 ? largest : 0;
  const rounded = (x, to) => {
    const whole = to > power ? Math.round(x / 10 ** to) * 10 ** to : x;
    return (whole / 10 ** power).toFixed(Math.max(0, power - to));
  };
  const text = `${rounded(v, last)} ± ${rounded(se, Math.min(own, last))}`;
  return power ? `(${text})e${power}` : text;
};
// Applies write to v, in the decimal unit of v if the column counts bytes.
const inUnit = (column, v, write) => {
  if (column.unit !== "bytes" || !Number.isFinite(v)) return write(1);
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (Math.abs(v) / 1000 ** i >= 1000 && i + 1 < units.length) i++;
  return `${write(1000 ** i)} ${units[i]}`;
};
const shown = (column, v) => inUnit(column, v, unit => short(v / unit));
const shownAll = (column, { v, se, exact }) => se > 0 && Number.isFinite(v) ? inUnit(column, v, unit => uncertain(v / unit, se / unit))
  : inUnit(column, v, unit => digits(v / unit)) + (exact ? " exact" : "");

// Student's t for a two-sided interval of 95 % and d degrees of freedom: Cornish and Fisher's expansion from d = 11 on,
// within 0.002 of the quantile. NaN without a degree of freedom.
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const student = d => d < 1 ? NaN : T95[d - 1] || 1.96 + 2.372 / d + 2.823 / (d * d);

// An axis maps values to 0..1. Its ticks are round numbers: 1, 2 or 5 times a power of ten, and their multiples.
const axis = (values, log) => {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v) && (!log || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) return null;
  const to = log ? Math.log10 : v => v, back = log ? v => 10 ** v : v => v;
  let from = to(low), until = to(high);
  const margin = (until - from || (log ? 1 : Math.abs(from) || 1)) * 0.06;
  from -= margin; until += margin;
  const ticks = [];
  if (log && until - from >= 1) {
    const every = Math.ceil((until - from) / 6), within = until - from < 3 ? [1, 2, 5] : [1];
    for (let e = Math.floor(from); e <= until; e += every)
      for (const m of within) if (to(m * 10 ** e) >= from && to(m * 10 ** e) <= until) ticks.push(m * 10 ** e);
  } else {
    const low1 = back(from), high1 = back(until), raw = (high1 - low1) / 5;
    const power = 10 ** Math.floor(Math.log10(raw)), step = power * [1, 2, 5, 10].find(m => m * power >= raw);
    for (let t = Math.ceil(low1 / step); t * step <= high1; t++) if (!log || t > 0) ticks.push(t * step);
  }
  // Values that a logarithmic axis lacks are below its lower end, outside the chart.
  return { at: v => log && v <= 0 ? -1 : (to(v) - from) / (until - from), ticks, good: v => Number.isFinite(v) && (!log || v > 0) };
};
