#!/usr/bin/env python3
"""check_altered.py -- the program and the independent reader must refuse and accept the same altered containers.

usage: check_altered.py [PROGRAM [ALTERATIONS]]. First, files are altered or cut anywhere, which the checksums must
detect. Then payloads and records are altered and the checksums are corrected, as an attacker or a faulty writer would
do. Both readers must come to the same verdict, and to the same floats if they accept. The program decodes an altered
payload of one spec in three, and an altered record of each other spec; the library that is built with it, which takes no
process, decodes the other payloads.
"""
import struct
import subprocess
import sys

import numpy as np

import bench
import check_decode
import container
import decode
from bench import check, same_bits

SPECS = [
    "none", "fp16", "bf16", "qsgd:bits=2,bucket=16", "qsgd:levels=5,bucket=16,code=elias-sparse",
    "qsgd:levels=5,bucket=16,code=elias-dense", "qsgd:levels=5,bucket=16,code=fixed", "qsgd:bits=1,bucket=0",
    "terngrad", "terngrad:code=2bit", "terngrad:code=elias", "terngrad:share=on", "entry:ratio=0.3",
    "entry:ratio=0.02", "lq", "lq:q=inf", "gspar:eps=2", "randk:ratio=0.3",
    "randk:ratio=1", "randk:ratio=0.5,shared=off", "svd:rank=1", "svd:rank=1,vectors=bf16", "svd:vectors=qsgd,vbits=2",
    "ef+entry:ratio=0.1", "topk:ratio=0.3", "threshold:rel=0.4", "gaussiank:ratio=0.3", "sidco:ratio=0.3", "dgc:ratio=0.3",
    "wavelet:ratio=0.3,family=db2", "hadamard:ratio=0.3",
    "joint:bits=3", "joint:bits=2+entry",
    "sign", "scaledsign", "scaledsign:scale=bucket", "onebit", "onebit:scope=tensor",
    "stc:ratio=0.2", "adaq:ratio=0.2","nuqsgd:bits=3,bucket=16",
    "natural",
    "thc:bits=3", "thc:bits=2,share=off",
    "intsgd", "intsgd:bits=3,share=off",
    "natural:code=rans", "qsgd:bits=2,bucket=16,code=rans", "terngrad:code=rans",
    "zipml:levels=5,bucket=30",
    "minmax", "minmax:bits=3,bucket=16,rounding=stochastic","rotated", "drive", "eden:bits=1.3", "eden:bits=0.2", "strom", "strom:tau=1",
    "powersgd:rank=1", "lowrank:rank=1",
    "dct:ratio=0.3", "fourier:ratio=0.2", "fourier:ratio=0.1,dims=2",
    "countsketch:bits=8", "countmin:bits=8,topk=3",
    "sketchml:quantiles=6,groups=2", "sketchml:quantiles=6,groups=2,keys=delta-adaptive",
]


def seal(body, kind, offset):
    head = kind + struct.pack("<Q", len(body)) + body
    return head + struct.pack("<Q", container.xxh64(head, offset))


def blocks(data):
    """Returns (kind, body) of each block."""
    at, found = 12, []
    while at < len(data):
        size = struct.unpack_from("<Q", data, at + 1)[0]
        found.append((data[at:at + 1], data[at + 9:at + 9 + size]))
        at += 17 + size
    return found


def assemble(parts, head):
    data = head
    for kind, body in parts:
        data += seal(body, kind, len(data))
    return data


def alter(body, rng, start):
    """Makes one small change at or behind `start`: another byte, a flipped bit, one byte more or less, or an extreme
    value."""
    at = int(rng.integers(start, len(body))) if len(body) > start else len(body)
    choice = rng.integers(6)
    if choice == 0:
        return body[:at] + bytes([int(rng.integers(256))]) + body[at + 1:]
    if choice == 1 and at < len(body):
        return body[:at] + bytes([body[at] ^ 1 << int(rng.integers(8))]) + body[at + 1:]
    if choice == 2:
        return body[:at] + body[at + 1:]
    if choice == 3:
        return body[:at] + bytes([int(rng.integers(256))]) + body[at:]
    nasty = [b"\xff", b"\0", b"\x80", b"\x7f\x80\0\0"[::-1], b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\0\0\0\0"]
    value = nasty[int(rng.integers(len(nasty)))]
    return body[:at] + value + body[at + len(value):]


def alter_payload(record_body, record, rng):
    """Alters one round's payload and its stated size, so that only the payload is wrong. Returns the record and the rounds."""
    rounds = list(record.rounds)
    which = int(rng.integers(len(rounds)))
    rounds[which] = alter(rounds[which], rng, 0)
    if rng.integers(12) == 0:  # raw floats in place of the codec's own payload
        rounds[-1] = b"\0" + rng.standard_normal(container.size_of(record.shape)).astype("<f4").tobytes()
    head = record_body[:len(record_body) - sum(map(len, record.rounds)) - 8 * len(rounds)]
    return head + b"".join(struct.pack("<Q", len(r)) for r in rounds) + b"".join(rounds), rounds


def by_program(data):
    """Returns the arrays that the program decodes, or None, and what it says."""
    done = subprocess.run([bench.program, "decode", "bad.atomo", "-o", "bad.h5", "--quiet", "--force"], capture_output=True)
    said = done.stderr.decode(errors="replace").strip()
    if not check(done.returncode in (0, 1), f"exit {done.returncode}: {said}"):
        return None, said
    return None if done.returncode else bench.tensors("bad.h5"), said


def leb128(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + leb128(number >> 7)


def by_library(codec, record, rounds):
    """The same for one record's payloads."""
    joined = b"".join(leb128(len(r)) + r for r in rounds[:-1]) + rounds[-1]
    try:
        x = codec.decode(joined, record.shape, record.step, record.worker, record.name, record.seed)
    except atomo.CorruptError as refusal:
        return None, str(refusal)
    return {record.members[0].path: x}, ""


def verdicts(data, label, rounds, decoder):
    with open("bad.atomo", "wb") as file:
        file.write(data)
    theirs, said = decoder(data)
    try:
        ours, why = decode.tensors(container.read("bad.atomo")), ""
    except (container.Refused, UnicodeDecodeError) as refusal:
        ours, why = None, refusal
    agreed = check((ours is None) == (theirs is None), f"{label}: ours: {why or 'accepted'}; theirs: {said or 'accepted'}")
    if agreed and ours is not None:
        equal = check_decode.close if rounds else same_bits
        for path, values in ours.items():
            same = not path.isascii() or (path in theirs and equal(values, theirs[path]))
            if not check(same, f"{label}: {path}: values differ"):
                break


def check_checksums(good, count, rng):
    for at in [*range(0, 30), *rng.integers(30, len(good), count)]:
        flipped = good[:at] + bytes([good[at] ^ 1 << int(rng.integers(8))]) + good[at + 1:]
        for bad in (good[:at], flipped) if at < 12 else (good[:at] if at % 2 else flipped,):
            with open("bad.atomo", "wb") as file:
                file.write(bad)
            done = subprocess.run([bench.program, "decode", "bad.atomo", "-o", "bad.h5", "--force"], capture_output=True)
            check(done.returncode == 1 and b"bad.atomo" in done.stderr, f"altered at {at}: exit {done.returncode}")
            try:
                container.read("bad.atomo")
                check(False, f"altered at {at}: our reader accepts it")
            except container.Refused:
                check(True, "")


def main():
    global atomo
    directory = bench.start()
    atomo = bench.library()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    rng = np.random.default_rng(11)
    x = (rng.standard_normal((4, 15)) ** 3).astype(np.float32)
    bench.write_dump("small.h5", {"step_000001/a.weight": x}, model="small")
    for i, spec in enumerate(SPECS):
        bench.run("encode", "small.h5", "-c", spec, "-o", "x.atomo", "--quiet")
        good = open("x.atomo", "rb").read()
        codec = atomo.Codec(spec)
        parts, record = blocks(good), container.read("x.atomo").records[0]
        check(assemble(parts, good[:12]) == good, f"{spec}: taken apart and put together")
        if i == 0:
            check_checksums(good, count, rng)
        which = next(k for k, (kind, _) in enumerate(parts) if kind == b"V")
        for turn in range(count):
            changed, decoder = list(parts), by_program
            if turn % 12 == 5 and (i + turn // 12) % 2:
                k = int(rng.integers(len(parts)))
                # spares the text of the spec, which has tests of its own
                behind = len(parts[k][1]) if parts[k][0] == b"H" else 0
                changed[k] = (parts[k][0], alter(parts[k][1], rng, behind))
            else:
                body, rounds = alter_payload(parts[which][1], record, rng)
                changed[which] = (b"V", body)
                if turn or i % 3:
                    def decoder(_, rounds=rounds):
                        return by_library(codec, record, rounds)
            verdicts(assemble(changed, good[:12]), f"{spec} #{turn}", check_decode.rounds(spec), decoder)
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
