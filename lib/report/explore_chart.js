// explore_chart.js -- a chart: axes, points or lines, and a layer above them for the point under the pointer.
//
// Charts are canvases, since a result may have 100,000 records. Arrow keys move over the points, and a live region reads
// each point. The functions share a chart c: its elements, the model m, the points' places px and py (NaN: not drawn), and
// the point that the reader looks at, at (-1: none).

const SPECKS = 3000, KEYS = 40;

// The key's buttons pin a compressor, too. Marks on lines are full, since the dashes tell lines of one colour apart.
const lookOfMark = (m, p) => m.lines ? { ...p.look, dash: 0 } : p.look;
const swatch = (m, p) => {
  const wide = m.lines ? 34 : 14, canvas = element("canvas", { width: wide, height: 14 }), g = canvas.getContext("2d");
  g.strokeStyle = inks.of(p.look.colour); g.lineWidth = 2;
  if (m.lines) { g.setLineDash(dashes[p.look.dash]); g.beginPath(); g.moveTo(0, 7); g.lineTo(wide, 7); g.stroke(); g.setLineDash([]); }
  drawMark(g, lookOfMark(m, p), wide / 2, 7, 4.5);
  return canvas;
};
const fillKey = ({ key, m }) => {
  const first = new Map();
  for (const p of m.points || []) if (!first.has(p.spec)) first.set(p.spec, p);
  refill(key, ...[...first].slice(0, KEYS).map(([spec, p]) => element("button", {
    type: "button", spec, "aria-pressed": view.pins.includes(spec), on: { click: () => pin(spec) } }, swatch(m, p), ` ${spec}`)),
    ...(first.size > KEYS ? [element("span", { className: "soft" }, `and ${first.size - KEYS} more`)] : []));
};

// The ends of an error bar. On a logarithmic axis a low end far below its point is left outside, like one of 0 or less.
const endsOf = (v, length, log) => length ? [v + length, v - length].filter(e => !log || e > v / 10) : [];
// The axes of a model, with room for its bars and bands, and the specs of the points that a logarithmic axis cannot show.
const axesOf = m => {
  const bars = m.lines || m.points.length <= SPECKS ? () => true : p => view.pins.includes(p.spec);
  const xs = [], ys = [], without = new Set();
  for (const p of m.points) {
    if (m.xlog && !(p.x > 0) || m.ylog && !(p.y > 0)) without.add(p.spec);
    else {
      xs.push(p.x); ys.push(p.y);
      if (bars(p)) { xs.push(...endsOf(p.x, p.half * p.xse, m.xlog)); ys.push(...endsOf(p.y, p.half * p.yse, m.ylog)); }
    }
  }
  for (const line of m.lines || []) for (const p of line.band || []) ys.push(p.y);
  return { x: axis(xs, m.xlog), y: axis(ys, m.ylog), without: [...without] };
};
const drawPoints = (c, g, area, to) => {
  const { m, px, py, pins } = c, { points } = m, pinned = pins.length > 0, isPinned = p => pinned && pins.includes(p.spec);
  const mark = (i, radius) => {
    const p = points[i];
    if (Number.isNaN(px[i]) || m.lines && !p.marked) return;
    g.fillStyle = g.strokeStyle = inks.of(p.look.colour);
    g.lineWidth = 1.5;
    drawBars(g, area, to, p);
    drawMark(g, lookOfMark(m, p), px[i], py[i], radius);
  };
  g.globalAlpha = pinned ? 0.3 : 1;
  if (points.length > SPECKS && !m.lines) drawSpecks(g, c.width, c.height, points, px, py, isPinned);
  else for (let i = 0; i < points.length; i++) if (!isPinned(points[i])) mark(i, 4.5);
  g.globalAlpha = 1;
  for (let i = 0; pinned && i < points.length; i++) if (isPinned(points[i])) mark(i, 6);
};
const fit = c => {
  c.width = c.frame.clientWidth; c.height = Math.round(Math.min(460, Math.max(280, c.width * 0.5)));
  c.frame.style.height = `${c.height}px`;
  for (const canvas of [c.below, c.above]) { canvas.style.width = `${c.width}px`; canvas.style.height = `${c.height}px`; }
};
// Draws the model. Returns why there is nothing to see, or null.
const drawModel = c => {
  const { m } = c;
  if (m.why) return m.why;
  fit(c);
  const area = areaOf(c.width, c.height), { x, y, without } = axesOf(m);
  contextOf(c.above, c.width, c.height);
  if (!x || !y) return "No value of both fields can be drawn.";
  c.why.textContent = without.length ? `Not on a logarithmic axis, since a value is 0 or less: ${visible(without.join(", "))}.` : "";
  const to = placing(area, x, y);
  c.px = new Float64Array(m.points.length).fill(NaN); c.py = new Float64Array(m.points.length).fill(NaN);
  for (const [i, p] of m.points.entries()) if (x.good(p.x) && y.good(p.y)) [c.px[i], c.py[i]] = to(p);
  // A pin that the chart does not show dims nothing in it.
  const drawn = view.pins.length ? new Set(m.points.filter((_, i) => !Number.isNaN(c.px[i])).map(p => p.spec)) : null;
  c.pins = view.pins.filter(p => drawn.has(p));
  c.paint = canvas => {
    const g = contextOf(canvas, c.width, c.height);
    drawAxes(g, area, x, y, m);
    const lines = m.lines || [], places = lines.map(line => line.points.map(to));
    // A line that others cover is wider than they are, so that it is seen.
    for (const [i, line] of lines.entries())
      drawLine(g, to, line, c.pins.length && !c.pins.includes(line.spec), 2 + 3 * Math.min(4, coveringOf(places, i)));
    for (const all of m.joined || []) {
      const points = all.filter(p => x.good(p.x) && y.good(p.y));
      drawLine(g, to, { look: { ...all[0].look, dash: 0 }, points }, c.pins.length && !points.some(p => c.pins.includes(p.spec)), 1);
    }
    g.globalAlpha = 1;
    drawPoints(c, g, area, to);
  };
  c.paint(c.below);
  return null;
};
// The copy for printers, on which canvases stay empty.
const copyChart = c => {
  if (!c.width || c.frame.hidden) return;
  const screen = inks, canvas = screen === LIGHT ? c.below : element("canvas");
  inks = LIGHT;
  if (canvas !== c.below) c.paint(canvas);
  inks = screen;
  c.paper.src = canvas.toDataURL();
};

// The place of the tip of point i, {left, top}: beside the point, above or below it where the tip covers fewer other points there,
// else at an edge of the axes.
const placeOfTip = ({ tip, px, py, width, height }, i) => {
  const { offsetWidth: wide, offsetHeight: tall } = tip, x = px[i], y = py[i], { top: first, bottom } = areaOf(width, height);
  const lefts = [x + 14, x - 14 - wide].filter(l => l >= 0 && l + wide <= width);
  if (!lefts.length) lefts.push(Math.max(0, Math.min(x + 14, width - wide)));
  const tops = [y - 10, y + 10 - tall, y + 14, y - 14 - tall, first, bottom - tall].map(t => Math.max(0, Math.min(t, height - tall)));
  const places = tops.flatMap(top => lefts.map(left => ({ left, top, covered: 0 })));
  for (let k = 0; px.length <= SPECKS && k < px.length; k++)
    for (const p of places) p.covered += px[k] > p.left - 5 && px[k] < p.left + wide + 5 && py[k] > p.top - 5 && py[k] < p.top + tall + 5;
  return places.reduce((best, p) => p.covered < best.covered ? p : best);
};
// Rings point i and shows its tip, which a screen reader reads if `speak`; -1: none. A line leads to a tip that is not beside the point.
const lookAt = (c, i, speak) => {
  const { tip, spoken, px, py, width, height } = c, g = c.above.getContext("2d");
  c.at = i;
  g.clearRect(0, 0, width, height);
  tip.hidden = i < 0;
  if (i < 0) { spoken.textContent = ""; return; }
  const lines = c.say(c.m.points[i], c.m);
  g.strokeStyle = inks.ink; g.lineWidth = 2;
  g.beginPath(); g.arc(px[i], py[i], 9, 0, 7); g.stroke();
  tip.replaceChildren(...lines.map(t => element("div", {}, t)));
  const { left, top } = placeOfTip(c, i), x = px[i] < left ? left : left + tip.offsetWidth;
  const y = Math.max(top, Math.min(py[i], top + tip.offsetHeight)), away = Math.hypot(x - px[i], y - py[i]);
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
  if (away > 24) {
    g.lineWidth = 1; g.beginPath(); g.moveTo(px[i] + 9 * (x - px[i]) / away, py[i] + 9 * (y - py[i]) / away); g.lineTo(x, y); g.stroke();
  }
  if (speak) spoken.textContent = visible(lines.join(", "));
};
const drawChart = c => {
  const was = c.m.points?.[c.at], last = c.at;
  c.m = c.model();
  c.frame.hidden = Boolean(c.m.why);
  c.tip.hidden = true; c.at = -1; c.order = null;
  fillKey(c);
  const why = drawModel(c);
  c.frame.hidden = why !== null;
  if (why !== null) { c.why.textContent = why; c.spoken.textContent = ""; return; }
  clearTimeout(c.copying);
  c.copying = setTimeout(() => copyChart(c), 300);
  const same = c.m.points[last];
  if (was && same && same.spec === was.spec && same.x === was.x && same.y === was.y && !Number.isNaN(c.px[last])) lookAt(c, last, false);
  else c.spoken.textContent = "";
};

const nearest = ({ above, px, py }, event) => {
  const box = above.getBoundingClientRect();
  let best = -1, least = 24 * 24;
  for (let i = 0; i < px.length; i++) {
    const dx = px[i] - (event.clientX - box.left), dy = py[i] - (event.clientY - box.top), d = dx * dx + dy * dy;
    if (d < least) { least = d; best = i; }
  }
  return best;
};
// The point before or after the one looked at, from left to right.
const neighbour = (c, step) => {
  const { px, py } = c;
  c.order ||= Array.from(px.keys()).filter(i => !Number.isNaN(px[i])).sort((a, b) => px[a] - px[b] || py[a] - py[b]);
  const now = c.order.indexOf(c.at), { length } = c.order;
  return c.order[now < 0 ? (step > 0 ? 0 : length - 1) : (now + step + length) % length] ?? -1;
};
const onKey = (c, event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], to = step ? neighbour(c, step) : -1;
  if (to >= 0) lookAt(c, to, true);
  else if (event.key === "Enter" && c.at >= 0) pin(c.m.points[c.at].spec);
  else if (event.key === "Escape") lookAt(c, -1, false);
  else return;
  event.preventDefault();
};

// model(): {x, y: columns, xlog, ylog, points: {x, y, look, marked, spec, xse, yse, half}[], lines: {look, spec, points, band}[]},
// or {why} where there is nothing to draw. A point's error bars are half * xse and half * yse long on each side;
// a line's band is the outline of an area. say(point, model): the lines of the tip.
const chart = (name, model, say) => {
  const below = element("canvas"), above = element("canvas", { tabIndex: 0, role: "img", "aria-label": name });
  const paper = element("img", { className: "paper", alt: name });
  const tip = element("div", { className: "tip", hidden: true }), spoken = element("p", { className: "spoken", "aria-live": "polite" });
  const frame = element("div", { className: "chart" }, below, above, paper, tip);
  const why = element("p", { className: "soft" }), key = element("div", { className: "key" });
  const none = new Float64Array(0);
  const c = { below, above, paper, tip, spoken, frame, why, key, model, say,
              m: {}, px: none, py: none, pins: [], order: null, at: -1, width: 0, height: 0, copying: 0 };
  above.addEventListener("pointermove", event => { const i = nearest(c, event); if (i !== c.at) lookAt(c, i, false); });
  above.addEventListener("pointerleave", () => lookAt(c, -1, false));
  above.addEventListener("click", event => { const i = nearest(c, event); if (i >= 0) pin(c.m.points[i].spec); });
  above.addEventListener("keydown", event => onKey(c, event));
  const draw = () => drawChart(c);
  new ResizeObserver(() => { if (!matchMedia("print").matches && frame.clientWidth !== c.width && frame.clientWidth) draw(); }).observe(frame);
  return { box: element("div", { className: "drawn" }, frame, key, why, spoken), draw, copy: () => copyChart(c) };
};
