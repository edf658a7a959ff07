// explore_canvas.js -- draws the parts of a chart on a canvas: marks, axes, lines, error bars, and points in their thousands.
//
// g is the context of a canvas, area the rectangle of the axes, {left, right, top, bottom}, in CSS pixels, and to(p) the place of a point.

// The marks and dashes of figures (plot_page.c), in their order.
const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [8, 3, 2, 3, 2, 3]];
// Codecs' colours are chosen for white. On a dark page their lightness (HSL) is turned round, so that dark ones become
// light, and they are mixed with white, so that light ones stay visible; the hues stay. Printed pages are white.
const turned = colour => {
  const rgb = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16)), shift = 255 - Math.max(...rgb) - Math.min(...rgb);
  return `rgb(${rgb.map(c => Math.round(255 - 0.7 * (255 - c - shift))).join(" ")})`;
};
const LIGHT = { ink: "#1d2126", line: "#d9dee4", paper: "#fff", of: colour => colour };
const DARK = { ink: "#e4e7eb", line: "#363d46", paper: "#16191d", of: turned };
const darkMode = matchMedia("(prefers-color-scheme: dark)");
let inks = darkMode.matches ? DARK : LIGHT;

const polygon = (g, x, y, corners) => { for (const [i, [dx, dy]] of corners.entries()) g[i ? "lineTo" : "moveTo"](x + dx, y + dy); g.closePath(); };
const shapes = [
  (g, x, y, r) => g.arc(x, y, r, 0, 7),
  (g, x, y, r) => g.rect(x - r, y - r, 2 * r, 2 * r),
  (g, x, y, r) => polygon(g, x, y, [[0, -r], [r, r], [-r, r]]),
  (g, x, y, r) => polygon(g, x, y, [[0, -r], [r, 0], [0, r], [-r, 0]]),
  (g, x, y, r) => polygon(g, x, y, [[0, r], [r, -r], [-r, -r]]),
  (g, x, y, r) => { for (const s of [-1, 1]) polygon(g, x, y, [[-r, s * r - r / 5], [-r, s * r + r / 5], [r, -s * r + r / 5], [r, -s * r - r / 5]]); },
];
// Marks of one shape and colour differ in their filling, lines of one colour in their dashes, by the look's `dash`: full,
// hollow, hollow with a dot, full with a hole, full with a bar.
const dot = (g, x, y, r) => { g.beginPath(); g.arc(x, y, r, 0, 7); g.fill(); };
const drawMark = (g, { mark, dash, colour }, x, y, r) => {
  const hollow = dash === 1 || dash === 2;
  const own = inks.of(colour);
  g.strokeStyle = own; g.fillStyle = hollow ? inks.paper : own; g.lineWidth = 1.5;
  g.beginPath(); shapes[mark](g, x, y, r); g.fill();
  if (hollow) g.stroke();
  g.fillStyle = hollow ? own : inks.paper;
  if (dash === 2) dot(g, x, y, r / 3);
  if (dash === 3) dot(g, x, y, r / 2.5);
  if (dash === 4) g.fillRect(x - r, y - r / 5, 2 * r, r / 2.5);
};

const contextOf = (canvas, width, height) => {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  g.font = "12px system-ui, sans-serif";
  return g;
};
const areaOf = (width, height) => ({ left: 68, right: width - 14, top: 12, bottom: height - 46 });
const placing = ({ left, right, top, bottom }, x, y) => p => [left + x.at(p.x) * (right - left), bottom - y.at(p.y) * (bottom - top)];

const drawAcross = (g, { left, right, top, bottom }, x, column, log) => {
  g.textAlign = "center"; g.textBaseline = "top";
  for (const t of x.ticks) {
    const at = left + x.at(t) * (right - left);
    g.beginPath(); g.moveTo(at, top); g.lineTo(at, bottom); g.stroke();
    g.fillText(shown(column, t), at, bottom + 6);
  }
  g.fillText(visible(column.heading) + (log ? " (log)" : ""), (left + right) / 2, bottom + 26);
};
const drawUp = (g, { left, right, top, bottom }, y, column, log) => {
  g.textAlign = "right"; g.textBaseline = "middle";
  for (const t of y.ticks) {
    const at = bottom - y.at(t) * (bottom - top);
    g.beginPath(); g.moveTo(left, at); g.lineTo(right, at); g.stroke();
    g.fillText(shown(column, t), left - 6, at);
  }
  g.save();
  g.translate(12, (top + bottom) / 2); g.rotate(-Math.PI / 2); g.textAlign = "center";
  g.fillText(visible(column.heading) + (log ? " (log)" : ""), 0, 0);
  g.restore();
};
const drawAxes = (g, area, x, y, m) => {
  g.strokeStyle = inks.line; g.fillStyle = inks.ink; g.lineWidth = 1;
  drawAcross(g, area, x, m.x, m.xlog);
  drawUp(g, area, y, m.y, m.ylog);
};
const drawBars = (g, { left, right, top, bottom }, to, p) => {
  g.save();
  g.beginPath(); g.rect(left, top, right - left, bottom - top); g.clip();
  for (const [dx, dy] of [[p.half * (p.xse || 0), 0], [0, p.half * (p.yse || 0)]]) {
    const low = { x: p.x - dx, y: p.y - dy }, high = { x: p.x + dx, y: p.y + dy };
    if (!(dx || dy)) continue;
    g.beginPath(); g.moveTo(...to(low)); g.lineTo(...to(high)); g.stroke();
  }
  g.restore();
};
const path = (g, to, points) => {
  g.beginPath();
  for (const [i, p] of points.entries()) g[i ? "lineTo" : "moveTo"](...to(p));
};
// How many of the lines drawn after line i lie on it at half of its points or more; places[i]: the places of its points.
const coveringOf = (places, i) => {
  const own = places[i], near = (p, q) => q && Math.abs(p[0] - q[0]) < 2 && Math.abs(p[1] - q[1]) < 2;
  return places.slice(i + 1).filter(other => 2 * own.filter((p, k) => near(p, other[k])).length >= own.length).length;
};
const drawLine = (g, to, line, dim, width) => {
  g.globalAlpha = dim ? 0.25 : 1; g.strokeStyle = g.fillStyle = inks.of(line.look.colour); g.lineWidth = width;
  if (line.band) {
    g.save(); g.globalAlpha *= 0.2; path(g, to, line.band);
    g.fill(); g.restore();
  }
  g.setLineDash(dashes[line.look.dash]);
  path(g, to, line.points);
  g.stroke();
  g.setLineDash([]);
};
// Squares for very many points, at px and py. One over another of the same look is left out.
const drawSpecks = (g, width, height, points, px, py, without) => {
  const top = new Array(width * height);
  let colour = "";
  for (let i = 0; i < points.length; i++) {
    const { look } = points[i], x = Math.round(px[i]), y = Math.round(py[i]), at = y * width + x;
    if (Number.isNaN(px[i]) || top[at] === look || without(points[i])) continue;
    top[at] = look;
    if (look.colour !== colour) g.fillStyle = inks.of(colour = look.colour);
    g.fillRect(x - 1.5, y - 1.5, 3, 3);
  }
};
