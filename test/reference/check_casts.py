#!/usr/bin/env python3
"""check_casts.py -- compares the codes and scales of block floats with the casts of ml_dtypes, bit by bit.

usage: check_casts.py [PROGRAM]. ml_dtypes casts do not saturate, so numbers are clipped before. Skipped without ml_dtypes.
"""
import numpy as np

import bench
from bench import check
from codes import planes

TYPES = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e2m3": "float6_e2m3fn", "e3m2": "float6_e3m2fn", "e2m1": "float4_e2m1fn"}
WIDTH = {"e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4}


def arrays():
    """Returns normal numbers in many sizes, and every value of 16 bits, with ties among them."""
    rng = np.random.default_rng(11)
    sizes = rng.standard_normal((64, 32)) * 2.0**rng.integers(-120, 120, (64, 1))
    bits = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    return [rng.standard_normal(4096), sizes.ravel(), bits[np.abs(bits) < 2.0**120], np.repeat([1.0, 0.0, -1.75, 1e-30], 32)]


def codes_of(rest, n, name):
    return np.frombuffer(rest, np.uint8) if WIDTH[name] == 8 else planes(rest, n, WIDTH[name]).astype(np.uint8)


def cast(values, name, types):
    kind = getattr(types, TYPES[name])
    most = np.float32(types.finfo(kind).max)
    return np.clip(values, -most, most).astype(kind).view(np.uint8) & ((1 << WIDTH[name]) - 1)


def check_mx(atomo, types, name, x):
    n, kind = len(x), getattr(types, TYPES[name])
    payload = bytes(atomo.Codec(f"float:format={name}").encode(x))
    blocks = -(-n // 32)
    peak = np.abs(np.pad(x, (0, 32 * blocks - n)).reshape(blocks, 32)).max(1)
    emax = int(np.floor(np.log2(float(types.finfo(kind).max))))
    power = np.clip(np.where(peak > 0, np.frexp(peak)[1] - 1, -127) - emax, -127, 127)
    scale = (2.0**power).astype(np.float32).astype(types.float8_e8m0fnu)
    check(payload[1:1 + blocks] == scale.tobytes(), f"{name}: scales of {n} elements")
    scaled = (x.astype(float) / np.repeat(2.0**power, 32)[:n]).astype(np.float32)
    check((codes_of(payload[1 + blocks:], n, name) == cast(scaled, name, types)).all(), f"{name}: codes of {n} elements")


def check_nvfp4(atomo, types, x):
    n, f32 = len(x), np.float32
    payload = bytes(atomo.Codec("nvfp4").encode(x))
    blocks, tensor = -(-n // 16), np.frombuffer(payload[1:5], "<f4")[0]
    check(tensor == np.abs(x).max() / f32(6 * 448), "nvfp4: the tensor's scale")
    peak = np.abs(np.pad(x, (0, 16 * blocks - n)).reshape(blocks, 16)).max(1)
    head = cast(peak / f32(6) / tensor, "e4m3", types)
    check(payload[5:5 + blocks] == head.tobytes(), f"nvfp4: scales of {n} elements")
    scale = np.repeat(head.view(types.float8_e4m3fn).astype(f32) * tensor, 16)[:n]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(scale > 0, x / scale, np.copysign(f32(0), x))
    check((codes_of(payload[5 + blocks:], n, "e2m1") == cast(scaled, "e2m1", types)).all(), f"nvfp4: codes of {n} elements")


def check_fp8(atomo, types, x):
    payload = bytes(atomo.Codec("fp8").encode(x))
    factor = np.float32(448) / np.abs(x).max()
    check(payload[1:5] == np.float32(factor).tobytes(), "fp8: the scale")
    check(payload[5:] == cast(x * factor, "e4m3", types).tobytes(), "fp8: codes")


def main():
    try:
        import ml_dtypes as types
    except ImportError:
        print("skip: reference/check_casts: needs ml_dtypes (PyPI)")
        return
    directory = bench.start()
    atomo = bench.library()
    for x in arrays():
        x = x.astype(np.float32)
        for name in TYPES:
            check_mx(atomo, types, name, x)
        check_nvfp4(atomo, types, x)
        check_fp8(atomo, types, x)
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
