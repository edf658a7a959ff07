#!/usr/bin/env python3
"""check_sample.py -- checks that the intervals of compare --sample hold the values of the whole model, in 20 of 24 seeds at least.

    check_sample.py ATOMO_BENCH
"""
import csv
import io
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

SEEDS, ENOUGH, ROWS = 24, 20, 24
ADVISED, STUDENT = 8, {"2": 12.706, "6": 2.571}  # seeds of advise; Student's t of 95 % for these repeats
CODECS = "none qsgd:bits=4 topk:ratio=0.02 eden:bits=2 sign natural".split()
METRICS = "bits_per_element,bytes,mse,relative_error,cosine"


def model(rng):
    """Matrices whose rows differ in size, as those of trained networks do, and vectors; bfloat16, and one of float32."""
    tensors = {}
    for i, (rows, cols) in enumerate([(512, 256), (300, 384), (768, 128), (40, 64), (20, 700)]):
        scale = 0.01 * np.exp(0.5 * rng.standard_normal((rows, 1))) * (1 + i)
        tensors[f"layer{i}.weight"] = ("BF16", (rows, cols), scale * rng.standard_normal((rows, cols)))
    tensors["norm.weight"] = ("F32", (9000,), 0.1 * rng.standard_normal(9000))
    tensors["bias"] = ("BF16", (512,), 0.02 * rng.standard_normal(512))
    return tensors


def save(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        raw = values.astype("<f4")
        raw = raw.tobytes() if dtype == "F32" else (raw.view("<u4") >> 16).astype("<u2").tobytes()
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text + data)


def advised(table):
    """The intervals of advise --sample hold what advise finds of the whole model. A codec that is slow here has two repeats only."""
    asked = ["advise", "--repeats", "6", "--topology", "allgather", "--max-error", "9"] + [word for codec in CODECS[:-1] for word in ("-c", codec)]
    whole = {row["compressor"]: row for row in table(*asked)}
    held, most = dict.fromkeys(("bytes_up", "mean_error"), 0), ADVISED * len(whole)
    for seed in range(1, ADVISED + 1):
        for row in table(*asked, "--sample", str(ROWS), "--seed", str(seed)):
            for field in held:
                wide = STUDENT[row["repeats"]] * float(row[field + "_se"] or 0)
                held[field] += row[field] != "" and abs(float(row[field]) - float(whole[row["compressor"]][field])) <= wide
    print("passed: advise: %s of %d" % (held, most))
    assert min(held.values()) >= 0.8 * most, (held, most)


def main(bench):
    def table(*args):
        done = subprocess.run([bench, args[0], "m.safetensors", "-q", "-f", "csv", *args[1:]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def rows(*args):
        return table("compare", "--metrics", METRICS, *args, *(word for codec in CODECS for word in ("-c", codec)))

    save("m.safetensors", model(np.random.default_rng(3)))
    # the draws of 600,000 elements average out: 4 repeats know the values to a hundredth of an interval's width
    whole = {row["compressor"]: row for row in rows("--repeats", "4") if row["tensor"] == "*"}
    held = {}
    for seed in range(1, SEEDS + 1):
        for row in rows("--sample", str(ROWS), "--seed", str(seed)):
            key = row["compressor"], row["metric"]
            inside = row["result"] and float(row["result_low"]) <= float(whole[key[0]][key[1]]) <= float(row["result_high"])
            held[key] = held.get(key, 0) + bool(inside)
    assert len(held) == len(CODECS) * len(METRICS.split(",")), held
    for (codec, metric), count in sorted(held.items(), key=lambda item: item[1]):
        print(f"{'passed' if count >= ENOUGH else 'FAILED'}: {codec} {metric}: {count} of {SEEDS}")
    assert min(held.values()) >= ENOUGH, "an interval misses the whole model's value too often"
    asked = "-c", "qsgd", "--rates", "2,4", "--sample", str(ROWS), "--repeats", "3", "--metrics", METRICS
    swept = table("sweep", *asked)  # the estimates of compare
    assert swept == table("compare", *asked[:1], "qsgd:bits=2/4", *asked[4:]) and len(swept) == 2 * len(METRICS.split(",")), swept
    advised(table)
    for codec in ("svd:rank=2", "ef+terngrad", "joint"):  # what rows do not tell is refused
        done = subprocess.run([bench, "compare", "m.safetensors", "--sample", "8", "-c", codec], capture_output=True, text=True)
        assert done.returncode == 2 and "which rows do not tell" in done.stderr, done.stderr
    print(f"sample: each of {len(held)} intervals holds the whole model's value in {min(held.values())} of {SEEDS} seeds or more")


with tempfile.TemporaryDirectory() as folder:
    program = os.path.abspath(sys.argv[1])
    os.chdir(folder)
    main(program)
