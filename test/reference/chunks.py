"""chunks.py -- chunktopk's payload by docs/FORMAT.md: the chunks of a matrix, and what is sent of each."""
import functools
import math

import numpy as np

from codes import F32, floats, index_set, planes
from container import need

DEFAULTS = {"chunktopk": {"k": "32", "chunk": "64", "transform": "none", "values": "f32"}}


def piece(side, most):
    return max(d for d in range(1, min(side, most) + 1) if side % d == 0)


def chunk_shape(shape, keys):
    rows = shape[0] if shape else 1
    cols = math.prod(shape[1:])
    high, wide = piece(rows, int(keys["chunk"])), piece(cols, int(keys["chunk"]))
    return rows // high, high, cols // wide, wide


def to_chunks(x, shape, keys):
    """Returns x as an array (chunks, high, wide)."""
    down, high, across, wide = chunk_shape(shape, keys)
    return x.reshape(down, high, across, wide).transpose(0, 2, 1, 3).reshape(-1, high, wide)


def from_chunks(y, shape, keys):
    down, high, across, wide = chunk_shape(shape, keys)
    return y.reshape(down, across, high, wide).transpose(0, 2, 1, 3).reshape(-1)


@functools.cache
def cosines(n):
    """Returns the matrix of the orthonormal DCT-II of n elements."""
    k, i = np.arange(n)[:, None], np.arange(n)[None, :]
    return np.cos(np.pi * (2 * i + 1) * k / (2 * n)) * np.where(k == 0, math.sqrt(1 / n), math.sqrt(2 / n))


def back(y):
    return cosines(y.shape[1]).T @ y @ cosines(y.shape[2])


def values_of(source, count, form):
    if form == "f32":
        found = floats(source.take(4 * count), count)
        need((found != 0).all(), "a value that is 0")
    elif form == "bf16":
        found = floats(b"".join(b"\0\0" + source.take(2) for _ in range(count)), count)
    elif count:
        mean = floats(source.take(16), 4)
        found = mean[planes(source.take(len(source.data) - source.at), count, 2)]
    else:
        found = np.zeros(0, F32)
    return found


def decode(source, shape, n, keys):
    members = index_set(source, n)
    found = values_of(source, len(members), keys["values"])
    source.end()
    down, high, across, wide = chunk_shape(shape, keys)
    size = high * wide
    need(not len(members) or np.bincount(members // size).max() <= int(keys["k"]), "too many elements of a chunk")
    y = np.zeros(n)
    y[members] = found
    y = y.reshape(-1, high, wide)
    with np.errstate(over="ignore"):
        result = from_chunks(back(y) if keys["transform"] == "dct" else y, shape, keys).astype(F32)
    need(np.isfinite(result).all(), "an element beyond float32")
    return result
