#!/usr/bin/env python3
"""Measures how fast the codecs are, and writes docs/generated/performance.md and docs/generated/performance.json. With --check, measures again and fails
where a codec has fallen by more than a quarter against docs/generated/performance.json.

usage: performance.py [--check] BUILD DUMP. BUILD is the folder of the built programs. The environment says where the Python package is:
PYTHONPATH, ATOMO_LIBRARY.
"""
import json
import pathlib
import platform
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs/generated"
LEAST = 0.75  # of the committed ratio
SIDES = {spec: (64, 512, 4096) for spec in ("svd:rank=3", "svd:rank=16,method=randomized", "powersgd", "lowrank")}
NAMES = ("bits", "encode", "decode", "encode_ns", "decode_ns", "encode_threads", "decode_threads", "scratch")


def run(command, **more):
    """The output of a program, which is printed too."""
    print("$", " ".join(command), flush=True)
    start = time.monotonic()
    done = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more)
    lines = []
    for line in done.stdout:
        print(line, end="", flush=True)
        lines.append(line.rstrip("\n"))
    code = done.wait()
    print("took %.0f s" % (time.monotonic() - start), flush=True)
    return lines, code


def codecs(build, *arguments):
    """{spec: measurements} of speed_codecs, its head line, and True if every codec keeps its floor."""
    lines, code = run([build + "/test/bench/speed_codecs", *arguments])
    rows = {}
    for line in lines[2:]:
        cells = line.split()
        if len(cells) >= 11 and not line.startswith(" "):
            rows[cells[0]] = dict(zip(NAMES, map(float, cells[1:9])))
    return rows, lines[0], code == 0


def growth(build):
    """{codec: {"encode": [ns an element for each size], "decode": ...}} and the sizes."""
    lines, code = run([build + "/test/bench/speed_growth"])
    sizes = [int(cell[2:]) for cell in lines[1].split() if cell.startswith("2^")]
    rows = {}
    for line in lines[2:]:
        cells = line.split()
        if len(cells) > 4 and cells[1] in ("encode", "decode"):
            count = len(line[19 : 19 + 9 * len(sizes)].split())
            rows.setdefault(cells[0], {})[cells[1]] = [float(c) for c in cells[2 : 2 + count]]
    return rows, sizes, code == 0


WHY = {
    "qsgd": "Each element of `qsgd` and `terngrad` takes a random number, a product and a rounding. ",
    "fp16": "`fp16` only reads and writes memory. ",
    "powersgd": "`powersgd` at rank 1 reads the matrix twice, for a product with one vector each time; so does MKL. ",
}


def floors(text):
    """What the rows below their floors would need, and why they do not reach it."""
    memcpy, said, why = float(re.search(r"memcpy ([\d.]+) ms", text)[1]), "", {}
    for line in text.split("\n"):
        if line.endswith("BELOW ITS FLOOR"):
            spec, _, ours, eager, compiled, _, floor = line.split()[:7]
            need = memcpy * float(floor) / min(float(eager), float(compiled))
            said += f"For its floor `{spec}` would have to encode at {need:.2f} of memcpy's speed. It does at {memcpy / float(ours):.2f}. "
            name = "qsgd" if spec.startswith("terngrad") else spec.split(":")[0]
            why[name] = WHY.get(name, "")
    return said and (said + "".join(why.values())).rstrip() + "\n"


def table(head, rows):
    text = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(text + ["| " + " | ".join(row) + " |" for row in rows])


def bound(times, sizes):
    """What bounds a codec: memory, if a vector that fits into the cache takes at most 0.7 times the time of one that does not."""
    small, large = times[sizes.index(16)], times[min(sizes.index(24), len(times) - 1)]
    return "memory" if small <= 0.7 * large else "computing"


def versions(build):
    doctor = json.loads(subprocess.run([build + "/bin/atomo-bench", "doctor", "--format", "json"], capture_output=True).stdout)["meta"]
    keep = ("version", "cpu", "isa", "os", "hdf5", "openblas", "blas_core", "fftw", "zstd", "blosc", "threads")
    return {**{k: doctor.get(k) for k in keep}, "python": platform.python_version()}


def figure(result):
    """docs/figures/performance.svg: encoding speed as a share of memcpy's; ours, PyTorch's eager and compiled, one thread."""
    head, _, *lines = result["torch"].splitlines()
    memcpy, rows = float(head.split("memcpy ")[1].split()[0]), [line.split() for line in lines]
    data = "".join(" ".join([f'"{r[0]}"', *("%.4g" % (memcpy / float(ms)) for ms in r[2:5])]) + "\n" for r in rows if r[1] == "1")
    bars = [("atomo", "#0072b2"), ("PyTorch, eager", "#c14a00"), ("PyTorch, compiled", "#777777")]
    plots = ", ".join(f"$d using {k + 2}:xtic(1) lc rgb '{color}' title '{name}'" for k, (name, color) in enumerate(bars))
    script = f"""set terminal svg size 648,360 fixed font 'Helvetica,Arial,sans-serif,10' background rgb '#ffffff'
set output '{DOCS.parent}/figures/performance.svg'
set border 3
set tics out nomirror
set logscale y
set grid ytics lc rgb '#dddddd'
set ylabel 'encoding speed / speed of memcpy'
set xtics rotate by 35 right
set style data histograms
set style histogram clustered gap 1
set style fill solid
set boxwidth 0.9
set key above
$d << end
{data}end
plot {plots}
"""
    subprocess.run(["gnuplot"], input=script, encoding="utf-8", check=True)


def page(result, texts):
    m = result["machine"]
    sides = [
        [spec, *("%.1f" % result["sides"][spec][str(s)]["encode_ns"] for s in widths), *("%.1f" % result["sides"][spec][str(s)]["decode_ns"] for s in widths)]
        for spec, widths in SIDES.items()
    ]
    rows = [
        ["`%s`" % spec, "%.2f" % r["bits"], "%.2f" % r["encode"], "%.2f" % r["decode"], "%.2f" % r["encode_ns"], "%.2f" % r["decode_ns"],
         "%.1f" % (4 / r["encode_ns"]), "%.1f" % (4 / r["decode_ns"]), "%.1f" % r["encode_threads"], "%.1f" % r["decode_threads"], "%.2f" % r["scratch"]]
        for spec, r in result["codecs"].items()
    ]  # fmt: skip
    sizes = result["sizes"]
    grown = [
        ["`%s`" % name, side, *("%.2f" % t for t in times), *[""] * (len(sizes) - len(times)), bound(times, sizes)]
        for name, both in result["growth"].items()
        for side, times in both.items()
    ]
    return f"""# Performance

<!-- page: make bench -->
`make bench` writes this page and [performance.json](performance.json). `make bench-check` measures the first table again and fails where a
codec has fallen by more than a quarter against memcpy.

Machine: {m["cpu"]}, {m["isa"]} kernels, {m["threads"]} threads; {m["os"]}. atomo {m["version"]}, OpenBLAS {m["openblas"]} ({m["blas_core"]}),
FFTW {m["fftw"]}, HDF5 {m["hdf5"]}, zstd {m["zstd"]}, blosc {m["blosc"]}, Python {m["python"]}.

## Codecs

{result["memcpy"]}. `encode`, `decode`: the speed divided by that of memcpy, measured beside it. GB/s are of float32
input. `×`: how much faster all {m["threads"]} threads are, in elapsed time. `scratch`: bytes of working memory an element. `powersgd` and `lowrank`
get a square matrix, all others a vector.

{table(["codec", "bits", "encode", "decode", "enc ns", "dec ns", "enc GB/s", "dec GB/s", "enc ×", "dec ×", "scratch"], rows)}

rANS takes a step for each symbol, however few symbols there are: with AVX2 seven instructions, 0.7 ns each way. Checking, rounding, counting and copying take 1.9 ns more to encode
`qsgd:bits=4,code=rans`, and 0.8 ns to decode it, so only several symbols a step would halve its time. Four codes
of `terngrad:code=rans` as one symbol were tried: encoding takes 17 % less time, decoding 34 %, and payloads 0.3 % more bytes. `bf16:code=rans` decodes in 0.7 ns and the 0.6 ns in which floats are written to memory.

## Growth with the tensor

Nanoseconds an element on one thread, for n elements. A codec is bound by memory if a vector of 2¹⁶ elements, which fits into the
cache, takes at most 0.7 times the time of one of 2²⁴; else by computing. Sizes that would take longer than five seconds are left out.

{table(["codec", "", *("2^%d" % s for s in sizes), "bound by"], grown)}

## Growth with the short side of a matrix

Nanoseconds an element for 2²⁴ elements with 64, 512 and 4096 columns.

{table(["codec", *("encode, %d" % s for s in (64, 512, 4096)), *("decode, %d" % s for s in (64, 512, 4096))], sides)}

## Beside PyTorch

The dump is a gradient of ResNet-18. PyTorch's results are tensors, `atomo-bench`'s are packed and coded payloads.

![encoding speed against memcpy's](../figures/performance.svg)

```
{texts["torch"]}
```

{floors(texts["torch"])}
## From Python

```
{texts["python"]}
```

## Reading a dump, and the Wasserstein distance

A confined process opens the file and lists its arrays, so that a damaged file cannot harm the program. Starting it takes about 1 ms,
and up to 6 ms where it loads the HDF5 library, which h5py loads before its first reading.

```
{texts["peers"]}
```
"""


def check(build):
    committed = json.loads((DOCS / "performance.json").read_text())["codecs"]
    rows, _, _ = codecs(build)
    low = {}
    for _ in range(2):  # a codec that seems slow is measured a second time, and the better time counts
        low = {
            (spec, side): (rows[spec][side], r[side])
            for spec, r in committed.items()
            if spec in rows
            for side in ("encode", "decode")
            if rows[spec][side] < LEAST * r[side]
        }
        for spec in {spec for spec, _ in low}:
            again = codecs(build, "24", spec)[0].get(spec, rows[spec])
            rows[spec] = {k: max(rows[spec][k], again[k]) for k in again}
    for (spec, side), (now, then) in low.items():
        print("%s: %s at %.2f of memcpy, committed %.2f" % (spec, side, now, then))
    print("bench-check: %d of %d codecs fell by more than a quarter" % (len({s for s, _ in low}), len(committed)))
    return bool(low)


def main(build, dump):
    bench = build + "/bin/atomo-bench"
    rows, memcpy, fast = codecs(build)
    grown, sizes, slow = growth(build)
    result = {"machine": versions(build), "memcpy": memcpy, "codecs": rows, "sizes": sizes, "growth": grown}
    result["sides"] = {s: {str(w): codecs(build, "24", s, str(w))[0][s] for w in widths} for s, widths in SIDES.items()}
    texts, codes = {}, [fast, slow]
    for name, command in (
        ("torch", [sys.executable, str(HERE / "torch_codecs.py"), bench, dump]),
        ("python", [sys.executable, str(HERE / "python_encode.py"), bench, dump]),
        ("peers", [sys.executable, str(HERE / "peers.py"), build + "/test/bench/speed_peers", dump]),
    ):
        lines, code = run(command)
        texts[name] = "\n".join(lines)
        codes.append(code == 0)
    result.update(texts)
    (DOCS / "performance.json").write_text(json.dumps(result, indent=1) + "\n")
    (DOCS / "performance.md").write_text(page(result, texts))
    figure(result)
    return not all(codes)


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    sys.exit(check(arguments[0]) if "--check" in sys.argv else main(*arguments))
