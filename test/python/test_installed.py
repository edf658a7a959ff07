"""The package as pip installs it: from the source tree, with the library and the programs inside; its types; the wheel's bytes."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]

TYPED = """
import numpy as np
import torch
import atomo
from atomo.dump import GradientDump
from atomo.exchange import Exchange
from atomo.fsdp import ShardState
from atomo.transport import Transport, in_process
from atomo.torch import LocalSteps, State, hook

x = np.ones((3, 4), np.float32)
codec = atomo.Codec("qsgd", bits=4)
data: bytes = codec.encode(x, step=3)
records: atomo.Records = atomo.compare({"w": codec.decode(data, x.shape)}, [codec, "topk"])
name: str = records.level("all")[0]["tensor"]
atomo.plot(atomo.bench("sweep", x, codec=["qsgd"]), "pareto").save("x.pdf")
keys: list[dict[str, object]] = atomo.compressors()["qsgd"]["keys"]
model = torch.nn.Linear(3, 4)
state: dict[str, object] = State("qsgd", model, min_elements=0).state_dict()
transport: Transport = in_process(1)[0]
means: dict[str, object] = Exchange("qsgd", transport, exchange="twoshot").mean({"w": x})
sent: int = ShardState("qsgd", model, replicate=None, seed=3).bytes_sent
LocalSteps(model, torch.optim.SGD(model.parameters(), lr=0.1), every=3).step()
"""
WRONG = ('codec.encode(x, stp=3)', 'codec.encode(x, step="3")', 'State("qsgd", min_elements="1")', 'size: str = codec.rounds')

USED = """
import atomo, numpy, os, subprocess
assert os.path.dirname(os.path.dirname(atomo.__file__)) == os.environ["PYTHONPATH"], atomo.__file__
assert len(atomo.bench("sweep", numpy.ones((8, 8)), codec="qsgd", rates=[1, 2])) == 4
program = os.path.join(os.environ["PYTHONPATH"], "bin", "atomo-bench")
assert atomo.program._program() and os.path.samefile(atomo.program._program(), program)
subprocess.run([program, "demo", "--quiet"], check=True, stdout=subprocess.DEVNULL)
"""


def run(*command, **more):
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ATOMO_LIBRARY")}
    return subprocess.run(command, env={**bare, **more}, capture_output=True, text=True)


class Installed(unittest.TestCase):
    def test_pip_installs_the_source_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, str(SOURCE / "lib/python"))
            installed = run(*pip, ATOMO_LIBRARY=os.environ["ATOMO_LIBRARY"])
            self.assertEqual(installed.returncode, 0, installed.stderr)
            used = run(sys.executable, "-c", USED, PYTHONPATH=folder)
            self.assertEqual(used.returncode, 0, used.stderr)

    def test_a_wheel_has_the_same_bytes_each_time(self):
        sums = set()
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                made = run(sys.executable, str(SOURCE / "lib/python/make_wheel.py"), os.environ["ATOMO_LIBRARY"], folder)
                self.assertEqual(made.returncode, 0, made.stderr)
                sums.add(hashlib.sha256(pathlib.Path(made.stdout.strip()).read_bytes()).hexdigest())
        self.assertEqual(len(sums), 1)

    def test_types(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = pathlib.Path(folder, "mypy.ini")  # the types of PyTorch itself take a minute to read
            settings.write_text("[mypy]\nignore_missing_imports = True\n[mypy-torch.*,pandas.*,jax.*,optax.*,ray.*]\nfollow_imports = skip\n")
            mypy = (sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", folder)
            package = run(*mypy, "--check-untyped-defs", "-p", "atomo", MYPYPATH=str(SOURCE / "lib/python"))
            self.assertEqual(package.returncode, 0, package.stdout)
            user = pathlib.Path(folder, "user.py")
            user.write_text(TYPED + "\n".join(WRONG) + "\n")
            said = run(*mypy, "--strict", "--follow-imports=silent", str(user), MYPYPATH=str(SOURCE / "lib/python")).stdout
            lines = [int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line]
            first = len(TYPED.splitlines()) + 1
            self.assertEqual(lines, list(range(first, first + len(WRONG))), said)


if __name__ == "__main__":
    unittest.main()
