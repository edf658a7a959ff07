// explore_view.js -- what the reader has chosen, kept in the fragment of the address, so that a view can be sent as a link.

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
