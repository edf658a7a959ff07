"""The package as a guest: arrays of every kind, memory that does not last, several threads, and Ctrl-C.
Whatever a caller hands over gives the right result or an atomo.Error."""

import gc
import os
import signal
import threading
import unittest
import unittest.mock

import numpy as np

import atomo
import atomo.results


def module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


torch, ml_dtypes, sparse = module("torch"), module("ml_dtypes"), module("scipy.sparse")
X = np.random.default_rng(0).integers(-16, 16, (6, 4)).astype(np.float32)  # every format holds these


def codecs():
    """A spec of every compressor; a wrapper has a codec inside."""
    for name in atomo.compressors():
        try:
            yield atomo.Codec(name).spec
        except atomo.Error:
            yield atomo.Codec(name + "+topk").spec


def tensors():
    """(name, tensor of PyTorch, what it says; None: it is X)."""
    t = torch.from_numpy(X)
    yield "float64", t.double(), None
    yield "half", t.half(), None
    yield "bfloat16", t.bfloat16(), None
    yield "integers", t.long(), None
    yield "not contiguous", t.t().contiguous().t(), None
    yield "coo", t.to_sparse(), None
    yield "csr", t.to_sparse_csr(), None
    yield "a parameter", torch.nn.Parameter(t), None
    yield "a view with a negative bit", torch.complex(t, -t).conj().imag, None
    if hasattr(torch, "float8_e5m2"):
        yield "float8", t.to(torch.float8_e5m2).to(torch.float32).to(torch.float8_e5m2), None
    yield "complex", t.to(torch.complex64), "fc: Tensor cannot be read as floats: its elements are complex.*real and its imaginary part"
    yield "quantised", torch.quantize_per_tensor(t, 1.0, 0, torch.qint8), r"fc: a quantised tensor.*dequantize\(\)"
    yield "meta", t.to("meta"), "fc: a tensor of the device meta"
    yield "nested", torch.nested.nested_tensor([t, t[:2]]), r"fc: a nested tensor.*unbind\(\)"
    if module("torch.masked"):
        from torch.masked import masked_tensor

        yield "masked", masked_tensor(t, t > 0), r"fc: a masked tensor.*to_tensor\(0\)"


def arrays():
    yield "float64", X.astype(np.float64), None
    yield "longdouble", X.astype(np.longdouble), None
    yield "integers", X.astype(np.int64), None
    yield "big endian", X.astype(">f4"), None
    yield "every second", np.repeat(X, 2, axis=1)[:, ::2], None
    yield "lists", X.tolist(), None
    yield "masked, without a mask", np.ma.MaskedArray(X), None
    if ml_dtypes:
        yield "bfloat16", X.astype(ml_dtypes.bfloat16), None
        yield "float8", X.astype(ml_dtypes.float8_e5m2).astype(np.float32).astype(ml_dtypes.float8_e5m2), None
    if sparse:
        yield "a sparse matrix", __import__("scipy.sparse").sparse.csr_matrix(X), None
    yield "complex", X * 1j, "fc: ndarray cannot be read as floats: its elements are complex"
    yield "masked", np.ma.MaskedArray(X, X > 0), r"fc: a masked array.*filled\(0\)"
    yield "objects", X.astype(object), "fc: ndarray cannot be read as floats: its elements are object"
    yield "records", np.zeros(3, [("a", "f4")]), "fc: ndarray cannot be read as floats"
    yield "text", np.array(["a"]), "fc: ndarray cannot be read as floats"
    yield "bytes of no type", np.zeros(3, "V2"), "fc: ndarray cannot be read as floats"
    yield "dates", np.array(["2020-01-01"], "M8[D]"), "fc: ndarray cannot be read as floats"
    yield "None", None, "fc: NoneType cannot be read as floats"
    yield "a list of arrays", [X, X], "fc: a list of arrays.*name of its own"
    yield "integers that float32 rounds", np.array([2**24 + 1]), "fc: ndarray cannot be read as floats: it has integers beyond 2.24"
    yield "beyond float32", np.array([1.0, 1e300]), r"fc: element 1 is 1e\+300: beyond float32's range|fc: element 1 is NaN or infinite"


class Arrays(unittest.TestCase):
    def test_every_kind_is_right_or_refused_by_name(self):
        codec = atomo.Codec("none")
        want = codec.encode(X, tensor="fc")
        for name, array, says in [*arrays(), *(tensors() if torch else ())]:
            with self.subTest(name):
                if says is None:
                    self.assertEqual(
                        codec.encode(array, tensor="fc"),
                        want if "float8" not in name else codec.encode(np.asarray(array.to(torch.float32) if hasattr(array, "detach") else array.astype(np.float32)), tensor="fc"),
                    )
                    continue
                for wrong in (
                    lambda: codec.encode(array, tensor="fc"),
                    lambda: codec.tensor(X.shape, "fc").encode(array),
                    lambda: atomo.compare({"fc": array}, "none", repeats=1, timed=False),
                ):
                    with self.assertRaisesRegex(atomo.Error, says):
                        wrong()

    def test_dumps_take_the_same(self):
        if not module("h5py"):
            self.skipTest("needs h5py")
        import tempfile

        from atomo.dump import GradientDump

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.h5")
            with GradientDump(path) as dump:
                dump.write(0, gradients={"layers": [X, {"w": X, "frozen": None}], "rows": X.tolist(), "empty": {}})
            read = atomo.read_gradients(path)[0]
            self.assertEqual(sorted(read), ["layers.0", "layers.1.w", "rows"])
            self.assertTrue(all(array.tobytes() == X.tobytes() for array in read.values()))
            for name, array, says in arrays():
                with self.subTest(name), GradientDump(path) as dump:
                    if says and "list of arrays" not in says and "None" not in says:
                        with self.assertRaisesRegex(atomo.Error, says.split("|")[0] if "beyond float32" not in says else "fc: "):
                            dump.write(0, gradients={"fc": array})


class Memory(unittest.TestCase):
    """Nothing is read after the call that was given it, but what finish is given."""

    def step(self, spec, lend):
        """The mean of two workers' step 1, after one step; `lend` gives a call its argument and takes it back."""
        x = [np.random.default_rng(w).standard_normal((40, 30)).astype(np.float32) for w in (0, 1)]
        mine = [atomo.Codec(spec).tensor((40, 30), "fc", worker=w, workers=2) for w in (0, 1)]
        for step in (0, 1):
            if "trains" in mine[0].codec.traits:
                learned = lend(x[0], lambda v: mine[0].train(v, step))
                for t in mine:
                    lend(learned, t.learn)
            for t in mine:
                t.begin(step)
            more = True
            while more:
                sent = [lend(v, t.send).tobytes() for t, v in zip(mine, x)]
                for t in mine:
                    for worker, data in enumerate(sent):
                        lend(data, lambda d: t.take(worker, d))
                    more = t.end_round()
            means = [lend(v, t.finish) for t, v in zip(mine, x)]
        return [m.tobytes() for m in means] + [t.state() for t in mine]

    def lasting(self, value, call):
        return call(value)

    def fleeting(self, value, call):
        """Gives a copy, and overwrites it after the call."""
        copy = bytearray(value) if isinstance(value, bytes) else value.copy()
        got = call(copy)
        if isinstance(copy, bytearray):
            copy[:] = b"\xa5" * len(copy)
        else:
            copy.fill(1e30)
        return got

    def test_no_call_keeps_what_it_was_given(self):
        for spec in codecs():
            with self.subTest(spec):
                self.assertEqual(self.step(spec, self.fleeting), self.step(spec, self.lasting))

    def test_a_refused_begin_leaves_the_open_step(self):
        x = np.arange(1 << 18, dtype=np.float32)
        t = atomo.Codec("none").tensor(x.shape)
        t.begin(1)
        with self.assertRaises(atomo.Error):
            t.begin(2, senders=99)
        reused = [np.full(x.shape, 7, np.float32) for _ in range(8)]  # takes the memory of an array that was freed
        t.take(0, t.send(x))
        t.end_round()
        np.testing.assert_array_equal(t.finish(x), x)
        self.assertTrue(all((r == 7).all() for r in reused))

    def test_what_send_returns_is_the_callers(self):
        for spec in ("none", "qsgd", "powersgd:rank=2"):
            tensor = atomo.Codec(spec).tensor(X.shape, "fc")
            tensor.begin(0)
            sent = tensor.send(X)
            want = sent.tobytes()
            tensor.begin(1)
            tensor.send(-X)
            del tensor
            gc.collect()
            self.assertEqual(sent.tobytes(), want)
            sent[:] = 0


class Threads(unittest.TestCase):
    def test_threads_may_share_a_tensor(self):
        x = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)
        tensor = atomo.Codec("ef+topk:ratio=0.1").tensor(x.shape, "fc")
        want, wrong = tensor.encode(x), []

        def work():
            for i in range(50):
                try:
                    if tensor.encode(x) != want or tensor.decode(want).shape != x.shape:
                        wrong.append("encode")
                    tensor.begin(i)
                    tensor.take(0, tensor.send(x))
                    tensor.load_state(tensor.state())
                except atomo.UsageError:
                    pass  # a step of another thread was in between

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_ctrl_c_stops_a_comparison(self):
        """It would take minutes: only a stop ends it. The signal comes when the comparison first asks whether to stop."""
        asked, stopped = threading.Event(), atomo.results.STOPPED

        def asking(*function):
            def ask(data):
                if not asked.is_set():
                    asked.set()
                    os.kill(os.getpid(), signal.SIGINT)
                return function[0](data)

            return stopped(ask) if function else stopped()

        with unittest.mock.patch("atomo.results.STOPPED", asking):
            with self.assertRaises(KeyboardInterrupt):
                atomo.compare({"fc": np.ones((1000, 300), np.float32)}, "qsgd", repeats=1 << 17, timed=False)
        self.assertTrue(asked.is_set())


class Errors(unittest.TestCase):
    def test_every_wrong_call_raises_atomos_error(self):
        codec = atomo.Codec("qsgd")
        tensor = codec.tensor(X.shape)
        for wrong in (
            lambda: codec.decode(b"", (1 << 40,)),
            lambda: codec.encode(X, state="x"),
            lambda: codec.merge(5, X.shape),
            lambda: atomo.Tensor("qsgd", X.shape),
            lambda: tensor.encode(X, out=bytearray(tensor.bound)),
            lambda: tensor.begin(mean=[0.0]),
            lambda: tensor.learn("text"),
            lambda: tensor.take(0, None),
            lambda: tensor.finish(X),
            lambda: atomo.compare({"w": X}, 5),
            lambda: atomo.compare({"w": X}, []),
            lambda: atomo.compare({}, "qsgd"),
            lambda: atomo.compare({"layer": {"w": X}}, "qsgd"),
            lambda: atomo.compare("\0", "qsgd"),
            lambda: atomo.read_gradients(5),
            lambda: atomo.read_result(5),
            lambda: atomo.measure(X, X[0]),
            lambda: atomo.measure(X, X, size=-1),
        ):
            with self.assertRaises(atomo.Error):
                wrong()


if __name__ == "__main__":
    unittest.main()
