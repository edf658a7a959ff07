"""A communication hook for PyTorch's DistributedDataParallel that compresses gradients with any codec.

    from atomo.torch import State, hook
    model = DistributedDataParallel(model)
    state = State("ef+topk:ratio=0.01", model)
    model.register_comm_hook(state, hook)

Every parameter is compressed by itself, in its own shape, with a codec state of its own; parameters of fewer than `min_elements`
elements travel as floats. All ranks end each step with the same bytes. It is the exchange of atomo-train, with its payloads: rank r is
worker r, and steps count from 1. A thread of the State exchanges one bucket after another while backward goes on.

LocalSteps trains with one exchange in many steps.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import json
import queue
import threading
import warnings
import zlib
from itertools import zip_longest
from typing import Any, Callable, Iterable, Sequence

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from ._library import UsageError, int_of, integer, lib, seed_of
from ._wire import Failure, Wire, pack, unpack, worst
from .codec import Codec, Tensor, as_floats


# Messages beside backward need a group of their own, which the ranks of DDP can make by themselves from PyTorch 2.1 on.
_ALONGSIDE = "use_local_synchronization" in inspect.signature(dist.new_group).parameters


class _Skip(Exception):
    """All ranks leave the exchange of this step."""


class _Line:
    """A thread that does one piece of work after another."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def put(self, work: Callable[[], Any]) -> None:
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            self._thread = threading.Thread(target=_Line._go, args=(self._queue,), daemon=True, name="atomo")
            self._thread.start()
        self._queue.put(work)

    @staticmethod
    def _go(line: queue.SimpleQueue[Any]) -> None:
        for work in iter(line.get, None):
            work()
            del work  # what it holds goes now, not when there is more to do

    def wait(self) -> None:
        """Waits until all is done."""
        done = threading.Event()
        self.put(done.set)
        done.wait()

    def __del__(self) -> None:
        self._queue.put(None)


def _names(model: Any) -> dict[int, str]:
    """The names of a model's parameters by id, without the prefix that all have in DDP or after torch.compile."""
    try:
        names = {id(parameter): name for name, parameter in model.named_parameters()}
    except AttributeError:
        raise UsageError("model=%r: want a module of PyTorch" % (model,)) from None
    for prefix in ("_orig_mod.", "module.", "_orig_mod."):
        if all(name.startswith(prefix) for name in names.values()):
            names = {key: name[len(prefix) :] for key, name in names.items()}
    return names


def _one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    if value not in choices:
        raise UsageError("%s=%r: want %s" % (name, value, " or ".join(choices)))
    return value


class State:
    """What the hook keeps between steps.

    spec          of the codec, such as "powersgd:rank=2"
    model         gives the parameters their names, which are part of their random address; without it they are numbered in the
                  order in which they first come, which is the same on all ranks
    min_elements  smaller parameters travel as floats
    process_group the group that carries payloads, and nothing else; by itself a new one of DDP's ranks, over gloo
    exchange      "gather": all ranks get all payloads; "reduce": payloads are merged on the way, which codecs whose payloads
                  add allow, and a power of two of ranks; "auto": reduce where it sends fewer bytes, but gather the floats of
                  small tensors where other tensors are gathered
    nonfinite     "skip": where a gradient of any rank has NaN or infinity, all ranks get means of NaN, and the states stay as they
                  were, so that GradScaler skips the step; "raise": all ranks raise an error
    start         the first `start` steps travel as floats
    bytes_sent    bytes of the payloads that this rank has sent so far, each with its size (8 bytes); padding to one length and
                  that length, which go through gloo too, are left out

    A State serves one model. It cannot be copied or pickled; state_dict and load_state_dict carry it through a checkpoint.
    """

    def __init__(
        self,
        spec: str,
        model: torch.nn.Module | None = None,
        seed: int = 1,
        min_elements: int = 1000,
        process_group: Any = None,
        exchange: str = "auto",
        threads: int = 0,
        nonfinite: str = "skip",
        start: int = 0,
    ) -> None:
        self.exchange = _one_of("exchange", exchange, ("auto", "gather", "reduce"))
        self.nonfinite = _one_of("nonfinite", nonfinite, ("skip", "raise"))
        self.codec, self.none = Codec(spec), Codec("none")
        self._traits = {codec: codec.traits for codec in (self.codec, self.none)}
        if exchange == "reduce" and not self._adds(self.codec):
            raise UsageError("exchange='reduce': payloads of %s do not merge" % self.spec)
        self.seed, self.threads = seed_of(seed), int_of("threads", threads)
        self.min_elements, self.start = (integer(n, v, 0, 2**63 - 1) for n, v in (("min_elements", min_elements), ("start", start)))
        self.wire = Wire(process_group)
        self.step = 0
        self._history = 0  # the same on all ranks: a checksum over what all have sent
        self._names = {} if model is None else _names(model)
        self._numbered = self._names_grow = model is None
        self._parameters = [] if model is None else list(model.parameters())  # alive, so that no other one gets an id of theirs
        self._tensors: dict[str, Tensor] = {}
        self._results: dict[int, Any] = {}  # memory for the means of each bucket, reused: new memory would cost more time than the mean
        self._ferries: dict[int, _Ferry] = {}
        self._loaded: dict[str, bytes] = {}
        self._failure: Failure | None = None  # of this rank, which the others do not know yet
        self._open: list[_Bucket] = []  # buckets of this step without a result
        self._greeted = self._skips = self._warned = self._awaited = False
        self._line = _Line()
        self._error: Exception | None = None  # of this step
        if self.codec.caution:
            warnings.warn("%s: %s" % (self.spec, self.codec.caution), stacklevel=2)

    @property
    def spec(self) -> str:
        return self.codec.spec

    @property
    def bytes_sent(self) -> int:
        return self.wire.sent

    def __repr__(self) -> str:
        return "State(%r, seed=%d, min_elements=%d, exchange=%r, step=%d, bytes_sent=%d)" % (
            self.spec,
            self.seed,
            self.min_elements,
            self.exchange,
            self.step,
            self.bytes_sent,
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy would know neither the model's parameters nor the process group. DDP copies none: it keeps the object that
        register_comm_hook was given."""
        raise TypeError("a State cannot be copied or pickled: save its state_dict(), and load it into a new State")

    def state_dict(self) -> dict[str, Any]:
        """This rank's states, for a checkpoint: every rank saves its own."""
        states = {name: tensor.state() for name, tensor in self._tensors.items() if self._keeps(tensor.codec)}
        saved = {"spec": self.spec, "step": self.step, "bytes_sent": self.bytes_sent, "states": {**self._loaded, **states}}
        return {**saved, "history": self._history}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Goes back, or on, to the checkpoint; states that it does not have become empty."""
        try:
            spec, step, sent, states = (saved[key] for key in ("spec", "step", "bytes_sent", "states"))
            states, history = dict(states), saved.get("history", 0)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UsageError("not a dictionary of State.state_dict: want spec, step, bytes_sent and states") from None
        if Codec(spec).complete != self.codec.complete:
            raise UsageError("the checkpoint is of %s, this state of %s" % (spec, self.spec))
        if not self._numbered:
            self._refuse(set(states) - set(self._names.values()))
        self.step, self.wire.sent = (integer(n, v, 0, 2**63 - 1) for n, v in (("step", step), ("bytes_sent", sent)))
        self._loaded, self._tensors, self._history = states, {}, integer("history", history, 0, 2**32 - 1)
        self._failure, self._open, self._skips, self._error = None, [], False, None

    def _refuse(self, names):
        if names:
            raise UsageError("the checkpoint has states of %s, which the model does not have" % ", ".join(sorted(names)))

    def _adds(self, codec):
        """Whether payloads merge without being decoded."""
        return bool(self._traits[codec] & {"linear", "mergeable"})

    def _keeps(self, codec):
        return "stateful" in self._traits[codec]

    @property
    def _plain(self):
        """Whether this step travels as floats."""
        return self.step < self.start

    def _name(self, parameter):
        if id(parameter) not in self._names:
            if not self._names_grow:
                hint = "every model in DDP wants a State of its own, which is given this model"
                raise UsageError("a parameter of shape %s is not of this State's model" % (tuple(parameter.shape),), hint)
            self._names[id(parameter)] = "parameter%d" % len(self._names)
            self._parameters.append(parameter)
        return self._names[id(parameter)]

    def _tensor(self, part):
        codec = self.none if self._plain else part.codec
        tensor = self._tensors.get(part.name)
        if tensor is None or tensor.codec is not codec:
            tensor = codec.tensor(part.value.shape, part.name, self.seed, self.wire.rank, self.wire.ranks, self.threads)
            if self._keeps(codec) and part.name in self._loaded:
                tensor.load_state(self._loaded[part.name])
                del self._loaded[part.name]
            self._tensors[part.name] = tensor
        return tensor

    def _result(self, bucket, like):
        """Memory for the means of a bucket's gradients."""
        result = self._results.get(bucket)
        if result is None or (result.shape, result.dtype, result.device) != (like.shape, like.dtype, like.device):
            result = self._results[bucket] = torch.empty_like(like)
        return result

    def _ferry(self, bucket: int, like: torch.Tensor) -> _Ferry:
        ferry = self._ferries.get(bucket)
        if ferry is None or (ferry.means.numel(), ferry.means.dtype) != (like.numel(), like.dtype):
            ferry = self._ferries[bucket] = _Ferry(like)
        return ferry

    # ---- failures: a rank that has one goes on to its next message, and sends it there, so that no rank waits for a payload ----

    def _do(self, work, *arguments):
        """Works, unless this rank has failed; keeps its failure."""
        if not self._failure:
            try:
                return work(*arguments)
            except Exception as error:
                self._failure = Failure.on(self.wire.rank, error)
        return None

    def _message(self, payloads):
        """What this rank sends: the payloads that the function returns, or its failure."""
        message = self._do(lambda: pack(payloads()))
        return self._failure or message

    def _arrived(self, messages, wire, bucket):
        """The messages; where they are a failure instead, all ranks raise it, or skip the step."""
        if not isinstance(messages, Failure):
            return messages
        failure, own, self._failure = messages, self._failure, None
        if failure.differs:
            failure = _difference(wire, bucket.facts)
        if failure.nonfinite and self.nonfinite == "skip":
            raise _Skip(failure.error)
        raise failure.error from getattr(own, "cause", None)

    def _remember(self, message):
        """Payloads are the same on all ranks, and those of another run differ."""
        self._history = zlib.crc32(message[:256], self._history)

    def _skip(self, error):
        self._skips = True
        if not self._warned:
            says = "step %d: %s: the means of the step are NaN, and the codec's states stay (this is said once)"
            warnings.warn(says % (self.step + 1, error), RuntimeWarning, stacklevel=3)
            self._warned = True

    def _close(self, bucket):
        """Gives results. Tensors with a state finish at the end of the step, when no rank can skip it any more."""
        self._open.append(bucket)
        late = [part for opened in self._open for part in opened.parts if part.late]
        if late and not (bucket.last or self._skips or self._failure):
            return
        if not self._skips:
            self._do(lambda: [part.finish() for part in late])
        if bucket.last and self._failure:
            failure = self._failure
            if failure.nonfinite:  # a mean beyond float32: all ranks have it
                self._failure = None
            if not failure.nonfinite or self.nonfinite == "raise":
                raise failure.error from failure.cause
            self._skip(failure.error)
        for opened in self._open:
            opened.deliver(bool(self._skips or self._failure))
        self._open = []
        if bucket.last:
            self._end_step()

    def _end_step(self):
        self.step += 1
        self._skips = self._names_grow = False
        if self._numbered:  # load_state_dict stored the states by number, as it had no names
            self._do(self._refuse, set(self._loaded) - set(self._names.values()))

    def _lose_step(self, bucket: _Bucket, error: Exception) -> None:
        """Gives the error to all that wait for a result."""
        for opened in [*self._open, bucket]:
            if not opened.done.done():
                opened.done.set_result(error)
        self._open, self._skips, self._error = [], False, error

    def _serve(self, bucket: _Bucket) -> None:
        """Exchanges a bucket. After an error the others of the step get the same error."""
        try:
            if bucket.index == 0:
                self._error = None
            if self._error:
                raise self._error
            if not self._skips:
                try:
                    _exchange(self, bucket)
                except _Skip as skip:
                    self._skip(skip)
            self._close(bucket)
        except Exception as error:
            self._lose_step(bucket, error)

    def _await(self) -> None:
        """At the end of backward, before DDP looks at the results: raises an error as it is, which DDP would make a RuntimeError."""
        self._awaited = False
        self._line.wait()
        if self._error:
            raise self._error


def _real(tensor):
    """A complex tensor as a real one of one axis more."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


class _Part:
    """One parameter's gradient in a bucket, on its way to the mean."""

    name = ""
    late = False  # whether it keeps a state, and finishes at the end of the step

    def __init__(self, state, parameter):
        self.parameter = parameter
        elements = parameter.numel() * (2 if parameter.is_complex() else 1)
        self.codec = state.codec if elements >= state.min_elements else state.none

    def open(self, state, gradient, view):
        self.view = _real(view)
        self.value = as_floats(_real(gradient), self.name)
        self.mean = _as_mean(self.view)
        self.tensor = state._tensor(self)
        self.late = state._keeps(self.tensor.codec)

    def send(self):
        self.sent = self.tensor.lend(self.value)
        return self.sent

    def finish(self):
        self.tensor.finish(self.value)
        if self.view.data_ptr() != self.mean.ctypes.data:
            self.view.copy_(torch.from_numpy(self.mean))


class _Ferry:
    """The way of a bucket from a GPU and back: one pinned buffer, half of it for gradients and half for means. Copies have a stream of
    their own, so that they do not wait for the rest of backward."""

    def __init__(self, like: torch.Tensor) -> None:
        memory = torch.empty(2 * like.numel(), dtype=like.dtype, pin_memory=like.is_cuda)
        self.gradients, self.means = memory.chunk(2)
        self.stream = torch.cuda.Stream(like.device)

    def fetch(self, whole: torch.Tensor) -> None:
        """Begins to copy gradients to the CPU; `wait` ends it."""
        self.stream.wait_stream(torch.cuda.current_stream(whole.device))
        with torch.cuda.stream(self.stream):
            self.gradients.copy_(whole, non_blocking=True)
            self.fetched = self.stream.record_event()

    def wait(self) -> None:
        self.fetched.synchronize()

    @contextlib.contextmanager
    def bring(self, result: torch.Tensor) -> Any:
        """Begins to copy means to the GPU; who waits for a future that is set within waits for the copy."""
        with torch.cuda.stream(self.stream):
            result.copy_(self.means, non_blocking=True)
            yield


def _is_far(whole: torch.Tensor) -> bool:
    return whole.is_cuda


class _Bucket:
    """A bucket of DDP, and the future of its result."""

    facts: dict[str, Any] = {}

    def __init__(self, state: State, bucket: Any) -> None:
        self.index, self.last, self.whole, self.gradients = bucket.index(), bucket.is_last(), bucket.buffer(), bucket.gradients()
        self.parts = [_Part(state, p) for p in bucket.parameters()]
        self.result = state._result(self.index, self.whole)
        self.here, self.means, self.ferry = self.whole, self.result, None
        if _is_far(self.whole):
            self.ferry = state._ferry(self.index, self.whole)
            self.here, self.means = self.ferry.gradients, self.ferry.means
            self.ferry.fetch(self.whole)
        self.done: torch.futures.Future[Any] = torch.futures.Future(devices=[self.whole.device] if self.whole.is_cuda else None)

    def deliver(self, nan: bool) -> None:
        if nan:
            self.means.fill_(float("nan"))
        with self.ferry.bring(self.result) if self.ferry else contextlib.nullcontext():
            self.done.set_result(self.result)

    def describe(self, state):
        """What all ranks must share: travels as a digest with every message, and is told where digests differ."""
        for part in self.parts:
            part.name = state._name(part.parameter)
        names = ("seed", "min_elements", "exchange", "nonfinite", "start", "step")
        self.facts = {"spec": state.codec.complete, **{name: getattr(state, name) for name in names}}
        self.facts["version"], self.facts["process_group"] = lib.atomo_version().decode(), state.wire.members
        self.facts["parameters"] = [
            "%s %s %s" % (part.name, part.parameter.dtype, "x".join(map(str, part.parameter.shape))) for part in self.parts
        ]
        self.facts["bucket"], self.facts["history"] = self.index, state._history
        state.wire.digest = zlib.crc32(json.dumps(self.facts).encode())

    def _cut(self, memory, part, like):
        """The part of the bucket's memory, or of memory like it, that a gradient of DDP has. PyTorch 2 makes the memory of complex
        gradients real, but leaves places and shapes as they were."""
        start = like.storage_offset() - self.whole.storage_offset()
        if part.parameter.is_complex() and not memory.is_complex():
            memory = torch.view_as_complex(memory.view(-1, 2))
        return memory.as_strided(like.shape, like.stride(), memory.storage_offset() + start)

    def open(self, state):
        if self.ferry:
            self.ferry.wait()
        if self.whole.layout != torch.strided:
            raise UsageError("%s: DDP hands out a sparse gradient" % self.parts[0].name, "make its module with sparse=False")
        for part, like in zip(self.parts, self.gradients):
            part.open(state, *(self._cut(memory, part, like) for memory in (self.here, self.means)))


_ADVICE = {
    "step": "every rank loads a checkpoint of the same step, and makes as many steps",
    "history": "every rank loads the checkpoint of the same run",
    "parameters": "every rank makes the same model, and gives it to State",
    "version": "every rank wants the same libatomo",
}


def _difference(wire, facts):
    """What the ranks differ in, by name: a failure, the same on all ranks."""
    wire.digest = 0
    everyone = wire.gather("facts", pack([np.frombuffer(json.dumps(facts).encode(), np.uint8)]))
    everyone = [json.loads(unpack(told, 1)[0].tobytes()) for told in everyone]
    found, first = {}, everyone[0]
    for rank, other in enumerate(everyone):
        for name in first:
            if name not in found and first[name] != other[name]:
                a, b = first[name], other[name]
                if name == "parameters":
                    a, b = next((x, y) for x, y in zip_longest(a, b, fillvalue="none") if x != y)
                found[name] = "%s: rank 0 has %s, rank %d has %s" % (name, a, rank, b)
    if len(found) > 1:
        found.pop("history", None)  # follows from the others
    hint = _ADVICE.get(min(found, key=list(first).index), "give the State of every rank the same arguments")
    return Failure(UsageError.status, "the ranks differ in " + "; ".join(found.values()), hint)


def _groups_of(parameter):
    """The process groups of DistributedDataParallel that have the parameter; DDP tells a hook none of it."""
    models = [thing for thing in gc.get_objects() if issubclass(type(thing), DistributedDataParallel)]
    return [model.process_group for model in models if any(p is parameter for p in model.parameters())]


def _twin(group: Any) -> Any:
    """A gloo group of the same ranks, so that its messages do not mix with those of DDP, or of the program."""
    return dist.new_group(Wire(group).members, backend="gloo", use_local_synchronization=True) if _ALONGSIDE else group


def _greet(state, bucket):
    """Before the first message: the ranks of DDP's group, whatever their States have in common, tell each other what they must share.
    Then the payloads get a group of their own."""
    groups = _groups_of(bucket.parts[0].parameter)
    wire, theirs = state.wire, groups[0] if groups else state.wire.group
    own = wire.group is not None and wire.group is not theirs
    far = "gloo" not in dist.get_backend(theirs)
    if far and not own:
        if not _ALONGSIDE:
            hint = "State(..., process_group=torch.distributed.new_group(backend='gloo'))"
            raise UsageError("the hook sends bytes over gloo, and the backend of DDP's group is %s" % dist.get_backend(theirs), hint)
        wire.group = _twin(theirs)
        if wire.rank == 0:
            says = "the backend of the process group is %s: payloads travel through a new group of its ranks, over gloo"
            warnings.warn(says % dist.get_backend(theirs), RuntimeWarning, stacklevel=2)
    elif not own:
        wire.group = theirs
    state._do(bucket.describe, state)
    meeting = wire if far else Wire(theirs)
    meeting.digest = wire.digest
    state._arrived(meeting.gather("greeting", state._failure or pack([])), meeting, bucket)
    if groups and wire.members not in [Wire(group).members for group in groups]:
        raise UsageError("process_group: its ranks are %s, those of DDP's group are %s" % (wire.members, Wire(theirs).members))
    if groups and wire.group is theirs:
        wire.group = _twin(theirs)
    state._greeted = True


def _train(state, bucket):
    """Rank 0 learns what all begin the step with, for codecs that train. Before `start` its message is empty: the kinds of
    messages do not depend on the step."""
    training = [part for part in bucket.parts if "trains" in state._traits[part.codec]]
    if not training:
        return 0
    wire, learns = state.wire, [] if state._plain else training
    learned = state._message(
        lambda: [np.frombuffer(p.tensor.train(p.value, state.step + 1), np.uint8) for p in learns if wire.rank == 0]
    )
    everyone = state._arrived(wire.gather((bucket.index, 0), learned), wire, bucket)
    state._do(lambda: [p.tensor.learn(data) for p, data in zip(learns, unpack(everyone[0], len(learns)))])
    return 1


def _reduces(state, codec):
    """Whether this codec's payloads are merged on their way."""
    world = state.wire.ranks
    paired = not world & (world - 1)
    if state.exchange == "reduce" and not paired:
        raise UsageError("exchange='reduce' on %d ranks: want a power of two" % world)
    least = {"gather": world + 1, "reduce": 2, "auto": 4}[state.exchange]
    return paired and world >= least and state._adds(codec)


def _ways(state, parts):
    """The ways of a round's payloads, each with its parts. Small tensors that travel as floats join those that are gathered: an
    exchange of their own would cost more time than their bytes. The floats before `start` go the way of their codec, so that the
    kind of a message does not depend on the step."""
    reduces = {codec: _reduces(state, codec) for codec in {part.codec for part in parts}}
    joins = state.exchange == "auto" and not all(reduces.values())
    ways: dict[Any, list[_Part]] = {_take_merged: [], _take_all: []}
    for part in parts:
        small = joins and part.codec is state.none
        ways[_take_merged if reduces[part.codec] and not small else _take_all].append(part)
    return [(take, some) for take, some in ways.items() if some]


def _take_merged(state, bucket, parts, message, place):
    """An all-reduce by recursive doubling: after log2(ranks) swaps every rank has the merge of all payloads. Both ranks of a pair
    merge the lower one's payload first, so all ranks end with the same bytes."""
    rank, distance = state.wire.rank, 1
    while distance < state.wire.ranks:
        theirs = state.wire.swap((*place, distance), message, rank ^ distance)
        pair = (theirs, message) if rank & distance else (message, theirs)
        message = worst(pair) or _merge(state, parts, *pair)
        distance *= 2
    message = state._arrived(message, state.wire, bucket)
    state._remember(message)
    state._do(lambda: [part.tensor.take_merged(data) for part, data in zip(parts, unpack(message, len(parts)))])


def _merge(state, parts, low, high):
    pairs = zip(parts, unpack(low, len(parts)), unpack(high, len(parts)))
    return state._message(lambda: [part.tensor.merge_round(pair) for part, *pair in pairs])


def _take_all(state, bucket, parts, message, place):
    everyone = state._arrived(state.wire.gather(place, message), state.wire, bucket)
    for rank, data in enumerate(everyone):
        state._remember(data)
        own = rank == state.wire.rank  # the tensor keeps its own payload, and copies others
        state._do(lambda: [part.tensor.take(rank, part.sent if own else p) for part, p in zip(parts, unpack(data, len(parts)))])


def _exchange(state, bucket):
    """Takes the payloads of all ranks; the mean of a tensor without a state is finished then."""
    if state._greeted:
        state._do(bucket.describe, state)
    else:
        _greet(state, bucket)
    state._do(bucket.open, state)
    sent = _train(state, bucket)
    state._do(lambda: [part.tensor.begin(state.step + 1, mean=part.mean) for part in bucket.parts])
    rounds = {codec: 1 if state._plain else codec.rounds for codec in state._traits}
    for turn in range(max(rounds[part.codec] for part in bucket.parts)):
        left = [part for part in bucket.parts if rounds[part.codec] > turn]
        for take, some in _ways(state, left):
            message = state._message(lambda: [part.send() for part in some])
            take(state, bucket, some, message, (bucket.index, sent))
            sent += 1
        state._do(lambda: [part.tensor.end_round() for part in left])
    state._do(lambda: [part.finish() for part in bucket.parts if not part.late])


def _as_mean(view):
    """The memory of a view as NumPy's, where means can be written; else memory of its own."""
    if view.device.type == "cpu" and view.dtype == torch.float32 and view.is_contiguous():
        return view.numpy()
    return np.empty(tuple(view.shape), np.float32)


def _value(done: torch.futures.Future[Any]) -> torch.Tensor:
    """The result of a bucket; an error is raised, as DDP takes no other from a future."""
    value = done.value()
    if isinstance(value, Exception):
        raise value
    return value


def hook(state, bucket):  # type: ignore[no-untyped-def]  # DDP refuses annotations that are text
    """The communication hook: DistributedDataParallel.register_comm_hook(state, hook). Returns at once: the State's thread
    exchanges buckets in the order in which backward makes them, which is the same on all ranks."""
    if not isinstance(state, State):
        raise UsageError("state=%r: want an atomo.torch.State" % (state,))
    opened = _Bucket(state, bucket)
    result = opened.done.then(_value)
    if opened.index == 0 or not state._awaited:  # once a step; again where parts of backward end by themselves
        torch.autograd.Variable._execution_engine.queue_callback(state._await)
        state._awaited = True
    if _ALONGSIDE and state._greeted:
        state._line.put(lambda: state._serve(opened))
    else:  # before the first message DDP's own group is used, by one thread at a time
        state._serve(opened)
    return result


# ---- local steps ----


class _Whole:
    """All pseudo-gradients as the one bucket of a step."""

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = parameters
        self._memory = torch.empty(sum(p.numel() for p in parameters), device=parameters[0].device)

    def index(self) -> int:
        return 0

    def is_last(self) -> bool:
        return True

    def buffer(self) -> torch.Tensor:
        return self._memory

    def gradients(self) -> list[torch.Tensor]:
        return _views(self._memory, self._parameters)

    def parameters(self) -> Sequence[torch.Tensor]:
        return self._parameters


def _views(flat: torch.Tensor, parameters: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Parts of a vector in the shapes of the parameters."""
    return [part.view(p.shape) for part, p in zip(flat.split([p.numel() for p in parameters]), parameters)]


class LocalSteps:
    """Training with local steps (DiLoCo, arXiv 2311.08105), as `atomo-train run --local-steps H`. Each rank takes `every` steps of
    its own optimizer from common weights. Then the ranks exchange D = common weights - own weights through the codec, and SGD with
    Nesterov's momentum applies the mean of D:

        v = outer_momentum v + D,    common weights -= outer_lr (D + outer_momentum v)

    All go on from the new common weights; the states of the inner optimizers stay.

        local = LocalSteps(model, torch.optim.AdamW(model.parameters()), every=16, spec="ef:decay=0.95+chunktopk")
        ...
        loss.backward()
        local.step()

    outer_lr 1 and outer_momentum 0 average the weights. The model is not in DDP. Rank 0's weights are the first common ones. Its
    buffers, such as the running means of BatchNorm, stay each rank's own. Other arguments are those of State. Pseudo-gradients that
    are not finite are an error.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        inner_optimizer: torch.optim.Optimizer,
        every: int,
        outer_lr: float = 1.0,
        outer_momentum: float = 0.0,
        spec: str = "none",
        **state: Any,
    ) -> None:
        if isinstance(model, DistributedDataParallel):
            raise UsageError("the model is in DistributedDataParallel, which exchanges gradients in every step", "give model.module")
        if not 0 <= outer_momentum < 1:
            raise UsageError("outer_momentum=%r: want 0 to less than 1" % outer_momentum)
        self.inner_optimizer, self.every = inner_optimizer, integer("every", every, 1, 2**31 - 1)
        self.outer_lr, self.outer_momentum, self.steps = outer_lr, outer_momentum, 0
        self.state = State(spec, model, **{"nonfinite": "raise", **state})
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._bucket: Any = _Whole(self._parameters)
        self._common = torch.cat([p.detach().reshape(-1).float() for p in self._parameters])
        self._velocity = torch.zeros_like(self._common)
        group = self.state.wire.group
        dist.broadcast(self._common, 0 if group is None else dist.get_global_rank(group, 0), group=group)
        self._take_common()

    @torch.no_grad()
    def _take_common(self) -> None:
        for p, common in zip(self._parameters, _views(self._common, self._parameters)):
            p.copy_(common)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.inner_optimizer.zero_grad(set_to_none=set_to_none)

    def step(self, closure: Any = None) -> Any:
        """A step of the inner optimizer; behind every `every`-th the ranks exchange."""
        loss = self.inner_optimizer.step(closure)
        self.steps += 1
        if self.steps % self.every == 0:
            self._exchange()
        return loss

    @torch.no_grad()
    def _exchange(self) -> None:
        views = zip(self._parameters, self._bucket.gradients(), _views(self._common, self._parameters))
        for p, difference, common in views:
            difference.copy_(common.to(p.dtype)).sub_(p)
        self.state.step = self.steps - 1  # payloads have the number of the step that they follow, as in atomo-train
        bucket = _Bucket(self.state, self._bucket)
        self.state._serve(bucket)
        if self.state._error:
            raise self.state._error
        mean = bucket.done.wait()
        self._velocity.mul_(self.outer_momentum).add_(mean)
        self._common.sub_(mean.add_(self._velocity, alpha=self.outer_momentum), alpha=self.outer_lr)
        self._take_common()

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint, beside the model's own: every rank saves its own."""
        inner, codec = self.inner_optimizer.state_dict(), self.state.state_dict()
        return {"steps": self.steps, "common": self._common.clone(), "velocity": self._velocity.clone(), "inner": inner, "codec": codec}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Goes on from a checkpoint; the model loads its own."""
        self.steps = saved["steps"]
        self._common.copy_(saved["common"])
        self._velocity.copy_(saved["velocity"])
        self.inner_optimizer.load_state_dict(saved["inner"])
        self.state.load_state_dict(saved["codec"])
