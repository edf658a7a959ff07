// explore_chart.js -- a chart: axes, points or lines, and a layer above them for the point under the pointer.
//
// Charts are canvases, since a result may have 100,000 records. Arrow keys move over the points, and a live region reads
// each point.

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
const INK = "#1d2126", LINE = "#d9dee4", SPECKS = 3000;

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
  let m = {}, px = new Float64Array(0), py = px, order = null, at = -1, width = 0, height = 0, copying = 0;
  const copy = () => { if (width && !frame.hidden) paper.src = below.toDataURL(); };

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
  const drawLine = (g, to, line) => {
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
  };
  // Squares for very many points. One over another of the same look is left out.
  const specks = (g, points, chosen) => {
    const top = new Array(width * height);
    let colour = "";
    for (let i = 0; i < points.length; i++) {
      const { look } = points[i], x = Math.round(px[i]), y = Math.round(py[i]), at = y * width + x;
      if (Number.isNaN(px[i]) || top[at] === look || chosen(points[i])) continue;
      top[at] = look;
      if (look.colour !== colour) g.fillStyle = colour = look.colour;
      g.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
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
    const points = m.points, xs = [], ys = [], without = new Set();
    for (const p of points) {
      if (m.xlog && !(p.x > 0) || m.ylog && !(p.y > 0)) without.add(p.spec);
      else { xs.push(p.x); ys.push(p.y); }
    }
    const x = axis(xs, m.xlog), y = axis(ys, m.ylog);
    if (without.size) why.textContent = `Not on a logarithmic axis, since a value is 0 or less: ${[...without].join(", ")}.`;
    if (!x || !y) { frame.hidden = true; why.textContent = "No value of both fields can be drawn."; spoken.textContent = ""; return; }
    axes(g, x, y);
    const to = place(x, y), pinned = view.pins.length > 0, chosen = p => pinned && view.pins.includes(p.spec);
    for (const line of m.lines || []) drawLine(g, to, line);
    px = new Float64Array(points.length).fill(NaN); py = new Float64Array(points.length).fill(NaN);
    for (const [i, p] of points.entries()) if (x.good(p.x) && y.good(p.y)) [px[i], py[i]] = to(p);
    const mark = (i, large) => {
      const p = points[i];
      if (Number.isNaN(px[i]) || m.lines && !p.marked) return;
      g.fillStyle = g.strokeStyle = p.look.colour;
      g.lineWidth = 1.5;
      bars(g, to, p);
      drawMark(g, m.lines ? { ...p.look, dash: 0 } : p.look, px[i], py[i], large ? 6 : 4.5);
    };
    g.globalAlpha = pinned ? 0.3 : 1;
    if (points.length > SPECKS && !m.lines) specks(g, points, chosen);
    else for (let i = 0; i < points.length; i++) if (!chosen(points[i])) mark(i, false);
    g.globalAlpha = 1;
    for (let i = 0; pinned && i < points.length; i++) if (chosen(points[i])) mark(i, true);
    clearTimeout(copying);
    copying = setTimeout(copy, 300);
    order = null;
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
    if (step && !order) order = Array.from(px.keys()).filter(i => !Number.isNaN(px[i])).sort((a, b) => px[a] - px[b] || py[a] - py[b]);
    if (step && order.length) {
      const now = order.indexOf(at);
      focus(order[now < 0 ? (step > 0 ? 0 : order.length - 1) : (now + step + order.length) % order.length], true);
    } else if (event.key === "Enter" && at >= 0) pin(m.points[at].spec);
    else if (event.key === "Escape") focus(-1, false);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => { if (!matchMedia("print").matches && frame.clientWidth !== width && frame.clientWidth) draw(); }).observe(frame);
  return { box: element("div", { className: "drawn" }, frame, key, why, spoken), draw, copy };
};
