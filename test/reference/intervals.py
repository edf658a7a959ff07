#!/usr/bin/env python3
"""intervals.py -- how often the 95 % intervals of compare, mean +- t(R - 1) standard errors, contain the true value.

    intervals.py BENCH DUMP [--tensor GLOB] [--step GLOB] [--repeats R] [--seeds N] [--long L] [-c SPEC]...

Runs compare with seeds 1 .. N, and once with L repeats and another seed. All fields NAME that have a field NAME_se
are tested. The true value is NAME_expected if it is exact, else the value of the long run, whose standard error is
taken into account. Prints a row for each codec and field, then the rows outside 90 to 99 %.
"""
import argparse
import json
import math
import subprocess
import sys

T975 = {3: 4.3027, 5: 2.7764, 10: 2.2622, 20: 2.0930, 30: 2.0452, 100: 1.9842}
CODECS = ["qsgd", "svd:rank=1", "entry:ratio=0.01", "eden", "countsketch", "topk"]
LONG_SEED = 1000003


def compare(options, seed, repeats):
    fields = [name for name in FIELDS + [f + "_se" for f in FIELDS] + EXPECTED]
    command = [options.bench, "compare", options.dump, "--repeats", str(repeats), "--seed", str(seed), "--threads", "1", "-q",
               "-f", "json", "--metrics", ",".join(fields)]
    for name, value in (("-t", options.tensor), ("--step", options.step)):
        command += [name, value] if value else []
    for codec in options.codec:
        command += ["-c", codec]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {r["compressor"]: r for r in json.loads(out)["results"] if r["tensor"] == "*"}


FIELDS = ["bytes", "ratio", "bits_per_element", "bytes_expected", "mse", "variance", "second_moment", "relative_error", "rel_l2", "rel_l1",
          "elem_error", "elem_error_big", "elem_error_small", "elem_error_pos", "elem_error_neg", "wasserstein_mean", "cosine",
          "sign_agreement", "density", "gain", "gain_l1"]
EXPECTED = ["bytes_expected_se", "bits_per_element_expected", "ratio_expected", "variance_expected", "second_moment_expected",
            "relative_error_expected", "bias"]
EXACT = {"mse": "variance_expected", "variance": "variance_expected", "second_moment": "second_moment_expected",
         "relative_error": "relative_error_expected"}
BY_SIZE = {"bytes": "bytes_expected", "bits_per_element": "bits_per_element_expected", "ratio": "ratio_expected"}


def truth(long, field):
    """Returns the true value and its standard error."""
    exact = long.get(EXACT.get(field))
    if exact is None and long["bytes_expected_se"] == 0:
        exact = long.get(BY_SIZE.get(field))
    if field == "rel_l2" and long["relative_error_expected"] is not None:
        exact = math.sqrt(long["relative_error_expected"])
    if exact is not None:
        return exact, 0.0
    return long[field], long[field + "_se"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bench")
    p.add_argument("dump")
    p.add_argument("--tensor")
    p.add_argument("--step")
    p.add_argument("--repeats", type=int, default=10, choices=sorted(T975))
    p.add_argument("--seeds", type=int, default=200)
    p.add_argument("--long", type=int, default=4000)
    p.add_argument("-c", "--codec", action="append")
    options = p.parse_args()
    options.codec = options.codec or CODECS
    long = compare(options, LONG_SEED, options.long)
    t = T975[options.repeats]
    runs = [compare(options, seed, options.repeats) for seed in range(1, options.seeds + 1)]
    outside = []
    for codec in long:
        for field in FIELDS:
            value, own = truth(long[codec], field) if long[codec][field] is not None else (None, None)
            found = [r[codec] for r in runs if r[codec][field] is not None and r[codec][field + "_se"] is not None]
            if value is None or not found:
                continue
            held = sum(abs(r[field] - value) <= t * math.hypot(r[field + "_se"], own or 0) + 1e-6 * abs(value) for r in found)
            share = 100 * held / len(found)
            sure = all(r[field + "_se"] == 0 for r in found)
            row = f"{codec:18} {field:18} {share:6.1f} %" + ("  exact" if sure else "")
            print(row)
            if not sure and not 90 <= share <= 99:
                outside.append(row)
    print(f"{len(outside)} rows are outside 90 to 99 %")
    for row in outside:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
