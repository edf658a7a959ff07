#!/usr/bin/env python3
"""check_claims.py -- checks the codecs' promises from outside of the program: Theorem 5, closed forms.

usage: check_claims.py [PROGRAM]. Prints a verdict for each statement. All results come from `synth`, `encode` and
`decode`, or from `compare`. They are compared with numbers that numpy computes for the same vectors, or with the
table below.
"""
import numpy as np

import bench
import closed_forms
import decode
from bench import same_bits, verdict

D = 65536
LAWS = ("normal", "laplace")
EXPECTED = ["natural",
               "intsgd:bits=4", "intsgd:bits=3,share=off",
               "nuqsgd", "nuqsgd:bits=2,bucket=100",
               "minmax:rounding=stochastic", "minmax:bits=1,bucket=0,rounding=stochastic",
               "qsgd", "qsgd:bits=1,bucket=0", "qsgd:levels=5,bucket=100,norm=linf", "terngrad", "terngrad:share=on",
               "entry:ratio=0.05", "entry:ratio=0.2", "entry:ratio=0.1,probs=clip", "entry:ratio=0.05,draw=systematic",
               "entry:bits=1", "gspar:density=0.1", "gspar:eps=2", "randk:ratio=0.2", "randk:ratio=0.6,shared=off", "lq", "lq:q=1.5", "lq:q=inf", "svd:rank=2", "svd:rank=1.5,reshape=rows",
               "lowrank:rank=4",
               "svd:rank=1,probs=clip", "wavelet:ratio=0.05", "wavelet:ratio=0.1,family=db4,levels=3",
               "hadamard:ratio=0.05", "hadamard:ratio=0.1,probs=clip", "svd:vectors=bf16","dct:ratio=0.05", "dct:ratio=0.1,dims=2",
               "fourier:ratio=0.05", "fourier:ratio=0.1,dims=2,probs=clip",
               "svd:rank=2,vectors=qsgd,vbits=4", "fp16:rounding=stochastic", "bf16:rounding=stochastic"]


def decoded(dump, spec, *options):
    bench.run("encode", dump, "-c", spec, "-o", "t.atomo", "-q", *options)
    bench.run("decode", "t.atomo", "-o", "t.h5", "-q")
    return bench.tensors("t.h5")


def check_theorem_5():
    atomo = bench.library()
    rng = np.random.default_rng(5)
    spiky = (rng.standard_normal(70000) * 1e-3).astype(np.float32)
    spiky[[5, 17, 66000]] = 3, -2.5, 2.875
    vectors = {"normal": None, "laplace": None, "spiky": spiky,
               "one_spike": np.eye(1, 3000, 9, dtype=np.float32)[0] * 0.3,
               "constant": np.full(4097, -0.7, np.float32),
               "layered": (rng.standard_normal(150000) ** 7).astype(np.float32)}
    arrays = {name: next(iter(bench.tensors(f"{name}.h5").values())) if x is None else x for name, x in vectors.items()}
    bench.write_dump("vectors.h5", arrays)
    for other, scale in (("qsgd:levels=1,bucket=0", lambda g: np.sqrt((g**2).sum())), ("terngrad", np.max),
                         ("lq", lambda g: np.sqrt((g**2).sum())), ("lq:q=inf", np.max),
                         ("lq:q=1.5", lambda g: (g**1.5).sum()**(2 / 3))):
        found = decoded("vectors.h5", other)
        for name, x in arrays.items():
            g = np.abs(x.astype(float))
            budget = f"entry:budget={g.sum() / scale(g):.17g}"
            codec = atomo.Codec(budget)  # in the library, which takes no process
            verdict(same_bits(found[name], codec.decode(codec.encode(x, tensor=name), x.shape, tensor=name)),
                    f"Theorem 5, {name}: {other} and {budget} decode to the same vector")


def check_expected():
    """test/compress/test_unbiased.c holds the closed forms of the library against draws."""
    bench.run("synth", "--law", "laplace", "--shape", "48x40", "-o", "mc.h5", "-q")
    g = next(iter(bench.tensors("mc.h5").values())).astype(float)
    words = [w for spec in EXPECTED for w in ("-c", spec)]
    for record in bench.compare("mc.h5", *words, "--repeats", 1, "--metrics", "variance_expected"):
        spec, expected = record["compressor"], record["variance_expected"]
        own = closed_forms.expected(spec, g, None) if "bits" not in decode.parse(spec)[1] or "qsgd" in spec else None
        if record["tensor"] != "*" and own is not None:
            verdict(abs(expected / own - 1) < (2e-4 if "svd" in spec else 3e-5),
                    f"{spec}: variance_expected {expected:.6g}, ours {own:.6g}")


def main():
    directory = bench.start()
    for law in LAWS:
        bench.run("synth", "--law", law, "--scale", 1, "--shape", D, "-o", f"{law}.h5", "-q")
    check_theorem_5()
    check_expected()
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
