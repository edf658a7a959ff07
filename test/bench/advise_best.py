#!/usr/bin/env python3
"""advise_best.py BIN DUMP LINK... -- holds the answer of advise against every codec at every rate.

`advise --all` lists all codecs and rates with their errors. `cost` measures all of them once with 16 workers, and those within half of
the fastest on a link RUNS (3) more times with REPEATS (3) repeats; the least time counts, since other programs only make times longer.
Among those whose error of the mean is at most 0.5, the fastest is the best. For each link the script prints what advise, with its
shortlist, names first, the best, and how much longer the first takes by the times of `cost`. It exits with 1 if one takes over 10 %
longer.
"""
import json
import os
import subprocess
import sys
import tempfile

LIMIT, MOST, NEAR, ROOM = 0.5, 1.10, 1.5, 150  # ROOM: codecs of one call of cost
LIMITLESS = float("inf")


def results(room, *command):
    path = os.path.join(room, "out.json")
    subprocess.run([*command, "-q", "-f", "json", "-o", path, "--force"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path) as f:
        return json.load(f)


def fastest(total, link, codecs):
    return min(total.get((link, c), LIMITLESS) for c in codecs)


def measure(room, program, dump, links, codecs, repeats, total):
    """Lowers total[link, codec] to the milliseconds of an iteration that `cost` measures."""
    for at in range(0, len(codecs), ROOM):
        specs = [word for spec in codecs[at:at + ROOM] for word in ("-c", spec)]
        for r in results(room, program, "cost", dump, *specs, "--link", ",".join(links), "--workers", "16", "--repeats", str(repeats))["results"]:
            at_link = r["link"], r["compressor"]
            if r["total_ms"] is not None:
                total[at_link] = min(r["total_ms"], total.get(at_link, r["total_ms"]))


def main():
    program, dump, links = os.path.join(sys.argv[1], "atomo-bench"), sys.argv[2], sys.argv[3:]
    failed = False
    with tempfile.TemporaryDirectory() as room:
        everything = results(room, program, "advise", dump, "--all", "--link", links[0])["results"]
        good = [r["compressor"] for r in everything if r.get("mean_error") is not None and r["mean_error"] <= LIMIT]
        firsts = {link: results(room, program, "advise", dump, "--link", link) for link in links}
        first = {link: next(r for r in f["results"] if r["rank"] == 1) for link, f in firsts.items()}
        good = sorted({*good, *(f["compressor"] for f in first.values())})
        total = {}
        measure(room, program, dump, links, good, 1, total)
        close = [c for c in good if any(total.get((link, c), LIMITLESS) <= NEAR * fastest(total, link, good) for link in links)
                 or c in {f["compressor"] for f in first.values()}]
        for _ in range(int(os.environ.get("RUNS", "3"))):
            measure(room, program, dump, links, close, int(os.environ.get("REPEATS", "3")), total)
        for link in links:
            chosen = first[link]["compressor"]
            best = min((c for c in good if (link, c) in total), key=lambda c: total[link, c])
            ratio = total[link, chosen] / total[link, best]
            failed = failed or ratio > MOST
            print(f"| {os.path.basename(dump)} | {link} | {len(everything)} | `{chosen}` | {total[link, chosen]:.4g} | `{best}` | "
                  f"{total[link, best]:.4g} | {100 * (ratio - 1):.0f} % |", flush=True)
            if os.environ.get("SHOW"):
                for c in sorted((c for c in good if (link, c) in total), key=lambda c: total[link, c])[:int(os.environ["SHOW"])]:
                    print("   ", c, total[link, c])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
