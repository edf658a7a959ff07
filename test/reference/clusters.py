#!/usr/bin/env python3
"""clusters.py -- decodes payloads of the cluster-aware sketch (cas), written from docs/FORMAT.md alone: plain and slow."""
import struct

import numpy as np

from codes import F32, Bits, Bytes, floats
from container import need
from draws import ATOM, BLOCK, key_of, slice_of

DEFAULTS = {"clusters": "2", "percentile": "95", "buckets": "0", "bins": "5", "allocate": "entropy", "sample": "100000",
            "min": "1000", "period": "10", "index": "huffman"}


def clusters_of(keys):
    """Returns the largest number of clusters of one sign."""
    if "bits" not in keys:
        return int(keys["clusters"])
    return max(k for k in range(1, 129) if k == 1 or np.log2(2 * k) - 0.5 <= float(keys["bits"]))


def buckets_of(n, keys):
    k = clusters_of(keys)
    if "sizes" in keys:
        sizes = [int(size) for size in keys["sizes"].split(":")]
        count = sum(sizes) * (2 if len(sizes) == k else 1)
    elif "bits" in keys:
        count = int(float(keys["bits"]) / 32 * n)
    else:
        count = int(keys["buckets"]) or n // 100
    return max(count, 2 * k)


def width_of(clusters):
    return max(1, (clusters - 1).bit_length())


def index_most(n, clusters):
    width = width_of(clusters)
    return (17 + 28 * clusters) // 8 + 1 + n // 8 * width + n % 8 * width // 8 + 1 + 5 * ((n + BLOCK - 1) // BLOCK)


def is_raw(n, keys):
    most = 2 * clusters_of(keys)
    return n < int(keys["min"]) or 3 + 8 * most + 4 * buckets_of(n, keys) + index_most(n, most) >= 4 * n + 1


# ---- the cluster of each element ----

def gamma(bits):
    zeros = bits.unary()
    return 1 << zeros | bits.number(zeros)


def huffman_table(bits, alphabet):
    """Returns {codeword as text: symbol}; the codeword of an only symbol is empty."""
    present, symbol, length, lengths = gamma(bits) - 1, -1, 8, {}
    need(0 < present <= alphabet, "symbols of a table")
    for _ in range(present):
        symbol += gamma(bits)
        need(symbol < alphabet, "a symbol beyond the alphabet")
        if present > 1:
            step = gamma(bits)
            length += step // 2 if step % 2 else -(step // 2)
            need(1 <= length <= 32, "a code's length")
        lengths[symbol] = length if present > 1 else 0
    codes, code, before = {}, 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in lengths.items()):
        code <<= length - before
        codes[format(code, f"0{length}b") if length else ""] = symbol
        code, before = code + 1, length
    need(sum(2.0**-length for length in lengths.values()) == 1, "codes that are not complete")
    return codes


def huffman_stream(data, count, codes):
    text, at, found = "".join(map("{:08b}".format, data)), 0, np.zeros(count, int)
    shortest, longest = min(map(len, codes)), max(map(len, codes))
    for i in range(count):
        length = shortest
        while text[at:at + length] not in codes:
            length += 1
            need(length <= longest, "a code")
        found[i] = codes[text[at:at + length]]
        need(at + length <= len(text), "the stream ends")
        at += length
    need(len(text) - at < 8 and "1" not in text[at:], "padding of a stream")
    return found


def index_of(data, n, clusters):
    bits = Bits(data[:2000])
    codes = huffman_table(bits, clusters)
    used = (bits.at + 7) // 8
    need("1" not in bits.text[bits.at:8 * used], "padding of the table")
    source, blocks = Bytes(data[used:]), (n + BLOCK - 1) // BLOCK
    lengths = struct.unpack(f"<{blocks}I", source.take(4 * blocks)) if blocks > 1 else (len(data) - used,)
    parts = [huffman_stream(source.take(length), min(BLOCK, n - b * BLOCK), codes) for b, length in enumerate(lengths)]
    source.end()
    return np.concatenate(parts)


# ---- the bucket of each element ----

def words(address, n):
    """Returns a random word for each element, from the generator that all workers share."""
    seed, repeat, _, step, tensor = address
    found = np.zeros(n, np.uint64)
    for b in range((n + BLOCK - 1) // BLOCK):
        key = key_of((seed, repeat, -1, step, tensor), ATOM, b)
        i = np.arange(min(BLOCK, n - b * BLOCK), dtype=np.uint32)
        x = i * np.uint32(0x9E3779B9) + np.uint32(key[0])
        x ^= x >> np.uint32(16)
        x *= np.uint32(0x7FEB352D)
        x ^= x >> np.uint32(15) ^ np.uint32(key[1])
        x *= np.uint32(0x846CA68B)
        found[b * BLOCK:b * BLOCK + len(i)] = x ^ x >> np.uint32(16)
    return found


def take_model(source, keys, n):
    counts = source.byte(), source.byte()
    most = clusters_of(keys)
    need(all(1 <= count <= most for count in counts), "clusters of a side")
    pairs = [(source.f32(), struct.unpack("<I", source.take(4))[0]) for _ in range(sum(counts))]
    centre, size = np.array([p[0] for p in pairs], F32), np.array([p[1] for p in pairs], np.int64)
    minus, plus = centre[:counts[0]], centre[counts[0]:]
    need(np.isfinite(centre).all() and (np.diff(minus) > 0).all() and (np.diff(plus) > 0).all(), "centres that do not rise")
    need((minus <= 0).all() and (plus >= 0).all() and not np.signbit(centre[centre == 0]).any(), "a centre's side")
    need((size >= 1).all() and size.sum() <= buckets_of(n, keys), "numbers of buckets")
    return counts, size


def check_sums(total, count, minus):
    need(np.isfinite(total).all() and not np.signbit(total[total == 0]).any(), "a sum")
    need(not total[count == 0].any(), "a sum of nothing")
    need((total[:minus] <= 0).all() and (total[minus:][count[minus:] > 0] > 0).all(), "a sum's side")


def slots(data, n, size, keys, address):
    cluster = index_of(data, n, len(size))
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    blocks = range(-(-n // BLOCK))
    edges = np.array([[slice_of(b, n, int(cols)) for cols in size] for b in blocks]).reshape(-1, len(size), 2)
    start, end = edges[np.arange(n) // BLOCK, cluster].T
    return first[cluster] + start + (words(address, n).astype(np.int64) * (end - start) >> 32)


def cas(data, n, keys, address):
    source = Bytes(data)
    counts, size = take_model(source, keys, n)
    buckets = int(size.sum())
    total = floats(source.take(4 * buckets), buckets).astype(float)
    slot = slots(source.take(len(data) - source.at), n, size, keys, address)
    count = np.bincount(slot, minlength=buckets)
    check_sums(total, count, int(size[:counts[0]].sum()))
    return (total / np.maximum(count, 1)).astype(F32)[slot]


def merged(data, n, keys, address):
    """Decodes a merged payload, without the byte for its kind, to the sum over workers."""
    source = Bytes(data)
    workers, form = source.varint(), source.byte()
    need(workers > 0 and form <= 1 and (form == 1 or not is_raw(n, keys)), "form and workers")
    if form == 1:
        return floats(source.take(len(data) - source.at), n)
    counts, size = take_model(source, keys, n)
    buckets = int(size.sum())
    total = np.frombuffer(source.take(8 * buckets), "<f8")
    slot = [slots(source.take(source.varint()), n, size, keys, address) for _ in range(workers)]
    source.end()
    count = sum(np.bincount(s, minlength=buckets) for s in slot)
    check_sums(total, count, int(size[:counts[0]].sum()))
    mean = total / np.maximum(count, 1)
    with np.errstate(over="ignore"):
        result = sum(mean[s] for s in slot).astype(F32)
    need(np.isfinite(result).all(), "a value beyond float32")
    return result
