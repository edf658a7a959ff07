"""Compression of gradients in JAX, as an optax transformation.

    optimizer = optax.chain(atomo.jax.compress("ef+topk:ratio=0.05"), optax.sgd(0.1))

It works under jit and on any pytree. All that a codec keeps from step to step is in the optimizer's state, as arrays: a callback has
no memory, so JAX may run it again, in another order or not at all.
"""

from __future__ import annotations

import functools
import os
import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ._library import Error, OutOfMemory, UsageError, error_of, integer, seed_of
from .codec import Codec, Tensor


class CompressState(NamedTuple):
    """step: of the last update, from 1. codec: for each leaf that has a state of the codec, its bytes, by worker: no array is empty, as
    some checkpoints take none. sent: bytes of all payloads so far, of all workers, as two words, the low one first (`bytes_sent` adds
    them). status: 0, or what went wrong first (`check` raises it), and the number of the leaf where it did."""

    step: Any
    codec: Any
    sent: Any
    status: Any


def named(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by the names that JAX gives them: {"['Dense_0']['kernel']": leaf}. What atomo.dump and
    atomo.compare take."""
    return {jax.tree_util.keystr(path) or "x": leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def compress(spec: str, workers: int = 1, seed: int = 1, min_elements: int = 1000, threads: int = 1) -> Any:
    """An optax GradientTransformation that gives what is left of the gradients after their exchange through a codec.

    With workers=P, for P simulated workers, leaves have a first axis of P, one gradient a worker; it gives the means, without that
    axis. Leaves of fewer than min_elements elements (a worker's) travel as floats. Rank r is worker r of atomo-train, and a leaf's
    name is that of `named`: the same gradients have the same payloads there. Gradients that are not finite, or another error, give
    updates of NaN, keep the codec's state, and are told by `check`.
    """
    codec, none = Codec(spec), Codec("none")
    workers, seed = integer("workers", workers, 1, 1 << 20), seed_of(seed)

    def kind(shape: tuple[int, ...]) -> Codec:
        return codec if int(np.prod(shape)) >= min_elements else none

    def tensors(name: str, shape: tuple[int, ...]) -> list[Tensor]:
        return [kind(shape).tensor(shape, name, seed, worker, workers, threads) for worker in range(workers)]

    def keeps(shape: tuple[int, ...]) -> bool:
        return "stateful" in kind(shape).traits

    def init(params: Any) -> CompressState:
        _warn_of_threads()  # not before: it starts JAX, which jax.distributed.initialize must do
        saved = [jnp.asarray(_saved(tensors(name, leaf.shape))) for name, leaf in named(params).items() if keeps(leaf.shape)]
        return CompressState(jnp.zeros((), jnp.int32), saved, jnp.zeros(2, jnp.uint32), jnp.zeros(2, jnp.int32))

    def update(updates: Any, state: CompressState, params: Any = None) -> tuple[Any, CompressState]:
        del params
        names, (leaves, tree) = list(named(updates)), jax.tree_util.tree_flatten(updates)
        shapes = [_shape(name, leaf, workers) for name, leaf in zip(names, leaves)]
        if len(state.codec) != sum(map(keeps, shapes)):
            raise UsageError("%d leaves with a state: want %d, as init was given" % (sum(map(keeps, shapes)), len(state.codec)))

        def work(step: Any, saved: Any, sent: Any, status: Any, *gradients: Any) -> Any:
            step, sent, status = int(step) + 1, np.asarray(sent), np.asarray(status)
            means, after, states, total = [], [], iter(saved), int(sent[0]) + (int(sent[1]) << 32)
            for i, (name, shape, g) in enumerate(zip(names, shapes, map(np.asarray, gradients))):
                old = np.asarray(next(states)) if keeps(shape) else None
                try:
                    mean, new, count = _step(tensors(name, shape), g.reshape(workers, *shape), old, step)
                    total += count
                except Exception as error:  # what a callback raises is undefined
                    mean, new = np.full(shape, np.nan, np.float32), old
                    status = status if status[0] else np.array([_number(error), i], np.int32)
                means.append(mean.astype(g.dtype))
                after += [] if old is None else [new]
            return means, (np.int32(step), after, np.array([total & 0xFFFFFFFF, total >> 32], np.uint32), status)

        results = [jax.ShapeDtypeStruct(shape, leaf.dtype) for shape, leaf in zip(shapes, leaves)]
        like = jax.tree_util.tree_map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), tuple(state))
        means, after = jax.pure_callback(work, (results, like), *state, *leaves, vmap_method="sequential")
        return jax.tree_util.tree_unflatten(tree, means), CompressState(*after)

    return optax.GradientTransformation(init, update)


def _warn_of_threads() -> None:
    """The devices of a CPU share a pool of threads, of which each device and the callback take one while they wait for each other."""
    devices, nproc = jax.local_device_count(), os.environ.get("NPROC", "")
    threads = int(nproc) if nproc.isdigit() else len(os.sched_getaffinity(0))
    if jax.default_backend() == "cpu" and 1 < devices >= threads:
        text = "%d devices have a pool of %d threads, and may wait for ever: set NPROC=%d in the environment before JAX starts"
        warnings.warn(text % (devices, devices, 2 * devices), stacklevel=3)


def _saved(tensors: list[Tensor]) -> Any:
    return np.stack([np.frombuffer(t.state(), np.uint8) for t in tensors])


def _shape(name: str, leaf: Any, workers: int) -> tuple[int, ...]:
    """A worker's shape of a leaf."""
    if workers == 1:
        return tuple(leaf.shape)
    if not leaf.shape or leaf.shape[0] != workers:
        raise UsageError("%s: shape %s: want a first axis of %d, one gradient for each worker" % (name, tuple(leaf.shape), workers))
    return tuple(leaf.shape[1:])


def _step(tensors: list[Tensor], gradients: Any, saved: Any, step: int) -> tuple[Any, Any, int]:
    """One step of all workers, from the saved states: the mean, the states after it, and the bytes that were sent."""
    for t, state in zip(tensors, () if saved is None else saved):
        t.load_state(state)
    if "trains" in tensors[0].codec.traits:
        learned = tensors[0].train(gradients[0], step)
        for t in tensors:
            t.learn(learned)
    for t in tensors:
        t.begin(step)
    more, sent, mean = True, 0, None
    while more:
        payloads = [t.send(g) for t, g in zip(tensors, gradients)]
        sent += sum(p.size for p in payloads)
        for t in tensors:
            for worker, data in enumerate(payloads):
                t.take(worker, data)
            more = t.end_round()
    for t, g in zip(tensors, gradients):
        mean = t.finish(g)
    return mean, None if saved is None else _saved(tensors), sent


def _number(error: Exception) -> int:
    return getattr(error, "status", 0) or (OutOfMemory.status if isinstance(error, MemoryError) else 99)


def _states(state: Any) -> list[CompressState]:
    leaves = jax.tree_util.tree_leaves(state, is_leaf=lambda node: isinstance(node, CompressState))
    return [leaf for leaf in leaves if isinstance(leaf, CompressState)]


def bytes_sent(state: Any) -> int:
    """Bytes of all payloads so far, of all workers, in the state of an optimizer that has `compress`."""
    return sum(int(s.sent[0]) + (int(s.sent[1]) << 32) for s in _states(state))


def check(state: Any) -> None:
    """Raises the first error that `compress` met, if there is one; waits until the state is computed."""
    for status, leaf in (np.asarray(s.status).tolist() for s in _states(state)):
        if status:
            what = {1: "a wrong argument", 3: "a state that nothing of atomo's writes", 4: "NaN or infinity", 5: "out of memory"}
            error: Error = error_of(status, "leaf %d: %s" % (leaf, what.get(status, "an error")), "the updates since then are NaN where it was met")
            raise error


__all__ = ["CompressState", "bytes_sent", "check", "compress", "named"]
