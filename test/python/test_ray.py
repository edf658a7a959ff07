"""Training on Ray: with atomo-train's gradients the weights are atomo-train's to the bit; with torch's own they are those of a plain
loop; K of P; checkpoints; workers and servers that die; and an exchange between actors."""

import os
import sys
import tempfile
import time
import unittest
import warnings

os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
os.environ.setdefault("RAY_worker_niceness", "0")  # its 15 makes tests wait on a busy machine

try:
    import ray
    import torch
except ImportError:
    print("skip test_ray: needs ray and torch")
    sys.exit(0)

import numpy as np

import atomo
import atomo.ray
from atomo.exchange import Exchange
from test_exchange import WORKERS, gradient, h5py, together, trained

SPECS = ("none", "ef+topk:ratio=0.05", "powersgd:rank=2", "qsgd:bits=2", "diana+qsgd", "cas")


class Given(atomo.ray.Task):
    """Has gradients that were made elsewhere, and plain SGD."""

    def __init__(self, worker, workers, steps, lr):
        self.worker, self.steps, self.lr = worker, steps, np.float32(lr)
        self.model = torch.nn.Sequential()
        self.model.add_module("linear", torch.nn.Linear(784, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.means = []

    def gradients(self, step):
        return 0.0, self.steps[step - 1][0][self.worker]

    def apply(self, means):
        self.means.append({name: mean.copy() for name, mean in means.items()})

    def state_dict(self):
        return {**super().state_dict(), "means": self.means}


class Small(atomo.ray.Task):
    """A network that a plain loop trains alike. `slow`: a worker that waits."""

    def __init__(self, worker, workers, slow=None):
        torch.manual_seed(3 + worker)  # the server's weights are those of all
        self.worker, self.slow = worker, slow
        self.model = torch.nn.Sequential(torch.nn.Linear(20, 60), torch.nn.ReLU(), torch.nn.Linear(60, 5))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def loss(self, step):
        if self.worker == self.slow:
            time.sleep(1.5)
        return loss_of(self.model, self.worker, step)


def loss_of(model, worker, step):
    x = torch.randn(32, 20, generator=torch.Generator().manual_seed(1000 * step + worker))
    teacher = torch.randn(20, 5, generator=torch.Generator().manual_seed(7))
    return torch.nn.functional.cross_entropy(model(x), (x @ teacher).argmax(1))


class Broken(Small):
    def loss(self, step):
        return super().loss(step) * (float("nan") if self.worker == 1 and step == 2 else 1)


class NoStart(Small):
    def __init__(self, worker, workers):
        raise FileNotFoundError("no data")


def plain(spec, steps, workers=WORKERS):
    """The weights of a plain loop: the mean over workers of what each one's codec gives, and SGD."""
    task = Small(-1, workers)
    optimizer = torch.optim.SGD(task.model.parameters(), lr=0.1, momentum=0.9)
    codec = atomo.Codec(spec)
    tensors = {(w, n): codec.tensor(tuple(p.shape), n, worker=w, workers=workers) for w in range(workers) for n, p in task.model.named_parameters()}
    for step in range(1, steps + 1):
        means = {}
        for w in range(workers):
            task.model.zero_grad()
            loss_of(task.model, w, step).backward()
            for n, p in task.model.named_parameters():
                t, g = tensors[w, n], p.grad.numpy().copy()
                if g.size >= 1000:
                    data = t.encode(g, step)
                    t.advance(g, data, step)
                    g = t.decode(data, step)
                means[n] = means.get(n, 0) + torch.from_numpy(np.asarray(g)) / workers
        for n, p in task.model.named_parameters():
            p.grad = means[n]
        optimizer.step()
    return task.model.state_dict()


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False, _temp_dir=tempfile.mkdtemp(prefix="r", dir="/tmp"))

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()

    def run_of(self, task, spec, **more):
        run = atomo.ray.Run(task, spec, more.pop("workers", WORKERS), cpus=0.2, **more)
        self.addCleanup(run.close)
        return run

    @unittest.skipUnless(h5py, "needs h5py")
    def test_means_are_those_of_atomo_train_to_the_bit(self):
        for spec in SPECS:
            with self.subTest(spec), tempfile.TemporaryDirectory() as folder:
                steps = trained(folder, spec, "allgather")
                run = self.run_of(lambda worker, workers: Given(worker, workers, steps, 0.1), spec, min_elements=0)
                for _ in steps:
                    record = run.step()
                self.assertEqual(record["taken"], list(range(WORKERS)))
                everyone = [run.state_dict(), *(ray.get(worker.task_state.remote()) for worker in run._alive.values())]
                for said in everyone:
                    for got, (_, want) in zip(said["means"], steps, strict=True):
                        for name in want:
                            np.testing.assert_array_equal(got[name], want[name])
                run.close()

    def test_training_is_a_plain_loops(self):
        for spec in ("none", "ef+topk:ratio=0.1"):
            with self.subTest(spec):
                run, want = self.run_of(Small, spec), plain(spec, 10)
                records = [run.step() for _ in range(10)]
                got = run.state_dict()["model"]
                for name in want:
                    self.assertLess(float((got[name] - want[name]).abs().max() / want[name].abs().max()), 1e-5)
                small = 4 * (60 + 300 + 5) * WORKERS
                sent = 4 * 1200 * WORKERS + small if spec == "none" else records[-1]["bytes_up"]
                self.assertEqual(records[-1]["bytes_up"], sent)
                self.assertLess(records[-1]["loss"], records[0]["loss"])
                run.close()

    def test_the_first_that_are_there(self):
        """A slow worker is left out while it computes, and has the same weights as the others all the same."""
        run = self.run_of(lambda worker, workers: Small(worker, workers, slow=1), "ef+powersgd:rank=2", take=2)
        taken = [run.step()["taken"] for _ in range(6)]
        self.assertIn([0, 2], taken)
        self.assertTrue(all(len(some) == 2 for some in taken))
        states = [run.state_dict()["model"], *(ray.get(worker.task_state.remote())["model"] for worker in run._alive.values())]
        self.assertTrue(all(torch.equal(states[0][n], other[n]) for other in states for n in other))

    def test_goes_on_from_a_checkpoint(self):
        for spec in ("ef+powersgd:rank=2",):
            with tempfile.TemporaryDirectory() as folder:
                first = self.run_of(Small, spec)
                for _ in range(3):
                    first.step()
                first.save(os.path.join(folder, "run.pt"))
                again = self.run_of(Small, spec)
                again.load(os.path.join(folder, "run.pt"))
                ends = []
                for run in (first, again):
                    for _ in range(2):
                        run.step()
                    ends.append(run.state_dict()["model"])
                self.assertTrue(all(torch.equal(ends[0][n], ends[1][n]) for n in ends[0]))
                with self.assertRaisesRegex(atomo.UsageError, "with 3 workers, this run of .* with 2"):
                    self.run_of(Small, spec, workers=2).load(os.path.join(folder, "run.pt"))
                first.close(), again.close()

    def test_a_worker_that_dies(self):
        """With K of P the run goes on; where K are no longer there it ends with one line."""
        for spec in ("powersgd:rank=2",):
            run = self.run_of(Small, spec, take=2)
            run.step()
            ray.kill(run._alive[0])
            self.assertEqual([run.step()["taken"] for _ in range(3)], [[1, 2]] * 3)
            ray.kill(run._alive[1])
            with self.assertRaisesRegex(atomo.Error, "^1 of 3 workers are left: a step takes 2 .make a new Run, and load the last checkpoint.$"):
                run.step()
                run.step()
            run.close()

    def test_a_server_that_dies(self):
        run = self.run_of(Small, "qsgd")
        run.step()
        ray.kill(run._server)
        with self.assertRaisesRegex(atomo.Error, "^the server has died in step 2"):
            run.step()

    def test_errors_are_one_line(self):
        run = self.run_of(Broken, "qsgd")
        run.step()
        with self.assertRaisesRegex(atomo.NumericError, "^worker 1: .*NaN"):
            run.step()
        with self.assertRaisesRegex(atomo.Error, "^an actor did not start: .*no data$"):
            self.run_of(NoStart, "qsgd")
        with self.assertRaisesRegex(atomo.UsageError, "3 workers of 1 CPUs: Ray has 2 .cpus=0.67"):
            atomo.ray.Run(Small, "qsgd", 3)

    def test_an_exchange_between_actors(self):
        @ray.remote(num_cpus=0)
        def means(spec, how, transport):
            return Exchange(spec, transport, exchange=how).mean({"w": gradient(transport.rank)})["w"]

        for spec, how in (("qsgd", "gather"), ("powersgd:rank=2", "auto"), ("qsgd", "twoshot")):
            got = ray.get([means.remote(spec, how, t) for t in atomo.ray.transports(WORKERS)])
            want = together(lambda t: Exchange(spec, t, exchange=how).mean({"w": gradient(t.rank)})["w"], WORKERS)
            for one in got:
                np.testing.assert_array_equal(one, want[0])

        @ray.remote(num_cpus=0)
        def alone(transport):
            try:
                return Exchange("none", transport).mean({"w": gradient(0)})
            except atomo.Error as error:
                return str(error)

        self.assertIn("rank 1: no message from the other ranks in 2 s", ray.get(alone.remote(atomo.ray.transports(2, timeout=2)[1])))


if __name__ == "__main__":
    unittest.main()
