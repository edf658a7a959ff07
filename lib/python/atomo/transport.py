"""Transports: what carries bytes between the ranks of an exchange. A transport is any object with

    rank, ranks         the number of this rank, and how many there are
    all_gather(data)    every rank's data, in the order of the ranks: a list of arrays. `data` has one length on all ranks
    send_receive(data, to, size, source)
                        sends data to rank `to`, and returns `size` bytes that rank `source` has sent. Where either is empty, nothing
                        travels that way

Data are arrays of uint8 of one axis. All ranks make the same calls in the same order. TorchTransport is torch.distributed's,
in_process gives ranks that are threads, and atomo.ray.RayTransport is for actors.
"""

from __future__ import annotations

import queue
from typing import Any, List, Protocol

import numpy as np


class Transport(Protocol):
    """What an exchange needs of a transport."""

    @property
    def rank(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    def all_gather(self, data: Any) -> List[Any]: ...

    def send_receive(self, data: Any, to: int, size: int, source: int) -> Any: ...


class TorchTransport:
    """A process group of torch.distributed whose backend takes CPU tensors, as gloo; None: the default group."""

    def __init__(self, group: Any = None) -> None:
        import torch
        import torch.distributed

        self.group, self._torch, self._dist = group, torch, torch.distributed
        self._members: Any = None

    @property
    def rank(self) -> int:
        return int(self._dist.get_rank(self.group))

    @property
    def ranks(self) -> int:
        return int(self._dist.get_world_size(self.group))

    @property
    def members(self) -> list[int]:
        """The ranks of the group, as numbers of the whole program."""
        if self._members is None or self._members[0] is not self.group:
            self._members = self.group, [self._global(r) for r in range(self.ranks)]
        return list(self._members[1])

    def _global(self, rank: int) -> int:
        return rank if self.group is None else int(self._dist.get_global_rank(self.group, rank))

    def all_gather(self, data: Any) -> list[Any]:
        everyone = [self._torch.empty(data.size, dtype=self._torch.uint8) for _ in range(self.ranks)]
        self._dist.all_gather(everyone, self._torch.from_numpy(data), group=self.group)
        return [part.numpy() for part in everyone]

    def send_receive(self, data: Any, to: int, size: int, source: int) -> Any:
        theirs = self._torch.empty(size, dtype=self._torch.uint8)
        sending = self._dist.isend(self._torch.from_numpy(data), self._global(to), group=self.group) if data.size else None
        if size:
            self._dist.recv(theirs, self._global(source), group=self.group)
        if sending:
            sending.wait()
        return theirs.numpy()


class _InProcess:
    def __init__(self, rank: int, boxes: list[list[queue.SimpleQueue[Any]]]) -> None:
        self.rank, self.ranks, self._boxes = rank, len(boxes), boxes

    def all_gather(self, data: Any) -> list[Any]:
        for box in self._boxes[self.rank]:
            box.put(data.copy())
        return [row[self.rank].get() for row in self._boxes]

    def send_receive(self, data: Any, to: int, size: int, source: int) -> Any:
        if data.size:
            self._boxes[self.rank][to].put(data.copy())
        return self._boxes[source][self.rank].get() if size else np.empty(0, np.uint8)


def in_process(ranks: int) -> list[Transport]:
    """The transports of ranks that are threads of this process."""
    boxes: list[list[queue.SimpleQueue[Any]]] = [[queue.SimpleQueue() for _ in range(ranks)] for _ in range(ranks)]
    return [_InProcess(rank, boxes) for rank in range(ranks)]
