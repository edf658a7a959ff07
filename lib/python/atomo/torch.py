"""A communication hook for PyTorch's DistributedDataParallel that compresses gradients with any codec.

    from atomo.torch import State, hook
    model = DistributedDataParallel(model)
    state = State("ef+topk:ratio=0.01", model)
    model.register_comm_hook(state, hook)

Every parameter is compressed by itself, in its own shape, with a codec state of its own; parameters of fewer than `min_elements`
elements travel as floats. All ranks end each step with the same bytes. It is the exchange of atomo-train, with its payloads: rank r is
worker r, and steps count from 1.
"""

import numpy as np
import torch

from ._library import UsageError, int_of, seed_of
from ._wire import Failure, Wire, pack, unpack
from .codec import Codec


class State:
    """What the hook keeps between steps.

    spec          of the codec, such as "powersgd:rank=2"
    model         gives the parameters their names, which are part of their random address; without it they are numbered in the
                  order in which they first come, which is the same on all ranks
    min_elements  smaller parameters travel as floats
    exchange      "gather": all ranks get all payloads; "reduce": payloads are merged on the way, which codecs whose payloads
                  add allow, and a power of two of ranks; "auto": reduce where it sends fewer bytes, but gather the floats of
                  small tensors where other tensors are gathered
    bytes_sent    bytes of the payloads that this rank has sent so far, each with its size (8 bytes); padding to one length and
                  that length, which go through gloo too, are left out

    A State cannot be copied or pickled; state_dict and load_state_dict carry it through a checkpoint.
    """

    def __init__(self, spec, model=None, seed=1, min_elements=1000, process_group=None, exchange="auto", threads=0):
        if exchange not in ("auto", "gather", "reduce"):
            raise UsageError("exchange=%r: want auto, gather or reduce" % (exchange,))
        self.codec = Codec(spec)
        if exchange == "reduce" and not _adds(self.codec):
            raise UsageError("exchange='reduce': payloads of %s do not merge" % self.spec)
        self.none = Codec("none")
        self.seed, self.min_elements, self.threads = seed_of(seed), min_elements, int_of("threads", threads)
        self.wire = Wire(process_group)
        self.step = 0
        self._names = {}
        self._numbered = model is None
        if model is not None:
            for name, parameter in model.named_parameters():
                self._names[id(parameter)] = name[7:] if name.startswith("module.") else name
        self._tensors = {}
        self._results = {}  # memory for the means of each bucket, reused: new memory would cost more time than the mean
        self._loaded = {}
        self.exchange = exchange

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
        states = {name: tensor.state() for name, tensor in self._tensors.items() if "stateful" in tensor.codec.traits}
        return {"spec": self.spec, "step": self.step, "bytes_sent": self.bytes_sent, "states": {**self._loaded, **states}}

    def load_state_dict(self, saved):
        """Goes back, or on, to the checkpoint; states that it does not have become empty."""
        try:
            spec, step, sent, states = (saved[key] for key in ("spec", "step", "bytes_sent", "states"))
            states = dict(states)
        except (KeyError, TypeError, ValueError):
            raise UsageError("not a dictionary of State.state_dict: want spec, step, bytes_sent and states") from None
        if Codec(spec).complete != self.codec.complete:
            raise UsageError("the checkpoint is of %s, this state of %s" % (spec, self.spec))
        if not self._numbered:
            self._refuse(set(states) - set(self._names.values()))
        self.step, self.wire.sent = step, sent
        self._loaded, self._tensors = states, {}
        self.wire.forget()

    def _refuse(self, names):
        if names:
            raise UsageError("the checkpoint has states of %s, which the model does not have" % ", ".join(sorted(names)))

    def _end_step(self):
        self.step += 1
        if self._numbered:  # load_state_dict stored the states by number, as it had no names
            self._refuse(set(self._loaded))

    def _tensor(self, parameter, shape):
        name = self._names.setdefault(id(parameter), "parameter%d" % len(self._names))
        tensor = self._tensors.get(name)
        if tensor is None:
            elements = int(np.prod(shape, dtype=np.int64))
            codec = self.codec if elements >= self.min_elements else self.none
            tensor = codec.tensor(shape, name, self.seed, self.wire.rank, self.wire.ranks, self.threads)
            if name in self._loaded:
                tensor.load_state(self._loaded.pop(name))
            self._tensors[name] = tensor
        return tensor

    def _result(self, bucket, like):
        """Memory for the means of a bucket's gradients."""
        result = self._results.get(bucket)
        if result is None or (result.shape, result.dtype, result.device) != (like.shape, like.dtype, like.device):
            result = self._results[bucket] = torch.empty_like(like)
        return result


def _train(state, tensors, values):
    """Rank 0 learns what all begin the step with, for codecs that train."""
    training = [(t, x) for t, x in zip(tensors, values) if "trains" in t.codec.traits]
    if not training:
        return
    learned = _message(state, lambda: [np.frombuffer(t.train(x, state.step + 1), np.uint8) for t, x in training if state.wire.rank == 0])
    everyone = _arrived(state.wire.gather((tensors[0].name, "train"), learned), learned)
    for (tensor, _), data in zip(training, unpack(everyone[0], len(training))):
        tensor.learn(data.tobytes())


def _message(state, payloads):
    """What this rank sends: the payloads that the function returns, or how it failed."""
    try:
        return pack(payloads())
    except Exception as error:  # goes to all ranks, which raise it together
        return Failure.on(state.wire.rank, error)


def _arrived(messages, own):
    """The messages; raises the failure of a rank instead. `own`: this rank's message, or its failure."""
    if isinstance(messages, Failure):
        raise messages.error from getattr(own, "cause", None)
    return messages


def _adds(codec):
    """Whether payloads merge without being decoded."""
    return bool(codec.traits & {"linear", "mergeable"})


def _reduces(state, tensor):
    """Whether this tensor's payloads are merged on their way."""
    world = state.wire.ranks
    paired = not world & (world - 1)
    if state.exchange == "reduce" and not paired:
        raise UsageError("exchange='reduce' on %d ranks: want a power of two" % world)
    least = {"gather": world + 1, "reduce": 2, "auto": 4}[state.exchange]
    return paired and world >= least and _adds(tensor.codec)


def _ways(state, left):
    """The two ways of a round's payloads, each with its tensors and their values. Small tensors that travel as floats join those that
    are gathered: an exchange of their own would cost more time than their bytes."""
    joins = state.exchange == "auto" and not all(_reduces(state, t) for t, _ in left)
    ways = {_take_merged: [], _take_all: []}
    for tensor, value in left:
        small = joins and tensor.codec is state.none
        ways[_take_merged if _reduces(state, tensor) and not small else _take_all].append((tensor, value))
    return ways.items()


def _merge(state, tensors, low, high):
    for message in (low, high):
        if isinstance(message, Failure):
            return message
    pairs = zip(tensors, unpack(low, len(tensors)), unpack(high, len(tensors)))
    return _message(state, lambda: [tensor.merge_round(pair) for tensor, *pair in pairs])


def _take_merged(state, tensors, message, place):
    """An all-reduce by recursive doubling: after log2(ranks) swaps every rank has the merge of all payloads. Both ranks of a pair
    merge the lower one's payload first, so all ranks end with the same bytes."""
    rank, distance = state.wire.rank, 1
    while distance < state.wire.ranks:
        theirs = state.wire.swap((*place, distance), message, rank ^ distance)
        pair = (theirs, message) if rank & distance else (message, theirs)
        message = _merge(state, tensors, *pair)
        distance *= 2
    _arrived(message, message)
    for tensor, payload in zip(tensors, unpack(message, len(tensors))):
        tensor.take_merged(payload)
    return message


def _take_all(state, tensors, message, place):
    everyone = _arrived(state.wire.gather(place, message), message)
    for rank, data in enumerate(everyone):
        for tensor, payload in zip(tensors, unpack(data, len(tensors))):
            tensor.take(rank, payload)
    return everyone


def _exchange(state, tensors, values, means):
    """Sets means to the mean over the ranks of each tensor's estimate."""
    _train(state, tensors, values)
    for tensor, mean in zip(tensors, means):
        tensor.begin(state.step + 1, mean=mean)
    left, turn = list(zip(tensors, values)), 0
    kept = []  # keeps the messages alive until finish
    while left:
        for take, some in _ways(state, left):
            if some:
                message = _message(state, lambda: [t.send(x) for t, x in some])
                kept.append(take(state, [t for t, _ in some], message, (some[0][0].name, turn)))
        left, turn = [(t, x) for t, x in left if t.end_round()], turn + 1
    for tensor, value in zip(tensors, values):
        tensor.finish(value)


def _as_mean(view):
    """The memory of a view as NumPy's, where means can be written; else memory of its own."""
    if view.device.type == "cpu" and view.dtype == torch.float32 and view.is_contiguous():
        return view.numpy()
    return np.empty(tuple(view.shape), np.float32)


def hook(state, bucket):
    """The communication hook: DistributedDataParallel.register_comm_hook(state, hook)."""
    whole, gradients, parameters = bucket.buffer(), bucket.gradients(), bucket.parameters()
    values = [g.detach().to("cpu", torch.float32).contiguous().numpy() for g in gradients]
    tensors = [state._tensor(p, v.shape) for p, v in zip(parameters, values)]
    result = state._result(bucket.index(), whole)
    views = [result.as_strided(g.shape, g.stride(), g.storage_offset() - whole.storage_offset()) for g in gradients]
    means = [_as_mean(view) for view in views]
    _exchange(state, tensors, values, means)
    for view, mean in zip(views, means):
        if view.data_ptr() != mean.ctypes.data:
            view.copy_(torch.from_numpy(mean))
    if bucket.is_last():
        state._end_step()
    done = torch.futures.Future()
    done.set_result(result)
    return done
