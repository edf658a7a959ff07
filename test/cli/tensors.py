"""tensors.py FILE ARRAYS -- writes arrays, a dictionary of nested lists as a Python expression, as float32 in a file of
safetensors. normal(3, 4) is a random matrix. It takes a fifth of the time that h5py takes to be imported."""
import json
import random
import struct
import sys


def shape(array):
    return [len(array), *(shape(array[0]) if array else [])] if isinstance(array, list) else []


def flat(array):
    return [x for part in array for x in flat(part)] if isinstance(array, list) else [array]


def normal(*shape):
    return [normal(*shape[1:]) for _ in range(shape[0])] if shape else random.gauss(0, 1)


random.seed(1)
head, data = {}, b""
for name, array in eval(sys.argv[2], {"nan": float("nan"), "normal": normal}).items():
    raw = struct.pack(f"<{len(flat(array))}f", *flat(array))
    head[name] = {"dtype": "F32", "shape": shape(array), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(head).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
