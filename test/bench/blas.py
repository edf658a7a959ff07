#!/usr/bin/env python3
"""What OpenBLAS's choice of kernels costs a caller of libatomo: the same comparison, on one thread, by atomo-bench, which names the
kernels for this CPU before OpenBLAS is loaded; by the library as a program finds it; and by the library with OPENBLAS_CORETYPE set
to the kernels of atomo-bench.

usage: blas.py ATOMO_BENCH [DUMP]. The environment says where the package is: PYTHONPATH, ATOMO_LIBRARY. Each cell: milliseconds to
encode all tensors of the dump's last step, the least of REPEATS medians.
"""
import json
import os
import pathlib
import subprocess
import sys

SPECS = ["svd:rank=3", "powersgd:rank=2", "powersgd:rank=32", "lowrank:rank=2"]
REPEATS = 2
LIBRARY = """
import json, sys, atomo
records = atomo.compare(sys.argv[1], sys.argv[2:], repeats=5, threads=1)
print(json.dumps({"meta": records.meta, "results": list(records)}))
"""


def encode_ms(result):
    """Kernels, and for each codec the time of all tensors of the last step."""
    cells = [r for r in result["results"] if r["tensor"] == "*" and r["step"] not in ("*", None)]
    last = max(r["step"] for r in cells)
    return result["meta"]["blas_core"], {r["compressor"]: r["encode_ms"] for r in cells if r["step"] == last}


def run(command, core=None):
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    if core:
        environment["OPENBLAS_CORETYPE"] = core
    runs = [encode_ms(json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)) for _ in range(REPEATS)]
    return runs[0][0], {spec: min(times[spec] for _, times in runs) for spec in runs[0][1]}


def main(bench, dump=pathlib.Path(__file__).parents[2] / "datasets" / "lenet-mnist.h5"):
    options = [o for spec in SPECS for o in ("-c", spec)]
    programs = run([bench, "compare", "-q", str(dump), *options, "--repeats", "5", "--threads", "1", "--format", "json"])
    library = [sys.executable, "-c", LIBRARY, str(dump), *SPECS]
    columns = [("atomo-bench", programs), ("library", run(library)), ("library, OPENBLAS_CORETYPE", run(library, programs[0]))]
    print("%-18s" % "encode, ms", *("%28s" % name for name, _ in columns))
    print("%-18s" % "kernels", *("%28s" % core for _, (core, _) in columns))
    for spec in programs[1]:
        print("%-18s" % spec, *("%28.2f" % times[spec] for _, (_, times) in columns))


if __name__ == "__main__":
    main(*sys.argv[1:])
