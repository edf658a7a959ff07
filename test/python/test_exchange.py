"""The exchange over transports, with ranks that are threads: atomo-train's gradients give atomo-train's means to the bit, by an
all-gather and by two shots; scatter gives each rank the mean of its piece; a rank that fails is an error on all; and twenty lines
are a transport."""

import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np

import atomo
from atomo.exchange import Exchange
from atomo.transport import in_process

try:
    import h5py
except ImportError:
    h5py = None

TRAIN = os.path.join(os.environ.get("BIN", "build/release/bin"), "atomo-train")
WORKERS = 3


def together(work, ranks):
    """What work(transport) returns, or the error that it raises, on each rank."""
    said = [None] * ranks

    def go(transport):
        try:
            said[transport.rank] = work(transport)
        except Exception as error:
            said[transport.rank] = error

    threads = [threading.Thread(target=go, args=(transport,), daemon=True) for transport in in_process(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return said


def gradient(rank, step=0, shape=(40, 30)):
    return np.random.default_rng(100 * step + rank).standard_normal(shape).astype(np.float32)


def trained(folder, spec, topology, steps=3):
    """The gradients of atomo-train's workers, the means that it makes of them, and the weights then: a list of ([{name: array}, ...],
    {name: array}, {name: array}). The step size is 0.01, the first weights are those of the file first.npz."""
    images, out, random = os.path.join(folder, "images.h5"), [], np.random.default_rng(1)
    with h5py.File(images, "w") as file:
        file["x"], file["y"] = random.random((240, 1, 28, 28), np.float32), np.arange(240) % 10
    first = {"linear.weight": random.standard_normal((10, 784), np.float32) / 28, "linear.bias": np.zeros(10, np.float32)}
    np.savez(os.path.join(folder, "first.npz"), **first)
    run = [TRAIN, "run", "-q", "-c", spec, "--network", "softmax", "--workers", str(WORKERS), "--max-steps", str(steps), "--dataset", images]
    run += ["--batch-size", "60", "--topology", topology, "--momentum", "0", "--lr", "0.01", "--weights", "first.npz"]
    run += ["--dump-gradients", "g.h5", "--dump-freq", "1", "--dump-workers"]
    subprocess.run([os.path.abspath(run[0]), *run[1:], "--train-dir", "steps", "--eval-freq", "1", "-o", "r.csv"], cwd=folder, check=True)
    with h5py.File(os.path.join(folder, "g.h5")) as dump:
        for step in sorted(dump):
            groups = [dump[step]["worker_%d" % w] for w in range(WORKERS)]
            with h5py.File(os.path.join(folder, "steps", "step_00%s.h5" % step[5:])) as saved:
                # without momentum the optimizer's velocity is the mean gradient
                means, weights = ({name: saved[what][name][()] for name in groups[0]} for what in ("velocity", "weights"))
            out.append(([{name: group[name][()] for name in group} for group in groups], means, weights))
    return out


class Means(unittest.TestCase):
    @unittest.skipUnless(h5py, "needs h5py")
    def test_means_are_those_of_atomo_train_to_the_bit(self):
        for spec, topology in (
            ("ef+topk:ratio=0.05", "allgather"),
            ("powersgd:rank=2", "allgather"),
            ("none", "twoshot"),
            ("qsgd:bits=2,bucket=100", "twoshot"),
            ("minmax:rounding=correlated", "twoshot"),
            ("ef+topk:ratio=0.05", "twoshot"),
            ("svd:rank=2", "twoshot"),
        ):
            with self.subTest(spec, topology=topology), tempfile.TemporaryDirectory() as folder:
                steps = trained(folder, spec, topology)

                def work(transport):
                    how = "gather" if topology == "allgather" else topology
                    exchange = Exchange(spec, transport, min_elements=0, exchange=how, threads=1)
                    return [exchange.mean(given[transport.rank]) for given, _, _ in steps]

                for said in together(work, WORKERS):
                    self.assertIsInstance(said, list, said)
                    for step, (means, (_, want, _)) in enumerate(zip(said, steps)):
                        for name in want:
                            np.testing.assert_array_equal(means[name], want[name], "step %d, %s" % (step + 1, name))

    def test_all_exchanges_of_floats_are_the_mean(self):
        for ranks in (1, 2, 3, 4):
            for how in ("auto", "gather", "twoshot"):
                want = np.mean([gradient(r) for r in range(ranks)], axis=0)
                for means in together(lambda t: Exchange("none", t, exchange=how).mean({"w": gradient(t.rank), "b": gradient(t.rank)[0]}), ranks):
                    np.testing.assert_allclose(means["w"], want, atol=1e-6)
                    np.testing.assert_allclose(means["b"], want[0], atol=1e-6)

    def test_scatter(self):
        """Each rank gets the mean of its own piece; with error feedback the sum over steps is that of the gradients."""

        def work(transport):
            exact, fed = (Exchange(spec, transport, min_elements=10) for spec in ("none", "ef+topk:ratio=0.3"))
            total = 0
            for step in range(60):
                pieces = [{"w": gradient(transport.rank, r, (20, 8)), "b": np.full(3, transport.rank + 10.0 * r)} for r in range(transport.ranks)]
                one = exact.scatter(pieces)
                total = total + fed.scatter(pieces)["w"]
            return one, total / 60, exact.bytes_sent

        for rank, (one, fed, sent) in enumerate(together(work, WORKERS)):
            want = np.mean([gradient(r, rank, (20, 8)) for r in range(WORKERS)], axis=0)
            np.testing.assert_allclose(one["w"], want, atol=1e-6)
            np.testing.assert_allclose(one["b"], np.mean(range(WORKERS)) + 10 * rank)
            self.assertLess(np.linalg.norm(fed - want), 0.2 * np.linalg.norm(want))
            self.assertEqual(sent, 60 * (WORKERS - 1) * (4 * 163 + 2 * 8))


class Failures(unittest.TestCase):
    def test_what_differs_and_what_fails_is_said_on_all_ranks(self):
        def seeds(transport):
            return Exchange("qsgd", transport, seed=1 + transport.rank // 2).mean({"w": gradient(0)})

        def shapes(transport):
            return Exchange("qsgd", transport).mean({"w": gradient(0, 0, (40, 30 + transport.rank))})

        def infinite(how, spec="qsgd"):
            def work(transport):
                exchange, bad = Exchange(spec, transport, exchange=how), gradient(0)
                bad[0, 0] = np.inf if transport.rank == 1 else 0
                return exchange.mean({"w": bad}) if how != "gather" else exchange.scatter([{"w": bad}] * transport.ranks)

            return work

        def beyond(transport):
            """The mean that rank 1 alone makes is not a float32."""
            pieces = [{"w": np.full(2000, 3e38 if r == 1 else 1, np.float32)} for r in range(transport.ranks)]
            return Exchange("none", transport).scatter(pieces)

        nan = "rank 1: w.*NaN or infinite"
        for work, want in (
            (seeds, "differ in seed: rank 0 has 1, rank 2 has 2"),
            (shapes, "differ in parameters: rank 0 has w 40x30, rank 1 has w 40x31"),
            (infinite("auto"), nan),
            (infinite("twoshot"), nan),
            (infinite("gather"), nan),
            (beyond, "rank 1: w.1.*float32"),
        ):
            for said in together(work, WORKERS):
                self.assertIsInstance(said, atomo.Error)
                self.assertRegex(str(said), want)

    def test_skipped_steps_leave_states(self):
        for how in ("auto", "twoshot"):

            def work(transport):
                exchange = Exchange("ef+topk:ratio=0.1", transport, exchange=how, nonfinite="skip")
                exchange.mean({"w": gradient(transport.rank)})
                before = exchange.state_dict()["states"]
                means = exchange.mean({"w": gradient(transport.rank) * (np.nan if transport.rank else 1)})
                return np.isnan(means["w"]).all() and exchange.state_dict()["states"] == before and exchange.step == 2

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertEqual(together(work, 2), [True, True])

    def test_a_skipped_scatter_leaves_states(self):
        """Rank 1 alone makes a mean that is not a float32, and none of what follows; rank 0 has made its own then."""

        def work(transport):
            exchange, mine = Exchange("ef+topk:ratio=0.1", transport, nonfinite="skip"), gradient(transport.rank)
            exchange.scatter([{"w": mine}, {"b": mine[0], "c": mine}])
            before = exchange.state_dict()["states"]
            exchange.scatter([{"w": mine}, {"b": np.full(30, 3e38, np.float32), "c": mine}])
            return exchange.state_dict()["states"] == before and exchange.step == 2

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(together(work, 2), [True, True])

    def test_checkpoints(self):
        for how in ("auto", "twoshot"):

            def work(transport):
                def go(exchange, steps):
                    return [exchange.mean({"w": gradient(transport.rank, step)})["w"] for step in steps]

                first = Exchange("ef+topk:ratio=0.1", transport, exchange=how)
                go(first, (0, 1))
                saved = first.state_dict()
                again = Exchange("ef+topk:ratio=0.1", transport, exchange=how)
                again.load_state_dict(saved)
                return np.array_equal(go(first, (2, 3)), go(again, (2, 3)))

            self.assertEqual(together(work, WORKERS), [True] * WORKERS)

    def test_what_two_shots_refuse(self):
        for spec, why in (("powersgd:rank=2", ""), ("diana+qsgd", "states"), ("svd:rank=2", "")):
            if why:
                self.assertRaisesRegex(atomo.UsageError, why, Exchange, spec, in_process(1)[0], exchange="twoshot")
            else:
                Exchange(spec, in_process(1)[0], exchange="twoshot")


if __name__ == "__main__":
    unittest.main()
