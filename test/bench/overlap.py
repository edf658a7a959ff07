#!/usr/bin/env python3
"""overlap.py -- how much of encode and exchange hides behind a backward that leaves the CPU idle, as a GPU's does.

usage: overlap.py [SPEC] [STEPS]. Two ranks, four buckets of one layer each, whose backward sleeps for as long as a bucket's exchange
takes about. A step is timed with the hook, with the hook in the thread of backward, and without an exchange, in turn in one run. The
share that is hidden is (in one thread - beside) / (in one thread - without). The exit code is 1 where it is under a half.
"""

import os
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("python3-torch is not installed: the overlap of DDP's buckets is left out")
    sys.exit(0)

SIDE, LAYERS, SLEEP = 1600, 4, 0.1


class Sleeps(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 1

    @staticmethod
    def backward(context, gradient):
        time.sleep(SLEEP)
        return gradient


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(SIDE, SIDE) for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = Sleeps.apply(layer(x))
        return x


def work(rank, spec, steps, meeting):
    import atomo.torch

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    model = DistributedDataParallel(Network(), bucket_cap_mb=4 * SIDE * SIDE / 2**20)
    model.register_comm_hook(atomo.torch.State(spec, model.module, threads=1), atomo.torch.hook)
    x, times = torch.randn(1, SIDE), {"beside": [], "in one thread": [], "without": []}
    for step in range(3 * (steps + 2)):
        kind = list(times)[step % 3]
        atomo.torch._ALONGSIDE = kind != "in one thread"
        model.require_backward_grad_sync = kind != "without"
        dist.barrier()
        start = time.perf_counter()
        model(x).sum().backward()
        if step >= 6:  # DDP makes its buckets after the first step
            times[kind].append(time.perf_counter() - start)
    if rank == 0:
        beside, alone, without = (1e3 * min(t) for t in times.values())
        hidden = (alone - beside) / (alone - without)
        print("%s: %.0f ms a step, %.0f in one thread, %.0f without exchange: %.0f %% hidden, want 50" % (spec, beside, alone, without, 100 * hidden))
        sys.stdout.flush()
        open(meeting + ".low", "w").close() if hidden < 0.5 else None
    dist.barrier()
    os._exit(0)


def main(spec="qsgd", steps=6):
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        mp.start_processes(work, args=(spec, int(steps), meeting), nprocs=2, start_method="fork")
        return os.path.exists(meeting + ".low")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
