"""Training on Ray: with atomo-train's gradients the weights are atomo-train's to the bit; with torch's own they are those of a plain
loop; K of P; checkpoints; workers and servers that die; and an exchange between actors."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
import unittest
import warnings

from patient_ray import started

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

SPECS = ("none", "ef+topk:ratio=0.05", "ef+topk:ratio=0.05,share=leader", "powersgd:rank=2", "diana+qsgd", "cas")

atomo.ray.START = 1000


class Given(atomo.ray.Task):
    """Has first weights and gradients that were made elsewhere, and SGD that rounds the product and the difference, as atomo-train's:
    PyTorch's own rounds once. All weights that it has had are its state."""

    def __init__(self, worker, workers, first, steps):
        self.worker, self.steps = worker, steps
        self.model, self.optimizer = torch.nn.Sequential(), torch.optim.SGD([torch.zeros(1)])
        self.model.add_module("linear", torch.nn.Linear(784, 10))
        self.model.load_state_dict({name: torch.from_numpy(array) for name, array in first.items()})
        self.had = []

    def gradients(self, step):
        return 0.0, self.steps[step - 1][0][self.worker]

    def apply(self, means):
        for name, p in self.parameters().items():
            p.data -= torch.from_numpy(means[name] * np.float32(0.01))
        self.had.append({name: p.detach().numpy().copy() for name, p in self.parameters().items()})

    def state_dict(self):
        return {**super().state_dict(), "had": self.had}


class Small(atomo.ray.Task):
    """A network that a plain loop trains alike. Worker w waits in its loss while there is a file wait.w in `folder`."""

    def __init__(self, worker, workers, folder=""):
        torch.manual_seed(3 + worker)  # the server's weights are those of all
        self.worker, self.wait = worker, os.path.join(folder, "wait.%d" % worker)
        self.model = torch.nn.Sequential(torch.nn.Linear(20, 60), torch.nn.ReLU(), torch.nn.Linear(60, 5))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def loss(self, step):
        while os.path.exists(self.wait):
            time.sleep(0.02)
        return loss_of(self.model, self.worker, step)


def loss_of(model, worker, step):
    x = torch.randn(32, 20, generator=torch.Generator().manual_seed(1000 * step + worker))
    teacher = torch.randn(20, 5, generator=torch.Generator().manual_seed(7))
    return torch.nn.functional.cross_entropy(model(x), (x @ teacher).argmax(1))


class Slowing(Small):
    def __init__(self, worker, workers):
        super().__init__(worker, workers)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)


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


def killed(actor):
    """Ends an actor, and waits until it has ended."""
    ray.kill(actor)
    with contextlib.suppress(ray.exceptions.RayActorError):
        while True:
            ray.get(actor.state.remote())


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        started(cls.start)

    @classmethod
    def start(cls):
        place = tempfile.mkdtemp(prefix="r", dir="/tmp")  # short, for the names of sockets
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        try:
            return ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False, _temp_dir=place)
        except Exception as error:
            print("ray.init: %s" % error)
            ray.shutdown()

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()

    def run_of(self, task, spec, **more):
        run = atomo.ray.Run(task, spec, more.pop("workers", WORKERS), cpus=0.2, **more)
        self.addCleanup(run.close)
        return run

    @unittest.skipUnless(h5py, "needs h5py")
    def test_weights_are_those_of_atomo_train_to_the_bit(self):
        for spec in SPECS:
            with self.subTest(spec), tempfile.TemporaryDirectory() as folder:
                steps = trained(folder, spec, "allgather")
                with np.load(os.path.join(folder, "first.npz")) as file:
                    first = dict(file)
                run = self.run_of(lambda worker, workers: Given(worker, workers, first, steps), spec, min_elements=0)
                for _ in steps:
                    record = run.step()
                self.assertEqual(record["taken"], list(range(WORKERS)))
                everyone = [run.state_dict(), *(ray.get(worker.task_state.remote()) for worker in run._alive.values())]
                for said in everyone:
                    for got, (_, _, want) in zip(said["had"], steps, strict=True):
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
        """A slow worker is left out while it computes, comes back, and has the same weights as the others all the same."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        run = self.run_of(lambda worker, workers: Small(worker, workers, folder), "ef+powersgd:rank=2", take=2)
        for slow, want in ((1, [0, 2]), (0, [1, 2])):
            wait = os.path.join(folder, "wait.%d" % slow)
            open(wait, "w").close()
            self.assertEqual([run.step()["taken"] for _ in range(3)], [want] * 3)
            os.remove(wait)
        states = [run.state_dict()["model"], *(ray.get(worker.task_state.remote())["model"] for worker in run._alive.values())]
        self.assertTrue(all(torch.equal(states[0][n], other[n]) for other in states for n in other))

    def test_goes_on_from_a_checkpoint(self):
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "run.pt")
        first, again, ends = self.run_of(Slowing, "ef+powersgd:rank=2"), self.run_of(Slowing, "ef+powersgd:rank=2"), []
        for _ in range(3):
            first.step()
        first.save(path)
        again.load(path)
        for run in (first, again):
            for _ in range(2):
                run.step()
            ends.append(run.state_dict()["model"])
        self.assertTrue(all(torch.equal(ends[0][n], ends[1][n]) for n in ends[0]))
        self.assertEqual(run.state_dict()["schedule"]["last_epoch"], 5)
        torch.save({**torch.load(path, weights_only=False), "workers": 2}, path)
        with self.assertRaisesRegex(atomo.UsageError, "with 2 workers, this run of .* with 3"):
            again.load(path)

    def test_what_dies(self):
        """Without a worker the run of K of P goes on; without the server, or without K workers, a step is an error of one line."""
        run = self.run_of(Small, "powersgd:rank=2", take=2)
        run.step()
        killed(run._alive[0])
        self.assertEqual([run.step()["taken"] for _ in range(3)], [[1, 2]] * 3)
        for actor, says in ((run._server, "the server has died in step 5"), (run._alive[1], "1 of 3 workers are left: a step takes 2")):
            killed(actor)
            with self.assertRaisesRegex(atomo.Error, "^%s .close this Run, make a new one, and load the last checkpoint.$" % says):
                run.step()

    def test_a_checkpoint_lacks_a_schedule(self):
        with self.assertRaisesRegex(atomo.UsageError, "the checkpoint has no schedule, which the Task has"):
            Slowing(0, 3).load_state_dict(Small(0, 3).state_dict())

    def test_errors_are_one_line(self):
        run = self.run_of(Broken, "qsgd", workers=2)
        run.step()
        with self.assertRaisesRegex(atomo.NumericError, "^worker 1: .*NaN"):
            run.step()
        with self.assertRaisesRegex(atomo.Error, "^an actor did not start: .*no data$"):
            self.run_of(NoStart, "qsgd", workers=1)
        with self.assertRaisesRegex(atomo.UsageError, "3 workers of 1 CPUs: Ray has 2 .cpus=0.67"):
            atomo.ray.Run(Small, "qsgd", 3)

    def test_an_exchange_between_actors(self):
        @ray.remote(num_cpus=0)
        def means(spec, how, transport):
            return Exchange(spec, transport, exchange=how).mean({"w": gradient(transport.rank)})["w"]

        for spec, how in (("qsgd", "gather"), ("powersgd:rank=2", "auto"), ("qsgd", "twoshot")):
            got = ray.get([means.remote(spec, how, t) for t in atomo.ray.transports(WORKERS, timeout=1000)])
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
