"""Training on Ray: a parameter server and workers as actors, with any codec, and a transport between actors.

    run = atomo.ray.Run(Digits, "ef+topk:ratio=0.01", workers=4)      # Digits: a Task
    for _ in range(100):
        print(run.step())
    run.save("run.pt")

docs/ray.md has a whole program, and a recipe for Ray Train.
"""

from __future__ import annotations

import asyncio
import collections
import functools
import os
from typing import Any, Callable

import numpy as np
import ray
import ray.exceptions
import torch

from ._library import Error, UsageError, integer, seed_of
from ._wire import pack, unpack
from .codec import Codec, Tensor, adds, as_floats


class Task:
    """What every actor trains. A subclass makes `self.model` and `self.optimizer` in its __init__, and has `loss`. The server makes one
    too, and its first weights are those of all. `self.schedule` may be one of the optimizer's learning rate, by steps."""

    model: Any
    optimizer: Any
    schedule: Any = None

    def __init__(self, worker: int, workers: int) -> None:
        """worker: 0 to workers - 1, which says what data are this worker's; of the server -1."""
        raise NotImplementedError

    def loss(self, step: int) -> torch.Tensor:
        """The loss of this worker's batch; steps count from 1."""
        raise NotImplementedError

    def gradients(self, step: int) -> tuple[float, dict[str, Any]]:
        """The loss and the gradients by name."""
        self.model.zero_grad()
        loss = self.loss(step)
        loss.backward()
        return float(loss.detach()), {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in self.parameters().items()}

    def apply(self, means: dict[str, Any]) -> None:
        """A step with the mean gradients."""
        for name, p in self.parameters().items():
            p.grad = torch.from_numpy(means[name]).to(p.device, p.dtype)
        self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()

    def parameters(self) -> dict[str, Any]:
        return {name: p for name, p in self.model.named_parameters() if p.requires_grad}

    def _parts(self) -> dict[str, Any]:
        parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule}
        return {name: part for name, part in parts.items() if part is not None}

    def state_dict(self) -> dict[str, Any]:
        return {name: part.state_dict() for name, part in self._parts().items()}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        missing = self._parts().keys() - saved.keys()
        if missing:
            raise UsageError("the checkpoint has no %s, which the Task has" % ", ".join(sorted(missing)))
        for name, part in self._parts().items():
            part.load_state_dict(saved[name])


class _Side:
    """What server and workers have in common: a Tensor for each parameter, and the rounds of a step. The server is a worker more, that
    sends nothing: all take the same payloads, and compute the same weights."""

    def __init__(self, task: Callable[[int, int], Task], spec: str, worker: int, workers: int, seed: int, min_elements: int, threads: int) -> None:
        torch.set_num_threads(threads)
        self.task, self.workers = task(worker, workers), workers
        at = (worker, workers) if worker >= 0 else (workers, workers + 1)
        self._settings = (Codec(spec), min_elements, seed, *at, threads)
        self._open()
        self.zeros = {name: np.zeros(t.shape, np.float32) for name, t in self.tensors.items()}

    def _open(self) -> None:
        codec, least, seed, worker, workers, threads = self._settings
        self.tensors: dict[str, Tensor] = {}
        for name, p in self.task.parameters().items():
            kind = codec if p.numel() >= least else Codec("none")
            self.tensors[name] = kind.tensor(tuple(p.shape), name, seed, worker, workers, threads)

    def _in(self, turn: int) -> list[Tensor]:
        return [t for t in self.tensors.values() if turn < t.codec.rounds]

    def _begin(self, step: int, senders: int, learned: Any) -> None:
        training = [t for t in self.tensors.values() if "trains" in t.codec.traits]
        for t, data in zip(training, unpack(learned, len(training)) if training else ()):
            t.learn(data)
        for t in self.tensors.values():
            t.begin(step, senders)

    def _take(self, turn: int, taken: list[int], heard: Any) -> None:
        """Takes what the server sends after a round: the merge of a parameter's payloads, or all of them."""
        some = self._in(turn)
        parts = iter(unpack(heard, sum(1 if adds(t.codec) else len(taken) for t in some)))
        for t in some:
            if adds(t.codec):
                t.take_merged(next(parts))
            else:
                for worker in taken:
                    t.take(worker, next(parts))
            t.end_round()

    def _apply(self, sent: dict[str, Any]) -> None:
        self.task.apply({name: t.finish(sent[name]) for name, t in self.tensors.items()})

    def state(self) -> dict[str, bytes]:
        return {name: t.state() for name, t in self.tensors.items() if "stateful" in t.codec.traits}

    def task_state(self) -> Any:
        return self.task.state_dict()

    def load(self, task: Any, states: dict[str, bytes] | None) -> None:
        self.task.load_state_dict(task)
        if states is None:
            self._open()
        for name, state in (states or {}).items():
            self.tensors[name].load_state(state)


def _told(method: Any) -> Any:
    """An error is the first of two results: Ray would print the other one's, besides what the driver says."""

    @functools.wraps(method)
    def telling(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Exception as error:
            return error, None

    return telling


class _Worker(_Side):
    def gradient(self, step: int) -> float:
        loss, gradients = self.task.gradients(step)
        self.sent = {name: as_floats(gradients[name], name) for name in self.tensors}
        return loss

    def train(self, step: int) -> Any:
        """What the others learn of this worker's gradient, for codecs that train."""
        training = [(t, self.sent[name]) for name, t in self.tensors.items() if "trains" in t.codec.traits]
        return pack([np.frombuffer(t.train(x, step), np.uint8) for t, x in training])

    @_told
    def send(self, step: int, turn: int, taken: list[int], learned: Any, heard: Any) -> tuple[int, Any]:
        """The payloads of a round, after those of the round before were heard; and their bytes."""
        if turn:
            self._take(turn - 1, taken, heard)
        else:
            self._begin(step, len(taken), learned)
        payloads = [t.lend(self.sent[name]) for name, t in self.tensors.items() if turn < t.codec.rounds]
        return sum(p.size for p in payloads), pack(payloads)

    def finish(self, step: int, sends: bool, taken: list[int], learned: Any, *heard: Any) -> None:
        """Ends a step. A worker that was not taken counts as one with a gradient of zeros."""
        if not sends:
            self._begin(step, len(taken), learned)
        for turn, part in enumerate(heard):
            if not sends or turn == len(heard) - 1:
                self._take(turn, taken, part)
        self._apply(self.sent if sends else self.zeros)


class _Server(_Side):
    @_told
    def round(self, step: int, turn: int, taken: list[int], learned: Any, *payloads: Any) -> tuple[int, Any]:
        """Takes the payloads of a round: what all hear then, and its bytes. After the last round the weights move on."""
        if turn == 0:
            self._begin(step, len(taken), learned)
        some, down = self._in(turn), []
        for t, *sent in zip(some, *(unpack(message, len(some)) for message in payloads)):
            down += [t.merge_round(sent)] if adds(t.codec) else sent
        heard = pack(down)
        self._take(turn, taken, heard)
        if turn == max(t.codec.rounds for t in self.tensors.values()) - 1:
            self._apply(self.zeros)
        return sum(p.size for p in down), heard


class _Lost(Exception):
    """A worker has died."""


class Run:
    """A parameter server and its workers.

    task          a subclass of Task, or a function that makes one of (worker, workers)
    spec          of the codec
    workers       how many there are
    take          how many gradients a step takes, the first that are there; default: those of all workers. Where one of more workers
                  dies, the others go on
    min_elements  smaller parameters travel as floats
    cpus          what an actor of a worker asks of Ray; `options` are more of ray.remote's, as {"num_gpus": 1}

    Worker r is worker r of atomo-train: with the same gradients and all workers taken, the means are the same bits.
    """

    def __init__(
        self,
        task: Callable[[int, int], Task],
        spec: str,
        workers: int,
        take: int | None = None,
        seed: int = 1,
        min_elements: int = 1000,
        threads: int = 1,
        cpus: float = 1,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.codec, self.workers = Codec(spec), integer("workers", workers, 1, 1 << 20)
        self.take = integer("take", workers if take is None else take, 1, workers)
        if not ray.is_initialized():
            raise UsageError("Ray does not run", "call ray.init first")
        there = ray.cluster_resources().get("CPU", 0)
        if cpus * workers > there:
            raise UsageError("%d workers of %g CPUs: Ray has %g" % (workers, cpus, there), "cpus=%.2g lets workers share" % (there / workers))
        arguments = (seed_of(seed), min_elements, threads)
        self.steps = 0

        def actor(kind: Any, worker: int, **more: Any) -> Any:
            return ray.remote(kind).options(scheduling_strategy="SPREAD", **more).remote(task, spec, worker, workers, *arguments)

        self._alive: dict[int, Any] = {w: actor(_Worker, w, num_cpus=cpus, **(options or {})) for w in range(workers)}
        self._server = actor(_Server, -1, num_cpus=0)
        self._busy: dict[int, Any] = {}  # gradients that are being computed: (step, ref)
        self._have: dict[int, float] = {}  # losses of those that are there for this step
        self._ends: dict[int, Any] = {}  # the ends of steps, of which errors are read later
        try:
            first = self._server.task_state.remote()
            ray.get([worker.load.remote(first, None) for worker in self._alive.values()], timeout=START)
        except ray.exceptions.GetTimeoutError:
            self.close()
            raise Error("the actors did not start in %d s" % START, "others may hold the CPUs that Ray has: close a Run that has ended") from None
        except ray.exceptions.RayError as error:
            self.close()
            lines = [line.strip() for line in str(error).split("\n") if line.strip()]
            raise Error("an actor did not start: %s" % lines[-1]) from error

    def step(self) -> dict[str, Any]:
        """One step: {"step", "loss", "taken", "bytes_up", "bytes_down"}. The loss is the mean of the workers taken; bytes are those of
        payloads, of the workers taken and to all workers."""
        while True:
            try:
                return self._step(self.steps + 1)
            except _Lost:  # the step begins again; who has a gradient keeps it
                if len(self._alive) < self.take:
                    raise Error("%d of %d workers are left: a step takes %d" % (len(self._alive), self.workers, self.take), _ADVICE) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint: weights, optimizer and the codec's states."""
        states: dict[Any, Any] = {"server": self._get(self._server.state.remote(), "server")}
        for w, worker in list(self._alive.items()):
            try:
                states[w] = self._get(worker.state.remote(), w)
            except _Lost:
                pass
        saved = {"spec": self.codec.spec, "steps": self.steps, "workers": self.workers, "task": self.state_dict(), "states": states}
        torch.save(saved, "%s.tmp" % os.fspath(path))
        os.replace("%s.tmp" % os.fspath(path), path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes on from a checkpoint of as many workers. A worker that was lost then begins with an empty state."""
        saved = torch.load(path, weights_only=False)
        if Codec(saved["spec"]).complete != self.codec.complete or saved["workers"] != self.workers:
            found = (os.fspath(path), saved["spec"], saved["workers"], self.codec.spec, self.workers)
            raise UsageError("%s is of %s with %d workers, this run of %s with %d" % found)
        self.steps, self._busy, self._have, self._ends = saved["steps"], {}, {}, {}
        self._get(self._server.load.remote(saved["task"], saved["states"]["server"]), "server")
        for w, worker in list(self._alive.items()):
            self._get(worker.load.remote(saved["task"], saved["states"].get(w)), w)

    def state_dict(self) -> dict[str, Any]:
        """{"model": ..., "optimizer": ...} of a worker, whose weights are the server's and all others', to the bit; buffers, such as
        BatchNorm's, are its own."""
        for w, worker in list(self._alive.items()):
            if w not in self._busy:
                try:
                    return dict(self._get(worker.task_state.remote(), w))
                except _Lost:
                    pass
        return dict(self._get(self._server.task_state.remote(), "server"))

    def close(self) -> None:
        """Ends the actors."""
        for actor in (self._server, *self._alive.values()):
            ray.kill(actor)
        self._alive = {}

    # ---- one step ----

    def _get(self, ref: Any, whose: Any) -> Any:
        """What a call of the server's or of a worker's returns; a worker that has died is left out from now on."""
        name = "the server" if whose == "server" else "worker %d" % whose
        try:
            value = ray.get(ref)
            if not isinstance(value, Exception):
                return value
            cause = value
        except ray.exceptions.RayTaskError as error:  # what the task, or the codec, has raised
            cause = error.cause
        except ray.exceptions.RayError as error:
            died = isinstance(error, ray.exceptions.RayActorError)
            if whose == "server":
                said = "has died" if died else "did not answer: %s" % str(error).split("\n")[0]
                raise Error("the server %s in step %d" % (said, self.steps + 1), _ADVICE) from error
            if whose in self._alive:
                print("atomo.ray: %s has died in step %d: %d are left" % (name, self.steps + 1, len(self._alive) - 1), flush=True)
            for record in (self._alive, self._busy, self._have, self._ends):
                record.pop(whose, None)
            raise _Lost from error
        text = "%s: %s" % (name, getattr(cause, "text", "%s: %s" % (type(cause).__name__, cause)))
        raise (type(cause) if isinstance(cause, Error) else Error)(text, getattr(cause, "hint", "")) from cause

    def _gradients(self, step: int) -> dict[int, float]:
        """The losses of the workers that are taken, by worker, the first that are there. A worker that still computes a gradient of an
        earlier step is not asked for another, and what it gives comes too late."""
        while len(self._have) < self.take:
            for w in self._alive:
                if w not in self._busy and w not in self._have:
                    self._busy[w] = step, self._alive[w].gradient.remote(step)
            if not self._busy:
                raise _Lost
            ready = ray.wait([ref for _, ref in self._busy.values()], num_returns=1)[0]
            for w, (asked, ref) in list(self._busy.items()):
                if ref in ready:
                    if w in self._ends:
                        self._get(self._ends.pop(w), w)
                    loss = self._get(ref, w)
                    del self._busy[w]
                    if asked == step:
                        self._have[w] = loss
        return {w: self._have[w] for w in sorted(list(self._have)[: self.take])}

    def _step(self, step: int) -> dict[str, Any]:
        losses = self._gradients(step)
        taken, up, down = list(losses), 0, 0
        heard: list[Any] = []
        learned = self._alive[taken[0]].train.remote(step) if "trains" in self.codec.traits else None
        for turn in range(self.codec.rounds):
            send = [self._alive[w].send.options(num_returns=2) for w in taken]
            sent = [call.remote(step, turn, taken, learned, heard[-1] if heard else None) for call in send]
            up += sum(self._get(count, w) for w, (count, _) in zip(taken, sent))
            count, part = self._server.round.options(num_returns=2).remote(step, turn, taken, learned, *[payload for _, payload in sent])
            down += self._get(count, "server")
            heard.append(part)
        self._have, self.steps = {}, step
        for w, worker in self._alive.items():
            self._ends[w] = worker.finish.remote(step, w in losses, taken, learned, *heard)
        loss = sum(losses.values()) / len(losses)
        return {"step": step, "loss": loss, "taken": taken, "bytes_up": up, "bytes_down": down * len(self._alive)}


START = 600  # seconds that actors may take to start
_ADVICE = "close this Run, make a new one, and load the last checkpoint"


# ---- a transport between actors ----


class _Hub:
    """Boxes of messages, by sender and receiver."""

    def __init__(self) -> None:
        self.boxes: dict[tuple[int, int], asyncio.Queue[Any]] = collections.defaultdict(asyncio.Queue)

    async def exchange(self, rank: int, sends: dict[int, Any], sources: list[int]) -> list[Any]:
        for to, data in sends.items():
            self.boxes[rank, to].put_nowait(data)
        return [await self.boxes[source, rank].get() for source in sources]


class RayTransport:
    """A transport (atomo.transport) between actors or tasks, through an actor that passes messages on."""

    def __init__(self, hub: Any, rank: int, ranks: int, timeout: float) -> None:
        self.hub, self.rank, self.ranks, self.timeout = hub, rank, ranks, timeout

    def _exchange(self, sends: dict[int, Any], sources: list[int]) -> list[Any]:
        try:
            return list(ray.get(self.hub.exchange.remote(self.rank, sends, sources), timeout=self.timeout))
        except ray.exceptions.GetTimeoutError:
            raise Error("rank %d: no message from the other ranks in %g s" % (self.rank, self.timeout), "a rank has ended, or waits elsewhere") from None

    def all_gather(self, data: Any) -> list[Any]:
        everyone = list(range(self.ranks))
        return self._exchange(dict.fromkeys(everyone, data), everyone)

    def send_receive(self, data: Any, to: int, size: int, source: int) -> Any:
        got = self._exchange({to: data} if data.size else {}, [source] if size else [])
        return got[0] if size else np.empty(0, np.uint8)


def transports(ranks: int, timeout: float = 300) -> list[RayTransport]:
    """A transport for each of so many ranks; they can be passed to actors and tasks. A rank that waits longer than `timeout` seconds
    for a message raises an error."""
    hub = ray.remote(_Hub).options(num_cpus=0).remote()
    return [RayTransport(hub, rank, ranks, timeout) for rank in range(ranks)]


__all__ = ["RayTransport", "Run", "Task", "transports"]
