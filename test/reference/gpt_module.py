"""gpt_module.py -- GPT-2's architecture as a plain PyTorch module, with the names of nanoGPT's parameters."""
import torch
from torch import nn
from torch.nn import functional


class Norm(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x):
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, heads, width, context, bias):
        super().__init__()
        self.heads, self.context = heads, context
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)
        self.register_buffer("bias", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, x):
        q, k, v = (a.view(len(x), self.context, self.heads, -1).transpose(1, 2) for a in self.c_attn(x).chunk(3, dim=2))
        scores = (q @ k.transpose(2, 3) / q.shape[3] ** 0.5).masked_fill(self.bias == 0, -torch.inf)
        return self.c_proj((scores.softmax(3) @ v).transpose(1, 2).reshape(x.shape))


class Mlp(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width, bias=bias)
        self.c_proj = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, heads, width, context, bias):
        super().__init__()
        self.ln_1, self.attn = Norm(width, bias), Attention(heads, width, context, bias)
        self.ln_2, self.mlp = Norm(width, bias), Mlp(width, bias)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    """Its state has the mask of attention, and the tied weights twice, as nanoGPT's has."""

    def __init__(self, letters, layers, heads, width, context, bias=False):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(letters, width), "wpe": nn.Embedding(context, width),
            "h": nn.ModuleList(Block(heads, width, context, bias) for _ in range(layers)),
            "ln_f": Norm(width, bias)})
        self.lm_head = nn.Linear(width, letters, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens):
        x = self.transformer["wte"](tokens) + self.transformer["wpe"].weight
        for block in self.transformer["h"]:
            x = block(x)
        return self.lm_head(self.transformer["ln_f"](x))
