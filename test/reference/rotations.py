#!/usr/bin/env python3
"""rotations.py -- decodes payloads of rotated, drive and eden, written from docs/FORMAT.md alone."""
import functools
import math

import numpy as np

from codes import F32, Bytes, planes
from container import need
from draws import BLOCK, key_of, mix

SIGN = 8


def pieces(n):
    """Returns (start, size) of every piece."""
    starts = list(range(0, n, BLOCK))
    if len(starts) > 1 and n - starts[-1] < 256:
        starts.pop()
    return [(s, (starts[i + 1] if i + 1 < len(starts) else n) - s) for i, s in enumerate(starts)]


def is_power(n):
    return n & (n - 1) == 0


def blocks(n):
    """Returns (piece, index of the first element in the piece, size) of every block."""
    for number, (_, size) in enumerate(pieces(n)):
        at = 0
        while at < size:
            left = size - at
            fit = [2**k for k in range(8, 17) if 2**k <= left and (2**k == left or left - 2**k >= 256)]
            block = left if is_power(left) else max(fit, default=left)
            yield number, at, block
            at += block


def signs(address, piece, at, n, turn):
    """Returns signs +1 and -1; sign i is bit i mod 32 of word i / 32."""
    key = key_of(address, SIGN, piece)
    words = [mix((i * 0x9E3779B9 + key[0]) & 0xFFFFFFFF, key[1])
             for i in range(at // 32 + 4096 * turn, (at + n + 31) // 32 + 4096 * turn)]
    bits = np.unpackbits(np.array(words, "<u4").view(np.uint8), bitorder="little")[:n]
    return 1.0 - 2.0 * bits


def hadamard(x):
    n, stride = len(x), 1
    while stride < n:
        pairs = x.reshape(-1, 2, stride)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1).reshape(-1)
        stride *= 2
    return x / math.sqrt(n)


@functools.lru_cache(64)
def cosines(n):
    k = np.arange(n)
    return np.cos(np.pi * np.outer(2 * k + 1, k) / (2 * n)) * np.sqrt(np.where(k > 0, 2, 1) / n)


def cosines_back(y):
    return cosines(len(y)) @ y


def turn_back(y, address, piece, at, rotations):
    n = len(y)
    rounds = rotations + (1 if rotations > 1 and is_power(n) and n < 4096 else 0)
    for turn in reversed(range(rounds)):
        y = (hadamard(y) if is_power(n) else cosines_back(y)) * signs(address, piece, at, n, turn)
    return y


def cell_means(c):
    """Returns the means of the standard normal between the midpoints around each positive level."""
    edge = [0.0, *((c[1:] + c[:-1]) / 2), math.inf]
    density = np.array([math.exp(-t * t / 2) / math.sqrt(2 * math.pi) for t in edge])
    tail = np.array([math.erfc(t / math.sqrt(2)) / 2 for t in edge])
    return (density[:-1] - density[1:]) / (tail[:-1] - tail[1:])


@functools.lru_cache(None)
def levels(bits):
    """Returns the fixed point of cell_means, by Newton's method with differences in place of derivatives."""
    count = 2**(bits - 1)
    c = np.linspace(0, 1.1 + 0.45 * bits, count + 1)[1:] - 0.5 * (1.1 + 0.45 * bits) / count
    for _ in range(300):
        c = cell_means(c)
    for _ in range(8):
        slope = np.empty((count, count))
        for j in range(count):
            step = np.zeros(count)
            step[j] = 1e-5
            slope[:, j] = (cell_means(c + step) - cell_means(c - step)) / 2e-5
        c = c - np.linalg.solve(slope - np.eye(count), cell_means(c) - c)
    return c


def level_values(codes, width, name):
    if width == 0:
        return np.zeros(len(codes))
    table = np.array([1.0]) if name == "drive" else levels(width).astype(F32).astype(float)
    return np.concatenate([table, -table])[codes]


def plane_bytes(n, width):
    return (n // 64 * 8 + (n % 64 + 7) // 8) * width


def read_blocks(data, n, bits):
    """Returns for every block: (piece, first element, scale, width, wide codes, other codes)."""
    source, width = Bytes(data), int(bits)
    for piece, at, size in blocks(n):
        wide = int((bits - width) * size + 0.5)
        wide = max(wide, 32) if width == 0 else wide
        scale = source.f32()
        need(np.isfinite(scale) and not np.signbit(scale), "a scale")
        first = planes(source.take(plane_bytes(wide, width + 1)), wide, width + 1)
        rest = planes(source.take(plane_bytes(size - wide, width)), size - wide, width)
        need(scale > 0 or not (first.any() or rest.any()), "codes under a scale of 0")
        yield piece, at, scale, width, first, rest
    source.end()


def read_levels(data, n, bits):
    """Returns for every block of rotated: (piece, first element, low, high, levels)."""
    source = Bytes(data)
    for piece, at, size in blocks(n):
        low, high = source.f32(), source.f32()
        need(np.isfinite(low) and np.isfinite(high) and low <= high, "a range")
        need(not any(v == 0 and np.signbit(v) for v in (low, high)), "a zero below zero")
        levels = planes(source.take(plane_bytes(size, bits)), size, bits)
        need(low < high or not levels.any(), "levels without a range")
        yield piece, at, float(low), float(high), levels
    source.end()


def rotated(data, n, keys, address):
    bits, found = int(keys["bits"]), []
    seed, repeat, _, step, tensor = address
    for piece, at, low, high, levels in read_levels(data, n, bits):
        z = low + levels * ((high - low) / (2**bits - 1))
        found.append(turn_back(z, (seed, repeat, -1, step, tensor), piece, at, 1))
    return within_float32(np.concatenate(found))


ENDS = {1: 2.1538746, 2: 2.1538746, 3: 2.1538746, 4: 2.1538746, 5: 2.6600676, 6: 3.097269, 7: 3.4871042, 8: 3.8419306}


def thc(norms, codes, n, keys, address):
    bits, found = int(keys["bits"]), []
    seed, repeat, _, step, tensor = address
    for norm, (piece, at, size) in zip(norms, blocks(n)):
        part, codes = codes[:size], codes[size:]
        need(norm > 0 or not part.any(), "levels without a range")
        z = (part * (2 / (2**bits - 1)) - 1) * (ENDS[bits] * float(norm) / math.sqrt(size))
        found.append(turn_back(z, (seed, repeat, -1, step, tensor), piece, at, 1))
    return within_float32(np.concatenate(found))


def within_float32(values):
    with np.errstate(over="ignore"):
        result = values.astype(F32)
    need(np.isfinite(result).all(), "a value beyond float32")
    return result


def bits_of(name, keys):
    return 1.0 if name == "drive" else float(keys["bits"])


def turned(data, n, name, keys, address):
    found = []
    for piece, at, scale, width, first, rest in read_blocks(data, n, bits_of(name, keys)):
        z = np.concatenate([level_values(first, width + 1, name) if len(first) else np.zeros(0),
                            level_values(rest, width, name)])
        found.append(turn_back(z * float(scale), address, piece, at, int(keys["rotations"])))
    return within_float32(np.concatenate(found))
