"""networks.py -- loss and gradient of a batch against PyTorch, in images per second, alternating in the same run.

    networks.py BENCH_NETWORKS

BENCH_NETWORKS is the program built from speed_networks.c. PyTorch runs in a second copy of this script. Both use the
same number of threads and the same OpenBLAS kernels. With one thread, times are processor times, which other programs
disturb less. Without PyTorch the script prints that the comparison is left out.
"""
import os
import subprocess
import sys
import time

SECONDS, ROUNDS = 1.2, 2
ROWS = [  # network, channels, side, images, least ratio to PyTorch's images per second
    ("lenet", 1, 28, 64, 1.3),
    ("resnet18", 3, 32, 64, 1.0),
    ("vgg11", 3, 32, 64, 1.0),
    ("gpt-nano", 0, 64, 12, 1.2),  # no channels: windows of 64 tokens
    ("gpt-char", 0, 256, 4, 1.2),
]
GPTS = {"gpt-nano": (65, 4, 4, 128, 64), "gpt-char": (65, 6, 6, 384, 256)}  # letters, layers, heads, width, context


def lenet(torch):
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(800, 500), nn.Linear(500, 10))


def big(network, torch):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
    sys.dont_write_bytecode = True
    import big_networks_torch
    net = big_networks_torch.NETWORKS[network]()
    for name, layer in list(net.named_modules()):
        # this dropout draws its random numbers in Python, which is slow
        if isinstance(layer, big_networks_torch.Dropout):
            parent, _, last = name.rpartition(".")
            setattr(net.get_submodule(parent), last, torch.nn.Dropout())
    return net


def gpt(network, torch):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
    sys.dont_write_bytecode = True
    import gpt_module
    net = gpt_module.Gpt(*GPTS[network])
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=0.02)
    return net


def peer(network, channels, side, images, threads, seconds):
    import torch
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    net = gpt(network, torch) if network in GPTS else lenet(torch) if network == "lenet" else big(network, torch)
    if network in GPTS:
        x = torch.arange(images * side).square().reshape(images, side) % 65
        labels = torch.arange(images * side) % 10
    else:
        x, labels = torch.randn(images, channels, side, side), torch.arange(images) % 10

    def step():
        net.zero_grad()
        torch.nn.functional.cross_entropy(net(x).flatten(0, -2), labels).backward()
    step()
    best, end = float("inf"), clock() + seconds
    while clock() < end:
        start = clock()
        step()
        best = min(best, clock() - start)
    print(images / best)


def blas_kernels():
    """Returns the environment that makes PyTorch use fast OpenBLAS kernels. OpenBLAS does not recognise CPUs newer
    than its release, and would choose slow kernels."""
    try:
        with open("/proc/cpuinfo") as file:
            return {"OPENBLAS_CORETYPE": "SKYLAKEX"} if "avx512dq" in file.read() else {}
    except OSError:
        return {}


def main(program):
    try:
        import torch  # noqa: F401 -- tests whether torch is installed
    except ImportError:
        print("python3-torch is not installed: training networks is left out")
        return False

    def run(threads, *command):
        # PyTorch's OpenBLAS does not obey torch.set_num_threads
        environment = {**blas_kernels(), **os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True, env=environment)
        return float(done.stdout)
    failed = False
    cores = len(os.sched_getaffinity(0))
    for network, channels, side, images, want in ROWS:
        for threads in sorted({1, cores}):
            arguments = (network, channels, side, images, threads, SECONDS)
            rounds = [(run(threads, program, *arguments),
                       run(threads, sys.executable, __file__, "--peer", *arguments))
                      for _ in range(ROUNDS)]
            mine, theirs = (max(r[k] for r in rounds) for k in (0, 1))
            ratio = mine / theirs
            failed |= ratio < want
            print(f"{network}, batch {images}, {threads} thread{'s' if threads > 1 else ''}: {mine:.3g} images/s, PyTorch "
                  f"{theirs:.3g}: ratio {ratio:.2f}, want {want}{'' if ratio >= want else '  BELOW ITS FLOOR'}", flush=True)
    return failed


if sys.argv[1] == "--peer":
    peer(sys.argv[2], *map(int, sys.argv[3:7]), float(sys.argv[7]))
else:
    sys.exit(main(sys.argv[1]))
