"""Trains on two made-up hosts (two_hosts.c), and compares the time of an iteration with the prediction of `atomo-bench cost`.

    python3 test/exchange/predict.py BIN TWO_HOSTS [RATE...]      rates in bits per second; without one 1e9 and 1e8

For each rate, `atomo-bench link` measures the link, and a short run saves gradients. For each compressor, training without it
and with it takes turns (eight seeds), so that both see the same machine. `cost` predicts the iteration with the compressor from
the link, the gradients, and the working time of a step without it: all that is neither exchange nor codec, so the optimizer
and the messages by which ranks agree as well. Both ranks run `cost` at the same time, since they
will also encode at the same time and share caches; rank 0's result counts. Prints a table; exits with 1 if a prediction is more
than 15 % off, or if a compressor is faster than plain floats where it should be slower or the reverse, and with 77 if the hosts
cannot be made. Nothing else may work on the machine meanwhile."""

import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

CODECS = ["fp16", "qsgd", "terngrad", "svd", "ef+topk", "zipml"]
DELAY, OFF = "1e-4", 0.15
TRAIN = ["atomo-train", "run", "--threads", "1", "--network", "lenet", "--dataset", "digits", "--batch-size", "256",
         "--bucket-bytes", "1000000000", "--eval-freq", "0", "--force", "-q"]


def main(bin_dir, two_hosts, rates):
    os.environ["PATH"] = f"{pathlib.Path(bin_dir).resolve()}:{os.environ['PATH']}"
    two_hosts = pathlib.Path(two_hosts).resolve()
    with tempfile.TemporaryDirectory(prefix="atomo-predict.") as folder:
        os.chdir(folder)
        return print_table(two_hosts, rates)


def print_table(two_hosts, rates):
    if subprocess.run([two_hosts, "1e9", DELAY, "true"]).returncode == 77:
        print("skip: exchange/predict: no network namespaces or /dev/net/tun here")
        return 77
    print("| Gbit/s | compressor | compute | encode | exchange | decode | predicted ms | measured ms | predicted / measured "
          "| break-even Gbit/s | faster than floats, predicted | measured |\n|" + "---:|---|" + "---:|" * 8 + "---|---|")
    return 0 if all([compare(two_hosts, rate) for rate in rates]) else 1


def on_ranks(two_hosts, rate, *command):
    """Runs a command on two ranks, one on each host."""
    mpirun = ["mpirun", "--allow-run-as-root", "--wdir", os.getcwd(), "-n", "2", "--host", "10.77.0.1,10.77.0.2", "--bind-to", "none",
              "--mca", "plm_rsh_agent", f"{two_hosts} --enter", "--mca", "btl", "tcp,self",
              "--mca", "btl_tcp_if_include", "wire", "--mca", "oob_tcp_if_include", "wire"]
    subprocess.run([two_hosts, rate, DELAY, *mpirun, "-x", "PATH", *command], check=True, timeout=600,
                   stdout=subprocess.DEVNULL)


def compare(two_hosts, rate):
    on_ranks(two_hosts, rate, "atomo-bench", "link", "-o", "link.json", "--force", "-q")
    on_ranks(two_hosts, rate, *TRAIN, "--max-steps", "16", "-o", "first.csv", "--dump-gradients", "g.h5", "--dump-freq", "16",
             "--dump-workers")
    return all([compare_codec(two_hosts, rate, codec) for codec in CODECS])


def compare_codec(two_hosts, rate, codec):
    on_ranks(two_hosts, rate, *TRAIN, "--max-steps", "10", "--seeds", "8", "-c", "none", "-c", codec, "-o", "run.csv")
    plain = median("measured_ms", "none")
    work = plain - sum(median(part, "none") for part in ("encode_ms", "comm_ms", "decode_ms"))
    on_ranks(two_hosts, rate, "sh", "-c", 'exec "$@" -o cost.$OMPI_COMM_WORLD_RANK.json', "sh", "atomo-bench", "cost", "g.h5",
             "--workers", "2", "--topology", "allgather", "--threads", "1", "--link", "link.json", "--compute-ms", str(work),
             "-c", codec, "--repeats", "15", "--force", "-q")
    predicted = {r["compressor"]: r for r in json.load(open("cost.0.json"))["results"]}
    measured = median("measured_ms", codec)
    if codec == CODECS[0]:
        row(rate, predicted["none"], plain, ["", ""])
    faster = predicted[codec]["total_ms"] < predicted["none"]["total_ms"], measured < plain
    ratio = row(rate, predicted[codec], measured, ["yes" if f else "no" for f in faster])
    return abs(ratio - 1) <= OFF and faster[0] == faster[1]


def median(field, codec):
    """The median of a field over the steps of a codec, without the first and the tested one of each run."""
    steps = [r for r in csv.DictReader(open("run.csv")) if r["record"] == "step" and r["measured_ms"]]
    return statistics.median(float(r[field]) for r in steps if r["compressor"] == codec)


def row(rate, p, measured, faster):
    even = p["break_even_gbps"]
    words = f"{8 * even:.2g}" if even is not None else p["pays"] if p["compressor"] != "none" else ""
    print(f"| {float(rate) / 1e9:g} | `{p['compressor']}` | {p['compute_ms']:.1f} | {p['encode_ms']:.1f} | {p['comm_ms']:.1f} | "
          f"{p['decode_ms']:.1f} | {p['total_ms']:.1f} | {measured:.1f} | {p['total_ms'] / measured:.2f} | {words} | {faster[0]} "
          f"| {faster[1]} |", flush=True)
    return p["total_ms"] / measured


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:] or ["1e9", "1e8"]))
