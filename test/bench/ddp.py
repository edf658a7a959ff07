#!/usr/bin/env python3
"""ddp.py -- times a training step of PyTorch's DistributedDataParallel with our hook and with powerSGD_hook, in one
run.

usage: ddp.py [RANKS] [STEPS]. A network of 10 million parameters on the CPU, one thread a rank, gloo. Each line: the least and the
median time of a step, and the ratio of the least to plain DDP's. The forward and backward pass and the optimizer are in all of them.
powerSGD_hook has error feedback and a warm start, and sends vectors as floats, so ef+powersgd:rank=2 does the same work. The exit
code is 1 where ours is not 1.2 times as fast as powerSGD_hook.
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
    print("python3-torch is not installed: the comparison of DDP hooks is left out")
    sys.exit(0)

WARM = 4  # powerSGD_hook compresses from step 2 on


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


KINDS = {
    "plain DDP": plain,
    "PyTorch's powerSGD_hook, rank 2": theirs,
    "ef+powersgd:rank=2": ours("ef+powersgd:rank=2"),
    "powersgd:rank=2": ours("powersgd:rank=2"),
    "qsgd": ours("qsgd"),
    "ef+topk:ratio=0.01": ours("ef+topk:ratio=0.01"),
}
PEER, LIKE, FLOOR = "PyTorch's powerSGD_hook, rank 2", "ef+powersgd:rank=2", 1.2


def work(rank, ranks, steps, meeting, times):
    """All kinds step in turn, so that a busy machine slows all of them alike."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    # One bucket: over gloo, powerSGD_hook's collectives of several buckets get mixed up.
    dist._DEFAULT_FIRST_BUCKET_BYTES = 1000 << 20
    models = {kind: DistributedDataParallel(network(), bucket_cap_mb=1000) for kind in KINDS}
    optimizers = {kind: torch.optim.SGD(model.parameters(), lr=0.01) for kind, model in models.items()}
    for kind, model in models.items():
        KINDS[kind](model)
    x, y = torch.randn(16, 1024), torch.randint(10, (16,))
    for step in range(WARM + steps):
        for kind, model in models.items():
            dist.barrier()
            start = time.perf_counter()
            optimizers[kind].zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizers[kind].step()
            if step >= WARM and rank == 0:
                times.put((kind, time.perf_counter() - start))
    dist.barrier()
    dist.destroy_process_group()


def measure(ranks, steps):
    """Times of a step by kind."""
    times, found = mp.get_context("spawn").Queue(), {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(ranks, steps, os.path.join(folder, "meeting"), times), nprocs=ranks)
    for _ in range(steps * len(KINDS)):
        kind, seconds = times.get()
        found[kind].append(seconds)
    return found


def main(ranks=2, steps=16):
    found = measure(ranks, steps)
    print("%d ranks, %.1f million parameters" % (ranks, sum(p.numel() for p in network().parameters()) / 1e6))
    for kind, times in found.items():
        ratio = min(times) / min(found["plain DDP"])
        print("%-34s %5.0f ms a step, median %5.0f: %.2f times plain DDP" % (kind, 1e3 * min(times), 1e3 * statistics.median(times), ratio))
    ratio = min(found[PEER]) / min(found[LIKE])
    print("%s against %s: ratio %.2f, want %g%s" % (LIKE, PEER, ratio, FLOOR, "" if ratio >= FLOOR else "  BELOW ITS FLOOR"))
    return ratio < FLOOR


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
