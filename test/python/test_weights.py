#!/usr/bin/env python3
"""test_weights.py -- the weights of a PyTorch module with nanoGPT's names, read from a file as atomo-train --weights reads
them: the same outputs and gradients as PyTorch in double precision, and what --weights refuses."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
    from torch.nn import functional, init
except ImportError:
    print("skip test_weights: needs torch (Debian: python3-torch)")
    sys.exit(0)

sys.path.append(str(pathlib.Path(__file__).parent.parent / "reference"))
from gpt_module import Gpt  # noqa: E402

LETTERS, CONTEXT, LAYERS, HEADS, WIDTH, WINDOWS = 11, 20, 2, 2, 24, 3
NETWORK = f"gpt:layers={LAYERS},heads={HEADS},width={WIDTH},context={CONTEXT},bias="
SHAPE = (LETTERS, LAYERS, HEADS, WIDTH, CONTEXT)
TRAIN = os.path.join(os.environ["BIN"], "atomo-train")


def compare(bias, folder):
    torch.manual_seed(3)
    model = Gpt(*SHAPE, bias)
    for parameter in model.parameters():  # so large that attention is far from uniform
        init.normal_(parameter, std=0.3)
    path = os.path.join(folder, "weights.npz")
    np.savez(path, **{"_orig_mod." + name: tensor.numpy() for name, tensor in model.state_dict().items()})
    tokens = np.random.default_rng(4).integers(0, LETTERS, (2, WINDOWS, CONTEXT)).astype(np.uint32)
    run = [os.environ["GPT_PASS"], NETWORK + ("on" if bias else "off"), path, str(LETTERS), str(CONTEXT)]
    out = subprocess.run(run, input=tokens.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    model.double()
    x, y = (torch.from_numpy(t.astype(np.int64)) for t in tokens)
    outputs = model(x)
    loss = functional.cross_entropy(outputs.view(-1, LETTERS), y.view(-1))
    loss.backward()
    count = WINDOWS * CONTEXT * LETTERS
    assert abs(np.frombuffer(out, count=1)[0] / loss.item() - 1) < 1e-5
    want = (outputs - outputs[:, :, :1]).detach().numpy().ravel()
    worst = np.abs(np.frombuffer(out, offset=8, count=count) - want).max() / np.abs(want).max()
    assert worst < 1e-5, f"outputs differ by {worst:.1e}"
    at = 8 + 8 * count
    for name, parameter in model.named_parameters():
        want = parameter.grad.numpy().ravel()
        got = np.frombuffer(out, "<f4", offset=at, count=want.size)
        at += got.nbytes
        apart = np.linalg.norm(got - want) / np.linalg.norm(want)
        assert apart < 1e-5, f"{name}: the gradient differs by {apart:.1e}"
        worst = max(worst, apart)
    assert at == len(out)
    print(f"bias {bias}: outputs and {len(list(model.parameters()))} gradients within {worst:.1e}")


def refused(folder):
    """What --weights says of files that do not fit."""
    model = Gpt(*SHAPE, True)
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    fits = "--network " + NETWORK + "on"
    wrong = {
        "no tensor transformer.wpe.weight": (fits, {"transformer.wpe.weight": None}),
        "transformer.ln_f.bias: 23, want 24": (fits, {"transformer.ln_f.bias": np.zeros(23, np.float32)}),
        "element 1 is not finite": (fits, {"transformer.ln_f.bias": np.array([0, np.nan] + [0] * 22, np.float32)}),
        "lm_head.weight differs": (fits, {"lm_head.weight": state["lm_head.weight"] + 1}),
        ": no tensor of the network": (fits.replace("bias=on", "bias=off"), {}),
    }
    text = os.path.join(folder, "input.txt")
    with open(text, "w") as file:
        file.write("abcdefghijk" * 400)
    for words, (network, change) in [(None, (fits, {})), *wrong.items()]:
        path = os.path.join(folder, "w.npz")
        np.savez(path, **{name: array for name, array in {**state, **change}.items() if array is not None})
        done = subprocess.run([TRAIN, "run", *network.split(), "--dataset", "text", "--data-dir", text, "--weights", path,
                               "--batch-size", "2", "--max-steps", "1", "-q"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        assert (done.returncode == 0) == (words is None) and (words or "") in done.stderr, (words, done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    compare(False, temporary)
    compare(True, temporary)
    refused(temporary)
print("OK")
