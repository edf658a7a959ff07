#!/usr/bin/env python3
"""test_chunks.py -- ef+chunktopk against plain NumPy versions of DeMo's momentum and of SparseLoCo's residual, in double
precision: the estimates and states of four workers over 10 steps, and the weights that atomo-train --average senders trains.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile

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


def mean_of_senders(sent):
    """Divides each sum over the workers by how many of them sent something there."""
    return sum(sent) / np.maximum(sum(s != 0 for s in sent), 1)


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
        for t in range(10):
            for w in range(4):
                g = random.standard_normal(shape).astype(np.float32)
                payload = codec.encode(g, step=t, state=states[w])
                plain[w], sent = step(plain[w], g.astype(float), decay, k, keys)
                got = codec.decode(payload, shape, step=t, worker=w, tensor="w")
                own = np.frombuffer(states[w].state()[32:], "<f4", math.prod(shape)).reshape(shape)
                worst = max(worst, np.abs(got - sent).max(), np.abs(own - plain[w]).max())
    print(f"{spec}: {worst:.1e}")
    return worst


def demo_mean(momenta, decay, k, gradients, keys):
    """DeMo's receivers: the mean of a coefficient is over the workers that sent it, then transformed back."""
    shape, sent = gradients[0].shape, []
    for w, g in enumerate(gradients):
        momenta[w], _ = demo_step(old := momenta[w], g, decay, k, keys)
        sent.append(largest(forward(chunks.to_chunks(decay * old + g, shape, keys)), k))
    return chunks.from_chunks(chunks.back(mean_of_senders(sent)), shape, keys).reshape(shape)


def loco_mean(residuals, decay, k, changes, keys):
    sent = []
    for w, change in enumerate(changes):
        residuals[w], own = loco_step(residuals[w], change, decay, k, keys)
        sent.append(own)
    return mean_of_senders(sent)


def trained(spec, mean_of, decay, k):
    """Follows the weights of a training run through its saved gradients, at a step size of 0.5."""
    steps, keys, worst = 4, {"chunk": "16"}, 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(os.environ["BIN"], "atomo-train"), "run", "--network",
                        "gpt:layers=1,heads=2,width=32,context=32", "--workers", "4", "--batch-size", "8", "--max-steps",
                        str(steps), "--eval-freq", "1", "--momentum", "0", "--lr", "0.5", "--average", "senders", "-c", spec,
                        "--train-dir", folder, "--dump-gradients", folder + "/g.h5", "--dump-freq", "1", "--dump-workers",
                        "-q", "-f", "csv"], check=True, stdout=subprocess.DEVNULL)
        saved = [h5py.File(f"{folder}/step_{s + 1:08d}.h5")["weights"] for s in range(steps)]
        with h5py.File(folder + "/g.h5") as dump:
            for name in saved[0]:
                states, moved = [0.0] * 4, 0
                for s, group in enumerate(sorted(dump)):
                    mean = mean_of(states, decay, k, [dump[group][f"worker_{w}"][name][:].astype(float) for w in range(4)], keys)
                    if s:
                        before, after = (saved[i][name][:].astype(float) for i in (s - 1, s))
                        apart = np.abs(after - (before - 0.5 * mean)) - 2e-7 * np.abs(before)  # weights are float32
                        worst = max(worst, apart.max() / np.abs(0.5 * mean).max())
                        moved += np.abs(mean).max()
                assert moved > 0, f"{name} did not move"
    print(f"{spec}, mean over senders: {worst:.1e}")
    return worst


for spec, step, decay, k in (("ef:decay=0.999+chunktopk:transform=dct", demo_step, 0.999, 32),
                             ("ef:decay=0.95+chunktopk:k=64,values=2bit", loco_step, 0.95, 64)):
    assert compare(spec, step, decay, k) < 1e-4, f"{spec} is another method"
try:
    import h5py
except ImportError:
    print("skip: training with means over senders (needs h5py)")
    sys.exit()
for spec, mean_of, decay, k in (("ef:decay=0.9+chunktopk:chunk=16,transform=dct,k=12", demo_mean, 0.9, 12),
                                ("ef:decay=0.95+chunktopk:chunk=16,k=12,values=2bit", loco_mean, 0.95, 12)):
    assert trained(spec, mean_of, decay, k) < 1e-4, f"the mean over senders of {spec} is another one"
print("OK")
