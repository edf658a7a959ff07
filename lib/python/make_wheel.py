"""make_wheel.py -- builds the wheel of the package, with the library and the programs inside; `pip install` calls build_wheel.

usage: make_wheel.py LIBRARY FOLDER

The wheel has the tag of the machine, not that of manylinux: the library and the programs load libraries of the system
(docs/install.md). The same input gives the same bytes.
"""

import base64
import ctypes
import hashlib
import os
import pathlib
import platform
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]

METADATA = """Metadata-Version: 2.1
Name: atomo
Version: %s
Summary: Gradient compressors with real bytes: ATOMO, QSGD, TernGrad, PowerSGD and the rest of the field
License: MIT
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: dump
Requires-Dist: h5py; extra == "dump"
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Provides-Extra: ray
Requires-Dist: ray; extra == "ray"
Requires-Dist: torch; extra == "ray"
Provides-Extra: jax
Requires-Dist: jax; extra == "jax"
Requires-Dist: optax; extra == "jax"
"""

WHEEL = """Wheel-Version: 1.0
Generator: atomo
Root-Is-Purelib: false
Tag: %s
"""


def version_of(library):
    loaded = ctypes.CDLL(str(library))
    loaded.atomo_version.restype = ctypes.c_char_p
    return loaded.atomo_version().decode()


def contents(library, version, tag):
    """(name in the wheel, bytes, whether it is a program)."""
    for path in sorted((HERE / "atomo").glob("*.py")) + [HERE / "atomo" / "py.typed", library]:
        yield "atomo/" + path.name, path.read_bytes(), False
    programs = library.parent.parent / "bin"
    for name in ("atomo-bench", "atomo-train"):
        if (programs / name).exists():
            yield "atomo-%s.data/scripts/%s" % (version, name), (programs / name).read_bytes(), True
    for path in (*sorted((SOURCE / "plots").glob("*.gp")), SOURCE / "datasets" / "lenet-mnist.h5"):
        yield "atomo-%s.data/data/share/atomo/%s/%s" % (version, path.parent.name, path.name), path.read_bytes(), False
    yield "atomo-%s.dist-info/METADATA" % version, (METADATA % version).encode(), False
    yield "atomo-%s.dist-info/WHEEL" % version, (WHEEL % tag).encode(), False


def make_wheel(library, folder):
    """Writes the wheel and returns its name."""
    library = pathlib.Path(library).resolve()
    version, tag = version_of(library), "py3-none-linux_%s" % platform.machine()
    record = "atomo-%s.dist-info/RECORD" % version
    name, rows = "atomo-%s-%s.whl" % (version, tag), []
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(place, content, program):
            entry = zipfile.ZipInfo(place, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)

        for place, content, program in contents(library, version, tag):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append("%s,sha256=%s,%d\n" % (place, digest, len(content)))
            add(place, content, program)
        add(record, "".join([*rows, record + ",,\n"]).encode(), False)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """What pip calls (PEP 517). ATOMO_LIBRARY: a library that is built already; else make builds it."""
    library = os.environ.get("ATOMO_LIBRARY")
    if not library:
        make = ["make", "-C", str(SOURCE), "-j%d" % (os.cpu_count() or 1)]
        if subprocess.run([*make, "all"]).returncode:
            sys.exit("make failed: `make deps` in %s installs what the build needs, or says what is missing" % SOURCE)
        library = SOURCE / "build" / "release" / "public" / "libatomo.so.1"
    return make_wheel(library, wheel_directory)


if __name__ == "__main__":
    print(os.path.join(sys.argv[2], make_wheel(*sys.argv[1:])))
