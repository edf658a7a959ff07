"""Files of gradients as arrays of NumPy."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any, Iterable, Iterator

import numpy as np

from ._library import UsageError, call, lib, path_of, step_of
from .codec import _address, empty_room

_PAGE = 1024  # floats; each array begins with a page


class _File:
    """An open file; its tensors as (index, step, worker, name, shape)."""

    def __init__(self, path: Any) -> None:
        self._handle = c_void_p()
        call(lib.atomo_dump_open, byref(self._handle), path_of(path))

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: Any) -> None:
        lib.atomo_dump_close(self._handle)

    def tensors(self) -> Iterator[tuple[Any, ...]]:
        for index in range(lib.atomo_dump_count(self._handle)):
            g = lib.atomo_dump_gradient(self._handle, index)
            yield index, g.step, g.worker, g.name.decode("utf-8", "surrogateescape"), tuple(g.dim[: g.rank])

    def read(self, index: int, array: Any) -> None:
        call(lib.atomo_dump_read, self._handle, index, _address(array))


def _arrays(shapes: list[Any]) -> list[Any]:
    """Uninitialised arrays of these shapes in one piece of memory, which lives as long as one of them."""
    sizes = [int(np.prod(shape, dtype=object)) for shape in shapes]
    starts = np.cumsum([0] + [-(-size // _PAGE) * _PAGE for size in sizes])
    floats = empty_room(4 * int(starts[-1])).view(np.float32)
    return [floats[at : at + size].reshape(shape) for at, size, shape in zip(starts, sizes, shapes)]


def _numbers(steps: Iterable[int]) -> set[int]:
    try:
        return {step_of(step) for step in steps}
    except TypeError:
        raise UsageError("steps=%r: want a list of numbers, such as [200]" % (steps,)) from None


def read_gradients(path: str | os.PathLike[str], steps: Iterable[int] | None = None) -> dict[int, Any]:
    """The gradients of a file (HDF5, .npz, .npy or .safetensors) as float32: {step: {name: array}}, or {step: {worker: {name: array}}}
    where a file names workers other than 0; `compare` takes both. `steps`: numbers of the steps to read, instead of all.

    A separate process of atomo parses the file, so h5py is not needed. Arrays of a worker's step lie in one piece of memory."""
    with _File(path) as file:
        tensors = list(file.tensors())
        if steps is not None:
            wanted, there = _numbers(steps), {t[1] for t in tensors}
            if wanted - there:
                hint = "its steps are " + ", ".join(map(str, sorted(there)[:8])) + (" ..." if len(there) > 8 else "")
                raise UsageError("%s: has no step %d" % (os.fspath(path), min(wanted - there)), hint)
            tensors = [t for t in tensors if t[1] in wanted]
        groups: dict[Any, Any] = {}
        for tensor in tensors:
            groups.setdefault(tensor[1:3], []).append(tensor)
        found: dict[int, Any] = {}
        workers = any(worker for _, worker in groups)
        for (step, worker), members in groups.items():
            here = found.setdefault(step, {})
            here = here.setdefault(worker, {}) if workers else here
            for (index, _, _, name, _), array in zip(members, _arrays([t[4] for t in members])):
                if name in here:
                    raise UsageError("%s: step %d, worker %d has two tensors %s" % (os.fspath(path), step, worker, name))
                file.read(index, array)
                here[name] = array
    return found
