#!/usr/bin/env python3
"""check_vectors.py -- decodes test/vectors/vectors.json with the independent reader, written from docs/FORMAT.md
alone.

usage: check_vectors.py [PROGRAM]; the program is not used.
"""
import json

import numpy as np

import bench
import container
import decode
import wrappers
from bench import check, same_bits
from check_decode import close, rounds


def fnv(name):
    """Returns the 64-bit FNV-1a hash of a tensor's name, which selects the tensor's random numbers."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def main():
    compressors = set()
    for case in json.loads((bench.ROOT / "test/vectors/vectors.json").read_text()):
        spec, shape = case["spec"], tuple(case["shape"])
        if not decode.knows(spec):
            print(f"note: {spec}: not in the independent decoder")
            continue
        address = case["seed"], 0, case["worker"], case["step"], fnv(case["tensor"])
        payloads = [bytes.fromhex(p) for p in case["payloads"]]
        want = np.frombuffer(bytes.fromhex(case["decoded"]), "<f4").reshape(shape)
        try:
            got = np.asarray(wrappers.decode(spec, shape, payloads, address, {}, decode.decode), np.float32)
        except container.Refused as refusal:
            check(False, f"{spec}: our reader refuses: {refusal}")
            continue
        got, want = got + np.float32(0), want + np.float32(0)  # `decoded` is a mean of one worker, in which -0 is 0
        equal = close if rounds(spec) or not case["exact"] else same_bits
        if check(equal(got, want), f"{spec}: values differ"):
            compressors.add(spec.partition(":")[0])
    check(len(compressors) >= 10, f"only {len(compressors)} compressors were decoded")
    bench.finish()


if __name__ == "__main__":
    main()
