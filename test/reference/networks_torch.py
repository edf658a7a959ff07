"""networks_torch.py -- PyTorch's loss and gradients of the small networks, with which test_networks.c compares.

    networks_torch.py TEST_NETWORKS > test/reference/networks.txt

TEST_NETWORKS is the program built from test_networks.c. For every network, its option --write writes a file of the
images, then the weights in PyTorch's order, as float32; labels are i * 7 % 10. This script computes in float64. A
line of the output is

    network loss correct
    network/tensor norm sum g[0] g[n / 3] g[n - 1]      (of the gradient)
"""
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn


def softmax():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), ["linear"]


def fc():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 800), nn.ReLU(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10),
                         nn.Sigmoid()), ["fc1", "fc2", "fc3"]


def lenet():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(800, 500), nn.Linear(500, 10)), ["conv1", "conv2", "fc1", "fc2"]


def cnn():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(8, 16, 3, padding=1),
                         nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(784, 10)), ["conv1", "conv2", "fc"]


IMAGES = 20
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], "--write", folder], check=True)
    for make in softmax, fc, lenet, cnn:
        net, modules = make()
        net.double()
        numbers = torch.from_numpy(numpy.fromfile(f"{folder}/{make.__name__}", dtype="<f4").astype(numpy.float64))
        images, at = numbers[:IMAGES * 784].reshape(IMAGES, 1, 28, 28), IMAGES * 784
        with torch.no_grad():
            for p in net.parameters():
                p.copy_(numbers[at:at + p.numel()].reshape(p.shape))
                at += p.numel()
        assert at == len(numbers)
        labels = torch.arange(IMAGES) * 7 % 10
        outputs = net(images)
        loss = nn.functional.cross_entropy(outputs, labels)
        loss.backward()
        print(f"{make.__name__} {loss.item():.12g} {(outputs.argmax(1) == labels).sum().item()}")
        names = [f"{module}.{part}" for module in modules for part in ("weight", "bias")]
        for name, p in zip(names, net.parameters(), strict=True):
            g = p.grad.flatten()
            picked = [g.norm(), g.sum(), g[0], g[len(g) // 3], g[-1]]
            print(f"{make.__name__}/{name}", *(f"{v.item():.9g}" for v in picked))
