#!/usr/bin/env python3
"""huge.py -- a vector of 2^31 + 5 elements through encode, decode and inspect: python3 test/huge.py BIN_DIRECTORY [FOLDER]

Indices of 32 bits end at 2^31 or 2^32, so slices of the decoded vector are compared with the vector itself: at both ends, and
around 2^29 (bytes past 2^31), 2^30 (bytes past 2^32) and 2^31. Each program may take 2.2 times the vector in memory. Needs
python3-h5py, 20 GB of memory and 30 GB in FOLDER (default: the temporary folder); without them it says so and ends with 0.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

N = 2**31 + 5
PLACES = [(0, 4096)] + [(p - 2048, p + 2048) for p in (2**29, 2**30, 2**31)] + [(N - 4096, N)]


def free_memory():
    with open("/proc/meminfo") as info:
        return next(int(line.split()[1]) for line in info if line.startswith("MemAvailable")) * 1024


def run(*command):
    """Runs a program; returns its peak memory in bytes."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"huge: {' '.join(command)}: exit status {status}")
    return usage.ru_maxrss * 1024


def slices(path):
    import h5py

    with h5py.File(path) as f:
        found = []
        f.visititems(lambda name, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
        (data,) = found
        assert data.shape == (N,), data.shape
        return [data[a:b] for a, b in PLACES]


def kept(x, y):
    """topk: sent entries are as they were, all others are 0, and none left out is larger than one sent."""
    assert np.all((y == 0) | (y == x)), "an entry changed"
    assert 0 < np.count_nonzero(y) < 0.05 * y.size, "too many or too few entries"
    assert np.abs(x[y == 0]).max() <= np.abs(y[y != 0]).min(), "a larger entry is left out"


def levels(x, y):
    """qsgd with 4 bits: no sign changes, and no error over a level, 1/7 of the norm of a bucket of 512."""
    assert np.all(x * y >= 0), "a sign changed"
    assert np.abs(y - x).max() < 1.2 * np.sqrt(512 * np.mean(x**2)) / 7, "an error of over one level"


def same(want):
    def check(x, y):
        assert np.array_equal(want(x), y), "values differ"

    return check


CASES = [
    ("none", same(lambda x: x)),
    ("fp16", same(lambda x: x.astype(np.float16).astype(np.float32))),
    ("sign", same(lambda x: np.where(np.signbit(x), -1, 1).astype(np.float32))),
    ("topk:ratio=0.01", kept),
    ("qsgd:bits=4", levels),
]


def main():
    bench = os.path.join(sys.argv[1], "atomo-bench")
    folder = tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None)
    try:
        import h5py  # noqa: F401
    except ImportError:
        print("huge: skipped: python3-h5py is not here")
        return
    if free_memory() < 20e9 or shutil.disk_usage(folder).free < 30e9:
        print(f"huge: skipped: it needs 20 GB of memory and 30 GB in {folder}")
        os.rmdir(folder)
        return
    try:
        vector, payload, back = (os.path.join(folder, name) for name in ("x.h5", "x.atomo", "y.h5"))
        run(bench, "synth", "-q", "--shape", str(N), "--law", "normal", "-o", vector)
        x = slices(vector)
        print(f"inspect: {run(bench, 'inspect', '-q', vector) / 4 / N:.2f} times the vector in memory", flush=True)
        for spec, check in CASES:
            encode = run(bench, "encode", "-q", vector, "-c", spec, "-o", payload) / 4 / N
            size = os.path.getsize(payload)
            decode = run(bench, "decode", "-q", payload, "-o", back, "--memory", "20GB", "--max-output", "9GB") / 4 / N
            check(np.concatenate(x), np.concatenate(slices(back)))
            print(f"{spec}: {size} bytes; encode {encode:.2f}, decode {decode:.2f} times the vector in memory", flush=True)
            assert encode < 2.2 and decode < 2.2, "too much memory"
            os.remove(payload)
            os.remove(back)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
