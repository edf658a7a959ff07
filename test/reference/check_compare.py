#!/usr/bin/env python3
"""check_compare.py -- recomputes every field of `compare` from encoded payloads, with numpy and scipy.

usage: check_compare.py [PROGRAM [WORKERS.h5]]. With one repeat, the payloads of `encode` are those of the repeat, so
every field is recomputed. Codecs that are not random are also checked with several repeats. Times are only checked
against their definitions.
"""
import sys
from math import isclose, isnan
from pathlib import Path

import numpy as np

import bench
import closed_forms
import container
import decode
import plain_metrics
import streams
from bench import check

EXACT = 1e-11      # relative; for sums of up to a million terms in another order
EXPECTED = 2e-6    # closed forms: the library uses the float32 tau and norms of the payload
SPECTRAL = 2e-4    # svd: the library's basis, from A'A in float32, is orthonormal but not exactly the singular vectors
RANDOM = ["qsgd", "qsgd:bits=1", "qsgd:levels=5,bucket=100,norm=linf,code=fixed", "qsgd:code=elias-sparse,bits=2",
          "terngrad", "terngrad:clip=2.5,code=elias", "terngrad:share=on,code=2bit", "entry:ratio=0.05",
          "entry:bits=0.5",
          "entry:ratio=0.1,probs=clip", "entry:ratio=0.02,draw=systematic", "lq", "lq:q=inf", "lq:q=0.7",
          "gspar:eps=2", "randk:ratio=0.2", "randk:ratio=0.1,shared=off", "svd",
          "svd:rank=1.5,reshape=square", "svd:rank=1,probs=clip", "wavelet:ratio=0.05", "wavelet:ratio=0.1,family=db4",
          "hadamard:ratio=0.05", "dct:ratio=0.05", "fourier:ratio=0.05", "fourier:ratio=0.1,dims=2", "fp16:rounding=stochastic","svd:vectors=bf16",
          "svd:rank=2,vectors=qsgd,reshape=square", "svd:vectors=qsgd,vbits=3",
          "fp16:rounding=stochastic", "bf16:rounding=stochastic",
          "nuqsgd", "nuqsgd:bits=2,bucket=100", "nuqsgd:code=elias", "nuqsgd:code=rans",
          "natural",
          "thc", "thc:bits=7,share=off",
          "intsgd", "intsgd:bits=3,share=off",
          "natural:code=rans", "qsgd:bits=3,code=rans", "terngrad:code=rans",
          "zipml", "zipml:levels=7,bucket=100",
          "minmax:rounding=stochastic", "minmax:bits=2,bucket=100,rounding=stochastic",
          "lowrank:rank=3", "powersgd", "ef+powersgd:rank=1,iters=2",
          "joint:bits=2", "joint+entry", "rotated", "drive:scale=mse", "eden:bits=1.5",
          "ef+entry:ratio=0.05", "ef:decay=0.5+terngrad:clip=2.5"]
FIXED = ["none", "none:code=rans", "fp16", "bf16", "bf16:code=rans", "ef+fp16", "entry:ratio=1", "svd:rank=65536"]
CERTAIN = ["none", "none:code=rans", "fp16", "bf16", "bf16:code=rans", "ef+fp16"]
IDENTITY = ("step", "worker", "tensor", "kind", "shape", "n", "compressor", "repeats", "error", "spec")
SPREADS = ("bytes", "bits_per_element", "ratio", "mse", "second_moment", "relative_error", "rel_l1", "elem_error",
           "elem_error_big", "elem_error_small", "elem_error_pos", "elem_error_neg", "wasserstein_mean", "cosine",
           "sign_agreement", "density", "gain", "gain_l1", "bytes_expected", "bits_per_element_expected", "ratio_expected")
EXPECTATIONS = ("variance_expected", "relative_error_expected", "second_moment_expected")
SIZES_EXPECTED = ("bytes_expected", "bits_per_element_expected", "ratio_expected")
# codecs that correct the mean payload for the number of atoms drawn, which a container does not tell
CORRECTED = ("entry", "lq", "gspar", "svd", "wavelet", "hadamard", "dct", "fourier", "joint")
UNSEEN = ("peak_scratch_bytes", "bias_detectable", "bias")
TESTS = ("bias_p", "gain_p", "gain_l1_p", "bias_p_holm")
TIMES = ("encode_ms_se", "decode_ms_se", "encode_ms", "encode_ms_min", "decode_ms", "decode_ms_min", "encode_gbps", "decode_gbps")


def agree(ours, theirs, tolerance, floor=1e-300):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if isnan(ours):  # the payload does not contain this value
        return True
    return isclose(ours, theirs, rel_tol=tolerance, abs_tol=floor)


class Sent:
    """One record of a container: the gradient, the estimate and the sizes."""

    def __init__(self, record, spec, gradients, estimates, residuals):
        self.spec = "none" if record.raw else spec
        self.address = (record.step, record.worker)
        self.g = np.concatenate([gradients[m.path].reshape(-1) for m in record.members]).astype(np.float32)
        self.h = np.concatenate([estimates[m.path].reshape(-1) for m in record.members])
        self.shape, self.record = record.shape, record
        self.bytes = sum(map(len, record.rounds))
        self.fallback = not record.raw and spec != "none" and record.rounds[-1][:1] == b"\0"
        self.residual = self.settle(residuals)
        # otherwise a draw longer than the raw floats is sent as floats
        exact = self.fallback and bench.same_bits(self.g, self.h)
        self.expected = (0.0 if exact
                         else closed_forms.expected(self.spec, self.g.reshape(self.shape), record.rounds))
        self.entropy = streams.entropy(self.spec, self.shape, record.rounds)

    def settle(self, residuals):
        """Computes the residual of error feedback, e = g + decay e - h, in float32 as the program does."""
        if not self.spec.startswith("ef"):
            return None
        decay = np.float32(self.spec.partition("+")[0].partition("decay=")[2] or 1)
        key = (self.record.name, self.record.worker)
        before = residuals.get(key, np.zeros(self.g.size, np.float32))
        residuals[key] = (self.g + decay * before - self.h).astype(np.float32)
        return float(np.sqrt((residuals[key].astype(float)**2).sum()))


def send(dump, spec, options):
    bench.run("encode", dump, "-c", spec, "-o", "x.atomo", "-q", *options)
    bench.run("decode", "x.atomo", "-o", "x.h5", "-q")
    file, residuals = container.read("x.atomo"), {}
    gradients, estimates = bench.tensors(dump), bench.tensors("x.h5")
    return [Sent(record, file.spec, gradients, estimates, residuals) for record in file.records]


def total(values):
    values = list(values)
    return None if any(v is None for v in values) else sum(values)


def own_figures(parts, repeats, runs):
    """Returns the metrics of a record over `parts`; sizes are means over `runs` gradients."""
    g = np.concatenate([p.g for p in parts])
    h = np.concatenate([p.h for p in parts])
    found = plain_metrics.errors(g, [h] * repeats)
    raw, sent = 4 * g.size / runs, sum(p.bytes for p in parts) / runs
    found |= {"raw_bytes": raw, "bytes": sent, "bytes_min": sent, "bytes_max": sent,
              "ratio": plain_metrics.ratio(raw, sent), "bits_per_element": plain_metrics.ratio(8 * sent, g.size / runs),
              "raw_fallbacks": sum(p.fallback for p in parts) / runs,
              "variance_expected": total(p.expected for p in parts)}
    g2 = float((g.astype(float)**2).sum())
    found["relative_error_expected"] = plain_metrics.ratio(found["variance_expected"], g2)
    found["second_moment_expected"] = total((found["variance_expected"], g2))
    found["wasserstein_mean"] = found["wasserstein"]
    found |= dict(zip(SIZES_EXPECTED, (sent, found["bits_per_element"], found["ratio"])))
    found |= spread(found, 2 if all(p.spec in CERTAIN for p in parts) else repeats)
    residuals = [p.residual for p in parts]
    if any(r is not None for r in residuals):
        found["residual_norm"] = float(np.sqrt(sum((r or 0)**2 for r in residuals)))
    else:
        found["residual_norm"] = None
    entropy = total(p.entropy for p in parts)
    found["entropy_bits"] = None if entropy is None else entropy / runs
    found["coding_efficiency"] = plain_metrics.ratio(found["entropy_bits"], 8 * sent)
    return found


def spread(found, repeats):
    """Returns the standard errors: None for one repeat, and 0 for repeats that are all equal."""
    errors = {name + "_se": None if repeats == 1 or found[name] is None else 0.0 for name in SPREADS}
    return errors | {name: None if repeats == 1 else 0.0 for name in ("variance_se", "rel_l2_se")}


def check_sizes(record, label):
    """Checks that the expected sizes are one number in three units."""
    size, n = record["bytes_expected"], record["n"]
    check(0 < size < record["raw_bytes"] + 100, f"{label}: bytes_expected {size}")
    check(agree(8 * size / n if n else None, record["bits_per_element_expected"], EXACT), f"{label}: bits_per_element_expected")
    check(agree(record["raw_bytes"] / size, record["ratio_expected"], EXACT), f"{label}: ratio_expected")


def hold(record, parts, repeats, runs, label):
    ours = own_figures(parts, repeats, runs)
    for field, theirs in record.items():
        if field in IDENTITY or field in TIMES or field in UNSEEN:
            continue
        if field in TESTS:  # tests of bias need different draws, which a container does not have
            check(theirs is None or (repeats > 1 and 0 <= theirs <= 1), f"{label}: {field} {theirs}")
            continue
        if field in SIZES_EXPECTED and record["compressor"].rpartition("+")[2].startswith(CORRECTED):
            continue
        if field == "variance" and repeats == 1 and all(p.spec in CERTAIN for p in parts):
            ours["variance"] = 0  # a codec that is not random has variance 0 also with one repeat
        if field in EXPECTATIONS and "rotated" in record["compressor"]:
            continue  # a mean over repeats of the closed form for each repeat's rotation, which the C tests check
        tolerance = (SPECTRAL if "svd" in record["compressor"] else EXPECTED) if field in EXPECTATIONS else EXACT
        floor = EXACT if field in ("gain", "cosine") else 1e-300  # these sums may cancel
        if field in EXPECTATIONS and record["compressor"].startswith(("wavelet", "hadamard")):
            squares = sum(float((p.g.astype(float)**2).sum()) for p in parts)
            # allows for coefficients that are rounding errors
            floor = EXACT * (squares if field == "variance_expected" else 1)
        check(field in ours and agree(ours[field], theirs, tolerance, floor),
              f"{label}: {field} {theirs}, ours {ours.get(field)}")
    check_times(record, label)
    if record["bytes"]:
        check_sizes(record, label)


def check_times(record, label):
    for way in ("encode", "decode"):
        median, least, rate = record[way + "_ms"], record[way + "_ms_min"], record[way + "_gbps"]
        check(median >= least >= 0, f"{label}: {way} times")
        check(agree(record["raw_bytes"] / (median * 1e6) if median else None, rate, 1e-9), f"{label}: {way}_gbps")


def match(records, sent, repeats, label):
    """Compares records with payloads in the documented order: step, worker, tensor, then the pooled records."""
    addresses = list(dict.fromkeys(s.address for s in sent))
    for record in records:
        where = f"{label}: {record['step']}/{record['worker']}/{record['tensor']}"
        check(record["error"] is None, f"{where}: {record['error']}")
        if record["step"] == "*":
            parts, runs = sent, len(addresses)
        else:
            address = (record["step"] or 0, record["worker"] or 0)
            parts, runs = [s for s in sent if s.address == address], 1
            if record["tensor"] != "*":
                parts = [s for s in parts if s.record.name == record["tensor"]]
                check(len(parts) == 1 and list(parts[0].shape) == record["shape"], f"{where}: shape")
        check(record["n"] == sum(p.g.size for p in parts) / runs, f"{where}: n")
        hold(record, parts, repeats, runs, where)
    singles = [(r["step"] or 0, r["worker"] or 0, r["tensor"]) for r in records if r["tensor"] != "*"]
    check(singles == [(*s.address, s.record.name) for s in sent], f"{label}: order of the records")


def one(dump, specs, repeats, *options):
    words = [w for spec in specs for w in ("-c", spec)]
    records = bench.compare(dump, *words, "--repeats", repeats, *options)
    kept = [o for o in options]
    for spec in specs:
        mine = [r for r in records if decode.parse(r["compressor"]) == decode.parse(spec)
                and r["compressor"].count("+") == spec.count("+")]
        if check(mine, f"{spec}: no records"):
            match(mine, send(dump, spec, kept), repeats, f"{Path(dump).name} {spec} {' '.join(options)}")


def main():
    directory = bench.start()
    workers = sys.argv[2] if len(sys.argv) > 2 else None
    small = bench.ROOT / "datasets/lenet-mnist.h5"
    bench.run("synth", "--shape", "64x50", "--shape", "8x4x3x3", "--shape", "40", "--shape", "1", "--law", "laplace",
              "--steps", "2", "--workers", "2", "-o", "synth.h5", "-q")
    bench.write_dump("odd.h5", {"zeros": np.zeros(300, np.float32), "empty": np.zeros(0, np.float32),
                                "spike": np.eye(1, 400, 7, dtype=np.float32)[0], "one": np.ones(1, np.float32),
                                "constant": np.full((20, 20), -0.125, np.float32)})
    rng = np.random.default_rng(11)
    bench.write_dump("rare.h5", {"g": np.where(rng.random(200000) < 0.005, rng.laplace(size=200000), 0).astype(np.float32)})
    one("rare.h5", ["qsgd:bits=7,norm=linf,bucket=0,code=rans", "qsgd:bits=2,code=rans"], 1)
    one(str(small), RANDOM, 1, "-t", "*conv*", "-t", "*bias*")
    one("synth.h5", RANDOM + FIXED, 1, "--seed", "7")
    one("synth.h5", FIXED, 3)
    one("odd.h5", RANDOM + FIXED, 1)
    one("synth.h5", RANDOM[:4] + FIXED[:3], 1, "--group", "kind", "--min-elements", "50")
    one("synth.h5", ["entry:ratio=0.1", "svd", "ef+qsgd"], 1, "--group", "all")
    one(str(small), ["qsgd", "entry", "svd", "terngrad"], 1)
    if workers:
        one(workers, ["entry", "qsgd:bits=2"], 1, "--worker", "1", "--worker", "6", "-t", "*conv*")
        one(workers, ["ef+terngrad"], 1, "--group", "kind")
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
