#!/usr/bin/env python3
"""patch.py -- an independent decoder of patches of weights (encode --base), written from docs/FORMAT.md alone.

    patch.py FILE.atomo OLD.safetensors NEW.safetensors
"""
import json
import struct
import sys

import numpy as np

import codes
import symbols
from container import need, read, size_of, xxh64

FRACTION = {"BF16": 7, "F16": 10}
BITS = {"BF16": 16, "F16": 16, "F32": 32, "F64": 64, "F8_E4M3": 8, "F8_E5M2": 8}
CHUNK = 1 << 19


def ordered(words):
    return np.where(words & 0x8000, ~words, words | 0x8000).astype(np.uint16)


def chunk(source, old, fraction):
    check = struct.unpack("<Q", source.take(8))[0]
    exponents = (old & 0x7FFF) >> fraction
    counts = [int((exponents == e).sum()) for e in sorted(set(exponents.tolist()))]
    codes = np.concatenate([np.asarray(symbols.read(source.take(source.varint()), count, 8), np.int64) for count in counts])
    escapes = np.flatnonzero(codes == 255)
    codes[escapes] = np.frombuffer(source.take(2 * len(escapes)), "<u2")
    need((codes[escapes] >= 255).all(), "an escape that needs none")
    z = np.zeros(len(old), np.int64)
    z[np.argsort(exponents, kind="stable")] = codes
    order = (ordered(old).astype(np.int64) + (z >> 1 ^ -(z & 1))) & 0xFFFF
    new = np.where(order & 0x8000, order & 0x7FFF, ~order & 0xFFFF).astype("<u2")
    need(check == xxh64(new.tobytes(), xxh64(old.tobytes(), 0)), "the patch is damaged, or was made with another base")
    return new


def apply(patch, old):
    """Returns the bytes of the new file, from the patch and the bytes of OLD, which is safetensors."""
    size = struct.unpack_from("<Q", old)[0]
    header, new = json.loads(old[8:8 + size]), bytearray(old)
    seen = [member.path for record in patch.records for member in record.members]
    need(sorted(seen) == sorted(name for name, entry in header.items() if entry.get("dtype") in BITS), "not the tensors of the base")
    for record in patch.records:
        spans = []
        for member in record.members:
            entry = header[member.path]
            begin, end = entry["data_offsets"]
            need(entry["dtype"] == record.name and entry["shape"] == list(member.shape), f"{member.path}: another base")
            need(end - begin == size_of(member.shape) * BITS[record.name] // 8, f"{member.path}: size")
            spans.append((8 + size + begin, 8 + size + end))
        need(len(record.rounds) == 1, "rounds")
        words = b"".join(old[a:b] for a, b in spans)
        odd = len(words) % 2
        words = np.frombuffer(words + bytes(odd), "<u2")
        source = codes.Bytes(record.rounds[0])
        parts = [chunk(source, words[at:at + CHUNK], FRACTION.get(record.name, 15)) for at in range(0, len(words), CHUNK)]
        need(source.at == len(record.rounds[0]), "bytes left over")
        data = b"".join(part.tobytes() for part in parts)
        data = data[:len(data) - odd]
        need(len(data) == sum(b - a for a, b in spans), "bytes of the elements")
        for a, b in spans:
            new[a:b], data = data[:b - a], data[b - a:]
    return bytes(new)


def decode(path, old):
    patch = read(path)
    need(patch.spec == "patch", f"payloads of {patch.spec}")
    with open(old, "rb") as file:
        return apply(patch, file.read())


if __name__ == "__main__":
    with open(sys.argv[3], "wb") as to:
        to.write(decode(sys.argv[1], sys.argv[2]))
