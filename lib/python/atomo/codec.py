"""Codecs on NumPy arrays and CPU tensors of PyTorch."""

from __future__ import annotations

import ctypes
import functools
import mmap
import re
import threading
import sys
from ctypes import byref, c_int, c_size_t, c_void_p
from html import escape
from typing import Any, Callable, Dict, Iterable, TypeVar

import numpy as np

from ._library import ErrorText, Key, Layout, NumericError, OutOfMemory, UsageError, call, failure, int_of, integer, lib, seed_of, step_of, text_of

Array = Any  # an array of NumPy, a tensor of PyTorch, or whatever else as_floats takes
Bytes = Any  # bytes, or anything with a buffer
Method = TypeVar("Method", bound=Callable[..., Any])

_TRAITS = {
    "unbiased": 1,
    "linear": 2,
    "mergeable": 4,
    "random": 8,
    "stateful": 16,
    "trains": 32,
    "exact_bytes": 64,
    "reads_state": 128,
}


_FLOAT, _BYTE = np.dtype(np.float32), np.dtype(np.uint8)


# What has no floats of its own, by an attribute that says so: what it is, and the way out.
_NOT_DENSE = {
    "is_nested": ("a nested tensor", "give each of its parts, as unbind() returns them, by a name of its own"),
    "is_quantized": ("a quantised tensor", "give its dequantize()"),
    "is_meta": ("a tensor of the device meta, without values", "give it after it was computed"),
    "to_local": ("a DTensor", "give its full_tensor(), or the to_local() of each rank"),
    "get_mask": ("a masked tensor", "give its to_tensor(0)"),
}
_PARTS = "give its real and its imaginary part by names of their own"
_WANT = "give an array of NumPy, or a tensor of PyTorch, of real numbers"


def _numpy(array: Array) -> Any:
    """An array of NumPy with the values of a tensor of PyTorch, or of whatever else NumPy understands."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        if "strided" not in str(array.layout):
            array = array.to_dense()
        if str(array.dtype).startswith(("torch.bfloat", "torch.float8")):  # NumPy has none of these
            array = array.float()
        return array.resolve_neg().numpy()
    return np.asarray(array.todense() if hasattr(array, "todense") else array)


def _as_float32(values: Any) -> Any:
    """Rounds to float32; refuses what is no real number, and what float32 cannot hold."""
    if values.dtype == _FLOAT:
        return np.asarray(values, dtype=np.float32, order="C")
    if not np.can_cast(values.dtype, np.float32, "same_kind"):
        raise TypeError("its elements are %s" % values.dtype)
    if values.dtype.kind in "iu" and values.size and max(int(values.max()), -int(values.min())) > 1 << 24:
        raise ValueError("it has integers beyond 2^24, which float32 does not hold exactly")
    try:
        with np.errstate(over="raise"):
            return np.asarray(values, dtype=np.float32, order="C")
    except FloatingPointError:
        at = np.flatnonzero(np.abs(values) > np.finfo(np.float32).max)[0]
        raise NumericError("element %d is %g: beyond float32's range" % (at, values.flat[at])) from None


def as_floats(array: Array, name: str | None = "") -> Any:
    """The array as contiguous float32; without a copy where it already is. Takes NumPy arrays, tensors of PyTorch, sparse ones
    among them, and whatever else NumPy understands. `name`: of the tensor, for errors."""
    what, name = type(array).__name__, name or "tensor"
    try:
        for attribute, (kind, way_out) in _NOT_DENSE.items():
            if getattr(array, attribute, False):
                raise UsageError("%s: %s cannot be read as floats" % (name, kind), way_out)
        if np.ma.is_masked(array):
            raise UsageError("%s: a masked array cannot be read as floats" % name, "give its filled(0)")
        if "complex" in str(getattr(array, "dtype", "")):
            raise UsageError("%s: %s cannot be read as floats: its elements are complex" % (name, what), _PARTS)
        if isinstance(array, (list, tuple)) and any(getattr(part, "shape", ()) for part in array):
            raise UsageError("%s: a %s of arrays" % (name, what), "give each array by a name of its own")
        return _as_float32(_numpy(array))
    except NumericError as error:
        raise NumericError("%s: %s" % (name, error.text)) from None
    except MemoryError:
        raise OutOfMemory("%s: out of memory" % name) from None
    except UsageError:
        raise
    except Exception as error:  # whatever a foreign array raises
        raise UsageError("%s: %s cannot be read as floats: %s" % (name, what, error), _WANT) from None


def shape_of(shape: Iterable[int] | Array) -> tuple[int, ...]:
    """The shape that is given, or that of an array that is given."""
    shape = getattr(shape, "shape", shape)
    try:
        return tuple(integer("dimension", d, 0, 2**64 - 1) for d in shape)
    except TypeError:
        raise UsageError("shape=%r: want a tuple of integers" % (shape,), "the shape of a vector of 5 is (5,)") from None


def _like(shape: Any, array: Any) -> Array:
    """The array of NumPy as a tensor of PyTorch, where the shape is one of PyTorch's, or that of a tensor on any device."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(shape, torch.Size):
        return torch.from_numpy(array)
    if torch is not None and isinstance(shape, torch.Tensor):
        return torch.from_numpy(array).to(shape.device)
    return array


_encode = lib.atomo_encode
_NOTHING = ctypes.c_char * 0


def _writable(array: Any, dtype: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable


def _address(array: Any) -> int:
    try:
        return ctypes.addressof(_NOTHING.from_buffer(array))  # four times as fast as array.ctypes; writable arrays only
    except (TypeError, ValueError, BufferError):
        return int(array.ctypes.data)


_HUGE_PAGE = 1 << 21  # bytes


def empty_room(size: int) -> Any:
    """Uninitialised memory as an array of bytes. Large memory lies in pages of 2 MiB where the system has them, as a program's
    does: memory in pages of 4 KiB takes up to 13 % more time to read and write."""
    if size < _HUGE_PAGE // 2 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty(size, np.uint8)
    try:
        pages = mmap.mmap(-1, size + 2 * _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError):
        raise OutOfMemory("out of memory: %d bytes" % size) from None
    try:
        pages.madvise(mmap.MADV_HUGEPAGE)
    except OSError:
        pass  # this kernel has no huge pages
    room = np.frombuffer(pages, np.uint8)
    start = -room.ctypes.data % _HUGE_PAGE
    return room[start : start + size]


def _view(data: Bytes) -> Any:
    """Bytes, or anything with a buffer, as an array of bytes, without a copy."""
    try:
        return np.frombuffer(data, dtype=np.uint8)
    except (TypeError, ValueError, AttributeError) as error:
        hint = "a payload is what encode has returned: bytes, or an array of uint8"
        raise UsageError("%s cannot be read as bytes: %s" % (type(data).__name__, error), hint) from None


def _new(shape: tuple[int, ...]) -> Any:
    """An uninitialised array of floats."""
    try:
        return np.empty(shape, np.float32)
    except (MemoryError, ValueError):  # NumPy has a largest array, too
        raise OutOfMemory("out of memory: an array of shape %s" % (shape,)) from None


def _alone(method: Method) -> Method:
    """Lets one thread at a time into a Tensor."""

    @functools.wraps(method)
    def locked(self: Tensor, *arguments: Any, **named: Any) -> Any:
        with self._lock:
            return method(self, *arguments, **named)

    return locked  # type: ignore[return-value]


def _spec(spec: str, keys: dict[str, Any]) -> str:
    """The spec with these keys, which are of its last stage."""
    written = ["%s=%s" % (k, {True: "on", False: "off"}[v] if isinstance(v, bool) else v) for k, v in keys.items()]
    return ("," if ":" in spec.rsplit("+", 1)[-1] else ":").join([spec, ",".join(written)]) if keys else spec


class Codec:
    """A compressor with its parameters: Codec("qsgd:bits=4"), or Codec("qsgd", bits=4). Never changes; any number of threads may
    use it."""

    def __init__(self, spec: str, **keys: Any) -> None:
        self._handle = c_void_p()
        call(lib.atomo_codec_open, byref(self._handle), text_of("spec", _spec(spec, keys)))
        self._mine = threading.local()

    def __del__(self, close: Any = lib.atomo_codec_close) -> None:
        if getattr(self, "_handle", None):
            close(self._handle)

    def __repr__(self) -> str:
        return "Codec(%r)" % self.spec

    def _shard(self, elements: int, workers: int, shard: int) -> int:
        """The first element of a shard of a vector, of two shots."""
        return int(lib.atomo_shard(self._handle, elements, workers, shard))

    def __reduce__(self) -> tuple[Any, ...]:
        return Codec, (self.spec,)

    @property
    def spec(self) -> str:
        """The spec as it was typed."""
        return str(lib.atomo_codec_spec(self._handle).decode())

    @property
    def complete(self) -> str:
        """The spec with all parameters, in one spelling: the field `spec` of results. Equal codecs have equal ones."""
        return str(lib.atomo_codec_complete(self._handle).decode())

    @functools.cached_property
    def traits(self) -> frozenset[str]:
        """What the codec promises, a set of: unbiased, linear, mergeable, random, stateful, trains, exact_bytes, reads_state."""
        bits = lib.atomo_codec_traits(self._handle)
        return frozenset(name for name, bit in _TRAITS.items() if bits & bit)

    @property
    def rounds(self) -> int:
        """How many payloads a worker sends in a step."""
        return int(lib.atomo_codec_rounds(self._handle))

    @property
    def caution(self) -> str | None:
        """A warning for users of this spec, or None."""
        text = lib.atomo_codec_caution(self._handle)
        if not text and re.fullmatch(r"(.*\+)?sign", self.complete):  # harmless where nothing is trained, so the programs are silent
            return "moves elements whose gradient is 0 by the whole rate, as rows of an embedding that no batch holds"
        return text.decode() if text else None

    def tensor(
        self, shape: Iterable[int] | Array, tensor: str = "", seed: int = 1, worker: int = 0, workers: int = 1, threads: int = 0, check: bool = True
    ) -> Tensor:
        """A Tensor: this codec on one tensor, with a state of its own. check=False saves a pass over each array, for arrays that
        are known to be finite: a payload of NaN is undefined."""
        return Tensor(self, shape, tensor, seed, worker, workers, threads, check)

    def _stateless(self, shape: Any, tensor: str, seed: int, worker: int) -> Tensor:
        """A Tensor whose state stays empty, kept for the next call of this thread."""
        cache = self._mine.__dict__.setdefault("tensors", {})
        key = (shape_of(shape), tensor, seed, worker)
        found: Tensor | None = cache.get(key)
        if found is None:
            if len(cache) >= 256:
                cache.clear()
            found = cache[key] = Tensor(self, key[0], tensor, seed, worker, int_of("worker", worker) + 1, 0)
        return found

    def encode(
        self, array: Array, step: int = 0, worker: int | None = None, tensor: str | None = None, seed: int | None = None, state: Tensor | None = None
    ) -> bytes:
        """The payload of `array`, as bytes. With `state`, a Tensor of this codec, the codec goes on from its state and the state
        moves on; worker, tensor and seed are then the state's. Else each call is a first step, and nothing is kept: without a state
        ef+topk has no feedback, and sends the same as topk; worker 0, tensor "", seed 1."""
        if state is None:
            values = as_floats(array, tensor)
            mine = self._stateless(values.shape, "" if tensor is None else tensor, 1 if seed is None else seed, 0 if worker is None else worker)
            return mine.encode(values, step)
        if not isinstance(state, Tensor):
            raise UsageError("state=%r: want a Tensor of this codec" % (state,))
        if state.codec.complete != self.complete:
            raise UsageError("the state is of %s, this codec is %s" % (state.codec.spec, self.spec))
        for name, given, own in (("worker", worker, state.worker), ("tensor", tensor, state.name), ("seed", seed, state.seed)):
            if given is not None and given != own:
                raise UsageError("%s=%r: the state's is %r" % (name, given, own))
        data = state.encode(array, step)
        state.advance(array, data, step)
        return data

    def decode(self, data: Bytes, shape: Iterable[int] | Array, step: int = 0, worker: int = 0, tensor: str = "", seed: int = 1) -> Array:
        """The estimate (float32) that a payload decodes to; the address (step, worker, tensor, seed) is the encoder's. `shape`: a
        shape, or an array of that shape. For a shape or a tensor of PyTorch the estimate is a tensor too."""
        return _like(shape, self._stateless(shape, tensor, seed, worker).decode(data, step))

    def merge(self, payloads: Iterable[Bytes], shape: Iterable[int] | Array, step: int = 0, tensor: str = "", seed: int = 1) -> bytes:
        """One payload that decodes to the sum of these payloads' estimates; they are not decoded."""
        return self._stateless(shape, tensor, seed, 0).merge(payloads, step)


def adds(codec: Codec) -> bool:
    """Whether its payloads merge without being decoded."""
    return bool(codec.traits & {"linear", "mergeable"})


class Tensor:
    """A codec on one tensor as one worker sees it, with the codec's state for it. Threads that share it wait for each other."""

    def __init__(
        self, codec: Codec, shape: Any, tensor: str = "", seed: int = 1, worker: int = 0, workers: int = 1, threads: int = 0, check: bool = True
    ) -> None:
        if not isinstance(codec, Codec):
            raise UsageError("codec=%r: want a Codec" % (codec,))
        self.codec, self._lock = codec, threading.RLock()
        self.shape = shape_of(shape)
        self.name, self._kind = tensor, getattr(shape, "shape", shape)
        self.worker, self.workers = int_of("worker", worker), int_of("workers", workers)
        self.seed = seed_of(seed)
        self._handle = c_void_p()
        dims = (c_size_t * max(1, len(self.shape)))(*self.shape)
        name, threads = text_of("tensor", tensor), int_of("threads", threads)
        layout = Layout(name, len(self.shape), dims, self.seed, self.worker, self.workers, threads, not check)
        call(lib.atomo_tensor_open, byref(self._handle), codec._handle, byref(layout))
        self._bound = lib.atomo_encode_bound(self._handle)
        self._size, self._error = c_size_t(), ErrorText()
        self._results = ctypes.addressof(self._size), ctypes.addressof(self._error)
        self._out: Any = None
        self._mean: Any = None

    def __del__(self, close: Any = lib.atomo_tensor_close) -> None:
        if getattr(self, "_handle", None):
            close(self._handle)

    def __repr__(self) -> str:
        return "Tensor(%r, %r, tensor=%r, seed=%d, worker=%d, workers=%d)" % (
            self.codec,
            self.shape,
            self.name,
            self.seed,
            self.worker,
            self.workers,
        )

    def _values(self, array: Array) -> Any:
        plain = type(array) is np.ndarray and array.dtype is _FLOAT and array.flags.c_contiguous
        values = array if plain else as_floats(array, self.name)
        if values.shape != self.shape:
            raise UsageError("%s: shape %s: want %s" % (self.name or "tensor", values.shape, self.shape))
        return values

    @property
    def bound(self) -> int:
        """Most bytes of a payload of `encode`."""
        return self._bound

    def room(self) -> Any:
        """New memory for a payload, the `out` of encode: `bound` bytes (uint8), in large pages where the payload is large."""
        return empty_room(self._bound)

    @_alone
    def encode(self, array: Array, step: int = 0, out: Any = None) -> Any:
        """The payload of `array`; the state is read and stays. With `out`, an array of at least `bound` bytes (uint8), the payload
        is written there, and the part of it that was used is returned: this saves a copy."""
        values, room = self._values(array), out
        if out is None:
            if self._out is None:
                self._out = self.room()
            room = self._out
        elif not _writable(out, _BYTE) or out.ndim != 1 or out.size < self._bound:
            raise UsageError("out: want a writable, contiguous array of at least %d bytes (uint8)" % self._bound)
        if _encode(self._handle, step_of(step), _address(values), _address(room), room.size, *self._results):
            raise failure(self._error)
        used = room[: self._size.value]
        return used.tobytes() if out is None else used

    @_alone
    def decode(self, data: Bytes, step: int = 0, worker: int | None = None) -> Array:
        """The estimate of a payload that `worker` (default: this one) has encoded."""
        data, out = _view(data), _new(self.shape)
        worker = self.worker if worker is None else int_of("worker", worker)
        call(lib.atomo_decode, self._handle, step_of(step), worker, _address(data), data.size, _address(out))
        return _like(self._kind, out)

    @_alone
    def advance(self, array: Array, data: Bytes, step: int = 0) -> None:
        """Moves the state on: this worker alone has sent `data`, the payload of `array`."""
        values, data = self._values(array), _view(data)
        call(lib.atomo_advance, self._handle, step_of(step), _address(values), _address(data), data.size)

    def _merged(self, function: Any, payloads: Iterable[Bytes], *first: Any) -> Any:
        try:
            views = [_view(p) for p in payloads]
        except TypeError:
            raise UsageError("payloads=%r: want a list of payloads" % (payloads,)) from None
        count = len(views)
        addresses = (c_void_p * max(1, count))(*[v.ctypes.data for v in views])
        sizes = (c_size_t * max(1, count))(*[v.size for v in views])
        out = np.empty(lib.atomo_merge_bound(self._handle, count), np.uint8)
        call(function, self._handle, *first, addresses, sizes, count, _address(out), out.size, byref(self._size))
        return out[: self._size.value]

    @_alone
    def merge(self, payloads: Iterable[Bytes], step: int = 0) -> bytes:
        """One payload of the sum."""
        return self._merged(lib.atomo_merge, payloads, step_of(step)).tobytes()

    # ---- one step of several workers: begin; each round send, take from every worker, end_round; finish ----

    @_alone
    def train(self, array: Array, step: int = 0) -> bytes:
        """For codecs that train, on one worker: what all others `learn` before the step."""
        values = self._values(array)
        call(lib.atomo_train, self._handle, step_of(step), _address(values))
        data = lib.atomo_learned(self._handle, byref(self._size))
        return ctypes.string_at(data, self._size.value) if data else b""

    @_alone
    def learn(self, learned: Bytes) -> None:
        learned = _view(learned)
        call(lib.atomo_learn, self._handle, _address(learned), learned.size)

    @_alone
    def begin(self, step: int = 0, senders: int | None = None, mean: Any = None) -> None:
        """Begins a step in which `senders` workers (default: all) send. `mean`: an array (float32, contiguous) that finish will fill
        and return, instead of a new one; it must not be the array that is sent."""
        if mean is None:
            mean = _new(self.shape)
        elif not _writable(mean, _FLOAT) or mean.shape != self.shape:
            raise UsageError("mean: want a writable, contiguous array of float32 of shape %s" % (self.shape,))
        senders = self.workers if senders is None else int_of("senders", senders)
        call(lib.atomo_step_begin, self._handle, step_of(step), senders, _address(mean))
        self._mean = mean  # the library writes to it until the step ends; a refused begin leaves the step that was open

    def _lent(self, function: Any, *arguments: Any) -> Any:
        data = c_void_p()
        call(function, self._handle, *arguments, byref(data), byref(self._size))
        size = self._size.value
        return np.ctypeslib.as_array(ctypes.cast(data, ctypes.POINTER(ctypes.c_uint8)), (size,)) if size else np.empty(0, np.uint8)

    @_alone
    def lend(self, array: Array) -> Any:
        """What `send` returns, not copied: it changes at the next begin, and goes with the Tensor."""
        values = self._values(array)
        return self._lent(lib.atomo_step_send, _address(values))

    @_alone
    def send(self, array: Array) -> Any:
        """This worker's payload of the round, as an array of bytes."""
        return self.lend(array).copy()

    @_alone
    def take(self, worker: int, data: Bytes) -> None:
        """Takes a worker's payload. All workers take all payloads in the same order."""
        data = _view(data)
        call(lib.atomo_step_take, self._handle, int_of("worker", worker), _address(data), data.size)

    @_alone
    def merge_round(self, payloads: Iterable[Bytes]) -> Any:
        """One payload of the sum of this round's payloads, merged ones among them."""
        return self._merged(lib.atomo_step_merge, payloads)

    @_alone
    def take_merged(self, data: Bytes) -> None:
        """Takes the merge of all senders' payloads, instead of every payload by itself."""
        data = _view(data)
        call(lib.atomo_step_take_merged, self._handle, _address(data), data.size)

    @_alone
    def end_round(self) -> bool:
        """True where another round follows."""
        more = c_int()
        call(lib.atomo_step_end_round, self._handle, byref(more))
        return bool(more.value)

    @_alone
    def again(self) -> Any:
        """For two shots, on the owner of a shard, after its round: the payload of the mean, which all `hear`."""
        return self._lent(lib.atomo_step_again).copy()

    @_alone
    def hear(self, data: Bytes) -> None:
        """Takes the payload of a shard's mean, before `finish`; the owner too."""
        data = _view(data)
        call(lib.atomo_step_hear, self._handle, _address(data), data.size)

    @_alone
    def finish(self, array: Array) -> Any:
        """The mean of all estimates; the state moves on."""
        values = self._values(array)
        call(lib.atomo_step_finish, self._handle, _address(values))
        mean, self._mean = self._mean, None
        return mean

    # ---- checkpoints ----

    @_alone
    def state(self) -> bytes:
        """The state as bytes."""
        out = np.empty(lib.atomo_state_size(self._handle), np.uint8)
        call(lib.atomo_state_save, self._handle, _address(out), out.size)
        return out.tobytes()

    @_alone
    def load_state(self, data: Bytes) -> None:
        data = _view(data)
        call(lib.atomo_state_load, self._handle, _address(data), data.size)


class Compressors(Dict[str, Dict[str, Any]]):
    """Compressors by name; each a dictionary: `brief`, one line about it, and `keys`, a list of its spec's keys."""

    def _repr_html_(self) -> str:
        rows = [(name, k["key"], k["range"], k["default"], k["meaning"]) for name, c in self.items() for k in c["keys"] or [dict.fromkeys(_KEY, "")]]
        return table(("compressor", "key", "range", "default", "meaning"), rows)


_KEY = ("key", "type", "range", "default", "meaning", "rate")


def table(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table for a notebook."""

    def row(tag: str, cells: Iterable[Any]) -> str:
        return "<tr>%s</tr>" % "".join("<%s>%s</%s>" % (tag, "" if c is None else escape("%.6g" % c if isinstance(c, float) else str(c)), tag) for c in cells)

    return "<table>%s</table>" % "\n".join([row("th", names), *(row("td", r) for r in rows)])


def _keys(index: int) -> list[dict[str, Any]]:
    keys: list[dict[str, Any]] = []
    key = Key()
    while lib.atomo_compressor_key(index, len(keys), byref(key)):
        values = {name: getattr(key, name) for name in _KEY}
        keys.append({n: v.decode() if isinstance(v, bytes) else bool(v) if n == "rate" else v for n, v in values.items()})
    return keys


def compressors() -> Compressors:
    """All compressors by name: {name: {"brief": one line, "keys": [{"key", "type", "range", "default", "meaning", "rate"}]}}. The
    key whose `rate` is true trades size for error; a default of None: the key is unset."""
    names, brief = Compressors(), ctypes.c_char_p()
    while True:
        name = lib.atomo_compressor(len(names), byref(brief))
        if not name:
            return names
        names[name.decode()] = {"brief": (brief.value or b"").decode(), "keys": _keys(len(names))}
