#!/usr/bin/env python3
"""today.py table|claims|figure FOLDER [FIGURE.svg] -- what the results of plots/today.list in FOLDER say.

`table` prints a row for each run, means over its seeds with standard errors; `claims` the differences that papers state, paired by seed,
with 95 % intervals of Student's t; `figure` draws loss against bytes sent, with the front, up to 5 % above the median
loss (needs gnuplot).
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys

EXCHANGES = {"every": "every step", "demo": "every step, signs", "h16": "every 16 steps", "h30": "every 30 steps", "loco": "every 30 steps, averaged",
             "streaming": "streaming, every 30 steps"}
TWO, LOCO = "ef:decay=0.9+zipml:levels=4,bucket=0,solver=statistical", "ef:decay=0.95+chunktopk:k=64,values=2bit"
STUDENT = {2: 12.706, 3: 4.303}  # by number of seeds
CLAIMS = [  # text, the cell it is about, the cell it is compared with
    ("MuLoCo: two bits with error feedback lose next to nothing", ("muon-h30", TWO), ("muon-h30", "none")),
    ("MuLoCo: with 8 times fewer bits no worse than DiLoCo with AdamW", ("muon-h30", TWO), ("adamw-h30", "none")),
    ("the same two bits with AdamW", ("adamw-h30", TWO), ("adamw-h30", "none")),
    ("Streaming DiLoCo: the peak falls to a third at equal loss", ("adamw-streaming", "none"), ("adamw-h30", "none")),
    ("SparseLoCo: no worse than DiLoCo", ("adamw-loco", LOCO), ("adamw-h30", "none")),
]


def cells(folder):
    """{(name, compressor): {seed: (test loss, bytes of the run, bytes of the largest exchange)}}"""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        name = path.stem.removesuffix("-more")
        if name.partition("-")[2] not in EXCHANGES:
            continue
        peak = {}
        for record in json.loads(path.read_text())["results"]:
            key = (name, record["compressor"]), record["seed"]
            peak[key] = max(peak.get(key, 0), record["bytes_up"] if record["record"] == "step" else 0)
            if record["record"] == "summary":
                found.setdefault(key[0], {})[key[1]] = record["test_loss"], record["bytes_up"], peak[key]
    return found


def mean_of(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0
    return f"{statistics.mean(values):.4f}" + (f" ± {error:.4f}" if error else "")


def order(item):
    (name, compressor), _ = item
    optimizer, _, exchange = name.partition("-")
    return optimizer, list(EXCHANGES).index(exchange), compressor != "none", compressor


def table(found):
    base = found["adamw-every", "none"][1]
    print("| optimizer | exchange | compressor | test loss | seeds | above | sent | peak | fewer bytes |")
    print("| :--- | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for (name, compressor), seeds in sorted(found.items(), key=order):
        optimizer, _, exchange = name.partition("-")
        loss, sent, peak = seeds[1]
        print(f"| {'signsgd' if exchange == 'demo' else optimizer} | {EXCHANGES[exchange]} | {compressor} | {mean_of([s[0] for s in seeds.values()])} | {len(seeds)} "
              f"| {round(100 * (loss / base[0] - 1), 1) + 0:.1f} % | {sent / 1e6:.3g} MB | {peak / 1e6:.3g} MB | {base[1] / sent:.3g} |")


def claims(found):
    print("| claim | loss | of the other | difference | 95 % interval | fewer bytes | lower peak |")
    print("| :--- | ---: | ---: | ---: | :--- | ---: | ---: |")
    for text, one, other in CLAIMS:
        seeds = sorted(set(found[one]) & set(found[other]))
        differences = [found[one][s][0] - found[other][s][0] for s in seeds]
        middle = statistics.mean(differences)
        half = STUDENT[len(seeds)] * statistics.stdev(differences) / math.sqrt(len(seeds)) if len(seeds) > 1 else math.nan
        print(f"| {text} | {mean_of([found[one][s][0] for s in seeds])} | {mean_of([found[other][s][0] for s in seeds])} | {middle:+.4f} "
              f"| {middle - half:.4f} to {middle + half:.4f} | {found[other][1][1] / found[one][1][1]:.3g} | {found[other][1][2] / found[one][1][2]:.3g} |")


def figure(found, path):
    points, front, least = [], [], math.inf
    for (name, compressor), seeds in found.items():
        points.append((seeds[1][1] / 1e6, seeds[1][0], name.split("-")[0]))
    for point in sorted(points):
        if point[1] < least:
            least = point[1]
            front.append(point)
    blocks = [[p for p in points if p[2] == "adamw"], [p for p in points if p[2] == "muon"], front]
    data = "".join(f"$d{i} << end\n" + "".join(f"{x} {y}\n" for x, y, _ in block) + "end\n" for i, block in enumerate(blocks))
    script = f"""set terminal svg size 486,324 fixed font 'Helvetica,Arial,sans-serif,10' background rgb '#ffffff'
set output '{path}'
set border 3
set tics out nomirror
set logscale x
set yrange [*:{1.05 * statistics.median(y for _, y, _ in points)}]
set xlabel 'sent by a worker, MB'
set ylabel 'test loss, nats per token'
set key top right
{data}plot $d2 with lines lc rgb '#777777' dt (1,2.5) title 'front', $d0 with points pt 7 ps 0.6 lc rgb '#0072b2' title 'AdamW and signs', $d1 with points pt 5 ps 0.6 lc rgb '#c14a00' title 'Muon'
"""
    subprocess.run(["gnuplot"], input=script, encoding="utf-8", check=True)


def main(job, folder, *rest):
    {"table": table, "claims": claims, "figure": figure}[job](cells(folder), *rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
