"""A small CNN trains on digits, by three processes over gloo, to within a point of its accuracy without compression, with each of
four codecs. Each codec has the learning rate that suits it: docs/python.md says how to find one.

DIGITS names the program that writes the data set (export_digits.c).
"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("skip test_digits: needs torch (Debian: python3-torch)")
    sys.exit(0)

TRAIN, TEST, WORLD, BATCH, STEPS = 12000, 2000, 3, 170, 300
# spec: (first learning rate, momentum, power of the decay to 0, min_elements)
RECIPES = {
    None: (0.05, 0.9, 1, 1000),
    "ef+topk:ratio=0.01": (0.1, 0.9, 1, 1000),
    "qsgd": (0.05, 0.9, 1, 1000),
    "svd": (0.05, 0.9, 1, 1000),
    "sign": (0.006, 0, 2, 0),
}


def digits(path):
    """Images (train, 1, 28, 28), labels, and those of the test."""
    count = TRAIN + TEST
    data = np.fromfile(path, np.uint8)
    pixels, labels = data[: count * 784].astype(np.float32), data[count * 784 :].astype(np.int64)
    x = torch.from_numpy((pixels.reshape(count, 1, 28, 28) / 255 - 0.1078) / 0.2342)
    y = torch.from_numpy(labels)
    return x[:TRAIN], y[:TRAIN], x[TRAIN:], y[TRAIN:]


def network():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 8, 5, stride=2), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 5, stride=2), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(256, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def batches(rank):
    """Indices of this rank's images in each step; epochs are shuffled, the same on all ranks."""
    generator = torch.Generator().manual_seed(5)
    epochs = 1 + STEPS * BATCH * WORLD // TRAIN
    order = torch.cat([torch.randperm(TRAIN, generator=generator) for _ in range(epochs)])
    return [order[(k * WORLD + rank) * BATCH :][:BATCH] for k in range(STEPS)]


def accuracy(rank, data, spec):
    """Share of right answers on the test images after training."""
    from atomo.torch import State, hook

    x, y, x_test, y_test = data
    lr, momentum, power, least = RECIPES[spec]
    model = network()
    parallel = DistributedDataParallel(model)
    if spec:
        parallel.register_comm_hook(State(spec, model, min_elements=least, threads=1), hook)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr, momentum=momentum)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (1 - step / STEPS) ** power)
    for batch in batches(rank):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(parallel(x[batch]), y[batch]).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return (model(x_test).argmax(1) == y_test).float().mean().item()


def work(rank, meeting, path, found):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=WORLD)
    data = digits(path)
    for spec in RECIPES:
        share = accuracy(rank, data, spec)
        if rank == 0:
            found.put((spec, share))
    dist.destroy_process_group()


class Digits(unittest.TestCase):
    def test_accuracy_is_within_a_point_of_no_compression(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits")
            with open(path, "wb") as out:
                subprocess.run([os.environ["DIGITS"], str(TRAIN), str(TEST)], stdout=out, check=True)
            queue = mp.get_context("spawn").Queue()
            mp.spawn(work, args=(os.path.join(folder, "meeting"), path, queue), nprocs=WORLD)
            found = dict(queue.get() for _ in RECIPES)
        print(found)
        self.assertGreater(found[None], 0.97)
        for spec, share in found.items():
            self.assertGreaterEqual(share, found[None] - 0.01, spec)


if __name__ == "__main__":
    unittest.main()
