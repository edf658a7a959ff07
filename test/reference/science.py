"""science.py -- the payloads of zfp by docs/FORMAT.md, without its library."""
import itertools
import math

import numpy as np

from codes import F32
from container import need, refuse

DEFAULTS = {"zfp": {"rate": "8", "view": "cube"}}


# ---- zfp: blocks of integers, coded plane by plane ----

def place(index):
    """Returns the rank of a coefficient: lower frequencies are first, equal ones are in cyclic order of the axes."""
    total, squares, most = sum(index), sum(i * i for i in index), max(index)
    if len(set(index)) == 2 and len(index) == 3:  # two are equal: the axis of the third
        return total, squares, min(range(3), key=lambda a: index.count(index[a])), 0
    first = index.index(most)
    middle = sorted(index)[-2] if len(index) > 1 else 0
    turned = [index[(first + 1 + a) % len(index)] for a in range(len(index) - 1)]
    return total, squares, first, turned.index(middle) if turned else 0


def order(dims):
    """Returns the positions in a block (x runs fastest) in which coefficients are coded."""
    found = sorted(itertools.product(range(4), repeat=dims), key=place)  # (x, y, z)
    return [sum(i * 4 ** axis for axis, i in enumerate(index)) for index in found]


def grid(shape, n, view):
    rows = shape[0] if shape else 1
    columns = math.prod(shape[1:])
    if view == "matrix" and rows > 1 and columns > 1:
        return 2, (rows, columns)
    if view != "cube" or n < 16:
        return 1, None
    return (2 if n < 64 else 3), None


class BitList:
    def __init__(self, data):
        self.bits, self.at = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").tolist(), 0

    def one(self):
        self.at < len(self.bits) or refuse("the end of the bits")
        self.at += 1
        return self.bits[self.at - 1]

    def number(self, count):
        start = self.at
        self.at = end = start + count
        end <= len(self.bits) or refuse("the end of the bits")
        return sum(bit << i for i, bit in enumerate(self.bits[start:end]))


def block_planes(source, size, planes, budget):
    """Reads a block's negabinary integers, at most `budget` bits of their highest `planes` planes."""
    data, known = [0] * size, 0
    for k in range(31, 31 - planes, -1):
        if not budget:
            break
        count = min(known, budget)
        budget -= count
        for i in range(count):
            data[i] |= source.one() << k
        while known < size and budget:
            budget -= 1
            if not source.one():
                break
            while known < size - 1 and budget:
                budget -= 1
                if source.one():
                    break
                known += 1
            data[known] |= 1 << k
            known += 1
    return data


def lift(p, axis):
    x, y, z, w = (np.take(p, i, axis) for i in range(4))
    y = y + (w >> 1)
    w = w - (y >> 1)
    y = y + w
    w = (w << 1) - y
    z = z + x
    x = (x << 1) - z
    y = y + z
    z = (z << 1) - y
    w = w + x
    x = (x << 1) - w
    return np.stack([x, y, z, w], axis)


def blocks_of(shape, n, keys):
    """Returns the dimensions of a block, the matrix or None, blocks in a row of them, all blocks, bits of a block."""
    dims, matrix = grid(shape, n, keys["view"])
    across = -(-matrix[1] // 4) if matrix else 0
    count = -(-matrix[0] // 4) * across if matrix else -(-n // 4 ** dims)
    most = max(math.floor(4 ** dims * float(keys["rate"]) + 0.5), 9) if "accuracy" not in keys else math.inf
    return dims, matrix, across, count, most


def is_raw(shape, n, keys):
    if "accuracy" in keys:
        return True if n == 0 else None
    count, most = blocks_of(shape, n, keys)[3:]
    return -(-count * most // 8) >= 4 * n


def zfp(data, shape, n, keys):
    dims, matrix, across, count, most = blocks_of(shape, n, keys)
    size, source, fixed = 4 ** dims, BitList(data), most < math.inf
    lowest = None if fixed else math.frexp(float(keys["accuracy"]))[1] - 1
    codes, powers, places = np.zeros((count, size), np.uint32), np.zeros(count, int), order(dims)
    for b in range(count):
        start = source.at
        if source.one():
            powers[b] = source.number(8) - 127
            planes = 32 if fixed else min(32, max(0, powers[b] - lowest + 2 * dims + 2))
            codes[b, places] = block_planes(source, size, planes, most - 9)
        if fixed:
            need(start + most <= len(source.bits), "the end of the bits")
            source.at = start + most
    need(len(source.bits) - source.at < 8 and not any(source.bits[source.at:]), "padding, or bytes left over")
    mask = np.uint32(0xaaaaaaaa)
    whole = ((codes ^ mask) - mask).view(np.int32).reshape((count,) + (4,) * dims)  # axes: block, z, y, x
    for axis in range(1, dims + 1):
        whole = lift(whole, axis)
    scale = np.ldexp(np.ones(count, F32), (powers - 30).astype(np.int32))
    with np.errstate(over="ignore"):
        values = whole.reshape(count, size).astype(F32) * scale[:, None]
    if not matrix:
        result = values.reshape(-1)[:n]
    else:
        result = values.reshape(-1, across, 4, 4).transpose(0, 2, 1, 3).reshape(-1, across * 4)[:matrix[0], :matrix[1]]
    need(np.isfinite(result).all(), "a value that is not finite")
    return result.reshape(-1)
