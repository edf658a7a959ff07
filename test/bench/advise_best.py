#!/usr/bin/env python3
"""advise_best.py BIN DUMP LINK... -- holds the answer of advise against every codec at every rate by every exchange.

`advise --all` lists all codecs and rates with their errors by an exchange. `cost` measures all of them once with 16 workers, and those
within half of the fastest on a link RUNS (3) more times with REPEATS (3) repeats; the least time counts, since other programs only make
times longer. Among those whose error of the mean is at most 0.5, the fastest is the best. For each link the script prints what advise,
with its shortlist, names first, the best, and how much longer the first takes by the times of `cost`. It exits with 1 if one takes over
10 % longer.
"""
import json
import os
import subprocess
import sys
import tempfile

LIMIT, MOST, NEAR, ROOM = 0.5, 1.10, 1.5, 150  # ROOM: codecs of one call of cost
LIMITLESS = float("inf")
EXCHANGES = "allgather", "ring", "twoshot"


def results(room, *command):
    """Reads the results of a command; cost fails where a codec cannot be exchanged so, and writes the others."""
    path = os.path.join(room, "out.json")
    subprocess.run([*command, "-q", "-f", "json", "-o", path], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as f:
        found = json.load(f)["results"]
    os.remove(path)
    return found


def measure(room, program, dump, links, codecs, repeats, total):
    """Lowers total[link, codec, exchange] to the milliseconds of an iteration that `cost` measures."""
    codecs = sorted(codecs)
    for at in range(0, len(codecs), ROOM):
        specs = [word for spec in codecs[at:at + ROOM] for word in ("-c", spec)]
        for r in results(room, program, "cost", dump, *specs, "--link", ",".join(links), "--workers", "16", "--repeats", str(repeats),
                         "--topology", ",".join((*EXCHANGES, "tree"))):
            way = r["link"], r["compressor"], r["topology"]
            if r["total_ms"] is not None:
                total[way] = min(r["total_ms"], total.get(way, r["total_ms"]))


def within_limit(room, program, dump, link):
    """Returns the pairs of a codec and an exchange whose error of the mean is within the limit."""
    good = set()
    for exchange in EXCHANGES:
        for r in results(room, program, "advise", dump, "--all", "--link", link, "--topology", exchange):
            if r.get("mean_error") is not None and r["mean_error"] <= LIMIT:
                good.add((r["compressor"], exchange))
                if exchange == "ring" and r["travels"] == "as sums":
                    good.add((r["compressor"], "tree"))
    return good


def judge(room, program, dump, links):
    first = {link: next(r for r in results(room, program, "advise", dump, "--link", link) if r["rank"] == 1) for link in links}
    chosen = {link: (f["compressor"], f["topology"]) for link, f in first.items()}
    good, total, failed = within_limit(room, program, dump, links[0]) | set(chosen.values()), {}, False
    measure(room, program, dump, links, {codec for codec, _ in good}, 1, total)
    least = {link: min(total.get((link, *way), LIMITLESS) for way in good) for link in links}
    close = {way[0] for way in good if any(total.get((link, *way), LIMITLESS) <= NEAR * least[link] for link in links)}
    for _ in range(int(os.environ.get("RUNS", "3"))):
        measure(room, program, dump, links, close | {codec for codec, _ in chosen.values()}, int(os.environ.get("REPEATS", "3")), total)
    for link in links:
        way = chosen[link]
        best = min((w for w in good if (link, *w) in total), key=lambda w: total[(link, *w)])
        ratio = total[(link, *way)] / total[(link, *best)]
        failed = failed or ratio > MOST
        print(f"| {os.path.basename(dump)} | `{link}` | `{way[0]}` by {way[1]} | {total[(link, *way)]:.4g} | "
              + ("the same" if best == way else f"`{best[0]}` by {best[1]}") + f" | {total[(link, *best)]:.4g} | {100 * (ratio - 1):.0f} % |", flush=True)
    return failed


def main():
    with tempfile.TemporaryDirectory() as room:
        return 1 if judge(room, os.path.join(sys.argv[1], "atomo-bench"), sys.argv[2], sys.argv[3:]) else 0


if __name__ == "__main__":
    sys.exit(main())
