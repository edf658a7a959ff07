"""A communication hook for PyTorch's DistributedDataParallel that compresses gradients with any codec.

    from atomo.torch import State, hook
    model = DistributedDataParallel(model)
    state = State("ef+topk:ratio=0.01", model)
    model.register_comm_hook(state, hook)

Every parameter is compressed by itself, in its own shape, with a codec state of its own; parameters of fewer than `min_elements`
elements travel as floats. All ranks end each step with the same bytes. It is the exchange of atomo-train, with its payloads: rank r is
worker r, and steps count from 1.
"""

import gc
import json
import warnings
import zlib
from itertools import zip_longest

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from ._library import UsageError, int_of, integer, lib, seed_of
from ._wire import Failure, Wire, pack, unpack, worst
from .codec import Codec, as_floats


class _Skip(Exception):
    """All ranks leave the exchange of this step."""


def _names(model):
    """The names of a model's parameters by id, without the prefix that all have in DDP or after torch.compile."""
    try:
        names = {id(parameter): name for name, parameter in model.named_parameters()}
    except AttributeError:
        raise UsageError("model=%r: want a module of PyTorch" % (model,)) from None
    for prefix in ("_orig_mod.", "module.", "_orig_mod."):
        if all(name.startswith(prefix) for name in names.values()):
            names = {key: name[len(prefix) :] for key, name in names.items()}
    return names


def _one_of(name, value, choices):
    if value not in choices:
        raise UsageError("%s=%r: want %s" % (name, value, " or ".join(choices)))
    return value


class State:
    """What the hook keeps between steps.

    spec          of the codec, such as "powersgd:rank=2"
    model         gives the parameters their names, which are part of their random address; without it they are numbered in the
                  order in which they first come, which is the same on all ranks
    min_elements  smaller parameters travel as floats
    process_group the ranks that exchange payloads; by itself DDP's own
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
        self, spec, model=None, seed=1, min_elements=1000, process_group=None, exchange="auto", threads=0, nonfinite="skip", start=0
    ):
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
        self._tensors = {}
        self._results = {}  # memory for the means of each bucket, reused: new memory would cost more time than the mean
        self._loaded = {}
        self._failure = None  # of this rank, which the others do not know yet
        self._open = []  # buckets of this step without a result
        self._greeted = self._skips = self._warned = False
        if self.codec.caution:
            warnings.warn("%s: %s" % (self.spec, self.codec.caution), stacklevel=2)

    @property
    def spec(self):
        return self.codec.spec

    @property
    def bytes_sent(self):
        return self.wire.sent

    def __repr__(self):
        return "State(%r, seed=%d, min_elements=%d, exchange=%r, step=%d, bytes_sent=%d)" % (
            self.spec,
            self.seed,
            self.min_elements,
            self.exchange,
            self.step,
            self.bytes_sent,
        )

    def __reduce_ex__(self, protocol):
        """A copy would know neither the model's parameters nor the process group. DDP copies none: it keeps the object that
        register_comm_hook was given."""
        raise TypeError("a State cannot be copied or pickled: save its state_dict(), and load it into a new State")

    def state_dict(self):
        """This rank's states, for a checkpoint: every rank saves its own."""
        states = {name: tensor.state() for name, tensor in self._tensors.items() if self._keeps(tensor.codec)}
        saved = {"spec": self.spec, "step": self.step, "bytes_sent": self.bytes_sent, "states": {**self._loaded, **states}}
        return {**saved, "history": self._history}

    def load_state_dict(self, saved):
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
        self._failure, self._open, self._skips = None, [], False

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
            if self._skips or self._failure:
                opened.result.fill_(float("nan"))
            opened.done.set_result(opened.result)
        self._open = []
        if bucket.last:
            self._end_step()

    def _end_step(self):
        self.step += 1
        self._skips = self._names_grow = False
        if self._numbered:  # load_state_dict stored the states by number, as it had no names
            self._do(self._refuse, set(self._loaded) - set(self._names.values()))

    def _lose_step(self):
        self._open, self._skips = [], False


def _real(tensor):
    """A complex tensor as a real one of one axis more."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


class _Part:
    """One parameter's gradient in a bucket, on its way to the mean."""

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


class _Bucket:
    """A bucket of DDP, and the future of its result."""

    facts = {}

    def __init__(self, state, bucket):
        self.index, self.last, self.whole, self.gradients = bucket.index(), bucket.is_last(), bucket.buffer(), bucket.gradients()
        self.parts = [_Part(state, p) for p in bucket.parameters()]
        self.result = state._result(self.index, self.whole)
        self.done = torch.futures.Future()

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
        if self.whole.layout != torch.strided:
            raise UsageError("%s: DDP hands out a sparse gradient" % self.parts[0].name, "make its module with sparse=False")
        for part, like in zip(self.parts, self.gradients):
            part.open(state, *(self._cut(memory, part, like) for memory in (self.whole, self.result)))


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


def _greet(state, bucket):
    """Before the first message: the ranks of DDP's group, whatever their States have in common, tell each other what they must share."""
    groups = _groups_of(bucket.parts[0].parameter)
    far = any(dist.get_backend(group) == "nccl" for group in groups)
    if groups and state.wire.group is None:
        if far:
            hint = "State(..., process_group=torch.distributed.new_group(backend='gloo'))"
            raise UsageError("the hook sends bytes over gloo, and the backend of DDP's group is nccl", hint)
        state.wire.group = groups[0]
    state._do(bucket.describe, state)
    wire = Wire(groups[0]) if groups and not far else state.wire
    wire.digest = state.wire.digest
    state._arrived(wire.gather("greeting", state._failure or pack([])), wire, bucket)
    if groups and state.wire.members not in [Wire(group).members for group in groups]:
        raise UsageError("process_group: its ranks are %s, those of DDP's group are %s" % (state.wire.members, Wire(groups[0]).members))
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
    ways = {_take_merged: [], _take_all: []}
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


def hook(state, bucket):
    """The communication hook: DistributedDataParallel.register_comm_hook(state, hook)."""
    if not isinstance(state, State):
        raise UsageError("state=%r: want an atomo.torch.State" % (state,))
    opened = _Bucket(state, bucket)
    try:
        if not state._skips:
            try:
                _exchange(state, opened)
            except _Skip as skip:
                state._skip(skip)
        state._close(opened)
    except Exception:
        state._lose_step()
        raise
    return opened.done
