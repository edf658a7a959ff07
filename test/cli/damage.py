"""damage.py LIBRARY FUNCTION OUT -- copies a shared library, with the page that holds the code of a function set to 0."""

import subprocess
import sys

PAGE = 4096
library, function, out = sys.argv[1:]


def readelf(option):
    return subprocess.run(["readelf", "-W", option, library], check=True, capture_output=True, text=True).stdout


address = next(
    int(word[1], 16)
    for word in map(str.split, readelf("--dyn-syms").splitlines())
    if len(word) > 7 and word[7].split("@")[0] == function
)
segments = [[int(n, 16) for n in word[1:6]] for word in map(str.split, readelf("-l").splitlines()) if word[:1] == ["LOAD"]]
at = next(address - start + offset for offset, start, _, size, _ in segments if start <= address < start + size)
data = bytearray(open(library, "rb").read())
data[at // PAGE * PAGE : at // PAGE * PAGE + PAGE] = bytes(PAGE)
open(out, "wb").write(data)
