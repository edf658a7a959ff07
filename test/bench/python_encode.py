#!/usr/bin/env python3
"""What encoding through the Python package costs, as a ratio to atomo-bench, on one thread.

usage: python_encode.py ATOMO_BENCH DUMP. The environment says where the package is: PYTHONPATH, ATOMO_LIBRARY. A time is the sum, over
the dump's tensors of 64 KiB and more, of the least of CALLS calls. Python and atomo-bench run in turns, each turn in a new process;
the table has the least of TURNS times.

python_encode.py --alone DUMP prints the times of one process of Python.
"""
import json
import os
import subprocess
import sys
import time

try:
    import numpy  # noqa: F401
except ImportError:
    print("python_encode: skipped (needs the Python package numpy)")
    sys.exit(0)

SPECS = ["none", "fp16", "bf16", "sign", "terngrad", "natural", "qsgd", "intsgd", "topk:ratio=0.01", "entry:ratio=0.01", "powersgd:rank=2"]
LEAST = 64 << 10
CALLS = 8
TURNS = 2


def tensors_of(dump, least=LEAST):
    """The tensors of at least `least` bytes of the dump's last step."""
    import atomo

    *_, last = atomo.read_gradients(dump).values()
    return {name: array for name, array in last.items() if array.nbytes >= least}


def alone_ms(spec, tensors):
    import atomo

    codec = atomo.Codec(spec)
    parts = [codec.tensor(array.shape, name, threads=1, check=False) for name, array in tensors.items()]
    room = max(parts, key=lambda part: part.bound).room()  # for the payloads of all tensors, as in atomo-bench
    total = 0
    for part, array in zip(parts, tensors.values()):
        best = float("inf")
        for step in range(CALLS):
            start = time.perf_counter()
            part.encode(array, step, room)
            best = min(best, time.perf_counter() - start)
        total += best
    return 1e3 * total


def output(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def python_ms(dump):
    """{spec: ms}"""
    return json.loads(output(sys.executable, __file__, "--alone", dump))


def bench_ms(bench, specs, dump, names, threads=1):
    """{spec: ms}; results name a codec without parameters at their defaults, in the order of the command."""
    options = ("-q", "--threads", str(threads), "--repeats", str(CALLS), "--per-tensor", "--format", "json")
    results = json.loads(output(bench, "compare", dump, *(o for spec in specs for o in ("-c", spec)), *options))["results"]
    last = max(r["step"] for r in results if r["step"] not in ("*", None))
    times = [(r["compressor"], r["encode_ms_min"]) for r in results if r["tensor"] in names and r["step"] == last]
    named = dict.fromkeys(compressor for compressor, _ in times)
    return {spec: sum(ms for compressor, ms in times if compressor == name) for spec, name in zip(specs, named, strict=True)}


def main(bench, dump):
    doctor = json.loads(subprocess.run([bench, "doctor", "--format", "json"], capture_output=True).stdout or "{}")
    core = doctor.get("meta", {}).get("blas_core")
    if core:
        os.environ.setdefault("OPENBLAS_CORETYPE", core)  # the kernels of atomo-bench
    tensors = tensors_of(dump)
    print("encode, ms: %d tensors, %.1f MB" % (len(tensors), sum(a.nbytes for a in tensors.values()) / 1e6))
    print("%-18s %12s %12s %8s" % ("codec", "Python", "atomo-bench", "ratio"))
    turns = [(python_ms(dump), bench_ms(bench, SPECS, dump, tensors)) for _ in range(TURNS)]
    for spec in SPECS:
        python, program = (min(times[spec] for times in side) for side in zip(*turns))
        print("%-18s %12.2f %12.2f %8.3f" % (spec, python, program, python / program), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        tensors = tensors_of(sys.argv[2])
        print(json.dumps({spec: alone_ms(spec, tensors) for spec in SPECS}))
    else:
        main(*sys.argv[1:])
