"""gpt_torch.py -- PyTorch's loss and gradients of a small gpt, with which test_gpt.c compares.

    gpt_torch.py TEST_GPT > test/reference/gpt.txt

TEST_GPT is the program built from test_gpt.c. Its option --write writes a file of tokens, labels and weights as
float32. This script computes in float64. The first line of the output is the loss and the number of tokens whose
largest output is their label. Each other line is

    tensor norm sum g[0] g[n / 3] g[n - 1]      (of the gradient)
"""
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, layer_norm, linear

WINDOWS, TOKENS, LETTERS, LAYERS, HEADS, WIDTH = 3, 70, 7, 2, 2, 12


def shapes():
    yield "wte.weight", (LETTERS, WIDTH)
    yield "wpe.weight", (TOKENS, WIDTH)
    for i in range(LAYERS):
        for part, shape in (("ln_1", (WIDTH,)), ("attn.c_attn", (3 * WIDTH, WIDTH)), ("attn.c_proj", (WIDTH, WIDTH)),
                            ("ln_2", (WIDTH,)), ("mlp.c_fc", (4 * WIDTH, WIDTH)), ("mlp.c_proj", (WIDTH, 4 * WIDTH))):
            yield f"h.{i}.{part}.weight", shape
            yield f"h.{i}.{part}.bias", shape[:1]
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


with tempfile.NamedTemporaryFile() as file:
    subprocess.run([sys.argv[1], "--write", file.name], check=True)
    numbers = torch.from_numpy(numpy.fromfile(file.name, dtype="<f4").astype(numpy.float64))
count, p, at = WINDOWS * TOKENS, {}, 2 * WINDOWS * TOKENS
x, y = numbers[:count].long().reshape(WINDOWS, TOKENS), numbers[count:2 * count].long()
for name, shape in shapes():
    size = int(numpy.prod(shape))
    p[name] = nn.Parameter(numbers[at:at + size].reshape(shape).clone())
    at += size
assert at == len(numbers)


def both(module):
    return p[module + ".weight"], p[module + ".bias"]


def heads(v):
    return v.reshape(WINDOWS, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)


future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
v = p["wte.weight"][x] + p["wpe.weight"]
for i in range(LAYERS):
    q, k, values = linear(layer_norm(v, (WIDTH,), *both(f"h.{i}.ln_1")), *both(f"h.{i}.attn.c_attn")).split(WIDTH, dim=2)
    scores = heads(q) @ heads(k).transpose(2, 3) / (WIDTH // HEADS) ** 0.5
    mixed = scores.masked_fill(future, -torch.inf).softmax(3) @ heads(values)
    v = v + linear(mixed.transpose(1, 2).reshape(WINDOWS, TOKENS, WIDTH), *both(f"h.{i}.attn.c_proj"))
    inner = gelu(linear(layer_norm(v, (WIDTH,), *both(f"h.{i}.ln_2")), *both(f"h.{i}.mlp.c_fc")))
    v = v + linear(inner, *both(f"h.{i}.mlp.c_proj"))
outputs = (layer_norm(v, (WIDTH,), *both("ln_f")) @ p["wte.weight"].T).reshape(count, LETTERS)
loss = cross_entropy(outputs, y)
loss.backward()
print(f"loss {loss.item():.12g} correct {(outputs.argmax(1) == y).sum().item()}")
for name, _ in shapes():
    g = p[name].grad.flatten()
    print(f"transformer.{name}", *(f"{v.item():.9g}" for v in (g.norm(), g.sum(), g[0], g[len(g) // 3], g[-1])))
