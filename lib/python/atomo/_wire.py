"""Messages between the ranks of a process group: payloads, or the error that kept a rank from making them."""

import json
import struct

import numpy as np
import torch
import torch.distributed as dist

from ._library import error_of

_HEAD = struct.Struct("<q")  # bytes of the message; of a failure -1 - bytes


class Failure:
    """An error of one rank, which travels in the place of payloads, so that all ranks raise it instead of waiting for payloads.
    `cause`: the exception on the rank where it happened; None elsewhere."""

    def __init__(self, error, cause=None):
        self.error, self.cause = error, cause

    @classmethod
    def on(cls, rank, cause):
        text, hint = getattr(cause, "text", repr(cause)), getattr(cause, "hint", "")
        return cls(error_of(getattr(cause, "status", 0), "rank %d: %s" % (rank, text), hint), cause)

    @classmethod
    def of_data(cls, data):
        return cls(error_of(*json.loads(data.tobytes())))

    def data(self):
        return np.frombuffer(json.dumps([self.error.status, self.error.text, self.error.hint]).encode(), np.uint8)


def pack(payloads):
    """One message: payloads one after another, each behind its size."""
    out = np.empty(sum(_HEAD.size + p.size for p in payloads), np.uint8)
    at = 0
    for payload in payloads:
        _HEAD.pack_into(out, at, payload.size)
        at += _HEAD.size
        out[at : at + payload.size] = payload
        at += payload.size
    return out


def unpack(message, count):
    """The payloads of a message, not copied."""
    payloads, at = [], 0
    for _ in range(count):
        size = _HEAD.unpack_from(message, at)[0]
        at += _HEAD.size
        payloads.append(message[at : at + size])
        at += size
    return payloads


class _Letter:
    """A message of this rank as it travels: its size and its first `room` bytes in one call, and the rest of a longer one in another."""

    def __init__(self, message, room):
        failed = isinstance(message, Failure)
        self.data, self.room = message.data() if failed else message, room
        self.first = np.zeros(_HEAD.size + room, np.uint8)
        _HEAD.pack_into(self.first, 0, -1 - self.data.size if failed else self.data.size)
        self.first[_HEAD.size : _HEAD.size + self.data.size] = self.data[:room]

    def rest(self, size):
        """The bytes behind the first ones, filled up to `size`."""
        rest = np.zeros(size, np.uint8)
        rest[: max(0, self.data.size - self.room)] = self.data[self.room :]
        return rest


def _size(first):
    head = _HEAD.unpack_from(first)[0]
    return head if head >= 0 else -1 - head


def _message(first, rest):
    """The message of another rank's letter."""
    size = _size(first)
    data = first[_HEAD.size : _HEAD.size + size]
    if data.size < size:
        data = np.concatenate((data, rest[: size - data.size]))
    return data if _HEAD.unpack_from(first)[0] >= 0 else Failure.of_data(data)


class Wire:
    """Sends messages between the ranks of a group. `sent`: bytes of this rank's messages, counted for each receiver.

    How long a message is, its receivers learn from its first bytes. So that one call is enough, those have room for the longest
    message of the same place in the step before, which all receivers know: a place is any name, the same on all ranks."""

    def __init__(self, group):
        self.group, self.sent = group, 0
        self._longest = {}  # by place: the longest message, and the room for the next

    @property
    def rank(self):
        return dist.get_rank(self.group)

    @property
    def ranks(self):
        return dist.get_world_size(self.group)

    def forget(self):
        """Begins anew, as all ranks must together."""
        self._longest = {}

    def _room(self, place):
        return self._longest.get(place, (0, 0))[1]

    def _learn(self, place, longest):
        """Messages that change their length get some more room."""
        steady = self._longest.get(place, (None, 0))[0] == longest
        self._longest[place] = longest, longest if steady else longest + longest // 16 + 64

    def _all(self, data):
        everyone = [torch.empty(data.size, dtype=torch.uint8) for _ in range(self.ranks)]
        dist.all_gather(everyone, torch.from_numpy(data), group=self.group)
        return [part.numpy() for part in everyone]

    def gather(self, place, message):
        """Every rank's message, in the order of the ranks; a failure instead, where one has failed."""
        letter = _Letter(message, self._room(place))
        firsts = self._all(letter.first)
        longest = max(map(_size, firsts))
        rests = self._all(letter.rest(longest - letter.room)) if longest > letter.room else firsts
        self._learn(place, longest)
        self.sent += letter.data.size * (self.ranks - 1)
        messages = list(map(_message, firsts, rests))
        failures = [m for m in messages if isinstance(m, Failure)]
        return failures[0] if failures else messages

    def _send_and_receive(self, partner, data, size):
        theirs = torch.empty(size, dtype=torch.uint8)
        sending = dist.isend(torch.from_numpy(data), partner, group=self.group) if data.size else None
        if size:
            dist.recv(theirs, partner, group=self.group)
        if sending:
            sending.wait()
        return theirs.numpy()

    def swap(self, place, message, partner):
        """Sends a message to a rank, and returns that rank's."""
        if self.group is not None:
            partner = dist.get_global_rank(self.group, partner)
        letter = _Letter(message, self._room(place))
        first = self._send_and_receive(partner, letter.first, letter.first.size)
        mine, theirs = (max(0, size - letter.room) for size in (letter.data.size, _size(first)))
        rest = self._send_and_receive(partner, letter.rest(mine), theirs)
        self._learn(place, max(letter.data.size, _size(first)))
        self.sent += letter.data.size
        return _message(first, rest)
