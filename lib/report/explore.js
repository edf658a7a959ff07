// explore.js -- the page's explorer: its controls, and what they change.
//
// The build joins explore_*.js and this file to one script, in one block. Without the script the page has its tables and
// figures.

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
// What a choice changes; one that is not named here, such as a filter, changes the whole explorer.
const parts = { heat };
for (const name of ["x", "y", "xlog", "ylog"]) parts[name] = scatter.draw;
for (const name of ["cx", "cy"]) parts[name] = curves.draw;
const choose = (name, value) => {
  if (name === "set") for (const field of ["x", "y", "heat"]) view[field] = usual[field];
  view[name] = value;
  (parts[name] || show)();
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
      row(labelled("codec", controls.find), labelled("family", controls.family), labelled("promise", controls.flag),
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
  const colours = printing => { inks = darkMode.matches && !printing ? DARK : LIGHT; show(); };
  for (const event of ["beforeprint", "afterprint"])
    addEventListener(event, () => { colours(event === "beforeprint"); scatter.copy(); curves.copy(); });
  darkMode.addEventListener("change", () => colours(matchMedia("print").matches));
}
