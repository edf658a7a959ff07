#!/usr/bin/env python3
"""page_speed.py BIN [ROWS] -- the time in which a page of ROWS (100,000) full records opens in headless Chromium, and answers.

Makes records with all columns of `compare`, each of them other numbers, and prints: the page's size, the renderer's processor
time until the first frame, the time of the first choice of an axis, of all tensors' points, and of the pointer's answers. Needs chromium-driver.
"""
import csv
import glob
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from page import Browser, CHOOSE  # noqa: E402

FRAME = "return new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));"
POINTER = """
const chart = document.querySelector("#explore .chart canvas[tabindex]"), box = chart.getBoundingClientRect(), times = [];
for (let i = 0; i < 400; i++) {
  const at = { clientX: box.left + 70 + 37 * i % (box.width - 90), clientY: box.top + 15 + 53 * i % (box.height - 70) }, start = performance.now();
  chart.dispatchEvent(new PointerEvent("pointermove", at));
  document.querySelector("#explore .tip").getBoundingClientRect();
  times.push(performance.now() - start);
}
return [times.reduce((a, b) => a + b) / times.length, Math.max(...times)];"""


def renderers():
    seconds = {}
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if b"--type=renderer" in pathlib.Path(path).read_bytes():
                fields = pathlib.Path(path.replace("cmdline", "stat")).read_text().rsplit(")", 1)[1].split()
                seconds[path] = (int(fields[11]) + int(fields[12])) / 100
        except OSError:
            pass
    return seconds


def make(program, room, rows):
    subprocess.run([program, "synth", "-o", f"{room}/g.h5", "--shape", "40x30", "-q"], check=True)
    subprocess.run([program, "compare", f"{room}/g.h5", "-c", "qsgd", "--repeats", "2", "-q", "-o", f"{room}/one.csv"], check=True)
    with open(f"{room}/one.csv") as f:
        names = csv.DictReader(f).fieldnames
    draw = random.Random(1)
    specs = ["qsgd", "svd", "ef+topk", "terngrad", "eden", "intsgd", "natural", "entry"]
    texts = {"step": lambda i: i // 80, "worker": lambda i: "*", "tensor": lambda i: "*" if i % 10 == 0 else f"layer{i % 10}",
             "compressor": lambda i: specs[i // 10 % 8], "shape": lambda i: "40x30", "kind": lambda i: "fc",
             "travels": lambda i: "to each worker", "n": lambda i: 1200, "repeats": lambda i: 2, "seed": lambda i: 1, "error": lambda i: ""}
    pathlib.Path(f"{room}/page").mkdir()
    with open(f"{room}/page/c.csv", "w") as f:
        write = csv.writer(f)
        write.writerow(names)
        for i in range(rows):
            write.writerow([texts[n](i) if n in texts else repr(draw.lognormvariate(0, 2)) for n in names])
    subprocess.run([program, "report", f"{room}/page", "-q"], check=True)
    return len(names)


def choose(browser, name, value):
    return browser.run(f"const start = performance.now(); {CHOOSE} return performance.now() - start;", name, value)


def main():
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as room:
        columns = make(f"{sys.argv[1]}/atomo-bench", room, rows)
        page = pathlib.Path(f"{room}/page/report.html")
        print(f"{rows} records of {columns} columns, {page.stat().st_size / 1e6:.0f} MB")
        browser = Browser(room)
        try:
            browser.post("/url", {"url": "about:blank"})
            before = renderers()
            browser.post("/url", {"url": page.as_uri()})
            browser.run(FRAME)
            print(f"opens in {max(s - before.get(p, 0) for p, s in renderers().items()):.2f} s of the renderer's processor time")
            print(f"first choice of an axis: {choose(browser, 'y', 'cosine'):.0f} ms")
            print(f"points of all tensors: {choose(browser, 'tensor', 'all'):.0f} ms; another axis: {choose(browser, 'y', 'rel_l2'):.0f} ms")
            mean, most = browser.run(POINTER)
            print(f"the pointer is answered within {mean:.1f} ms on average, {most:.0f} ms at most")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
