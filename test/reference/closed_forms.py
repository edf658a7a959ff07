#!/usr/bin/env python3
"""closed_forms.py -- E|h - g|^2 of every codec for a given gradient, from the formulas, without the library.

`expected(spec, g)` returns None if there is no closed form. Everything is in double precision; the water level tau is
found by bisection.
"""
import numpy as np

import dyadic
import waves
from codes import F32, Bytes, index_set
from decode import kept, matrix_shape, natural_is_raw, parse, qsgd_is_raw, wave_shape


def waterfill(weight, budget):
    """Returns p_i = min(1, w_i / tau) with sum p = budget, and tau (None if every element is kept)."""
    weight = np.abs(weight)
    if budget >= np.count_nonzero(weight):
        return (weight > 0).astype(float), None
    low, high = 0.0, weight.sum() / budget
    for _ in range(200):
        tau = 0.5 * (low + high)
        if np.minimum(1, weight / tau).sum() > budget:
            low = tau
        else:
            high = tau
    return np.minimum(1, weight / high), high


def atoms_variance(weight, p):
    kept = (weight != 0) & (p < 1)
    return float((weight[kept]**2 * (1 / p[kept] - 1)).sum())


def probabilities(weight, budget, keys):
    if keys["probs"] == "optimal":
        return waterfill(weight, budget)[0]
    return np.minimum(1, np.abs(weight) * budget / max(np.abs(weight).sum(), 1e-300))


def entry(g, keys):
    budget = float(keys["budget"]) if "budget" in keys else float(keys["ratio"]) * g.size
    return atoms_variance(g, probabilities(g, budget, keys))


def entry_of_payload(g, payload):
    """Returns the variance for entry:bits, which solves for its budget. tau is read from the payload; nan if no
    element has p < 1."""
    source = Bytes(payload[1:])
    source.take(4 * len(index_set(source, g.size)))
    if len(index_set(source, g.size)) == 0:
        return float("nan")
    tau = float(source.f32())
    return atoms_variance(g.reshape(-1), np.minimum(1, np.abs(g.reshape(-1)) / tau))


def joint(spec, g, payload):
    """Returns the variance of a tensor under joint, with the water level read from the payload; raw payloads and
    svd's have none."""
    if not g.any():
        return 0.0
    if payload[0] == 0 or "+svd" in spec or ("+" not in spec and payload[1] == 1):
        return float("nan")
    return entry_of_payload(g, payload if "+" in spec else payload[:1] + payload[2:])


def dyadic_atoms(g, keys, name):
    weight = dyadic.to(name, keys, g.reshape(-1))
    weight[np.abs(weight) < 1e-7 * np.abs(weight).max()] = 0  # sets weights that are rounding errors to 0
    return atoms_variance(weight, probabilities(weight, float(keys["ratio"]) * g.size, keys))


def rounding(keys, vector):
    """Returns the variance that rounding adds to a vector, as a share of the vector's squared norm."""
    vector = vector.astype(F32).astype(float)
    if keys["vectors"] == "bf16":
        return half(vector, None, "bf16") / (vector @ vector)
    own = {"bits": keys["vbits"], "bucket": "512", "norm": "l2", "code": "elias"}
    return 0.0 if qsgd_is_raw(vector.size, own) else qsgd(vector, own) / (vector @ vector)


def dct(g, keys):
    weight = waves.cosines(g.reshape(wave_shape(g.shape, keys))).reshape(-1)
    weight[np.abs(weight) < 1e-7 * np.abs(weight).max()] = 0
    return atoms_variance(weight, probabilities(weight, float(keys["ratio"]) * g.size, keys))


def fourier(g, keys):
    """Returns the variance for probabilities proportional to the gauge; an atom with p < 1 is decoded to the length
    tau = gauge / p."""
    z = waves.atoms(g.reshape(wave_shape(g.shape, keys)))
    weight = waves.gauge(z)
    weight[weight < 1e-7 * weight.max()] = 0
    p = probabilities(weight, float(keys["ratio"]) * g.size, keys)
    light = (weight > 0) & (p < 1)
    return float((weight[light]**2 / p[light] - np.abs(z[light])**2).sum())


def svd(g, keys):
    left, values, right = np.linalg.svd(g.reshape(matrix_shape(g.shape, keys["reshape"])), full_matrices=False)
    values[values < 1e-7 * values[0]] = 0
    p = probabilities(values, float(keys["rank"]), keys)
    if keys["vectors"] == "f32":
        return atoms_variance(values, p)
    total = 0.0
    for i in np.flatnonzero(p):
        pair, scale = [left[:, i], right[i]], values[i] / p[i]
        scaled = 0 if pair[0].size >= pair[1].size else 1
        pair[scaled] = pair[scaled] * scale
        total += values[i]**2 * ((1 + rounding(keys, pair[0])) * (1 + rounding(keys, pair[1])) / p[i] - 1)
    return total


def gspar(g, keys):
    """Returns the variance of gspar: with a density that of entry, with eps the requested variance."""
    if "eps" in keys:
        return float(keys["eps"]) * float((g**2).sum())
    return atoms_variance(g, waterfill(g, float(keys["density"]) * g.size)[0])


def randk(g, keys):
    return (g.size / kept(g.size, keys) - 1) * float((g**2).sum())


def lowrank(g, keys):
    cols, rank = (g.size // g.shape[0] if g.ndim > 1 else 0), int(keys["rank"])
    return (cols + 1) / rank * float((g**2).sum()) if rank < cols else 0.0


def norm_q(g, q):
    size = np.abs(g[g != 0])
    if size.size == 0:
        return 0.0
    top = size.max()
    return top if np.isinf(q) else top * ((size / top)**q).sum()**(1 / q)


def lq(g, keys):
    return float(np.abs(g).sum() * norm_q(g, float(keys["q"])) - (g**2).sum())


def qsgd(g, keys):
    s = int(keys["levels"]) if "levels" in keys else 2**int(keys["bits"]) - 1
    flat, total = g.reshape(-1), 0.0
    bucket = int(keys["bucket"]) or flat.size
    for start in range(0, flat.size, bucket):
        x = np.abs(flat[start:start + bucket])
        norm = float(F32(np.sqrt((x**2).sum()) if keys["norm"] == "l2" else x.max()))
        if norm > 0:
            part = np.minimum(s * x / norm, s)
            f = part - np.floor(part)
            total += (norm / s)**2 * (f * (1 - f)).sum()
    return total


def terngrad(g, keys):
    return float(np.abs(g).max() * np.abs(g).sum() - (g**2).sum())


def intsgd(g, keys):
    part = np.abs(g) * (2**(int(keys["bits"]) - 1) - 1) / np.abs(g).max()
    f = part - np.floor(part)
    return float((np.abs(g).max() / (2**(int(keys["bits"]) - 1) - 1))**2 * (f * (1 - f)).sum())


def natural(g, keys):
    if natural_is_raw(g.size, keys):
        return 0.0
    x = np.abs(g)
    low = 2.0**np.floor(np.log2(np.maximum(x, 2.0**-126)))
    low = np.where(low > x, low / 2, low)
    return float(np.where(x < 2.0**-126, x * (2.0**-126 - x), (2 * low - x) * (x - low)).sum())


def zipml(g, keys):
    """Returns the variance of the optimal levels, by a plain dynamic program over all pairs of sorted numbers."""
    flat, total, count = g.reshape(-1).astype(float), 0.0, int(keys["levels"])
    for start in range(0, flat.size, int(keys["bucket"])):
        x = np.sort(flat[start:start + int(keys["bucket"])])
        one, two = np.concatenate([[0], np.cumsum(x)]), np.concatenate([[0], np.cumsum(x * x)])
        low, up = x[:, None], x[None, :]
        i, j = np.arange(x.size)[:, None], np.arange(x.size)[None, :]
        cost = (low + up) * (one[j] - one[i]) - (j - i) * low * up - (two[j] - two[i])
        cost = np.where(i <= j, np.maximum(cost, 0), np.inf)
        best = cost[0]
        for _ in range(count - 2):
            best = (best[:, None] + cost).min(axis=0)
        total += best[-1]
    return total


def minmax(g, keys):
    flat, total, s = g.reshape(-1), 0.0, 2**int(keys["bits"]) - 1
    bucket = int(keys["bucket"]) or flat.size
    for start in range(0, flat.size, bucket):
        x = flat[start:start + bucket]
        step = (x.max() - x.min()) / s
        if step > 0:
            part = np.minimum((x - x.min()) / step, s)
            f = part - np.floor(part)
            total += step**2 * (f * (1 - f)).sum()
    return total


def nuqsgd(g, keys):
    flat, total, s = np.abs(g.reshape(-1)), 0.0, 2**int(keys["bits"]) - 1
    bucket = int(keys["bucket"]) or flat.size
    for start in range(0, flat.size, bucket):
        x = flat[start:start + bucket]
        levels = np.append(0, float(F32(np.sqrt((x**2).sum()))) * 2.0**np.arange(1 - s, 1))
        if levels[-1] > 0:
            x = np.minimum(x, levels[-1])
            up = np.maximum(np.searchsorted(levels, x), 1)
            total += ((levels[up] - x) * (x - levels[up - 1])).sum()
    return total


def half(g, keys, name):
    x = np.abs(g)
    if name == "fp16":
        low = np.floor(x / step_fp16(x)) * step_fp16(x)
        up = np.where(low == x, x, low + step_fp16(x))
        up, low = np.minimum(up, 65504), np.minimum(low, 65504)
    else:
        word = x.astype(F32).view(np.uint32)
        low = (word & 0xFFFF0000).view(F32).astype(float)
        up = ((word & 0xFFFF0000) + 0x10000).astype(np.uint32).view(F32).astype(float)
    return float(((up - x) * (x - low)).sum())


def step_fp16(x):
    """Returns the distance between the neighbouring 16-bit floats of |x|."""
    exponent = np.floor(np.log2(np.where(x > 0, x, 1e-30)))
    exponent = np.where(2.0**exponent > x, exponent - 1, exponent)
    return 2.0**np.maximum(exponent - 10, -24)


def expected(spec, g, rounds):
    g = np.asarray(g, float)
    name, keys = parse(spec)
    if spec.startswith("joint"):
        return joint(spec, g, rounds[-1])
    biased = keys.get("rounding") == "nearest" or keys.get("empty") == "resample" or keys.get("clip", "0") != "0"
    # the closed form depends on the rotation, or there is none
    if "+" in spec or biased or name in ("rotated", "thc", "drive", "eden", "powersgd"):
        return None
    if "bits" in keys and name == "entry" and g.any():
        return entry_of_payload(g, rounds[-1])
    if g.size == 0 or not g.any():
        return 0.0
    if name == "lowrank":
        return lowrank(g, keys)
    if name in ("fp16", "bf16"):
        return half(g, keys, name)
    if name == "none":
        return 0.0
    if name in ("natural", "minmax", "nuqsgd", "intsgd", "zipml"):
        return {"intsgd": intsgd, "zipml": zipml, "natural": natural, "minmax": minmax, "nuqsgd": nuqsgd}[name](g, keys)
    if name in ("wavelet", "hadamard"):
        return dyadic_atoms(g, keys, name)
    if name in ("dct", "fourier"):
        return {"dct": dct, "fourier": fourier}[name](g, keys)
    return {"entry": entry, "gspar": gspar, "randk": randk, "svd": svd, "lq": lq, "qsgd": qsgd, "terngrad": terngrad}[name](g, keys)
