#!/usr/bin/env python3
"""check_files.py -- checks the readers and writers of safetensors, .npz and .npy against NumPy and a plain writer.

    check_files.py ATOMO_BENCH

Files made by NumPy and by a writer of safetensors in plain Python are converted to .npz and safetensors. NumPy and a
plain reader must find the same floats in them, rounded to float32. If the safetensors package is installed, it must
read them too.
"""
import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8"}


def write_safetensors(path, arrays, metadata):
    """Writes a file of the tensors {name: (dtype, shape, bytes)}."""
    header, data = {"__metadata__": metadata}, b""
    for name, (dtype, shape, raw) in arrays.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as source:
        raw = source.read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    arrays, at = {}, 0
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32" and begin == at, name
        arrays[name] = np.frombuffer(raw[8 + size + begin : 8 + size + end], "<f4").reshape(entry["shape"])
        at = end
    assert 8 + size + at == len(raw) and size % 8 == 0
    return arrays, metadata


def same(found, wanted, what):
    assert set(found) == set(wanted), (what, sorted(found), sorted(wanted))
    for name, array in wanted.items():
        with np.errstate(over="ignore"):
            want = array.astype("<f4")
        assert found[name].shape == want.shape, (what, name)
        assert found[name].tobytes() == want.tobytes(), (what, name)


def samples(rng):
    shapes = [(), (7,), (0, 3), (5, 4), (3, 2, 4), (2, 3, 4, 5), (1,) * 7 + (3,)]
    for i, shape in enumerate(shapes):
        for kind in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
            array = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-6, 4), kind)
            for order in "CF":
                yield f"step_{i}/worker_{i % 2}/t.{kind[1:]}{'lb'[kind[0] == '>']}.{order}", np.array(array, order=order)


def eights(raw, exponent_bits, bias, infinities):
    """The floats of 8 bits by their definition: sign, exponent, fraction; without infinities only 0x7f and 0xff are NaN."""
    raw, fraction_bits = raw.astype(int), 7 - exponent_bits
    exponent, fraction = (raw >> fraction_bits) & (1 << exponent_bits) - 1, raw & (1 << fraction_bits) - 1
    value = np.where(exponent > 0, fraction + (1 << fraction_bits), fraction) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction_bits)
    top = exponent == (1 << exponent_bits) - 1
    value = np.where(top & (fraction > 0), np.nan, np.where(top, np.inf, value)) if infinities else np.where(raw & 127 == 127, np.nan, value)
    return np.where(raw > 127, -value, value).astype("<f4")


def odd_types(to_npz):
    """Floats of 8 and 16 bits in the forms of others give their values; numbers that have none here are left out with a note."""
    raw = np.arange(256, dtype="u1")
    halves = np.arange(1 << 16, dtype="<u2")
    wide = (halves.astype("<u4") << 16).view("<f4")
    write_safetensors("odd.safetensors", {"e4m3": ("F8_E4M3", (16, 16), raw.tobytes()), "e5m2": ("F8_E5M2", (256,), raw.tobytes()),
                                          "four": ("F4", (10,), bytes(5)), "scale": ("F8_E8M0", (4,), bytes(4)),
                                          "c": ("C64", (2,), bytes(16)), "new": ("X3", (7,), bytes(3))}, {})
    found, said = to_npz("odd.safetensors")
    assert "note: odd.safetensors: 23 of 535 elements are left out: four of type F4 and others" in said, said
    for name, bits, bias in (("e4m3", 4, 7), ("e5m2", 5, 15)):
        want = eights(raw, bits, bias, name == "e5m2")
        assert np.array_equal(found[name].ravel(), want, equal_nan=True), name
    assert set(found) == {"e4m3", "e5m2"}
    for descr, options in (("<V2", []), ("bfloat16", []), ("|V2", ["--void", "bfloat16"]), (">V2", ["--void", "bfloat16"])):
        with open("v.npy", "wb") as to:
            header = b"{'descr': '%s', 'fortran_order': False, 'shape': (65536,)}\n" % descr.encode()
            to.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
            to.write((halves.byteswap() if descr[0] == ">" else halves).tobytes())
        assert np.array_equal(to_npz("v.npy", *options)[0]["v"], wide, equal_nan=True), descr
    np.savez("mixed.npz", big=halves.view("V2"), w=wide[:4], c=np.zeros(3, "c8"), x=np.zeros(2, "g"))
    found, said = to_npz("mixed.npz")
    assert set(found) == {"w"} and "65541 of 65545 elements are left out: big of type |V2 and others; --void bfloat16" in said, said
    try:
        import h5py
    except ImportError:
        return
    with h5py.File("odd.h5", "w") as f:
        f["keras"] = halves.view("V2")
        f["keras"].attrs["dtype"] = "bfloat16"
        f["signed"] = halves.view("<i2").astype(">i2")
        f["signed"].attrs["dtype"] = np.bytes_("bfloat16")
        f["complex"] = np.zeros(3, "c8")
        tiles = 1100, 5, 5  # the first is more than what the program copies in one part
        for n, filters in zip(tiles, ({}, {"shuffle": True}, {"shuffle": True, "fletcher32": True})):
            f.create_dataset("lzf%d" % len(filters), data=np.tile(wide[:1000], n).reshape(-1, 100), chunks=(7, 33), compression="lzf", **filters)
    found, said = to_npz("odd.h5")
    assert "3 of 1241075 elements are left out: complex of type compound" in said, said
    for name in ("keras", "signed"):
        assert np.array_equal(found[name], wide, equal_nan=True), name
    for i, n in enumerate(tiles):
        assert found["lzf%d" % i].tobytes() == np.tile(wide[:1000], n).tobytes(), i


def integers_called_floats(to_npz):
    """Of integers of each sign, size and order, those of two bytes that an attribute calls floats are these, with NumPy's values; no others are read."""
    try:
        import h5py
    except ImportError:
        return
    raw, want, made = np.random.default_rng(5).bytes(8 * 4096), {}, 0
    says = [("dtype", "bfloat16", "b"), ("torch_dtype", "torch.bfloat16", "b"), ("dtype", np.bytes_("BF16"), "b"), ("original_dtype", "float16", "h"),
            ("dtype", np.bytes_("half"), "h"), ("dtype", "bfloat", ""), ("dtypes", "bfloat16", ""), ("dtype", np.array([1, 2]), ""), ("dtype", "float32", ""), None]
    with h5py.File("integers.h5", "w") as f:
        for kind, size, order, (i, said) in itertools.product("iu", (1, 2, 4, 8), "<>", enumerate(says)):
            name, made = "%s%d.%s.%d" % (kind, size, "le" if order == "<" else "be", i), made + 1
            f.create_dataset(name, data=np.frombuffer(raw, "%s%s%d" % (order, kind, size)), chunks=(100,) if i % 2 else None, shuffle=i % 2 == 1 or None)
            if said:
                f[name].attrs[said[0]] = said[1]
            bits = np.frombuffer(raw, order + "u2")
            if size == 2 and said and said[2]:
                want[name] = (bits.astype("<u4") << 16).view("<f4") if said[2] == "b" else bits.astype("<u2").view("<f2").astype("<f4")
    found, printed = to_npz("integers.h5")
    assert sorted(found) == sorted(want) and "%d datasets without floats are left out" % (made - len(want)) in printed, (sorted(found), printed)
    for name in want:
        assert np.array_equal(found[name], want[name], equal_nan=True), name


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def convert(source, target):
            subprocess.run([program, "convert", "-q", "--force", source, target], check=True, stdout=subprocess.DEVNULL)

        def to_npz(source, *options):
            done = subprocess.run([program, "convert", "--force", source, "o.npz", *options], check=True, capture_output=True, text=True)
            return dict(np.load("o.npz")), done.stderr

        def round_trip(source, wanted):
            convert(source, "a.npz")
            same(dict(np.load("a.npz", allow_pickle=False)), wanted, source)
            convert(source, "a.safetensors")
            same(read_safetensors("a.safetensors")[0], wanted, source)
            convert("a.safetensors", "a.h5")
            convert("a.h5", "b.npz")
            same(dict(np.load("b.npz", allow_pickle=False)), wanted, source)

        odd_types(to_npz)
        integers_called_floats(to_npz)
        arrays = dict(samples(np.random.default_rng(7)))
        files = 0
        for save in (np.savez, np.savez_compressed):
            save("in.npz", **arrays, integers=np.arange(5))
            round_trip("in.npz", arrays)
            files += 1
        for i, array in enumerate(list(arrays.values())[::7]):
            with open("in.npy", "wb") as to:
                np.lib.format.write_array(to, array, (1 + i % 3, 0))
            round_trip("in.npy", {"in": array})
            files += 1

        halves = np.arange(1 << 16, dtype="<u2")
        wide = (halves.astype("<u4") << 16).view("<f4")
        raw = {"bf16": ("BF16", (256, 256), halves.tobytes()), "f16": ("F16", (1 << 16,), halves.tobytes())}
        wanted = {"bf16": wide.reshape(256, 256), "f16": halves.view("<f2")}
        for name in ("F32", "F64", "I64"):
            array = np.arange(12).astype(DTYPES[name]).reshape(3, 4)
            raw["g/" + name] = (name, array.shape, array.tobytes())
            if name != "I64":
                wanted["g/" + name] = array
        metadata = {"model": "lenet", "lr": "0.1", "g@step": "3", "text": '"12"', "name": "\u00e9\n\\"}
        write_safetensors("in.safetensors", raw, metadata)
        # a 16-bit NaN may have other bits after the conversion; both programs must agree on which elements are NaN
        convert("in.safetensors", "a.safetensors")
        found, kept = read_safetensors("a.safetensors")
        assert kept.pop("written by") == "atomo-bench convert", kept
        assert kept == metadata, kept
        nan = np.isnan(wanted["f16"])
        assert np.array_equal(np.isnan(found["f16"]), nan)
        assert np.array_equal(found["f16"][~nan].view("<u4"), wanted["f16"][~nan].astype("<f4").view("<u4"))
        del found["f16"], wanted["f16"]
        same(found, wanted, "in.safetensors")
        files += 1
        try:
            from safetensors.numpy import load_file
            same({k: v for k, v in load_file("a.safetensors").items() if k != "f16"}, wanted, "safetensors package")
        except ImportError:
            print("skip: the package safetensors is not here; its files were checked by a plain reader")
        print(f"files: {files} files of {len(arrays)} arrays give NumPy's floats")


main(os.path.abspath(sys.argv[1]))
