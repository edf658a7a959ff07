"""Kills ranks of a training run at random moments.

    python3 test/exchange/kills.py BIN [KILLS [SEED]]      100 kills, seed 1

A run on 2, 3 or 4 ranks goes on from its checkpoints (--resume), and after up to 1.5 seconds one of its ranks gets SIGKILL. This
repeats. Each time all ranks must have ended within 10 seconds, every checkpoint that was there must still be there, and
every checkpoint must have the bytes of the one that an undisturbed run of one process has written. A run that ends before
its kill must have the records of the undisturbed run, too; then a new run begins. The last run ends undisturbed.

mpirun of Open MPI 4.1 may itself wait for ever if a rank dies while it connects to mpirun (PMIX ERROR: UNREACHABLE). It is
then killed after 10 seconds, and counted."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

STEPS, WORKERS, LIMIT = 100, 3, 10
TRAIN = ["atomo-train", "run", "--threads", "1", "--network", "softmax", "--dataset", "mnist", "--eval-freq", "10", "-q",
         "-c", "ef+topk:ratio=0.01", "--workers", str(WORKERS), "--topology", "allgather", "--max-steps", str(STEPS)]
RANK = 'echo $$ >pid.$OMPI_COMM_WORLD_RANK.new; mv pid.$OMPI_COMM_WORLD_RANK.new pid.$OMPI_COMM_WORLD_RANK; exec "$@"'


def main(bin_dir, kills, seed):
    source = pathlib.Path(__file__).resolve().parents[2]
    env = dict(os.environ, REST_US="1000", PATH=f"{pathlib.Path(bin_dir).resolve()}:{os.environ['PATH']}", SRC=str(source))
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="atomo-kills.") as folder:
        os.chdir(folder)
        subprocess.run(["sh", source / "test/cli/tiny.sh"], env=env, check=True)
        subprocess.run(TRAIN + ["--train-dir", "a", "-o", "a.csv"], env=env, check=True)
        killed, ended, hung, known = 0, 0, 0, set()
        while killed < kills:
            seconds = disturb(rng, env)
            known = check_checkpoints(known)
            if seconds is not None:
                killed, hung = killed + 1, hung + (seconds == LIMIT)
                print(f"{killed} of {kills}", file=sys.stderr) if killed % 10 == 0 else None
            if pathlib.Path("b.csv").exists():  # the run has ended, perhaps just before its rank was killed
                ended, known = ended + 1, begin_anew()
        start(env, WORKERS).wait()
        check_checkpoints(known)
        begin_anew()
    print(f"{killed} kills: all ranks ended within {LIMIT} s, mpirun too but {hung} times; {ended + 1} runs ended with the bytes "
          "of an undisturbed run")


def start(env, ranks):
    for f in pathlib.Path().glob("pid.*"):
        f.unlink()
    rest = pathlib.Path(env["PATH"].split(":")[0]).parent / "rest.so"  # a rank that waits sleeps, so that a run takes two seconds
    return subprocess.Popen(
        ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-x", f"LD_PRELOAD={rest}",
         "-n", str(ranks), "sh", "-c", RANK, "sh", *TRAIN, "--train-dir", "b", "-o", "b.csv", "--resume"], env=env, stdout=subprocess.DEVNULL,
        stderr=open("err", "wb"))


def disturb(rng, env):
    """Starts the run and kills a rank. Returns the seconds until all processes had ended, LIMIT if mpirun had not; None: the run
    ended first."""
    ranks = rng.choice([2, 3, 4])
    run, victim, wait = start(env, ranks), rng.randrange(ranks), rng.uniform(0, 1.5)
    pids = [int(wait_for(pathlib.Path(f"pid.{r}"))) for r in range(ranks)]
    time.sleep(wait)
    if run.poll() is not None:
        return None if run.returncode == 0 else fail(f"exit code {run.returncode}: {pathlib.Path('err').read_text()}")
    before = time.monotonic()
    try:
        os.kill(pids[victim], signal.SIGKILL)
    except ProcessLookupError:
        pass
    while run.poll() is None or any(map(alive, pids)):
        if time.monotonic() - before > LIMIT and not any(map(alive, pids)):
            run.kill()
            run.wait()
            return LIMIT
        if time.monotonic() - before > LIMIT:
            fail(f"{ranks} ranks: not ended {LIMIT} s after rank {victim} was killed")
        time.sleep(0.01)
    return None if run.returncode == 0 else time.monotonic() - before


def wait_for(path):
    until = time.monotonic() + 60
    while not path.exists():
        if time.monotonic() > until:
            fail(f"{path} does not come: {pathlib.Path('err').read_text()}")
        time.sleep(0.01)
    return path.read_text()


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def check_checkpoints(known):
    """Checks that all known checkpoints are there, and that the others have the right bytes. Returns all."""
    names = {f.name for f in pathlib.Path("b").glob("step_*.h5")}
    if not known <= names:
        fail(f"lost checkpoints: {sorted(known - names)}")
    for name in names - known:
        if pathlib.Path("a", name).read_bytes() != pathlib.Path("b", name).read_bytes():
            fail(f"{name} differs from the undisturbed run")
    return names


def begin_anew():
    """Checks a run that has ended, and removes it."""
    cut = [[line.split(",")[:10] for line in open(f"{run}.csv")] for run in "ab"]
    steps = {f.name for f in pathlib.Path("b").glob("step_*.h5")}
    if cut[0] != cut[1] or f"step_{STEPS:08d}.h5" not in steps:
        fail("a run that ended has other records, or lacks its last checkpoint")
    for f in list(pathlib.Path("b").iterdir()) + [pathlib.Path("b.csv")]:
        f.unlink()
    return set()


def fail(text):
    sys.exit(f"kills: {text}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
