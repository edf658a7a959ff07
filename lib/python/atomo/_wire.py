"""Messages between the ranks of a transport: payloads, or the error that kept a rank from making them."""

from __future__ import annotations

import contextlib
import json
import struct
from typing import Any

import numpy as np

from ._library import Error, NumericError, error_of

_HEAD = struct.Struct("<qQ")  # bytes of the message; of a failure -1 - bytes. The digest of what all ranks share
_SIZE = struct.Struct("<q")
_DIFFERS = -1  # the status of a failure that all ranks see together: their digests differ


class Failure:
    """An error of one rank, which travels in the place of payloads, so that all ranks raise it instead of waiting for payloads.
    `cause`: the exception on the rank where it happened; None elsewhere."""

    def __init__(self, status, text, hint="", cause=None):
        self.status, self.error, self.cause = status, error_of(status, text, hint), cause

    @classmethod
    def on(cls, rank, cause):
        text, hint = getattr(cause, "text", repr(cause)), getattr(cause, "hint", "")
        return cls(getattr(cause, "status", 0), "rank %d: %s" % (rank, text), hint, cause)

    @classmethod
    def of_data(cls, data):
        return cls(*json.loads(data.tobytes()))

    def data(self):
        return np.frombuffer(json.dumps([self.status, self.error.text, self.error.hint]).encode(), np.uint8)

    @property
    def differs(self):
        return self.status == _DIFFERS

    @property
    def nonfinite(self):
        return self.status == NumericError.status


def worst(messages):
    """The failure among messages that all ranks raise; None: there is none. A tensor that is not finite may end no more than a step."""
    failures = [m for m in messages if isinstance(m, Failure)]
    return min(failures, key=lambda f: (f.nonfinite, f.differs), default=None)


def pack(payloads: list[Any]) -> Any:
    """One message: room for its head, then payloads one after another, each behind its size. The wire sends it without a copy."""
    out: Any = np.empty(_HEAD.size + sum(_SIZE.size + p.size for p in payloads), np.uint8)
    _HEAD.pack_into(out, 0, 0, 0)
    at = _HEAD.size
    for payload in payloads:
        _SIZE.pack_into(out, at, payload.size)
        at += _SIZE.size
        out[at : at + payload.size] = payload
        at += payload.size
    return out


def unpack(message, count):
    """The payloads of a message, not copied."""
    payloads, at = [], _HEAD.size
    for _ in range(count):
        size = _SIZE.unpack_from(message, at)[0]
        at += _SIZE.size
        payloads.append(message[at : at + size])
        at += size
    return payloads


def _stamped(message, digest):
    """The bytes of a message or of a failure, with their head."""
    failed = isinstance(message, Failure)
    data = pack([message.data()]) if failed else message
    size = data.size - _HEAD.size
    _HEAD.pack_into(data, 0, -1 - size if failed else size, digest)
    return data


def _between(data, start, end):
    """These bytes, with zeros behind the last: a longer message travels in two calls, and a short one is filled up."""
    part = data[start:end]
    return part if part.size == end - start else np.concatenate((part, np.zeros(end - start - part.size, np.uint8)))


def _size(first):
    size = _HEAD.unpack_from(first)[0]
    return _HEAD.size + (size if size >= 0 else -1 - size)


def _message(first, rest):
    """The message of which another rank sent these bytes."""
    size = _size(first)
    data = first[:size]
    if data.size < size:
        data = np.concatenate((data, rest[: size - data.size]))
    return data if _HEAD.unpack_from(first)[0] >= 0 else Failure.of_data(unpack(data, 1)[0])


def _checked(messages, firsts):
    """The messages, or the failure that they hold; letters whose digests differ are one too."""
    differ = len({_HEAD.unpack_from(first)[1] for first in firsts}) > 1
    return worst([*messages, Failure(_DIFFERS, "")] if differ else messages) or messages


class Wire:
    """Sends messages between the ranks of a transport. `sent`: bytes of this rank's messages, counted for each receiver. `digest`: a
    number that travels with every message; where the ranks' numbers differ, all of them get a failure that `differs`.

    How long a message is, its receivers learn from its first bytes. So that one call is enough, those have room for the longest
    message of the same place in the step before, which all receivers know: a place is any name, the same on all ranks."""

    def __init__(self, transport):
        self.transport, self.sent, self.digest = transport, 0, 0
        self._longest: dict[Any, tuple[int, int]] = {}

    @property
    def rank(self):
        return self.transport.rank

    @property
    def ranks(self):
        return self.transport.ranks

    @property
    def members(self):
        """The ranks as numbers of the whole program."""
        return getattr(self.transport, "members", list(range(self.ranks)))

    def _room(self, place):
        return self._longest.get(place, (0, _HEAD.size))[1]

    def _learn(self, place, longest):
        """Messages that change their length get some more room."""
        steady = self._longest.get(place, (None, 0))[0] == longest
        self._longest[place] = longest, longest if steady else longest + longest // 16 + 64

    def gather(self, place, message):
        """Every rank's message, in the order of the ranks; a failure instead, where there is one."""
        data, room = _stamped(message, self.digest), self._room(place)
        with _travelling():
            firsts = self.transport.all_gather(_between(data, 0, room))
            longest = max(map(_size, firsts))
            rests = self.transport.all_gather(_between(data, room, longest)) if longest > room else firsts
        self._learn(place, longest)
        self.sent += (data.size - _HEAD.size) * (self.ranks - 1)
        return _checked(list(map(_message, firsts, rests)), firsts)

    def swap(self, place, message, to, source=None):
        """Sends a message to a rank, and returns the message of `source`, by itself the same rank; or a failure."""
        source = to if source is None else source
        data, out, into = _stamped(message, self.digest), (place, "to", to), (place, "from", source)
        room, theirs = self._room(out), self._room(into)
        with _travelling():
            first = self.transport.send_receive(_between(data, 0, room), to, theirs, source)
            rest = self.transport.send_receive(data[room:], to, max(0, _size(first) - theirs), source)
        self._learn(out, data.size)
        self._learn(into, _size(first))
        self.sent += data.size - _HEAD.size
        got = _checked([_message(first, rest)], (data, first))
        return got if isinstance(got, Failure) else got[0]

    def scatter(self, place, messages):
        """Sends to each rank the message of its number. The messages of all ranks to this one, in the order of the ranks; a failure
        instead, where there is one."""
        rank, ranks = self.rank, self.ranks
        got = list(messages)
        for away in range(1, ranks):
            to, source = (rank + away) % ranks, (rank - away) % ranks
            got[source] = self.swap(place, messages[to], to, source)
        return worst(got) or got


@contextlib.contextmanager
def _travelling():
    """Names what PyTorch says of a message that does not arrive."""
    try:
        yield
    except RuntimeError as error:
        hint = "a rank has ended, or waits elsewhere: every rank of DDP's group needs this hook, and as many steps as the others"
        raise Error("no message from the other ranks: %s" % str(error).strip().split("\n")[0], hint) from error
