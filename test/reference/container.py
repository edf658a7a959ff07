#!/usr/bin/env python3
"""container.py -- an independent reader of .atomo containers, written from docs/FORMAT.md alone.

It shares no code with the library, and checks magic number, version, every checksum, lengths, counts and the tensor's
address. `read(path)` returns a File with the spec, the groups' attributes and the records.
"""
import struct
from dataclasses import dataclass, field

MASK = (1 << 64) - 1
MAGIC = bytes.fromhex("8941544d0d0a1a0a")
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161,
                      9650029242287828579, 2870177450012600261)


class Refused(Exception):
    """Raised for bytes that no writer writes."""


def need(condition, why):
    if not condition:
        raise Refused(why)


def refuse(why):
    """For conditions that are tested often: `condition or refuse(f"...")` makes the text of a refusal only where it is needed."""
    raise Refused(why)


def rotate(x, by):
    return (x << by | x >> (64 - by)) & MASK


def mix(state, lane):
    return rotate((state + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed):
    """Returns Collet's XXH64 hash, by its specification."""
    at = 0
    if len(data) >= 32:
        state = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed & MASK, (seed - P1) & MASK]
        stripes = len(data) // 32
        lanes = struct.unpack_from(f"<{4 * stripes}Q", data)
        for i in range(4):
            value = state[i]
            for lane in lanes[i::4]:  # `mix`, without its calls
                value = (value + lane * P2) & MASK
                value = (value << 31 | value >> 33) * P1 & MASK
            state[i] = value
        at = 32 * stripes
        hashed = sum(rotate(s, r) for s, r in zip(state, (1, 7, 12, 18))) & MASK
        for value in state:
            hashed = ((hashed ^ mix(0, value)) * P1 + P4) & MASK
    else:
        hashed = (seed + P5) & MASK
    hashed = (hashed + len(data)) & MASK
    while at + 8 <= len(data):
        hashed = (rotate(hashed ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(data):
        hashed = (rotate(hashed ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        hashed = rotate(hashed ^ byte * P5 & MASK, 11) * P1 & MASK
    for shift, factor in ((33, P2), (29, P3), (32, 1)):
        hashed = (hashed ^ hashed >> shift) * factor & MASK
    return hashed


def fnv1a(name):
    value = 0xCBF29CE484222325
    for byte in name.encode("utf-8", "surrogateescape"):
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


class Cursor:
    """Reads the little-endian fields of a byte string one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        need(count <= len(self.data) - self.at, f"{count} bytes wanted, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.bytes(struct.calcsize("<" + code)))[0]

    def text(self):
        raw = self.bytes(self.number("I"))
        need(b"\0" not in raw, "a zero byte in a text")
        return raw.decode("utf-8", "surrogateescape")

    def attributes(self):
        def value():
            name, kind = self.text(), self.number("B")
            need(kind <= 2, f"attribute of type {kind}")
            return name, self.number("q") if kind == 0 else self.number("d") if kind == 1 else self.text()
        return dict(value() for _ in range(self.number("I")))

    def end(self):
        need(self.at == len(self.data), f"{len(self.data) - self.at} bytes left over")


@dataclass
class Member:
    path: str
    shape: tuple
    attributes: dict


@dataclass
class Record:
    seed: int
    repeat: int
    worker: int
    step: int
    tensor: int
    name: str
    raw: bool
    joined: bool
    members: list = field(default_factory=list)
    rounds: list = field(default_factory=list)

    @property
    def shape(self):
        """Returns the tensor's shape as the codec sees it."""
        if not self.joined:
            return self.members[0].shape
        return (sum(size_of(m.shape) for m in self.members),)


@dataclass
class File:
    spec: str = ""
    groups: dict = field(default_factory=dict)
    records: list = field(default_factory=list)


def size_of(shape):
    size = 1
    for dim in shape:
        size *= dim
    return size


def read_record(body):
    cursor = Cursor(body)
    seed, repeat = cursor.number("Q"), cursor.number("Q")
    worker, step, tensor = cursor.number("q"), cursor.number("q"), cursor.number("Q")
    name, flags = cursor.text(), cursor.number("B")
    need(flags <= 3, f"flags {flags}")
    record = Record(seed, repeat, worker, step, tensor, name, bool(flags & 1), bool(flags & 2))
    for _ in range(cursor.number("I")):
        path, dtype, rank = cursor.text(), cursor.number("B"), cursor.number("B")
        need(dtype == 0 and rank <= 8, f"dtype {dtype}, rank {rank}")
        need(all(part not in ("", ".") for part in path.split("/")), f"path {path!r}")
        shape = tuple(cursor.number("Q") for _ in range(rank))
        record.members.append(Member(path, shape, cursor.attributes()))
    need(record.joined or len(record.members) == 1, "members of a record that is not joined")
    sizes = [cursor.number("Q") for _ in range(cursor.number("B"))]
    record.rounds = [cursor.bytes(size) for size in sizes]
    cursor.end()
    need(tensor == fnv1a(name), f"{name}: the address is of another name")
    need(size_of(record.shape) <= 2**26 + 2**16 * sum(sizes), f"{name}: too many elements for its bytes")
    return record


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    need(data[:8] == MAGIC, "magic")
    need(len(data) >= 12 and struct.unpack_from("<I", data, 8)[0] == 1, "version")
    result, at, promised, ended = File(), 12, None, False
    while at < len(data):
        need(not ended, f"{at}: bytes behind the end block")
        cursor = Cursor(data[at:])
        kind, body = chr(cursor.number("B")), cursor.bytes(cursor.number("Q"))
        checked = cursor.at
        need(cursor.number("Q") == xxh64(data[at:at + checked], at), f"{at}: checksum")
        need((kind == "H") == (promised is None), f"{at}: block {kind}")
        inner = Cursor(body)
        if kind == "H":
            promised, result.spec = inner.number("Q"), inner.text()
        elif kind == "A":
            group = inner.text()
            result.groups[group] = inner.attributes()
        elif kind == "V":
            result.records.append(read_record(body))
            inner.at = len(body)
        else:
            need(kind == "Z", f"{at}: block {kind!r}")
            need(inner.number("Q") == len(result.records) == promised, "count of records")
            ended = True
        inner.end()
        at += cursor.at
    need(ended, "no end block")
    return result
