#!/usr/bin/env python3
"""test_weights.py -- the weights of a PyTorch module with nanoGPT's names, read from a file as atomo-train --weights reads
them: the same outputs and gradients as PyTorch in double precision, and what --weights refuses."""
import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    print("skip test_weights: needs torch (Debian: python3-torch)")
    sys.exit(0)

LETTERS, CONTEXT, LAYERS, HEADS, WIDTH, WINDOWS = 11, 20, 2, 2, 24, 3
NETWORK = f"gpt:layers={LAYERS},heads={HEADS},width={WIDTH},context={CONTEXT},bias="
TRAIN = os.path.join(os.environ["BIN"], "atomo-train")


class Norm(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.bias = nn.Parameter(torch.zeros(WIDTH)) if bias else None

    def forward(self, x):
        return functional.layer_norm(x, (WIDTH,), self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=bias)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=bias)
        self.register_buffer("bias", torch.tril(torch.ones(CONTEXT, CONTEXT)).view(1, 1, CONTEXT, CONTEXT))

    def forward(self, x):
        q, k, v = (a.view(len(x), CONTEXT, HEADS, -1).transpose(1, 2) for a in self.c_attn(x).split(WIDTH, dim=2))
        scores = (q @ k.transpose(2, 3) / (WIDTH / HEADS) ** 0.5).masked_fill(self.bias == 0, -torch.inf)
        return self.c_proj((scores.softmax(3) @ v).transpose(1, 2).reshape(x.shape))


class Mlp(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.c_fc = nn.Linear(WIDTH, 4 * WIDTH, bias=bias)
        self.c_proj = nn.Linear(4 * WIDTH, WIDTH, bias=bias)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = Norm(bias), Attention(bias), Norm(bias), Mlp(bias)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    """With the names of nanoGPT's model.py: its state has the mask of attention, and the tied weights twice."""

    def __init__(self, bias):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(LETTERS, WIDTH), "wpe": nn.Embedding(CONTEXT, WIDTH),
            "h": nn.ModuleList(Block(bias) for _ in range(LAYERS)), "ln_f": Norm(bias)})
        self.lm_head = nn.Linear(WIDTH, LETTERS, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens):
        x = self.transformer["wte"](tokens) + self.transformer["wpe"].weight
        for block in self.transformer["h"]:
            x = block(x)
        return self.lm_head(self.transformer["ln_f"](x))


def compare(bias, folder):
    torch.manual_seed(3)
    model = Gpt(bias)
    for parameter in model.parameters():  # so large that attention is far from uniform
        nn.init.normal_(parameter, std=0.3)
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
    model = Gpt(True)
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
