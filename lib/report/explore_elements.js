// explore_elements.js -- elements and controls.

// A text with U+FFFD for the characters that text_steers of base/text.h names: some would reverse the letters of a name.
const visible = text => text.replace(/[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, "\ufffd");
const element = (name, properties = {}, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key === "on") for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
    else if (key.startsWith("aria-") || key === "for" || key === "role" || key === "scope") e.setAttribute(key, visible(String(value)));
    else e[key] = value;
  e.append(...children.map(c => typeof c === "string" ? visible(c) : c));
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
