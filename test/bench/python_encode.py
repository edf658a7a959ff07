#!/usr/bin/env python3
"""What encoding through the Python package costs, as a ratio to atomo-bench, on one thread.

usage: python_encode.py ATOMO_BENCH DUMP. The environment says where the package is: PYTHONPATH, ATOMO_LIBRARY. Each time is the sum,
over the dump's tensors of 64 KiB and more, of the least of CALLS calls into memory of the caller; then the less of two such sums.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("python_encode: skipped (needs the Python package numpy)")
    sys.exit(0)

SPECS = ["none", "fp16", "bf16", "sign", "terngrad", "natural", "qsgd", "intsgd", "topk:ratio=0.01", "entry:ratio=0.01", "powersgd:rank=2"]
LEAST = 64 << 10
CALLS = 20


def tensors_of(bench, dump, folder, least=LEAST):
    """The tensors of at least `least` bytes of the dump's last step, as NumPy arrays."""
    path = pathlib.Path(folder) / "dump.npz"
    subprocess.run([bench, "convert", "-q", dump, str(path)], check=True, stdout=subprocess.DEVNULL)
    with np.load(path) as file:
        steps = sorted({name.rpartition("/")[0] for name in file.files})
        named = {name.rpartition("/")[2]: file[name] for name in file.files if name.rpartition("/")[0] == steps[-1]}
    return {name: array for name, array in named.items() if array.nbytes >= least}


def python_ms(codec, tensors):
    total = 0
    for name, array in tensors.items():
        tensor = codec.tensor(array.shape, name, threads=1, check=False)
        room, best = np.empty(tensor.bound, np.uint8), float("inf")
        for step in range(CALLS):
            start = time.perf_counter()
            tensor.encode(array, step, room)
            best = min(best, time.perf_counter() - start)
        total += best
    return 1e3 * total


def bench_ms(bench, dump, spec, tensors):
    command = [bench, "compare", "-q", dump, "-c", spec, "--threads", "1", "--repeats", str(CALLS), "--per-tensor", "--format", "json"]
    results = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["results"]
    last = max(r["step"] for r in results if r["step"] not in ("*", None))
    return sum(r["encode_ms_min"] for r in results if r["tensor"] in tensors and r["step"] == last)


def main(bench, dump):
    doctor = json.loads(subprocess.run([bench, "doctor", "--format", "json"], capture_output=True).stdout or "{}")
    core = doctor.get("meta", {}).get("blas_core")
    if core:
        os.environ.setdefault("OPENBLAS_CORETYPE", core)  # the kernels of atomo-bench
    import atomo

    with tempfile.TemporaryDirectory() as folder:
        tensors = tensors_of(bench, dump, folder)
    print("encode, ms: %d tensors, %.1f MB" % (len(tensors), sum(a.nbytes for a in tensors.values()) / 1e6))
    print("%-18s %12s %12s %8s" % ("codec", "Python", "atomo-bench", "ratio"))
    for spec in SPECS:
        codec = atomo.Codec(spec)
        python = min(python_ms(codec, tensors) for _ in range(2))
        program = min(bench_ms(bench, dump, spec, tensors) for _ in range(2))
        print("%-18s %12.2f %12.2f %8.3f" % (spec, python, program, python / program), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
