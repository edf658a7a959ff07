#!/usr/bin/env python3
"""sketches.py -- decodes payloads of countsketch and countmin, written from docs/FORMAT.md alone: hashes, medians, least cells."""
import numpy as np

from codes import F32, Bytes, floats
from container import need
from draws import BLOCK, key_below, slice_of

SIGN, BUCKET = 8, 9
DEFAULTS = {
    "countsketch": {"rows": "5", "bits": "1", "topk": "0"},
    "countmin": {"rows": "5", "bits": "1", "topk": "0", "estimate": "min-split"},
}


def mixed(key, i):
    """Returns the hash words of the elements i, an array."""
    x = (i.astype(np.uint32) * np.uint32(0x9E3779B9)) + np.uint32(key[0])
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= (x >> np.uint32(15)) ^ np.uint32(key[1])
    x *= np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def hashes(address, row, n, cols):
    """Returns every element's bucket and sign in a row."""
    seed, repeat, _, step, tensor = address
    buckets, signs = np.zeros(n, np.int64), np.zeros(n, F32)
    for b in range((n + BLOCK - 1) // BLOCK):
        i = np.arange(min(BLOCK, n - b * BLOCK))
        here = slice(b * BLOCK, b * BLOCK + len(i))
        everyone = (seed, repeat, -1, step, tensor)
        first, end = slice_of(b, n, cols)
        words = mixed(key_below(everyone, row, BUCKET, b), i).astype(np.uint64)
        buckets[here] = first + (words * np.uint64(end - first) >> np.uint64(32)).astype(np.int64)
        words = mixed(key_below(everyone, row, SIGN, b), i // 32)
        signs[here] = 1 - 2 * (words >> (i % 32).astype(np.uint32) & np.uint32(1)).astype(np.int64)
    return buckets, signs


def medians(rows):
    rows, middle = np.sort(rows, 0), len(rows) // 2
    return rows[middle] if len(rows) % 2 else rows[middle - 1] * F32(0.5) + rows[middle] * F32(0.5)


def only_largest(x, k):
    if 0 < k < len(x):
        x[np.argsort(-np.abs(x), kind="stable")[k:]] = 0
    return x


def decode(name, data, n, keys, address):
    split = keys.get("estimate") == "min-split"
    rows, tables = int(keys["rows"]), 2 if split else 1
    size = int(float(keys.get("bits", 1)) * n / 8) - 1
    cols = int(keys["cols"]) if "cols" in keys else min(max(1, size // (4 * rows * tables)), 2**31 - 1)
    raw, source = rows * tables * cols >= n, Bytes(data)
    kind = source.byte()
    need(kind in (0 if raw else 1, 2), f"kind {kind}")
    need(kind != 2 or source.varint() > 0, "the sum of no workers")
    count = n if raw else rows * tables * cols
    cells = floats(source.take(4 * count), count)
    source.end()
    if raw:
        return cells
    need(not np.any((cells == 0) & np.signbit(cells)) and not (split and np.any(cells < 0)), "a cell that is no sum")
    cells, found = cells.reshape(rows, tables, cols), []
    for row in range(rows):
        bucket, sign = hashes(address, row, n, cols)
        found.append(cells[row][:, bucket] * (sign if name == "countsketch" else F32(1)))
    found = np.array(found, F32).reshape(rows, tables, n)
    x = found[:, 0].min(0) - found[:, 1].min(0) if split else medians(found[:, 0]) + F32(0)
    return only_largest(x.astype(F32), int(keys["topk"]))
