"""Tests of the Python package: its payloads equal those of atomo-bench bit for bit; arrays of every kind, states,
merging, errors, records.

ATOMO_LIBRARY and PYTHONPATH name the library and the package; BIN is the folder of atomo-bench. Tests that need a
missing module are skipped by name.
"""

import contextlib
import io
import json
import os
import pathlib
import pickle
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest
import unittest.mock

import numpy as np

import atomo
import atomo.program

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCE / "test"))
import small  # noqa: E402

DUMP = SOURCE / "datasets" / "lenet-mnist.h5"
BENCH = os.path.join(os.environ.get("BIN", str(SOURCE / "build/release/bin")), "atomo-bench")


def setUpModule():
    """Puts a dump with fewer rows in the place of the shipped one."""
    global DUMP
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    whole, DUMP = DUMP, pathlib.Path(folder.name, DUMP.name)
    small.write_small(os.path.dirname(BENCH), whole, DUMP)


def module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


torch, h5py, pandas = module("torch"), module("h5py"), module("pandas")
SPECS = ["qsgd:bits=4", "terngrad", "topk:ratio=0.01", "powersgd:rank=2", "sign", "eden", "entry:bits=0.5", "zstd+qsgd"]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Payloads(unittest.TestCase):
    @unittest.skipUnless(h5py, "needs h5py")
    def test_bytes_are_those_of_atomo_bench(self):
        with h5py.File(DUMP) as file:
            step = sorted(file)[0]
            number = int(file[step].attrs["step"])
            tensors = {name: file[step][name][()] for name in file[step]}
        for spec in SPECS:
            codec = atomo.Codec(spec)
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "x.atomo")
                subprocess.run([BENCH, "encode", "-q", str(DUMP), "--step", step, "-c", spec, "-o", out], check=True)
                container = pathlib.Path(out).read_bytes()
            for name, x in tensors.items():
                tensor = codec.tensor(x.shape, name)
                tensor.begin(number, senders=1)
                more, sizes = True, 0
                while more:
                    payload = tensor.send(x)
                    self.assertIn(payload.tobytes(), container, (spec, name))
                    tensor.take(0, payload)
                    more = tensor.end_round()

    def test_a_payload_decodes_to_the_same_floats_anywhere(self):
        x = normal(40, 30)
        for spec in SPECS:
            data = atomo.Codec(spec).encode(x, step=3, worker=1, tensor="fc", seed=9)
            again = atomo.Codec(spec)
            y = again.decode(data, x.shape, step=3, worker=1, tensor="fc", seed=9)
            self.assertEqual(data, again.encode(x, step=3, worker=1, tensor="fc", seed=9))
            self.assertEqual(y.tobytes(), again.decode(bytearray(data), x.shape, step=3, worker=1, tensor="fc", seed=9).tobytes())
            self.assertEqual(y.shape, x.shape)

    def test_arrays_of_other_kinds(self):
        x = normal(20, 30)
        codec = atomo.Codec("qsgd")
        want = codec.encode(x)
        self.assertEqual(codec.encode(x.astype(np.float64)), want)
        self.assertEqual(codec.encode(np.asfortranarray(x)), want)
        self.assertEqual(codec.encode(x.tolist()), want)
        if torch:
            t = torch.from_numpy(x).requires_grad_()
            self.assertEqual(codec.encode(t), want)
            self.assertEqual(codec.encode(t.detach().bfloat16()), codec.encode(t.detach().bfloat16().float()))

    def test_into_memory_of_the_caller(self):
        x = normal(20, 30)
        tensor = atomo.Codec("qsgd").tensor(x.shape)
        out = np.empty(tensor.bound, np.uint8)
        got = tensor.encode(x, out=out)
        self.assertEqual(got.tobytes(), tensor.encode(x))
        self.assertTrue(np.shares_memory(got, out))
        fixed = out.copy()
        fixed.flags.writeable = False
        for bad in (out[:-1], out.astype(np.int8), np.empty(2 * tensor.bound, np.uint8)[::2], fixed):
            with self.assertRaisesRegex(ValueError, "out: want"):
                tensor.encode(x, out=bad)

    def test_memory_that_cannot_be_written(self):
        x = normal(20, 30)
        codec = atomo.Codec("qsgd")
        want = codec.encode(x)
        x.flags.writeable = False
        self.assertEqual(codec.encode(x), want)
        tensor = codec.tensor(x.shape)
        with self.assertRaisesRegex(ValueError, "mean: want"):
            tensor.begin(mean=x)

    def test_empty_and_scalar(self):
        for shape in ((), (0,), (3, 0), (1,)):
            x = np.ones(shape, np.float32)
            codec = atomo.Codec("topk")
            self.assertEqual(codec.decode(codec.encode(x), shape).shape, shape)
            self.assertEqual(codec.tensor(shape).decode(codec.tensor(shape).encode(x)).shape, shape)

    def test_merging(self):
        codec, x = atomo.Codec("randk:ratio=0.2"), [normal(50, 4, seed=s) for s in range(3)]
        merged = codec.merge([codec.encode(v) for v in x], x[0].shape)
        parts = sum(codec.decode(codec.encode(v), v.shape) for v in x)
        np.testing.assert_allclose(codec.decode(merged, x[0].shape), parts, rtol=1e-5, atol=1e-5)
        with self.assertRaisesRegex(atomo.UsageError, "do not merge"):
            atomo.Codec("qsgd").merge([b"a"], (3,))
        with self.assertRaisesRegex(atomo.UsageError, "sends 2 payloads a step.*atomo_step_merge"):
            atomo.Codec("powersgd").merge([b"a"], (3,))

    def test_states(self):
        x = normal(30, 30)
        codec = atomo.Codec("ef+topk:ratio=0.01")
        first, second = codec.tensor(x.shape), codec.tensor(x.shape)
        one = codec.encode(x, step=0, state=first)
        second.load_state(codec.tensor(x.shape).state())
        self.assertEqual(one, codec.encode(x, step=0, state=second))
        two = codec.encode(x, step=1, state=first)
        self.assertNotEqual(codec.decode(one, x.shape).tobytes(), codec.decode(two, x.shape).tobytes())
        second.load_state(first.state())
        self.assertEqual(first.encode(x, 2), second.encode(x, 2))
        with self.assertRaises(atomo.CorruptError):
            second.load_state(first.state()[:-1] + b"x")

    def test_codecs_travel(self):
        codec = pickle.loads(pickle.dumps(atomo.Codec("qsgd:bits=2")))
        self.assertEqual(codec.spec, "qsgd:bits=2")
        self.assertEqual(atomo.Codec("powersgd").rounds, 2)
        self.assertIn("unbiased", codec.traits)
        self.assertIn("qsgd", atomo.compressors())

    def test_keys_beside_the_spec(self):
        for codec, spec in (
            (atomo.Codec("qsgd", bits=3, code="rans"), "qsgd:bits=3,code=rans"),
            (atomo.Codec("svd:rank=2", method="gram"), "svd:rank=2,method=gram"),
            (atomo.Codec("ef:decay=0.9+topk", ratio=0.1), "ef:decay=0.9+topk:ratio=0.1"),
        ):
            self.assertEqual(codec.spec, spec)
        with self.assertRaisesRegex(atomo.UsageError, "bits=40 is out of range: want 1 to 16"):
            atomo.Codec("qsgd", bits=40)

    def test_compressors_and_their_keys_are_those_of_the_list(self):
        all_of_them = atomo.compressors()
        listed = json.loads(subprocess.run([BENCH, "list", "--format", "json"], check=True, capture_output=True).stdout)["results"]
        self.assertEqual({name: c["brief"] for name, c in all_of_them.items()}, {r["codec"]: r["brief"] for r in listed})
        for name in ("none", "qsgd", "svd", "ef", "chunktopk"):
            rows = json.loads(subprocess.run([BENCH, "list", name, "--format", "json"], check=True, capture_output=True).stdout)["results"]
            for row in rows:
                del row["excludes"]
            self.assertEqual(all_of_them[name]["keys"], rows)
        self.assertIn("<td>qsgd</td><td>bits</td><td>1 to 16</td><td>4</td>", all_of_them._repr_html_())

    def test_only_public_names(self):
        self.assertEqual(sorted(dir(atomo)), sorted([*atomo.__all__, "__version__"]))

    @unittest.skipUnless(torch, "needs torch")
    def test_tensors_of_torch_come_back(self):
        x = torch.from_numpy(normal(20, 30))
        codec = atomo.Codec("qsgd")
        data = codec.encode(x)
        want = codec.decode(data, tuple(x.shape))
        for got in (codec.decode(data, x.shape), codec.decode(data, x), codec.tensor(x.shape).decode(data), codec.tensor(x).decode(data)):
            self.assertIsInstance(got, torch.Tensor)
            np.testing.assert_array_equal(got.numpy(), want)
        self.assertIsInstance(want, np.ndarray)
        self.assertEqual(atomo.compare(x, [codec, "topk"], repeats=1, timed=False)[0]["tensor"], "tensor")

    def test_specs_are_shown_as_typed(self):
        typed = ["TopK:ratio=0.010", "topk:ratio=0.01", "qsgd:bits=4/2"]
        codec = atomo.Codec(typed[0])
        self.assertEqual((codec.spec, repr(codec)), (typed[0], "Codec('TopK:ratio=0.010')"))
        self.assertEqual(codec.complete, atomo.Codec("topk").complete)
        self.assertEqual(atomo.Codec(codec.complete).complete, codec.complete)
        records = atomo.compare({"w": normal(100)}, typed, repeats=1, timed=False).level("tensor")
        self.assertEqual([r["compressor"] for r in records], [typed[0], "qsgd:bits=4", "qsgd:bits=2"])
        self.assertEqual([r["spec"] for r in records], [atomo.Codec(r["compressor"]).complete for r in records])
        state = codec.tensor((100,))
        self.assertEqual(atomo.Codec("topk").encode(normal(100), state=state), codec.encode(normal(100)))

    def test_threads(self):
        codec, x = atomo.Codec("svd:rank=2"), normal(60, 50)
        want, wrong = codec.encode(x), []

        def work():
            for _ in range(20):
                if codec.encode(x) != want:
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        self.assertFalse(wrong)


class Files(unittest.TestCase):
    def converted(self, folder, ending):
        out = os.path.join(folder, "g." + ending)
        subprocess.run([BENCH, "convert", "-q", str(DUMP), out], check=True, stdout=subprocess.DEVNULL)
        return out

    @unittest.skipUnless(h5py, "needs h5py")
    def test_values_are_those_of_h5py(self):
        read = atomo.read_gradients(DUMP)
        with h5py.File(DUMP) as file:
            self.assertEqual(list(read), [int(file[step].attrs["step"]) for step in sorted(file)])
            for step in file:
                here = read[int(file[step].attrs["step"])]
                self.assertEqual(set(here), set(file[step]))
                for name, x in here.items():
                    self.assertEqual((x.dtype, x.shape), (np.float32, file[step][name].shape))
                    self.assertEqual(x.tobytes(), file[step][name][()].tobytes())

    def test_every_kind_of_file(self):
        read = atomo.read_gradients(DUMP)
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("npz", "safetensors"):
                again = atomo.read_gradients(self.converted(folder, ending))
                self.assertEqual([list(step) for step in again.values()], [list(step) for step in read.values()])
                for step in read:
                    for name, x in read[step].items():
                        self.assertEqual(again[step][name].tobytes(), x.tobytes())
            alone = os.path.join(folder, "w.npy")
            np.save(alone, normal(3, 4))
            self.assertEqual(atomo.read_gradients(alone)[0]["w"].tobytes(), normal(3, 4).tobytes())

    def test_workers_and_steps(self):
        x = {(step, worker): normal(5, 2, seed=2 * step + worker) for step in (3, 10) for worker in (0, 1)}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.npz")
            np.savez(path, **{"step_%d/worker_%d/fc.weight" % key: array for key, array in x.items()})
            read = atomo.read_gradients(path)
            self.assertEqual({(s, w): a["fc.weight"].tobytes() for s in read for w, a in read[s].items()}, {k: a.tobytes() for k, a in x.items()})
            self.assertEqual(list(atomo.read_gradients(path, steps=[10])), [10])
            levels = [r["level"] for r in atomo.compare(read, "fp16", repeats=1, timed=False)]
            self.assertEqual(levels, [r["level"] for r in atomo.compare(path, "fp16", repeats=1, timed=False)])
            with self.assertRaisesRegex(atomo.UsageError, "has no step 4.*its steps are 3, 10"):
                atomo.read_gradients(path, steps=[10, 4])
            with self.assertRaisesRegex(atomo.UsageError, "steps=10: want a list"):
                atomo.read_gradients(path, steps=10)
            twins = os.path.join(folder, "twins.npz")
            np.savez(twins, **{"step_1/a": normal(2), "step_01/a": normal(3)})
            with self.assertRaisesRegex(atomo.UsageError, "step 1, worker 0 has two tensors a"):
                atomo.read_gradients(twins)

    def test_wrong_files(self):
        with self.assertRaisesRegex(atomo.FileError, "no-such-file"):
            atomo.read_gradients("no-such-file.h5")
        with self.assertRaisesRegex(atomo.CorruptError, "not an HDF5"):
            atomo.read_gradients(__file__)

    def test_large_memory(self):
        x = normal(1200, 1000)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.npz")
            np.savez(path, large=x, empty=normal(0, 3), scalar=np.float32(2))
            read = atomo.read_gradients(path)[0]
        self.assertEqual(read["large"].tobytes(), x.tobytes())
        self.assertEqual((read["empty"].shape, float(read["scalar"])), ((0, 3), 2.0))
        tensor = atomo.Codec("none").tensor(x.shape)
        room = tensor.room()
        self.assertEqual(room.size, tensor.bound)
        self.assertEqual(tensor.encode(x, out=room).tobytes(), tensor.encode(x))
        large = read.pop("large")
        del read, room
        with self.assertRaises(atomo.OutOfMemory):
            atomo.Codec("none").tensor((2**45,)).room()
        large += 1  # the memory is the array's own, and outlives the others
        self.assertEqual(large.tobytes(), (x + 1).tobytes())


# Runs each block in a folder that has the data sets; says which modules are missing.
BLOCKS = """
import json, os, shutil, sys
import atomo
os.symlink(sys.argv[1], "datasets")
names = {}
for block in json.load(sys.stdin):
    try:
        exec(block, names)
    except ImportError as missing:
        print("left out: needs", missing.name)
    except atomo.Error as error:
        if shutil.which("gnuplot") or "gnuplot" not in str(error):
            raise
"""


class Documents(unittest.TestCase):
    def test_the_examples_of_python_md_run(self):
        """One after the other; test_torch runs the whole programs. In a process of its own, for PyTorch's threads do not fork."""
        blocks = [part.split("```")[0] for part in (SOURCE / "docs" / "python.md").read_text().split("```python\n")[1:]]
        self.assertGreaterEqual(len(blocks), 12)
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [os.sys.executable, "-c", BLOCKS, str(SOURCE / "datasets")],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(atomo.__file__)))},
                input=json.dumps(blocks),
                capture_output=True,
                text=True,
            )
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("bytes instead of 524288", run.stdout)
        self.assertIn("bits | 1 to 16 | 4 |", run.stdout)
        missing = {line.split()[-1] for line in run.stdout.splitlines() if line.startswith("left out: needs")}
        self.assertLessEqual(missing, {name for name in ("torch", "pandas", "h5py", "matplotlib") if not module(name)})


class Errors(unittest.TestCase):
    def test_spec(self):
        with self.assertRaisesRegex(ValueError, "did you mean qsgd"):
            atomo.Codec("qsdg")

    def test_tensors_and_payloads(self):
        codec, x = atomo.Codec("qsgd"), normal(10, 10)
        with self.assertRaisesRegex(atomo.NumericError, "element 11"):
            codec.encode(np.where(np.arange(100).reshape(10, 10) == 11, np.nan, x))
        data = codec.encode(x)
        for bad in (b"", data[:-1], data + b"x", b"\x07" + data[1:]):
            with self.assertRaises(atomo.CorruptError):
                codec.decode(bad, x.shape)
        with self.assertRaisesRegex(ValueError, "shape"):
            codec.tensor((3, 3)).encode(x)

    def test_a_state_of_something_else(self):
        codec, x = atomo.Codec("ef+topk:ratio=0.1"), normal(10, 10)
        state = codec.tensor(x.shape, tensor="fc", seed=3)
        codec.encode(x, state=state, tensor="fc", seed=3, worker=0)
        for wrong in ({"worker": 1}, {"tensor": "conv"}, {"seed": 1}):
            with self.assertRaisesRegex(ValueError, "the state's is"):
                codec.encode(x, state=state, **wrong)
        with self.assertRaisesRegex(ValueError, "the state is of ef"):
            atomo.Codec("qsgd").encode(x, state=state)
        with self.assertRaisesRegex(atomo.CorruptError, "fc: not a state"):
            state.load_state(b"nothing")
        self.assertIn("tensor='fc', seed=3", repr(state))

    def test_numbers_out_of_range(self):
        codec, x = atomo.Codec("qsgd"), normal(10)
        codec.encode(x, step=-(2**63), seed=2**64 - 1)
        for name, value in (("step", 2**63), ("seed", -1), ("seed", 2**64), ("worker", 2**32)):
            with self.assertRaisesRegex(ValueError, "%s=%d: want" % (name, value)):
                codec.encode(x, **{name: value})
        with self.assertRaisesRegex(atomo.UsageError, "step=1.5: want an integer"):
            codec.encode(x, step=1.5)
        with self.assertRaisesRegex(ValueError, "dimension=-3"):
            codec.tensor((-3, 4))
        with self.assertRaisesRegex(ValueError, "tensor: 9223372036854775808 x 4: too many elements"):
            codec.tensor((2**63, 4))

    def test_every_error_is_atomos_own(self):
        codec, x = atomo.Codec("qsgd"), normal(10)
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as other:
            other.write("a,b\n1,2,3\n")
            other.flush()
            for kind, says, wrong in (
                (atomo.UsageError, "spec=3: want text", lambda: atomo.Codec(3)),
                (atomo.UsageError, "without zero bytes", lambda: atomo.Codec("qsgd\0")),
                (atomo.UsageError, "shape=5: want a tuple", lambda: codec.tensor(5)),
                (atomo.UsageError, "threads='2': want an integer", lambda: codec.tensor((5,), threads="2")),
                (atomo.UsageError, "tensor=5: want text", lambda: codec.encode(x, tensor=5)),
                (atomo.UsageError, "str cannot be read as bytes", lambda: codec.decode("text", (10,))),
                (atomo.UsageError, "list cannot be read as floats", lambda: codec.encode([[1], [2, 3]])),
                (atomo.UsageError, "its elements are complex", lambda: codec.encode(x * 1j)),
                (atomo.UsageError, "int: want the path of a dump, an array, or", lambda: atomo.compare(5, "qsgd")),
                (atomo.UsageError, "step='one': want an integer", lambda: atomo.compare({"one": {"w": x}}, "qsgd")),
                (atomo.FileError, "no-such-file.csv: No such file", lambda: atomo.read_result("no-such-file.csv")),
                (atomo.CorruptError, "want a heading, and rows", lambda: atomo.read_result(other.name)),
            ):
                with self.assertRaisesRegex(atomo.Error, says) as caught:
                    wrong()
                self.assertIs(type(caught.exception), kind)
        with self.assertRaises(atomo.Error) as caught:
            codec.tensor(5)
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((error.text, error.hint), ("shape=5: want a tuple of integers", "the shape of a vector of 5 is (5,)"))
        self.assertEqual(str(error), "%s (%s)" % (error.text, error.hint))

    def test_another_library_is_refused_by_name(self):
        for path, says in (("/nonexistent/libatomo.so", "nonexistent"), ("libc.so.6", "is not libatomo")):
            run = subprocess.run(
                [os.sys.executable, "-c", "import atomo"],
                env={**os.environ, "ATOMO_LIBRARY": path},
                capture_output=True,
                text=True,
            )
            self.assertIn("ImportError", run.stderr)
            self.assertIn(says, run.stderr)


class Records(unittest.TestCase):
    def test_measure(self):
        x, y = normal(1000), normal(1000, seed=1)
        got = atomo.measure(x, y, size=500)
        error = np.square(y.astype(float) - x).sum() / np.square(x.astype(float)).sum()
        self.assertAlmostEqual(got["relative_error"], error, places=9)
        self.assertEqual(got["bits_per_element"], 4)
        self.assertIsNone(got["encode_ms"])

    def test_arrays(self):
        x = {"fc": normal(30, 20), "bias": normal(20)}
        records = atomo.compare(x, ["qsgd:bits=2/4", "topk"], repeats=3, timed=False)
        self.assertEqual(len(records), 3 * 3)
        self.assertEqual({r["tensor"] for r in records}, {"fc", "bias", "*"})
        self.assertEqual(records.schema, "atomo-compare/1")
        self.assertEqual([[r["level"] for r in records.level(name)] for name in ("tensor", "all")], [["tensor"] * 6, ["step"] * 3])
        self.assertRaises(atomo.UsageError, records.level, "tensors")
        codec = atomo.Codec("topk")
        estimate = codec.decode(codec.encode(x["fc"], tensor="fc"), x["fc"].shape, tensor="fc")
        mine = next(r for r in records if r["tensor"] == "fc" and r["compressor"] == codec.spec)
        self.assertAlmostEqual(mine["relative_error"], atomo.measure(x["fc"], estimate)["relative_error"], places=12)
        steps = atomo.compare({0: {"w": x["fc"]}, 5: {"w": x["bias"]}}, "qsgd", repeats=2, timed=False)
        self.assertEqual([r["step"] for r in steps if r["tensor"] == "w"], [0, 5])
        both = atomo.compare({4: {0: {"w": x["fc"]}, 2: {"w": x["bias"]}}}, "topk", repeats=1, timed=False)
        self.assertEqual([(r["step"], r["worker"], r["n"]) for r in both if r["tensor"] == "w"], [(4, 0, 600), (4, 2, 20)])

    def test_times_where_wanted(self):
        for timed in (True, False):
            record = atomo.compare({"w": normal(100)}, "topk", repeats=1, timed=timed)[0]
            self.assertEqual([record[k] is not None and record[k] > 0 for k in ("encode_ms", "decode_ms")], [timed, timed])

    def test_file_equals_atomo_bench(self):
        with tempfile.TemporaryDirectory() as folder:
            read = {}
            for name in ("r.json", "r.csv"):
                out = os.path.join(folder, name)
                command = [BENCH, "compare", "-q", str(DUMP), "-c", "qsgd,", "--repeats", "3", "--metrics", "bytes,mse", "-o", out]
                command[5] = "qsgd"
                subprocess.run(command, check=True)
                read[name] = atomo.read_result(out)
            part = out + ".part"  # as a run leaves it that is killed while it writes its second record
            with open(part, "w", encoding="utf-8") as file:
                file.write('{"part": "atomo-compare/1", "--seed": 1}\n{"tensor": "*", "mse": 0.5, "place": 0, "sums": "1"}\n{"ten')
            rows = atomo.read_result(part)
            self.assertEqual((rows, rows.schema), ([{"tensor": "*", "mse": 0.5, "level": "step", "step": None, "worker": None}], "atomo-compare/1"))
        mine = atomo.compare(DUMP, "qsgd", repeats=3, timed=False)
        self.assertEqual(len(read["r.json"]), len(mine))
        for a, b, c in zip(mine, read["r.json"], read["r.csv"]):
            self.assertEqual((a["tensor"], a["bytes"], a["mse"]), (b["tensor"], b["bytes"], b["mse"]))
            self.assertEqual((b["bytes"], b["mse"]), (c["bytes"], c["mse"]))
        self.assertIn("version", read["r.json"].meta)

    @unittest.skipUnless(h5py, "needs h5py")
    def test_arrays_of_several_steps_equal_their_file(self):
        with h5py.File(DUMP) as file:
            arrays = {int(s.attrs["step"]): {n: s[n][()] for n in s} for s in file.values()}
        mine, files = (atomo.compare(source, "qsgd", repeats=2, timed=False) for source in (arrays, DUMP))
        self.assertEqual([r["level"] for r in mine], [r["level"] for r in files])
        self.assertEqual([len(mine.level(name)) for name in ("tensor", "step", "all")], [16, 2, 1])
        for a, b in zip(mine, files):
            for name in ("step", "tensor", "n", "bytes", "relative_error"):
                self.assertEqual(a[name], b[name], (a["tensor"], name))
        self.assertIsNone(mine[-1]["step"])
        self.assertEqual((mine[:2], mine[:2].meta, mine[:2].schema), (list(mine)[:2], mine.meta, mine.schema))
        self.assertEqual(mine.level("all").meta, mine.meta)

    @unittest.skipUnless(pandas, "needs pandas")
    def test_pandas(self):
        records = atomo.compare({"w": normal(30, 20)}, ["qsgd", "topk"], repeats=2, timed=False)
        for frame in (pandas.DataFrame(records), records.to_pandas()):
            self.assertEqual(len(frame.groupby("compressor")), 2)

    def test_without_pandas(self):
        with unittest.mock.patch.dict("sys.modules", pandas=None), self.assertRaisesRegex(ImportError, "pip install pandas"):
            atomo.compare({"w": normal(30)}, "topk", repeats=1).to_pandas()

    def test_html(self):
        page = atomo.compare({"<w>": normal(30, 20)}, "qsgd", repeats=2, timed=False)._repr_html_()
        self.assertIn("<th>relative_error</th>", page)
        self.assertIn("<td>&lt;w&gt;</td>", page)
        self.assertNotIn("encode_ms", page)

    def test_missing_file(self):
        with self.assertRaisesRegex(OSError, "no-such-file"):
            atomo.compare("no-such-file.h5", "qsgd")


def stub(folder, text):
    """A program that stands for atomo-bench."""
    path = os.path.join(folder, "stub")
    pathlib.Path(path).write_text("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return unittest.mock.patch("atomo.program._program", lambda: path)


class Program(unittest.TestCase):
    """atomo-bench from Python."""

    def test_arrays_give_the_records_of_compare(self):
        x = {3: {0: {"fc": normal(30, 20), "bias": normal(20)}, 1: {"fc": normal(30, 20, seed=1), "bias": normal(20, seed=1)}}}
        for arrays in (x, x[3][0], normal(9)):
            mine = atomo.compare(arrays, ["qsgd:bits=2", "topk"], repeats=2, timed=False)
            records = atomo.bench("compare", arrays, codec=["qsgd:bits=2", atomo.Codec("topk")], repeats=2, progress=True)
            self.assertEqual((len(records), records.schema), (len(mine), mine.schema))
            names = ("step", "worker", "tensor", "level", "compressor", "bytes", "relative_error")
            self.assertEqual(*([[r[name] for name in names] for r in some] for some in (mine, records)))

    def test_every_command_gives_records(self):
        x = {"fc": normal(30, 20)}
        with contextlib.redirect_stderr(io.StringIO()) as notes:
            for command, options, field in (
                ("sweep", {"codec": "qsgd", "rates": [2, 4], "repeats": 5}, "pareto"),
                ("merge", {"codec": "randk", "workers": [2, 4]}, "merge_ms"),
                ("advise", {"codec": ["qsgd", "topk"], "workers": 4, "unbiased": True}, "rank"),
                ("cost", {"codec": "qsgd", "link": ["lan1g", "lan10g"]}, "break_even_gbps"),
                ("inspect", {"tensor": ["f*"], "histogram": False}, "l2"),
                ("verify", {}, "passed"),
            ):
                records = atomo.bench(command, x, **options)
                self.assertEqual(records.schema, "atomo-%s/1" % command)
                self.assertIn(field, records[0])
        self.assertIn("the other workers' are made", notes.getvalue())

    def test_records_are_written_as_they_were_read(self):
        for levels in ({"w": normal(40)}, {1: {"w": normal(40)}, 2: {"w": normal(40, seed=1)}}):
            with atomo.program._files([atomo.compare(levels, "qsgd", repeats=2, timed=False), levels]) as (results, arrays):
                command = [BENCH, "compare", arrays, "-c", "qsgd", "--repeats", "2", "--format", "json"]
                theirs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["results"]
                mine = json.loads(pathlib.Path(results).read_text())["results"]
            for a, b in zip(mine, theirs):
                self.assertEqual([a[n] for n in ("tensor", "n", "mse")], [b[n] for n in ("tensor", "n", "mse")])
                self.assertEqual([a[n] == "*" for n in ("step", "worker")], [b[n] == "*" for n in ("step", "worker")])

    @unittest.skipUnless(shutil.which("gnuplot"), "needs gnuplot")
    def test_figures_show_the_records(self):
        sweep = atomo.bench("sweep", {"fc": normal(60, 40), "b": normal(40)}, codec=["qsgd", "svd"], repeats=5)
        figure = atomo.plot(sweep, "pareto", label={"svd": "ATOMO"})
        self.assertIn("<svg", figure._repr_svg_())
        known = lambda row, field: row[field] if row[field + "_expected"] is None else row[field + "_expected"]
        want = sorted((known(row, "bits_per_element"), known(row, "relative_error")) for row in sweep.level("step"))
        shown = sorted((r["x"], r["y"]) for r in figure.data)
        self.assertEqual({r["line"] for r in figure.data}, {"qsgd", "svd"})
        self.assertEqual(len(shown), len(want))
        for one, other in zip(shown, want):
            for a, b in zip(one, other):
                self.assertAlmostEqual(a, b, places=9)
        with tempfile.TemporaryDirectory() as folder:
            path = figure.save(os.path.join(folder, "figure.pdf"))
            self.assertTrue(pathlib.Path(path).read_bytes().startswith(b"%PDF"))
            page = atomo.report({"my sweep": sweep}, os.path.join(folder, "page.html"), title="Mine")
            text = pathlib.Path(page).read_text(encoding="utf-8")
            self.assertTrue("my sweep" in text and "<title>Mine" in text and "qsgd:bits=2" in text)

    def test_errors_have_their_hint(self):
        for kind, says, hint, wrong in (
            (atomo.UsageError, "unknown option --reps", "--help lists the options", lambda: atomo.bench("sweep", normal(9), reps=3)),
            (atomo.UsageError, "did you mean sweep", "lists the commands", lambda: atomo.bench("swep", normal(9))),
            (atomo.Error, "no-such.h5: cannot be opened", "", lambda: atomo.bench("sweep", "no-such.h5")),
            (atomo.UsageError, "want Records", "take a slice or a level", lambda: atomo.plot([{"a": 1}], "pareto")),
        ):
            with self.assertRaisesRegex(kind, says) as caught:
                wrong()
            self.assertIn(hint, caught.exception.hint)
        with tempfile.TemporaryDirectory() as folder, stub(folder, "kill -9 $$"):
            with self.assertRaisesRegex(atomo.Error, "atomo-bench ended with -9"):
                atomo.bench("sweep", normal(9))

    def test_progress_and_notes_are_told_apart(self):
        text = """[ -t 2 ] && printf '\\r[##] 1/2 w\\033[K' >&2 && printf '\\r\\033[K' >&2
echo "note: one" >&2
echo '{"schema": "atomo-list/1", "meta": {}, "results": []}'"""
        for progress in (True, False):
            with tempfile.TemporaryDirectory() as folder, stub(folder, text), contextlib.redirect_stderr(io.StringIO()) as said:
                atomo.bench("list", progress=progress)
            self.assertEqual("1/2" in said.getvalue(), progress)
            self.assertTrue(said.getvalue().endswith("note: one\n"))

    def test_an_interrupt_ends_the_program(self):
        started = []
        begin = subprocess.Popen

        def remember(*arguments, **named):
            started.append(begin(*arguments, **named))
            return started[-1]

        with tempfile.TemporaryDirectory() as folder, stub(folder, "exec sleep 1000"):
            with unittest.mock.patch("subprocess.Popen", remember), unittest.mock.patch("atomo.program._said", side_effect=KeyboardInterrupt):
                with self.assertRaises(KeyboardInterrupt):
                    atomo.bench("sweep", normal(9))
        self.assertIsNotNone(started[0].returncode)


@unittest.skipUnless(h5py, "needs h5py")
class Dumps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.h5")

    def write(self, gradients):
        from atomo.dump import GradientDump

        with GradientDump(self.path, model_name="MLP", lr=0.1) as dump:
            for step in (0, 100):
                dump.write(step, gradients=gradients, loss=0.5)

    def copied(self, *arguments):
        """Runs a copy of the file that has nothing of atomo beside it."""
        folder = os.path.dirname(self.path)
        shutil.copy(SOURCE / "datasets" / "dump_torch.py", folder)
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("ATOMO", "PYTHONPATH"))}
        return subprocess.run([os.sys.executable, *arguments], cwd=folder, env=bare, capture_output=True, text=True)

    def test_dictionaries_of_arrays(self):
        tree = {"Dense_0": {"kernel": normal(30, 20), "bias": normal(20).astype(np.float64)}, "scale": normal(7).astype(np.float16), "frozen": None}
        self.write(tree)
        names = ["Dense_0.kernel", "Dense_0.bias", "scale"]
        with h5py.File(self.path) as file:
            self.assertEqual((file.attrs["model"], file.attrs["lr"], len(file)), ("MLP", 0.1, 2))
            step = file["step_000100"]
            self.assertEqual((step.attrs["step"], step.attrs["loss"], list(step)), (100, 0.5, names))
            for name, array in zip(names, (*tree["Dense_0"].values(), tree["scale"])):
                self.assertEqual(step[name].dtype, np.float32)
                np.testing.assert_array_equal(step[name], array.astype(np.float32))
        records = atomo.compare(self.path, "topk", repeats=1, timed=False).level("tensor")
        self.assertEqual([(r["step"], r["tensor"]) for r in records], [(step, name) for step in (0, 100) for name in names])

    def test_an_exception_keeps_the_old_file(self):
        self.write({"w": normal(5)})
        before = pathlib.Path(self.path).read_bytes()
        with self.assertRaises(ValueError):
            self.write({"w": "text"})
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["run.h5"])
        self.assertEqual(pathlib.Path(self.path).read_bytes(), before)

    def test_one_copied_file_is_enough(self):
        lines = ("import sys; sys.modules['torch'] = None  # numpy is enough", "import numpy, dump_torch", "d = dump_torch.GradientDump('run.h5')", "d.write(3, gradients={'w': numpy.ones(4)})", "d.close()")
        run = self.copied("-c", "\n".join(lines))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([r["step"] for r in atomo.compare(self.path, "topk", repeats=1, timed=False).level("tensor")], [3])

    @unittest.skipUnless(torch, "needs torch")
    def test_the_demo_of_a_model(self):
        """The copy runs in a fork of this process, which has imported torch already, without the package."""
        folder = os.path.dirname(self.path)
        shutil.copy(SOURCE / "datasets" / "dump_torch.py", folder)
        child = os.fork()
        if not child:
            failed = True
            try:
                said = os.open(os.path.join(folder, "said"), os.O_WRONLY | os.O_CREAT)
                os.dup2(said, 1)
                os.dup2(said, 2)
                os.chdir(folder)
                for name in [name for name in os.sys.modules if name.partition(".")[0] == "atomo"]:
                    del os.sys.modules[name]
                os.sys.path[:] = [folder, *(path for path in os.sys.path if not path.endswith("lib/python"))]
                os.sys.argv = ["dump_torch.py", "--demo", "run.h5"]
                runpy.run_path("dump_torch.py", run_name="__main__")
                failed = False
            except BaseException as end:
                failed = not isinstance(end, SystemExit) or bool(end.code)
                if failed:
                    traceback.print_exc()
            finally:
                os.sys.stdout.flush()
                os.sys.stderr.flush()
                os._exit(failed)
        status = os.waitpid(child, 0)[1]
        said = pathlib.Path(folder, "said").read_text()
        self.assertEqual((status, said), (0, "run.h5: 36 tensors, checked\n"))

    @unittest.skipUnless(torch, "needs torch")
    def test_a_tied_embedding_is_an_embedding(self):
        from atomo.dump import kinds

        parts = {"wte": torch.nn.Embedding(5, 4), "head": torch.nn.Linear(4, 5, bias=False)}
        for order in (("wte", "head"), ("head", "wte")):
            model = torch.nn.ModuleDict([(name, parts[name]) for name in order])
            self.assertEqual(kinds(model), {"wte.weight": "embedding", "head.weight": "fc"})
            model["head"].weight = model["wte"].weight
            self.assertEqual(list(kinds(model).values()), ["embedding"])
            model["head"].weight = torch.nn.Parameter(torch.zeros(5, 4))

    def test_without_h5py_it_says_what_to_install(self):
        run = self.copied("-c", "import sys; sys.modules['h5py'] = None; import dump_torch")
        self.assertIn("pip install h5py", run.stderr)
        self.assertEqual(run.returncode, 1)
        block = "import runpy, sys; sys.modules['h5py'] = None; runpy.run_path('dump_torch.py', run_name='__main__')"
        run = self.copied("-c", block)
        self.assertRegex(run.stderr, r"^dump_torch.py: .*; install it: pip install h5py numpy.*\n$")
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
