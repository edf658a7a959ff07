#!/usr/bin/env python3
"""bomb.py -- writes a container whose checksums are right and whose records claim large vectors.

usage: bomb.py OUT.atomo SPEC ELEMENTS RECORDS
"""
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import container


def text(s):
    return struct.pack("<I", len(s)) + s.encode()


def block(kind, body, offset):
    head = kind + struct.pack("<Q", len(body)) + body
    return head + struct.pack("<Q", container.xxh64(head, offset))


def name_hash(name):  # FNV-1a
    value = 14695981039346656037
    for byte in name.encode():
        value = (value ^ byte) * 1099511628211 & (1 << 64) - 1
    return value


def record(name, elements):
    address = struct.pack("<5Q", 1, 0, 0, 0, name_hash(name))
    member = text(name) + struct.pack("<BBQ", 0, 1, elements) + struct.pack("<I", 0)
    return address + text(name) + b"\0" + struct.pack("<I", 1) + member + b"\1" + struct.pack("<Q", 0)


out, spec, elements, records = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
data = container.MAGIC + struct.pack("<I", 1)
parts = [(b"H", struct.pack("<Q", records) + text(spec))]
parts += [(b"V", record(f"w{i}", elements)) for i in range(records)]
parts += [(b"Z", struct.pack("<Q", records))]
pieces, at = [data], len(data)
for kind, body in parts:
    pieces.append(block(kind, body, at))
    at += len(pieces[-1])
with open(out, "wb") as f:
    f.write(b"".join(pieces))
