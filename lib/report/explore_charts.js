// explore_charts.js -- the two charts of the page: fields of a result against each other, and training.

const scatter = chart("two fields of the chosen result, a point for each row", () => {
  const set = chosen();
  if (!set) return { why: "No result has codecs to compare." };
  const x = set.column.get(view.x), y = set.column.get(view.y);
  if (!x?.numeric || !y?.numeric) return { why: "Choose two fields." };
  const readX = reader(set, x), readY = reader(set, y), repeats = set.column.get("repeats")?.values;
  const rows = rowsOf(set), points = [];
  for (const row of rows) {
    const px = readX(row), py = readY(row);
    if (!Number.isNaN(px.v) && !Number.isNaN(py.v))
      points.push({ x: px.v, y: py.v, xse: px.se, yse: py.se, half: student((repeats?.[row] ?? Infinity) - 1),
                    row, spec: specAt(set, row), look: codecAt(set, row) });
  }
  const joined = new Map(); // the points of a codec at its rates, in the order of the rows
  for (const p of points.length > SPECKS ? [] : points) {
    const key = [p.look.series, ...placeOf(set, p.row, PLACES)].join("\n");
    joined.set(key, [...(joined.get(key) || []), p]);
  }
  return points.length ? { x, y, xlog: view.xlog === "1", ylog: view.ylog === "1", points, joined: [...joined.values()], set, readX, readY }
                       : { why: rows.length ? "No row has both fields." : "No row passes the filters." };
}, (p, m) => {
  const value = (c, known) => `${c.heading}: ${shownAll(c, known)}${known.se > 0 ? " (standard error)" : ""}`;
  return [p.spec, value(m.x, m.readX(p.row)), value(m.y, m.readY(p.row)), ...placeOf(m.set, p.row, PLACES)];
});

// Runs are seeds of one experiment if their commands differ in the seed and in what they write only. CSV has no command.
const experiment = set => (set.command || "").replace(/ (--seed|-o|--output|--train-dir|--dump-gradients)[ =]('[^']*'|\S+)/g, "");

// One line for each compressor of an experiment: the mean over its seeds, and a band from the least to the largest.
const curveModel = () => {
  const series = new Map();
  for (const set of runs) {
    const record = set.column.get("record"), y = set.column.get(view.cy), sent = new Map(), byRun = new Map();
    const x = set.column.get(view.cx === "bytes" ? "bytes_up" : view.cx);
    if (!record?.texts || !y?.numeric || !x?.numeric) continue;
    for (let row = 0; row < set.rows; row++) {
      if (record.texts[record.index[row]] !== "step") continue;
      const spec = specAt(set, row), one = `${spec}\n${textAt(set, "seed", row)}`;
      sent.set(one, (sent.get(one) || 0) + x.values[row]);
      if (Number.isNaN(y.values[row])) continue;
      if (!byRun.has(one)) byRun.set(one, []);
      byRun.get(one).push({ x: view.cx === "bytes" ? sent.get(one) : x.values[row], y: y.values[row], spec, file: set.file, codec: codecAt(set, row) });
    }
    for (const points of byRun.values()) {
      const key = `${points[0].spec}\n${experiment(set)}`;
      series.set(key, [...(series.get(key) || []), points]);
    }
  }
  const points = [], lines = [];
  for (const all of series.values()) {
    const { spec, file, codec: look } = all[0][0], length = Math.min(...all.map(s => s.length));
    const line = [], low = [], high = [], apart = Math.ceil(length / 8);
    for (let i = 0; i < length; i++) {
      const ys = all.map(s => s[i].y), mean = v => v.reduce((a, b) => a + b, 0) / v.length, x = mean(all.map(s => s[i].x));
      const p = { x, y: mean(ys), low: Math.min(...ys), high: Math.max(...ys), runs: all.length, spec, file, look,
                  marked: i % apart === 0 || i === length - 1 };
      points.push(p); line.push(p); low.push({ x, y: p.low }); high.unshift({ x, y: p.high });
    }
    lines.push({ look, points: line, spec, band: all.length > 1 ? [...low, ...high] : null });
  }
  const find = name => runs.map(s => s.column.get(name)).find(c => c);
  return points.length ? { x: find(view.cx === "bytes" ? "bytes_up" : view.cx), y: find(view.cy), points, lines }
                       : { why: "No run has both fields." };
};
const curves = chart("training, a line for each codec", curveModel, (p, m) => [
  p.spec, ...(p.runs > 1 ? [] : [p.file]), `${m.x.heading}: ${shown(m.x, p.x)}`,
  p.runs > 1 ? `${m.y.heading}: ${shown(m.y, p.y)}, ${shown(m.y, p.low)} to ${shown(m.y, p.high)} in ${p.runs} runs`
             : `${m.y.heading}: ${shown(m.y, p.y)}`]);
