#!/usr/bin/env python3
"""What encoding costs in PyTorch, as a ratio to atomo-bench, on one thread and on all: for each codec the tensor operations that the
codes of the papers run, as they stand (eager) and compiled (torch.compile, fullgraph). They leave their result as a tensor: nothing is
packed or entropy-coded, as atomo-bench's payloads are.

usage: torch_codecs.py ATOMO_BENCH DUMP [CODEC...]. Each time is the sum, over the tensors of two and more dimensions of the dump's last
step, of the least of CALLS calls. A ratio of the better of PyTorch's two forms, on one thread, below its floor fails. CODEC: only
codecs whose spec begins so.
"""
import os
import sys
import time

try:
    import numpy
    import torch
except ImportError as error:
    print("torch_codecs: skipped (needs the Python package %s)" % error.name)
    sys.exit(0)

from python_encode import bench_ms, tensors_of

CALLS = 15


def matrix(x):
    """The matrix [out, in k1 k2] of PowerSGD; for spectral ATOMO see paper_matrix."""
    return x.reshape(x.shape[0], -1) if x.dim() > 1 else x.reshape(-1, 1)


def paper_matrix(x):
    """The ATOMO paper's matrix of a tensor."""
    if x.dim() == 4 and x.shape[2] * x.shape[3] > 1:
        pairs = 2 if x.shape[0] * x.shape[1] % 2 == 0 else 1
        return x.reshape(-1, pairs * x.shape[2] * x.shape[3])
    if x.dim() == 1:
        return x.reshape(-1, 2 if x.numel() % 2 == 0 else 1)
    return x.reshape(x.shape[0], -1)


def qsgd(x, levels=7):
    norm = x.norm()
    scaled = levels / norm * x.abs()
    low = scaled.floor()
    up = (torch.empty_like(x).uniform_() < scaled - low).type(torch.float32)
    return norm, ((low + up) * x.sign()).type(torch.int8)


def terngrad(x, deviations=2.5):
    bound = deviations * torch.sqrt(((x - x.mean()) ** 2).mean())
    x = torch.clamp(x, -bound, bound)
    most = x.abs().max()
    drawn = torch.empty_like(x).uniform_() * most
    return most, torch.where(drawn < x.abs(), x.sign(), torch.zeros_like(x)).type(torch.int8)


def natural(x):
    magnitude = x.abs()
    low = torch.exp2(torch.floor(torch.log2(magnitude)))
    up = torch.rand_like(x) < magnitude / low - 1
    return x.sign() * torch.where(up, 2 * low, low)


def onebit(x):
    up = x >= 0
    count = up.sum()
    above = torch.where(up, x, 0.0).sum()
    return up, above / count, (x.sum() - above) / (x.numel() - count)


def randk(x, ratio=0.01):
    flat = x.reshape(-1)
    index = torch.randperm(flat.numel())[: max(1, round(ratio * flat.numel()))]
    return index, flat[index]


def topk(x, ratio=0.01):
    flat = x.reshape(-1)
    index = torch.topk(flat.abs(), max(1, round(ratio * flat.numel())), sorted=False).indices
    return index, flat[index]


def orthogonalize(p):
    """Gram-Schmidt, as PyTorch's powerSGD_hook does it on the CPU."""
    for i in range(p.shape[1]):
        column = p[:, i : i + 1]
        column /= column.norm() + 1e-8
        if i + 1 < p.shape[1]:
            rest = p[:, i + 1 :]
            rest -= (column * rest).sum(0) * column


def powersgd(rank):
    def encode(x):
        if x.dim() == 1:
            return x.clone()
        m = matrix(x)
        q = torch.randn(m.shape[1], min(rank, *m.shape))
        orthogonalize(q)
        p = m @ q
        orthogonalize(p)
        return p, m.t() @ p

    return encode


def svd(x):
    return torch.linalg.svd(paper_matrix(x), full_matrices=False)


# spec, PyTorch's operations, the least ratio of the times
PEERS = [
    ("fp16", lambda x: x.half(), 1),
    ("sign", lambda x: x < 0, 3),
    ("onebit:scope=tensor", onebit, 10),
    ("natural", natural, 10),
    ("qsgd:bits=3,code=fixed", qsgd, 15),
    ("terngrad:clip=2.5", terngrad, 15),
    ("topk:ratio=0.01", topk, 10),
    ("randk:ratio=0.01", randk, 10),
    ("powersgd:rank=1", powersgd(1), 1.1),
    ("powersgd:rank=2", powersgd(2), 1.1),
    ("powersgd:rank=4", powersgd(4), 1.1),
    ("svd:rank=3", svd, 5),
]


def torch_ms(encode, tensors):
    total = 0
    for x in tensors.values():
        best = float("inf")
        encode(x)  # compiles
        for _ in range(CALLS if x.numel() < 1 << 20 else 5):
            start = time.perf_counter()
            encode(x)
            best = min(best, time.perf_counter() - start)
        total += best
    return 1e3 * total


def row(spec, encode, bench, dump, tensors, threads):
    """atomo-bench's and PyTorch's times, and the ratio to the better of PyTorch's two."""
    torch.set_num_threads(threads)
    ours = bench_ms(bench, [spec], dump, tensors, threads)[spec]
    torch.compiler.reset()
    compiled = torch.compile(encode, fullgraph=True, dynamic=True)
    eager, fused = torch_ms(encode, tensors), torch_ms(compiled, tensors)
    return ours, eager, fused, min(eager, fused) / ours


def main(bench, dump, *chosen):
    tensors = {name: torch.from_numpy(a) for name, a in tensors_of(dump, 0).items() if a.ndim > 1}
    cores = len(os.sched_getaffinity(0))
    low = False
    room = torch.empty(max(x.numel() for x in tensors.values()))
    torch.set_num_threads(1)
    memcpy = torch_ms(lambda x: room[: x.numel()].copy_(x.view(-1)), tensors)
    print("encode, ms: %d tensors, memcpy %.2f ms, PyTorch %s, one thread and %d" % (len(tensors), memcpy, torch.__version__, cores))
    print("%-24s %7s %11s %9s %9s %8s %8s" % ("codec", "threads", "atomo-bench", "eager", "compiled", "ratio", "floor"))
    for spec, encode, floor in PEERS:
        for threads in sorted({1, cores} if not chosen or spec.startswith(chosen) else ()):
            *times, ratio = row(spec, encode, bench, dump, tensors, threads)
            below = threads == 1 and ratio < floor
            low |= below
            print("%-24s %7d %11.2f %9.2f %9.2f %8.2f %8s%s" % (spec, threads, *times, ratio, floor if threads == 1 else "", "  BELOW ITS FLOOR" * below), flush=True)
    return low


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
