"""Compression of gradients under PyTorch's fully_shard (FSDP2), from PyTorch 2.9 on.

    from atomo.fsdp import ShardState
    fully_shard(model, mesh=mesh["shard"])            # on the 1-D mesh of the shards, not on both axes
    state = ShardState("ef+topk:ratio=0.01", model, replicate=mesh["replicate"].get_group())

The ranks that hold the same shard exchange its gradient through the codec, beside FSDP's own reduce-scatter (HSDP). With
`shard=mesh["shard"].get_group()` the reduce-scatter itself is compressed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule

from ._library import UsageError
from .exchange import Exchange
from .torch import _names, _twin
from .transport import TorchTransport


class ShardState:
    """What the exchanges of a model under fully_shard keep between steps: one for each of its FSDPModules. Made on all ranks, after
    the last call of fully_shard.

    spec       of the codec
    replicate  the process group of the ranks that hold the same shard; None: there are no others
    shard      the process group that the model is sharded over: its reduce-scatter goes through the codec, which must have one
               round; None: it stays FSDP's own
    others     those of atomo.exchange.Exchange: seed, min_elements (of a shard), exchange, threads, nonfinite, start

    Payloads travel through new groups of the same ranks, over gloo, so that they do not mix with FSDP's messages.
    """

    def __init__(self, spec: str, model: torch.nn.Module, replicate: Any = None, shard: Any = None, **more: Any) -> None:
        modules = _modules(model)
        if not modules:
            raise UsageError("the model has no FSDPModule", "call fully_shard first")
        if replicate is None and shard is None:
            raise UsageError("neither replicate nor shard: want the process group of one of them")
        names = _names(model)
        between, within = (None if group is None else TorchTransport(_twin(group)) for group in (replicate, shard))
        self._exchanges: dict[str, Exchange] = {}
        for name, module in modules.items():
            if _is_hybrid(module):
                raise UsageError(
                    "%s: fully_shard has a mesh of two axes, and averages floats over both" % (name or "model"),
                    "give fully_shard the mesh of the shards only, as mesh[\"shard\"]",
                )
            if between:
                held = self._exchanges[name] = Exchange(spec, between, **more)
                module.set_all_reduce_hook(_Mean(held, _Layout(model, module, name, names, _place(module))))
            if within:
                sent = self._exchanges[name + "|scatter"] = Exchange(spec, within, **more)
                sent._check_shots("shard=")
                module.set_custom_reduce_scatter(_Scatter(sent, _Layout(model, module, name, names, "")))

    @property
    def bytes_sent(self) -> int:
        """Bytes of the payloads that this rank has sent so far, each with its size (8 bytes)."""
        return sum(exchange.bytes_sent for exchange in self._exchanges.values())

    def state_dict(self) -> dict[str, Any]:
        """This rank's states, for a checkpoint: every rank saves its own."""
        return {name: exchange.state_dict() for name, exchange in self._exchanges.items()}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        if set(saved) != set(self._exchanges):
            differ = sorted(set(saved) ^ set(self._exchanges))
            raise UsageError("the checkpoint has other FSDPModules: %s" % ", ".join(name or "model" for name in differ))
        for name, exchange in self._exchanges.items():
            exchange.load_state_dict(saved[name])


def _modules(model: torch.nn.Module) -> dict[str, Any]:
    return {name: module for name, module in model.named_modules() if isinstance(module, FSDPModule)}


def _groups_of(module: Any) -> list[Any]:
    """FSDP's private record of what a module's parameters are; empty where this PyTorch has no such record."""
    try:
        state = module._get_fsdp_state()
        return list(getattr(state, "_fsdp_param_groups", None) or [g for g in (state._fsdp_param_group,) if g])
    except AttributeError:
        return []


def _is_hybrid(module: Any) -> bool:
    return any(getattr(group, "_is_hsdp", False) for group in _groups_of(module))


def _place(module: Any) -> str:
    """Which shard this rank has, as a part of the shard's name; empty where FSDP does not say."""
    ranks = [getattr(getattr(group, "mesh_info", None), "shard_mesh_rank", None) for group in _groups_of(module)]
    return "[%d]" % ranks[0] if ranks and ranks[0] is not None else ""


class _Layout:
    """Where the shards of a module's parameters are in FSDP's flat vector: {name: (start, shape)}. FSDP keeps this to itself: where
    what it keeps does not add up to the vector's length, the vector is one array of the module's name."""

    def __init__(self, model: torch.nn.Module, module: Any, name: str, names: dict[int, str], place: str) -> None:
        self.model, self.module, self.name, self.names, self.place = model, module, name or "model", names, place
        self.known: Any = _modules(model)

    def check(self) -> None:
        """Once: a module of a later fully_shard would keep its gradients to itself."""
        if self.known and self.known.keys() != _modules(self.model).keys():
            raise UsageError("fully_shard was called after ShardState", "make ShardState after the last fully_shard")
        self.known = None

    def parts(self, size: int) -> dict[str, tuple[int, Any]]:
        found, at = {}, 0
        try:
            for group in _groups_of(self.module):
                for param in group.fsdp_params:
                    shape = param.padded_sharded_param_size
                    if param.sharded_param.requires_grad:
                        found[self.names[id(param.sharded_param)] + self.place] = at, shape
                        at += shape.numel()
        except (AttributeError, KeyError):
            at = -1
        return {name: place for name, place in found.items() if place[1].numel()} if at == size else {self.name + self.place: (0, (size,))}

    def cut(self, flat: torch.Tensor) -> dict[str, torch.Tensor]:
        self.check()
        places = self.parts(flat.numel()).items()
        return {name: flat[at : at + int(np.prod(shape))].view(shape) for name, (at, shape) in places}


def _put(views: dict[str, torch.Tensor], means: dict[str, Any], factor: float = 1.0) -> None:
    for name, view in views.items():
        view.copy_(torch.from_numpy(means[name]))
        if factor != 1:
            view.mul_(factor)


class _Mean:
    """The hook of set_all_reduce_hook: puts the mean over the replicas in the place of a shard's gradient. Gradients between
    set_requires_all_reduce(False) and True add up here, and travel as one."""

    def __init__(self, exchange: Exchange, layout: _Layout) -> None:
        self.exchange, self.layout = exchange, layout
        self.waiting: torch.Tensor | None = None

    @torch.no_grad()
    def __call__(self, gradient: torch.Tensor) -> None:
        if self.waiting is not None:
            gradient.add_(self.waiting)
        waits = not all(getattr(group, "all_reduce_grads", True) for group in _groups_of(self.layout.module))
        self.waiting = gradient.clone() if waits else None
        if waits:
            gradient.zero_()
            return
        views = self.layout.cut(gradient)
        _put(views, self.exchange.mean(views))


class _Scatter:
    """The object of set_custom_reduce_scatter: each rank gets the mean of its shard, through the codec."""

    def __init__(self, exchange: Exchange, layout: _Layout) -> None:
        self.exchange, self.layout = exchange, layout

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.zeros(*size, dtype=dtype, device=device)

    @torch.no_grad()
    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, op: Any, async_op: bool = False) -> None:
        factor = _factor(op, self.exchange.wire.ranks)
        pieces = [self.layout.cut(piece) for piece in input_tensor.chunk(self.exchange.wire.ranks)]
        _put(self.layout.cut(output_tensor), self.exchange.scatter(pieces), factor)


def _factor(op: Any, ranks: int) -> float:
    """What the mean is multiplied by, to be what FSDP asks for."""
    if op == dist.ReduceOp.AVG:
        return 1.0
    if op == dist.ReduceOp.SUM:
        return float(ranks)
    if getattr(op, "op", None) == dist.ReduceOp.PREMUL_SUM and hasattr(op, "factor"):
        return float(op.factor) * ranks
    raise UsageError("FSDP asks for the reduction %s: want AVG, SUM or PREMUL_SUM" % (op,), "call set_force_sum_reduction_for_comms(True)")
