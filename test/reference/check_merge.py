#!/usr/bin/env python3
"""check_merge.py -- recomputes the metrics that `merge` prints, with numpy from payloads of `encode`.

usage: check_merge.py [PROGRAM]. Worker p of a merge uses the same random numbers as worker p of a dump, so the
payloads are the same. They are decoded by decode.py, averaged here, and compared with the average gradient.
"""
import json
from math import isclose

import numpy as np

import bench
import closed_forms
import container
import decode
from bench import check

SPECS = ["none", "qsgd", "qsgd:bits=1", "terngrad", "entry:ratio=0.05", "lq", "randk:ratio=0.2",
         "randk:ratio=0.1,shared=off", "sign", "scaledsign", "topk:ratio=0.05", "natural", "minmax:rounding=stochastic",
         "nuqsgd", "fp16", "svd:rank=1", "lowrank:rank=2"]
WORKERS = 5


def sent(dump, spec):
    bench.run("encode", dump, "-c", spec, "-o", "x.atomo", "-q")
    return container.read("x.atomo")


def average(spec, records, gradients):
    """Returns for each tensor the mean gradient, the mean estimate, and the closed form of the mean estimate's error."""
    names = list(dict.fromkeys(r.name for r in records))
    for name in names:
        mine = [r for r in records if r.name == name][:WORKERS]
        g = [gradients[m.path].reshape(-1).astype(np.float32) for r in mine for m in r.members]
        at = [(r.seed, r.repeat, r.worker, r.step, r.tensor) for r in mine]
        h = [decode.decode(spec, r.shape, r.rounds, a).reshape(-1).astype(float) for r, a in zip(mine, at)]
        mean, estimate = np.mean([x.astype(float) for x in g], axis=0), np.mean(h, axis=0)
        if spec == "sign":  # a majority vote; ties are 0
            estimate = np.sign(estimate)
        if spec == "fp16":  # the sum of fp16 payloads is rounded to fp16
            estimate = estimate.astype(np.float32).astype(np.float16).astype(float)
        biased = spec.startswith(("sign", "scaledsign", "topk"))
        parts = [None if biased else closed_forms.expected(spec, x.reshape(r.shape), r.rounds) for x, r in zip(g, mine)]
        expected = None if any(p is None for p in parts) else sum(parts) / WORKERS**2
        if spec.startswith("randk") and "shared=off" not in spec:
            n, k = mean.size, max(1, round(float(spec.partition("ratio=")[2]) * mean.size))
            expected = (n / k - 1) * float((mean**2).sum())
        if spec.startswith("lowrank") and expected:
            expected = closed_forms.expected(spec, mean.reshape(mine[0].shape), mine[0].rounds)
        size = sum(sum(map(len, r.rounds)) for r in mine) / WORKERS
        yield name, mean, estimate, expected, size


def one(dump, spec):
    records = json.loads(bench.run("merge", dump, "-c", spec, "--workers", WORKERS, "-f", "json", "-q"))["results"]
    gradients = bench.tensors(dump)
    for name, mean, estimate, expected, size in average(spec, sent(dump, spec).records, gradients):
        theirs = [r for r in records if r["tensor"] == name][0]
        mse, norm = float(((estimate - mean)**2).sum()), float((mean**2).sum())
        slack = 1e-5 * mse + 1e-7 * (mse * norm)**0.5 + 1e-12 * norm  # averages are rounded to float32
        check(abs(theirs["mse"] - mse) <= slack, f"{spec} {name}: mse {theirs['mse']}, ours {mse}")
        check(isclose(theirs["bytes"], size, rel_tol=1e-12), f"{spec} {name}: bytes {theirs['bytes']}, ours {size}")
        check(theirs["synthetic"] == 0 and theirs["workers"] == WORKERS, f"{spec} {name}: whose gradients")
        if expected is not None and theirs["variance_expected"] is not None:
            check(isclose(theirs["variance_expected"], expected, rel_tol=3e-4, abs_tol=1e-12 * norm),
                  f"{spec} {name}: variance_expected {theirs['variance_expected']}, ours {expected}")


def main():
    directory = bench.start()
    bench.run("synth", "--shape", "64x50", "--shape", "8x4x3x3", "--shape", "40", "--law", "laplace", "--workers",
              WORKERS, "-o", "synth.h5", "-q")
    for spec in SPECS:
        one("synth.h5", spec)
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
