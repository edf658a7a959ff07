"""GradientDump: whatever ends the process, the file has every step that was written, and a later process goes on with it."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError:
    print("skip test_dump: needs h5py and numpy (Debian: python3-h5py)")
    sys.exit(0)

import atomo
from atomo.dump import GradientDump

os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(os.path.abspath(atomo.__file__)))  # of the processes that are killed

BODY = """
import sys, time
import numpy as np
from atomo.dump import GradientDump
dump = GradientDump("g.h5", append=True, lr=0.1)
for step in range(int(sys.argv[1]), 100000):
    for worker in range(2):
        dump.write(step, worker=worker, gradients={"w": np.full((200, 50), step + worker, "f4"), "b": np.arange(step % 7, dtype="f4")})
    print(step, flush=True)
    time.sleep(step % 3 / 200)
"""


def steps_of(path):
    """The steps of a dump, after a check of all its tensors; the last step may lack its second worker."""
    with h5py.File(path, "r") as file:
        steps = sorted(int(name[5:]) for name in file)
        assert file.attrs["lr"] == 0.1
        for step in steps:
            group = file["step_%06d" % step]
            assert len(group) == 2 or step == steps[-1], (step, list(group))
            for worker in range(len(group)):
                at = group["worker_%d" % worker]
                assert (at["w"][()] == step + worker).all() and at["w"].shape == (200, 50) and len(at["b"]) == step % 7
    bench = subprocess.run([os.path.join(os.environ["BIN"], "atomo-bench"), "inspect", path, "-q", "-f", "csv"], capture_output=True, text=True)
    assert bench.returncode == 0, bench.stderr
    return steps


def kill(number, draw):
    """Writes steps until a signal hits after some of them, within a later write or between two; all that were written must be there."""
    first = steps_of("g.h5")[-1] if os.path.exists("g.h5") else 0  # which may lack a worker
    child = subprocess.Popen([sys.executable, "-c", BODY, str(first)], stdout=subprocess.PIPE, text=True)
    wanted, last = draw.randrange(1, 6), -1
    while last < first + wanted - 1:
        last = int(child.stdout.readline())
    time.sleep(0.03 * draw.random())
    child.send_signal(number)
    last = int((child.communicate()[0].split() or [last])[-1])
    steps = steps_of("g.h5")
    assert steps in (list(range(last + 1)), list(range(last + 2))), (steps, last)
    for name in os.listdir("."):  # a killed process leaves its hidden file
        if name.startswith(".g.h5."):
            os.unlink(name)


def exception():
    """Keeps what was written before an exception; the first write replaces an older file, and no write leaves it as it is."""
    try:
        with GradientDump("e.h5", lr=0.1) as dump:
            dump.write(1, gradients={"w": np.ones(3, "f4")})
            dump.write(2, gradients={"w": np.ones(3, "f4")}, loss=0.5)
            raise RuntimeError("out of memory")
    except RuntimeError:
        pass
    with h5py.File("e.h5", "r") as file:
        assert list(file) == ["step_000001", "step_000002"] and file["step_000002"].attrs["loss"] == 0.5
    try:
        with GradientDump("e.h5"):
            raise RuntimeError("before the first step")
    except RuntimeError:
        pass
    with GradientDump("e.h5", append=True) as dump:
        dump.write(2, gradients={"w": np.zeros(3, "f4")})
        dump.write(3, gradients={"w": np.zeros(3, "f4")})
    with h5py.File("e.h5", "r") as file:
        assert [name[-1] for name in file] == ["1", "2", "3"] and not file["step_000002/w"][()].any() and file["step_000001/w"][()].all()
    with GradientDump("e.h5") as dump:
        dump.write(7, gradients={"w": np.zeros(3, "f4")})
    with h5py.File("e.h5", "r") as file:
        assert list(file) == ["step_000007"] and "lr" not in file.attrs
    with GradientDump("none.h5", lr=0.1):
        pass
    with h5py.File("none.h5", "r") as file:
        assert file.attrs["lr"] == 0.1
    assert not [name for name in os.listdir(".") if name.endswith((".tmp", ".older"))], os.listdir(".")


KILLS = int(os.environ.get("KILLS", 8 if os.environ.get("LONG") else 3))

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    exception()
    draw = random.Random(1)
    for _ in range(KILLS):
        for number in (signal.SIGTERM, signal.SIGKILL):
            kill(number, draw)
    steps = steps_of("g.h5")
    print("ok: %d steps survive %d kills" % (len(steps), 2 * KILLS))
