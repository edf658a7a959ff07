#!/usr/bin/env python3
"""Write gradients to an HDF5 dump that atomo-bench reads: those of PyTorch, JAX, Flax or NumPy.

This file needs nothing else of atomo: it may be copied beside a training script as dump_torch.py.
In a training loop of PyTorch, after loss.backward() and before the optimizer's step:

    from atomo.dump import GradientDump         or: from dump_torch import GradientDump

    with GradientDump("run.h5", model, model_name="ResNet-18", dataset="CIFAR-10", lr=0.1, batch_size=128) as dump:
        for step, (x, y) in enumerate(loader, 1):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            if step in (1, 100, 1000):
                dump.write(step, loss=loss.item(), epoch=epoch)
            optimizer.step()

For several workers each worker has its own group. One process writes the file; it passes the other workers' gradients by name:

    dump.write(step, worker=0, loss=loss.item())
    dump.write(step, worker=1, gradients={"conv1.weight": tensor, ...})

Without PyTorch, gradients are arrays by name, nested dictionaries (the trees of JAX and Flax) among them; their names are joined
by dots:

    with GradientDump("run.h5", model_name="MLP", lr=0.1) as dump:
        dump.write(step, gradients={"Dense_0": {"kernel": array, "bias": array}}, loss=loss)

Kernels of convolutions in Keras, TensorFlow and Flax are height x width x in x out. GradientDump("run.h5", layout="hwio") writes this
down, so that atomo-bench reads them as out x in x height x width, as PyTorch has them.

After every write the file under its name is complete and closed, whatever ends the process then. A hidden file beside it takes the
next step, so while the block lasts the dump takes its space twice. GradientDump("run.h5", append=True) goes on with a file that is
there; what it writes replaces tensors of the same step and name.

    python3 dump_torch.py --demo out.h5      trains a tiny network and dumps three steps of two workers
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import Any

try:
    import h5py
    import numpy as np
except ImportError as missing:
    advice = "%s; install it: pip install h5py numpy, or apt-get install python3-h5py" % missing
    if __name__ == "__main__":
        sys.exit("dump_torch.py: " + advice)
    raise ImportError(advice) from None
try:
    from atomo.codec import as_floats
except ImportError:  # this file stands alone

    def as_floats(gradient, name=""):  # type: ignore[misc]
        """A dense tensor of PyTorch, or what NumPy understands, of real numbers, as float32."""
        if hasattr(gradient, "detach"):
            gradient = gradient.detach().cpu()
            gradient = (gradient.float() if gradient.is_floating_point() else gradient).numpy()
        if np.ma.is_masked(gradient) or not np.can_cast(np.asarray(gradient).dtype, np.float32, "same_kind"):
            raise ValueError("%s: %s: want a dense array of real numbers" % (name, type(gradient).__name__))
        return np.asarray(gradient, np.float32)


try:
    import torch
    from torch import nn
except ImportError:
    torch = nn = None  # type: ignore[assignment]

SCHEMA = "atomo-gradients/1"


def _norms():
    names = ("LayerNorm", "GroupNorm", "LocalResponseNorm", "RMSNorm")
    return tuple(getattr(nn, name) for name in names if hasattr(nn, name)) + (nn.modules.batchnorm._NormBase,)


def kind_of(module, name, tensor):
    """conv, fc, norm, bias, embedding or other: by the module that owns the parameter."""
    if isinstance(module, _norms()):
        return "norm"
    if name.endswith("bias") or "bias" in name.split(".")[-1]:
        return "bias"
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return "embedding"
    if isinstance(module, nn.modules.conv._ConvNd):
        return "conv"
    return {2: "fc", 4: "conv", 1: "norm"}.get(tensor.dim(), "other")


def kinds(model):
    """Parameter name -> kind, in the order of model.named_parameters()."""
    found = {}
    owners = {}
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if id(p) not in owners or isinstance(module, nn.Embedding):  # an embedding tied to output weights is one
                owners[id(p)] = module
    for name, parameter in model.named_parameters():
        found[name] = kind_of(owners[id(parameter)], name, parameter)
    return found


def _branches(value):
    """(name, value) of each branch of a dictionary, or of a list that holds arrays or dictionaries; None: the value is a leaf."""
    if hasattr(value, "items"):
        return value.items()
    if isinstance(value, (list, tuple)) and any(v is None or getattr(v, "shape", ()) or _branches(v) is not None for v in value):
        return zip(getattr(value, "_fields", range(len(value))), value)
    return None


def flatten(tree, prefix=""):
    """(name, array) of every leaf of nested dictionaries and lists; None is no leaf."""
    for name, value in _branches(tree) or ():
        if _branches(value) is not None:
            yield from flatten(value, "%s%s." % (prefix, name))
        elif value is not None:
            yield prefix + str(name), value


class GradientDump:
    """An HDF5 file of gradients: one group per step, one dataset per parameter, float32.

    Keyword arguments become attributes of the file: model_name, dataset, lr, batch_size, seed and whatever else is
    worth knowing. Values are numbers or text. Without a model of PyTorch, every write names its gradients. Without append=True the
    first write replaces a file of the same name.
    """

    def __init__(
        self, path: Any, model: Any = None, model_name: str | None = None, compress: bool = False, append: bool = False, **facts: Any
    ) -> None:
        self.path = os.path.realpath(path)
        self.model = model
        self.compress = compress
        self.kinds = kinds(model) if model is not None else {}
        folder, name = os.path.split(self.path)
        self.temporary: Any = os.path.join(folder, ".%s.%d.tmp" % (name, os.getpid()))
        self.published = False  # this process wrote the file
        self.missing: Any = None  # the last write, where the hidden file does not have it yet
        facts = {
            "schema": SCHEMA,
            "model": model_name or (type(model).__name__ if model is not None else None),
            **facts,
        }
        if model is not None:
            facts.setdefault("framework", "PyTorch " + torch.__version__)
            facts.setdefault("n_params", sum(p.numel() for p in model.parameters()))
        if append and os.path.exists(self.path):
            shutil.copyfile(self.path, self.temporary)
        with self._open("a") as file:
            self._describe(file, facts)

    def _open(self, mode):
        # HDF5's 1.10 format has checksums of its metadata
        new = {} if os.path.exists(self.temporary) else {"track_order": True}
        return h5py.File(self.temporary, mode, libver=("v110", "v110"), **new)

    @staticmethod
    def _describe(thing, facts):
        for name, value in facts.items():
            if value is not None:
                thing.attrs[name] = value

    def _group(self, parent, name, facts):
        group = parent[name] if name in parent else parent.create_group(name, track_order=True)
        self._describe(group, {k: v for k, v in facts.items() if k not in group.attrs})
        return group

    def write(self, step: int, worker: int | None = None, gradients: Any = None, **facts: Any) -> None:
        """Writes the gradients of the model's parameters (p.grad), or `gradients`: tensors or arrays by name.

        `facts` (loss, epoch, ...) become attributes of the step's group, or of the worker's where one is named.
        Parameters without a gradient are left out.
        """
        if self.temporary is None:
            raise ValueError("%s: the dump is closed" % self.path)
        if gradients is None and self.model is None:
            raise ValueError("a dump without a model needs gradients={name: array}")
        if gradients is None:
            gradients = {n: p.grad for n, p in self.model.named_parameters() if p.grad is not None}
        write = (step, worker, {name: as_floats(g, name).copy() for name, g in flatten(gradients)}, facts)
        with self._open("r+") as file:
            if self.missing:
                self._write_step(file, *self.missing)
            self.missing = None
            self._write_step(file, *write)
        self._publish(write)

    def _write_step(self, file, step, worker, gradients, facts):
        group = self._group(file, "step_%06d" % step, {"step": step, **(facts if worker is None else {})})
        if worker is not None:
            group = self._group(group, "worker_%d" % worker, {"step": step, "worker": worker, **facts})
        for name, values in gradients.items():
            self._write_tensor(group, name, values)

    def _publish(self, write=None):
        """Gives the hidden file the dump's name, and its place to the one that had the name, which lacks the last write."""
        older = self.temporary + ".older"
        try:
            if not self.published:
                raise OSError("not a file of this process")
            os.link(self.path, older)
            os.replace(self.temporary, self.path)
            os.replace(older, self.temporary)
            self.missing = write
        except OSError:  # the first time, and where a file system has no hard links
            os.replace(self.temporary, self.path)
            shutil.copyfile(self.path, self.temporary)
        self.published = True

    def _write_tensor(self, group, name, values):
        if name in group:
            del group[name]
        options = {}
        if self.compress and values.size >= 1024:  # chunks take space, so small arrays are not compressed
            rows = max(1, (1 << 18) // max(1, values.size // values.shape[0]))
            options = dict(chunks=(min(rows, values.shape[0]),) + values.shape[1:], shuffle=True, compression=1)
        dataset = group.create_dataset(name, data=values, track_times=False, **options)
        if self.model is not None:  # without a model, atomo-bench guesses the kind from name and shape
            dataset.attrs["kind"] = self.kinds.get(name, "other")

    def close(self) -> None:
        """Flushes the file to the disk and removes the hidden one."""
        if self.temporary is None:
            return
        if not self.published:
            self._publish()
        os.unlink(self.temporary)
        self.temporary = None
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def abandon(self) -> None:
        """Removes the hidden file. What was written stays."""
        if self.temporary is not None:
            os.unlink(self.temporary)
        self.temporary = None

    def __enter__(self) -> GradientDump:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


# ---- demo and self-test ----


def demo_model():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 9, 10)
    )


def demo(path, workers=2, steps=(1, 10, 20)):
    """Learns to tell the quadrant of the brightest pixel; checks what it wrote."""
    torch.manual_seed(1)
    model = demo_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    expected = {}
    with GradientDump(path, model, model_name="demo", dataset="quadrants", lr=0.1, batch_size=32, seed=1) as dump:
        for step in range(1, max(steps) + 1):
            total: dict[str, Any] = {}
            for worker in range(workers):
                x = torch.rand(32, 1, 8, 8)
                peak = x.flatten(1).argmax(1)
                y = (peak // 8 >= 4).long() * 2 + (peak % 8 >= 4).long()
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(x), y)
                loss.backward()
                if step in steps:
                    dump.write(step, worker=worker, loss=loss.item())
                for name, parameter in model.named_parameters():
                    total[name] = total.get(name, 0) + parameter.grad / workers
                    if step in steps:
                        expected["step_%06d/worker_%d/%s" % (step, worker, name)] = parameter.grad.numpy().copy()
            for name, parameter in model.named_parameters():
                parameter.grad = total[name]
            optimizer.step()
    check(path, model, expected)


def check(path, model, expected):
    found = {}
    with h5py.File(path, "r") as file:
        assert file.attrs["schema"] == SCHEMA
        file.visititems(lambda name, thing: found.update({name: thing[()]}) if hasattr(thing, "shape") else None)
        assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
        for name, value in expected.items():
            assert found[name].dtype == np.float32 and np.array_equal(found[name], value), name
            assert file[name].attrs["kind"] == kinds(model)[name.split("/")[-1]]
    assert list(kinds(model).values()) == ["conv", "bias", "norm", "norm", "fc", "bias"]
    print("%s: %d tensors, checked" % (path, len(found)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--demo", metavar="FILE.h5", required=True, help="train a tiny network and dump its gradients")
    if torch is None:
        sys.exit("--demo needs PyTorch: apt install python3-torch, or pip install torch")
    demo(parser.parse_args().demo)
    return 0


if __name__ == "__main__":
    sys.exit(main())
