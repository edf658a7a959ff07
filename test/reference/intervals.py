#!/usr/bin/env python3
"""intervals.py -- how often the 95 % intervals of compare, mean +- t(R - 1) standard errors, contain the true value.

    intervals.py BENCH DUMP [--tensor GLOB] [--step GLOB] [--repeats R] [--seeds N] [--long L] [-c SPEC]...

Runs compare with seeds 1 .. N, and once with L repeats and another seed. A field NAME counts where there is a field NAME_se. The
true value is NAME_expected where that is exact, else that of the long run, whose own error counts too. A standard error of the gain
that is the same for all seeds is a closed form: its interval is that of the normal distribution. Prints a row for each codec and field: the share
of the intervals that hold the value, or "constant" where value and standard error vary by less than 1e-5 of the value; then the
rows outside 90 to 99 %, and the constants that miss their value.
"""
import argparse
import json
import math
import subprocess
import sys

CLOSED = ["gain"]
Z975 = 1.959964
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
            errors = [r[field + "_se"] for r in found]
            least = 1e-5 * abs(value)
            if max(errors) <= least:
                off = max(abs(r[field] - value) for r in found)
                row = f"{codec:18} {field:18} constant, at most {off:.1e} from the value"
                wrong = off > least
            else:
                closed = field in CLOSED and max(errors) - min(errors) <= 1e-9 * max(errors)
                wide = Z975 if closed else t
                held = sum(abs(r[field] - value) <= wide * math.hypot(r[field + "_se"], own or 0) for r in found)
                share = 100 * held / len(found)
                row = f"{codec:18} {field:18} {share:6.1f} %" + ("  closed form" if closed else "")
                wrong = not 90 <= share <= 99
            print(row, flush=True)
            if wrong:
                outside.append(row)
    print(f"{len(outside)} rows are outside 90 to 99 %")
    for row in outside:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
