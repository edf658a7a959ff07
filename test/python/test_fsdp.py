"""Compression under fully_shard (FSDP2), on 2 and 2 x 2 gloo ranks: `none` is plain HSDP to rounding, with the mean over the replicas
and with the reduce-scatter; a small transformer trains as well with ef+topk, powersgd and qsgd; runs go on from a checkpoint; the
layout's private attributes may be missing."""

import copy
import os
import sys
import tempfile
import traceback
import unittest
import unittest.mock

os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

    FSDPModule.set_custom_reduce_scatter
except (ImportError, AttributeError):
    print("skip test_fsdp: needs PyTorch 2.9 or newer")
    sys.exit(0)

from test_local import Transformer, loss_on
from test_torch import WAIT, leave

import atomo
from atomo.fsdp import ShardState, _groups_of

LONG = os.environ.get("LONG")


def another(seed):
    """Another transformer of the same sizes."""
    model = Transformer()
    torch.manual_seed(seed)
    for p in model.parameters():
        p.data.copy_(p.data.flatten()[torch.randperm(p.numel())].view(p.shape))
    return model


def sharded(mesh, seed=None, plain=False, **policy):
    """The transformer, with an FSDPModule for each block, but in one if a seed is given: HSDP of PyTorch's own if plain."""
    model = Transformer() if seed is None else another(seed)
    where = mesh if plain else mesh["shard"]
    for block in model.blocks.layers if seed is None else ():
        fully_shard(block, mesh=where, **policy)
    fully_shard(model, mesh=where, **policy)
    if dist.get_backend() == "gloo" and torch.__version__ < "2.10":  # its reduce_scatter summed for AVG
        for module in model.modules():
            if isinstance(module, FSDPModule):
                module.set_force_sum_reduction_for_comms(True)
    return model


def trained(model, rank, steps, lr=0.003, seed=0, count=16, kind=torch.optim.AdamW):
    optimizer = kind(model.parameters(), lr=lr)
    for step in range(steps):
        optimizer.zero_grad()
        loss_on(model, 100000 * seed + 10 * step + rank, count).backward()
        optimizer.step()
    return {name: p.full_tensor().detach().clone() for name, p in model.named_parameters()}


def gap(a, b):
    return max(float((a[n] - b[n]).abs().max() / b[n].abs().max()) for n in b)


def gradients(model, rank):
    model.zero_grad()
    loss_on(model, 77 + rank, 4).backward()
    return {name: p.grad.full_tensor().clone() for name, p in model.named_parameters()}


def none_is_hsdp(rank, mesh):
    """By the replicas' mean, by the reduce-scatter, and by both; after 4 steps of AdamW the weights are alike, too."""
    replicate, shard = mesh["replicate"].get_group(), mesh["shard"].get_group()
    want = gradients(sharded(mesh, plain=True), rank)
    for groups in ({"replicate": replicate}, {"replicate": replicate, "shard": shard}):
        model = sharded(mesh)
        state = ShardState("none", model, **groups)
        assert gap(gradients(model, rank), want) < 1e-5, (groups.keys(), gap(gradients(model, rank), want))
        assert state.bytes_sent > 0
    plain, ours = sharded(mesh, plain=True), sharded(mesh)
    ShardState("none", ours, replicate=replicate)
    apart = gap(trained(ours, rank, 4, lr=1e-4), trained(plain, rank, 4, lr=1e-4))
    assert apart < 1e-3, apart


def ranks_agree_and_parts_have_shapes(rank, mesh):
    """Replicas end with the same bits; parameters are compressed in their own shapes, by name, or flat where FSDP does not say."""
    for flat in (False, True):
        model = sharded(mesh)
        state = ShardState("ef+topk:ratio=0.1", model, replicate=mesh["replicate"].get_group(), min_elements=64)
        with unittest.mock.patch("atomo.fsdp._groups_of", lambda module: []) if flat else unittest.mock.MagicMock():
            trained(model, rank, 2)
        place = mesh["shard"].get_local_rank()
        names = {name for exchange in state._exchanges.values() for name in exchange._tensors}
        assert ("blocks.layers.0[%d]" % place if flat else "blocks.layers.0.linear1.weight[%d]" % place) in names, names
        for p in model.parameters():
            mine = p.to_local().contiguous()
            others = [torch.empty_like(mine) for _ in range(2)]
            dist.all_gather(others, mine, group=mesh["replicate"].get_group())
            assert torch.equal(others[0], others[1])


def mean_of(tensors, arrays, step):
    """What the codec of two workers makes of their arrays."""
    more = [tensor.begin(step) or True for tensor in tensors]
    while more[0]:
        payloads = [tensor.send(array) for tensor, array in zip(tensors, arrays)]
        for tensor in tensors:
            for worker, data in enumerate(payloads):
                tensor.take(worker, data)
        more = [tensor.end_round() for tensor in tensors]
    return torch.from_numpy([tensor.finish(array) for tensor, array in zip(tensors, arrays)][0])


def plain_loop(spec, steps, lr):
    """One process without FSDP: the halves of each parameter's gradient go through the codec by themselves."""
    model, tensors = another(0), {}
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for name, p in model.named_parameters():
        for half in range(2):
            shape = p.chunk(2)[half].shape
            codec = atomo.Codec(spec if shape.numel() >= 64 else "none")
            tensors[name, half] = [codec.tensor(tuple(shape), "%s[%d]" % (name, half), worker=r, workers=2) for r in range(2)]
    for step in range(steps):
        replicas = []
        for first in (0, 2):
            model.zero_grad()
            for rank in (first, first + 1):
                (loss_on(model, 10 * step + rank, 16) / 2).backward()
            replicas.append({name: p.grad.clone() for name, p in model.named_parameters()})
        for name, p in model.named_parameters():
            halves = [[r[name].chunk(2)[half].contiguous().numpy() for r in replicas] for half in range(2)]
            p.grad = torch.cat([mean_of(tensors[name, half], halves[half], step + 1) for half in range(2)])
        optimizer.step()
    return {name: p.detach() for name, p in model.named_parameters()}


def waits(rank, mesh):
    """Gradients of set_requires_all_reduce(False) travel with the next ones; a fully_shard after ShardState is refused."""
    replicate, sent, got = mesh["replicate"].get_group(), [], []
    for wait in (True, False):
        model = sharded(mesh)
        state = ShardState("none", model, replicate=replicate)
        for part in range(2):
            model.set_requires_all_reduce(part == 1 or not wait)
            loss_on(model, 77 + rank + 10 * part, 4).backward()
        sent.append(state.bytes_sent)
        got.append({name: p.grad.full_tensor().clone() for name, p in model.named_parameters()})
    assert 2 * sent[0] == sent[1] and gap(*got) < 1e-5, (sent, gap(*got))
    model = another(0)
    fully_shard(model.blocks, mesh=mesh["shard"])
    ShardState("none", model, replicate=replicate)
    fully_shard(model, mesh=mesh["shard"])
    try:
        loss_on(model, 1, 4).backward()
    except (atomo.UsageError, RuntimeError) as error:
        assert "fully_shard was called after ShardState" in str(error)
        return
    raise AssertionError("a late fully_shard is not seen")


def is_a_plain_loop(rank, mesh):
    """So where training lags, the codec does, not the exchange."""
    for spec in ("ef+topk:ratio=0.05", "powersgd:rank=2", "ef+powersgd:rank=2", "qsgd"):
        model = sharded(mesh, 0)
        ShardState(spec, model, replicate=mesh["replicate"].get_group(), min_elements=64)
        apart = gap(trained(model, rank, 4, lr=0.1, kind=torch.optim.SGD), plain_loop(spec, 4, lr=0.1))
        assert apart < 1e-4, (spec, apart)


def goes_on(rank, mesh):
    groups = {"replicate": mesh["replicate"].get_group(), "shard": mesh["shard"].get_group()}

    def new():
        model = sharded(mesh)
        return model, ShardState("ef+topk:ratio=0.1", model, **groups, min_elements=64)

    def go(model, seeds):
        for seed in seeds:
            gradient = gradients(model, seed * 10 + rank)
        return gradient

    first, state = new()
    go(first, range(2))
    saved = copy.deepcopy(state.state_dict())
    want = go(first, range(2, 4))
    again, other = new()
    other.load_state_dict(saved)
    got = go(again, range(2, 4))
    assert all(torch.equal(got[n], want[n]) for n in want)


def other_reductions(rank, mesh):
    """SUM, PREMUL_SUM and reduce_dtype: the gradients are those of FSDP's own reduce-scatter, or it says what it cannot do."""
    shard = mesh["shard"].get_group()
    policy = {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    for change in (lambda m: m.set_force_sum_reduction_for_comms(True), lambda m: m.set_gradient_divide_factor(8.0), lambda m: None):
        found = []
        for ours in (False, True):
            model = sharded(mesh, **policy)
            for module in model.modules():
                if isinstance(module, FSDPModule):
                    change(module)
                    if not ours:  # gloo has no PREMUL_SUM
                        module.set_force_sum_reduction_for_comms(True)
            if ours:
                ShardState("none", model, shard=shard)
            found.append(gradients(model, rank))
        assert gap(found[1], found[0]) < 0.01, gap(found[1], found[0])


def refusals(rank, mesh):
    replicate, shard = mesh["replicate"].get_group(), mesh["shard"].get_group()

    def said(*arguments, **named):
        try:
            ShardState(*arguments, **named)
        except atomo.UsageError as error:
            return str(error)

    assert "no FSDPModule" in said("none", torch.nn.Linear(3, 4), replicate)
    assert "neither replicate nor shard" in said("none", sharded(mesh))
    assert "mesh of two axes" in said("none", sharded(mesh, plain=True), replicate)
    assert "several rounds" in said("powersgd:rank=2", sharded(mesh), shard=shard)
    model = sharded(mesh)
    state = ShardState("qsgd", model, replicate)
    try:
        state.load_state_dict({"other": {}})
        raise AssertionError("took another checkpoint")
    except atomo.UsageError as error:
        assert "other" in str(error)
    try:
        (loss_on(model, rank) * (float("nan") if rank == 3 else 1)).backward()
        raise AssertionError("NaN was taken")
    except atomo.NumericError as error:
        assert "rank 1" in str(error) and "NaN" in str(error), error


LEARN = ("none", "ef+topk:ratio=0.2", "ef+powersgd:rank=2", "qsgd")


def learns(rank, mesh):
    """Over three seeds the losses with a codec are those without one, within their noise."""
    lost = {}
    steps, seeds = 60, range(3)
    for spec in LEARN:
        lost[spec] = []
        for seed in seeds:
            model = sharded(mesh, seed)
            ShardState(spec, model, replicate=mesh["replicate"].get_group(), min_elements=64)
            trained(model, rank, steps, seed=1 + seed, count=8)
            with torch.no_grad():
                lost[spec].append(float(loss_on(model, 5, 128)))
        if rank == 0:
            print(spec, ["%.3f" % loss for loss in lost[spec]], flush=True)
    mean = {spec: sum(some) / len(some) for spec, some in lost.items()}
    spread = max(max(some) - min(some) for some in lost.values())
    for spec, loss in mean.items():
        assert loss - mean["none"] < max(spread, 0.05 * mean["none"]), (spec, lost)


CASES = [none_is_hsdp, waits, is_a_plain_loop, ranks_agree_and_parts_have_shapes, goes_on, other_reductions, refusals] + ([learns] if LONG else [])


def work(rank, meeting, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=4, timeout=WAIT)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    only = os.environ.get("ONLY")
    with open("%s.%d" % (out, rank), "w") as said:
        for case in CASES:
            if only and only not in case.__name__:
                continue
            try:
                got = case(rank, mesh) or "held"
            except Exception:
                got = traceback.format_exc()
            print(case.__name__, str(got).replace("\n", " | "), sep="\t", file=said, flush=True)
    leave(rank, 4, meeting)


class Fsdp(unittest.TestCase):
    def test_two_by_two_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "said")
            mp.start_processes(work, args=(os.path.join(folder, "meeting"), out), nprocs=4, start_method="fork")
            for rank in range(4):
                with open("%s.%d" % (out, rank)) as said:
                    for line in said:
                        name, got = line.rstrip("\n").split("\t")
                        with self.subTest(name, rank=rank):
                            self.assertEqual(got, "held")


if __name__ == "__main__":
    unittest.main()
