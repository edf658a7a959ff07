"""Ranks that share a State's work, or should: what differs between them is named on both, a gradient that is not finite costs a
step, one that cannot be read is an error, and no rank waits for another that has failed."""

import contextlib
import datetime
import os
import sys
import tempfile
import traceback
import unittest
import unittest.mock
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("skip test_ranks: needs torch (Debian: python3-torch)")
    sys.exit(0)

from test_torch import leave

import atomo
import atomo.torch
from atomo.torch import State, hook

WAIT = datetime.timedelta(minutes=2)  # a rank that waits so long fails its case, whose error is then another one


class Net(nn.Module):
    def __init__(self, first="a"):
        super().__init__()
        torch.manual_seed(0)
        self.add_module(first, nn.Linear(20, 30))
        self.b = nn.Linear(30, 20)
        self.first = first

    def forward(self, x):
        return self.b(torch.relu(getattr(self, self.first)(x)))


def batch(rank, step=0):
    return torch.randn(16, 20, generator=torch.Generator().manual_seed(100 * step + rank))


class Run:
    """A network with the hook; `step` returns the gradients that the optimizer gets, and `wrong` how far they are from the mean."""

    def __init__(self, rank, spec="none", model=None, named=True, buckets=1, **arguments):
        self.rank, self.model = rank, model or Net()
        self.ddp = DistributedDataParallel(self.model, bucket_cap_mb=25 if buckets == 1 else 0.001)
        arguments.setdefault("min_elements", 0)
        self.state = State(spec, self.model if named else None, **arguments)
        self.ddp.register_comm_hook(self.state, hook)

    def step(self, step=0, factor=1.0):
        self.model.zero_grad()
        (self.ddp(batch(self.rank, step)).square().sum() * factor).backward()
        return [p.grad.clone() for p in self.model.parameters()]

    def wrong(self, step=0):
        loss = self.model(batch(self.rank, step)).square().sum()
        means = torch.autograd.grad(loss, list(self.model.parameters()))
        for mean in means:
            dist.all_reduce(mean)
        world = dist.get_world_size()
        return max(float((g - m / world).abs().max() / m.abs().max()) for g, m in zip(self.step(step), means))

    def says(self, steps=1):
        """What it says where it fails."""
        try:
            for step in range(steps):
                self.step(step)
            return "nothing"
        except (atomo.Error, RuntimeError) as error:  # backward may wrap it
            return str(error)


def fewer(rank, what):
    """Rank 1 fails where the others do not."""
    return unittest.mock.patch(what[0], side_effect=what[1]) if rank == 1 else contextlib.nullcontext()


# ---- how two ranks can differ: each function returns what a rank says, or whether its means are right ----


def arguments(first, second):
    return lambda rank: Run(rank, **(second if rank else first)).says()


def later(change, **more):
    """A difference that comes after two steps."""

    def case(rank):
        run = Run(rank, "ef+topk:ratio=0.2", **more)
        run.step(0), run.step(1)
        change(rank, run.state)
        return run.says()

    return case


def one_loads(rank, state):
    if rank:
        saved = state.state_dict()
        state.load_state_dict({**saved, "step": 1})


def another_run(rank):
    """Two runs of the same length, whose states rank 1 mixes up."""
    runs = [Run(rank, "powersgd:rank=2", seed=seed) for seed in (1, 1)]
    runs[0].step(0), runs[1].step(5)
    again = Run(rank, "powersgd:rank=2")
    again.state.load_state_dict(runs[rank].state.state_dict())
    return again.says()


def swapped_names(rank):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            for name in ("u", "v")[:: -1 if rank else 1]:
                self.add_module(name, nn.Linear(20, 20))

        def forward(self, x):
            return self.u(x) + self.v(2 * x)

    return Run(rank, model=Two()).says()


def everyones_checkpoint(spec):
    def case(rank):
        run = Run(rank, spec)
        run.step(0)
        saved = [run.state.state_dict()]
        dist.broadcast_object_list(saved, 0)
        again = Run(rank, spec)
        again.state.load_state_dict(saved[0])
        return again.says()

    return case


def failing(name, error, buckets=1):
    """Rank 1 fails in a function of Tensor or Codec."""

    def case(rank):
        run = Run(rank, "qsgd", buckets=buckets)
        if buckets > 1:
            run.step()  # after its first step DDP makes its buckets anew
        with fewer(rank, (name, error)):
            return run.says()

    return case


def group_of_one(rank, both=False):
    groups = [dist.new_group([0]), dist.new_group([1])]
    return Run(rank, process_group=groups[rank] if rank or both else None).says()


def another_version(rank):
    class Library:
        def __getattr__(self, name):
            return getattr(atomo.torch_lib, name)

        def atomo_version(self):
            return b"0.0.0"

    atomo.torch_lib = atomo.exchange.lib
    with unittest.mock.patch("atomo.exchange.lib", Library()) if rank else contextlib.nullcontext():
        return Run(rank).says()


def right(**more):
    return lambda rank: "right" if Run(rank, **(more[str(rank)] if "0" in more else more)).wrong() < 1e-5 else "wrong"


def seeded(rank, state):
    state.seed += rank


def one_step_more(rank, state):
    state.step += rank


def other_size(rank, state):
    state.min_elements += 700 * rank


DIFFERENCES = {
    "a parameter of the codec": (arguments({"spec": "qsgd:bits=2"}, {"spec": "qsgd:bits=4"}), "differ in spec: rank 0 has qsgd:bits=2,.* rank 1 has qsgd:bits=4,"),
    "another codec": (arguments({"spec": "qsgd"}, {"spec": "powersgd:rank=2"}), "differ in spec"),
    "a codec that trains": (arguments({"spec": "cas"}, {"spec": "qsgd"}), "differ in spec"),
    "the seed": (arguments({"spec": "eden:bits=4", "seed": 1}, {"spec": "eden:bits=4", "seed": 2}), "differ in seed: rank 0 has 1, rank 1 has 2"),
    "min_elements": (arguments({"min_elements": 0}, {"min_elements": 700}), "differ in min_elements: rank 0 has 0, rank 1 has 700"),
    "exchange": (arguments({"exchange": "gather"}, {"exchange": "reduce"}), "differ in exchange: rank 0 has gather, rank 1 has reduce"),
    "nonfinite": (arguments({}, {"nonfinite": "raise"}), "differ in nonfinite: rank 0 has skip, rank 1 has raise"),
    "start": (arguments({"spec": "qsgd"}, {"spec": "qsgd", "start": 5}), "differ in start: rank 0 has 0, rank 1 has 5"),
    "names on one rank only": (arguments({}, {"named": False}), "differ in parameters: rank 0 has .*, rank 1 has parameter0"),
    "a module of another name": (lambda rank: Run(rank, model=Net("c" if rank else "a")).says(), "differ in parameters: rank 0 has a.*, rank 1 has c"),
    "the order of modules": (swapped_names, "differ in parameters"),
    "the version": (another_version, "differ in version: .*, rank 1 has 0.0.0"),
    "a group on one rank": (group_of_one, r"differ in process_group: rank 0 has \[0, 1\], rank 1 has \[1\]"),
    "two groups": (lambda rank: group_of_one(rank, True), r"differ in process_group: rank 0 has \[0\], rank 1 has \[1\]"),
    "a checkpoint on one rank": (later(one_loads), "differ in step: rank 0 has 2, rank 1 has 1"),
    "a checkpoint of another run": (another_run, "differ in history"),
    "a step more": (later(one_step_more), "differ in step: rank 0 has 2, rank 1 has 3"),
    "a seed that changes": (later(seeded), "differ in seed"),
    "min_elements that changes": (later(other_size), "differ in min_elements"),
    "a codec typed in two ways": (arguments({"spec": "qsgd"}, {"spec": "QSGD:bits=4"}), "nothing"),
    "threads": (right(**{"0": {"threads": 1}, "1": {"threads": 2}}), "right"),
    "the checkpoint of rank 0 on both, with residuals": (everyones_checkpoint("ef+topk:ratio=0.2"), "rank 1: .*worker 0"),
    "the checkpoint of rank 0 on both, without any": (everyones_checkpoint("powersgd:rank=2"), "nothing"),
    "a gradient that cannot be read": (failing("atomo.exchange.as_floats", atomo.UsageError("cannot be read")), "rank 1: cannot be read"),
    "no memory": (failing("atomo.Codec.tensor", atomo.OutOfMemory("out of memory")), "rank 1: out of memory"),
    "a failing encoder": (failing("atomo.Tensor.lend", RuntimeError("lend")), "rank 1: .*lend"),
    "a payload that one refuses, with more to come": (failing("atomo.Tensor.take", atomo.CorruptError("refused"), buckets=2), "rank 1: refused"),
}

# ---- what must be right ----


def names_that_collide(rank):
    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.module, self.weight = nn.Linear(20, 20, bias=False), nn.Parameter(torch.randn(20, 20))

        def forward(self, x):
            return self.module(x) + x @ self.weight

    run = Run(rank, model=Wrapped())
    assert sorted(run.state._names.values()) == ["module.weight", "weight"]
    return run.wrong() < 1e-5 and sorted(State("none", run.ddp)._names.values()) == ["module.weight", "weight"]


def twice(rank):
    """A State of one model refuses another; the same model goes on in another DDP."""
    for named in (True, False):
        run = Run(rank, "ef+topk:ratio=0.2", named=named)
        run.step()
        other = DistributedDataParallel(Net("c"))
        other.register_comm_hook(run.state, hook)
        try:
            other(batch(rank)).sum().backward()
            return False
        except (atomo.Error, RuntimeError) as error:
            assert "is not of this State's model" in str(error), error
    return True


def complex_means(rank):
    class Waves(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(20, 30, dtype=torch.complex64))

        def forward(self, x):
            return torch.view_as_real(x.to(torch.complex64) @ self.weight * (1 + 2j * (rank + 1)))

    return Run(rank, model=Waves()).wrong() < 1e-5


def sparse_gradients(rank):
    """DDP's sparse gradients are an error on both, by name."""

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = nn.Embedding(50, 8, sparse=True)

        def forward(self, x):
            return self.rows(x.abs().long())

    return "rows.weight: DDP hands out a sparse gradient" in Run(rank, model=Rows()).says()


def other_floats(rank):
    torch.manual_seed(0)
    for dtype, most in ((torch.float64, 1e-5), (torch.bfloat16, 0.02)):
        model = nn.Linear(20, 30).to(dtype)
        ddp = DistributedDataParallel(model)
        ddp.register_comm_hook(State("none", model), hook)
        (ddp(batch(rank).to(dtype)).float().square().sum()).backward()
        got, want = model.weight.grad.float().clone(), torch.autograd.grad(model(batch(rank).to(dtype)).float().square().sum(), model.weight)[0].float()
        dist.all_reduce(want)
        if (got - want / 2).abs().max() > most * want.abs().max():
            return False
    return True


def overflows(rank):
    """An overflow on one rank costs one step: means of NaN on both, states of all buckets as they were, and one warning."""
    for spec, steps in (("ef+topk:ratio=0.2", (1, 2)), ("diana+qsgd", (1,)), ("powersgd:rank=2", (1,)), ("none", (0, 2)), ("cas", (1,))):
        run = Run(rank, spec, buckets=3)
        run.step(0)
        for step in steps:
            before = run.state.state_dict()["states"]
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                means = run.step(step, factor=float("inf") if rank or step == 0 else 1.0)
            assert any(torch.isnan(mean).any() for mean in means), spec
            assert run.state.state_dict()["states"] == before, spec
            said = [str(w.message) for w in said if "rank" in str(w.message)]
            assert len(said) == (step == steps[0]) and all("b.weight: element" in s or "b.bias: element" in s for s in said), said
        assert all(torch.isfinite(mean).all() for mean in run.step(3))
        loud = Run(rank, spec, nonfinite="raise")
        loud.ddp.zero_grad()
        try:
            (loud.ddp(batch(rank)).sum() * (float("nan") if rank else 1)).backward()
            return False
        except (atomo.Error, RuntimeError) as error:
            assert "rank 1: " in str(error) and "is NaN or infinite" in str(error), error
    return True


def a_late_overflow(rank):
    """What the first bucket has taken does not move its states when the last one overflows."""
    run = Run(rank, "ef+topk:ratio=0.2", buckets=3)
    run.step(0), run.step(0)  # DDP makes its buckets anew after the first step
    before = run.state.state_dict()["states"]
    run.model.zero_grad()
    x = batch(rank, 1)
    x[0, 0] = float("inf") if rank else 1  # of all gradients only that of the first layer's weight has it
    hidden = run.model.a(torch.where(torch.isinf(x), torch.zeros(()), x)) + 0 * run.model.a.weight[:, 0]
    del hidden
    run.model.a.weight.register_hook(lambda g: g * float("nan") if rank else g)
    run.ddp(batch(rank, 1)).sum().backward()
    assert torch.isnan(run.model.a.weight.grad).all() and torch.isnan(run.model.b.weight.grad).all()
    return run.state.state_dict()["states"] == before


def starts_late(rank):
    """Floats come first, then the codec with an empty state."""
    run, fresh = Run(rank, "ef+topk:ratio=0.1", start=2), Run(rank, "ef+topk:ratio=0.1")
    assert run.wrong(0) < 1e-5 and run.wrong(1) < 1e-5 and run.state.state_dict()["states"] == {}
    fresh.state.step = 2
    return all(torch.equal(a, b) for a, b in zip(run.step(2), fresh.step(2))) and run.wrong(3) > 0.1


def one_message_a_step(rank):
    """A step of one bucket and one round is one call of the process group; what the ranks share travels with it."""
    for spec, want in (("qsgd", 1), ("none", 1), ("powersgd:rank=2", 2)):
        run = Run(rank, spec)
        run.step(), run.step()
        with unittest.mock.patch("torch.distributed.all_gather", wraps=dist.all_gather) as calls:
            run.step()
        if calls.call_count != want:
            return False
    return True


RIGHT = (names_that_collide, twice, complex_means, sparse_gradients, other_floats, overflows, a_late_overflow, starts_late, one_message_a_step)


def work(rank, meeting, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2, timeout=WAIT)
    only = os.environ.get("ONLY")
    with open("%s.%d" % (out, rank), "w") as said:
        cases = [(name, case, want) for name, (case, want) in DIFFERENCES.items()] + [(f.__name__, f, "True") for f in RIGHT]
        for name, case, want in cases:
            if only and only not in name:
                continue
            try:
                got = case(rank)
            except Exception:
                got = traceback.format_exc()
            print(name, want, str(got).replace("\n", " | "), sep="\t", file=said, flush=True)
    leave(rank, 2, meeting)


class Ranks(unittest.TestCase):
    def test_both_say_what_differs(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "said")
            mp.start_processes(work, args=(os.path.join(folder, "meeting"), out), nprocs=2, start_method="fork")
            for rank in range(2):
                with open("%s.%d" % (out, rank)) as said:
                    for line in said:
                        name, want, got = line.rstrip("\n").split("\t")
                        with self.subTest(name, rank=rank):
                            self.assertRegex(got, want)


if __name__ == "__main__":
    unittest.main()
