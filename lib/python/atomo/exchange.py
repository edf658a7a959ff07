"""The exchange of gradients between ranks, over any transport (atomo.transport).

    from atomo.exchange import Exchange
    exchange = Exchange("ef+topk:ratio=0.01", transport)
    means = exchange.mean({"fc.weight": gradient})       # on every rank, the same bits

It is the exchange of atomo-train, with its payloads: rank r is worker r, and steps count from 1. The hooks of atomo.torch and
atomo.fsdp stand on it.
"""

from __future__ import annotations

import json
import warnings
import zlib
from itertools import zip_longest
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._library import UsageError, int_of, integer, lib, seed_of
from ._wire import Failure, Wire, pack, unpack, worst
from .codec import Codec, Tensor, adds, as_floats
from .transport import Transport


class Skip(Exception):
    """All ranks leave the exchange of this step."""


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    if value not in choices:
        raise UsageError("%s=%r: want %s" % (name, value, " or ".join(choices)))
    return str(value)


class Part:
    """One array on its way to the mean. `late`: whether it keeps a state, and finishes at the end of the step."""

    late = False

    def __init__(self, exchange: Exchange, name: str, elements: int) -> None:
        self.name = name
        self.codec = exchange.codec if elements >= exchange.min_elements else exchange.none

    def open(self, exchange: Exchange, array: Any, mean: Any) -> None:
        self.values, self.mean, self.shards = as_floats(array, self.name), mean, []
        if exchange._shoots(self.codec):
            self.shards = _cut(exchange, self)
            self.late = exchange._keeps(self.codec)
            return
        self.tensor = exchange._tensor(self.codec, self.name, self.values.shape)
        self.late = exchange._keeps(self.tensor.codec)

    def send(self) -> Any:
        self.sent = self.tensor.lend(self.values)
        return self.sent

    def finish(self) -> Any:
        for whole in self.shards or (self,):
            whole.tensor.finish(whole.values)


class Bucket:
    """Arrays that travel together. `facts`: what all ranks must share."""

    index, last = 0, True
    facts: dict[str, Any] = {}
    parts: Any
    means: Any

    def __init__(self, exchange: Exchange, arrays: Mapping[str, Any]) -> None:
        self.arrays = arrays
        self.parts = [Part(exchange, name, int(np.prod(array.shape))) for name, array in arrays.items()]
        self.means = {name: np.empty(tuple(array.shape), np.float32) for name, array in arrays.items()}

    def told(self) -> list[str]:
        """What each part is, for the ranks to compare."""
        return ["%s %s" % (name, "x".join(map(str, mean.shape))) for name, mean in self.means.items()]

    def describe(self, exchange: Exchange) -> None:
        """What all ranks must share: travels as a digest with every message, and is told where digests differ."""
        names = ("seed", "min_elements", "exchange", "nonfinite", "start", "step")
        self.facts = {"spec": exchange.codec.complete, **{name: getattr(exchange, name) for name in names}}
        self.facts["version"], self.facts["process_group"] = lib.atomo_version().decode(), exchange.wire.members
        self.facts["parameters"] = self.told()
        self.facts["bucket"], self.facts["history"] = self.index, exchange._history
        exchange.wire.digest = zlib.crc32(json.dumps(self.facts).encode())

    def open(self, exchange: Exchange) -> None:
        for part in self.parts:
            part.open(exchange, self.arrays[part.name], self.means[part.name])


class _Pieces(Bucket):
    """What `scatter` sends: shards whose owners are given."""

    def __init__(self, exchange: Exchange, pieces: Sequence[Mapping[str, Any]]) -> None:
        self.parts = []
        self.shards = [_Shard("%s[%d]" % (name, r), array, r, name) for r, arrays in enumerate(pieces) for name, array in arrays.items()]

    def told(self) -> list[str]:
        return ["%s %s" % (shard.name, "x".join(map(str, shard.values.shape))) for shard in self.shards]

    def open(self, exchange: Exchange) -> None:
        for shard in self.shards:
            shard.values = as_floats(shard.values, shard.name)
            shard.open(exchange, exchange.codec if shard.values.size >= exchange.min_elements else exchange.none)


class Exchange:
    """Means of arrays over the ranks of a transport.

    spec          of the codec, such as "powersgd:rank=2"
    transport     what carries bytes between the ranks (atomo.transport)
    min_elements  smaller arrays travel as floats
    exchange      "gather": all ranks get all payloads; "reduce": payloads are merged on the way, which codecs whose payloads
                  add allow, and a power of two of ranks; "auto": reduce where it sends fewer bytes, but gather the floats of
                  small arrays where other arrays are gathered; "twoshot": as auto, but where payloads do not add, each rank
                  averages its shard of every array, encodes the mean again, and sends it to all
    nonfinite     "skip": where an array of any rank has NaN or infinity, all ranks get means of NaN, and the states stay as they
                  were; "raise": all ranks raise an error
    start         the first `start` steps travel as floats
    bytes_sent    bytes of the payloads that this rank has sent so far, each with its size (8 bytes)

    It cannot be copied or pickled; state_dict and load_state_dict carry it through a checkpoint.
    """

    def __init__(
        self,
        spec: str,
        transport: Transport,
        seed: int = 1,
        min_elements: int = 1000,
        exchange: str = "auto",
        threads: int = 0,
        nonfinite: str = "raise",
        start: int = 0,
    ) -> None:
        self.exchange = one_of("exchange", exchange, ("auto", "gather", "reduce", "twoshot"))
        self.nonfinite = one_of("nonfinite", nonfinite, ("skip", "raise"))
        self.codec, self.none = Codec(spec), Codec("none")
        if exchange == "reduce" and not adds(self.codec):
            raise UsageError("exchange='reduce': payloads of %s do not merge" % self.spec)
        if exchange == "twoshot" and not adds(self.codec):
            self._check_shots("exchange='twoshot'")
        self.seed, self.threads = seed_of(seed), int_of("threads", threads)
        self.min_elements, self.start = (integer(n, v, 0, 2**63 - 1) for n, v in (("min_elements", min_elements), ("start", start)))
        self.wire = Wire(transport)
        self.step = 0
        self._history = 0  # the same on all ranks: a checksum over what all have sent
        self._tensors: dict[str, Tensor] = {}
        self._loaded: dict[str, bytes] = {}
        self._failure: Failure | None = None  # of this rank, which the others do not know yet
        self._warned = False
        if self.codec.caution:
            warnings.warn("%s: %s" % (self.spec, self.codec.caution), stacklevel=3)

    @property
    def spec(self) -> str:
        return self.codec.spec

    @property
    def bytes_sent(self) -> int:
        return int(self.wire.sent)

    def __repr__(self) -> str:
        return "%s(%r, seed=%d, min_elements=%d, exchange=%r, step=%d, bytes_sent=%d)" % (
            type(self).__name__,
            self.spec,
            self.seed,
            self.min_elements,
            self.exchange,
            self.step,
            self.bytes_sent,
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy would know neither the model's parameters nor the other ranks. DDP copies none: it keeps the object that
        register_comm_hook was given."""
        name = type(self).__name__
        raise TypeError("%s %s cannot be copied or pickled: save its state_dict(), and load it into a new %s" % ("an" if name[0] == "E" else "a", name, name))

    def mean(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The means over all ranks, which all give arrays of the same names and shapes, in the same order."""
        bucket = Bucket(self, arrays)
        self._do(bucket.describe, self)
        skips = False
        try:
            self._swap(bucket)
            self._do(lambda: [part.finish() for part in bucket.parts if part.late])
            failure, self._failure = self._failure, None
            if failure and not (failure.nonfinite and self.nonfinite == "skip"):
                raise failure.error from failure.cause
            if failure:  # a mean beyond float32: all ranks have it
                raise Skip(failure.error)
        except Skip as skip:
            skips = True
            self._say_skip(skip)
        self.step += 1
        for mean in bucket.means.values() if skips else ():
            mean.fill(np.nan)
        return bucket.means

    def scatter(self, pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The means of the arrays that are this rank's: pieces[r] are those that rank r gets. Each rank sends its payloads of a piece
        to the one rank, and nothing is encoded again. It needs a codec of one round, and counts as a step of its own."""
        self._check_shots("scatter")
        everyone = _Pieces(self, pieces)
        shards, skips = everyone.shards, False
        self._do(everyone.describe, self)
        try:
            self._do(everyone.open, self)
            _first_shot(self, everyone, shards)
            owned = [shard for shard in shards if shard.owner == self.wire.rank]
            before: list[tuple[Tensor, bytes]] = []
            self._do(lambda: before.extend((shard.tensor, shard.tensor.state()) for shard in owned if self._keeps(shard.tensor.codec)))
            self._do(lambda: [shard.finish() for shard in owned])
            # only the owner has decoded its shards: where it cannot, all ranks hear of it, and states go back
            try:
                self._arrived(self.wire.gather((everyone.index, "end"), self._message(list)), self.wire, everyone)
            except Exception:
                for tensor, state in before:
                    tensor.load_state(state)
                raise
            self._do(lambda: [shard.leave() for shard in shards if shard.owner != self.wire.rank])
            if self._failure:
                failure, self._failure = self._failure, None
                raise failure.error from failure.cause
        except Skip as skip:
            skips = True
            self._say_skip(skip)
        self.step += 1
        means = {shard.array: shard.mean for shard in shards if shard.owner == self.wire.rank}
        for mean in means.values() if skips else ():
            mean.fill(np.nan)
        return means

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
            raise UsageError("not a dictionary of %s.state_dict: want spec, step, bytes_sent and states" % type(self).__name__) from None
        if Codec(spec).complete != self.codec.complete:
            raise UsageError("the checkpoint is of %s, this state of %s" % (spec, self.spec))
        self._check_names(set(states))
        self.step, self.wire.sent = (integer(n, v, 0, 2**63 - 1) for n, v in (("step", step), ("bytes_sent", sent)))
        self._loaded, self._tensors, self._history = states, {}, integer("history", history, 0, 2**32 - 1)
        self._failure = None

    def _check_names(self, names: set[str]) -> None:
        """Refuses a checkpoint's names; here any array may have a state."""

    def _keeps(self, codec: Codec) -> bool:
        return "stateful" in codec.traits

    @property
    def _plain(self) -> bool:
        """Whether this step travels as floats."""
        return self.step < self.start

    def _shoots(self, codec: Codec) -> bool:
        """Whether sums of this codec's payloads are encoded again."""
        return self.exchange == "twoshot" and not self._plain and not adds(codec)

    def _check_shots(self, what: str) -> None:
        traits = self.codec.traits
        why = "has several rounds" if self.codec.rounds > 1 else "decodes with the senders' states" if "reads_state" in traits else ""
        why = why or ("trains" if "trains" in traits else "")
        if why:
            raise UsageError("%s: %s %s" % (what, self.spec, why), "exchange='gather' takes every codec")

    def _tensor(self, codec: Codec, name: str, shape: Any) -> Tensor:
        codec = self.none if self._plain else codec
        tensor = self._tensors.get(name)
        if tensor is None or tensor.codec is not codec:
            tensor = codec.tensor(shape, name, self.seed, self.wire.rank, self.wire.ranks, self.threads)
            if self._keeps(codec) and name in self._loaded:
                tensor.load_state(self._loaded[name])
                del self._loaded[name]
            self._tensors[name] = tensor
        return tensor

    # ---- failures: a rank that has one goes on to its next message, and sends it there, so that no rank waits for a payload ----

    def _do(self, work: Any, *arguments: Any) -> Any:
        """Works, unless this rank has failed; keeps its failure."""
        if not self._failure:
            try:
                return work(*arguments)
            except Exception as error:
                self._failure = Failure.on(self.wire.rank, error)
        return None

    def _message(self, payloads: Any) -> Any:
        """What this rank sends: the payloads that the function returns, or its failure."""
        message = self._do(lambda: pack(payloads()))
        return self._failure or message

    def _arrived(self, messages: Any, wire: Wire, bucket: Any) -> Any:
        """The messages; where they are a failure instead, all ranks raise it, or skip the step."""
        if not isinstance(messages, Failure):
            return messages
        failure, own, self._failure = messages, self._failure, None
        if failure.differs:
            failure = _difference(wire, bucket.facts, type(self).__name__)
        if failure.nonfinite and self.nonfinite == "skip":
            raise Skip(failure.error)
        raise failure.error from getattr(own, "cause", None)

    def _remember(self, message: Any) -> None:
        """Payloads are the same on all ranks, and those of another run differ."""
        self._history = zlib.crc32(message[:256], self._history)

    def _say_skip(self, error: Exception, stacklevel: int = 3) -> None:
        if not self._warned:
            says = "step %d: %s: the means of the step are NaN, and the codec's states stay (this is said once)"
            warnings.warn(says % (self.step + 1, error), RuntimeWarning, stacklevel=stacklevel + 1)
            self._warned = True

    def _swap(self, bucket: Any) -> None:
        """Takes the payloads of all ranks; the mean of an array without a state is finished then."""
        self._do(bucket.open, self)
        sent = _train(self, bucket)
        shot = [part for part in bucket.parts if self._shoots(part.codec)]
        whole = [part for part in bucket.parts if not self._shoots(part.codec)]
        if shot:
            _two_shots(self, bucket, shot)
        self._do(lambda: [part.tensor.begin(self.step + 1, mean=part.mean) for part in whole])
        rounds = {codec: 1 if self._plain else codec.rounds for codec in (self.codec, self.none)}
        for turn in range(max((rounds[part.codec] for part in whole), default=0)):
            left = [part for part in whole if rounds[part.codec] > turn]
            for take, some in _ways(self, left):
                message = self._message(lambda: [part.send() for part in some])
                take(self, bucket, some, message, (bucket.index, sent))
                sent += 1
            self._do(lambda: [part.tensor.end_round() for part in left])
        self._do(lambda: [part.finish() for part in bucket.parts if not part.late])


_ADVICE = {
    "step": "every rank loads a checkpoint of the same step, and makes as many steps",
    "history": "every rank loads the checkpoint of the same run",
    "parameters": "every rank makes the same model, and gives it to State",
    "version": "every rank wants the same libatomo",
}


def _difference(wire: Wire, facts: dict[str, Any], whose: str) -> Failure:
    """What the ranks differ in, by name: a failure, the same on all ranks."""
    wire.digest = 0
    everyone = wire.gather("facts", pack([np.frombuffer(json.dumps(facts).encode(), np.uint8)]))
    everyone = [json.loads(unpack(told, 1)[0].tobytes()) for told in everyone]
    found, first = {}, everyone[0]
    for rank, other in enumerate(everyone):
        for name in first:
            if name not in found and first[name] != other.get(name):
                a, b = first[name], other.get(name)
                if name == "parameters":
                    a, b = next((x, y) for x, y in zip_longest(a, b, fillvalue="none") if x != y)
                found[name] = "%s: rank 0 has %s, rank %d has %s" % (name, a, rank, b)
    if len(found) > 1:
        found.pop("history", None)  # follows from the others
    hint = _ADVICE.get(min(found, key=list(first).index), "give the %s of every rank the same arguments" % whose)
    return Failure(UsageError.status, "the ranks differ in " + "; ".join(found.values()), hint)


def _train(exchange: Exchange, bucket: Any) -> int:
    """Rank 0 learns what all begin the step with, for codecs that train. Before `start` its message is empty: the kinds of
    messages do not depend on the step."""
    training = [part for part in bucket.parts if "trains" in part.codec.traits]
    if not training:
        return 0
    wire, learns = exchange.wire, [] if exchange._plain else training
    learned = exchange._message(
        lambda: [np.frombuffer(p.tensor.train(p.values, exchange.step + 1), np.uint8) for p in learns if wire.rank == 0]
    )
    everyone = exchange._arrived(wire.gather((bucket.index, 0), learned), wire, bucket)
    exchange._do(lambda: [p.tensor.learn(data) for p, data in zip(learns, unpack(everyone[0], len(learns)))])
    return 1


def _reduces(exchange: Exchange, codec: Codec) -> bool:
    """Whether this codec's payloads are merged on their way."""
    world = exchange.wire.ranks
    paired = not world & (world - 1)
    if exchange.exchange == "reduce" and not paired:
        raise UsageError("exchange='reduce' on %d ranks: want a power of two" % world)
    least = {"gather": world + 1, "reduce": 2}.get(exchange.exchange, 4)
    return paired and world >= least and adds(codec)


def _ways(exchange: Exchange, parts: list[Any]) -> list[Any]:
    """The ways of a round's payloads, each with its parts. Small tensors that travel as floats join those that are gathered: an
    exchange of their own would cost more time than their bytes. The floats before `start` go the way of their codec, so that the
    kind of a message does not depend on the step."""
    reduces = {codec: _reduces(exchange, codec) for codec in {part.codec for part in parts}}
    joins = exchange.exchange in ("auto", "twoshot") and not all(reduces.values())
    ways: dict[Any, list[Any]] = {_take_merged: [], _take_all: []}
    for part in parts:
        small = joins and part.codec is exchange.none
        ways[_take_merged if reduces[part.codec] and not small else _take_all].append(part)
    return [(take, some) for take, some in ways.items() if some]


def _take_merged(exchange, bucket, parts, message, place):
    """An all-reduce by recursive doubling: after log2(ranks) swaps every rank has the merge of all payloads. Both ranks of a pair
    merge the lower one's payload first, so all ranks end with the same bytes."""
    wire, distance = exchange.wire, 1
    while distance < wire.ranks:
        theirs = wire.swap((*place, distance), message, wire.rank ^ distance)
        pair = (theirs, message) if wire.rank & distance else (message, theirs)
        message = worst(pair) or _merge(exchange, parts, *pair)
        distance *= 2
    message = exchange._arrived(message, wire, bucket)
    exchange._remember(message)
    exchange._do(lambda: [part.tensor.take_merged(data) for part, data in zip(parts, unpack(message, len(parts)))])


def _merge(exchange, parts, low, high):
    pairs = zip(parts, unpack(low, len(parts)), unpack(high, len(parts)))
    return exchange._message(lambda: [part.tensor.merge_round(pair) for part, *pair in pairs])


def _take_all(exchange, bucket, parts, message, place):
    everyone = exchange._arrived(exchange.wire.gather(place, message), exchange.wire, bucket)
    for rank, data in enumerate(everyone):
        exchange._remember(data)
        own = rank == exchange.wire.rank  # the tensor keeps its own payload, and copies others
        exchange._do(lambda: [part.tensor.take(rank, part.sent if own else p) for part, p in zip(parts, unpack(data, len(parts)))])


# ---- shards: vectors with random numbers of their own, each averaged by the rank that owns it ----


class _Shard:
    """A vector of which one rank, the owner, makes the mean. `array`: the name of the array that it is of."""

    def __init__(self, name: str, values: Any, owner: int = 0, array: str = "", mean: Any = None) -> None:
        self.name, self.values, self.owner, self.array, self.mean = name, values, owner, array, mean

    def open(self, exchange: Exchange, codec: Codec) -> None:
        self.step, self.tensor = exchange.step + 1, exchange._tensor(codec, self.name, self.values.shape)
        if self.mean is None:
            self.mean = np.empty(self.values.shape, np.float32)

    def send(self) -> Any:
        self.tensor.begin(self.step, mean=self.mean)
        self.sent = self.tensor.send(self.values)
        return self.sent

    def take(self, payloads: Iterable[Any]) -> None:
        """What the ranks have sent, on the owner."""
        for rank, data in enumerate(payloads):
            self.tensor.take(rank, data)
        self.tensor.end_round()

    def finish(self) -> Any:
        self.tensor.finish(self.values)

    def leave(self) -> Any:
        """Ends a step whose mean this rank does not get: the state moves on by what was sent."""
        if "stateful" in self.tensor.codec.traits:
            self.tensor.learn(b"")  # ends the step that `send` began
            self.tensor.advance(self.values, self.sent, self.step)


def _cut(exchange: Exchange, part: Part) -> list[_Shard]:
    """An array's shards, as atomo-train cuts it. Codecs that take an array as a matrix have one."""
    flat, mean, world = part.values.reshape(-1), part.mean.reshape(-1), exchange.wire.ranks
    cuts = [part.codec._shard(flat.size, world, s) for s in range(world)] + [flat.size]
    shards = [_Shard("%s[%d]" % (part.name, s), flat[a:b], mean=mean[a:b]) for s, (a, b) in enumerate(zip(cuts, cuts[1:])) if a < b]
    if len(shards) < 2:
        shards = [_Shard(part.name, part.values, mean=part.mean)]
    for shard in shards:
        shard.open(exchange, part.codec)
    return shards


def _first_shot(exchange: Exchange, bucket: Any, shards: list[_Shard]) -> None:
    """Every rank sends its payload of each shard to the owner."""
    wire = exchange.wire
    owned = [[shard for shard in shards if shard.owner == rank] for rank in range(wire.ranks)]
    messages = [exchange._message(lambda some=some: [shard.send() for shard in some]) for some in owned]
    got = exchange._arrived(wire.scatter((bucket.index, "shot"), [exchange._failure or m for m in messages]), wire, bucket)
    payloads = zip(*[unpack(data, len(owned[wire.rank])) for data in got])
    exchange._do(lambda: [shard.take(some) for shard, some in zip(owned[wire.rank], payloads)])


def _two_shots(exchange: Exchange, bucket: Any, parts: list[Part]) -> None:
    """The exchange `twoshot`: owners encode the means again, and send them to all."""
    wire = exchange.wire
    shards, load = [shard for part in parts for shard in getattr(part, "shards", ())], [0] * wire.ranks
    for shard in shards:
        shard.owner = load.index(min(load))
        load[shard.owner] += shard.values.size
    _first_shot(exchange, bucket, shards)
    mine = exchange._message(lambda: [shard.tensor.again() for shard in shards if shard.owner == wire.rank])
    everyone = exchange._arrived(wire.gather((bucket.index, "means"), mine), wire, bucket)
    for rank, data in enumerate(everyone):
        exchange._remember(data)
        owned = [shard for shard in shards if shard.owner == rank]
        exchange._do(lambda: [shard.tensor.hear(payload) for shard, payload in zip(owned, unpack(data, len(owned)))])
