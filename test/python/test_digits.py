"""A small CNN trains on digits of 14 x 14 pixels, by two processes over gloo, to within a point of its accuracy without compression, with each of three
codecs. Each codec has the learning rate that suits it: docs/python.md says how to find one. test_torch.py holds the hook on four ranks
against the sum of their gradients, test/train/test_train_digits.c trains with svd.

DIGITS names the program that writes the data set (export_digits.c).
"""

import datetime
import os
import subprocess
import sys
import tempfile
import unittest

# The matrices are too small for more threads, and OpenBLAS's threads take time from the other ranks while they wait.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import numpy as np
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("skip test_digits: needs torch (Debian: python3-torch)")
    sys.exit(0)

RANKS = 2
TRAIN, TEST, BATCH, STEPS = 12000, 2000, 100, 200  # BATCH: images of a step, on all ranks together
WAIT = datetime.timedelta(minutes=5)  # how long a rank waits for another one
# spec: (first learning rate, momentum, min_elements); every rate falls to 0 on a straight line
RECIPES = {
    None: (0.1, 0.9, 1000),
    "ef+topk:ratio=0.01": (0.5, 0.5, 1000),
    "qsgd": (0.1, 0.9, 1000),
    "sign": (0.01, 0.5, 0),
}


def digits(path):
    """Images (train, 1, 14, 14), labels, and those of the test."""
    count = TRAIN + TEST
    data = np.fromfile(path, np.uint8)
    pixels, labels = data[: count * 784].astype(np.float32), data[count * 784 :].astype(np.int64)
    x = torch.from_numpy((pixels.reshape(count, 1, 14, 2, 14, 2).mean((3, 5)) / 255 - 0.1078) / 0.2342)
    y = torch.from_numpy(labels)
    return x[:TRAIN], y[:TRAIN], x[TRAIN:], y[TRAIN:]


def network():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 12, 5, stride=2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(300, 48), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(48, 10))


def batches():
    """Indices of this rank's images in each step. Epochs are shuffled, the same for any number of ranks."""
    generator = torch.Generator().manual_seed(5)
    epochs = 1 + STEPS * BATCH // TRAIN
    order = torch.cat([torch.randperm(TRAIN, generator=generator) for _ in range(epochs)])
    return [order[k * BATCH :][:BATCH][dist.get_rank() :: RANKS] for k in range(STEPS)]


def accuracy(data, spec):
    """Share of right answers on the test images after training."""
    from atomo.torch import State, hook

    x, y, x_test, y_test = data
    lr, momentum, least = RECIPES[spec]
    model = network()
    parallel = DistributedDataParallel(model)
    if spec:
        parallel.register_comm_hook(State(spec, model, min_elements=least, threads=1), hook)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr, momentum=momentum)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / STEPS)
    for batch in batches():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(parallel(x[batch]), y[batch]).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return (model(x_test).argmax(1) == y_test).float().mean().item()


def work(rank, meeting, data, found):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=RANKS, timeout=WAIT)
    for spec in RECIPES:
        share = accuracy(data, spec)
        if rank == 0:
            found.put((spec, share))
    dist.destroy_process_group()


class Digits(unittest.TestCase):
    def test_accuracy_is_within_a_point_of_no_compression(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits")
            with open(path, "wb") as out:
                subprocess.run([os.environ["DIGITS"], str(TRAIN), str(TEST)], stdout=out, check=True)
            queue = mp.get_context("fork").Queue()
            mp.start_processes(work, args=(os.path.join(folder, "meeting"), digits(path), queue), nprocs=RANKS, start_method="fork")
            shares = dict(queue.get() for _ in RECIPES)
        print(shares)
        plain = shares[None]
        self.assertGreater(plain, 0.95)
        for spec, share in shares.items():
            self.assertGreaterEqual(share, plain - 0.01, spec)


if __name__ == "__main__":
    unittest.main()
