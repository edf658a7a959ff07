#!/usr/bin/env python3
"""lowrank.py -- decodes payloads of low-rank codecs, written from docs/FORMAT.md alone: plain and slow."""
import functools

import numpy as np
from scipy.special import ndtri

from codes import F32, Bytes, floats, index_set
from container import need, size_of
from draws import BLOCK, absorb, word64

START = 5


@functools.lru_cache(4096)
def key_below(address, index, use, block):
    state = (0x61746F6D, 0x6F000001, 0, 0)
    for word in address:
        state = absorb(state, word)
    if index is not None:
        state = absorb((state[0] ^ 0x62656C6F, *state[1:]), index)
    return absorb(absorb(state, use), block)


def normals(address, index, first, count):
    """Returns normal numbers as float64 from the generator that all workers share, or from a generator derived from
    it."""
    seed, repeat, _, step, tensor = address
    shared = (seed, repeat, -1, step, tensor)
    words = [word64(key_below(shared, index, START, i // BLOCK), i % BLOCK) for i in range(first, first + count)]
    return ndtri((np.array([w >> 11 for w in words], float) + 0.5) * 2.0**-53)


def addends(data, count, own):
    """Reads the floats of one worker, or sums of several workers' floats."""
    source = Bytes(data)
    kind = source.byte()
    need(kind in (own, 2), f"kind {kind}")
    need(kind != 2 or source.varint() > 0, "the sum of no workers")
    values = floats(source.take(4 * count), count)
    source.end()
    return values.astype(float)


def orthonormal(v, address, index):
    basis = []
    for k, own in enumerate(v):
        was, rest = np.linalg.norm(own), beside(own, basis)
        if not np.linalg.norm(rest) > 1e-6 * was:
            rest = beside(normals(address, index, k * own.size, own.size).astype(F32).astype(float), basis)
        basis.append(rest / np.linalg.norm(rest))
    return np.array(basis).astype(F32).astype(float)


def beside(own, basis):
    for _ in range(2):
        for other in basis:
            own = own - (own @ other) * other
    return own


def shared_topk_is_raw(shape, rows, cols, k, sketch):
    n = size_of(shape)
    first = 16 * rows if sketch else 11 + (n + 7) // 8
    return n == 0 or (sketch and len(shape) < 2) or 2 + first + 4 * k * cols >= 4 * n + 1


def sketched(data, rows, k):
    squares = np.zeros(rows)
    for p in addends(data, 4 * rows, 1).reshape(4, rows):
        squares += p * p
    norms = (np.sqrt(squares) / 2).astype(F32)
    order = np.argsort(-norms, kind="stable")[:k]
    return np.sort(order[norms[order] > 0])


def led(data, n, k):
    if not data:
        return np.zeros(0, int)
    source = Bytes(data)
    need(source.byte() == 1, "kind of the set")
    members = index_set(source, n)
    source.end()
    need(len(members) <= k, "more members than k")
    return members


def shared_topk(rounds, rows, cols, k, sketch):
    need(len(rounds) == 2, f"{len(rounds)} rounds")
    values = addends(rounds[1], k * cols, 1)
    chosen = sketched(rounds[0], rows, k) if sketch else led(rounds[0], rows, k)
    need(not values[len(chosen) * cols:].any(), "a value that belongs to no row")
    result = np.zeros((rows, cols), F32)
    result[chosen] = values[:len(chosen) * cols].reshape(-1, cols)
    return result


def lowrank_is_raw(shape, cols, keys):
    return len(shape) < 2 or not size_of(shape) or int(keys["rank"]) >= cols


def lowrank(last, rows, cols, keys, address):
    rank = int(keys["rank"])
    p = addends(last, rank * rows, 1).reshape(rank, rows)
    q = (normals(address, None, 0, rank * cols) / np.sqrt(rank)).astype(F32).astype(float).reshape(rank, cols)
    most = np.abs(p).max(1) @ np.abs(q).max(1)
    need(most <= np.finfo(F32).max.astype(float) / 2, "values beyond float32")
    return (p.T @ q).astype(F32)


def powersgd_is_raw(shape, rows, cols, keys):
    rank, iters = int(keys["rank"]), int(keys["iters"])
    return len(shape) < 2 or not size_of(shape) or rank >= min(rows, cols) or \
        iters * (2 + 4 * rank * (rows + cols)) >= 4 * size_of(shape) + 1


def powersgd(rounds, rows, cols, keys, address):
    rank = int(keys["rank"])
    need(len(rounds) == 2 * int(keys["iters"]), f"{len(rounds)} rounds")
    factors = [addends(data, rank * (cols if i % 2 else rows), 1) for i, data in enumerate(rounds)]
    p = orthonormal(factors[-2].reshape(rank, rows), address, len(rounds) - 1)
    q = factors[-1].reshape(rank, cols)
    need(np.abs(q).max(1).sum() <= np.finfo(F32).max.astype(float) / 2, "values beyond float32")
    return (p.T @ q).astype(F32)
