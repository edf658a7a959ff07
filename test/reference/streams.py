#!/usr/bin/env python3
"""streams.py -- the order-0 entropy of a payload's streams: 32 bits per float, 1 bit per raw bit, the entropy of gaps
for index sets."""

import numpy as np

from codes import Bytes, index_set, planes
import decode
import rotations
import symbols
import waves
from container import size_of


def order0(symbols):
    counts = np.unique(symbols, return_counts=True)[1]
    share = counts / max(counts.sum(), 1)
    return float(-(counts * np.log2(share)).sum())


def gaps(places):
    return order0(np.diff(np.asarray(places, dtype=np.int64), prepend=-1))


def sets(name, data, n):
    """Returns the entropy for entry, gspar and lq: index set and floats of the atoms with p = 1 (lq has none); index
    set, tau and sign bits of the other atoms."""
    source, total = Bytes(data), 0.0
    if name != "lq":
        heavy = index_set(source, n)
        source.take(4 * len(heavy))
        total += gaps(heavy) + 32 * len(heavy)
    light = index_set(source, n)
    return total + gaps(light) + (32 + len(light) if len(light) else 0)


def frequencies(data, shape, keys):
    """Returns the entropy of two index sets of atoms, of floats, of tau, and of six bits for each phase."""
    real = waves.frequencies(*decode.wave_shape(shape, keys))[2]
    source, n = Bytes(data), len(real)
    heavy = index_set(source, n)
    floats = 2 * len(heavy) - np.count_nonzero(real[heavy])
    source.take(4 * floats)
    light = index_set(source, n)
    return gaps(heavy) + 32 * floats + gaps(light) + (32 + 6 * len(light) if len(light) else 0)


def svd_vectors(data, shape, keys):
    """Returns the bits of svd's vectors: floats, or the entropy of each vector's payload and the bytes of its size;
    one byte for the number of atoms."""
    if keys["vectors"] == "f32":
        return 8.0 * (len(data) - 1)
    vectors = list(decode.singular_vectors(data[1:], shape, keys))
    sizes = len(data) - 1 - sum(len(own) for _, own in vectors)
    return 8.0 * sizes + sum(order0_bound(decode.vector_spec(keys), values.shape, [own]) for values, own in vectors)


def entropy(spec, shape, rounds):
    """Returns the entropy, but at most the bits sent, which may be fewer as they depend on the order of symbols; None:
    this file has no rule for the codec."""
    bound = order0_bound(spec, shape, rounds) if decode.knows(spec) else None
    return None if bound is None else min(bound, 8.0 * sum(len(own) for own in rounds))


def order0_bound(spec, shape, rounds):
    name, keys = decode.parse(spec)
    n, data = size_of(shape), rounds[-1]
    if name == "none" and keys["code"] == "fixed":
        return 32.0 * n
    if data[:1] == b"\0":
        return 32.0 * n
    if name in ("powersgd", "lowrank"):
        return 8.0 * sum(len(own) - 1 for own in rounds)
    if name == "joint":
        return 8.0 + order0_bound(decode.CHOICES[data[1]], shape, [data[:1] + data[2:]])
    if name in ("none", "fp16", "bf16") and keys["code"] == "rans":
        planes = 3 * n if name == "none" else n
        return 8.0 * planes + symbols.bound(data[1 + planes:], n, 8)
    if name in ("fp16", "bf16"):
        return 16.0 * n
    if name in ("stc", "adaq", "strom"):
        places = index_set(Bytes(data[1:]), n)
        count = len(places)
        return gaps(places) + count + (0 if count == 0 else 64 if name == "adaq" else 32)
    if name in ("sign", "scaledsign", "onebit"):
        return 8.0 * (len(data) - 1 - (n + 7) // 8) + n
    if name == "natural" and keys["code"] == "rans":
        return symbols.bound(data[1:], n, 9)
    if name == "natural":
        exponents = decode.natural_codes(data[1:], n, keys)[0]
        return order0(exponents) + np.count_nonzero(exponents)
    if name == "zipml":
        levels = decode.zipml_parts(data[1:], n, decode.with_rows(name, keys, shape))[0]
        return 32.0 * levels.size + symbols.bound(data[1 + 4 * levels.size:], n, (int(keys["levels"]) - 1).bit_length())
    if name == "minmax":
        buckets = decode.bucket_heads(n, keys)[1]
        return 64.0 * buckets + order0(planes(data[1 + 8 * buckets:], n, int(keys["bits"])))
    if name == "svd":
        return svd_vectors(data, shape, keys)
    if name == "fourier":
        return frequencies(data[1:], shape, keys)
    if name in ("countsketch", "countmin"):
        return 8.0 * (len(data) - 1)
    if name == "randk":
        return 8.0 * (len(data) - 1)
    if name in decode.SPARSIFIERS:
        places = index_set(Bytes(data[1:]), n)
        return gaps(places) + 32 * len(places)
    if name in ("entry", "gspar", "wavelet", "hadamard", "dct", "lq"):
        return sets(name, data[1:], n)
    if name == "intsgd":
        return 32.0 + order0(decode.intsgd_codes(rounds, n, keys)[1])
    if name == "thc":
        count = len(list(rotations.blocks(n)))
        return 32.0 * count + order0(planes(decode.shared_scales(rounds, count, keys["share"])[1], n, int(keys["bits"])))
    if name == "rotated":
        found = list(rotations.read_levels(data[1:], n, int(keys["bits"])))
        return 64.0 * len(found) + order0(np.concatenate([block[4] for block in found]))
    if name in ("drive", "eden"):
        return rotated(data[1:], n, rotations.bits_of(name, keys))
    if name not in ("qsgd", "nuqsgd", "terngrad"):
        return None
    if keys["code"] == "rans":
        return levels_bound(name, keys, n, rounds)
    levels, scales = levels_of(name, keys, n, rounds)
    return 32.0 * scales + order0(np.abs(levels)) + np.count_nonzero(levels)


def levels_bound(name, keys, n, rounds):
    """Returns the entropy of floats and symbols of qsgd and terngrad."""
    if name == "terngrad":
        return 32.0 + symbols.bound(rounds[1][1:] if keys["share"] == "on" else rounds[0][5:], n, 2)
    bucket = int(keys["bucket"]) or n
    s = int(keys["levels"]) if "levels" in keys else 2**int(keys["bits"]) - 1
    scales = -(-n // bucket)
    return 32.0 * scales + symbols.bound(rounds[0][1 + 4 * scales:], n, s.bit_length() + 1)


def rotated(data, n, bits):
    found = list(rotations.read_blocks(data, n, bits))
    return 32.0 * len(found) + sum(order0(np.concatenate([block[part] for block in found])) for part in (4, 5))


def levels_of(name, keys, n, rounds):
    if name == "terngrad":
        codes = rounds[1][1:] if keys["share"] == "on" else rounds[0][5:]
        return decode.ternary_codes(codes, n, keys["code"]), 1
    bucket = int(keys["bucket"]) or n
    s = int(keys["levels"]) if "levels" in keys else 2**int(keys["bits"]) - 1
    scales, data = (n + bucket - 1) // bucket, rounds[0][1:]
    if keys["code"] == "fixed":
        return decode.codes_to_levels(planes(data[4 * scales:], n, s.bit_length() + 1), s.bit_length()), scales
    return decode.elias_levels(data[4 * scales:], n, bucket, s, keys["code"]), scales
