#!/usr/bin/env python3
"""page.py PAGE.html [TEXT...] [PAGE.html [TEXT...]]... -- opens pages made by `atomo-bench report` in headless Chromium and clicks as a reader would.

Clicks every heading of every table twice and compares the order of the rows with Python's: numbers by value, texts by
their characters, missing values last. Each TEXT must stand at a point of the training chart; "first:TEXT" at one of the first chart.
Pinning keeps the keyboard's focus, each tensor has points, different specs look different, and bars end at a logarithmic axis.
No text has characters that reverse the direction of writing or have no width. The TEXT "answers" asks for more:
in the explorer moves the pointer to a point, pins its compressor with a click and with the keyboard, filters,
and opens the view's address anew; with JavaScript off the explorer is hidden and the tables are there.
The browser's console must be empty, no network may be used, and no script in the data may run.
The script speaks WebDriver to chromedriver (Debian: chromium-driver); without chromedriver it exits with 77.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


class Browser:
    def __init__(self, room):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env={**os.environ, "HOME": room})
        self.base = f"http://127.0.0.1:{port}/session"
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                f"--user-data-dir={room}/profile", "--window-size=1280,900"]
        options = {"browserName": "chrome", "goog:chromeOptions": {"args": args},
                   "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = None
        while not answer: # waits until the driver listens, or has ended
            try:
                answer = self.post("", {"capabilities": {"alwaysMatch": options}})
            except (urllib.error.URLError, ConnectionError) as e:
                if self.driver.poll() is not None or isinstance(e, urllib.error.HTTPError): # the browser does not start
                    raise
                time.sleep(0.1)
        self.base += "/" + answer["sessionId"]

    def post(self, what, body):
        request = urllib.request.Request(self.base + what, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def run(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def devtools(self, command, **params):
        self.post("/goog/cdp/execute", {"cmd": command, "params": params})

    def point(self, x, y, click=False):
        """Moves the mouse to a place of the window, and clicks there."""
        actions = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] if click else []
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                                            "actions": actions}]})

    def press(self, key):
        self.post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.base, method="DELETE"), timeout=30)
        finally:
            self.driver.terminate()
            self.driver.wait(30)


# Clicks each heading of a table twice; for each click the column's cells before and after, and what aria-sort says.
CLICKS = """
const table = document.querySelectorAll("article table")[arguments[0]];
const cells = column => Array.from(table.tBodies[0].rows, row => {
  const cell = row.cells[column];
  return cell.classList.contains("none") ? null : cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
});
return Array.from(table.tHead.rows[0].cells).flatMap((heading, column) => ["ascending", "descending"].map(direction => {
  const before = cells(column);
  heading.querySelector("button").click();
  const sorts = heading.closest("tr").querySelectorAll("[aria-sort]").length;
  return [column, direction, before, [heading.getAttribute("aria-sort"), sorts], cells(column)];
}));"""


def utf16(text):
    return text.encode("utf-16-be", "surrogatepass")


def compare(x, y):
    if isinstance(x, str) != isinstance(y, str):
        return 1 if isinstance(x, str) else -1
    x, y = (utf16(x), utf16(y)) if isinstance(x, str) else (x, y)
    return (x > y) - (x < y)


def wanted(cells, down):
    there = [c for c in cells if c is not None]
    sign = -1 if down else 1
    there.sort(key=functools.cmp_to_key(lambda x, y: sign * compare(x, y)))
    return there + [None] * (len(cells) - len(there))


def check_tables(browser):
    clicks = 0
    tables = browser.run("return document.querySelectorAll('article table').length")
    assert tables, "there is no table"
    for table in range(tables):
        for column, direction, before, said, after in browser.run(CLICKS, table):
            where = f"table {table}, column {column}, {direction}"
            assert said == [direction, 1], f"{where}: aria-sort says {said}"
            assert after == wanted(before, direction == "descending"), f"{where}: {after}"
            clicks += 1
    return clicks


EXPLORER = """
const of = s => document.querySelector("#explore " + s);
const chart = of(".chart canvas[tabindex]");
const heads = Array.from(document.querySelectorAll("article table"));
const column = t => Array.from(t.tHead.rows[0].cells).findIndex(c => c.title.startsWith("compressor"));
const rows = heads.filter(t => column(t) >= 0).flatMap(t => Array.from(t.tBodies[0].rows, r => [r.cells[column(t)].textContent, r.classList.contains("pinned")]));
const box = chart ? (chart.scrollIntoView({block: "center"}), chart.getBoundingClientRect()) : null;
return {
  hidden: of("h2") === null, hash: location.hash, box: box && [box.left, box.top, box.width, box.height],
  tip: of(".tip") && !of(".tip").hidden ? Array.from(of(".tip").children, d => d.textContent) : null,
  spoken: of(".spoken")?.textContent, key: Array.from(document.querySelectorAll("#explore .key")[0]?.querySelectorAll("button") || [], b => [b.textContent.trim(), b.ariaPressed]),
  marked: [...new Set(rows.filter(r => r[1]).map(r => r[0]))], unmarked: [...new Set(rows.filter(r => !r[1]).map(r => r[0]))],
  pinned: Array.from(document.querySelectorAll("#explore .unpin"), b => b.ariaLabel)};"""
CHOOSE = """
const e = document.getElementById("explore-" + arguments[0]);
e.value = arguments[1];
e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input"));"""
FAMILIES = "return Array.from(document.getElementById('explore-family').options, o => o.value).filter(v => v)"
ARROW, ENTER, ESCAPE = "\ue014", "\ue007", "\ue00c"


# Moves a made-up pointer over the first chart until a tip shows; the pointer's place and the tip.
FIND = """
const canvas = document.querySelector("#explore .chart canvas[tabindex]"), tip = document.querySelector("#explore .tip"), box = canvas.getBoundingClientRect();
for (let y = 20; y < box.height - 46; y += 16)
  for (let x = 72; x < box.width - 14; x += 24) {
    const clientX = Math.round(box.left + x), clientY = Math.round(box.top + y);
    canvas.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY}));
    if (!tip.hidden) { canvas.dispatchEvent(new PointerEvent("pointerleave")); return [clientX, clientY]; }
  }
return null;"""


def find_point(browser):
    """Moves the mouse to a point of the chart; returns its place and the tip."""
    browser.run(EXPLORER)  # brings the chart into the window
    place = browser.run(FIND)
    assert place, "no point of the chart answers the pointer"
    browser.point(*place)
    tip = browser.run("const t = document.querySelector('#explore .tip'), b = t.getBoundingClientRect(); "
                      "return t.hidden ? null : [t.firstChild.textContent, b.left, b.right]")
    assert tip, f"the point at {place} does not answer the mouse"
    # a tip stands 14 pixels beside its point, which is at most 24 pixels from the pointer
    away = min(abs(tip[1] - 14 - place[0]), abs(tip[2] + 14 - place[0]))
    assert away <= 25, f"the tip of {tip[0]} is {away} pixels from the pointer"
    return *place, tip[0]


def check_explorer(browser, page):
    x, y, spec = find_point(browser)
    browser.point(x, y, click=True)
    now = browser.run(EXPLORER)
    assert now["pinned"] == [f"unpin {spec}"] and now["marked"] in ([spec], []) and spec not in now["unmarked"], f"pinned: {now}"
    assert [name for name, pressed in now["key"] if pressed == "true"] == [spec] and "pin=" in now["hash"], f"key: {now}"
    browser.post("/url", {"url": "about:blank"})
    browser.post("/url", {"url": page + now["hash"]})
    again = browser.run(EXPLORER)
    assert again["pinned"] == now["pinned"] and again["key"] == now["key"], f"the address shows another view: {again}"
    browser.run("document.querySelector('#explore .unpin').click(); document.querySelector('#explore .chart canvas[tabindex]').focus()")
    browser.press(ARROW)
    heard = browser.run(EXPLORER)
    assert heard["tip"] and heard["spoken"] == ", ".join(heard["tip"]) and not heard["pinned"], f"arrow key: {heard}"
    browser.press(ENTER)
    assert browser.run(EXPLORER)["pinned"] == [f"unpin {heard['tip'][0]}"], "Enter does not pin"
    browser.run("document.querySelector('#explore .unpin').click(); document.querySelector('#explore .chart canvas[tabindex]').focus()")
    browser.press(ESCAPE)
    quiet = browser.run(EXPLORER)
    assert quiet["tip"] is None and quiet["spoken"] == "", f"Escape keeps the tip or the spoken text: {quiet}"
    everything = {name for name, _ in browser.run(EXPLORER)["key"]}
    seen = set()
    for family in browser.run(FAMILIES):
        browser.run(CHOOSE, "family", family)
        names = {name for name, _ in browser.run(EXPLORER)["key"]}
        assert not names & seen, f"{names & seen} in two families"
        seen |= names
    assert seen == everything, f"{everything ^ seen} in no family"
    browser.run(CHOOSE, "family", "")
    browser.run(CHOOSE, "find", spec)
    assert all(spec in name for name, _ in browser.run(EXPLORER)["key"]), "the filter lets others pass"
    browser.run(CHOOSE, "find", "")
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    browser.post("/url", {"url": page})
    plain = browser.run("return [document.getElementById('explore').hidden, document.querySelectorAll('article table tbody tr').length]")
    browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
    assert plain[0] and plain[1] > 0, f"without JavaScript: {plain}"
    browser.post("/url", {"url": page})


LOOKS = """
return Array.from(document.querySelectorAll("script.data"), s => JSON.parse(s.textContent)).map(s => {
  const c = s.columns.find(c => c.name === "compressor");
  return c.texts.map((t, i) => [t, [s.codecs[i].colour, s.codecs[i].mark, s.codecs[i].dash].join(" "), c.index]);
});"""
FOCUS = "const b = document.activeElement; return b.tagName === 'BODY' ? null : (b.ariaLabel || b.textContent).trim()"
# Walks over the points of a chart by the arrow key: for each the lines of its tip; whether one of the chart's lowest
# pixels at the point is in a colour, neither white nor grey.
WALK = """
const chart = Array.from(document.querySelectorAll("#explore .chart")).at(arguments[0]), tip = chart.querySelector(".tip");
const area = chart.querySelector("canvas[tabindex]"), canvas = chart.querySelector("canvas"), scale = devicePixelRatio, box = chart.getBoundingClientRect();
const press = key => area.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const coloured = (x, y, width, height) => {
  const g = Object.assign(document.createElement("canvas"), {width, height}).getContext("2d", {willReadFrequently: true});
  g.drawImage(canvas, -x * scale, -y * scale);
  const d = g.getImageData(0, 0, width, height).data;
  return Array.from({length: d.length / 4}, (_, i) => d.slice(4 * i, 4 * i + 4)).some(([r, g, b, alpha]) => alpha > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 40);
};
const seen = [];
area.focus();
press("Escape");
for (;;) {
  press("ArrowRight");
  const lines = tip.hidden ? [] : Array.from(tip.children, d => d.textContent), at = tip.getBoundingClientRect();
  if (!lines.length || seen.some(s => s.lines.join() === lines.join()))
    return seen;
  const foot = [at.left - box.left - 14, at.right - box.left + 14].some(x => coloured(x - 2, box.height - 46 - 4, 4 * scale, 1));
  seen.push({lines, foot});
}"""


def tips_of(browser, logarithmic=True):
    """Returns the tips of the first chart's points. The bar of an interval that reaches 0 ends at a logarithmic axis; a
    linear axis has room for all bars."""
    points = browser.run(WALK, 0)
    for point in points:
        tip = point["lines"]
        interval = re.fullmatch(r".*: ([0-9.]+) ± ([0-9.]+) \(standard error\)", tip[2])
        if not logarithmic:
            assert not point["foot"], f"a bar runs off the linear axis at the point of {tip}"
        elif interval and float(interval[1]) < 1.9 * float(interval[2]):
            assert point["foot"], f"no bar below the point of {tip}"
    return [point["lines"] for point in points]


def check_views(browser, wanted):
    """Looks, single tensors, the keyboard's focus, rows of the pin table, links within the page, tips of the first chart."""
    results = browser.run(LOOKS)
    looks = {(spec, look) for result in results for spec, look, _ in result}
    assert len({s for s, _ in looks}) == len(looks) == len({l for _, l in looks}), f"looks: {sorted(looks)}"
    hidden = browser.run("return document.body.outerHTML.replace(/<script[^]*?<\\/script>/g, '').replace(/value=\"[^\"]*\"/g, '')"
                         ".match(/.{0,20}[\\x1b\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f].{0,20}/u)")
    assert not hidden, f"characters that cannot be seen: {ascii(hidden)}"
    for tensor in browser.run("return Array.from(document.getElementById('explore-tensor').options, o => o.value)"):
        browser.run(CHOOSE, "tensor", tensor)
        why = browser.run("return document.querySelector('#explore .drawn > .soft').textContent")
        assert "No row passes" not in why, f"tensor {tensor}: {why}"
    browser.run(CHOOSE, "tensor", "all")
    keys = [name for name, _ in browser.run(EXPLORER)["key"]]
    browser.run(CHOOSE, "find", keys[-1].upper())
    assert keys[-1] in [name for name, _ in browser.run(EXPLORER)["key"]], f"{keys[-1].upper()} does not find {keys[-1]}"
    browser.run(CHOOSE, "find", "")
    browser.run("document.querySelector('#explore .key button').focus()")
    browser.press(ENTER)
    assert browser.run(FOCUS) == keys[0], f"a pin moves the focus to {browser.run(FOCUS)}"
    index = results[0][0][2]
    spec = [s for s, _, _ in results[0]].index(keys[0])
    rows = len([i for i in index.split(",") if int(i) == spec]) if index else None
    heads = browser.run("return Array.from(document.querySelectorAll('#explore .unpin')[0].closest('tr').cells, c => c.textContent)")
    assert rows is None or len(heads) == 1 + min(rows, 8), f"{rows} rows of {keys[0]}, columns {heads}"
    assert len(set(heads)) == len(heads), f"columns alike: {heads}"
    browser.run("document.querySelector('nav a').click()")
    time.sleep(0.3)
    assert re.search("pin=.*at=", browser.run("return location.hash")), "a link within the page drops the view"
    browser.run("document.querySelector('#explore .unpin').focus()")
    browser.press(ENTER)
    assert browser.run(FOCUS), "the focus is lost with the last pin"
    names = browser.run("return Array.from(document.querySelectorAll('.scroll'), s => s.getAttribute('role') + s.ariaLabel)")
    assert all(n.startswith("region") and len(n) > len("region") for n in names), f"scrolling regions: {names}"
    browser.run(CHOOSE, "tensor", "*")
    click = "document.getElementById('explore-ylog').click()"
    browser.run(click)
    tips_of(browser, logarithmic=False)
    browser.run(click)
    tips = tips_of(browser)
    for text in wanted:
        assert any(text in line for tip in tips for line in tip), f"no point says {text}: {tips}"


def check_training(browser, wanted):
    """Walks over the points of the training chart: each text of `wanted` is in the tip of one of them, and no other "runs".
    A pinned codec that did not train leaves it as it is."""
    chart = "Array.from(document.querySelectorAll('#explore .chart')).at(-1)"
    click = """const [first, ...rest] = Array.from(document.querySelectorAll("#explore .key"), k => Array.from(k.querySelectorAll("button")));
        const trained = rest.at(-1).map(b => b.textContent.trim()), other = first.find(b => !trained.includes(b.textContent.trim()));
        if (other) other.click(); return Boolean(other) && other.textContent.trim();"""
    before = browser.run(f"return {chart}.querySelector('canvas').toDataURL()")
    absent = browser.run(click)
    assert not absent or browser.run(f"return {chart}.querySelector('canvas').toDataURL()") == before, f"the pinned {absent} changes the training"
    browser.run(click)
    trained = browser.run("""const keys = Array.from(document.querySelectorAll("#explore .key")).at(-1).querySelectorAll("button");
        if (keys.length > 1) keys[0].click(); return keys.length > 1 && keys[0].textContent.trim();""")
    if trained: # otherwise the pictures that are compared above might never differ
        assert browser.run(f"return {chart}.querySelector('canvas').toDataURL()") != before, f"the pinned {trained} leaves the training as it is"
        browser.run("Array.from(document.querySelectorAll('#explore .key')).at(-1).querySelector('button').click()")
    tips = ["\n".join(point["lines"]) for point in browser.run(WALK, -1)]
    assert tips and wanted, "the walk over the points of training has no points, or looks for no text"
    for text in wanted:
        assert any(text in t for t in tips), f"no point of training says {text}: {tips}"
    others = [t for t in tips if re.search(r" in \d+ runs", t) and not any(w in t for w in wanted)]
    assert not others, f"runs joined: {others}"


def check_quiet(browser, page):
    console = browser.log("browser")
    assert not console, f"the console says {console}"
    asked = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    outside = {u for u in urls if u.split("#")[0] not in (page, "about:blank") and not u.startswith("data:")}
    assert page in urls and not outside, f"requests: {outside}"
    assert browser.run("return document.title") and not browser.run("return 'alerted' in window"), "a file's script ran"
    excess = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    wide = browser.run(excess)
    browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
    narrow = browser.run(excess)
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    assert wide <= 0 and narrow <= 0, f"the page is {wide} pixels too wide, on a telephone {narrow}"


def check_page(browser, path, texts):
    page = pathlib.Path(path).resolve().as_uri()
    browser.post("/url", {"url": "about:blank"})
    browser.log("performance")  # removes the log of earlier pages
    browser.post("/url", {"url": page})
    clicks = check_tables(browser)
    first = [t[len("first:"):] for t in texts if t.startswith("first:")]
    training = [t for t in texts if not t.startswith("first:") and t != "answers"]
    if "answers" in texts:
        check_explorer(browser, page)
    check_views(browser, first)
    if training:
        check_training(browser, training)
    check_quiet(browser, page)
    print(f"{path}: {clicks} clicks, each table in order; no word on the console, no request to anywhere", flush=True)


def main():
    if not shutil.which("chromedriver") or not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("skip: no chromedriver and Chromium here")
        return 77
    begins = [i for i, argument in enumerate(sys.argv) if i and argument.endswith(".html")]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as room:
        browser = Browser(room)
        try:
            for begin, end in zip(begins, begins[1:] + [len(sys.argv)]):
                check_page(browser, sys.argv[begin], sys.argv[begin + 1:end])
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
