"""The programs of docs/ray.md, docs/jax.md and of python.md's part on fully_shard run as they are written. test_atomo and test_torch run
python.md's other blocks."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

from patient_ray import started

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HERE = {**os.environ, "PYTHONPATH": str(SOURCE / "lib" / "python")}


def has(*names):
    return all(importlib.util.find_spec(name) for name in names)


def blocks(name):
    return [part.split("```")[0] for part in (SOURCE / "docs" / name).read_text().split("```python\n")[1:]]


class Programs(unittest.TestCase):
    def run_text(self, text, folder, *arguments, **more):
        path = os.path.join(folder, "program.py")
        pathlib.Path(path).write_text(text)

        def attempt():
            run = subprocess.run([sys.executable, path, *arguments], cwd=folder, env={**HERE, **more}, capture_output=True, text=True)
            return None if "node timed out during startup" in run.stderr else run

        run = started(attempt)
        self.assertEqual(run.returncode, 0, run.stderr[-3000:])
        return run.stdout

    @unittest.skipUnless(has("ray", "torch"), "needs ray and torch")
    def test_ray(self):
        whole, _, actors = blocks("ray.md")
        self.assertLessEqual(len(whole.splitlines()), 80)
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_text(whole, folder)
            last = re.search(r"step 60: loss ([\d.]+), (\d+) bytes up, (\d+) down", said)
            self.assertTrue(last, said)
            self.assertLess(float(last.group(1)), 1.5)  # untrained: above log(10) = 2.3
            self.assertLess(int(last.group(2)), 3 * 4 * 19210 / 8)
            self.assertTrue(os.path.exists(os.path.join(folder, "run.pt")))
            self.assertIn("True", self.run_text(actors, folder))

    @unittest.skipUnless(has("ray", "torch", "pyarrow"), "needs ray[train] and torch")
    def test_ray_train(self):
        with tempfile.TemporaryDirectory() as folder:
            said = re.search(r"loss ([\d.]+)", self.run_text(blocks("ray.md")[1], folder))
            self.assertLess(float(said.group(1)), 0.5)

    @unittest.skipUnless(has("jax", "optax"), "needs jax and optax")
    def test_jax(self):
        """On four devices; the blocks are one program."""
        with tempfile.TemporaryDirectory() as folder:
            more = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "NPROC": "8", "JAX_PLATFORMS": "cpu"}
            said = self.run_text("\n".join(blocks("jax.md")), folder, **more)
            self.assertIn("[\"['hidden']\", \"['out']\"]", said)
            found = re.search(r"loss ([\d.]+), (\d+) bytes", said)
            self.assertLess(float(found.group(1)), 1.5)
            self.assertLess(int(found.group(2)), 100 * 4 * 18944 / 8)

    @unittest.skipUnless(has("torch"), "needs torch")
    def test_fully_shard(self):
        text = textwrap.dedent((SOURCE / "docs" / "python.md").read_text().split("saved as `shard.py`:\n\n")[1].split("\nFour processes")[0])
        if subprocess.run([sys.executable, "-c", "from torch.distributed.fsdp import FSDPModule as m; m.set_custom_reduce_scatter"], capture_output=True).returncode:
            self.skipTest("needs PyTorch 2.9 or newer")
        with tempfile.TemporaryDirectory() as folder:
            path, meeting = os.path.join(folder, "shard.py"), "file://" + os.path.join(folder, "meeting")
            ranks = []
            for rank in range(4):
                start = f"init_process_group('gloo', {meeting!r}, rank={rank}, world_size=4"
                pathlib.Path(path + str(rank)).write_text(text.replace('init_process_group("gloo"', start))
                ranks.append(subprocess.Popen([sys.executable, path + str(rank)], env={**HERE, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            said = [rank.communicate() for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0] * 4, json.dumps(said)[-3000:])
            loss, sent = re.search(r"loss ([\d.]+), (\d+) bytes sent", said[0][0]).groups()
            self.assertLess(float(loss), 1.9)
            self.assertLess(int(sent), 100 * 4 * 18954 / 2 / 5)


if __name__ == "__main__":
    unittest.main()
