#!/usr/bin/env python3
"""metrics.py -- computes every metric of the documentation in a plain way with numpy and scipy.

Writes metrics.txt, with which test_metrics.c and test_radix.c compare the library. The vectors are those of
vectors.h. The script shares no code, no arrangement of formulas and no order of summation with the library.
"""
import sys

import numpy as np
from scipy.stats import wasserstein_distance

U32 = np.uint32


def unit(n, seed):
    with np.errstate(over="ignore"):
        h = np.arange(n, dtype=U32) * U32(2654435761) + U32(seed * 2246822519 & 0xFFFFFFFF)
        h ^= h >> U32(15)
        h *= U32(2246822519)
        h ^= h >> U32(13)
        h *= U32(3266489917)
        h ^= h >> U32(16)
    return (h >> U32(8)).astype(float) * 2.0**-24


def gradient(n, seed):
    u = 2 * unit(n, seed) - 1
    x = u * u * u * 0.25
    at = np.arange(n) % 16 == 5
    x[at] = np.where(u[at] < 0, -0.0, 0.0)
    return x.astype(np.float32)


def decoded(x, repeat):
    level = x.astype(float) * 64 + 1024
    low = np.floor(level)
    u = unit(x.size, 1000 + repeat)
    y = ((low + (u < level - low) - 1024) / 64).astype(np.float32)
    return np.where((x == 0) & (np.arange(x.size) % 3 == 0), np.where(u < 0.5, 1 / 64, -1 / 64), y).astype(np.float32)


def mean(values):
    values = list(values)
    return float(np.mean(values)) if values else None


def metrics(g, ys, random=True):
    g = g.astype(float)
    y = np.array([v.astype(float) for v in ys])
    R, out = len(y), {}
    nz, mag = g != 0, np.abs(g)
    G, center = float(np.sum(g * g)), y.mean(axis=0)
    e = y - g
    out["mse"] = mean((e * e).sum(axis=1))
    out["second_moment"] = mean((y * y).sum(axis=1))
    v = y.var(axis=0, ddof=1) if R > 1 and random else None
    out["variance"] = 0.0 if not random else None if v is None else float(v.sum())
    spread = out["variance"]
    if spread:
        nu = v.sum() ** 2 / (v * v).sum()
        out["bias_ratio"] = R * float(((center - g) ** 2).sum()) / spread
        out["bias_z"] = (out["bias_ratio"] - 1) / np.sqrt(2 * R / ((R - 1) * nu))
    if G > 0:
        out["gain"] = float(center @ g) / G
        if spread:
            V1 = float((v * g * g).sum()) / G**2
            out["gain_z"] = (out["gain"] - 1) / np.sqrt(V1 / R)
        out["relative_error"] = out["mse"] / G
        out["rel_l2"] = np.sqrt(out["relative_error"])
        out["rel_l1"] = mean(np.abs(e).sum(axis=1)) / float(mag.sum())
        cut = np.percentile(mag, 95)
        q = np.abs(e[:, nz]) / mag[nz]
        out["elem_error"] = mean(q.mean(axis=1))
        big = mag[nz] > cut
        if big.any():
            out["elem_error_big"] = mean(q[:, big].mean(axis=1))
        if (~big).any():
            out["elem_error_small"] = mean(q[:, ~big].mean(axis=1))
        s = -e[:, nz] / mag[nz]
        out["elem_error_pos"] = mean(row[row > 0].mean() for row in s if (row > 0).any())
        out["elem_error_neg"] = mean(-row[row < 0].mean() for row in s if (row < 0).any())
        out["cosine"] = mean(row @ g / np.sqrt(G * (row @ row)) for row in y if row.any())
        out["sign_agreement"] = mean((np.sign(y[:, nz]) == np.sign(g[nz])).mean(axis=1))
    if g.size:
        out["wasserstein"] = wasserstein_distance(g, y[0])
        out["max_abs_error"] = float(np.abs(e).max())
        out["density"] = float((y != 0).mean())
    return {k: v for k, v in out.items() if v is not None}


def emit(case, values):
    for name, value in values.items():
        print(f"{case} {name} {value!r}" if isinstance(value, float) else f"{case} {name} {float(value)!r}")


def main():
    a, b = gradient(1000, 1), gradient(70003, 2)
    zeros, constant, one = np.zeros(40, np.float32), np.full(100, 0.3, np.float32), np.float32([-0.2])
    emit("small", metrics(a, [decoded(a, r) for r in range(7)]))
    emit("large", metrics(b, [decoded(b, r) for r in range(3)]))
    emit("single", metrics(a, [decoded(a, 0)]))
    emit("fixed", metrics(a, [decoded(a, 0)], random=False))
    emit("zeros", metrics(zeros, [decoded(zeros, r) for r in range(3)]))
    emit("constant", metrics(constant, [decoded(constant, r) for r in range(5)]))
    emit("one", metrics(one, [decoded(one, r) for r in range(5)]))
    both = [np.concatenate([decoded(t, r) for t in (a, constant[:20], zeros)]) for r in range(4)]
    emit("pooled", metrics(np.concatenate([a, constant[:20], zeros]), both))
    print(f"w1 crossed {wasserstein_distance(a, b[:1000])!r}")
    print(f"w1 ties {wasserstein_distance(decoded(a, 0), decoded(b[:1000], 1))!r}")
    print(f"q95 small {np.percentile(np.abs(a.astype(float)), 95)!r}")
    print(f"q95 large {np.percentile(np.abs(b.astype(float)), 95)!r}")


if __name__ == "__main__":
    sys.exit(main())
