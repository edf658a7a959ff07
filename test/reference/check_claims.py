#!/usr/bin/env python3
"""check_claims.py -- checks the codecs' promises from outside of the program: known values, Theorem 5, closed
forms.

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
# spec: (error, bits per element) for N(0, 1), then for Laplace; from a public table for d = 65,536. None: the error
# varies with the sample by more than the tolerance, so only the closed form for the vector is used.
TABLE = {
    "qsgd:levels=1": ((17.06, 0.435), (15.02, 0.405)),
    "qsgd:levels=15": ((0.379, 2.337), (0.353, 2.175)),
    "qsgd:levels=127": ((0.0053, 6.141), (0.0053, 5.651)),
    "qsgd:levels=7,norm=linf": ((0.0362, 4.18), (0.0822, 3.17)),
    "terngrad": ((None, 1.6), (None, 1.6)),
    "natural": ((0.082, 9.0), (0.083, 9.0)),
    "entry:ratio=0.01": ((62, 0.090), (49, 0.090)),
    "entry:ratio=0.1": ((5.4, 0.57), (4.0, 0.57)),
}
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


def check_table(law, column):
    bench.run("synth", "--law", law, "--scale", 1, "--shape", D, "-o", f"{law}.h5", "-q")
    g = next(iter(bench.tensors(f"{law}.h5").values())).astype(float)
    words = [w for spec in TABLE for w in ("-c", spec)]
    records = bench.compare(f"{law}.h5", *words, "--repeats", 10, "--metrics",
                            "relative_error,bits_per_element,variance_expected")
    for spec, record in zip(TABLE, (r for r in records if r["tensor"] != "*")):
        error, bits = TABLE[spec][column]
        own = closed_forms.expected(spec, g, None) / (g @ g)
        found, size = record["relative_error"], record["bits_per_element"]
        verdict(abs(found / own - 1) <= 0.03,
                f"{law} {spec}: error {found:.4g}, {own:.4g} by the closed form, within 3 %")
        verdict(abs(record["variance_expected"] / (g @ g) / own - 1) <= 2e-6, f"{law} {spec}: variance_expected")
        if error:
            verdict(abs(own / error - 1) <= 0.03 or abs(own - error) < 0.6 * last_digit(error),
                    f"{law} {spec}: closed form {own:.4g}, {error} in the table, within 3 %")
        verdict(size <= bits + max(0.02 * bits, 0.01), f"{law} {spec}: {size:.4f} bits an element, {bits} in the table")


def last_digit(value):
    text = f"{value}"
    return 10.0**-len(text.partition(".")[2]) if "." in text else 1.0


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
    for column, law in enumerate(LAWS):
        check_table(law, column)
    check_theorem_5()
    check_expected()
    bench.finish()
    directory.cleanup()


if __name__ == "__main__":
    main()
