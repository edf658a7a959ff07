#!/usr/bin/env python3
"""test_chunks.py -- ef+chunktopk against plain NumPy versions of DeMo's momentum and of SparseLoCo's residual, in double
precision: the estimates and states of four workers over 20 steps.
"""
import math
import pathlib
import sys

import numpy as np

import atomo

sys.path.append(str(pathlib.Path(__file__).parent.parent / "reference"))
import chunks  # noqa: E402


def forward(y):
    return chunks.cosines(y.shape[1]) @ y @ chunks.cosines(y.shape[2]).T


def largest(y, k):
    """Keeps the k largest magnitudes of each chunk."""
    flat = y.reshape(len(y), -1)
    kept = np.zeros_like(flat)
    for chunk, out in zip(flat, kept):
        order = np.argsort(-np.abs(chunk), kind="stable")[:k]
        out[order] = chunk[order]
    return kept.reshape(y.shape)


def demo_step(momentum, gradient, decay, k, keys):
    """DeMo: m <- decay m + g; what is sent are the largest cosine coefficients of m, which then leave m."""
    momentum = decay * momentum + gradient
    kept = chunks.back(largest(forward(chunks.to_chunks(momentum, gradient.shape, keys)), k))
    sent = chunks.from_chunks(kept, gradient.shape, keys).reshape(gradient.shape)
    return momentum - sent, sent


def loco_step(residual, change, decay, k, keys):
    """SparseLoCo: e <- decay e + change; the largest elements of each chunk, as the means of four bins."""
    residual = decay * residual + change
    kept = largest(chunks.to_chunks(residual, change.shape, keys), k)
    v = kept[kept != 0]
    code = np.clip(np.rint((v - v.mean()) / (6 * v.std(ddof=1) / 4) + 2), 0, 3).astype(int)
    kept[kept != 0] = np.array([v[code == i].mean() if (code == i).any() else 0 for i in range(4)])[code]
    sent = chunks.from_chunks(kept, change.shape, keys).reshape(change.shape)
    return residual - sent, sent


def compare(spec, step, decay, k):
    keys = {"chunk": "64"}
    shapes, worst = [(96, 128), (130,), (32, 3, 3, 3)], 0
    codec, random = atomo.Codec(spec), np.random.default_rng(5)
    for shape in shapes:
        plain = [np.zeros(shape) for _ in range(4)]
        states = [codec.tensor(shape, tensor="w", worker=w, workers=4) for w in range(4)]
        for t in range(20):
            for w in range(4):
                g = random.standard_normal(shape).astype(np.float32)
                payload = codec.encode(g, step=t, state=states[w])
                plain[w], sent = step(plain[w], g.astype(float), decay, k, keys)
                got = codec.decode(payload, shape, step=t, worker=w, tensor="w")
                own = np.frombuffer(states[w].state()[32:], "<f4", math.prod(shape)).reshape(shape)
                worst = max(worst, np.abs(got - sent).max(), np.abs(own - plain[w]).max())
    print(f"{spec}: {worst:.1e}")
    return worst


for spec, step, decay, k in (("ef:decay=0.999+chunktopk:transform=dct", demo_step, 0.999, 32),
                             ("ef:decay=0.95+chunktopk:k=64,values=2bit", loco_step, 0.95, 64)):
    assert compare(spec, step, decay, k) < 1e-4, f"{spec} is another method"
print("OK")
