#!/usr/bin/env python3
"""ddp.py -- times a training step of PyTorch's DistributedDataParallel with our hook and with powerSGD_hook, in one
run.

usage: ddp.py [RANKS] [STEPS]. The network has 10 million parameters and is trained on the CPU with gloo, one thread
per rank. Each line has the seconds per step (the least over all steps) and the ratio to plain DDP. All times include
the forward and the backward pass.
"""
import os
import statistics
import sys
import tempfile
import time

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("skip ddp: needs torch (Debian: python3-torch)")
    sys.exit(0)


def network():
    torch.manual_seed(0)
    sizes = [1024, 2048, 2048, 1536, 512, 10]
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def plain(model):
    pass


def theirs(model):
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


def ours(spec):
    def register(model):
        from atomo.torch import State, hook

        model.register_comm_hook(State(spec, model.module, threads=1), hook)

    return register


KINDS = [
    ("plain DDP", plain),
    ("PyTorch's powerSGD_hook, rank 2", theirs),
    ("ef+powersgd:rank=2", ours("ef+powersgd:rank=2")),
    ("powersgd:rank=2", ours("powersgd:rank=2")),
    ("qsgd", ours("qsgd")),
    ("ef+topk:ratio=0.01", ours("ef+topk:ratio=0.01")),
]


def work(rank, ranks, steps, kind, meeting, times):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    # There is only one bucket: over gloo, powerSGD_hook mixes up the collectives of several buckets.
    model = DistributedDataParallel(network(), bucket_cap_mb=1000)
    KINDS[kind][1](model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(16, 1024), torch.randint(10, (16,))
    for step in range(steps + 4):
        dist.barrier()
        start = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step >= 4 and rank == 0:
            times.put(time.perf_counter() - start)
    dist.barrier()
    dist.destroy_process_group()


def main(ranks, steps):
    """Runs each kind of hook in separate processes, all kinds in turn, three times, so that a busy machine slows all
    of them."""
    context = mp.get_context("spawn")
    found = [[] for _ in KINDS]
    for _ in range(3):
        for kind in range(len(KINDS)):
            times = context.Queue()
            with tempfile.TemporaryDirectory() as folder:
                mp.spawn(work, args=(ranks, steps, kind, os.path.join(folder, "meeting"), times), nprocs=ranks)
            found[kind] += [times.get() for _ in range(steps)]
    print("%d ranks, %.1f million parameters" % (ranks, sum(p.numel() for p in network().parameters()) / 1e6))
    for (name, _), times in zip(KINDS, found):
        best = min(times)
        print("%-34s %.3f s a step, %.2f times plain DDP" % (name, best, best / min(found[0])))


if __name__ == "__main__":
    main(*(int(a) for a in (sys.argv[1:] + ["2", "8"][len(sys.argv) - 1 :])))
