"""compress in JAX: `none` changes nothing, qsgd is unbiased, payloads are atomo's, P workers have atomo's means, and models train under
jit; nothing is kept outside of the state; errors are told; bytes are counted."""

import os
import sys
import unittest
import unittest.mock

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ.setdefault("NPROC", "8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

try:
    import flax.linen
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax
except ImportError:
    print("skip test_jax: needs jax, flax and optax")
    sys.exit(0)

import atomo
import atomo.jax
from atomo.exchange import Exchange
from test_exchange import together


def tree(seed=0, dtype=jnp.float32):
    key = jax.random.split(jax.random.key(seed), 3)
    return {"a": jax.random.normal(key[0], (40, 30), dtype), "b": [jax.random.normal(key[1], (7,), dtype), jax.random.normal(key[2], (), dtype)]}


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree_util.tree_leaves(a), jax.tree_util.tree_leaves(b), strict=True))


class Transformation(unittest.TestCase):
    def test_none_changes_nothing(self):
        for dtype in (jnp.float32, jnp.bfloat16, jnp.float16):
            gradients = tree(dtype=dtype)
            compress = atomo.jax.compress("none")
            got, state = jax.jit(compress.update)(gradients, compress.init(gradients))
            self.assertTrue(same(got, gradients))
            self.assertEqual([leaf.dtype for leaf in jax.tree_util.tree_leaves(got)], [dtype] * 3)
            self.assertEqual(atomo.jax.bytes_sent(state), 4 * 1208)

    def test_the_mean_over_seeds_is_the_gradient(self):
        """And the error of the mean falls as that of independent seeds."""
        gradient, total, apart = tree()["a"], 0, []
        for seed in range(200):
            compress = atomo.jax.compress("qsgd:bits=2", seed=seed)
            got = compress.update(gradient, compress.init(gradient))[0]
            apart.append(float(jnp.sum((got - gradient) ** 2)))
            total = total + got
        off = float(jnp.sum((total / 200 - gradient) ** 2)) / (np.mean(apart) / 200)
        self.assertLess(abs(off - 1), 0.25)

    def test_payloads_are_those_of_a_tensor(self):
        """With residuals, Q of powersgd and learned levels, over three steps; no step depends on what ran before."""
        for spec in ("qsgd", "ef+topk:ratio=0.05", "powersgd:rank=2", "diana+qsgd", "cas"):
            compress, plain = atomo.jax.compress(spec), atomo.Codec(spec).tensor((40, 30), "['a']")
            update, states = jax.jit(compress.update), [compress.init(tree())]
            for step in (1, 2, 3):
                gradients = tree(step)
                got, state = update(gradients, states[-1])
                x, more = np.asarray(gradients["a"]), True
                if "trains" in plain.codec.traits:
                    plain.learn(plain.train(x, step))
                plain.begin(step)
                while more:
                    plain.take(0, plain.send(x))
                    more = plain.end_round()
                np.testing.assert_array_equal(got["a"], plain.finish(x), "%s, step %d" % (spec, step))
                self.assertTrue(same(got["b"], gradients["b"]))
                states.append(state)
                self.assertTrue(same(update(tree(1), states[0]), (jax.jit(compress.update)(tree(1), states[0]))))  # again, and out of order
                self.assertEqual(int(state.step), step)
            self.assertTrue(all(leaf.size for leaf in jax.tree_util.tree_leaves(states[-1])))  # Orbax saves no empty arrays
            sizes = [atomo.jax.bytes_sent(state) for state in states]
            self.assertTrue(all(a < b for a, b in zip(sizes, sizes[1:])), sizes)

    def test_too_few_threads_are_told(self):
        for environment, cpus in (({"NPROC": "4"}, 64), ({}, 4)):
            with unittest.mock.patch.dict(os.environ, environment), unittest.mock.patch("os.sched_getaffinity", return_value=range(cpus)):
                if not environment:
                    del os.environ["NPROC"]
                with self.assertWarnsRegex(UserWarning, "4 devices have a pool of 4 threads"):
                    atomo.jax.compress("none").init(tree())

    def test_workers_have_the_means_of_an_exchange(self):
        for spec in ("none", "ef+topk:ratio=0.05", "powersgd:rank=2", "qsgd"):
            compress = atomo.jax.compress(spec, workers=3)
            stacked = jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *(tree(seed) for seed in range(3)))
            state = compress.init(tree())
            for _ in range(2):
                got, state = jax.jit(compress.update)(stacked, state)
            self.assertEqual(got["a"].shape, (40, 30))

            def work(transport):
                exchange = Exchange(spec, transport, exchange="gather")
                for _ in range(2):
                    means = exchange.mean({name: np.asarray(leaf) for name, leaf in atomo.jax.named(tree(transport.rank)).items()})
                return means

            for means in together(work, 3):
                for name, leaf in atomo.jax.named(got).items():
                    np.testing.assert_array_equal(means[name], leaf, name)

    def test_workers_on_a_mesh_of_devices(self):
        mesh = jax.make_mesh((4,), ("workers",), axis_types=(jax.sharding.AxisType.Auto,))
        spec = jax.sharding.PartitionSpec("workers")
        x, y = jax.random.normal(jax.random.key(0), (64, 30)), jax.random.normal(jax.random.key(1), (64, 40))
        params = {"w": jnp.zeros((30, 40))}

        def gradient(params, x, y):
            g = jax.grad(lambda p: jnp.mean((x @ p["w"] - y) ** 2))(params)
            return jax.tree_util.tree_map(lambda leaf: leaf[None], g)

        each = jax.shard_map(gradient, mesh=mesh, in_specs=(jax.sharding.PartitionSpec(), spec, spec), out_specs=spec, check_vma=False)
        optimizer = optax.chain(atomo.jax.compress("none", workers=4), optax.sgd(0.1))

        @jax.jit
        def step(params, state):
            updates, state = optimizer.update(each(params, x, y), state, params)
            return optax.apply_updates(params, updates), state

        got, state = step(params, optimizer.init(params))
        want = -0.1 * jax.grad(lambda p: jnp.mean((x @ p["w"] - y) ** 2))(params)["w"]
        np.testing.assert_allclose(got["w"], want, atol=1e-6)
        self.assertEqual(atomo.jax.bytes_sent(state), 4 * 4 * 1200)

    def test_a_flax_model_trains(self):
        class Net(flax.linen.Module):
            @flax.linen.compact
            def __call__(self, x):
                return flax.linen.Dense(5)(flax.linen.relu(flax.linen.Dense(64)(x)))

        net, teacher = Net(), jax.random.normal(jax.random.key(1), (20, 5))
        accuracies = {}
        for spec in ("none", "ef+topk:ratio=0.05"):
            params = net.init(jax.random.key(0), jnp.zeros((1, 20)))
            optimizer = optax.chain(atomo.jax.compress(spec), optax.sgd(0.3))

            @jax.jit
            def step(params, state, x):
                def loss(p):
                    return optax.softmax_cross_entropy_with_integer_labels(net.apply(p, x), (x @ teacher).argmax(1)).mean()

                updates, state = optimizer.update(jax.grad(loss)(params), state, params)
                return optax.apply_updates(params, updates), state

            state = optimizer.init(params)
            for i in range(150):
                params, state = step(params, state, jax.random.normal(jax.random.key(i), (64, 20)))
            x = jax.random.normal(jax.random.key(999), (1000, 20))
            accuracies[spec] = float((net.apply(params, x).argmax(1) == (x @ teacher).argmax(1)).mean())
            atomo.jax.check(state)
        self.assertGreater(accuracies["none"], 0.8)
        self.assertGreater(accuracies["ef+topk:ratio=0.05"], accuracies["none"] - 0.05)

    def test_errors(self):
        self.assertRaises(atomo.UsageError, atomo.jax.compress, "qsdg")
        self.assertRaises(atomo.UsageError, atomo.jax.compress, "qsgd", workers=0)
        compress = atomo.jax.compress("ef+topk:ratio=0.1", workers=2)
        with self.assertRaisesRegex(atomo.UsageError, r"\['a'\]: shape \(40, 30\): want a first axis of 2"):
            compress.update(tree(), compress.init(tree()))
        compress = atomo.jax.compress("ef+topk:ratio=0.1")
        state = compress.init(tree())
        bad = {**tree(), "a": tree()["a"].at[3, 4].set(jnp.nan)}
        got, after = jax.jit(compress.update)(bad, state)
        self.assertTrue(np.isnan(got["a"]).all())
        self.assertTrue(same(after.codec, state.codec))
        with self.assertRaisesRegex(atomo.NumericError, "leaf 0: NaN or infinity"):
            atomo.jax.check({"inner": (after,)})
        skipping = optax.apply_if_finite(optax.chain(compress, optax.sgd(0.1)), 3)
        updates, kept = jax.jit(skipping.update)(bad, skipping.init(tree()))
        self.assertTrue((np.asarray(updates["a"]) == 0).all())
        atomo.jax.check(kept)

    def test_large_leaves(self):
        """Callbacks of JAX have waited for ever where they were given much."""
        x = jnp.ones((1 << 21,))
        compress = atomo.jax.compress("qsgd")
        got, _ = jax.jit(lambda x, s: compress.update(x * 2, s))(x, compress.init(x))
        self.assertAlmostEqual(float(got.mean()), 2, delta=0.01)


if __name__ == "__main__":
    unittest.main()
