#!/usr/bin/env python3
"""blockfloats.py -- float, fp8, mxfp8, mxfp6, mxfp4 and nvfp4, written from docs/FORMAT.md alone: plain and slow."""
import numpy as np

import rotations
from codes import F32, floats, planes
from container import need, size_of
from draws import BLOCK, key_of, word64

FORMATS = {  # exponent bits, fraction bits, bias, largest magnitude
    "e4m3": (4, 3, 7, 0x7e), "e5m2": (5, 2, 15, 0x7b), "e2m3": (2, 3, 1, 31), "e3m2": (3, 2, 3, 31), "e2m1": (2, 1, 1, 7),
    "e3m0": (3, 0, 3, 7),
}
FIXED = {
    "fp8": {"format": "e4m3", "scale": "f32", "block": "row"}, "mxfp8": {"format": "e4m3", "block": "32"},
    "mxfp6": {"format": "e2m3", "block": "32"}, "mxfp4": {"format": "e2m1", "block": "32"},
    "nvfp4": {"format": "e2m1", "scale": "e4m3", "block": "16"},
}
DEFAULTS = {name: {"rounding": "nearest", "scale": "floor", "best": "off", **keys} for name, keys in FIXED.items()}
DEFAULTS["float"] = {"format": "e4m3", "scale": "e8m0", "block": "32", "rounding": "nearest"}
SIGN, GROUP = 8, 128


def magnitudes(name):
    """Returns the value of each magnitude that occurs."""
    if name == "int8":
        return np.arange(128) / 64
    _, fraction, bias, top = FORMATS[name]
    m = np.arange(top + 1)
    exponent, part = m >> fraction, (m & ((1 << fraction) - 1)) / (1 << fraction)
    return np.where(exponent == 0, part * 2.0**(1 - bias), (1 + part) * 2.0**(exponent - bias))


def width_of(name):
    return 8 if name == "int8" else 1 + FORMATS[name][0] + FORMATS[name][1]


def values_of(codes, name):
    table, top = magnitudes(name), 1 << (width_of(name) - 1)
    minus = codes >= top
    magnitude = np.where(minus, 2 * top - codes, codes) if name == "int8" else codes & (top - 1)
    need((magnitude < len(table)).all(), "a code of no value")
    return np.where(minus, -1.0, 1.0) * table[magnitude]


def sides(n, shape, keys):
    """Returns the number of coded elements, the elements of a block and the blocks."""
    coded = -(-n // GROUP) * GROUP if keys["rounding"] == "eden" else n
    row = n // (shape[0] or 1) if len(shape) > 1 else n
    block = max(1, {"row": row, "tensor": n}.get(keys["block"]) or int(keys["block"] if keys["block"].isdigit() else 1))
    return coded, block, -(-coded // block)


def bytes_of(n, shape, keys):
    coded, _, blocks = sides(n, shape, keys)
    width = width_of(keys["format"])
    codes = coded if width == 8 else 8 * width * (coded // 64) + width * ((coded % 64 + 7) // 8)
    return 1 + 4 * (keys["scale"] == "e4m3") + blocks * (4 if keys["scale"] == "f32" else 1) + codes


def is_raw(n, shape, keys):
    if bytes_of(n, shape, keys) >= 4 * n + 1:
        return True
    return None if keys["scale"] in ("e4m3", "f32") else False


def scales_of(data, blocks, keys):
    if keys["scale"] == "f32":
        factors = floats(data[:4 * blocks], blocks)
        need(np.isfinite(factors).all() and (factors > 0).all(), "a scale")
        return factors, data[4 * blocks:]
    tensor = F32(1)
    if keys["scale"] == "e4m3":
        tensor, data = floats(data[:4], 1)[0], data[4:]
        need(np.isfinite(tensor) and tensor > 0, "the tensor's scale")
    heads = np.frombuffer(data[:blocks], np.uint8)
    if keys["scale"] == "e4m3":
        need((heads <= 0x7e).all(), "a scale")
        return magnitudes("e4m3")[heads].astype(F32) * tensor, data[blocks:]
    need((heads < 255).all(), "a scale")
    return (2.0**(heads.astype(int) - 127)).astype(F32), data[blocks:]


def turn_back(z, address):
    for group in range(len(z) // GROUP):
        words = [word64(key_of(address, SIGN, i // BLOCK), i % BLOCK) >> 32 for i in range(4 * group, 4 * group + 4)]
        bits = np.unpackbits(np.array(words, "<u4").view(np.uint8), bitorder="little")
        own = slice(GROUP * group, GROUP * (group + 1))
        z[own] = rotations.hadamard(z[own].astype(float)) * (1.0 - 2.0 * bits)
    return z


def decode(data, shape, keys, address):
    n = size_of(shape)
    coded, block, blocks = sides(n, shape, keys)
    need(len(data) + 1 == bytes_of(n, shape, keys), "length")
    scales, rest = scales_of(data, blocks, keys)
    width = width_of(keys["format"])
    codes = np.frombuffer(rest, np.uint8) if width == 8 else planes(rest, coded, width)
    values, of = values_of(codes.astype(int), keys["format"]).astype(F32), np.arange(coded) // block
    with np.errstate(over="ignore"):
        need(np.isfinite(magnitudes(keys["format"])[-1].astype(F32) / scales if keys["scale"] == "f32" else
                         magnitudes(keys["format"])[-1].astype(F32) * scales).all(), "a scale beyond float32")
        values = values / scales[of] if keys["scale"] == "f32" else values * scales[of]
    return turn_back(values, address)[:n].astype(F32) if keys["rounding"] == "eden" else values
