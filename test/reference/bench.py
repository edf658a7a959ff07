#!/usr/bin/env python3
"""bench.py -- shared by the checks of this folder: runs the program, reads dumps, prints which checks passed."""
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LENET = ROOT / "datasets/lenet-mnist.h5"
program = str(ROOT / "build/release/bin/atomo-bench")
passed, failed = 0, 0


def start():
    """Takes the program from the command line, if one is named; changes to a new temporary directory and returns it."""
    global program
    if len(sys.argv) > 1:
        program = str(Path(sys.argv[1]).resolve())
    directory = tempfile.TemporaryDirectory(prefix="atomo-reference.")
    os.chdir(directory.name)
    return directory


def library():
    """Returns the Python package, on the library that is built with the program."""
    os.environ["ATOMO_LIBRARY"] = os.path.join(os.path.dirname(program), "../public/libatomo.so")
    sys.path.insert(0, str(ROOT / "lib/python"))
    return importlib.import_module("atomo")


def run(*words):
    force = ["--force"] if words[0] in ("synth", "encode", "decode", "convert") else []
    done = subprocess.run([program, *map(str, words), *force], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def compare(*words):
    """Returns the records of `compare` as a list of dictionaries."""
    return json.loads(run("compare", *words, "--format", "json", "--quiet"))["results"]


def tensors(path):
    """Returns a dictionary from each path in a dump to its array."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, node: found.update({name: node[()]}) if isinstance(node, h5py.Dataset) else None)
    return found


def write_dump(path, arrays, **attributes):
    with h5py.File(path, "w", track_order=True) as file:
        file.attrs.update(attributes)
        for name, array in arrays.items():
            file.create_dataset(name, data=array)


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED  {what}", flush=True)
    return condition


def verdict(condition, what):
    """Checks a statement and prints a line also when it holds."""
    if check(condition, what):
        print(f"passed  {what}", flush=True)


def same_bits(a, b):
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def finish():
    print(f"{Path(sys.argv[0]).name}: {passed} checks passed, {failed} failed")
    sys.exit(1 if failed else 0)
