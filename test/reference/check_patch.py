#!/usr/bin/env python3
"""check_patch.py -- checks patches of weights (encode --base) against the decoder of patch.py and against other ways to send them.

    check_patch.py ATOMO_BENCH
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

import patch
from container import Refused, xxh64


def bf16(x):
    return ((x.astype("<f4").view("<u4") + 0x8000) >> 16).astype("<u2")


def pair(rng, n):
    """Weights as FILES of models have them, before and after a step of Adam's size: about 3 % of bfloat16 change."""
    w = rng.standard_normal(n).astype("<f4") * np.float32(0.02)
    return bf16(w), bf16(w + np.where(rng.random(n) < 0.5, np.float32(1e-6), np.float32(-1e-6)))


def save(path, tensors, metadata):
    """Writes safetensors of {name: (dtype, array)}."""
    header, data = {"__metadata__": metadata}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text + data)


def run(bench, *args, good=True):
    done = subprocess.run([bench, *args], capture_output=True, text=True)
    assert (done.returncode == 0) == good, (args, done.stderr)
    return done.stdout + done.stderr


def both(bench, old, new):
    """Writes two files and a patch; both decoders must give the new weights in the format and metadata of the old file."""
    save("old.safetensors", old, {"step": "1"})
    save("new.safetensors", dict(reversed(new.items())), {"step": "2"})
    save("want.safetensors", new, {"step": "1"})
    run(bench, "encode", "new.safetensors", "--base", "old.safetensors", "-o", "p.atomo", "--force")
    run(bench, "decode", "p.atomo", "--base", "old.safetensors", "-o", "back.safetensors", "--force")
    want = open("want.safetensors", "rb").read()
    assert open("back.safetensors", "rb").read() == want
    assert patch.decode("p.atomo", "old.safetensors") == want
    return os.path.getsize("p.atomo")


def blocks_of(data):
    """The blocks of a container behind its magic and version: (type and size, body)."""
    at = 12
    while at < len(data):
        size = struct.unpack_from("<Q", data, at + 1)[0]
        yield data[at:at + 9], data[at + 9:at + 9 + size]
        at += 9 + size + 8


def refuse_other(bench, tensors):
    """A patch that has a tensor twice, or not, and a base that differs in one bit of any tensor, are refused by both decoders."""
    def refused(name, base="old.safetensors"):
        run(bench, "decode", name, "--base", base, "-o", "x.safetensors", good=False)
        try:
            patch.decode(name, base)
            raise AssertionError(name)
        except Refused:
            pass

    save("old.safetensors", tensors, {})
    run(bench, "encode", "old.safetensors", "--base", "old.safetensors", "-o", "p.atomo", "--force")
    data = open("p.atomo", "rb").read()
    for copies in (0, 2):
        made, given = data[:12], 0
        for head, body in blocks_of(data):
            count = sum(h[:1] == b"V" for h, _ in blocks_of(data)) - 1 + copies
            body = struct.pack("<Q", count) + body[8:] if head[:1] in (b"H", b"Z") else body
            for _ in range(copies if head[:1] == b"V" and not given else 1):
                made += head + body + struct.pack("<Q", xxh64(head + body, len(made)))
            given += head[:1] == b"V"
        with open("made.atomo", "wb") as to:
            to.write(made)
        refused("made.atomo")
    for name, (dtype, array) in tensors.items():
        if array.size:
            other = np.frombuffer(bytes([array.tobytes()[0] ^ 1]) + array.tobytes()[1:], array.dtype).reshape(array.shape)
            save("other.safetensors", {**tensors, name: (dtype, other)}, {})
            refused("p.atomo", "other.safetensors")


def main(bench):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 65536, (2, 5000)).astype("<u2")
    words[:, :8] = [[0, 0x8000, 0x7FC0, 0xFFFF, 0x7F80, 0xFF80, 1, 0x8001], [0x8000, 0, 0xFFC1, 0x7FC0, 0x8001, 0x7C00, 0xFF80, 1]]
    parts = [{"a": ("BF16", w[:3000].reshape(50, 60)), "b": ("F16", w[3000:4000]), "empty": ("BF16", w[:0]),
              "c": ("F32", np.arange(8, dtype="<f4") + i), "d": ("F64", np.ones(3)), "e": ("BF16", w[4000:]), "s": ("BF16", w[0:1].reshape(()))}
             for i, w in enumerate(words)]
    both(bench, *parts)
    both(bench, parts[0], parts[0])
    refuse_other(bench, parts[0])
    old, new = pair(rng, 40000)
    both(bench, {"w": ("BF16", old)}, {"w": ("BF16", new)})
    patched = open("p.atomo", "rb").read()
    for i in range(0, len(patched), 41):
        with open("cut.atomo", "wb") as to:
            to.write(patched[:i] + bytes([patched[i] ^ 8]) + patched[i + 1:])
        assert "cut.atomo" in run(bench, "decode", "cut.atomo", "--base", "old.safetensors", "-o", "x.safetensors", good=False)
    assert "another base" in run(bench, "decode", "p.atomo", "--base", "new.safetensors", "-o", "x.safetensors", good=False)
    try:
        patch.decode("p.atomo", "new.safetensors")
        raise AssertionError("another base")
    except Refused:
        pass
    assert not os.path.exists("x.safetensors")
    old, new = pair(rng, 1 << 21)
    save("old.safetensors", {"w": ("BF16", old)}, {})
    save("new.safetensors", {"w": ("BF16", new)}, {})
    print(run(bench, "encode", "new.safetensors", "--base", "old.safetensors", "-o", "p.atomo", "--force").strip())
    size, changed = os.path.getsize("p.atomo"), int((old != new).sum())
    packed = len(zlib.compress((old ^ new).tobytes(), 6))
    assert size <= 0.8 * changed and size < packed, (size, changed, packed)
    print(f"patch: {size / changed:.3f} bytes a changed weight ({100 * changed / len(old):.1f} % of them); XOR and deflate {packed / changed:.3f}")


with tempfile.TemporaryDirectory() as folder:
    program = os.path.abspath(sys.argv[1])
    os.chdir(folder)
    main(program)
