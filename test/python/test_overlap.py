"""The hook beside backward, on 2 ranks: buckets are exchanged while backward goes on, in order; an error reaches both ranks as it is;
what PyTorch 2 does with a model before DDP gets it changes nothing; a GPU's copies and NCCL's group have stand-ins on the CPU."""

import contextlib
import os
import sys
import tempfile
import threading
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
    from torch.utils.checkpoint import checkpoint
except ImportError:
    print("skip test_overlap: needs torch (Debian: python3-torch)")
    sys.exit(0)

import atomo.torch

if not atomo.torch._ALONGSIDE:
    print("skip test_overlap: needs torch 2.1")
    sys.exit(0)

from test_ranks import WAIT, Run, batch
from test_torch import leave

from atomo.torch import State, hook


class Deep(nn.Module):
    """Three layers, which small buckets keep apart. `between` runs in backward between the last layer and the second."""

    def __init__(self, between=lambda: None, wrap=lambda layer, x: layer(x)):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(20, 20) for _ in range(3))
        self.between, self.wrap = between, wrap

    def forward(self, x):
        for layer in self.layers[:2]:
            x = torch.relu(self.wrap(layer, x))
        x = x * 1
        if x.requires_grad:
            x.register_hook(lambda gradient: self.between())
        return self.layers[2](x)


def means(rank, spec="none", model=None, bucket_cap_mb=0.001, **named):
    """The gradients of the third step of a model in DDP, after the mean, and how far they are from the mean without DDP."""
    model = model or Deep()
    ddp = DistributedDataParallel(model, bucket_cap_mb=bucket_cap_mb, **named)
    state = State(spec, model, min_elements=0)
    ddp.register_comm_hook(state, hook)
    dtype = next(model.parameters()).dtype
    for step in range(3):
        x = batch(rank, step).to(dtype).requires_grad_()
        model.zero_grad()
        ddp(x).float().square().sum().backward()
    got = [p.grad.float().clone() for p in model.parameters()]
    model.wrap = lambda layer, x: layer(x)  # autograd.grad refuses checkpoints that go backward by themselves
    want = [w.float() for w in torch.autograd.grad(model(x).float().square().sum(), list(model.parameters()))]
    for mean in want:
        dist.all_reduce(mean)
    world = dist.get_world_size()
    return got, max(float((g - m / world).abs().max() / m.abs().max()) for g, m in zip(got, want))


def goes_on(rank):
    """In the third step the exchange of the last layer waits for backward to come to the second layer."""
    came, served, exchange = threading.Event(), [], atomo.torch._exchange

    def patient(state, bucket):
        served.append(bucket.index)
        if state.step == 2 and bucket.index == 0 and not came.wait(60):
            raise RuntimeError("backward waits for the exchange")
        exchange(state, bucket)

    passes = []

    def between():
        passes.append(1)
        if len(passes) == 3:
            came.set()

    with unittest.mock.patch("atomo.torch._exchange", patient):
        wrong = means(rank, model=Deep(between))[1]
    return wrong < 1e-5 and served[-3:] == [0, 1, 2]


def errors_as_they_are(rank):
    """Backward raises what the exchange has raised, on both ranks, in a bucket that is not the last."""
    run = Run(rank, "qsgd", buckets=2)
    run.step()
    with unittest.mock.patch("atomo.Tensor.take", side_effect=atomo.CorruptError("refused", "a hint")) if rank else contextlib.nullcontext():
        try:
            run.step(1)
        except atomo.CorruptError as error:
            return error.text == "rank 1: refused" and error.hint == "a hint"
    return False


def in_the_first_step_of_a_static_graph(rank):
    """Here DDP looks at the results before the hook's own check."""
    model = Deep()
    ddp = DistributedDataParallel(model, static_graph=True)
    ddp.register_comm_hook(State("qsgd", model, min_elements=0), hook)
    with unittest.mock.patch("atomo.Tensor.lend", side_effect=atomo.NumericError("odd")) if rank else contextlib.nullcontext():
        warnings.simplefilter("ignore")
        ddp(batch(rank)).sum().backward()  # a gradient that is not finite skips the step
    assert torch.isnan(model.layers[0].weight.grad).all()
    with unittest.mock.patch("atomo.Tensor.lend", side_effect=atomo.CorruptError("odd")) if rank else contextlib.nullcontext():
        try:
            ddp(batch(rank)).sum().backward()
        except (atomo.Error, RuntimeError) as error:
            return "rank 1: odd" in str(error)
    return False


def alike(rank):
    """Options of DDP and of modules leave the means right, and the payloads as they are."""
    plain = means(rank, "qsgd")[0]
    for model, named in (
        (None, {"gradient_as_bucket_view": True}),
        (None, {"static_graph": True}),
        (None, {"find_unused_parameters": True}),
        (Deep(wrap=lambda layer, x: checkpoint(layer, x, use_reentrant=False)), {}),
        (Deep(wrap=lambda layer, x: checkpoint(layer, x, use_reentrant=True)), {"static_graph": True}),
    ):
        assert means(rank, "none", model and Deep(wrap=model.wrap), **named)[1] < 1e-5, named
        got = means(rank, "qsgd", model, **named)[0]
        assert all(torch.equal(a, b) for a, b in zip(got, plain)), named
    return True


def compiled(rank):
    """A compiled model in DDP, and a compiled DDP; the backend needs no compiler."""
    torch._dynamo.reset()
    inner = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 20))
    assert means(rank, model=torch.compile(inner, backend="aot_eager"), bucket_cap_mb=25)[1] < 1e-5
    model = Deep()
    state = State("none", model, min_elements=0)
    ddp = DistributedDataParallel(model)
    ddp.register_comm_hook(state, hook)
    both = torch.compile(ddp, backend="aot_eager")
    for step in range(2):
        model.zero_grad()
        both(batch(rank, step)).square().sum().backward()
    want = torch.autograd.grad(model(batch(rank, 1)).square().sum(), model.layers[0].weight)[0]
    dist.all_reduce(want)
    in_part = nn.Sequential(torch.compile(nn.Linear(20, 20), backend="aot_eager"), nn.ReLU())
    assert set(State("none", in_part)._names.values()) == {"0.weight", "0.bias"}
    assert set(state._names.values()) == {"layers.%d.%s" % (n, k) for n in range(3) for k in ("weight", "bias")}
    return float((model.layers[0].weight.grad - want / 2).abs().max() / want.abs().max()) < 1e-5


def half_precision(rank):
    """A model of bfloat16, and autocast of one of float32."""
    assert means(rank, model=Deep().bfloat16())[1] < 0.02
    model = Deep()
    with torch.autocast("cpu", torch.bfloat16):
        return means(rank, model=model)[1] < 0.02


def accumulates(rank):
    """no_sync leaves the exchange to the last backward."""
    model = Deep()
    ddp = DistributedDataParallel(model)
    state = State("none", model, min_elements=0)
    ddp.register_comm_hook(state, hook)
    with ddp.no_sync():
        ddp(batch(rank, 0)).sum().backward()
    assert state.step == 0
    ddp(batch(rank, 1)).sum().backward()
    want = torch.autograd.grad(sum(model(batch(rank, s)).sum() for s in (0, 1)), model.layers[0].weight)[0]
    dist.all_reduce(want)
    return state.step == 1 and float((model.layers[0].weight.grad - want / 2).abs().max() / want.abs().max()) < 1e-5


def uneven(rank):
    """Within DDP's join a rank whose data are at an end takes part, with gradients of zeros and outside of backward; an error reaches it."""
    model = Deep()
    ddp = DistributedDataParallel(model, bucket_cap_mb=0.001)
    state = State("none", model, min_elements=0)
    ddp.register_comm_hook(state, hook)
    with ddp.join():
        for step in range(4 if rank else 1):
            model.zero_grad()
            ddp(batch(rank, step)).square().sum().backward()
    if rank:
        want = torch.autograd.grad(model(batch(rank, 3)).square().sum(), model.layers[0].weight)[0] / 2
        assert (model.layers[0].weight.grad - want).abs().max() < 1e-5 * want.abs().max()
    assert state.step == 4
    with unittest.mock.patch("atomo.Tensor.take", side_effect=atomo.CorruptError("refused")) if rank else contextlib.nullcontext():
        try:
            with ddp.join():
                if rank:
                    ddp(batch(rank)).sum().backward()
        except (atomo.Error, RuntimeError) as error:
            return "rank 1: refused" in str(error)
    return False


def two_at_once(rank):
    """Two models in one backward: their exchanges do not mix."""
    models = [Deep(), nn.Linear(20, 20)]
    both = [DistributedDataParallel(m, bucket_cap_mb=0.001) for m in models]
    for ddp in both:
        ddp.register_comm_hook(State("none", ddp.module, min_elements=0), hook)
    for step in range(3):
        for m in models:
            m.zero_grad()
        x = batch(rank, step)
        (both[0](x) * both[1](x)).sum().backward()
    parameters = [p for m in models for p in m.parameters()]
    want = torch.autograd.grad((models[0](x) * models[1](x)).sum(), parameters)
    for mean, p in zip(want, parameters):
        dist.all_reduce(mean)
        if (p.grad - mean / 2).abs().max() > 1e-5 * mean.abs().max():
            return False
    return True


def nccl_alone(rank):
    """A group of another backend gets a gloo group for the payloads, and rank 0 says so."""
    model = Deep()
    ddp = DistributedDataParallel(model)
    state = State("none", model, min_elements=0)
    ddp.register_comm_hook(state, hook)
    with unittest.mock.patch("atomo.torch.dist.get_backend", return_value="nccl"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ddp(batch(rank)).sum().backward()
    said = [str(w.message) for w in said if "nccl" in str(w.message)]
    assert state.wire.members == [0, 1] and dist.get_backend(state.wire.transport.group) == "gloo"
    return len(said) == (rank == 0) and all("a new group of its ranks, over gloo" in s for s in said)


class Stream:
    """A stream of copies that are not done before somebody waits for them."""

    def __init__(self, device=None):
        self.log = []

    def wait_stream(self, other):
        self.log.append("follows")

    def record_event(self):
        return self

    def synchronize(self):
        self.log.append("waits")

    @contextlib.contextmanager
    def on(self):
        self.log.append("copies")
        yield


def on_a_gpu(rank):
    """A bucket on a GPU goes through one buffer, behind the work that made it; the CPU waits for it before it reads."""
    current = Stream()
    stand_ins = {"Stream": Stream, "current_stream": lambda device: current, "stream": Stream.on}
    with contextlib.ExitStack() as patched:
        for name, stand_in in stand_ins.items():
            patched.enter_context(unittest.mock.patch("torch.cuda." + name, stand_in))
        patched.enter_context(unittest.mock.patch("atomo.torch._is_far", lambda whole: True))
        kept, make = [], State._ferry
        with unittest.mock.patch.object(State, "_ferry", lambda *a: kept.append(make(*a)) or kept[-1]):
            got, wrong = means(rank)
            same = means(rank, "ef+topk:ratio=0.1")[0]
    want = means(rank, "ef+topk:ratio=0.1")[0]
    assert all(torch.equal(a, b) for a, b in zip(same, want))
    assert len({id(f) for f in kept}) < len(kept)  # buffers stay from step to step
    logs = [f.stream.log for f in kept]
    return wrong < 1e-5 and all(log[i : i + 4] == ["follows", "copies", "waits", "copies"] for log in logs for i in range(0, len(log), 4))


CASES = (
    goes_on,
    errors_as_they_are,
    in_the_first_step_of_a_static_graph,
    alike,
    compiled,
    half_precision,
    accumulates,
    uneven,
    two_at_once,
    nccl_alone,
    on_a_gpu,
)


def work(rank, meeting, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2, timeout=WAIT)
    with open("%s.%d" % (out, rank), "w") as said:
        for case in CASES:
            if os.environ.get("ONLY", case.__name__) not in case.__name__:
                continue
            try:
                got = case(rank)
            except Exception:
                got = traceback.format_exc()
            print(case.__name__, str(got).replace("\n", " | "), sep="\t", file=said, flush=True)
    leave(rank, 2, meeting)


class Overlap(unittest.TestCase):
    maxDiff = None

    def test_two_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "said")
            mp.start_processes(work, args=(os.path.join(folder, "meeting"), out), nprocs=2, start_method="fork")
            for rank in range(2):
                with open("%s.%d" % (out, rank)) as said:
                    for line in said:
                        name, got = line.rstrip("\n").split("\t")
                        with self.subTest(name, rank=rank):
                            self.assertEqual(got, "True")


if __name__ == "__main__":
    unittest.main()
