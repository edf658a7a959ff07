#!/usr/bin/env python3
"""What encoding costs in PyTorch, as a ratio to atomo-bench, on one thread: for each codec the tensor operations that the codes of
the papers run. They leave their result as a tensor: nothing is packed or entropy-coded, as atomo-bench's payloads are.

usage: torch_codecs.py ATOMO_BENCH DUMP. Each time is the sum, over all tensors of the dump's last step, of the least of CALLS calls.
A ratio below its floor fails.
"""
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
    ("fp16", lambda x: x.half(), 1.3),
    ("sign", lambda x: x < 0, 1.3),
    ("qsgd:bits=3,code=fixed", qsgd, 15),
    ("terngrad:clip=2.5", terngrad, 15),
    ("topk:ratio=0.01", topk, 15),
    ("powersgd:rank=1", powersgd(1), 1.2),
    ("powersgd:rank=2", powersgd(2), 1.2),
    ("powersgd:rank=4", powersgd(4), 1.0),
    ("svd:rank=3", svd, 12),
]


def torch_ms(encode, tensors):
    total = 0
    for x in tensors.values():
        best = float("inf")
        for _ in range(CALLS if x.numel() < 1 << 20 else 5):
            start = time.perf_counter()
            encode(x)
            best = min(best, time.perf_counter() - start)
        total += best
    return 1e3 * total


def main(bench, dump):
    torch.set_num_threads(1)
    tensors = {name: torch.from_numpy(a) for name, a in tensors_of(dump, 0).items()}
    low = False
    print("encode, ms: %d tensors, PyTorch %s, one thread" % (len(tensors), torch.__version__))
    print("%-26s %12s %12s %8s %8s" % ("codec", "PyTorch", "atomo-bench", "ratio", "floor"))
    for spec, encode, floor in PEERS:
        peer, ours = torch_ms(encode, tensors), bench_ms(bench, [spec], dump, tensors)[spec]
        low |= peer / ours < floor
        print("%-26s %12.2f %12.2f %8.2f %8.1f%s" % (spec, peer, ours, peer / ours, floor, "" if peer / ours >= floor else "  BELOW ITS FLOOR"), flush=True)
    return low


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
