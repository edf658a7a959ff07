#!/usr/bin/env python3
"""codes.py -- plain, slow readers of the parts of payloads, written from docs/FORMAT.md: varints, bits, bit planes,
trits, Elias omega codes, index sets. Bytes that no writer writes raise container.Refused."""
import struct

import numpy as np

from container import need, refuse

F32 = np.float32


def floats(data, count):
    need(len(data) == 4 * count, f"{len(data)} bytes, {4 * count} wanted")
    values = np.frombuffer(data, "<f4").astype(F32)
    need(np.isfinite(values).all(), "a float that is not finite")
    return values


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        count <= len(self.data) - self.at or refuse(f"{count} bytes wanted, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def f32(self):
        return F32(struct.unpack("<f", self.take(4))[0])

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            need(shift < 63 or byte <= 1, "varint beyond 64 bits")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                need(byte or shift == 7, "varint longer than needed")
                return value

    def end(self):
        need(self.at == len(self.data), f"{len(self.data) - self.at} bytes left over")


class Bits:
    """Reads bits, from the highest bit of each byte on."""

    def __init__(self, data):
        self.text = "".join(map("{:08b}".format, data))
        self.at = 0

    def one(self):
        self.at < len(self.text) or refuse("bits end")
        self.at += 1
        return self.text[self.at - 1] == "1"

    def number(self, width):
        if not width:
            return 0
        start = self.at
        self.at = end = start + width
        end <= len(self.text) or refuse("bits end")
        return int(self.text[start:end], 2)

    def unary(self):
        """Returns the number of zeros in front of the next one."""
        found = self.text.find("1", self.at)
        found >= 0 or refuse("bits end")
        zeros, self.at = found - self.at, found + 1
        return zeros

    def omega(self):
        text, at, value = self.text, self.at, 1
        while text[at:at + 1] == "1":
            value < 64 or refuse("omega code beyond 64 bits")
            end = at + value + 1
            end <= len(text) or refuse("bits end")
            value, at = int(text[at:end], 2), end
        at < len(text) or refuse("bits end")
        self.at = at + 1
        return value

    def gamma(self):
        zeros = self.unary()
        zeros < 64 or refuse("gamma code beyond 64 bits")
        return 1 << zeros | self.number(zeros)

    def step(self, before):
        """Reads a number coded as the difference to the number before."""
        step = self.gamma()
        return before + step // 2 if step % 2 else before - step // 2

    def whole_byte(self):
        """Returns the number of bytes used so far; the unused bits of the last byte must be zeros."""
        used = (self.at + 7) // 8
        need("1" not in self.text[self.at:8 * used], "padding")
        return used

    def end(self):
        rest = self.text[self.at:]
        need(len(rest) < 8 and "1" not in rest, "bytes or set bits behind the last code")


def planes(data, count, width):
    """Reads codes of `width` bits in groups of 64; word k of a group has bit k of each code."""
    whole, rest = divmod(count, 64)
    tail, split = (rest + 7) // 8, 8 * width * whole
    need(len(data) == split + tail * width, "length of the bit planes")
    data, codes = np.frombuffer(data, np.uint8), np.zeros(count, np.uint32)
    words = data[:split].reshape(whole, width, 8), data[split:].reshape(1, width, tail)
    for groups, inside in zip(words, (codes[:64 * whole].reshape(whole, 64), codes[64 * whole:].reshape(1, rest))):
        bits = np.unpackbits(groups, axis=2, bitorder="little")
        need(not bits[:, :, inside.shape[1]:].any(), "padding of the bit planes")
        for k in range(width):
            inside |= bits[:, k, :inside.shape[1]].astype(np.uint32) << k
    return codes


def trits(data, count):
    values = np.frombuffer(data, np.uint8)
    need(not (values > 242).any(), "byte above 242")
    codes, at = np.zeros(count, np.uint32), 0
    for start in range(0, count, 320):
        inside = min(320, count - start)
        stride = (inside + 4) // 5
        need(at + stride <= len(values), "trits end")
        group = values[at:at + stride].astype(int)
        at += stride
        column = np.concatenate([group // 3**k % 3 for k in range(5)])
        need(not column[inside:].any(), "padding trits")
        codes[start:start + inside] = np.array([0, 1, 3])[column[:inside]]
    need(at == len(values), "bytes behind the trits")
    return codes


def index_set(source, n):
    count = source.varint()
    need(count <= n, f"{count} of {n} elements")
    if count in (0, n):
        return np.arange(count)
    form = source.byte()
    if form == 255:
        bits = np.unpackbits(np.frombuffer(source.take((n + 7) // 8), np.uint8), bitorder="little")
        need(not bits[n:].any(), "padding of the bitmap")
        members = np.flatnonzero(bits)
        need(len(members) == count, f"{len(members)} bits set, {count} promised")
        return members
    need(form < 160, f"form {form}")
    return golomb_set(source, n, count, form)


def golomb_set(source, n, count, code):
    ratio, shift = (code + 1, 0) if code < 3 else (4 + (code - 3) % 4, (code - 3) // 4)
    log = ratio.bit_length() - 1
    short = 2**(log + 1) - ratio
    bits, previous, members = Bits(source.data[source.at:]), -1, []
    for _ in range(count):
        quotient = bits.unary()
        coarse = bits.number(log)
        if coarse >= short:
            coarse = 2 * coarse + bits.number(1) - short
        previous += 1 + ((quotient * ratio + coarse) << shift) + bits.number(shift)
        previous < n or refuse("index beyond the end")
        members.append(previous)
    used = (bits.at + 7) // 8
    need("1" not in bits.text[bits.at:8 * used], "padding of the gaps")
    source.take(used)
    return np.array(members, int)
