#!/usr/bin/env python3
"""decode.py -- an independent decoder of every payload, written from docs/FORMAT.md alone.

    decode(spec, shape, rounds, address) -> float32 array   rounds: the payloads of all rounds of one worker; the
                                                            merged payload of a round is the worker's own payload
                                                            address: (seed, repeat, worker, step, tensor)

The only inputs are the payloads' bytes, the spec, the shape and the address of the random numbers. Bits are handled
slowly, as text of 0 and 1.
usage: decode.py FILE.atomo [OUT.npz] lists the tensors of a container and saves them.
"""
import struct
import sys

import numpy as np

import blockfloats
import chunks
import clusters
import dyadic
import lowrank
import quantiles
import rotations
import science
import sketches
import symbols
import waves
import wrappers
from codes import F32, Bits, Bytes, floats, index_set, planes, trits
from container import need, read, refuse, size_of
from draws import subset

BLOCK = 1 << 16
DEFAULTS = {
    "none": {"code": "fixed"}, "fp16": {"rounding": "nearest", "code": "fixed"}, "bf16": {"rounding": "nearest", "code": "fixed"}, "ef": {"decay": "1"},
    "entry": {"ratio": "0.01", "probs": "optimal", "empty": "send", "draw": "independent"},
    "svd": {"rank": "3", "reshape": "paper", "method": "auto", "vectors": "f32", "vbits": "8", "probs": "optimal",
            "empty": "send", "draw": "independent"},
    "wavelet": {"ratio": "0.01", "family": "haar", "levels": "0", "probs": "optimal", "empty": "send",
                "draw": "independent"},
    "dct": {"ratio": "0.01", "dims": "1", "probs": "optimal", "empty": "send", "draw": "independent"},
    "fourier": {"ratio": "0.01", "dims": "1", "probs": "optimal", "empty": "send", "draw": "independent"},
    "hadamard": {"ratio": "0.01", "probs": "optimal", "empty": "send", "draw": "independent"},
    "lq": {"q": "2"},
    "gspar": {"density": "0.01"},
    "randk": {"ratio": "0.01", "shared": "on"},
    "topk": {"ratio": "0.01", "share": "off"},
    "threshold": {"rel": "0.01"}, "gaussiank": {"ratio": "0.01"}, "sidco": {"ratio": "0.01"},
    "dgc": {"ratio": "0.001", "sample": "0.01", "momentum": "0.9", "mask": "on"},
    "qsgd": {"bits": "4", "bucket": "512", "norm": "l2", "code": "elias"},
    "intsgd": {"bits": "8", "share": "on"},
    "thc": {"bits": "4", "share": "on"},
    "rotated": {"bits": "4"},
    "drive": {"scale": "unbiased", "rotations": "2"},
    "eden": {"bits": "2", "rotations": "2"},
    "terngrad": {"clip": "0", "code": "trit", "share": "off"},
    "lowrank": {"rank": "2"},
    "powersgd": {"rank": "2", "warm": "on", "iters": "1", "reshape": "rows"},
    "nuqsgd": {"bits": "4", "bucket": "8192", "code": "fixed"},
    "natural": {"code": "fixed"},
    "minmax": {"bits": "4", "bucket": "512", "rounding": "nearest"},
    "zipml": {"levels": "16", "bucket": "512", "solver": "exact"},
    "joint": {"bits": "1"},
    "sign": {}, "scaledsign": {"scale": "tensor"}, "onebit": {"scope": "column"},
    "cas": clusters.DEFAULTS,
    "sketchml": quantiles.DEFAULTS,
    "stc": {"ratio": "0.01"}, "adaq": {"ratio": "0.01"}, "strom": {},
    **blockfloats.DEFAULTS, **sketches.DEFAULTS, **chunks.DEFAULTS, **science.DEFAULTS,
}
SPARSIFIERS = ("topk", "threshold", "gaussiank", "sidco", "dgc")
CHOICES = ("entry", "svd")  # the codecs between which joint chooses if it wraps none


def knows(spec):
    """Returns whether this reader has the innermost codec, or the wrapper that stands alone."""
    return spec.split("+")[-1].partition(":")[0] in DEFAULTS


def parse(spec):
    """Returns name and keys of the innermost codec; wrappers such as ef+ do not change the payload."""
    name, _, keys = spec.split("+")[-1].partition(":") if "e+" not in spec else spec.rpartition("ef+")[2].partition(":")
    given = dict(key.split("=", 1) for key in keys.split(",")) if keys else {}
    values = dict(DEFAULTS[name])
    values.update(given)
    return name, values


# ---- codecs: the bytes that follow the byte for the kind ----

def light_part(source, n, result):
    """Reads the atoms with p < 1, which have one common magnitude; returns their indices and tau."""
    light = index_set(source, n)
    if len(light) == 0:
        return light, F32(0)
    tau = source.f32()
    need(np.isfinite(tau) and tau > 0, "tau")
    signs = np.unpackbits(np.frombuffer(source.take((len(light) + 7) // 8), np.uint8), bitorder="little")
    need(not signs[len(light):].any(), "padding of the signs")
    result[light] = np.where(signs[:len(light)] == 1, -tau, tau)
    return light, tau


def entry(data, n, _keys):
    source, result = Bytes(data), np.zeros(n, F32)
    heavy = index_set(source, n)
    values = floats(source.take(4 * len(heavy)), len(heavy))
    light, tau = light_part(source, n, result)
    source.end()
    need((np.abs(values) > tau).all(), "a heavy value that is not above tau")
    need(not np.intersect1d(heavy, light).size, "an element in both sets")
    result[heavy] = values
    return result


def sparse(data, n, keys, name):
    """Reads a set of elements and their values, with checks of the number of elements or their magnitudes where
    known."""
    source, result = Bytes(data), np.zeros(n, F32)
    members = index_set(source, n)
    values = floats(source.take(4 * len(members)), len(members))
    source.end()
    need(1 + len(data) < 4 * n + 1, "a payload as long as floats")
    need(np.isfinite(values).all() and (values != 0).all(), "a value that is 0 or not finite")
    if name == "topk":
        need(len(members) <= kept(n, keys), "more members than k")
    if name == "dgc":
        need(len(members) <= 1.3 * kept(n, keys), "more members than 1.3 k")
    if name == "threshold" and len(values):
        sizes = np.abs(values.astype(float))
        least = float(keys["tau"]) if "tau" in keys else float(keys["rel"]) * sizes.max()
        need((sizes >= least).all(), "a value under the threshold")
    result[members] = values
    return result


def dyadic_atoms(data, n, keys, name):
    with np.errstate(over="ignore"):
        result = dyadic.back(name, keys, entry(data, n, keys)).astype(F32)
    need(np.isfinite(result).all(), "a value beyond float32")
    return result


def wave_shape(shape, keys):
    n = size_of(shape)
    return (1, n) if keys["dims"] == "1" or n == 0 else matrix_shape(shape, "paper")


def within_float32(values):
    with np.errstate(over="ignore"):
        result = values.astype(F32)
    need(np.isfinite(result).all(), "a value beyond float32")
    return result


def dct(data, shape, keys):
    coefficients = entry(data, size_of(shape), keys)
    return within_float32(waves.cosines_back(coefficients.reshape(wave_shape(shape, keys)))) if size_of(shape) else coefficients


def phases(source, count):
    bits = Bits(source.take((6 * count + 7) // 8))
    found = np.array([bits.number(6) for _ in range(count)], int)
    bits.end()
    return found


def complex_floats(source, real):
    z = np.zeros(len(real), complex)
    for i, alone in enumerate(real):
        z[i] = float(source.f32()) + (0 if alone else 1j * float(source.f32()))
    need(np.isfinite(z).all() and z.all(), "a coefficient that is 0 or not finite")
    return z


def fourier(data, shape, keys):
    rows, cols = wave_shape(shape, keys)
    source, real = Bytes(data), waves.frequencies(rows, cols)[2]
    z = np.zeros(len(real), complex)
    heavy = index_set(source, len(real))
    values = complex_floats(source, real[heavy])
    light = index_set(source, len(real))
    if len(light):
        tau = float(source.f32())
        need(np.isfinite(tau) and tau > 0, "tau")
        phase = phases(source, len(light))
        need(not (phase[real[light]] % 32).any(), "a real atom's phase")
        need((np.abs(values) >= 0.9987 * tau - 3e-45).all(), "a heavy value that is not above tau")
        z[light] = tau * np.exp(2j * np.pi * phase / 64)
    source.end()
    need(not np.intersect1d(heavy, light).size, "an atom in both sets")
    z[heavy] = values
    return within_float32(waves.atoms_back(z, rows, cols)) if len(real) else np.zeros(0, F32)


def lq(data, n, _keys):
    source, result = Bytes(data), np.zeros(n, F32)
    light_part(source, n, result)
    source.end()
    return result


def kept(n, keys):
    return min(n, max(1, int(float(keys["ratio"]) * n + 0.5)))


def shared_rows(shape, keys):
    """Of topk with share: rows, columns, rows that are sent, and whether a sketch selects them."""
    sketch = keys["share"] == "sketch"
    rows, cols = matrix_shape(shape, "rows") if sketch else (size_of(shape), 1)
    return rows, cols, kept(rows, keys), sketch


def randk(last, n, keys, address):
    source, k = Bytes(last), kept(n, keys)
    kind = source.byte()
    if kind == 2 and keys["shared"] == "on":
        need(source.varint() > 0, "the sum of no workers")
    else:
        need(kind == 1 and k < n, f"kind {kind}")
    values = floats(source.take(4 * k), k)
    source.end()
    seed, repeat, worker, step, tensor = address
    members = subset((seed, repeat, -1 if keys["shared"] == "on" else worker, step, tensor), n, k)
    result = np.zeros(n, F32)
    with np.errstate(over="ignore"):
        result[members] = values.astype(float) * (n / k) if n else values
    need(np.isfinite(result).all(), "a value beyond float32")
    return result


def matrix_shape(shape, reshape):
    n = size_of(shape)
    if reshape == "square":
        rows = next((r for r in range(int(n**0.5), 0, -1) if n % r == 0), 1) if n else 1
        return n // rows, rows
    if len(shape) == 0:
        return 1, 1
    if reshape == "paper" and len(shape) == 1:
        return (n // 2, 2) if n % 2 == 0 else (n, 1)
    if reshape == "paper" and len(shape) == 4:
        x, y, k = shape[0], shape[1], shape[2] * shape[3]
        if k == 1:
            return x, y
        return (x * y // 2, 2 * k) if x * y % 2 == 0 else (x * y, k)
    return shape[0], size_of(shape[1:])


def vector_spec(keys):
    """Returns the spec of the codec whose payload a rounded singular vector is."""
    return "bf16:rounding=stochastic" if keys["vectors"] == "bf16" else f"qsgd:bits={keys['vbits']},bucket=512"


def singular_vectors(data, shape, keys):
    """Returns (values, payload bytes) for each vector of a payload, left and right vectors in turn."""
    sides = matrix_shape(shape, keys["reshape"])
    source = Bytes(data)
    count = source.varint()
    need(count <= min(sides), f"{count} atoms")
    for i in range(2 * count):
        n = sides[i % 2]
        if keys["vectors"] == "f32":
            own = source.take(4 * n)
            yield floats(own, n).astype(float), own
        else:
            own = source.take(source.varint())
            yield decode(vector_spec(keys), (n,), [own]).astype(float), own
    source.end()


def svd_is_unit(keys, values, own):
    """True when a singular vector has length one up to its rounding."""
    if keys["vectors"] == "bf16":
        return abs(values @ values - 1) < 2.0**-6 * (1 + 2.0**-7)
    if keys["vectors"] == "qsgd" and own[0] == 1:
        values = floats(own[1:1 + 4 * ((values.size + 511) // 512)], (values.size + 511) // 512).astype(float)
    return abs(values @ values - 1) <= 1e-5


def svd(data, shape, keys):
    rows, cols = matrix_shape(shape, keys["reshape"])
    result, left = np.zeros((rows, cols), F32), None
    for values, own in singular_vectors(data, shape, keys):
        if left is None:
            need(cols <= rows or svd_is_unit(keys, values, own), "a vector that has not length one")
            left = values
        else:
            need(cols > rows or svd_is_unit(keys, values, own), "a vector that has not length one")
            with np.errstate(over="ignore", invalid="ignore"):
                result += np.outer(left.astype(F32), values.astype(F32))
            left = None
    need(np.isfinite(result).all(), "a value beyond float32")
    return result.reshape(shape)


def omega_bits(value):
    bits = 1
    while value > 1:
        bits += value.bit_length()
        value = value.bit_length() - 1
    return bits


def stream_levels(data, n, bucket, s, dense):
    """Reads signed levels from one stream or, for more than 2^16 elements, from a table and several streams."""
    blocks = (n + BLOCK - 1) // BLOCK
    source = Bytes(data)
    lengths = struct.unpack(f"<{blocks}I", source.take(4 * blocks)) if n > BLOCK else (len(data),)
    levels = np.zeros(n, np.int64)
    for b, length in enumerate(lengths):
        bits, start, end = Bits(source.take(length)), b * BLOCK, min(n, (b + 1) * BLOCK)
        if dense:
            for i in range(start, end):
                level = bits.omega() - 1
                level <= s or refuse(f"level {level}")
                levels[i] = -level if level and bits.one() else level
        else:
            sparse_block(bits, start, end, bucket, s, levels)
        bits.end()
    source.end()
    return levels


def sparse_block(bits, start, end, bucket, s, levels):
    while start < end:
        stop = min(end, (start // bucket + 1) * bucket)
        count, at = bits.omega() - 1, start - 1
        need(count <= stop - start, f"{count} levels in a run of {stop - start}")
        for _ in range(count):
            at += bits.omega()
            at < stop or refuse("a gap beyond its run")
            negative = bits.one()
            level = bits.omega() if s > 1 else 1
            level <= s or refuse(f"level {level}")
            levels[at] = -level if negative else level
        start = stop


def elias_levels(data, n, bucket, s, code):
    if code == "elias":
        need(data[0] <= 1 if data else False, "form")
        return stream_levels(data[1:], n, bucket, s, data[0] == 1)
    return stream_levels(data, n, bucket, s, code == "elias-dense")


def codes_to_levels(codes, bits):
    level, sign = (codes & (2**bits - 1)).astype(np.int64), codes >> bits
    need(not (sign[level == 0]).any(), "a sign of level 0")
    return np.where(sign == 1, -level, level)


def most_bytes(n, bucket, s, code):
    """Returns the largest number of bytes that a code may take, from spec and n alone."""
    blocks = (n + BLOCK - 1) // BLOCK
    table = 4 * blocks if blocks > 1 else 0
    sparse = (n * (2 + (omega_bits(s) if s > 1 else 0))
              + (n // bucket + 1 + blocks) * omega_bits(1 + min(bucket, BLOCK))) // 8 + blocks + table
    dense = n * (omega_bits(s + 1) + 1) // 8 + blocks + table
    return {"elias-sparse": sparse, "elias-dense": dense, "elias": 1 + min(sparse, dense)}[code]


def plane_bytes(n, width):
    return 8 * width * (n // 64) + (n % 64 + 7) // 8 * width


def norms_and_levels(data, n, keys):
    """Reads a payload of qsgd or nuqsgd: norms of buckets, and signed levels up to s."""
    s = int(keys["levels"]) if "levels" in keys else 2**int(keys["bits"]) - 1
    bits, bucket = s.bit_length(), int(keys["bucket"]) or max(n, 1)
    buckets = (n + bucket - 1) // bucket
    source = Bytes(data)
    norms = floats(source.take(4 * buckets), buckets)
    need(not np.signbit(norms).any(), "a negative norm")
    rest = source.take(len(data) - source.at)
    if keys["code"] == "fixed":
        levels = codes_to_levels(planes(rest, n, bits + 1), bits)
    elif keys["code"] == "rans":
        levels = codes_to_levels(symbols.read(rest, n, bits + 1), bits)
    else:
        levels = elias_levels(rest, n, bucket, s, keys["code"])
    need(not (np.abs(levels) > s).any(), "a level above s")
    of = np.arange(n) // bucket
    need(not (levels[norms[of] == 0]).any() if n else True, "levels under a norm of zero")
    return norms, levels, of, s


def qsgd(data, n, keys):
    norms, levels, of, s = norms_and_levels(data, n, keys)
    lift = np.where(norms < F32(2.0**-60), F32(2.0**88), F32(1))
    with np.errstate(over="ignore"):
        unit = (norms * lift / F32(s)).astype(F32)
        drop = (F32(1) / lift).astype(F32)
        need(np.isfinite(F32(s) * unit * drop).all(), "the highest level overflows")
    value = (np.abs(levels).astype(F32) * unit[of] * drop[of]).astype(F32)
    return np.where(levels < 0, -value, value)


def qsgd_is_raw(n, keys):
    s = int(keys["levels"]) if "levels" in keys else 2**int(keys["bits"]) - 1
    bucket = int(keys["bucket"]) or max(n, 1)
    codes = plane_bytes(n, s.bit_length() + 1) + (keys["code"] == "rans") \
        if keys["code"] in ("fixed", "rans") else most_bytes(n, bucket, s, keys["code"])
    return 1 + 4 * ((n + bucket - 1) // bucket) + codes >= 4 * n + 1


def ternary_codes(data, n, code):
    if code == "elias":
        return elias_levels(data, n, max(n, 1), 1, "elias")
    if code == "rans":
        return codes_to_levels(symbols.read(data, n, 2), 1)
    codes = trits(data, n) if code == "trit" else planes(data, n, 2)
    return codes_to_levels(codes, 1)


def terngrad_is_raw(n, keys):
    codes = {"trit": 64 * (n // 320) + (n % 320 + 4) // 5, "2bit": plane_bytes(n, 2), "rans": 1 + plane_bytes(n, 2),
             "elias": most_bytes(n, max(n, 1), 1, "elias")}[keys["code"]]
    return 1 + 4 + (1 if keys["share"] == "on" else 0) + codes >= 4 * n + 1


def terngrad(rounds, n, keys):
    if keys["share"] == "on":
        need(len(rounds) == 2 and len(rounds[0]) == 5 and rounds[0][0] == 1, "round 0")
        scale, codes = Bytes(rounds[0][1:]).f32(), rounds[1][1:]
    else:
        scale, codes = Bytes(rounds[0][1:5]).f32(), rounds[0][5:]
    need(np.isfinite(scale) and not np.signbit(scale), "scale")
    levels = ternary_codes(codes, n, keys["code"])
    need(scale > 0 or not levels.any(), "levels under a scale of zero")
    return (levels * scale).astype(F32)


def intsgd_is_raw(n, keys):
    return 5 + (keys["share"] == "on") + plane_bytes(n, int(keys["bits"])) >= 4 * n + 1


def shared_scales(rounds, count, share):
    """Reads the shared scales of buckets.h and the bytes behind them, also of merged payloads."""
    source = Bytes(rounds[0])
    need(source.byte() == 1, "kind of the scales")
    scales = np.array([source.f32() for _ in range(count)])
    need(np.isfinite(scales).all() and not np.signbit(scales).any(), "a scale")
    if share == "off":
        need(len(rounds) == 1, "one round")
        return scales, rounds[0][1 + 4 * count:]
    source.end()
    return scales, rounds[1][1:]


def intsgd_codes(rounds, n, keys):
    bits = int(keys["bits"])
    (scale,), data = shared_scales(rounds, 1, keys["share"])
    codes = planes(data, n, bits)
    need((codes <= 2**bits - 2).all(), "a code above the largest")
    return scale, codes.astype(int)


def intsgd(rounds, n, keys):
    s = 2**(int(keys["bits"]) - 1) - 1
    scale, codes = intsgd_codes(rounds, n, keys)
    numbers, lift = codes - s, F32(2.0**88) if scale < 2.0**-60 else F32(1)
    need(scale > 0 or not numbers.any(), "numbers at a scale of zero")
    with np.errstate(over="ignore"):
        values = numbers.astype(F32) * F32(float(scale) * float(lift) / s) * (F32(1) / lift)
    need(np.isfinite(values).all(), "a value beyond float32")
    return values


def half(data, n, name, keys):
    lower = 0
    if keys["code"] == "rans":
        rest = 2 * n if name == "none" else 0
        need(len(data) >= n + rest, "length")
        words = symbols.read(data[n + rest:], n, 8).astype(np.uint16) << 8 | np.frombuffer(data[:n], np.uint8)
        if name != "fp16":
            words = words >> 1 | words << 15
        if name == "none":
            lower = np.frombuffer(data[n:n + rest], "<u2").astype(np.uint32)
    else:
        need(len(data) == 2 * n, "length")
        words = np.frombuffer(data, "<u2")
    values = words.view(np.float16).astype(F32) if name == "fp16" else (words.astype(np.uint32) << 16 | lower).view(F32)
    need(np.isfinite(values).all(), "a value that is not finite")
    return values


def sign_bits(data, n):
    need(len(data) == (n + 7) // 8, "length of the signs")
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    need(not bits[n:].any(), "padding of the signs")
    return bits[:n].astype(bool)


def sign_means(data, count):
    means = floats(data[:4 * count], count)
    need(not np.signbit(means).any(), "a mean below zero")
    return means


def scaledsign(data, shape, keys):
    n = size_of(shape)
    count = (n + 511) // 512 if keys["scale"] == "bucket" else 1
    scale = np.repeat(sign_means(data, count), 512 if keys["scale"] == "bucket" else n)[:n]
    return np.where(sign_bits(data[4 * count:], n), -scale, scale)


def onebit_columns(shape, keys):
    n = size_of(shape)
    return n // shape[0] if keys["scope"] == "column" and len(shape) > 1 and n else 1


def onebit(data, shape, keys):
    n, columns = size_of(shape), onebit_columns(shape, keys)
    means = sign_means(data, 2 * columns).reshape(columns, 2)
    minus = sign_bits(data[8 * columns:], n).reshape(-1, columns)
    need(not means[minus.all(0), 0].any() and not means[~minus.any(0), 1].any(), "a mean of no elements")
    return np.where(minus, -means[:, 1], means[:, 0])


def signed_set(data, n, magnitudes, most, tau=None):
    need(len(data) < 4 * n, "floats would take no more")
    source, result = Bytes(data), np.zeros(n, F32)
    members = index_set(source, n)
    need(len(members) <= most, "too many elements")
    if len(members):
        sizes = floats(source.take(4 * magnitudes), magnitudes)
        minus = sign_bits(source.take((len(members) + 7) // 8), len(members))
        for side, size in enumerate(sizes if magnitudes == 2 else []):
            need((size > 0) == bool((minus == side).any()) and not np.signbit(size), "a side's magnitude")
        need(magnitudes == 2 or sizes[0] > 0, "the magnitude")
        need(tau is None or sizes[0] == max(F32(tau), F32(1e-45)), "the magnitude is not tau")
        result[members] = np.where(minus, -sizes[-1], sizes[0])
    source.end()
    return result


def most_of_set(name, keys, n):
    return min(n, max(1, int(np.floor(float(keys["ratio"]) * n + 0.5)))) if name == "stc" else int(float(keys["ratio"]) * n) + 2


def sign_is_raw(name, shape, keys):
    n = size_of(shape)
    means = {"sign": 0, "scaledsign": (n + 511) // 512 if keys.get("scale") == "bucket" else 1,
             "onebit": 2 * onebit_columns(shape, keys) if name == "onebit" else 0}[name]
    return 1 + 4 * means + (n + 7) // 8 >= 4 * n + 1


def vote(last, shape):
    source, n = Bytes(last[1:]), size_of(shape)
    workers = source.varint()
    need(0 < workers < 1 << 17, "number of workers")
    minus = planes(source.take(len(source.data) - source.at), n, workers.bit_length())
    need((minus <= workers).all(), "more votes than workers")
    return (workers * np.sign(workers - 2 * minus.astype(np.int64))).astype(F32)


def natural_codes(data, n, keys):
    """Reads exponents and signs."""
    if keys["code"] == "rans":
        codes = symbols.read(data, n, 9).astype(int)
        return codes & 255, codes >> 8
    need(len(data) >= n, "length")
    return np.frombuffer(data[:n], np.uint8).astype(int), planes(data[n:], n, 1)


def natural_is_raw(n, keys):
    return n == 0 or (keys["code"] == "rans" and 2 + plane_bytes(n, 9) >= 4 * n + 1)


def natural(data, n, keys):
    exponent, sign = natural_codes(data, n, keys)
    need((exponent < 255).all(), "an exponent of 255")
    need(not sign[exponent == 0].any(), "a sign of zero")
    return np.where(exponent == 0, 0, np.where(sign == 1, -1.0, 1.0) * 2.0**(exponent - 127)).astype(F32)


def bucket_heads(n, keys):
    bucket = int(keys["bucket"]) or max(n, 1)
    return bucket, (n + bucket - 1) // bucket


def minmax_is_raw(n, keys):
    return 8 * bucket_heads(n, keys)[1] + plane_bytes(n, int(keys["bits"])) >= 4 * n


def zipml_parts(data, n, keys):
    """Reads the levels, an array (buckets, levels), and the codes."""
    count, (_, buckets) = int(keys["levels"]), bucket_heads(n, keys)
    levels = floats(data[:4 * count * buckets], count * buckets).reshape(buckets, count)
    return levels, symbols.read(data[4 * count * buckets:], n, (count - 1).bit_length()).astype(int)


def zipml_is_raw(n, keys):
    count = int(keys["levels"])
    return 4 * count * bucket_heads(n, keys)[1] + 1 + plane_bytes(n, (count - 1).bit_length()) >= 4 * n


def zipml(data, n, keys):
    levels, codes = zipml_parts(data, n, keys)
    need(not (np.signbit(levels) & (levels == 0)).any(), "a negative zero")
    rises = np.diff(levels, axis=1) > 0
    need((np.diff(levels, axis=1) >= 0).all() and (rises[:, 1:] <= rises[:, :-1]).all(), "levels out of order")
    with np.errstate(over="ignore"):
        need(np.isfinite((levels[:, -1].astype(float) - levels[:, 0].astype(float)).astype(F32)).all(), "a range")
    of = np.arange(n) // int(keys["bucket"])
    need((codes <= rises.sum(axis=1)[of]).all(), "a level that there is not")
    return levels[of, codes]


def minmax(data, n, keys):
    bits, (bucket, buckets) = int(keys["bits"]), bucket_heads(n, keys)
    ends = floats(data[:8 * buckets], 2 * buckets).reshape(buckets, 2)
    need(not (np.signbit(ends) & (ends == 0)).any(), "a negative zero")
    low, high = ends[:, 0], ends[:, 1]
    with np.errstate(over="ignore"):
        width = (high.astype(float) - low.astype(float)).astype(F32)
    need((low <= high).all() and np.isfinite(width).all(), "a range")
    level, of = planes(data[8 * buckets:], n, bits), np.arange(n) // bucket
    need(not level[width[of] == 0].any(), "levels in a bucket without width")
    lift = np.where(width < F32(2.0**-60), 2.0**88, 1.0)
    unit, drop = (width.astype(float) * lift / (2**bits - 1)).astype(F32), (1 / lift).astype(F32)
    with np.errstate(over="ignore"):
        return np.minimum(level.astype(F32) * unit[of] * drop[of] + low[of], high[of])


def nuqsgd(data, n, keys):
    norms, level, of, s = norms_and_levels(data, n, keys)
    return np.where(level == 0, 0, np.sign(level) * norms.astype(float)[of] * 2.0**(np.abs(level) - s)).astype(F32)


def with_rows(name, keys, shape):
    """zipml's bucket=0 is a row, of at most 65536 elements."""
    row = size_of(shape) // (shape[0] if len(shape) > 1 and shape[0] else 1)
    return {**keys, "bucket": str(max(1, min(row, 65536)))} if name == "zipml" and keys["bucket"] == "0" else keys


def own_form(name, keys, shape, rounds):
    n, data, keys = size_of(shape), rounds[-1][1:], with_rows(name, keys, shape)
    if name == "sign":
        return np.where(sign_bits(data, n), F32(-1), F32(1))
    if name == "strom":
        return signed_set(data, n, 1, n, keys.get("tau"))
    if name in ("stc", "adaq"):
        return signed_set(data, n, 1 + (name == "adaq"), most_of_set(name, keys, n))
    if name in ("scaledsign", "onebit"):
        return {"scaledsign": scaledsign, "onebit": onebit}[name](data, shape, keys)
    if name in ("none", "fp16", "bf16"):
        return half(data, n, name, keys)
    if name == "natural":
        return natural(data, n, keys)
    if name in ("minmax", "nuqsgd", "zipml"):
        return {"minmax": minmax, "nuqsgd": nuqsgd, "zipml": zipml}[name](data, n, keys)
    if name == "svd":
        return svd(data, shape, keys)
    if name == "terngrad":
        return terngrad(rounds, n, keys)
    if name == "intsgd":
        return intsgd(rounds, n, keys)
    if name in SPARSIFIERS:
        return sparse(data, n, keys, name)
    if name == "chunktopk":
        return chunks.decode(Bytes(data), shape, n, keys)
    if name in ("wavelet", "hadamard"):
        return dyadic_atoms(data, n, keys, name)
    if name in ("dct", "fourier"):
        return {"dct": dct, "fourier": fourier}[name](data, shape, keys)
    return {"entry": entry, "gspar": entry, "lq": lq, "qsgd": qsgd}[name](data, n, keys)


def must_be_raw(name, keys, n, shape):
    if name == "none" or name in sketches.DEFAULTS:
        return None
    """Whether spec and shape alone make it raw; None where the data have a say."""
    keys = with_rows(name, keys, shape)
    if name in ("sign", "scaledsign", "onebit"):
        return sign_is_raw(name, shape, keys)
    if name in ("stc", "adaq", "strom"):
        return False if n > 5 else None
    if name == "natural":
        return natural_is_raw(n, keys)
    if name in ("fp16", "bf16"):
        return n == 0 or (keys["code"] == "rans" and 2 + n + plane_bytes(n, 8) >= 4 * n + 1)
    if name == "randk":
        return kept(n, keys) == n
    if name == "topk" and keys["share"] != "off":
        return lowrank.shared_topk_is_raw(shape, *shared_rows(shape, keys))
    if name == "lowrank":
        return lowrank.lowrank_is_raw(shape, matrix_shape(shape, "rows")[1], keys)
    if name == "powersgd":
        return lowrank.powersgd_is_raw(shape, *matrix_shape(shape, keys["reshape"]), keys)
    if name in ("minmax", "nuqsgd", "zipml"):
        return {"minmax": minmax_is_raw, "nuqsgd": qsgd_is_raw, "zipml": zipml_is_raw}[name](n, keys)
    if name == "intsgd":
        return intsgd_is_raw(n, keys)
    if name == "thc":
        return n < 64
    if name in ("rotated", "drive", "eden"):
        return True if n < 64 else None
    if name == "cas":
        return clusters.is_raw(n, keys)
    if name in science.DEFAULTS:
        return science.is_raw(shape, n, keys)
    if name in blockfloats.DEFAULTS:
        return blockfloats.is_raw(n, shape, keys)
    return {"qsgd": qsgd_is_raw, "terngrad": terngrad_is_raw}[name](n, keys) if name in ("qsgd", "terngrad") else None


def decode(spec, shape, rounds, address=None):
    name, keys = parse(spec)
    n, last = size_of(shape), rounds[-1]
    if name == "none" and keys["code"] == "fixed":
        return floats(last, n).reshape(shape)
    need(len(last) > 0, "an empty payload")
    kind = last[0]
    raw = must_be_raw(name, keys, n, shape)
    if name == "sign" and kind == 2:
        return vote(last, shape).reshape(shape)
    if name == "randk" and kind == 2:
        return randk(last, n, keys, address).reshape(shape)
    if name == "lowrank" and not raw:
        return lowrank.lowrank(last, *matrix_shape(shape, "rows"), keys, address).reshape(shape)
    if name == "topk" and keys["share"] != "off" and not raw:
        return lowrank.shared_topk(rounds, *shared_rows(shape, keys)).reshape(shape)
    if name == "powersgd" and not raw:
        return lowrank.powersgd(rounds, *matrix_shape(shape, keys["reshape"]), keys, address).reshape(shape)
    if name in sketches.DEFAULTS:
        return sketches.decode(name, last, n, keys, address).reshape(shape)
    if name == "cas" and kind == 2:
        return clusters.merged(last[1:], n, keys, address).reshape(shape)
    need(raw is None or raw == (kind == 0), f"kind {kind} where spec and shape say otherwise")
    if kind == 0:
        need(all(len(earlier) == 0 for earlier in rounds[:-1]), "an earlier round of a raw payload")
        return floats(last[1:], n).reshape(shape)
    need(kind == 1, f"kind {kind}")
    if name == "randk":
        return randk(last, n, keys, address).reshape(shape)
    if name == "thc":
        norms, data = shared_scales(rounds, len(list(rotations.blocks(n))), keys["share"])
        return rotations.thc(norms, planes(data, n, int(keys["bits"])), n, keys, address).reshape(shape)
    if name == "sketchml":
        return quantiles.sketchml(last[1:], n, keys, address).reshape(shape)
    if name == "cas":
        return clusters.cas(last[1:], n, keys, address).reshape(shape)
    if name in science.DEFAULTS:
        return getattr(science, name)(last[1:], shape, n, keys).reshape(shape)
    if name in blockfloats.DEFAULTS:
        return blockfloats.decode(last[1:], shape, keys, address).reshape(shape)
    if name == "rotated":
        return rotations.rotated(last[1:], n, keys, address).reshape(shape)
    if name in ("drive", "eden"):
        return rotations.turned(last[1:], n, name, keys, address).reshape(shape)
    if name == "joint":
        need(len(last) > 1 and last[1] < len(CHOICES), "the choice of a codec")
        name, rounds = CHOICES[last[1]], [last[:1] + last[2:]]
        keys = DEFAULTS[name]
    result = own_form(name, keys, shape, rounds)
    return np.asarray(result).reshape(shape)


def tensors(file):
    """Returns every tensor of a container, decoded, by its path."""
    found, states = {}, {}
    for record in file.records:
        address = record.seed, record.repeat, record.worker, record.step, record.tensor
        vector = wrappers.decode("none" if record.raw else file.spec, record.shape, record.rounds, address,
                                 states.setdefault((record.worker, record.name), {}), decode)
        flat, at = np.asarray(vector, float if vector.dtype == float else np.float32).reshape(-1), 0
        for member in record.members:
            size = size_of(member.shape)
            found[member.path] = flat[at:at + size].reshape(member.shape)
            at += size
    return found


def main():
    found = tensors(read(sys.argv[1]))
    for path, values in found.items():
        print(path, "x".join(map(str, values.shape)), f"norm {np.linalg.norm(values.astype(float)):.9g}")
    if len(sys.argv) > 2:
        np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
