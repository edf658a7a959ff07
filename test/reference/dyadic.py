#!/usr/bin/env python3
"""dyadic.py -- the transforms of `hadamard` and `wavelet`, in double precision from docs/FORMAT.md.

to(name, keys, x)    returns the coefficients of a tensor
back(name, keys, c)  returns the tensor of the coefficients c
"""
import numpy as np

R2, R3 = np.sqrt(2.0), np.sqrt(3.0)
TAPS = {
    "haar": [1 / R2, 1 / R2],
    "db2": [(1 + R3) / (4 * R2), (3 + R3) / (4 * R2), (3 - R3) / (4 * R2), (1 - R3) / (4 * R2)],
    "db4": [0.23037781330889650, 0.71484657055291565, 0.63088076792985891, -0.027983769416859854,
            -0.18703481171909308, 0.030841381835560764, 0.032883011666885200, -0.010597401785069032],
}


def hadamard(x):
    """The Hadamard transform, its own inverse. Treats a block as a cube of side 2 and transforms one axis after the
    other."""
    y, start = np.array(x, float), 0
    for power in range(y.size.bit_length() - 1, -1, -1):
        if y.size >> power & 1:
            cube = y[start:start + 2**power].reshape([2] * power)
            for axis in range(power):
                low, high = np.take(cube, 0, axis), np.take(cube, 1, axis)
                cube = np.stack([low + high, low - high], axis) / R2
            y[start:start + 2**power] = cube.reshape(-1)
            start += 2**power
    return y


def filters(family):
    s = np.array(TAPS[family])
    return s, (-1.0)**np.arange(s.size) * s[::-1]


def level_sizes(n, levels):
    sizes = []
    while n >= 2 and (levels == 0 or len(sizes) < levels):
        sizes.append(n)
        n //= 2
    return sizes


def wavelet_back(c, family, levels):
    values = np.array(c, float)
    s, d = filters(family)
    for m in reversed(level_sizes(values.size, levels)):
        h = m // 2
        smooth, detail, made = values[:h].copy(), values[h:2 * h].copy(), np.zeros(2 * h)
        for t in range(s.size):
            np.add.at(made, (2 * np.arange(h) + t) % (2 * h), s[t] * smooth + d[t] * detail)
        values[:2 * h] = made
    return values


def wavelet(x, family, levels):
    values = np.array(x, float)
    s, d = filters(family)
    for m in level_sizes(values.size, levels):
        h = m // 2
        heard = values[(2 * np.arange(h)[:, None] + np.arange(s.size)) % (2 * h)]
        values[:h], values[h:2 * h] = heard @ s, heard @ d
    return values


def back(name, keys, c):
    return hadamard(c) if name == "hadamard" else wavelet_back(c, keys["family"], int(keys["levels"]))


def to(name, keys, x):
    return hadamard(x) if name == "hadamard" else wavelet(x, keys["family"], int(keys["levels"]))
