#!/usr/bin/env python3
"""big_networks_torch.py -- loss and gradients of the CIFAR networks by PyTorch in double precision.

    big_networks_torch.py > big_networks.h

Weights, images and dropout masks are made from hashed integers, as in test_big_networks.c. Of every gradient and
running statistic, the output has the norm and the inner product with a fixed pseudorandom vector. On standard error,
the script prints the differences to PyTorch in single precision.
"""
import re
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from draws import key_below, mix

IMAGES, CLASSES, DROP = 4, 10, 10  # DROP: the use for which dropout draws random words
ADDRESS = (5, 0, 0, 0, 0)


class Dropout(nn.Module):
    """Dropout with p = 1/2; the layer's place in the network selects the random words."""

    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x):
        if not self.training:
            return x
        a, b = key_below(ADDRESS, self.index, DROP, 0)[:2]
        keep = [mix((i * 0x9E3779B9 + a) & 0xFFFFFFFF, b) >= 1 << 31 for i in range(x.numel())]
        return 2 * x * torch.tensor(keep).reshape(x.shape).to(x)


def conv_norm(i, o, size, stride):
    return nn.Conv2d(i, o, size, stride, size // 2, bias=False), nn.BatchNorm2d(o)


class Block(nn.Module):
    def __init__(self, i, width, stride, bottleneck):
        super().__init__()
        self.out = 4 * width if bottleneck else width
        shapes = ([(i, width, 1, 1), (width, width, 3, stride), (width, self.out, 1, 1)] if bottleneck else
                  [(i, width, 3, stride), (width, width, 3, 1)])
        self.count = len(shapes)
        for k, shape in enumerate(shapes):
            conv, norm = conv_norm(*shape)
            setattr(self, f"conv{k + 1}", conv)
            setattr(self, f"bn{k + 1}", norm)
        self.shortcut = nn.Sequential()
        if stride != 1 or i != self.out:
            self.shortcut = nn.Sequential(*conv_norm(i, self.out, 1, stride))

    def forward(self, x):
        v = x
        for k in range(1, self.count + 1):
            v = getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(v))
            v = F.relu(v) if k < self.count else v
        return F.relu(v + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, blocks, bottleneck):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(3, 64, 3, 1)
        i = 64
        for stage, count in enumerate(blocks):
            stack = []
            for k in range(count):
                stack.append(Block(i, 64 << stage, 2 if stage and not k else 1, bottleneck))
                i = stack[-1].out
            setattr(self, f"layer{stage + 1}", nn.Sequential(*stack))
        self.linear = nn.Linear(i, CLASSES)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for stage in range(1, 5):
            x = getattr(self, f"layer{stage}")(x)
        return self.linear(F.avg_pool2d(x, 4).flatten(1))


class NarrowBlock(nn.Module):
    """A residual block of He et al. 2016, section 4.2: its shortcut has no parameters (option A)."""

    def __init__(self, i, width, stride):
        super().__init__()
        self.stride, self.new = stride, width - i
        self.conv1, self.bn1 = conv_norm(i, width, 3, stride)
        self.conv2, self.bn2 = conv_norm(width, width, 3, 1)

    def forward(self, x):
        shortcut = F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, 0, self.new))
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + shortcut)


class NarrowResNet(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.conv1, self.bn1 = conv_norm(3, 16, 3, 1)
        i = 16
        for stage in range(3):
            width = 16 << stage
            stack = [NarrowBlock(i if k == 0 else width, width, 2 if stage and not k else 1) for k in range(blocks)]
            setattr(self, f"layer{stage + 1}", nn.Sequential(*stack))
            i = width
        self.linear = nn.Linear(i, CLASSES)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for stage in range(1, 4):
            x = getattr(self, f"layer{stage}")(x)
        return self.linear(F.adaptive_avg_pool2d(x, 1).flatten(1))


class VGG(nn.Module):
    def __init__(self, plan):
        super().__init__()
        features, i = [], 3
        for o in plan:
            features += ([nn.Conv2d(i, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU()] if o else [nn.MaxPool2d(2)])
            i = o or i
        self.features = nn.Sequential(*features)
        first = len(features)
        self.classifier = nn.Sequential(Dropout(first), nn.Linear(512, 512), nn.ReLU(), Dropout(first + 3),
                                        nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, CLASSES))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


NETWORKS = {"resnet18": lambda: ResNet([2, 2, 2, 2], False),
            "resnet50": lambda: ResNet([3, 4, 6, 3], True),
            "resnet20": lambda: NarrowResNet(3),
            "vgg11": lambda: VGG([64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0])}


def unit(n, seed):
    """Returns reference_unit of vectors.h for 0 .. n-1."""
    h = np.arange(n, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(seed * 2246822519 & 0xFFFFFFFF)
    h ^= h >> np.uint32(15)
    h *= np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    h *= np.uint32(3266489917)
    h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)) * 2.0 ** -24


def fill(net):
    for t, (name, w) in enumerate(net.named_parameters()):
        u = unit(w.numel(), t)
        if w.dim() > 1:
            u = (2 * u - 1) * np.sqrt(6.0 / (w.numel() // w.shape[0]))
        else:
            u = 0.2 * (2 * u - 1) if name.endswith("bias") else 0.25 + 0.5 * u
        w.data = torch.tensor(u.astype(np.float32)).reshape(w.shape).to(w.dtype)


def summary(x):
    x = x.detach().double().flatten().numpy()
    return np.linalg.norm(x), x @ (2 * unit(x.size, 7) - 1)


def run(make, dtype):
    net = make().to(dtype)
    fill(net)
    x = torch.tensor(2 * (2 * unit(IMAGES * 3072, 1000) - 1)).to(dtype).reshape(IMAGES, 3, 32, 32)
    labels = torch.arange(IMAGES) * 7 % CLASSES
    loss = F.cross_entropy(net(x), labels)
    loss.backward()
    rows = [(name, *summary(w.grad)) for name, w in net.named_parameters()]
    rows += [(name, *summary(w)) for name, w in net.named_buffers() if "running" in name]
    net.eval()
    with torch.no_grad():
        return loss.item(), F.cross_entropy(net(x), labels).item(), rows


def main():
    for name, make in NETWORKS.items():
        loss, score, rows = run(make, torch.float64)
        single_loss, single_score, single = run(make, torch.float32)
        off = max(max(abs(s[1] - r[1]), abs(s[2] - r[2])) / r[1] for s, r in zip(single, rows) if r[1] > 1e-6)
        print(f"{name}: loss {loss:.9g}, single precision off by {abs(single_loss - loss):.2g}, score {score:.9g} "
              f"{abs(single_score - score):.2g}, rows {off:.2g} of their norms", file=sys.stderr)
        print(f"static const double {name}_loss = {loss:.12g}, {name}_score = {score:.12g};")
        print(f"static const Known {name}_known[] = {{")
        for what, norm, product in (row for row in rows if not re.match(r"layer\d\.[1-9]", row[0])):
            print(f'    {{"{what}", {norm:.9g}, {product:.9g}}},')
        print("};")


if __name__ == "__main__":
    main()
