// explore_tables.js -- tables: tensors x compressors, and pinned compressors side by side.

const heatPart = element("div"), heatBox = element("div"), pinBox = element("div", { tabIndex: -1 }), TENSORS = 200, SPECS = 40, SIDES = 8;
const scrolling = (label, ...children) => element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, ...children);
const hasTensors = set => set?.column.get("tensor")?.texts?.length > 1;

// A cell is the mean over the steps and workers of the rows that have its tensor and compressor.
const heat = () => {
  const set = chosen(), tensor = set?.column.get("tensor"), field = set?.column.get(view.heat);
  if (!hasTensors(set) || !field?.numeric) { heatBox.replaceChildren(); return; }
  const cell = new Map(), tensors = new Set(), specs = new Set(), means = new Set(), passes = passing(set), read = reader(set, field);
  const others = PLACES.filter(n => !["step", "worker", "tensor"].includes(n) && set.column.has(n)), whole = holds(set, "tensor", "*");
  const steps = ["step", "worker"].map(n => set.column.get(n)).filter(c => c).map(c => ({ name: c.name, codes: c.texts ? c.index : c.values, seen: new Set() }));
  const keyOf = (tensor, spec) => tensor * set.codecs.length + spec;
  let only = null, more = false;
  for (let row = 0; row < set.rows; row++) {
    if (whole(row) || !passes(row)) continue;
    const { v } = read(row), name = tensor.index[row], spec = set.spec.index[row], place = others.length ? placeOf(set, row, others).join(", ") : "";
    if (Number.isNaN(v)) continue;
    if (only === null) only = place;
    if (place !== only) continue;
    if (!tensors.has(name) && tensors.size === TENSORS || !specs.has(spec) && specs.size === SPECS) { more = true; continue; }
    tensors.add(name); specs.add(spec);
    for (const c of steps) {
      if (c.seen.has(c.codes[row])) continue;
      c.seen.add(c.codes[row]);
      for (const text of placeOf(set, row, [c.name])) means.add(text);
    }
    const key = keyOf(name, spec), sum = cell.get(key);
    if (sum) { sum.v += v; sum.rows++; } else cell.set(key, { v, rows: 1 });
  }
  let low = Infinity, high = -Infinity;
  for (const c of cell.values()) { c.v /= c.rows; if (c.v > 0) { low = Math.min(low, c.v); high = Math.max(high, c.v); } }
  const head = element("tr", {}, element("th", { scope: "col" }, "tensor"),
    ...[...specs].map(i => set.spec.texts[i]).map(s => element("th", { scope: "col", className: view.pins.includes(s) ? "pinned" : "" },
      element("button", { type: "button", spec: s, "aria-pressed": view.pins.includes(s), on: { click: () => pin(s) } }, s))));
  const body = [...tensors].map(name => element("tr", {}, element("th", { scope: "row" }, tensor.texts[name]), ...[...specs].map(s => {
    const v = cell.get(keyOf(name, s))?.v, td = element("td", { className: view.pins.includes(set.spec.texts[s]) ? "n pinned" : "n" },
      v === undefined ? "–" : shown(field, v));
    if (v > 0 && high > low) {
      const share = (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low));
      td.style.backgroundColor = `color-mix(in srgb, var(--heat) ${Math.round(70 * share)}%, var(--paper))`;
    }
    return td;
  })));
  const mean = [...cell.values()].some(c => c.rows > 1), listed = [...means];
  const says = [only, mean ? `mean over ${listed.slice(0, 8).join(", ")}${listed.length > 8 ? ` and ${listed.length - 8} more` : ""}` : listed.join(", "),
                more ? `the first ${tensors.size} tensors and ${specs.size} codecs` : ""].filter(t => t).join("; ");
  refill(heatBox, element("p", { className: "soft" }, says), scrolling("tensors and codecs",
    element("table", { className: "heat" }, element("thead", {}, head), element("tbody", {}, ...body))));
};

// The rows of pinned compressors by place, at each place a row for each compressor: {place, row: Map of specs}[].
const sidesOf = set => {
  const sides = new Map();
  for (const row of rowsOf(set)) {
    const spec = specAt(set, row);
    if (!view.pins.includes(spec)) continue;
    const place = placeOf(set, row, PLACES).join(", ");
    let key = place;
    for (let n = 2; sides.get(key)?.row.has(spec); n++) key = `${place}, row ${n}`;
    if (!sides.has(key)) sides.set(key, { place: key, row: new Map() });
    sides.get(key).row.set(spec, row);
  }
  return [...sides.values()];
};

// Fields of which a pin table has nothing to tell: sizes of the input, statistics of tests, and expected values, which
// stand in the place of the means.
const untold = set => {
  const names = new Set(["n", "repeats", "raw_bytes", "step", "worker", "workers", ...set.columns.map(c => c.exact)]);
  return c => names.has(c.name) || /_(z|p|p_holm)$/.test(c.name);
};

const pinned = () => {
  const set = chosen(), pins = view.pins;
  if (!set || !pins.length) {
    refill(pinBox, element("p", { className: "soft" }, "Click a point, or press Enter on it, to pin its codec; two pinned ones are compared here."));
    return;
  }
  const all = sidesOf(set), sides = all.length ? all.slice(0, SIDES) : [{ place: "", row: new Map() }];
  const unpin = p => element("button", { type: "button", spec: p, className: "unpin", "aria-label": `unpin ${p}`, on: { click: () => pin(p) } }, "×");
  const place = side => side.place ? [element("div", { className: "unit" }, side.place)] : [];
  const hasTwo = side => pins.length === 2 && pins.every(p => side.row.has(p));
  const heading = (...children) => element("th", { scope: "col" }, ...children);
  const head = element("tr", {}, heading("field"), ...sides.flatMap((side, i) => [
    ...pins.map(p => heading(`${p} `, ...(i ? [] : [unpin(p)]), ...place(side))),
    ...(hasTwo(side) ? [heading("second / first", ...place(side))] : [])]));
  const skip = untold(set), cells = c => {
    const read = reader(set, c), number = text => element("td", { className: "n" }, text);
    return sides.flatMap(side => {
      const known = pins.map(p => side.row.has(p) ? read(side.row.get(p)) : { v: NaN });
      return [...known.map(k => number(shownAll(c, k))), ...(hasTwo(side) ? [number(digits(known[1].v / known[0].v))] : [])];
    });
  };
  const told = c => !skip(c) && sides.some(s => [...s.row.values()].some(row => !Number.isNaN(c.values[row])));
  const body = numbers(set).filter(told).map(c => element("tr", {}, element("th", { scope: "row" }, c.heading), ...cells(c)));
  const rest = all.length > SIDES ? [element("p", { className: "soft" }, `The first ${SIDES} of ${all.length} rows of each; a tensor or a filter chooses others.`)] : [];
  refill(pinBox, element("p", { className: "command" }, set.command || `${set.file}: CSV does not say how it was made; a JSON result does.`),
    ...rest, scrolling("pinned codecs side by side", element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
};

// rows of all other tables whose compressor is pinned
const mark = () => {
  const pins = view.pins.map(visible);
  for (const table of document.querySelectorAll("article table")) {
    const column = Array.from(table.tHead.rows[0].cells).findIndex(c => c.title.startsWith("compressor"));
    if (column >= 0)
      for (const row of table.tBodies[0].rows)
        row.classList.toggle("pinned", pins.includes(row.cells[column].textContent));
  }
};
