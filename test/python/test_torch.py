"""Tests of the communication hook on 2 and 4 processes over gloo. All ranks end with the same weights; with `none`
these are the weights of plain DDP; training succeeds with every kind of codec; a run resumed from a checkpoint
equals an uninterrupted run; atomo-train's gradients get atomo-train's means."""

import copy
import datetime
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

# OpenBLAS's threads take time from the other ranks while they wait.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import numpy as np
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("skip test_torch: needs torch (Debian: python3-torch)")
    sys.exit(0)

try:
    import h5py
except ImportError:
    h5py = None

TRAIN = os.path.join(os.environ.get("BIN", "build/release/bin"), "atomo-train")
TRAINED = ("qsgd:bits=2", "ef+topk:ratio=0.01", "svd", "sign", "powersgd:rank=2", "cas")
TRAINED_ON_FOUR = ("ef+topk:ratio=0.01", "sign", "powersgd:rank=2", "cas")
SPECS = [None, "none", "qsgd:bits=4", "ef+topk:ratio=0.05", "powersgd:rank=2", "ef+scaledsign", "svd:rank=4", "diana+qsgd", "randk:ratio=0.2", "cas"]
ON_FOUR = [None, "none", "ef+topk:ratio=0.05", "powersgd:rank=2", "cas"]  # four ranks take longer on few cores
STEPS, BATCH = 16, 64
WAIT = datetime.timedelta(minutes=5)  # how long a rank waits for another one


def data(rank, step, teacher):
    generator = torch.Generator().manual_seed(1000 * step + rank)
    x = torch.randn(BATCH, 20, generator=generator)
    return x, (x @ teacher).argmax(1)


def train(rank, world, spec, steps, saved=None, exchange="auto"):
    """Returns the weights, the accuracy on new data, the bytes sent, and a checkpoint (weights, the state's dictionary) of the middle."""
    from atomo.torch import State, hook

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 100), torch.nn.ReLU(), torch.nn.Linear(100, 5))
    teacher = torch.randn(20, 5, generator=torch.Generator().manual_seed(7))
    start, state, middle = 0, None, None
    parallel = DistributedDataParallel(model, bucket_cap_mb=0.004)  # so small that the gradients fill several buckets
    if spec:
        state = State(spec, model, min_elements=200, threads=1, exchange=exchange)
        parallel.register_comm_hook(state, hook)
    if saved:
        model.load_state_dict(saved[0])
        state.load_state_dict(saved[1])
        start = state.step
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.4)
    for step in range(start, steps):
        x, y = data(rank, step, teacher)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(parallel(x), y).backward()
        optimizer.step()
        if state and step + 1 == steps // 2:
            middle = copy.deepcopy(model.state_dict()), copy.deepcopy(state.state_dict())
    x, y = data(99, 12345, teacher)
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return weights, accuracy, state.bytes_sent if state else 0, middle


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


def on_all(flag, world):
    """Returns True on every rank if the condition is true on every rank, so that all ranks fail together."""
    votes = torch.tensor([int(flag)])
    dist.all_reduce(votes)
    return int(votes) == world


def check(flag, world, *what):
    if not on_all(flag, world):
        raise AssertionError(" ".join(map(str, what)))


def same_everywhere(weights, world):
    for tensor in weights.values():
        everyone = [torch.empty_like(tensor) for _ in range(world)]
        dist.all_gather(everyone, tensor)
        if not all(torch.equal(tensor, other) for other in everyone):
            return False
    return True


def goes_back(rank, world):
    """Loading an early checkpoint empties the states; names that the model does not have are refused."""
    from atomo.torch import State, hook

    torch.manual_seed(0)
    x = torch.randn(8, 30)
    for named in (True, False):
        model = torch.nn.Linear(30, 40)
        parallel = DistributedDataParallel(model)
        state = State("ef+topk:ratio=0.05", model if named else None)
        parallel.register_comm_hook(state, hook)

        def gradient():
            model.zero_grad()
            parallel(x).square().sum().backward()
            return model.weight.grad.clone()

        early = state.state_dict()
        first, second = gradient(), gradient()
        state.load_state_dict(early)
        check(state.step == 0, world, "the step stays")
        check(torch.equal(gradient(), first) and not torch.equal(first, second), world, "an early checkpoint does not go back")
        wrong = {**early, "states": {"other": b""}}
        try:
            state.load_state_dict(wrong)
            gradient(), gradient()  # without a model the names are known after a step, and all ranks raise with the next message
            said = ""
        except (ValueError, RuntimeError) as error:
            said = str(error)
        check("other" in said, world, named, "takes a state of another name", said)


def in_pairs(rank, world):
    """The hook of two of four ranks gives the mean of their gradients alone."""
    from atomo.torch import State, hook

    pairs = [dist.new_group(ranks) for ranks in ([0, 1], [2, 3])]
    pair = pairs[rank // 2]
    torch.manual_seed(0)
    model = torch.nn.Linear(30, 40)
    x = torch.randn(8, 30, generator=torch.Generator().manual_seed(rank))
    mean = torch.autograd.grad(model(x).square().sum(), model.weight)[0]
    dist.all_reduce(mean, group=pair)
    for group in (pair, None):  # without a group the hook takes DDP's own
        model.zero_grad()
        parallel = DistributedDataParallel(model, process_group=pair)
        parallel.register_comm_hook(State("none", model, process_group=group), hook)
        parallel(x).square().sum().backward()
        gap = float((model.weight.grad - mean / 2).abs().max() / mean.abs().max())
        check(gap < 1e-6, world, "the mean of a pair is off by", gap)
    parallel = DistributedDataParallel(model)
    parallel.register_comm_hook(State("none", model, process_group=pair), hook)
    try:
        parallel(x).square().sum().backward()
        said = ""
    except (ValueError, RuntimeError) as error:
        said = str(error)
    check("ranks differ in process_group: rank 0 has [0, 1], rank 2 has [2, 3]" in said, world, "takes another group than DDP's", said)


def gathered(rank, world):
    """Every rank gets the bytes of all, of different lengths, and has sent its own to each of the others; lengths change from step to
    step, so that messages are longer and shorter than their room."""
    from atomo._wire import Wire, pack, unpack
    from atomo.transport import TorchTransport

    def bytes_of(message):
        return list(unpack(message, 1)[0])

    wire, lengths = Wire(TorchTransport()), (10, 10, 400, 5)
    for least in lengths:
        own = pack([np.full(least + rank, rank, np.uint8)])
        parts = [bytes_of(part) for part in wire.gather("place", own)]
        check(parts == [[r] * (least + r) for r in range(world)], world, "gathers", parts)
        other = bytes_of(wire.swap("pair", own, rank ^ 1))
        check(other == [rank ^ 1] * (least + (rank ^ 1)), world, "swaps", other)
    check(wire.sent == sum(8 + least + rank for least in lengths) * world, world, "has sent", wire.sent)


def fails_together(rank, world):
    """NaN on one rank is an error on all of them, which names the rank and the tensor; nobody waits for a payload that never comes.
    Payloads are gathered or merged on their way, in one round or several."""
    import atomo
    from atomo.torch import State, hook

    for spec, exchange in (("qsgd", "auto"), ("powersgd:rank=2", "gather"), ("randk:ratio=0.2", "reduce"), ("cas", "auto")):
        model = torch.nn.Linear(30, 40)
        parallel = DistributedDataParallel(model)
        parallel.register_comm_hook(State(spec, model, exchange=exchange, threads=1, nonfinite="raise"), hook)
        sick = 0 if spec == "cas" else world - 1  # rank 0 trains for all
        x = torch.full((8, 30), float("nan") if rank == sick else 1.0)
        try:
            parallel(x).sum().backward()
            said = ""
        except (RuntimeError, atomo.NumericError) as error:  # backward may wrap it
            said = str(error)
        check("rank %d: weight: element 0 is NaN" % sick in said, world, spec, "says", said)


def trained(folder, world):
    """{spec: [(each worker's gradients by name, their mean after compression)] of three steps}, from runs of atomo-train."""
    runs, images = {}, os.path.join(folder, "images.h5")
    if h5py:
        with h5py.File(images, "w") as file:
            file["x"], file["y"] = np.random.default_rng(1).random((240, 1, 28, 28), np.float32), np.arange(240) % 10
    for spec in (TRAINED if world == 2 else TRAINED_ON_FOUR) if h5py else ():
        here = os.path.join(folder, spec.replace(":", "_"))
        os.mkdir(here)
        run = [TRAIN, "run", "-q", "-c", spec, "--network", "softmax", "--workers", str(world), "--max-steps", "3", "--momentum", "0"]
        run += ["--dataset", images, "--batch-size", "64"]
        files = ["--dump-gradients", "g.h5", "--dump-freq", "1", "--dump-workers", "--train-dir", "steps", "--eval-freq", "1", "-o", "r.csv"]
        subprocess.run([os.path.abspath(run[0]), *run[1:], *files], cwd=here, check=True)
        runs[spec] = []
        with h5py.File(os.path.join(here, "g.h5")) as dump:
            for step in sorted(dump):
                workers = [dump[step]["worker_%d" % worker] for worker in range(world)]
                given = [{name: torch.from_numpy(group[name][()]) for name in group} for group in workers]
                with h5py.File(os.path.join(here, "steps", "step_00" + step[5:] + ".h5")) as saved:
                    # without momentum the optimizer's velocity is the mean gradient
                    mean = {name: torch.from_numpy(saved["velocity"][name][()]) for name in given[0]}
                runs[spec].append((given, mean))
    return runs


def same_as_atomo_train(rank, world, runs):
    """With the gradients of atomo-train's workers the hook gives its means. Merging on the way adds in another order."""
    from atomo.torch import State, hook

    for spec, steps in runs.items():
        model = torch.nn.Sequential()
        model.add_module("linear", torch.nn.Linear(784, 10))
        parallel = DistributedDataParallel(model)
        parallel.register_comm_hook(State(spec, model, min_elements=0, threads=1), hook)
        for step, (given, mean) in enumerate(steps, 1):
            model.zero_grad()
            parallel(torch.zeros(1, 784))
            sum((p * given[rank][name]).sum() for name, p in model.named_parameters()).backward()
            for name, p in model.named_parameters():
                gap = float((p.grad - mean[name]).abs().max() / mean[name].abs().max())
                check(gap < 1e-6, world, spec, step, name, "differs from atomo-train by", gap)


def leave(rank, world, meeting):
    """Ends this process when all ranks are done, for a rank that ends early would end connections that others still read. Leaves
    PyTorch's own cleanup out: it aborts now and then after an error in a hook."""
    dist.barrier()
    open("%s.%d" % (meeting, rank), "w").close()
    for _ in range(3000):
        if all(os.path.exists("%s.%d" % (meeting, other)) for other in range(world)):
            break
        time.sleep(0.01)
    sys.stdout.flush()
    os._exit(0)


def work(rank, world, meeting, runs):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=world, timeout=WAIT)
    gathered(rank, world)
    plain = None
    for spec in SPECS if world == 2 else ON_FOUR:
        weights, accuracy, sent, middle = train(rank, world, spec, STEPS)
        check(same_everywhere(weights, world), world, spec, "ranks differ")
        check(accuracy > 0.6, world, spec, "accuracy", accuracy)
        if spec is None:
            plain = weights
        if spec == "none":
            gap = max(float((plain[n] - weights[n]).abs().max()) for n in plain)
            check(gap < 1e-5, world, "none is", gap, "off plain DDP")
            floats = 4 * sum(t.numel() for t in weights.values())
            check(sent >= floats * STEPS, world, "bytes_sent", sent, "below", floats * STEPS)
        if world == 2 and spec and spec != "none":
            rest = train(rank, world, spec, STEPS, saved=middle)
            check(same(rest[0], weights), world, spec, "goes on differently from a checkpoint")
            check(rest[2] == sent, world, spec, "counts other bytes after a checkpoint")
    both = [train(rank, world, "randk:ratio=0.2", 5, exchange=how)[0] for how in ("gather", "reduce")]
    gap = max(float((both[0][n] - both[1][n]).abs().max()) for n in both[0])
    check(gap < 1e-5, world, "reduce is", gap, "off gather")
    weights, accuracy, _, middle = train(rank, world, "ef+topk:ratio=0.05", STEPS, exchange="twoshot")
    check(same_everywhere(weights, world) and accuracy > 0.6, world, "two shots: ranks differ, or accuracy is", accuracy)
    rest = train(rank, world, "ef+topk:ratio=0.05", STEPS, saved=middle, exchange="twoshot")
    check(same(rest[0], weights), world, "two shots go on differently from a checkpoint")
    goes_back(rank, world)
    if world == 4:
        in_pairs(rank, world)
    same_as_atomo_train(rank, world, runs)
    fails_together(rank, world)
    leave(rank, world, meeting)


def run_program(text, output):
    """Runs a program in this process, which has imported torch already."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})
    sys.stdout.flush()
    os._exit(0)


class Hook(unittest.TestCase):
    def run_world(self, world):
        with tempfile.TemporaryDirectory() as folder:
            runs = trained(folder, world)
            if not runs:
                print("skip: the hook against atomo-train: needs h5py")
            mp.start_processes(work, args=(world, os.path.join(folder, "meeting"), runs), nprocs=world, start_method="fork")

    def test_what_a_state_refuses(self):
        import atomo.torch
        from atomo.torch import State

        state = State("ef+topk:ratio=0.05")
        for copies in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "state_dict"):
                copies(state)
        for wrong in ({}, {"model": 1}, None, []):
            with self.assertRaisesRegex(ValueError, "want spec, step"):
                state.load_state_dict(wrong)
        with self.assertRaisesRegex(ValueError, "qsgd:bits=2 do not merge"):
            State("qsgd:bits=2", exchange="reduce")
        for wrong, says in (
            ({"seed": -1}, "seed=-1"),
            ({"min_elements": -1}, "min_elements=-1: want 0 to"),
            ({"start": 1.5}, "start=1.5: want an integer"),
            ({"nonfinite": "ignore"}, "nonfinite='ignore': want skip or raise"),
            ({"model": "resnet18"}, "model='resnet18': want a module"),
        ):
            with self.assertRaisesRegex(atomo.UsageError, says):
                State("qsgd", **wrong)
        with self.assertRaisesRegex(atomo.UsageError, "state=None: want an atomo.torch.State"):
            atomo.torch.hook(None, None)
        with self.assertWarnsRegex(UserWarning, "sign: moves elements whose gradient is 0"):
            State("sign")
        reducing = State("randk:ratio=0.2", exchange="reduce")
        with unittest.mock.patch("torch.distributed.get_world_size", return_value=3):
            with self.assertRaisesRegex(ValueError, "3 ranks: want a power of two"):
                atomo.exchange._reduces(reducing, reducing.codec)
        self.assertIn("step=0", repr(state))

    def test_two_ranks(self):
        self.run_world(2)

    def test_four_ranks(self):
        self.run_world(4)

    def run_program(self, name, end):
        """What rank 0 of two says of a program of python.md: its loss, and the bytes it has sent."""
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
        program = textwrap.dedent(text.split("saved as `%s`:\n\n" % name)[1].split(end)[0])
        with tempfile.TemporaryDirectory() as folder:
            meeting = "file://" + os.path.join(folder, "meeting")
            start = 'init_process_group("gloo"'
            self.assertIn(start, program)
            said = [open(os.path.join(folder, str(rank)), "w+") for rank in range(2)]
            ranks = []
            for rank in range(2):
                text = program.replace(start, f"{start}, '{meeting}', rank={rank}, world_size=2")
                ranks.append(mp.get_context("fork").Process(target=run_program, args=(text, said[rank].fileno())))
                ranks[-1].start()
            for rank in ranks:
                rank.join()
            said = [(file.seek(0), file.read(), file.close())[1] for file in said]
        self.assertEqual([rank.exitcode for rank in ranks], [0, 0], said)
        words = said[0].split()
        self.assertEqual(words[2:], [words[2], "bytes", "sent"], said)
        return float(words[1].rstrip(",")), int(words[2])

    def test_the_programs_of_python_md_train(self):
        floats = 4 * (64 * 256 + 256 * 10)
        loss, sent = self.run_program("train.py", "\nTwo processes")
        self.assertLess(loss, 1.5)  # untrained: above log(10) = 2.3
        self.assertLess(sent, 200 * floats / 10)
        loss, sent = self.run_program("local.py", "\nIt starts as")
        self.assertLess(loss, 1.0)
        self.assertLess(sent, 192 / 16 * floats / 5)


if __name__ == "__main__":
    unittest.main()
