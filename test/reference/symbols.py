#!/usr/bin/env python3
"""symbols.py -- decodes rANS symbols one by one, as docs/FORMAT.md defines them."""
import math
import struct
from fractions import Fraction

import numpy as np

import codes
from container import need, refuse

BLOCK = 65536


def shares(weights, precision):
    """Returns frequencies that add up to 2^precision."""
    total, whole = sum(weights), 1 << precision
    found = [max(1, ((w << precision) + total // 2) // total) for w in weights]
    while sum(found) > whole:
        least = min((Fraction(w, 2 * f - 1), k) for k, (w, f) in enumerate(zip(weights, found)) if f > 1)
        found[least[1]] -= 1
    while sum(found) < whole:
        most = max((Fraction(w, 2 * f + 1), -k) for k, (w, f) in enumerate(zip(weights, found)))
        found[-most[1]] += 1
    return found


def rans_table(bits, alphabet):
    """Returns (precision, {symbol: frequency}), read from runs of symbols and from weights that determine the
    frequencies."""
    precision, detail, listed, following = bits.number(4), bits.number(4), [], 0
    need(4 <= precision <= 15 and (detail <= 3 or detail == 15), "precision or detail")
    for run in range(bits.gamma() - 1):
        following += bits.gamma() - (run == 0)
        count = bits.gamma()
        need(following + count <= alphabet, "a symbol beyond the alphabet")
        need(len(listed) + count <= min(256, 1 << precision), "too many symbols")
        listed += range(following, following + count)
        following += count
    if len(listed) < 2:
        need(precision == 12 and detail == 0, "precision of an only symbol")
        return precision, dict.fromkeys(listed, 0)
    weights, below = [], 6
    for _ in listed:
        below = bits.step(below)
        need(0 <= below <= 15, "weight")
        sent = min(below, detail)
        weights.append((1 << sent | bits.number(sent)) << (below - sent))
    return precision, dict(zip(listed, shares(weights, precision)))


def rans_stream(table, data, n, lanes):
    precision, frequency = table
    if len(frequency) < 2:
        need(not data and (n == 0 or frequency), "a stream of an only symbol")
        return list(frequency) * n
    slots = [(symbol, f, i) for symbol, f in frequency.items() for i in range(f)]
    need(len(data) >= 4 * lanes and (len(data) - 4 * lanes) % 2 == 0, "length of the stream")
    states = list(struct.unpack(f"<{lanes}I", data[:4 * lanes]))
    words = struct.unpack(f"<{len(data) // 2 - 2 * lanes}H", data[4 * lanes:])
    need(min(states) >= 65536, "a state under 2^16")
    out, at, low = [], 0, (1 << precision) - 1
    for i in range(n):
        x = states[i % lanes]
        symbol, f, offset = slots[x & low]
        x = f * (x >> precision) + offset
        if x < 65536:
            if at == len(words):
                refuse("words end")
            x, at = x << 16 | words[at], at + 1
        states[i % lanes] = x
        out.append(symbol)
    need(at == len(words) and all(x == 65536 for x in states), "the last states")
    return out


def plane_bytes(n, width):
    return 8 * width * (n // 64) + (n % 64 + 7) // 8 * width


def class_of(magnitude, lead):
    """Returns the class of a magnitude: magnitudes below 2^(lead + 1) have classes of their own, then 2^lead classes
    per doubling."""
    low = max(magnitude.bit_length() - 1 - lead, 0)
    return low * 2**lead + (magnitude >> low)


def classes(symbols, data, width, lead):
    """Returns codes from their classes and the low bits that the classes leave open."""
    bits, out = codes.Bits(data), []
    for symbol in symbols:
        low, first = max((symbol // 2 >> lead) - 1, 0), symbol // 2
        magnitude = first - low * 2**lead << low | bits.number(low)
        out.append((symbol % 2) << (width - 1) | magnitude)
    bits.end()
    return np.array(out, np.uint32)


def order0(found):
    """Returns the order-0 entropy in bits of symbols, from their counts."""
    counts = np.unique(np.concatenate(found), return_counts=True)[1]
    return float(-(counts * np.log2(counts / max(counts.sum(), 1))).sum())


def read(data, n, width):
    """Reads n codes of `width` bits."""
    return read_bound(data, n, width)[0]


def bound(data, n, width):
    """Returns the entropy in bits of what is sent: order-0 for symbols that share a table, one bit for each other
    bit."""
    return read_bound(data, n, width)[1]


def set_places(source, n):
    """Reads positions coded as an index set, and returns their entropy too."""
    start = source.at
    places = codes.index_set(source, n)
    k = len(places)
    sets = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)
    return places, min(8.0 * (source.at - start), sets)


def sparse(data, n, width):
    """Reads the sparse form: the common code everywhere except at the positions of other codes."""
    source = codes.Bytes(data)
    source.byte()
    common = source.varint()
    need(common < 1 << width, "a common code that is too wide")
    places, positions_bound = set_places(source, n)
    need(0 < len(places) <= n // 4 and places[-1] < n, "positions beyond the codes, or too many")
    others, other_bound = dense(data[source.at:], len(places), width)
    need((others != common).all(), "a common code among the others")
    out = np.full(n, common, np.uint32)
    out[places] = others
    return out, positions_bound + other_bound


def read_bound(data, n, width):
    return sparse(data, n, width) if data[:1] == b"\x04" else dense(data, n, width)


def dense(data, n, width):
    source = codes.Bytes(data)
    form = source.byte()
    kind, lanes, shift = form & 3, 4**(form >> 2 & 3), form >> 4
    if form == 0:
        return codes.planes(data[1:], n, width), float(width * n)
    each, lead = BLOCK, None
    alphabet = 1 << max(width - shift, 0)
    if kind == 3:
        need(width > 8, "classes")
        kind, lead = 1 + (shift >> 3), shift & 7
        alphabet = 2 * class_of(2**(width - 1) - 1, lead) + 2
    else:
        need(max(width - 16, 0) <= shift < width, "form of symbols")
    need(kind in (1, 2) and (kind == 1 or n > BLOCK), "kind of symbols")
    need(lanes < 64, "lanes")
    blocks = -(-n // each)

    def table_off(bytes_):
        bits = codes.Bits(bytes_[:1 << 18])
        return rans_table(bits, alphabet), bytes_[bits.whole_byte():]
    rest = data[1:]
    if kind == 1:
        table, rest = table_off(rest)
    sizes = [len(rest)]
    if blocks > 1:
        need(len(rest) >= 4 * blocks, "table of lengths")
        sizes, rest = struct.unpack(f"<{blocks}I", rest[:4 * blocks]), rest[4 * blocks:]
    need(sum(sizes) == len(rest), "lengths of the streams")
    out, found, total = [], [], 0.0
    for b, size in enumerate(sizes):
        body, rest, some = rest[:size], rest[size:], min(n - each * b, each)
        if kind == 2:
            table, body = table_off(body)
        need(lead is None or len(body) >= 4, "length of the low bits")
        low = plane_bytes(some, shift) if lead is None else 4 + struct.unpack("<I", body[:4])[0]
        need(len(body) >= low, "low bits")
        symbols = np.array(rans_stream(table, body[low:], some, lanes), np.uint32)
        found.append(symbols)
        if kind == 2:
            total, found = total + order0(found), []
        if lead is not None:
            out.append(classes(symbols.tolist(), body[4:low], width, lead))
            total += sum(max((symbol // 2 >> lead) - 1, 0) for symbol in symbols.tolist())
            continue
        total += shift * some
        out.append(symbols << np.uint32(shift) | (codes.planes(body[:low], some, shift) if shift else np.uint32(0)))
    return np.concatenate(out), total + (order0(found) if found else 0)
