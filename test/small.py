#!/usr/bin/env python3
"""small.py BIN IN OUT -- writes the dump IN with at most 32 rows of each matrix, for commands that need its steps, names and kinds and
no large tensor: 51,680 of the 431,080 numbers of a step of datasets/lenet-mnist.h5 stay. BIN is the folder of atomo-bench."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROWS = 32


def write_small(programs, dump, out):
    with tempfile.TemporaryDirectory(prefix="atomo-small.") as folder:
        whole, small = pathlib.Path(folder, "whole.safetensors"), pathlib.Path(folder, "small.safetensors")
        convert = [str(pathlib.Path(programs, "atomo-bench")), "convert", "-q"]
        subprocess.run([*convert, str(dump), str(whole)], check=True, stdout=subprocess.DEVNULL)
        content = whole.read_bytes()
        size = 8 + int.from_bytes(content[:8], "little")
        head, parts, end = json.loads(content[8:size]), [], 0
        for name, tensor in head.items():
            if name != "__metadata__":
                if len(tensor["shape"]) == 2:
                    tensor["shape"][0] = min(tensor["shape"][0], ROWS)
                begin = size + tensor["data_offsets"][0]
                parts.append(content[begin:begin + 4 * math.prod(tensor["shape"])])
                tensor["data_offsets"] = [end, end + len(parts[-1])]
                end += len(parts[-1])
        text = json.dumps(head).encode()
        small.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))
        subprocess.run([*convert, "--force", str(small), str(out)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    write_small(*sys.argv[1:])
