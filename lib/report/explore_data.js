// explore_data.js -- reads the results that stand in the page as JSON (report_page.h).

const section = document.getElementById("explore");

// A column's numbers come as one text, which is read when the column is first used: most columns never are.
const lazily = (object, name, make) => Object.defineProperty(object, name, {
  configurable: true, get: () => { const value = make(); Object.defineProperty(object, name, { value }); return value; },
});
// The number in the characters from .. end - 1 of a text; NaN: there are none. At most 15 digits divided by a power of ten
// up to 10^22 is a quotient of two exact doubles, which is rounded once, as by Number.
const TENS = Array.from({ length: 16 }, (_, i) => 10 ** i);
const numberAt = (text, from, end) => {
  const negative = text.charCodeAt(from) === 45;
  let whole = 0, point = end - 1;
  if (from === end) return NaN;
  if (end - from > 15) return Number(text.slice(from, end));
  for (let i = from + negative; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === 46) point = i;
    else if (c >= 48 && c <= 57) whole = 10 * whole + c - 48;
    else return Number(text.slice(from, end));
  }
  const size = whole / TENS[end - 1 - point];
  return negative ? -size : size;
};
// Reads numbers with commas between them; one number stands for all rows.
const unpack = (Numbers, rows, packed) => {
  const out = new Numbers(rows);
  if (packed === undefined) return out;
  if (!packed.includes(",")) return out.fill(numberAt(packed, 0, packed.length));
  for (let row = 0, at = 0; row < rows; row++) {
    const comma = packed.indexOf(",", at), end = comma < 0 ? packed.length : comma;
    out[row] = numberAt(packed, at, end);
    at = end + 1;
  }
  return out;
};
const load = text => {
  const set = JSON.parse(text);
  set.column = new Map();
  for (const c of set.columns) {
    const { values, index } = c;
    c.numeric = !c.texts;
    if (c.numeric) lazily(c, "values", () => unpack(Float64Array, set.rows, values));
    else lazily(c, "index", () => unpack(Uint16Array, set.rows, index));
    set.column.set(c.name, c);
  }
  set.spec = set.column.get("compressor");
  return set;
};
const sets = section ? Array.from(document.querySelectorAll("script.data"), s => load(s.textContent)) : [];
const runs = sets.filter(s => s.kind === "run"), measured = sets.filter(s => s.kind !== "run" && s.spec);

const textAt = (set, name, row) => {
  const c = set.column.get(name);
  return !c ? "" : c.texts ? c.texts[c.index[row]] : Number.isNaN(c.values[row]) ? "" : String(c.values[row]);
};
const specAt = (set, row) => set.spec.texts[set.spec.index[row]];
const codecAt = (set, row) => set.codecs[set.spec.index[row]];
const numbers = set => set.columns.filter(c => c.numeric && !c.name.endsWith("_se") && c.name !== "seed");

// Returns a function from a row to {v, se, exact}, with the choice of the tables: the value in closed form where the
// record has one, else the mean over repeats with its standard error.
const reader = (set, c) => {
  const values = c.values, ses = set.column.get(`${c.name}_se`)?.values;
  const exact = set.column.get(c.exact)?.values, off = exact && set.column.get(`${c.exact}_se`)?.values;
  return row => {
    const v = values[row], se = ses ? ses[row] : NaN, known = exact && !(off && off[row] !== 0) ? exact[row] : NaN;
    return Number.isNaN(known) || Number.isNaN(v) || se === 0 ? { v, se, exact: false } : { v: known, se: 0, exact: known !== 0 };
  };
};

// The fields besides the compressor that tell one row of a result from another.
const PLACES = ["step", "worker", "tensor", "workers", "topology", "link", "average", "metric"];
const placeOf = (set, row, fields) => fields.map(n => [n, textAt(set, n, row)])
  .filter(([, text]) => text && text !== "*").map(([n, text]) => `${n} ${text}`);
