#!/usr/bin/env python3
"""page.py PAGE.html [JOB] -- opens a page made by `atomo-bench report` in headless Chromium and clicks as a reader
would.

Clicks every heading of every table twice and compares the order of the rows with Python's: numbers by value, texts by
their characters, missing values last. The browser's console must be empty, no network may be used, and no script in
the data may run. The script speaks WebDriver to chromedriver (Debian: chromium-driver); without chromedriver it exits
with 77.
"""
import functools
import json
import os
import pathlib
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
            except (urllib.error.URLError, ConnectionError):
                if self.driver.poll() is not None:
                    raise
                time.sleep(0.1)
        self.base += "/" + answer["sessionId"]

    def post(self, what, body):
        request = urllib.request.Request(self.base + what, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def run(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.base, method="DELETE"), timeout=30)
        finally:
            self.driver.terminate()
            self.driver.wait(30)


CELLS = """
const table = document.querySelectorAll("table")[arguments[0]], column = arguments[1];
return Array.from(table.tBodies[0].rows, row => {
  const cell = row.cells[column];
  return cell.classList.contains("none") ? null : cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
});"""
CLICK = """
const heading = document.querySelectorAll("table")[arguments[0]].tHead.rows[0].cells[arguments[1]];
heading.querySelector("button").click();
return [heading.getAttribute("aria-sort"), heading.closest("tr").querySelectorAll("[aria-sort]").length];"""


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
    tables = browser.run("return Array.from(document.querySelectorAll('table'), t => t.tHead.rows[0].cells.length)")
    assert tables, "there is no table"
    for table, columns in enumerate(tables):
        for column in range(columns):
            for direction in "ascending", "descending":
                before = browser.run(CELLS, table, column)
                said = browser.run(CLICK, table, column)
                after = browser.run(CELLS, table, column)
                where = f"table {table}, column {column}, {direction}"
                assert said == [direction, 1], f"{where}: aria-sort says {said}"
                assert after == wanted(before, direction == "descending"), f"{where}: {after}"
                clicks += 1
    return clicks


def check_quiet(browser, page):
    console = browser.log("browser")
    assert not console, f"the console says {console}"
    asked = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    outside = {u for u in urls if u != page and not u.startswith("data:")}
    assert page in urls and not outside, f"requests: {outside}"
    assert browser.run("return document.title") and not browser.run("return 'alerted' in window"), "a file's script ran"
    wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"the page is {wide} pixels too wide"


def main():
    page = pathlib.Path(sys.argv[1]).resolve().as_uri()
    if not shutil.which("chromedriver") or not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("skip: no chromedriver and Chromium here")
        return 77
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as room:
        browser = Browser(room)
        try:
            browser.post("/url", {"url": "about:blank"})
            browser.log("performance")  # removes the log of the browser's own first page
            browser.post("/url", {"url": page})
            clicks = check_tables(browser)
            check_quiet(browser, page)
        finally:
            browser.close()
    print(f"{clicks} clicks, each table in order; no word on the console, no request to anywhere")
    return 0


if __name__ == "__main__":
    sys.exit(main())
