"""make_wheel.py VERSION LIBRARY FOLDER -- writes FOLDER/atomo-VERSION-py3-none-linux_MACHINE.whl, with the library inside.

The wheel has the tag of the machine, not that of manylinux: it needs the system's HDF5, FFTW, zstd and Blosc, and zfp
if the library has it. The same input gives the same bytes.
"""

import base64
import hashlib
import os
import pathlib
import platform
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: atomo
Version: %s
Summary: Gradient compressors with real bytes: ATOMO, QSGD, TernGrad, PowerSGD and the rest of the field
License: MIT
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: dump
Requires-Dist: h5py; extra == "dump"
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
"""

WHEEL = """Wheel-Version: 1.0
Generator: atomo
Root-Is-Purelib: false
Tag: %s
"""


def main(version, library, folder):
    tag = "py3-none-linux_%s" % platform.machine()
    package = pathlib.Path(__file__).parent / "atomo"
    info = "atomo-%s.dist-info" % version
    files = {"atomo/" + p.name: p.read_bytes() for p in sorted(package.glob("*.py"))}
    files["atomo/" + os.path.basename(library)] = pathlib.Path(library).read_bytes()
    files[info + "/METADATA"] = (METADATA % version).encode()
    files[info + "/WHEEL"] = (WHEEL % tag).encode()
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))
    rows.append(info + "/RECORD,,\n")
    files[info + "/RECORD"] = "".join(rows).encode()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "atomo-%s-%s.whl" % (version, tag))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
