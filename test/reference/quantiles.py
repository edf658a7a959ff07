#!/usr/bin/env python3
"""quantiles.py -- decodes payloads of sketchml, written from docs/FORMAT.md alone: keys, cells, and the largest cell
of each key."""
from math import ceil

import numpy as np

from codes import F32, Bytes, index_set, planes
from container import need, refuse
from draws import BLOCK, key_below, slice_of
from sketches import BUCKET, mixed

DEFAULTS = {"quantiles": "256", "rows": "2", "cols": "0.3", "groups": "8", "keys": "delta-binary"}


def planes_bytes(count, width):
    return 8 * width * (count // 64) + (count % 64 + 7) // 8 * width


def delta_keys(source, n):
    count = source.varint()
    need(count <= n, f"{count} keys of {n}")
    sizes = planes(source.take(planes_bytes(count, 2)), count, 2)
    previous, keys = -1, []
    for size in (sizes + 1).tolist():
        distance = int.from_bytes(source.take(size), "little")
        distance and (distance.bit_length() + 7) // 8 == size or refuse(f"a distance of {distance} in {size} bytes")
        previous += distance
        previous < n or refuse("a key beyond the end")
        keys.append(previous)
    return np.array(keys, np.int64)


def buckets(address, row, keys, cols):
    found = np.zeros(len(keys), np.int64)
    for block in np.unique(keys // BLOCK):
        here = keys // BLOCK == block
        found[here] = mixed(key_below(address, row, BUCKET, int(block)), keys[here] % BLOCK)
    edges = np.array([slice_of(block, len(keys), cols) for block in range(-(-len(keys) // BLOCK))])
    first, end = edges[np.arange(len(keys)) // BLOCK].T
    return first + (found * (end - first) >> 32)


def bins_of(source, members, bins, keys, address):
    """Returns for every element the index of its bin within its group of bins."""
    found, rows = np.zeros(len(members), np.int64), int(keys["rows"])
    width = (bins - 1).bit_length()
    if not len(members) or not width:
        return found
    cols = max(1, ceil(float(keys["cols"]) * len(members)))
    cells = planes(source.take(planes_bytes(rows * cols, width)), rows * cols, width).reshape(rows, cols)
    need((cells < bins).all(), "a cell of no bin")
    for row in range(rows):
        found = np.maximum(found, cells[row, buckets(address, row, members, cols)])
    return found


def sketchml(data, n, keys, address):
    source, x, taken = Bytes(data), np.zeros(n, F32), np.zeros(n, bool)
    quantiles, groups = int(keys["quantiles"]), int(keys["groups"])
    sides = [source.varint(), source.varint()]
    need(sum(sides) <= quantiles, f"{sides} bins")
    values = [np.array([source.f32() for _ in range(count)], F32) for count in sides]
    for side in values:
        need((np.isfinite(side) & (side > 0)).all() and (np.diff(side) >= 0).all(), "a value that is no magnitude or falls")
    run = (quantiles + groups - 1) // groups
    for side, sign in zip(values, (1, -1)):
        for first in range(0, len(side), run):
            members = delta_keys(source, n) if keys["keys"] == "delta-binary" else index_set(source, n)
            need(not taken[members].any(), "an element in two groups")
            taken[members] = True
            inside = side[first:first + run]
            x[members] = F32(sign) * inside[bins_of(source, members, len(inside), keys, address)]
    source.end()
    need(1 + len(data) < 4 * n + 1, "longer than floats")
    return x
