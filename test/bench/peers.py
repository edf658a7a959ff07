"""peers.py -- times reading a dump against h5py, NumPy (.npz) and PyTorch's loader of safetensors, and the Wasserstein distance
against scipy, each pair in the same run.

    peers.py BENCH_PEERS [DUMP.h5]

BENCH_PEERS is the program built from speed_peers.c. Without a library the script prints that the comparison is
left out.
"""
import os
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
dump = sys.argv[2] if len(sys.argv) > 2 else None
failed = False


def ours(*arguments):
    return float(subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout)


def best(run, times):
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


def verdict(what, peer, mine, want):
    global failed
    ratio = peer / mine
    failed |= ratio < want
    print(f"{what}: {1e3 * mine:.1f} ms, peer {1e3 * peer:.1f} ms: ratio {ratio:.2f}, want {want}"
          f"{'' if ratio >= want else '  BELOW ITS FLOOR'}", flush=True)


def read_hdf5(path):
    import h5py

    def read(name, item):
        if isinstance(item, h5py.Dataset):
            item[...]  # reads without returning a value, as a returned value would end the visit

    with h5py.File(path, "r") as file:
        file.visititems(read)


def read_npz(path):
    import numpy

    with numpy.load(path) as file:
        for name in file.files:
            file[name]


def read_safetensors(path):
    """The library maps the file, so each tensor is copied, as a program that changes it would."""
    from safetensors.torch import load_file

    for tensor in load_file(path).values():
        tensor.clone()


def write_like(path, folder):
    """The dump's tensors as .npz and .safetensors."""
    import h5py
    import numpy
    from safetensors.numpy import save_file

    arrays = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: arrays.update({name.replace("/", "."): item[...]}) if isinstance(item, h5py.Dataset) else None)
    numpy.savez(os.path.join(folder, "dump.npz"), **arrays)
    save_file(arrays, os.path.join(folder, "dump.safetensors"))


def reading(path, read, want):
    read(path)
    rounds = [(best(lambda: read(path), 3), ours("read", path)) for _ in range(5)]
    verdict("read " + os.path.basename(path), min(p for p, _ in rounds), min(m for _, m in rounds), want)


def other_formats(path):
    with tempfile.TemporaryDirectory() as folder:
        write_like(path, folder)
        reading(os.path.join(folder, "dump.npz"), read_npz, 1)
        reading(os.path.join(folder, "dump.safetensors"), read_safetensors, 1)


def wasserstein():
    import numpy
    from scipy.stats import wasserstein_distance
    n = 11_173_962
    rng = numpy.random.default_rng(1)
    g = rng.standard_normal(n).astype(numpy.float32) * numpy.repeat(
        10.0 ** -rng.uniform(0, 2, n // 1024 + 1), 1024)[:n].astype(numpy.float32)
    h = g.astype(numpy.float16).astype(numpy.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pair")
        numpy.concatenate([g, h]).tofile(path)
        mine = ours("wasserstein", path)
    verdict("W1 of 11 M elements", best(lambda: wasserstein_distance(g, h), 1), mine, 20)


runs = [(wasserstein, "scipy")]
if dump:
    runs = [(lambda: reading(dump, read_hdf5, 0.9), "h5py"), (lambda: other_formats(dump), "safetensors"), *runs]
else:
    print("read: no dump named, left out")
for run, needs in runs:
    try:
        run()
    except ImportError:
        print(f"{needs} is not installed: that comparison is left out")
sys.exit(failed)
