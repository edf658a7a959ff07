// explore.js -- the page's explorer: charts of the results that stand in the page as JSON (report_page_data.h).
//
// `view` holds everything that a reader can choose; the address's fragment holds it too, so that a view can be sent as a
// link. Charts are canvases, since a result may have 100,000 records. Arrow keys move over a chart's points, and a live
// region reads each point. Without this script the page has its tables and figures.
"use strict";
{
  const section = document.getElementById("explore");

  // ---- data ----

  // A column's numbers come as one text, which is read when the column is first used: most columns never are.
  const lazily = (object, name, make) => Object.defineProperty(object, name, {
    configurable: true, get: () => { const value = make(); Object.defineProperty(object, name, { value }); return value; },
  });
  const load = text => {
    const set = JSON.parse(text);
    const read = (Numbers, packed) => packed === undefined ? new Numbers(set.rows)
      : typeof packed === "number" ? new Numbers(set.rows).fill(packed)
      : Numbers.from(packed.split(","), v => v === "" ? NaN : Number(v));
    set.column = new Map();
    for (const c of set.columns) {
      const { values, index } = c;
      c.numeric = !c.texts;
      if (c.numeric) lazily(c, "values", () => read(Float64Array, values));
      else lazily(c, "index", () => read(Uint16Array, index));
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
    return asked.get("at");
  };
  // `place`: the id of the part of the page that the address leads to
  const write = (place = "") => {
    const out = new URLSearchParams();
    for (const name in usual) if (view[name] !== usual[name]) out.set(name, view[name]);
    for (const pin of view.pins) out.append("pin", pin);
    if (place && !out.toString()) return; // the usual view needs no address
    if (place) out.set("at", place);
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
  // Replaces what the box holds. The keyboard's focus stays on the button of the same compressor, else on the one at its
  // place, and tables stay where they were scrolled to.
  const refill = (box, ...children) => {
    const buttons = () => Array.from(box.querySelectorAll("button")), before = box.querySelector(".scroll");
    const { activeElement: now } = document, at = buttons().indexOf(now), left = before?.scrollLeft, top = before?.scrollTop;
    box.replaceChildren(...children);
    const after = box.querySelector(".scroll");
    if (before && after) { after.scrollLeft = left; after.scrollTop = top; }
    if (at >= 0) (buttons().find(b => b.spec === now.spec) || buttons()[Math.min(at, buttons().length - 1)] || box).focus({ preventScroll: true });
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
  // Marks of one shape and colour differ in their filling, lines of one colour in their dashes, by the look's `dash`: full,
  // hollow, hollow with a dot, full with a hole, full with a bar.
  const dot = (g, x, y, r) => { g.beginPath(); g.arc(x, y, r, 0, 7); g.fill(); };
  const drawMark = (g, { mark, dash, colour }, x, y, r) => {
    const hollow = dash === 1 || dash === 2;
    g.strokeStyle = colour; g.fillStyle = hollow ? "#fff" : colour; g.lineWidth = 1.5;
    g.beginPath(); shapes[mark](g, x, y, r); g.fill();
    if (hollow) g.stroke();
    g.fillStyle = hollow ? colour : "#fff";
    if (dash === 2) dot(g, x, y, r / 3);
    if (dash === 3) dot(g, x, y, r / 2.5);
    if (dash === 4) g.fillRect(x - r, y - r / 5, 2 * r, r / 2.5);
  };
  // Charts are on white in dark mode too, like the figures: codecs' colours are chosen for white.
  const INK = "#1d2126", LINE = "#d9dee4";

  // model(): {x, y: columns, xlog, ylog, points: {x, y, look, marked, spec, xse, yse, half}[], lines: {look, dim, points, band}[]},
  // or {why} where there is nothing to draw. A point's error bars are half * xse and half * yse long on each side;
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
    const bars = (g, to, p) => {
      g.save();
      g.beginPath(); g.rect(margin.left, margin.top, width - margin.left - margin.right, height - margin.top - margin.bottom); g.clip();
      for (const [dx, dy] of [[p.half * (p.xse || 0), 0], [0, p.half * (p.yse || 0)]]) {
        const low = { x: p.x - dx, y: p.y - dy }, high = { x: p.x + dx, y: p.y + dy };
        if (!(dx || dy)) continue;
        g.beginPath(); g.moveTo(...to(low)); g.lineTo(...to(high)); g.stroke();
      }
      g.restore();
    };
    // The key's buttons pin a compressor, too.
    const swatch = p => {
      const wide = m.lines ? 34 : 14, canvas = element("canvas", { width: wide, height: 14 }), g = canvas.getContext("2d");
      g.strokeStyle = p.look.colour; g.lineWidth = 2;
      if (m.lines) { g.setLineDash(dashes[p.look.dash]); g.beginPath(); g.moveTo(0, 7); g.lineTo(wide, 7); g.stroke(); g.setLineDash([]); }
      drawMark(g, m.lines ? { ...p.look, dash: 0 } : p.look, wide / 2, 7, 4.5);
      return canvas;
    };
    const fillKey = () => {
      const first = new Map();
      for (const p of m.points || []) if (!first.has(p.spec)) first.set(p.spec, p);
      refill(key, ...[...first].slice(0, KEYS).map(([spec, p]) => element("button", {
        type: "button", spec, "aria-pressed": view.pins.includes(spec), on: { click: () => pin(spec) } }, swatch(p), ` ${spec}`)),
        ...(first.size > KEYS ? [element("span", { className: "soft" }, `and ${first.size - KEYS} more`)] : []));
    };
    const draw = () => {
      const was = m.points?.[at], last = at;
      m = model();
      why.textContent = m.why || "";
      frame.hidden = Boolean(m.why);
      tip.hidden = true; at = -1;
      fillKey();
      if (m.why) { spoken.textContent = ""; return; }
      width = frame.clientWidth; height = Math.round(Math.min(460, Math.max(280, width * 0.5)));
      frame.style.height = `${height}px`;
      for (const canvas of [below, above]) { canvas.style.width = `${width}px`; canvas.style.height = `${height}px`; }
      const g = context(below);
      context(above);
      const points = m.points, fits = p => (!m.xlog || p.x > 0) && (!m.ylog || p.y > 0), drawn = points.filter(fits);
      const x = axis(drawn.map(p => p.x), m.xlog), y = axis(drawn.map(p => p.y), m.ylog);
      const without = [...new Set(points.filter(p => !fits(p)).map(p => p.spec))];
      if (without.length) why.textContent = `Not on a logarithmic axis, since a value is 0 or less: ${without.join(", ")}.`;
      if (!x || !y) { frame.hidden = true; why.textContent = "No value of both fields can be drawn."; spoken.textContent = ""; return; }
      axes(g, x, y);
      const to = place(x, y), many = points.length > 3000, pinned = view.pins.length > 0;
      for (const line of m.lines || []) {
        g.globalAlpha = line.dim ? 0.25 : 1; g.strokeStyle = g.fillStyle = line.look.colour; g.lineWidth = 2;
        if (line.band) {
          g.save(); g.globalAlpha *= 0.2; g.beginPath();
          for (const [i, p] of line.band.entries()) g[i ? "lineTo" : "moveTo"](...to(p));
          g.fill(); g.restore();
        }
        g.setLineDash(dashes[line.look.dash]);
        g.beginPath();
        for (const [i, p] of line.points.entries()) g[i ? "lineTo" : "moveTo"](...to(p));
        g.stroke();
        g.setLineDash([]);
      }
      g.setLineDash([]);
      px = new Float64Array(points.length).fill(NaN); py = new Float64Array(points.length).fill(NaN);
      const mark = (i, large) => {
        const p = points[i];
        if (!x.good(p.x) || !y.good(p.y)) return;
        [px[i], py[i]] = to(p);
        g.fillStyle = g.strokeStyle = p.look.colour;
        g.globalAlpha = pinned && !large ? 0.3 : 1;
        if (m.lines && !p.marked) return;
        if (many && !large && !m.lines) { g.fillRect(px[i] - 1.5, py[i] - 1.5, 3, 3); return; }
        g.lineWidth = 1.5;
        bars(g, to, p);
        drawMark(g, m.lines ? { ...p.look, dash: 0 } : p.look, px[i], py[i], large ? 6 : 4.5);
      };
      for (let i = 0; i < points.length; i++) if (!view.pins.includes(points[i].spec)) mark(i, false);
      for (let i = 0; i < points.length; i++) if (view.pins.includes(points[i].spec)) mark(i, true);
      g.globalAlpha = 1;
      paper.src = below.toDataURL();
      order = Array.from(points.keys()).filter(i => !Number.isNaN(px[i])).sort((a, b) => px[a] - px[b] || py[a] - py[b]);
      const same = points[last];
      if (was && same && same.spec === was.spec && same.x === was.x && same.y === was.y && !Number.isNaN(px[last])) focus(last, false);
      else spoken.textContent = "";
    };
    const focus = (i, speak) => {
      at = i;
      const g = above.getContext("2d");
      g.clearRect(0, 0, width, height);
      tip.hidden = i < 0;
      if (i < 0) { spoken.textContent = ""; return; }
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

  // Returns a function that says whether a row passes the filters.
  const passing = set => {
    const find = view.find.toLowerCase(), bits = set.column.get("bits_per_element"), read = bits?.numeric && reader(set, bits);
    const good = set.codecs.map((codec, i) => set.spec.texts[i].toLowerCase().includes(find) &&
      (!view.family || codec.family === view.family) && (!view.flag || codec.flags.includes(view.flag)));
    return row => good[set.spec.index[row]] && (!read || (view.low === "" || read(row).v >= Number(view.low)) &&
      (view.high === "" || read(row).v <= Number(view.high)));
  };
  const ofTensor = (set, row) => view.tensor === "all" || !set.column.has("tensor") || textAt(set, "tensor", row) === view.tensor;
  // The rows of the chosen tensor; if some of them are over all steps, only those.
  const rowsOf = set => {
    const rows = [], passes = passing(set), pooled = row => textAt(set, "step", row) === "*";
    for (let row = 0; row < set.rows; row++) if (ofTensor(set, row) && passes(row)) rows.push(row);
    return view.tensor !== "all" && rows.some(pooled) ? rows.filter(pooled) : rows;
  };

  // ---- the charts ----

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
    return points.length ? { x, y, xlog: view.xlog === "1", ylog: view.ylog === "1", points, set, readX, readY }
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
      lines.push({ look, points: line, band: all.length > 1 ? [...low, ...high] : null,
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

  const heatPart = element("div"), heatBox = element("div"), pinBox = element("div", { tabIndex: -1 }), TENSORS = 200, SPECS = 40, SIDES = 8;
  const scrolling = (label, ...children) => element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, ...children);
  const hasTensors = set => set?.column.get("tensor")?.texts?.length > 1;

  // A cell is the mean over the steps and workers of the rows that have its tensor and compressor.
  const heat = () => {
    const set = chosen(), tensor = set?.column.get("tensor"), field = set?.column.get(view.heat);
    if (!hasTensors(set) || !field?.numeric) { heatBox.replaceChildren(); return; }
    const cell = new Map(), tensors = new Set(), specs = new Set(), means = new Set(), passes = passing(set), read = reader(set, field);
    const others = PLACES.filter(n => !["step", "worker", "tensor"].includes(n) && set.column.has(n));
    let only = null, more = false;
    for (let row = 0; row < set.rows; row++) {
      const name = tensor.texts[tensor.index[row]], spec = specAt(set, row), { v } = read(row);
      if (name === "*" || Number.isNaN(v) || !passes(row)) continue;
      const place = placeOf(set, row, others).join(", ");
      if (only === null) only = place;
      if (place !== only) continue;
      if (!tensors.has(name) && tensors.size === TENSORS || !specs.has(spec) && specs.size === SPECS) { more = true; continue; }
      tensors.add(name); specs.add(spec);
      for (const text of placeOf(set, row, ["step", "worker"])) means.add(text);
      const key = `${name}\n${spec}`, sum = cell.get(key) || { v: 0, rows: 0 };
      cell.set(key, { v: sum.v + v, rows: sum.rows + 1 });
    }
    let low = Infinity, high = -Infinity;
    for (const c of cell.values()) { c.v /= c.rows; if (c.v > 0) { low = Math.min(low, c.v); high = Math.max(high, c.v); } }
    const head = element("tr", {}, element("th", { scope: "col" }, "tensor"),
      ...[...specs].map(s => element("th", { scope: "col", className: view.pins.includes(s) ? "pinned" : "" },
        element("button", { type: "button", spec: s, "aria-pressed": view.pins.includes(s), on: { click: () => pin(s) } }, s))));
    const body = [...tensors].map(name => element("tr", {}, element("th", { scope: "row" }, name), ...[...specs].map(s => {
      const v = cell.get(`${name}\n${s}`)?.v, td = element("td", { className: view.pins.includes(s) ? "n pinned" : "n" },
        v === undefined ? "–" : shown(field, v));
      if (v > 0 && high > low) {
        const share = (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low));
        td.style.backgroundColor = `color-mix(in srgb, var(--heat) ${Math.round(70 * share)}%, var(--paper))`;
      }
      return td;
    })));
    const mean = [...cell.values()].some(c => c.rows > 1), listed = [...means];
    const says = [only, mean ? `mean over ${listed.slice(0, 8).join(", ")}${listed.length > 8 ? ` and ${listed.length - 8} more` : ""}` : listed.join(", "),
                  more ? `the first ${tensors.size} tensors and ${specs.size} compressors` : ""].filter(t => t).join("; ");
    refill(heatBox, element("p", { className: "soft" }, says), scrolling("tensors and codecs",
      element("table", { className: "heat" }, element("thead", {}, head), element("tbody", {}, ...body))));
  };

  // The rows of pinned compressors by place, at each place a row for each compressor: {place, row: Map of specs}[].
  const sidesOf = set => {
    const sides = new Map();
    for (const row of rowsOf(set)) {
      const spec = specAt(set, row), place = placeOf(set, row, PLACES).join(", ");
      if (!view.pins.includes(spec)) continue;
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
      refill(pinBox, element("p", { className: "soft" }, "Click a point, or press Enter on it, to pin its compressor; two pinned ones are compared here."));
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
      ...rest, scrolling("pinned compressors side by side", element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
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
    flag: select("flag"), low: input("low", "number", { min: 0, step: "any" }), high: input("high", "number", { min: 0, step: "any", "aria-label": "bits per element to" }),
    heat: select("heat"), cx: select("cx"), cy: select("cy"),
  };
  const fill = () => {
    const set = chosen();
    if (set) {
      const fields = named(numbers(set)), tensors = set.column.get("tensor")?.texts || ["*"];
      controls.set.fill(measured.map(s => [s.id, s.file]));
      for (const name of ["x", "y", "heat"]) controls[name].fill(fields);
      // a filter that the result has no field for is not offered
      controls.tensor.parentNode.hidden = heatPart.hidden = !hasTensors(set);
      for (const name of ["low", "high"]) controls[name].parentNode.hidden = !set.column.get("bits_per_element")?.numeric;
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
        row(labelled("result", controls.set), labelled("across", controls.x), labelled("log across", controls.xlog),
            labelled("up", controls.y), labelled("log up", controls.ylog), labelled("tensor", controls.tensor)),
        row(labelled("compressor", controls.find), labelled("family", controls.family), labelled("promise", controls.flag),
            labelled("bits per element from", controls.low), labelled("to", controls.high)),
        scatter.box, element("h3", {}, "Pinned"), pinBox,
        heatPart);
    heatPart.append(element("h3", {}, "Tensors and codecs"), row(labelled("field", controls.heat)), heatBox);
    if (runs.length)
      section.append(element("h3", {}, "Training"), row(labelled("across", controls.cx), labelled("up", controls.cy)), curves.box);
    section.hidden = false;
    const open = () => {
      const place = read();
      show();
      if (place) document.getElementById(place)?.scrollIntoView();
    };
    open();
    // A link within the page keeps the view in the address.
    addEventListener("hashchange", () => {
      if (location.hash.startsWith("#view")) open();
      else write(location.hash.slice(1));
    });
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, show);
  }
}
