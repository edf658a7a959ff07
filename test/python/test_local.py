"""Local steps on 2 and 4 ranks: with one step of plain SGD they are DDP; with atomo-train's pseudo-gradients they give atomo-train's
weights; a run goes on from a checkpoint between two exchanges; and a small transformer learns as well as with an exchange in each step."""

import copy
import math
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    print("skip test_local: needs torch (Debian: python3-torch)")
    sys.exit(0)

import numpy as np
from test_ranks import Net, batch
from test_torch import TRAIN, WAIT, check, h5py, leave, same, same_everywhere

import atomo
from atomo.torch import LocalSteps, State, hook

TRAINED = ("none", "ef:decay=0.95+topk:ratio=0.05", "ef+topk:ratio=0.05,share=leader", "qsgd:bits=4", "ef:decay=0.95+chunktopk:chunk=64,k=4")
EVERY, OUTER = 2, {"outer_lr": 0.7, "outer_momentum": 0.9}


# ---- against DDP and atomo-train ----


def loss_of(model, rank, step):
    return model(batch(rank, step)).square().sum()


def is_ddp(rank, world):
    weights = []
    for local in (True, False):
        model = Net()
        sgd = torch.optim.SGD(model.parameters(), lr=0.001)
        if local:
            trainer, trained = LocalSteps(model, sgd, every=1), model
        else:
            trainer, trained = sgd, DistributedDataParallel(model)
        for step in range(8):
            trainer.zero_grad()
            loss_of(trained, rank, step).backward()
            trainer.step()
        weights.append(copy.deepcopy(model.state_dict()))
    gap = max(float((weights[0][n] - weights[1][n]).abs().max()) for n in weights[0])
    check(gap < 1e-6, world, "one local step is", gap, "off DDP")


def resumes(rank, world):
    """With the codec's residual, the velocity and AdamW's moments; the checkpoint is between two exchanges."""

    def new():
        model = Net()
        return model, LocalSteps(model, torch.optim.AdamW(model.parameters(), lr=0.01), 3, 0.7, 0.9, "ef+topk:ratio=0.1", min_elements=0)

    def go(model, local, steps):
        for step in steps:
            local.zero_grad()
            loss_of(model, rank, step).backward()
            local.step()
        return model.state_dict()

    model, local = new()
    go(model, local, range(7))
    saved = copy.deepcopy((model.state_dict(), local.state_dict()))
    end = go(model, local, range(7, 12))
    check(same_everywhere(end, world), world, "ranks differ")
    model, local = new()
    model.load_state_dict(saved[0])
    local.load_state_dict(saved[1])
    check(same(go(model, local, range(7, 12)), end), world, "goes on differently from a checkpoint")


def trained(folder, world):
    """{spec: [(each worker's pseudo-gradients, weights and velocity after the exchange)]}, of atomo-train."""
    runs, images = {}, os.path.join(folder, "images.h5")
    with h5py.File(images, "w") as file:
        file["x"], file["y"] = np.random.default_rng(1).random((240, 1, 28, 28), np.float32), np.arange(240) % 10
    for spec in TRAINED:
        here = tempfile.mkdtemp(dir=folder)
        run = [os.path.abspath(TRAIN), "run", "-q", "-c", spec, "--network", "softmax", "--workers", str(world), "--dataset", images]
        run += ["--batch-size", "64", "--max-steps", "6", "--local-steps", str(EVERY), "--outer-lr", "0.7", "--outer-momentum", "0.9"]
        run += ["--dump-gradients", "g.h5", "--dump-freq", "1", "--dump-workers", "--train-dir", "steps", "--eval-freq", "2", "-o", "r.csv"]
        subprocess.run(run, cwd=here, check=True)
        runs[spec] = []
        with h5py.File(os.path.join(here, "g.h5")) as dump:
            for step in sorted(dump):
                given = [{n: torch.from_numpy(x[()]) for n, x in dump[step]["worker_%d" % w].items()} for w in range(world)]
                with h5py.File(os.path.join(here, "steps", "step_00" + step[5:] + ".h5")) as saved:
                    after = [{n: torch.from_numpy(saved[what][n][()]) for n in given[0]} for what in ("weights", "velocity")]
                runs[spec].append((given, *after))
    return runs


class Given:
    """The inner optimizer of a worker of atomo-train: after H steps its weights have changed by the pseudo-gradient."""

    def __init__(self, model, changes):
        self.model, self.changes, self.steps = model, changes, 0

    @torch.no_grad()
    def step(self, closure=None):
        self.steps += 1
        if self.steps % EVERY == 0:
            for name, p in self.model.named_parameters():
                p.sub_(self.changes[self.steps // EVERY - 1][name])


def same_as_atomo_train(rank, world, runs):
    for spec, exchanges in runs.items():
        model = nn.Sequential()
        model.add_module("linear", nn.Linear(784, 10))
        with torch.no_grad():  # the weights before the first exchange, after which the velocity is the mean
            for name, p in model.named_parameters():
                p.copy_(exchanges[0][1][name] + 0.7 * (1 + 0.9) * exchanges[0][2][name])
        local = LocalSteps(model, Given(model, [given[rank] for given, _, _ in exchanges]), EVERY, spec=spec, min_elements=0, **OUTER)
        for _, want, velocity in exchanges:
            for _ in range(EVERY):
                local.step()
            for name, p in model.named_parameters():
                gap = float((p.detach() - want[name]).abs().max() / velocity[name].abs().max())
                check(gap < 1e-5, world, spec, name, "differs from atomo-train by", gap)


def work(rank, world, meeting, runs):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=world, timeout=WAIT)
    is_ddp(rank, world)
    resumes(rank, world)
    same_as_atomo_train(rank, world, runs)
    leave(rank, world, meeting)


# ---- a transformer ----

LETTERS, CONTEXT, STEPS, WIDTH = 8, 32, 640, 32


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.token, self.place = nn.Embedding(LETTERS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, LETTERS)
        self.register_buffer("future", nn.Transformer.generate_square_subsequent_mask(CONTEXT))

    def forward(self, x):
        y = self.token(x) + self.place(torch.arange(CONTEXT))
        return self.head(self.blocks(y, mask=self.future))


def texts(seed, count):
    """Texts of a language in which each pair of letters has few followers."""
    chances = np.random.default_rng(0).dirichlet(np.full(LETTERS, 0.1), (LETTERS, LETTERS)).cumsum(-1)
    random, text = np.random.default_rng(seed), np.zeros((count, CONTEXT + 1), int)
    for i in range(2, CONTEXT + 1):
        text[:, i] = (chances[text[:, i - 2], text[:, i - 1]] < random.random(count)[:, None]).sum(1).clip(0, LETTERS - 1)
    return torch.from_numpy(text[:, :-1].copy()), torch.from_numpy(text[:, 1:].copy())


def loss_on(model, seed, count=16):
    x, y = texts(seed, count)
    return nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


def train(rank, world, meeting, out):
    """Writes the losses on new texts with an exchange in every step, and with one in 16 steps."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=world, timeout=WAIT)
    warnings.simplefilter("ignore")
    for local in (False, True):
        model = Transformer()
        adamw = torch.optim.AdamW(model.parameters(), lr=3e-3)
        schedule = torch.optim.lr_scheduler.LambdaLR(adamw, lambda step: min(1, step / 20) * (0.55 + 0.45 * math.cos(math.pi * step / STEPS)))
        if local:
            trainer, trained = LocalSteps(model, adamw, every=16, outer_lr=1.0, outer_momentum=0.5, spec="ef:decay=0.95+chunktopk"), model
        else:
            trainer, trained = adamw, DistributedDataParallel(model)
        for step in range(STEPS):
            trainer.zero_grad()
            loss_on(trained, 1000 * step + rank).backward()
            trainer.step()
            schedule.step()
        with torch.no_grad():
            loss = float(loss_on(model, 999999, 512))
        if rank == 0:
            with open(out, "a") as file:
                print(loss, trainer.state.bytes_sent if local else 0, file=file)
    leave(rank, world, meeting)


class Local(unittest.TestCase):
    def test_what_it_refuses(self):
        model = Net()
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        for wrong, says in (({"every": 0}, "every=0: want 1 to"), ({"every": 2, "outer_momentum": 1}, "outer_momentum=1: want 0 to less")):
            with self.assertRaisesRegex(atomo.UsageError, says):
                LocalSteps(model, sgd, **wrong)

    @unittest.skipUnless(h5py, "needs h5py")
    def test_two_and_four_ranks(self):
        for world in (2, 4):
            with tempfile.TemporaryDirectory() as folder:
                mp.start_processes(work, args=(world, os.path.join(folder, "meeting"), trained(folder, world)), nprocs=world, start_method="fork")

    @unittest.skipUnless("LONG" in os.environ, "trains for a minute: make check-python")
    def test_a_transformer_learns_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "losses")
            mp.start_processes(train, args=(4, os.path.join(folder, "meeting"), out), nprocs=4, start_method="fork")
            with open(out) as file:
                losses = [float(line.split()[0]) for line in file]
        print("losses: an exchange a step %.4f, one in 16 steps %.4f" % tuple(losses))
        self.assertLess(losses[0], 0.8 * math.log(LETTERS))  # it has learned
        self.assertLess(losses[1], 1.03 * losses[0])


if __name__ == "__main__":
    unittest.main()
