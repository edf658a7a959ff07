// explore_rows.js -- which rows of the chosen result pass the filters.

const chosen = () => measured.find(s => s.id === view.set) || measured[0];
const families = set => [...new Set(set.codecs.map(c => c.family))].sort();

// Returns a function that says whether a row passes the filters.
const passing = set => {
  const find = view.find.toLowerCase(), bits = set.column.get("bits_per_element"), read = bits?.numeric && reader(set, bits);
  const good = set.codecs.map((codec, i) => set.spec.texts[i].toLowerCase().includes(find) &&
    (!view.family || codec.family === view.family) && (!view.flag || codec.flags.includes(view.flag)));
  return row => good[set.spec.index[row]] && (!read || (view.low === "" || read(row).v >= Number(view.low)) &&
    (view.high === "" || read(row).v <= Number(view.high)));
};
// Returns a function that says whether a row's text in a column is `text`.
const holds = (set, name, text) => {
  const c = set.column.get(name), wanted = c?.texts?.indexOf(text);
  return c?.texts ? row => c.index[row] === wanted : row => textAt(set, name, row) === text;
};
// The rows of the chosen tensor; if some of them are over all steps, only those.
const rowsOf = set => {
  const rows = [], passes = passing(set), pooled = holds(set, "step", "*");
  const ofTensor = view.tensor === "all" || !set.column.has("tensor") ? () => true : holds(set, "tensor", view.tensor);
  for (let row = 0; row < set.rows; row++) if (ofTensor(row) && passes(row)) rows.push(row);
  return view.tensor !== "all" && rows.some(pooled) ? rows.filter(pooled) : rows;
};
