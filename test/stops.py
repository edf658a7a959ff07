#!/usr/bin/env python3
"""stops.py -- how soon commands on a large vector end after two SIGTERM: python3 test/stops.py BIN_DIRECTORY [STOPS]

Each command runs to its end, or 15 seconds, and is then stopped STOPS times (10) at random moments of that time. After the
first signal it may end with exit status 130 and one line (and perhaps hints), or with its whole result if it was just done.
A second signal, half a second later, must end it within a second. An output that was there must be as it was, and no
temporary file may be left. STOPS_SEED=N chooses other moments.
Needs 6 GB of memory, and 8 GB in the temporary folder. Runs alone: other load delays the commands.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

ELEMENTS = 600_000_000
LONGEST = 15
COMMANDS = [
    f"atomo-bench synth --shape {ELEMENTS} -q --force -o out.h5",
    "atomo-bench encode v.h5 -c none -q --force -o out.atomo",
    "atomo-bench decode v.atomo -q --force -o out.h5",
    "atomo-bench inspect v.h5 --format csv -q --force -o out.csv",
    "atomo-bench compare v.h5 -c qsgd -q --force -o out.csv",
    "atomo-bench sweep v.h5 -c topk -q --force -o out.csv",
    "atomo-bench merge v.h5 -c qsgd --workers 4 -q --force -o out.csv",
    "atomo-bench verify v.h5 -q --force -o out.csv",
    "atomo-train run --network gpt-char --batch-size 256 --max-steps 9 -c qsgd -q --force -o out.csv",
    "atomo-train run --network resnet18 --batch-size 512 --max-steps 9 -c svd:rank=3 -q --force -o out.csv",
    "atomo-train tune --network lenet -c qsgd -q --force -o out.csv",
]


# the size of each command's output, known once it has come to its end; sizes of CSV vary with the times in it
whole = {}


def prepare(command):
    """Puts an earlier result in the place of the output, and removes what the last run kept for --resume."""
    out = command.split()[-1]
    with open(out, "w") as f:
        f.write("before")
    if os.path.exists(out + ".part"):
        os.remove(out + ".part")
    return out


def start(command):
    return subprocess.Popen(command.split(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def stop(command, moment):
    """Returns the seconds from the signal to the end, None if the command ended before, and what is wrong."""
    out = prepare(command)
    child = start(command)
    try:
        said = child.communicate(timeout=moment)[1]
        if not out.endswith(".csv"):
            whole[command] = os.path.getsize(out)
        return None, "" if child.returncode == 0 else f"status {child.returncode}: {said}"
    except subprocess.TimeoutExpired:
        child.terminate()
    try:
        said = child.communicate(timeout=0.5)[1]
        took = 0
    except subprocess.TimeoutExpired:
        child.terminate()
        sent = time.monotonic()
        said = child.communicate()[1]
        took = time.monotonic() - sent
    lines = [line for line in said.splitlines() if not line.startswith(("hint: ", "note: "))]
    left = [f for f in os.listdir(".") if f.endswith(".tmp")]
    with open(out, "rb") as f:
        unchanged = f.read(7) == b"before"
    written = "the output is whole" in said and os.path.getsize(out) == whole.get(command, os.path.getsize(out))
    wrong = [] if took < 1 else [f"{took:.2f} s"]
    told = child.returncode == 130 and len(lines) == 1
    wrong += [] if told or (took and child.returncode == -signal.SIGTERM) else [f"status {child.returncode}: {said}"]
    wrong += [f"left {name}" for name in left]
    wrong += [] if unchanged or written else [f"{out} is neither as it was nor whole"]
    return took, "; ".join(wrong)


def main():
    os.environ["PATH"] = os.path.abspath(sys.argv[1]) + ":" + os.environ["PATH"]
    stops = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    moments = random.Random(int(os.environ.get("STOPS_SEED", 1)))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="atomo-stops-") as folder:
        os.chdir(folder)
        for make in (COMMANDS[0].replace("out", "v"), "atomo-bench encode v.h5 -c fp16 -q -o v.atomo"):
            subprocess.run(make.split(), stdout=subprocess.DEVNULL, check=True)
        for command in COMMANDS:
            begun = time.monotonic()
            found = [stop(command, LONGEST)]
            longest = min(time.monotonic() - begun, LONGEST)
            found += [stop(command, moments.uniform(0.1, longest)) for _ in range(stops)]
            took = [seconds for seconds, _ in found if seconds is not None]
            wrong = [text for _, text in found if text]
            failed += len(wrong)
            print(f"{max(took, default=0):5.2f} s at most in {len(took):2} stops: {command}", flush=True)
            for text in wrong:
                print(f"   FAILED: {text}", flush=True)
    print(f"stops: {failed} failed")
    return 1 if failed else 0


sys.exit(main())
