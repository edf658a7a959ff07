#!/usr/bin/env python3
"""torture.py BIN [PART...] -- disturbs commands at random moments and looks at what they leave. Without PART, all of these:

kills    SIGKILL: an output is as it was, or whole; a kill leaves at most one temporary file
signals  SIGTERM, half a second later again: the command ends within a second of the second one, leaves an output as it was
         and neither temporary files nor a gnuplot; a wait for the other end of a named pipe ends at the first one
resumes  SIGKILL or SIGTERM, then the same command with --resume: no finished record is lost, and each run that reaches its end has the
         records, weights and saved gradients of an undisturbed run, but for times
ranks    a rank of a training run, by each exchange, gets SIGKILL or SIGTERM, then it goes on with 2, 3 or 5 ranks: all end within ten
         seconds, no checkpoint is lost, and each has the bytes of an undisturbed run of one process
calls    calls of the C library fail (SHIM, from faults.c), or the disk is full: the exit code is 0 with the result of an
         undisturbed run, or 1 with one line; outputs are as they were or whole; nothing is left in folders or, but for that run's, in memory
dumps    SIGTERM and SIGKILL, KILLS of each, of a Python that writes gradients: each written step is there, and a later process goes on

KILLS=20 disturbances of each of the first four, POINTS=5 calls of each class that fail in each command (0: all), SEED=1 of the moments.
"""
import csv
import io
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KILLS, POINTS = int(os.environ.get("KILLS", 20)), int(os.environ.get("POINTS", 5))
SHIM = os.path.abspath(os.environ.get("SHIM", ""))
TEST = pathlib.Path(__file__).resolve().parent
TRAIN = "atomo-train run --network softmax --dataset mnist --threads 1 -q"

MAKE = """sh $SRC/test/cli/tiny.sh
atomo-bench synth --shape 64x32 --shape 100x30 --shape 10 --steps 3 --workers 2 -q -o g.h5
atomo-bench synth --shape 20x12 --shape 6 --steps 2 --workers 2 -q -o small.h5
atomo-bench synth --shape 2000x500 --shape 30 -q -o big.h5
atomo-bench encode big.h5 -c topk:ratio=0.3 -q -o big.atomo
atomo-bench encode small.h5 -c qsgd -q -o small.atomo
mkdir d; atomo-bench compare g.h5 -c none -c qsgd -q --repeats 2 -o d/c.csv
%s --batch-size 4 --max-steps 1 --eval-freq 1 --train-dir saved -o r0.csv""" % TRAIN

# Commands whose last word is the output.
OUTPUTS = [
    "atomo-bench encode big.h5 -c qsgd -q --threads 1 --force -o out.atomo",
    "atomo-bench decode big.atomo -q --threads 1 --force -o out.h5",
    "atomo-bench convert big.h5 -q --force out.h5",
    "atomo-bench convert big.h5 -q --force out.npz",
    "atomo-bench report d -q --force -o out.html",
    "atomo-bench plot pareto d/c.csv -q --force -o out.svg",
    "atomo-bench compare g.h5 -c qsgd -q --threads 1 --force -o out.csv",
]

# Commands that take long, the first ones in calls of seconds; p is a pipe that nobody writes or reads.
SLOW = [
    "atomo-bench compare huge.h5 -c svd:method=gesdd --repeats 9 -q --force -o out.csv",
    "atomo-bench verify huge.h5 -q --force -o out.csv",
    "atomo-bench encode huge.h5 -c svd:method=gesdd -q --force -o out.atomo",
    "atomo-bench synth --shape 20000x20000 --steps 9 -q --force -o out.h5",
    "atomo-bench merge g.h5 -c qsgd -c svd --workers 4096 --repeats 1000 -q --force -o out.csv",
    "atomo-bench cost huge.h5 -c svd:method=gesdd --repeats 1000 -q --force -o out.csv",
    "atomo-train run --network gpt-char --batch-size 256 --max-steps 9 -c qsgd -q --force -o out.csv",
    "atomo-train tune --network lenet -c qsgd -q --force -o out.csv",
    "atomo-bench plot pareto d/c.csv -q --force -o out.svg",
    "atomo-bench report p -q --force -o out.html",
    "atomo-bench cost g.h5 -c none -q --compute-from p --force -o out.csv",
    "atomo-bench list -o p",
    "atomo-bench encode g.h5 -c none -q -o p",
]

RESUMES = [
    "atomo-bench compare g.h5 -q --threads 1 --repeats 40 -c qsgd -c ef+topk:ratio=0.01 -c powersgd:rank=2 -c joint:bits=1+entry -o r.csv",
    "atomo-bench compare g.h5 -q --threads 1 --repeats 40 --memory 60k -c ef21+terngrad -c qsgd --metrics bytes,mse,wasserstein,elem_error -o r.csv",
    "atomo-bench sweep g.h5 -q --threads 1 --repeats 10 -c qsgd -c svd --rates 1,2,4 -o r.csv",
    TRAIN + " --max-steps 60 --eval-freq 10 --batch-size 8 --workers 2 -c ef+topk:ratio=0.01 -c qsgd --seeds 2 --target-accuracy 0.1"
    " --train-dir t -o r.csv",
    TRAIN + " --max-steps 100 --eval-freq 10 --batch-size 8 --workers 2 -c ef+topk:ratio=0.01 --train-dir t --dump-gradients r.h5"
    " --dump-freq 20 --dump-workers -o r.csv",
]

RANKED = [TRAIN + " --eval-freq 10 --workers 4 --max-steps 100 -c " + rest for rest in (
    "ef+topk:ratio=0.01 --topology allgather", "ef+minmax --topology ring", "qsgd --topology twoshot --owner-feedback on",
    "qsgd --topology hier:node=2 --within ef+qsgd:bits=6", "ef+minmax --topology twoshot --local-steps 10 --overlap-steps 2")]

# No measure of time, so that results can be compared.
CALLS = [
    "atomo-bench compare small.h5 -c qsgd -c ef+topk --repeats 2 --metrics bytes,mse -q --threads 1 --force -o out.csv",
    "atomo-bench sweep small.h5 -c qsgd --rates 1,2 --repeats 2 --metrics bytes,mse -q --threads 1 --force -o out.csv",
    "atomo-bench merge small.h5 -c qsgd --workers 2 --repeats 2 -q --threads 1 --force -o out.csv",
    "atomo-bench encode small.h5 -c topk -q --threads 1 --force -o out.atomo",
    "atomo-bench decode small.atomo -q --threads 1 --force -o out.h5",
    "atomo-bench report d -q --force -o out.html",
    "atomo-bench plot pareto d/c.csv -q --force -o out.svg",
    TRAIN + " --max-steps 2 --eval-freq 1 --batch-size 4 --workers 2 --train-dir t --dump-gradients out.h5 --dump-freq 1 --force -o out.csv",
    "atomo-train eval --train-dir saved -q --force -o out.csv",
    "atomo-train tune --network softmax --dataset mnist --max-steps 2 --points 2 --batch-size 4 --threads 1 -q --force -o out.csv",
]

moments = random.Random(int(os.environ.get("SEED", 1)))
failures = []


def complain(command, text):
    failures.append(text)
    print(f"FAILED: {command}: {text}", flush=True)


def start(command, **more):
    err = open("../err", "wb")
    return subprocess.Popen(command.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, **more)


def said():
    return pathlib.Path("../err").read_text(errors="replace").strip()


def lines_said():
    return [line for line in said().splitlines() if not line.startswith(("hint: ", "note: "))]


def ended(child, seconds):
    """The exit code, or None after so many seconds."""
    try:
        return child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def fresh(command=""):
    """Goes to a new copy of the folder with the inputs, in which each output has an earlier content."""
    os.chdir("..")
    shutil.rmtree("run", ignore_errors=True)
    shutil.copytree("base", "run", symlinks=True, copy_function=os.link)
    os.chdir("run")
    for out in outputs(command):
        pathlib.Path(out).write_text("before\n")


def outputs(command):
    return [word for word in command.split() if word.startswith("out.")]


def contents(path):
    """What a file holds, a table without its times."""
    if not path.endswith(".csv"):
        return pathlib.Path(path).read_bytes()
    rows = list(csv.reader(io.StringIO(pathlib.Path(path).read_text())))
    timed = {i for i, name in enumerate(rows[0] if rows else []) if re.search("_ms|_gbps|_seconds", name)}
    return [[cell for i, cell in enumerate(row) if i not in timed] for row in rows]


def tree(*paths):
    """The contents of files and folders by name."""
    files = [f for p in map(pathlib.Path, paths) if p.exists() for f in ([p] if p.is_file() else p.rglob("*")) if f.is_file()]
    return {str(f): contents(str(f)) for f in files}


def undisturbed(command, *results):
    """Runs the command. Returns its results and the seconds that it took."""
    fresh(command)
    begun = time.monotonic()
    if start(command).wait() != 0:
        sys.exit(f"FAILED undisturbed: {command}: {said()}")
    return tree(*(results or outputs(command))), time.monotonic() - begun


def judge_outputs(command, whole, most_left):
    for out in outputs(command):
        if not os.path.exists(out):
            complain(command, f"no {out}")
        elif pathlib.Path(out).read_bytes() != b"before\n" and not whole(out):
            complain(command, f"{out} is neither as it was nor whole")
    left = [str(f) for f in pathlib.Path().rglob("*.tmp")]
    if len(left) > most_left:
        complain(command, f"leaves {left}")


def judge_temporary(command):
    """gnuplot's folder goes when all processes that use it have ended."""
    until = time.monotonic() + 2
    while os.listdir("../tmp") and time.monotonic() < until:
        time.sleep(0.05)
    if os.listdir("../tmp"):
        complain(command, f"leaves {os.listdir('../tmp')} in TMPDIR")
        shutil.rmtree("../tmp")
        os.mkdir("../tmp")


def kills():
    known = [undisturbed(command) for command in OUTPUTS]
    for i in range(KILLS):
        command, (want, seconds) = OUTPUTS[i % len(OUTPUTS)], known[i % len(OUTPUTS)]
        fresh(command)
        child = start(command)
        code = ended(child, 0.005 + 1.1 * seconds * moments.random())
        child.kill()
        child.wait()
        if code not in (None, 0):
            complain(command, f"exit code {code}: {said()}")
        judge_outputs(command, lambda out: contents(out) == want[out], 1)
        for left in os.listdir("../tmp"):  # a SIGKILL leaves gnuplot's folder
            shutil.rmtree(f"../tmp/{left}", ignore_errors=True)


def signals():
    if subprocess.call("atomo-bench synth --shape 3000x3000 -q -o ../base/huge.h5 >/dev/null; mkfifo ../base/p", shell=True):
        sys.exit("signals: no inputs")
    try:
        for i in range(max(KILLS, len(SLOW))):
            stop(SLOW[i % len(SLOW)])
    finally:
        os.remove("../base/huge.h5"), os.remove("../base/p")


def stop(command):
    piped = " p" in command and " plot " not in command
    fresh(command)
    child = start(command)
    code = ended(child, 0.3 + (0 if piped else 2.5 * moments.random()))
    if code is None:
        child.terminate()
        code = ended(child, 0.5)
    if code is None and not piped:
        child.terminate()
        code = ended(child, 1)
    if code is None:
        child.kill()
        child.wait()
        complain(command, "does not end")
    elif code not in (0, 130, -signal.SIGTERM) or (code == 130 and len(lines_said()) != 1):
        complain(command, f"exit code {code}: {said()}")
    judge_outputs(command, lambda out: code == 0 or "the output is whole" in said(), 0 if code != -signal.SIGTERM else 1)
    judge_temporary(command)


def resumes():
    for command in RESUMES:
        results = ("r.csv", "r.h5", "t")
        want, seconds = undisturbed(command, *results)
        fresh()
        most, left, starts = KILLS // len(RESUMES), 0, 0
        while left < most and starts < 40 * KILLS:
            starts += 1
            left += resume(command, results, want, 0.005 + 0.4 * seconds * moments.random())
        resume(command, results, want, None)


def resume(command, results, want, moment):
    """Returns whether the run was disturbed, and did not reach its end."""
    before = records_kept()
    child = start(command + " --resume")
    code = ended(child, moment)
    if code is None:
        child.send_signal(moments.choice([signal.SIGKILL, signal.SIGTERM]))
        code = child.wait()
    if code == 0:
        got = tree(*results)  # with checkpoints of stops, and what a kill leaves
        if {name: got.get(name) for name in want} != want or list(pathlib.Path().glob("r.csv.part")) + list(pathlib.Path().glob("r.h5.parts/step_*")):
            complain(command, f"a resumed run differs from an undisturbed one: {os.listdir('.')}")
        fresh()
    elif code not in (-signal.SIGKILL, -signal.SIGTERM, 130):
        complain(command, f"exit code {code}: {said()}")
        fresh()
    elif "atomo-bench" in command and records_kept() < before - 1 and not os.path.exists("r.csv"):  # a signal may come after the end
        complain(command, f"a start with {before} records left {records_kept()}")
    return code != 0


def records_kept():
    part = pathlib.Path("r.csv.part")
    return part.read_bytes().count(b"\n") if part.exists() else 0


def ranks():
    rest = os.path.join(os.environ["BIN"], "..", "rest.so")  # with it a rank that waits sleeps
    if subprocess.call(". $SRC/test/cli/ranks.sh; can_launch", shell=True) or not os.path.exists(rest):
        return print("skip: ranks: needs mpirun, a build with MPI (make deps-mpi) and rest.so")
    for command in RANKED:
        want = undisturbed(command + " --train-dir b -o b.csv", "b", "b.csv")[0]
        fresh()
        left = max(1, KILLS // len(RANKED))
        while left:
            left -= disturb(rest, command, want)


def disturb(rest, command, want):
    """Starts the run and disturbs a rank. Returns whether it was before the end."""
    known = {name for name in tree("b") if "step_" in name and "/." not in name}
    count = moments.choice([2, 3, 5])
    tell = 'echo $$ >pid.$OMPI_COMM_WORLD_RANK.new; mv pid.$OMPI_COMM_WORLD_RANK.new pid.$OMPI_COMM_WORLD_RANK; exec "$@"'
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-x", f"LD_PRELOAD={rest}",
             "-n", str(count), "sh", "-c", tell, "sh"] + (command + " --train-dir b -o b.csv --resume").split()
    for f in pathlib.Path().glob("pid.*"):
        f.unlink()
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=open("../err", "wb"))
    while len(list(pathlib.Path().glob("pid.?"))) < count and run.poll() is None:
        time.sleep(0.01)
    pids = [int(f.read_text()) for f in pathlib.Path().glob("pid.?")]
    code = ended(run, 1.5 * moments.random())
    if code is None:
        os.kill(moments.choice(pids), moments.choice([signal.SIGKILL, signal.SIGTERM]))
        code = ended(run, 10)  # mpirun of Open MPI 4.1 may wait for ever for a rank that died while it connected
        run.kill()
        run.wait()
        if any(map(alive, pids)):
            complain(command, "ranks are alive ten seconds after one was killed")
    there = tree("b")
    other = [name for name in there if "step_" in name and there[name] != want.get(name, there[name])]  # a stop saves one more
    if other or not known <= set(there):
        complain(command, f"checkpoints lost: {known - set(there)}, other than undisturbed: {other}")
    if not os.path.exists("b.csv"):
        return True
    cut = [[row[:10] for row in rows] for rows in (contents("b.csv"), want["b.csv"])]
    if cut[0] != cut[1] or set(want) - {"b.csv"} - set(there):
        complain(command, "a run that ended has other records, or lacks checkpoints")
    fresh()
    return code != 0


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def calls():
    for command in CALLS:
        want, counts = undisturbed_calls(command)
        runs = 0
        for kind, number in counts.items():
            step = max(1, -(-number // POINTS)) if POINTS else 1
            for mode in {"read": "once on eintr short", "write": "once on eintr short", "fork": "once on eintr", "pipe": "once on eintr"}.get(
                    kind, "once on").split():
                for at in range(1, number + 1 if kind != "live" else 1, step):
                    fail(command, want, counts, {"FAULT_CLASS": kind, "FAULT_AT": str(at), "FAULT_MODE": mode})
                    runs += 1
        for most in range(0, max(len(open(f, "rb").read()) for f in outputs(command)), 4096 * 8):
            fail(command, want, counts, {}, most)
            runs += 1
        print(f"{command}: {runs} runs", flush=True)


def shimmed(faults):
    return dict(os.environ, FAULT_LOG=os.path.abspath("../log"), LD_PRELOAD=SHIM, **faults)


def counts_of_log():
    log = pathlib.Path("../log")
    return {k: int(v) for k, v in map(str.split, log.read_text().splitlines())} if log.exists() else {}


def undisturbed_calls(command):
    fresh(command)
    if start(command, env=shimmed({})).wait() != 0:
        sys.exit(f"FAILED undisturbed: {command}: {said()}")
    return tree(*outputs(command)), counts_of_log()


def complete(out):
    """Whether a file is whole: if one of several outputs fails, the others may have been written."""
    ending = {".svg": b"</svg>", ".html": b"</html>", ".csv": b"\n"}.get(pathlib.Path(out).suffix)
    if ending:
        return ending in pathlib.Path(out).read_bytes()[-64:]
    look = ["inspect", out] if out.endswith(".h5") else ["decode", out, "-q", "--force", "-o", "../decoded.h5"]
    return subprocess.call(["atomo-bench"] + look, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def fail(command, want, counts, faults, most=None):
    fresh(command)
    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))) if most is not None else None
    child = start(command, env=shimmed(faults), preexec_fn=limit)
    code = ended(child, 20)
    child.kill()
    child.wait()
    where = f"{command} ({' '.join(faults.values()) or f'files of {most} bytes'})"
    if code not in (0, 1) or (code == 1 and len(lines_said()) != 1 and most is None):
        complain(where, f"exit code {code}: {said()}")
    same = code == 0 and command.split()[1] in ("compare", "sweep", "encode", "decode")  # a page may lack figures
    judge_outputs(where, (lambda out: contents(out) == want[out]) if same else complete, 0)
    judge_temporary(where)
    if counts_of_log().get("live", 0) > max(0, counts.get("live", 0)):
        complain(where, "leaks memory")


def dumps():
    more = {"PYTHONPATH": f"{TEST.parent}/lib/python", "ATOMO_LIBRARY": str(*pathlib.Path(os.environ["BIN"], "../public").glob("libatomo.so.?"))}
    test = subprocess.run([sys.executable, f"{TEST}/python/test_dump.py"], env=dict(os.environ, KILLS=str(KILLS), **more), capture_output=True, text=True)
    print(test.stdout, end="")
    if test.returncode:
        complain("GradientDump", test.stderr)


PARTS = {part.__name__: part for part in (kills, signals, resumes, ranks, calls, dumps)}


def main(bin_dir, *parts):
    bin_dir = os.path.abspath(bin_dir)
    with tempfile.TemporaryDirectory(prefix="atomo-torture-") as folder:
        os.environ.update(PATH=f"{bin_dir}:{os.environ['PATH']}", BIN=bin_dir, SRC=str(TEST.parent), TMPDIR=f"{folder}/tmp", REST_US="1000")
        for name in ("base", "run", "tmp"):
            os.mkdir(f"{folder}/{name}")
        subprocess.run(["sh", "-e", "-c", MAKE], cwd=f"{folder}/base", stdout=subprocess.DEVNULL, check=True)
        os.chdir(f"{folder}/run")
        for name in parts or PARTS:
            before, begun = len(failures), time.monotonic()
            PARTS[name]()
            print(f"{name}: {len(failures) - before} failed, {time.monotonic() - begun:.0f} s", flush=True)
        os.chdir("/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
