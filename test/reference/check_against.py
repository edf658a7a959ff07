#!/usr/bin/env python3
"""check_against.py -- recomputes `compare --against` with scipy, from comparisons of one repeat more each time.

usage: check_against.py [PROGRAM]. The value of repeat r is r mean(1..r) - (r - 1) mean(1..r-1), with the means of
compare --repeats r, whose numbers check_compare.py checks. scipy.stats.ttest_rel gives intervals and p-values; Holm's
correction is written here.
"""
from math import isclose

import numpy as np
from scipy import stats

import bench
from bench import verdict

METRICS = ["bytes", "bits_per_element", "mse", "second_moment", "relative_error", "rel_l1", "elem_error", "elem_error_big",
           "cosine", "sign_agreement", "density", "wasserstein_mean"]
CODECS = ["qsgd", "qsgd:code=rans", "terngrad", "entry:ratio=0.05", "topk", "none", "svd:rank=2"]
AGAINST, REPEATS = "qsgd", 6


def records(*words):
    return bench.compare("dump.h5", *words, "--metrics", ",".join(METRICS))


def repeats_of():
    """Returns for each (tensor, codec, metric) the values of all repeats."""
    codecs = [word for codec in CODECS for word in ("-c", codec)]
    totals, values = {}, {}
    for r in range(1, REPEATS + 1):
        for record in records(*codecs, "--repeats", r):
            for metric in METRICS:
                key = (record["tensor"], record["compressor"], metric)
                total = r * record[metric]
                values.setdefault(key, []).append(total - totals.get(key, 0))
                totals[key] = total
    return {key: np.array(v) for key, v in values.items()}


def holm(p):
    """Returns Holm's adjusted p-values."""
    p, order = np.array(p), np.argsort(p)
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted


def check_row(row, values):
    ours = values[row["tensor"], row["compressor"], row["metric"]]
    theirs = values[row["tensor"], AGAINST, row["metric"]]
    d, name = ours - theirs, f"{row['tensor']} {row['compressor']} {row['metric']}"
    scale = np.abs([ours, theirs]).max()
    verdict(isclose(row["difference"], d.mean(), abs_tol=1e-9 * scale), f"{name}: difference")
    if row["difference_p"] is None:
        verdict(np.ptp(d) <= 1e-9 * scale and row["difference_low"] is None, f"{name}: all repeats differ by the same")
        return
    test = stats.ttest_rel(ours, theirs)
    half = stats.t.ppf(0.975, REPEATS - 1) * stats.sem(d)
    verdict(isclose(row["difference_p"], test.pvalue, rel_tol=1e-6), f"{name}: p {row['difference_p']:.3g}")
    verdict(isclose(row["difference_low"], d.mean() - half, abs_tol=1e-6 * half) and
            isclose(row["difference_high"], d.mean() + half, abs_tol=1e-6 * half), f"{name}: interval")


def main():
    directory = bench.start()
    bench.run("synth", "--law", "laplace", "--shape", "60x50", "-o", "dump.h5", "-q")
    values = repeats_of()
    words = [word for codec in CODECS if codec != AGAINST for word in ("-c", codec)]
    rows = records("--against", AGAINST, *words, "--repeats", REPEATS)
    verdict(len(rows) == 2 * (len(CODECS) - 1) * len(METRICS), "a row for each tensor, codec and metric")
    for row in rows:
        check_row(row, values)
    for tensor in {row["tensor"] for row in rows}:
        tested = [row for row in rows if row["tensor"] == tensor and row["difference_p"] is not None]
        for row, p in zip(tested, holm([row["difference_p"] for row in tested])):
            verdict(isclose(row["difference_p_holm"], p, rel_tol=1e-9), f"{tensor} {row['compressor']} {row['metric']}: Holm")
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
