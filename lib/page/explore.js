// explore.js -- the page's explorer: charts of the results that stand in the page as JSON (report_page_data.h).
//
// `view` holds everything that a reader can choose; the address's fragment holds it too, so that a view can be sent as a
// link. Charts are canvases, since a result may have 100,000 records. Arrow keys move over a chart's points, and a live
// region reads each point. Without this script the page has its tables and figures.
"use strict";
{
  const section = document.getElementById("explore");

  // ---- data ----

  const load = text => {
    const set = JSON.parse(text);
    set.column = new Map();
    for (const c of set.columns) {
      if (c.values) c.values = Float64Array.from(c.values, v => v === null ? NaN : v);
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
  const numbers = set => set.columns.filter(c => c.values && !c.name.endsWith("_se") && c.name !== "seed");

  // ---- the view, kept in the fragment ----

  const usual = {
    set: "", x: "bits_per_element", y: "relative_error", xlog: "1", ylog: "1", tensor: "*", find: "", family: "",
    flag: "", low: "", high: "", heat: "relative_error", cx: "step", cy: "test_accuracy",
  };
  // where a result lacks the usual fields
  const preferred = {
    x: ["bits_per_element", "bits_per_element_expected", "bytes_up", "bytes", "comm_ms"],
    y: ["relative_error", "total_ms", "speedup", "merge_ms", "value"], heat: ["relative_error", "bytes"],
  };
  const view = { ...usual, pins: [] };
  const read = () => {
    const asked = new URLSearchParams(location.hash.startsWith("#view") ? location.hash.slice(5) : "");
    for (const name in usual) view[name] = asked.get(name) ?? usual[name];
    view.pins = asked.getAll("pin");
  };
  const write = () => {
    const out = new URLSearchParams();
    for (const name in usual) if (view[name] !== usual[name]) out.set(name, view[name]);
    for (const pin of view.pins) out.append("pin", pin);
    const text = out.toString();
    history.replaceState(null, "", text ? `#view&${text}` : location.pathname + location.search);
  };

  // ---- elements ----

  const element = (name, properties = {}, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(properties))
      if (key === "on") for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
      else if (key.startsWith("aria-") || key === "for" || key === "role" || key === "scope") e.setAttribute(key, value);
      else e[key] = value;
    e.append(...children);
    return e;
  };
  const labelled = (text, control) => element("label", {}, `${text} `, control);

  const select = (name, options) => {
    const e = element("select", { id: `explore-${name}`, on: { change: () => choose(name, e.value) } });
    const fill = list => {
      e.replaceChildren(...list.map(([value, text]) => element("option", { value }, text)));
      const has = value => list.some(([v]) => v === value);
      if (!has(view[name])) view[name] = (preferred[name] || []).find(has) || (list[name === "y" ? 1 : 0] || list[0] || [""])[0];
      e.value = view[name];
    };
    e.fill = fill;
    if (options) fill(options);
    return e;
  };
  const input = (name, type, properties = {}) => {
    const checks = type === "checkbox";
    const e = element("input", {
      type, id: `explore-${name}`, ...properties,
      on: { input: () => choose(name, checks ? (e.checked ? "1" : "0") : e.value) },
    });
    e.show = () => { if (checks) e.checked = view[name] === "1"; else e.value = view[name]; };
    return e;
  };

  // ---- numbers ----

  const short = v => {
    if (!Number.isFinite(v)) return "–";
    if (Number.isInteger(v) && Math.abs(v) < 1e9) return String(v);
    const size = Math.abs(v);
    return size !== 0 && (size >= 1e6 || size < 1e-3) ? v.toExponential(2) : String(Number(v.toPrecision(4)));
  };
  const bytes = v => {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let i = 0;
    while (Math.abs(v) >= 1000 && i + 1 < units.length) { v /= 1000; i++; }
    return `${short(v)} ${units[i]}`;
  };
  const shown = (column, v) => column.unit === "bytes" ? bytes(v) : short(v);

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
    return { at: v => (to(v) - from) / (until - from), ticks, good: v => Number.isFinite(v) && (!log || v > 0) };
  };

  // ---- a chart: axes, points or lines, and a layer above them for the point under the pointer ----

  // The marks and dashes of plots/look.gp, in its order.
  const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [8, 3, 2, 3, 2, 3]];
  const polygon = (g, x, y, corners) => { for (const [i, [dx, dy]] of corners.entries()) g[i ? "lineTo" : "moveTo"](x + dx, y + dy); g.closePath(); };
  const shapes = [
    (g, x, y, r) => g.arc(x, y, r, 0, 7),
    (g, x, y, r) => g.rect(x - r, y - r, 2 * r, 2 * r),
    (g, x, y, r) => polygon(g, x, y, [[0, -r], [r, r], [-r, r]]),
    (g, x, y, r) => polygon(g, x, y, [[0, -r], [r, 0], [0, r], [-r, 0]]),
    (g, x, y, r) => polygon(g, x, y, [[0, r], [r, -r], [-r, -r]]),
    (g, x, y, r) => polygon(g, x, y, [0, 1, 2, 3, 4].map(k => [r * Math.sin(1.2566 * k), -r * Math.cos(1.2566 * k)])),
  ];
  // Charts are on white in dark mode too, like the figures: codecs' colours are chosen for white.
  const INK = "#1d2126", LINE = "#d9dee4";

  // model(): {x, y: columns, xlog, ylog, points: {x, y, colour, mark, dash, marked, spec, xse, yse, half}[], lines: {colour,
  // dash, dim, points, band}[]}, or {why} where there is nothing to draw. A point's error bars are half * xse and half * yse long on each side;
  // a line's band is the outline of an area. say(point, model): the lines of the tip.
  const chart = (name, model, say) => {
    const below = element("canvas"), above = element("canvas", { tabIndex: 0, role: "img", "aria-label": name });
    const paper = element("img", { className: "paper", alt: name }); // a copy for printers, on which canvases stay empty
    const tip = element("div", { className: "tip", hidden: true }), spoken = element("p", { className: "spoken", "aria-live": "polite" });
    const frame = element("div", { className: "chart" }, below, above, paper, tip);
    const why = element("p", { className: "soft" }), key = element("div", { className: "key" }), KEYS = 40;
    const margin = { left: 68, right: 14, top: 12, bottom: 46 };
    let m = {}, px = new Float64Array(0), py = px, order = [], at = -1, width = 0, height = 0;

    const context = canvas => {
      const scale = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      const g = canvas.getContext("2d");
      g.scale(scale, scale);
      g.font = "12px system-ui, sans-serif";
      return g;
    };
    const axes = (g, x, y) => {
      const right = width - margin.right, bottom = height - margin.bottom;
      g.strokeStyle = LINE; g.fillStyle = INK; g.lineWidth = 1;
      g.textAlign = "center"; g.textBaseline = "top";
      for (const t of x.ticks) {
        const at = margin.left + x.at(t) * (right - margin.left);
        g.beginPath(); g.moveTo(at, margin.top); g.lineTo(at, bottom); g.stroke();
        g.fillText(shown(m.x, t), at, bottom + 6);
      }
      g.fillText(m.x.heading + (m.xlog ? " (log)" : ""), (margin.left + right) / 2, bottom + 26);
      g.textAlign = "right"; g.textBaseline = "middle";
      for (const t of y.ticks) {
        const at = bottom - y.at(t) * (bottom - margin.top);
        g.beginPath(); g.moveTo(margin.left, at); g.lineTo(right, at); g.stroke();
        g.fillText(shown(m.y, t), margin.left - 6, at);
      }
      g.save();
      g.translate(12, (margin.top + bottom) / 2); g.rotate(-Math.PI / 2); g.textAlign = "center";
      g.fillText(m.y.heading + (m.ylog ? " (log)" : ""), 0, 0);
      g.restore();
    };
    const place = (x, y) => {
      const across = width - margin.left - margin.right, up = height - margin.top - margin.bottom;
      return (p => [margin.left + x.at(p.x) * across, height - margin.bottom - y.at(p.y) * up]);
    };
    const bars = (g, to, p, x, y) => {
      g.save();
      g.beginPath(); g.rect(margin.left, margin.top, width - margin.left - margin.right, height - margin.top - margin.bottom); g.clip();
      for (const [dx, dy] of [[p.half * (p.xse || 0), 0], [0, p.half * (p.yse || 0)]]) {
        const low = { x: p.x - dx, y: p.y - dy }, high = { x: p.x + dx, y: p.y + dy };
        if (!(dx || dy) || !x.good(low.x) || !y.good(low.y)) continue;
        g.beginPath(); g.moveTo(...to(low)); g.lineTo(...to(high)); g.stroke();
      }
      g.restore();
    };
    // The key's buttons pin a compressor, too.
    const swatch = p => {
      const wide = m.lines ? 34 : 14, canvas = element("canvas", { width: wide, height: 14 }), g = canvas.getContext("2d");
      g.fillStyle = g.strokeStyle = p.colour; g.lineWidth = 2;
      if (m.lines) { g.setLineDash(dashes[p.dash % dashes.length]); g.beginPath(); g.moveTo(0, 7); g.lineTo(wide, 7); g.stroke(); }
      g.beginPath(); shapes[p.mark % shapes.length](g, wide / 2, 7, 4.5); g.fill();
      return canvas;
    };
    const fillKey = () => {
      const first = new Map();
      for (const p of m.points || []) if (!first.has(p.spec)) first.set(p.spec, p);
      key.replaceChildren(...[...first].slice(0, KEYS).map(([spec, p]) => element("button", {
        type: "button", "aria-pressed": view.pins.includes(spec), on: { click: () => pin(spec) } }, swatch(p), ` ${spec}`)),
        ...(first.size > KEYS ? [element("span", { className: "soft" }, `and ${first.size - KEYS} more`)] : []));
    };
    const draw = () => {
      m = model();
      why.textContent = m.why || "";
      frame.hidden = Boolean(m.why);
      tip.hidden = true; at = -1;
      fillKey();
      if (m.why) return;
      width = frame.clientWidth; height = Math.round(Math.min(460, Math.max(280, width * 0.5)));
      frame.style.height = `${height}px`;
      for (const canvas of [below, above]) { canvas.style.width = `${width}px`; canvas.style.height = `${height}px`; }
      const g = context(below);
      context(above);
      const points = m.points, fits = p => (!m.xlog || p.x > 0) && (!m.ylog || p.y > 0), drawn = points.filter(fits);
      const x = axis(drawn.map(p => p.x), m.xlog), y = axis(drawn.map(p => p.y), m.ylog);
      const without = [...new Set(points.filter(p => !fits(p)).map(p => p.spec))];
      if (without.length) why.textContent = `Not on a logarithmic axis, since a value is 0 or less: ${without.join(", ")}.`;
      if (!x || !y) { frame.hidden = true; why.textContent = "No value of both fields can be drawn."; return; }
      axes(g, x, y);
      const to = place(x, y), many = points.length > 3000, pinned = view.pins.length > 0;
      for (const line of m.lines || []) {
        g.globalAlpha = line.dim ? 0.25 : 1; g.strokeStyle = g.fillStyle = line.colour; g.lineWidth = 2;
        if (line.band) {
          g.save(); g.globalAlpha *= 0.2; g.beginPath();
          for (const [i, p] of line.band.entries()) g[i ? "lineTo" : "moveTo"](...to(p));
          g.fill(); g.restore();
        }
        g.setLineDash(dashes[line.dash % dashes.length]);
        g.beginPath();
        for (const [i, p] of line.points.entries()) g[i ? "lineTo" : "moveTo"](...to(p));
        g.stroke();
        g.setLineDash([]);
      }
      px = new Float64Array(points.length).fill(NaN); py = new Float64Array(points.length).fill(NaN);
      g.lineWidth = 1.5;
      const mark = (i, large) => {
        const p = points[i];
        if (!x.good(p.x) || !y.good(p.y)) return;
        [px[i], py[i]] = to(p);
        g.fillStyle = g.strokeStyle = p.colour;
        g.globalAlpha = pinned && !large ? 0.3 : 1;
        if (m.lines && !p.marked) return;
        if (many && !large && !m.lines) { g.fillRect(px[i] - 1.5, py[i] - 1.5, 3, 3); return; }
        bars(g, to, p, x, y);
        g.beginPath(); shapes[p.mark % shapes.length](g, px[i], py[i], large ? 6 : 4);
        g.fill();
      };
      for (let i = 0; i < points.length; i++) if (!view.pins.includes(points[i].spec)) mark(i, false);
      for (let i = 0; i < points.length; i++) if (view.pins.includes(points[i].spec)) mark(i, true);
      g.globalAlpha = 1;
      paper.src = below.toDataURL();
      order = Array.from(points.keys()).filter(i => !Number.isNaN(px[i])).sort((a, b) => px[a] - px[b] || py[a] - py[b]);
    };
    const focus = (i, speak) => {
      at = i;
      const g = above.getContext("2d");
      g.clearRect(0, 0, width, height);
      tip.hidden = i < 0;
      if (i < 0) return;
      const lines = say(m.points[i], m);
      g.strokeStyle = INK; g.lineWidth = 2;
      g.beginPath(); g.arc(px[i], py[i], 9, 0, 7); g.stroke();
      tip.replaceChildren(...lines.map(t => element("div", {}, t)));
      const left = px[i] + 14 + tip.offsetWidth > width ? px[i] - 14 - tip.offsetWidth : px[i] + 14;
      tip.style.left = `${Math.max(0, left)}px`;
      tip.style.top = `${Math.max(0, Math.min(py[i] - 10, height - tip.offsetHeight))}px`;
      if (speak) spoken.textContent = lines.join(", ");
    };
    const nearest = (x, y) => {
      let best = -1, least = 24 * 24;
      for (let i = 0; i < px.length; i++) {
        const dx = px[i] - x, dy = py[i] - y, d = dx * dx + dy * dy;
        if (d < least) { least = d; best = i; }
      }
      return best;
    };
    const under = event => {
      const box = above.getBoundingClientRect();
      return nearest(event.clientX - box.left, event.clientY - box.top);
    };
    above.addEventListener("pointermove", event => { const i = under(event); if (i !== at) focus(i, false); });
    above.addEventListener("pointerleave", () => focus(-1, false));
    above.addEventListener("click", event => { const i = under(event); if (i >= 0) pin(m.points[i].spec); });
    above.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step && order.length) {
        const now = order.indexOf(at);
        focus(order[now < 0 ? (step > 0 ? 0 : order.length - 1) : (now + step + order.length) % order.length], true);
      } else if (event.key === "Enter" && at >= 0) pin(m.points[at].spec);
      else if (event.key === "Escape") focus(-1, false);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => { if (!matchMedia("print").matches && frame.clientWidth !== width && frame.clientWidth) draw(); }).observe(frame);
    return { box: element("div", { className: "drawn" }, frame, key, why, spoken), draw };
  };

  // ---- which rows ----

  const chosen = () => measured.find(s => s.id === view.set) || measured[0];
  const families = set => [...new Set(set.codecs.map(c => c.family))].sort();

  const passes = (set, row) => {
    const codec = codecAt(set, row), bits = set.column.get("bits_per_element")?.values[row];
    return (!view.find || specAt(set, row).includes(view.find)) && (!view.family || codec.family === view.family) &&
      (!view.flag || codec.flags.includes(view.flag)) && (view.low === "" || bits >= Number(view.low)) &&
      (view.high === "" || bits <= Number(view.high));
  };
  const ofTensor = (set, row) => view.tensor === "all" || !set.column.has("tensor") || textAt(set, "tensor", row) === view.tensor;
  // of the rows of a tensor, those over all steps where there are any
  const rowsOf = set => {
    const rows = [], step = set.column.get("step");
    const pooled = step?.texts?.includes("*") && view.tensor !== "all";
    for (let row = 0; row < set.rows; row++)
      if (ofTensor(set, row) && passes(set, row) && (!pooled || step.texts[step.index[row]] === "*")) rows.push(row);
    return rows;
  };

  // ---- the charts ----

  const scatter = chart("two fields of the chosen result, a point for each row", () => {
    const set = chosen();
    if (!set) return { why: "No result has codecs to compare." };
    const x = set.column.get(view.x), y = set.column.get(view.y);
    if (!x?.values || !y?.values) return { why: "Choose two fields." };
    const xse = set.column.get(`${view.x}_se`)?.values, yse = set.column.get(`${view.y}_se`)?.values;
    const repeats = set.column.get("repeats")?.values;
    const points = rowsOf(set).map(row => ({
      x: x.values[row], y: y.values[row], xse: xse?.[row], yse: yse?.[row], half: student((repeats?.[row] ?? Infinity) - 1),
      row, spec: specAt(set, row),
      colour: codecAt(set, row).colour, mark: codecAt(set, row).mark,
    })).filter(p => !Number.isNaN(p.x) && !Number.isNaN(p.y));
    return points.length ? { x, y, xlog: view.xlog === "1", ylog: view.ylog === "1", points, set }
                         : { why: rowsOf(set).length ? "No row has both fields." : "No row passes the filters." };
  }, (p, m) => {
    const where = ["step", "worker", "tensor", "workers", "topology", "link"].map(n => [n, textAt(m.set, n, p.row)])
      .filter(([, text]) => text && text !== "*").map(([n, text]) => `${n} ${text}`);
    const value = (c, v, se) => `${c.heading}: ${shown(c, v)}${se ? ` ± ${shown(c, se)} (standard error)` : ""}`;
    return [p.spec, value(m.x, p.x, p.xse), value(m.y, p.y, p.yse), ...where];
  });

  // Runs are seeds of one experiment if their commands differ in the seed and in what they write only. CSV has no command.
  const experiment = set => (set.command || "").replace(/ (--seed|-o|--output|--train-dir|--dump-gradients)[ =]('[^']*'|\S+)/g, "");

  // One line for each compressor of an experiment: the mean over its seeds, and a band from the least to the largest.
  const curveModel = () => {
    const series = new Map();
    for (const set of runs) {
      const record = set.column.get("record"), y = set.column.get(view.cy), sent = new Map(), byRun = new Map();
      const x = set.column.get(view.cx === "bytes" ? "bytes_up" : view.cx);
      if (!record?.texts || !y?.values || !x?.values) continue;
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
      const { spec, file, codec: { colour, mark, dash } } = all[0][0], length = Math.min(...all.map(s => s.length));
      const line = [], low = [], high = [], apart = Math.ceil(length / 8);
      for (let i = 0; i < length; i++) {
        const ys = all.map(s => s[i].y), mean = v => v.reduce((a, b) => a + b, 0) / v.length, x = mean(all.map(s => s[i].x));
        const p = { x, y: mean(ys), low: Math.min(...ys), high: Math.max(...ys), runs: all.length, spec, file, colour, mark, dash,
                    marked: i % apart === 0 || i === length - 1 };
        points.push(p); line.push(p); low.push({ x, y: p.low }); high.unshift({ x, y: p.high });
      }
      lines.push({ colour, dash, points: line, band: all.length > 1 ? [...low, ...high] : null,
                   dim: view.pins.length > 0 && !view.pins.includes(spec) });
    }
    const find = name => runs.map(s => s.column.get(name)).find(c => c);
    return points.length ? { x: find(view.cx === "bytes" ? "bytes_up" : view.cx), y: find(view.cy), points, lines }
                         : { why: "No run has both fields." };
  };
  const curves = chart("training, a line for each codec", curveModel, (p, m) => [
    p.spec, ...(p.runs > 1 ? [] : [p.file]), `${m.x.heading}: ${shown(m.x, p.x)}`,
    p.runs > 1 ? `${m.y.heading}: ${shown(m.y, p.y)}, ${shown(m.y, p.low)} to ${shown(m.y, p.high)} in ${p.runs} runs`
               : `${m.y.heading}: ${shown(m.y, p.y)}`]);

  // ---- tables: tensors x compressors, and pinned compressors side by side ----

  const heatBox = element("div"), pinBox = element("div"), TENSORS = 200, SPECS = 40;

  const heat = () => {
    const set = chosen(), tensor = set?.column.get("tensor"), field = set?.column.get(view.heat);
    heatBox.replaceChildren();
    if (!tensor?.texts || tensor.texts.length < 2 || !field?.values) return;
    const cell = new Map(), tensors = new Set(), specs = new Set();
    let low = Infinity, high = -Infinity;
    for (let row = 0; row < set.rows; row++) {
      const name = tensor.texts[tensor.index[row]], v = field.values[row];
      if (name === "*" || Number.isNaN(v) || !passes(set, row)) continue;
      if (!tensors.has(name) && tensors.size === TENSORS || !specs.has(specAt(set, row)) && specs.size === SPECS) continue;
      tensors.add(name); specs.add(specAt(set, row));
      const key = `${name}\n${specAt(set, row)}`;
      if (!cell.has(key)) cell.set(key, v); // the first step
      if (v > 0) { low = Math.min(low, v); high = Math.max(high, v); }
    }
    const head = element("tr", {}, element("th", { scope: "col" }, "tensor"),
      ...[...specs].map(s => element("th", { scope: "col" }, element("button", { type: "button", on: { click: () => pin(s) } }, s))));
    const body = [...tensors].map(name => element("tr", {}, element("th", { scope: "row" }, name), ...[...specs].map(s => {
      const v = cell.get(`${name}\n${s}`), td = element("td", { className: view.pins.includes(s) ? "n pinned" : "n" },
        v === undefined ? "–" : shown(field, v));
      if (v > 0 && high > low) {
        const share = (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low));
        td.style.backgroundColor = `color-mix(in srgb, var(--heat) ${Math.round(70 * share)}%, var(--paper))`;
      }
      return td;
    })));
    heatBox.append(element("div", { className: "scroll", tabIndex: 0 },
      element("table", { className: "heat" }, element("thead", {}, head), element("tbody", {}, ...body))));
  };

  const pinned = () => {
    const set = chosen(), pins = view.pins;
    pinBox.replaceChildren();
    if (!set || !pins.length) {
      pinBox.append(element("p", { className: "soft" }, "Click a point, or press Enter on it, to pin its compressor; two pinned ones are compared here."));
      return;
    }
    const rows = rowsOf(set), rowOf = pins.map(p => rows.find(row => specAt(set, row) === p));
    const two = pins.length === 2 && rowOf.every(r => r !== undefined);
    const head = element("tr", {}, element("th", { scope: "col" }, "field"), ...pins.map(p => element("th", { scope: "col" }, `${p} `,
      element("button", { type: "button", className: "unpin", "aria-label": `unpin ${p}`, on: { click: () => pin(p) } }, "×"))),
      ...(two ? [element("th", { scope: "col" }, "second / first")] : []));
    const same = ["n", "repeats", "raw_bytes"];
    const withError = (c, row) => {
      const se = set.column.get(`${c.name}_se`)?.values[row];
      return shown(c, c.values[row]) + (se > 0 ? ` ± ${shown(c, se)}` : "");
    };
    const body = numbers(set).filter(c => !same.includes(c.name) && rowOf.some(r => r !== undefined && !Number.isNaN(c.values[r]))).map(c => element("tr", {},
      element("th", { scope: "row" }, c.heading), ...rowOf.map(r => element("td", { className: "n" }, r === undefined ? "–" : withError(c, r))),
      ...(two ? [element("td", { className: "n" }, short(c.values[rowOf[1]] / c.values[rowOf[0]]))] : [])));
    pinBox.append(element("p", { className: "command" }, set.command || `${set.file}: CSV does not say how it was made; a JSON result does.`),
      element("div", { className: "scroll", tabIndex: 0 }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
  };

  // rows of all other tables whose compressor is pinned
  const mark = () => {
    for (const table of document.querySelectorAll("article table")) {
      const column = Array.from(table.tHead.rows[0].cells).findIndex(c => c.title.startsWith("compressor"));
      if (column >= 0)
        for (const row of table.tBodies[0].rows)
          row.classList.toggle("pinned", view.pins.includes(row.cells[column].textContent));
    }
  };

  // ---- controls ----

  const named = columns => columns.map(c => [c.name, c.heading]);
  const controls = {
    set: select("set"), x: select("x"), y: select("y"), xlog: input("xlog", "checkbox"), ylog: input("ylog", "checkbox"),
    tensor: select("tensor"), find: input("find", "search", { placeholder: "part of a spec" }), family: select("family"),
    flag: select("flag"), low: input("low", "number", { min: 0, step: "any" }), high: input("high", "number", { min: 0, step: "any" }),
    heat: select("heat"), cx: select("cx"), cy: select("cy"),
  };
  const fill = () => {
    const set = chosen();
    if (set) {
      const fields = named(numbers(set)), tensors = set.column.get("tensor")?.texts || ["*"];
      controls.set.fill(measured.map(s => [s.id, s.file]));
      for (const name of ["x", "y", "heat"]) controls[name].fill(fields);
      controls.tensor.fill([...(tensors.includes("*") ? [["*", "all as one vector"]] : []), ["all", "each"],
                            ...tensors.filter(t => t !== "*").map(t => [t, t])]);
      controls.family.fill([["", "all"], ...families(set).map(f => [f, f])]);
      controls.flag.fill([["", "any"], ["unbiased", "unbiased"], ["adds", "payloads add"], ["stateful", "stateful"]]);
    }
    if (runs.length) {
      const fields = numbers(runs[0]), has = name => fields.some(c => c.name === name);
      controls.cx.fill([["step", "step"], ["epoch", "epoch"], ["sim_seconds", "simulated time"], ["wall_seconds", "wall-clock time"],
                        ["bytes", "bytes sent"]].filter(([name]) => name === "bytes" ? has("bytes_up") : has(name)));
      controls.cy.fill(named(fields.filter(c => !["step", "epoch"].includes(c.name))));
    }
    for (const c of Object.values(controls)) if (c.show) c.show();
  };
  const show = () => {
    fill();
    if (measured.length) { scatter.draw(); heat(); pinned(); }
    if (runs.length) curves.draw();
    mark();
  };
  const choose = (name, value) => {
    if (name === "set") for (const field of ["x", "y", "heat"]) view[field] = usual[field];
    view[name] = value;
    show();
    write();
  };
  const pin = spec => {
    view.pins = view.pins.includes(spec) ? view.pins.filter(p => p !== spec) : [...view.pins, spec];
    show();
    write();
  };

  if (measured.length || runs.length) {
    const row = (...items) => element("div", { className: "controls" }, ...items);
    section.append(element("h2", {}, "Explore"), element("p", { className: "says" },
      "Every view has an address of its own: copy it from the browser to send what you see."));
    if (measured.length)
      section.append(
        row(labelled("result", controls.set), labelled("across", controls.x), labelled("log", controls.xlog),
            labelled("up", controls.y), labelled("log", controls.ylog), labelled("tensor", controls.tensor)),
        row(labelled("compressor", controls.find), labelled("family", controls.family), labelled("promise", controls.flag),
            labelled("bits per element from", controls.low), labelled("to", controls.high)),
        scatter.box, element("h3", {}, "Pinned"), pinBox,
        element("h3", {}, "Tensors and codecs"), row(labelled("field", controls.heat)), heatBox);
    if (runs.length)
      section.append(element("h3", {}, "Training"), row(labelled("across", controls.cx), labelled("up", controls.cy)), curves.box);
    section.hidden = false;
    read();
    show();
    addEventListener("hashchange", () => { if (location.hash.startsWith("#view")) { read(); show(); } });
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, show);
  }
}
