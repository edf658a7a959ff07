#!/usr/bin/env python3
"""check_decode.py -- compares `atomo-bench encode` and `decode` with the independent reader written from
docs/FORMAT.md.

usage: check_decode.py [PROGRAM]. Every payload is decoded by the program or by its library, and by decode.py, and the
floats are compared bit by bit (for transforms, up to float32 rounding). The program makes and decodes the payloads of
codecs whose decoders have a state and of one other spec in 40, of a codec seen before from a fifth of the arrays; their containers' addresses, attributes and checksums are checked
too. The library, which takes no process, makes and decodes the payloads of the other specs. Of a codec seen before, a spec codes
every fifth array; every thirteenth where it differs in numbers or in error feedback alone.
"""
import functools
import re

import h5py
import numpy as np

import bench
import container
import decode
import wrappers
from bench import check, same_bits
from codes import Bytes

SPECS = [
    "none", "fp16", "bf16", "fp16:rounding=stochastic", "bf16:rounding=stochastic",
    "none:code=rans", "bf16:code=rans", "fp16:rounding=stochastic,code=rans",
    *[f"qsgd:{size},code={code}" for size in ("bits=1", "bits=4", "bits=8", "levels=5,bucket=100", "levels=1,bucket=0")
      for code in ("elias", "elias-sparse", "elias-dense", "fixed")],
    "qsgd:bits=12,bucket=64", "qsgd:bits=16,bucket=0,code=fixed", "qsgd:levels=65535,norm=linf,code=elias-sparse",
    *[f"qsgd:{size},code=rans" for size in ("bits=4", "bits=1,bucket=0", "bits=9", "bits=16")],
    "natural:code=rans", "terngrad:code=rans,share=on",
    "qsgd:levels=4,bucket=7,code=elias-sparse", "qsgd:bits=2,bucket=1",
    *[f"terngrad:code={code},share={share}" for code in ("trit", "2bit", "elias") for share in ("off", "on")],
    "terngrad:clip=2.5", "terngrad:clip=1,code=elias",
    "entry", "entry:ratio=0.1", "entry:ratio=0.5", "entry:ratio=1", "entry:budget=2.5", "entry:bits=1",
    "entry:ratio=0.1,probs=clip", "entry:ratio=0.02,draw=systematic", "entry:budget=0.5,empty=resample",
    "gspar", "gspar:density=0.3", "gspar:eps=0.5", "gspar:eps=40",
    "randk", "randk:ratio=0.3", "randk:ratio=0.9", "randk:ratio=1", "randk:ratio=0.05,shared=off", "ef+randk:ratio=0.1",
    "lq", "lq:q=1", "lq:q=0.5", "lq:q=inf",
    "topk", "topk:ratio=0.3", "topk:ratio=1", "ef+topk:ratio=0.2,share=leader", "topk:ratio=0.3,share=sketch", "topk:share=leader",
    "threshold", "threshold:rel=0.4", "threshold:tau=0.5", "ef+topk",
    "gaussiank:ratio=0.1", "sidco:ratio=0.1", "ef+sidco", "dgc:ratio=0.05", "dgc:ratio=0.3,mask=off",
    "svd", "svd:rank=1", "svd:rank=0.5,reshape=rows", "svd:rank=2.5,reshape=square", "svd:method=gesdd,probs=clip",
    "svd:rank=0.5,empty=resample", "svd:rank=2,draw=systematic", "svd:vectors=bf16", "svd:vectors=qsgd",
    "svd:rank=9,vectors=qsgd,vbits=1,reshape=square", "svd:rank=1.5,vectors=qsgd,vbits=16,reshape=rows",
    "wavelet", "wavelet:ratio=0.3", "wavelet:family=db2,ratio=0.1", "wavelet:family=db4,ratio=0.1,draw=systematic",
    "wavelet:family=db4,levels=2,ratio=0.2", "wavelet:levels=1,probs=clip", "wavelet:empty=resample,family=db2,levels=3",
    "hadamard", "hadamard:ratio=0.3", "hadamard:ratio=0.1,draw=systematic", "hadamard:empty=resample,probs=clip",
    "rotated", "rotated:bits=1", "rotated:bits=8", "ef+rotated:bits=3",
    "drive", "drive:scale=mse", "drive:rotations=1", "drive:rotations=3",
    "eden", "eden:rotations=1", "eden:bits=0.3", "eden:bits=1.5,rotations=3", "eden:bits=5", "eden:bits=8", "ef+eden:bits=1",
    "ef+entry:ratio=0.05", "ef:decay=0.5+qsgd:bits=2", "ef+terngrad:share=on,code=elias", "ef+svd:rank=1",
    "dct", "dct:ratio=0.3", "dct:dims=2,ratio=0.1", "dct:draw=systematic,probs=clip",
    "fourier", "fourier:ratio=0.3", "fourier:dims=2,ratio=0.1", "fourier:ratio=1", "fourier:empty=resample,dims=2",
    "fourier:draw=systematic,probs=clip", "ef+fourier:ratio=0.2",
    "nuqsgd", "nuqsgd:bits=1,bucket=0", "nuqsgd:bits=6,bucket=100", "nuqsgd:bits=2,bucket=7", "ef+nuqsgd",
    "nuqsgd:code=elias", "nuqsgd:bits=2,bucket=100,code=elias-sparse", "nuqsgd:code=elias-dense,bucket=0",
    "nuqsgd:bits=6,bucket=1000,code=rans", "nuqsgd:code=rans",
    "natural", "ef+natural",
    "zipml", "zipml:levels=3,bucket=100", "zipml:levels=200,bucket=2000", "ef+zipml:levels=4", "zipml:levels=4,bucket=0,solver=statistical",
    "fp8", "fp8:rounding=stochastic", "mxfp8", "mxfp6", "mxfp6:rounding=stochastic", "mxfp4", "mxfp4:scale=rceil", "mxfp4:rounding=clipped",
    "nvfp4", "nvfp4:best=fourover6", "nvfp4:rounding=eden", "nvfp4:rounding=stochastic", "ef+mxfp4",
    *[f"float:format={format},block={block}" for format, block in (("e5m2", "row"), ("e3m2", "tensor"), ("e3m0", "128"), ("int8", "64"))],
    "float:scale=e4m3,block=row", "float:format=e2m1,scale=f32,block=256", "float:scale=even,format=e4m3,block=16",
    "minmax", "minmax:bits=8,rounding=stochastic", "minmax:bits=1,bucket=0,rounding=stochastic", "minmax:bits=9,bucket=7", "ef+minmax:bits=2",
    "joint", "joint:bits=0.2", "joint:bits=6", "joint+entry", "joint:bits=0.1+entry:draw=systematic", "joint:bits=2+svd",
    "joint:bits=2+svd:vectors=qsgd", "joint:bits=3+hadamard", "ef+joint:bits=2",
    "ef+wavelet:ratio=0.2", "ef+hadamard:ratio=0.2",
    "lowrank", "lowrank:rank=7", "ef+lowrank:rank=1",
    "powersgd", "powersgd:rank=1", "powersgd:rank=3,iters=2,reshape=square", "powersgd:warm=off,reshape=paper", "ef+powersgd:iters=3",
    "sign", "scaledsign", "scaledsign:scale=bucket", "onebit", "onebit:scope=tensor", "ef+scaledsign", "ef+onebit",
    "cas", "cas:min=0,clusters=1", "cas:min=0,clusters=5", "cas:min=9,clusters=3", "cas:min=9,bits=2.7",
    "cas:min=9,allocate=manual,sizes=9:3", "cas:clusters=40,percentile=99", "ef+cas:min=20",
    "sketchml", "sketchml:keys=delta-adaptive", "sketchml:quantiles=10,groups=3,rows=3,cols=0.7", "ef+sketchml:quantiles=16,groups=100,keys=delta-adaptive",
    "chunktopk", "chunktopk:k=3,chunk=8", "chunktopk:transform=dct,chunk=16", "chunktopk:values=bf16,k=5", "chunktopk:values=2bit,k=7,chunk=16",
    "ef:decay=0.999+chunktopk:transform=dct", "ef:decay=0.95+chunktopk:k=64,values=2bit",
    "zfp", "zfp:rate=0.15", "zfp:rate=3.3,view=matrix", "zfp:rate=20,view=vector", "zfp:accuracy=0.01", "zfp:accuracy=1e-6,view=matrix", "ef+zfp:rate=2",
    "stc", "stc:ratio=0.3", "stc:ratio=1", "adaq", "adaq:ratio=0.3", "adaq:ratio=1", "ef+stc", "ef+adaq",
    "thc", "thc:bits=2,share=off", "thc:bits=8", "ef+thc",
    "intsgd", "intsgd:share=off", "intsgd:bits=2", "intsgd:bits=13,share=off", "ef+intsgd:bits=3",
    "strom", "strom:tau=0.5", "strom:tau=1e-3",
    "ef21+topk:ratio=0.1", "ef21:alpha=0.5+scaledsign", "ef+ef21+stc:ratio=0.1", "diana:alpha=0.25+qsgd:bits=2",
    "zstd+none", "zstd:level=19+ef+topk", "blosc+bf16", "blosc:shuffle=bit+sign", "ef+blosc:shuffle=off+qsgd:bits=2",
    "zstd+ef21+terngrad:share=on", "blosc+zstd+svd:rank=1",
    "induced+topk:ratio=0.1", "induced:with=natural+stc", "induced:with=entry:ratio=0.1,probs=clip+ef+scaledsign", "diana:alpha=0.5+none", "diana:alpha=0.125+ef21+terngrad:share=on","countsketch", "countsketch:rows=4,bits=9,topk=40", "countsketch:rows=1,cols=30", "countmin", "countmin:rows=2,bits=9", "countmin:estimate=median,bits=4",
]
FAST = ["qsgd", "terngrad:code=elias", "entry:ratio=0.1", "svd", "ef+qsgd:bits=2", "wavelet:family=db4", "joint", "eden:bits=2.5", "powersgd"]
RARE = ["qsgd:bits=7,norm=linf,bucket=0,code=rans", "qsgd:bits=16,bucket=0,code=rans", "qsgd:bits=2,code=rans", "qsgd:bits=11,bucket=0,code=rans",
        "natural:code=rans", "terngrad:code=rans"]
# numbers in a spec that decide how a vector of several blocks is coded
LONG_SPECS = ["qsgd:levels=1,bucket=0,code=elias-dense", "qsgd:levels=1,bucket=0,code=elias-sparse", "qsgd:levels=5,bucket=100", "minmax:bits=1,bucket=0",
              "nuqsgd:bits=1,bucket=0", "nuqsgd:bits=6,bucket=100", "zipml:levels=3,bucket=100"]
SLICED = ["countsketch:rows=2,cols=20000", "countmin:rows=1,cols=20000", "cas:clusters=1,buckets=50000", "sketchml:quantiles=4,groups=1,cols=0.12"]
# of specs that differ in numbers or in error feedback alone, only the first one codes these; zfp has no blocks so long
LONG = ("length_65536", "two_blocks")
TRANSFORMED = ("wavelet", "hadamard", "dct", "chunktopk", "fourier", "rotated", "thc", "drive", "eden", "powersgd", "lowrank")


def odd_arrays():
    """Returns arrays with the shapes, lengths and values at which a format may fail."""
    rng = np.random.default_rng(7)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    arrays = {f"length_{n}": normal(n) for n in (0, 1, 2, 3, 7, 63, 64, 65, 319, 320, 321, 511, 512, 513, 1025)}
    arrays["length_65536"] = np.where(rng.random(65536) < 0.01, 1, 0).astype(np.float32) * normal(65536)
    arrays["two_blocks"] = np.concatenate([normal(65536) ** 5, arrays["length_65536"][:1500], normal(1)])
    arrays["scalar"] = np.float32(-0.25)
    arrays |= {"cube": normal(3, 4, 5), "conv": normal(6, 3, 3, 3), "conv_odd": normal(5, 3, 3, 2),
               "conv_one": normal(8, 4, 1, 1), "wide": normal(3, 200), "tall": normal(200, 3),
               "five": normal(2, 3, 2, 2, 2)}
    arrays["zeros"] = np.zeros(1000, np.float32)
    arrays["constant"] = np.full(700, -0.5, np.float32)
    arrays["spikes"] = np.where(np.arange(5000) % 977 == 3, 1000, 1e-3 * normal(5000)).astype(np.float32)
    arrays["denormal"] = (normal(900) * 1e-41).astype(np.float32)
    arrays["tiny"] = (normal(900) * 1e-30).astype(np.float32)
    arrays["large"] = (normal(900) * 1e30).astype(np.float32)
    arrays["minus_zero"] = np.where(np.arange(600) % 3 == 0, -0.0, normal(600)).astype(np.float32)
    return arrays


def rare_arrays():
    """Returns arrays that are nearly all 0. They are coded by index gaps, some of which are longer than a block."""
    rng = np.random.default_rng(9)

    def values(n, share):
        return np.where(rng.random(n) < share, rng.laplace(size=n), 0).astype(np.float32)

    return {"some": values(100000, 0.005), "few": values(200000, 0.0003), "clusters": np.repeat(values(1000, 0.05), 80),
            "behind": np.concatenate([np.zeros(140000, np.float32), values(60000, 0.01)])}


def rounds(spec):
    """True when two decoders of this codec may round differently."""
    return any(name in spec for name in TRANSFORMED)


def close(ours, theirs):
    """True when two numbers are equal up to float32 rounding of a sum of a few products (or to a few denormal steps)."""
    scale = np.abs(ours).max() if ours.size else 0
    return ours.shape == theirs.shape and np.allclose(theirs, ours, rtol=3e-7, atol=1e-6 * scale + 6e-45)


@functools.cache
def layout(dump):
    """Returns the shape (of a group: None) and the attributes of each path in a dump."""
    with h5py.File(dump) as file:
        found = {"": (None, dict(file.attrs))}
        file.visititems(lambda path, node: found.update({path: (getattr(node, "shape", None), dict(node.attrs))}))
    return found


def check_addresses(file, dump, label, seed):
    original = layout(dump)
    for record in file.records:
        first = record.members[0]
        parts = first.path.split("/")
        step = [int(p[5:]) for p in parts if p.startswith("step_")]
        worker = [int(p[7:]) for p in parts if p.startswith("worker_")]
        name = "/".join(p for p in parts if not p.startswith(("step_", "worker_")))
        check((record.seed, record.repeat) == (seed, 0), f"{label}: {first.path}: seed, repeat")
        check(record.step == (step or [0])[0], f"{label}: {first.path}: step {record.step}")
        check(record.worker == (worker or [0])[0], f"{label}: {first.path}: worker {record.worker}")
        check(record.joined or record.name == name, f"{label}: {first.path}: name {record.name}")
        for member in record.members:
            check((member.shape, member.attributes) == original[member.path], f"{label}: {member.path}: shape, attributes")
    for group, attributes in file.groups.items():
        check((None, attributes) == original[group], f"{label}: attributes of /{group}")


def write_both(path, arrays):
    """Writes arrays, and the steps of small.h5 beside them."""
    bench.write_dump(path, arrays, model="odd", number=3, real=0.25)
    with h5py.File(path, "a") as file, h5py.File("small.h5") as small:
        for step in small:
            small.copy(step, file)


def one(dump, spec, *options):
    label = " ".join([dump.rpartition("/")[2], spec, *options])
    seed = int(options[options.index("--seed") + 1]) if "--seed" in options else 1
    bench.run("encode", dump, "-c", spec, "-o", "x.atomo", "--quiet", *options)
    bench.run("decode", "x.atomo", "-o", "x.h5", "--quiet")
    try:
        file = container.read("x.atomo")
        ours = decode.tensors(file)
    except container.Refused as refusal:
        return check(False, f"{label}: our reader refuses: {refusal}")
    theirs = bench.tensors("x.h5")
    check_addresses(file, dump, label, seed)
    check(list(ours) == list(member.path for r in file.records for member in r.members), f"{label}: order")
    check(sorted(ours) == sorted(theirs), f"{label}: paths")
    for path in ours:
        equal = close if rounds(spec) else same_bits
        check(equal(ours[path], theirs[path]), f"{label}: {path}: values differ")


def parts(payload, rounds):
    """Returns the rounds of a payload of the library: a varint, the size, is in front of each but the last."""
    source, found = Bytes(payload), []
    for _ in range(rounds - 1):
        found.append(source.take(source.varint()))
    return [*found, source.data[source.at:]]


def in_library(codec, arrays, seed):
    """Compares the library's estimates with ours; a path of `arrays` says the step and the worker."""
    for path, x in arrays.items():
        found = re.fullmatch(r"step_(\d+)/worker_(\d+)/(.*)", path)
        step, worker, name = (int(found[1]), int(found[2]), found[3]) if found else (0, 0, path)
        if (step + worker) % 3:
            continue  # one worker of each step
        payload = codec.encode(x, step, worker, name, seed)
        theirs = codec.decode(payload, x.shape, step, worker, name, seed)
        address = seed, 0, worker, step, container.fnv1a(name)
        try:
            ours = wrappers.decode(codec.spec, x.shape, parts(payload, codec.rounds), address, {}, decode.decode)
        except container.Refused as refusal:
            check(False, f"{path} {codec.spec}: our reader refuses: {refusal}")
            continue
        equal = close if rounds(codec.spec) else same_bits
        check(equal(np.asarray(ours, theirs.dtype), theirs), f"{path} {codec.spec}: values differ")


def check_specs():
    """Codes all arrays with the first spec of each codec, and of short.h5 every fifth with the first of its kind, every thirteenth with others."""
    dumps = {"odd.h5": bench.tensors("odd.h5"), "short.h5": bench.tensors("short.h5")}
    kinds, seed = {"zfp"}, 2**63 - 1
    for i, spec in enumerate(SPECS):
        kind = re.sub(r"^ef(:[^+]*)?\+|\w+=[0-9.:e-]+(?=[,+]|$)|[:,]", "", spec)
        seen = kind in kinds or spec.split(":")[0] in kinds
        every, dump = (13 if kind in kinds else 5 if seen else 1), "short.h5" if seen else "odd.h5"
        kinds.add(kind)
        codec = atomo.Codec(spec)
        if i % 40 and "reads_state" not in codec.traits:
            arrays = list(dumps[dump].items())
            in_library(codec, dict(arrays[i % every::every]), seed)
        else:
            one(f"fifth{i % 5}.h5" if seen else "odd.h5", spec, "--seed", str(seed))


def main():
    global atomo
    directory = bench.start()
    atomo = bench.library()
    arrays = odd_arrays()
    bench.run("synth", "--shape", "100", "--shape", "12x10", "--shape", "4x3x3x3", "--steps", "2", "--workers", "3",
              "-o", "small.h5", "--quiet")
    write_both("odd.h5", arrays)
    short = {name: x for name, x in arrays.items() if name not in LONG}
    write_both("short.h5", short)
    for k in range(5):
        write_both(f"fifth{k}.h5", dict(list(short.items())[k::5]))
    left = np.random.default_rng(8).standard_normal((30, 20)).astype(np.float32) * (np.arange(20) < 10)
    # the second gradient has other singular vectors
    bench.write_dump("turned.h5", {"step_000001/a": left, "step_000002/a": left[:, ::-1]})
    one("turned.h5", "powersgd")
    one("turned.h5", "ef+powersgd:rank=5")
    bench.write_dump("rare.h5", rare_arrays())
    for spec in RARE:
        one("rare.h5", spec, "--threads", "2")
    bench.write_dump("long.h5", {"long": np.random.default_rng(6).standard_normal(150000).astype(np.float32)})
    for spec in SLICED:
        one("long.h5", spec)
    bench.write_dump("blocks.h5", {k: arrays[k] for k in LONG})
    for spec in LONG_SPECS:
        one("blocks.h5", spec)
    check_specs()
    ways = [(str(bench.LENET), "--step", "2*", "--tensor", "conv*"), ("small.h5", "--group", "kind", "--min-elements", "200"),
            ("small.h5", "--group", "all", "--threads", "3"), ("short.h5", "--min-elements", "500")]
    for i, spec in enumerate(FAST):
        dump, *options = ways[i % 4]
        one(dump, spec, *options)
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
