"""A communication hook for PyTorch's DistributedDataParallel that compresses gradients with any codec.

    from atomo.torch import State, hook
    model = DistributedDataParallel(model)
    state = State("ef+topk:ratio=0.01", model)
    model.register_comm_hook(state, hook)

Every parameter is compressed by itself, in its own shape, with a codec state of its own; parameters of fewer than `min_elements`
elements travel as floats. All ranks end each step with the same bytes. It is the exchange of atomo-train: rank r is worker r.
"""

import struct

import numpy as np
import torch
import torch.distributed as dist

from ._library import seed_of
from .codec import Codec

_HEAD = struct.Struct("<q")


class State:
    """What the hook keeps between steps.

    spec          of the codec, such as "powersgd:rank=2"
    model         gives the parameters their names, which are part of their random address; without it they are numbered in the
                  order in which they first come, which is the same on all ranks
    min_elements  smaller parameters travel as floats
    exchange      "gather": all ranks get all payloads; "reduce": payloads are merged on the way, which codecs whose payloads
                  add allow, and a power of two of ranks; "auto": reduce where it sends fewer bytes
    bytes_sent    bytes of the payloads that this rank has sent so far, each with its size (8 bytes); padding to one length and
                  that length, which go through gloo too, are left out

    A State cannot be copied or pickled; state_dict and load_state_dict carry it through a checkpoint.
    """

    def __init__(self, spec, model=None, seed=1, min_elements=1000, process_group=None, exchange="auto", threads=0):
        if exchange not in ("auto", "gather", "reduce"):
            raise ValueError("exchange=%r: want auto, gather or reduce" % (exchange,))
        self.codec = Codec(spec)
        if exchange == "reduce" and not _adds(self.codec):
            raise ValueError("exchange='reduce': payloads of %s do not merge" % self.spec)
        self.none = Codec("none")
        self.seed, self.min_elements, self.threads = seed_of(seed), min_elements, threads
        self.group = process_group
        self.step = 0
        self.bytes_sent = 0
        self._names = {}
        self._numbered = model is None
        if model is not None:
            for name, parameter in model.named_parameters():
                self._names[id(parameter)] = name[7:] if name.startswith("module.") else name
        self._tensors = {}
        self._means = {}  # arrays for the means, reused in every step: new memory would cost more time than the mean
        self._loaded = {}
        self.exchange = exchange

    @property
    def spec(self):
        return self.codec.spec

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
            raise ValueError("not a dictionary of State.state_dict: want spec, step, bytes_sent and states") from None
        if spec != self.spec:
            raise ValueError("the checkpoint is of %s, this state of %s" % (spec, self.spec))
        if not self._numbered:
            self._refuse(set(states) - set(self._names.values()))
        self.step, self.bytes_sent = step, sent
        self._loaded, self._tensors, self._means = states, {}, {}

    def _refuse(self, names):
        if names:
            raise ValueError("the checkpoint has states of %s, which the model does not have" % ", ".join(sorted(names)))

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
            tensor = codec.tensor(
                shape, name, self.seed, dist.get_rank(self.group), dist.get_world_size(self.group), self.threads
            )
            if name in self._loaded:
                tensor.load_state(self._loaded.pop(name))
            self._tensors[name] = tensor
        return tensor


def _gather(state, data):
    """Every rank's bytes, in the order of the ranks."""
    world = dist.get_world_size(state.group)
    sizes = [torch.empty(1, dtype=torch.int64) for _ in range(world)]
    dist.all_gather(sizes, torch.tensor([data.size], dtype=torch.int64), group=state.group)
    most = max(int(s) for s in sizes)
    mine = torch.zeros(most, dtype=torch.uint8)
    mine[: data.size] = torch.from_numpy(data)
    all_bytes = [torch.empty(most, dtype=torch.uint8) for _ in range(world)]
    dist.all_gather(all_bytes, mine, group=state.group)
    state.bytes_sent += data.size * (world - 1)
    return [part.numpy()[: int(size)] for part, size in zip(all_bytes, sizes)]


def _pack(payloads):
    """Payloads one after another, each behind its size."""
    out = np.empty(sum(_HEAD.size + p.size for p in payloads), np.uint8)
    at = 0
    for payload in payloads:
        out[at : at + _HEAD.size] = np.frombuffer(_HEAD.pack(payload.size), np.uint8)
        at += _HEAD.size
        out[at : at + payload.size] = payload
        at += payload.size
    return out


def _unpack(data, count):
    payloads, at = [], 0
    for _ in range(count):
        size = _HEAD.unpack_from(data, at)[0]
        at += _HEAD.size
        payloads.append(data[at : at + size])
        at += size
    return payloads


def _train(state, tensors, values):
    """Rank 0 learns what all begin the step with, for codecs that train."""
    training = [i for i, t in enumerate(tensors) if "trains" in t.codec.traits]
    if not training:
        return
    rank = dist.get_rank(state.group)
    learned = [np.frombuffer(tensors[i].train(values[i], state.step), np.uint8) for i in training] if rank == 0 else []
    everyone = _gather(state, _pack(learned))
    for i, data in zip(training, _unpack(everyone[0], len(training))):
        tensors[i].learn(data.tobytes())


def _adds(codec):
    """Whether payloads merge without being decoded."""
    return bool(codec.traits & {"linear", "mergeable"})


def _reduces(state, tensor):
    """Whether this tensor's payloads are merged on their way."""
    world = dist.get_world_size(state.group)
    paired = not world & (world - 1)
    if state.exchange == "reduce" and not paired:
        raise ValueError("exchange='reduce' on %d ranks: want a power of two" % world)
    least = {"gather": world + 1, "reduce": 2, "auto": 4}[state.exchange]
    return paired and world >= least and _adds(tensor.codec)


def _swap(state, data, partner):
    """Sends bytes to a rank and returns that rank's."""
    if state.group is not None:
        partner = dist.get_global_rank(state.group, partner)
    size = torch.empty(1, dtype=torch.int64)
    sending = dist.isend(torch.tensor([data.size], dtype=torch.int64), partner, group=state.group)
    dist.recv(size, partner, group=state.group)
    sending.wait()
    theirs = torch.empty(int(size), dtype=torch.uint8)
    sending = dist.isend(torch.from_numpy(data), partner, group=state.group)
    dist.recv(theirs, partner, group=state.group)
    sending.wait()
    state.bytes_sent += data.size
    return theirs.numpy()


def _take_merged(state, tensors, sent):
    """An all-reduce by recursive doubling: after log2(ranks) swaps every rank has the merge of all payloads. Both ranks of a pair
    merge the lower one's payload first, so all ranks end with the same bytes."""
    rank, distance = dist.get_rank(state.group), 1
    while distance < dist.get_world_size(state.group):
        theirs = _unpack(_swap(state, _pack(sent), rank ^ distance), len(tensors))
        pairs = zip(sent, theirs) if not rank & distance else zip(theirs, sent)
        sent = [tensor.merge_round(pair) for tensor, pair in zip(tensors, pairs)]
        distance *= 2
    for tensor, payload in zip(tensors, sent):
        tensor.take_merged(payload)
    return sent


def _take_all(state, tensors, sent):
    everyone = _gather(state, _pack(sent))
    for rank, data in enumerate(everyone):
        for tensor, payload in zip(tensors, _unpack(data, len(tensors))):
            tensor.take(rank, payload)
    return everyone


def _exchange(state, tensors, values):
    """The mean over the ranks of each tensor's estimate."""
    _train(state, tensors, values)
    for tensor in tensors:
        if tensor.name not in state._means:
            state._means[tensor.name] = np.empty(tensor.shape, np.float32)
        tensor.begin(state.step, mean=state._means[tensor.name])
    left = list(zip(tensors, values))
    kept = []  # keeps the payloads alive until finish
    while left:
        for take, some in (
            (_take_merged, [(t, x) for t, x in left if _reduces(state, t)]),
            (_take_all, [(t, x) for t, x in left if not _reduces(state, t)]),
        ):
            if some:
                kept.append(take(state, [t for t, _ in some], [t.send(x) for t, x in some]))
        left = [(t, x) for t, x in left if t.end_round()]
    return [tensor.finish(x) for tensor, x in zip(tensors, values)]


def hook(state, bucket):
    """The communication hook: DistributedDataParallel.register_comm_hook(state, hook)."""
    gradients, parameters = bucket.gradients(), bucket.parameters()
    values = [g.detach().to("cpu", torch.float32).contiguous().numpy() for g in gradients]
    tensors = [state._tensor(p, v.shape) for p, v in zip(parameters, values)]
    means = _exchange(state, tensors, values)
    with torch.no_grad():
        for gradient, mean in zip(gradients, means):
            gradient.copy_(torch.from_numpy(mean).view_as(gradient))
    if bucket.is_last():
        state._end_step()
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done
