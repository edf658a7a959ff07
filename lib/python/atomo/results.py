"""Comparisons of compressors as records, and files of results."""

import csv
import ctypes
import json
import os
from ctypes import byref, c_char_p, c_double, c_size_t, c_void_p

from ._library import STOPPED, Comparison, Gradient, call, integer, lib, seed_of, step_of
from .codec import _address, as_floats


class Records(list):
    """A list of dictionaries, one for each tensor and compressor: pandas.DataFrame takes it as it is. `meta` has the facts of
    the run: versions, machine, seed."""

    meta = {}
    schema = None


def measure(x, y, size=0, threads=0):
    """The metrics of an estimate y of x, by name; `size`: the payload's bytes. None: the metric does not follow from these."""
    x, y = as_floats(x), as_floats(y)
    if x.shape != y.shape:
        raise ValueError("shapes %s and %s differ" % (x.shape, y.shape))
    names = []
    while True:
        name = lib.atomo_metric(len(names))
        if not name:
            break
        names.append(name.decode())
    values = (c_double * len(names))()
    call(lib.atomo_measure, _address(x), _address(y), x.size, size, threads, values)
    return {name: None if value != value else value for name, value in zip(names, values)}


def _gradients(arrays):
    """(name, array, step, worker) of every array: {name: array}, {step: {name: array}} or {step: {worker: {name: array}}}."""
    for key, value in arrays.items():
        if not isinstance(value, dict):
            yield str(key), value, 0, 0
            continue
        for inner, deeper in value.items():
            if not isinstance(deeper, dict):
                yield str(inner), deeper, int(key), 0
                continue
            for name, array in deeper.items():
                yield str(name), array, int(key), int(inner)


def compare(source, specs, repeats=10, seed=1, threads=0, timed=True):
    """Applies every spec to every array and measures bytes, times and errors, as `atomo-bench compare` does.

    source: the path of a gradient dump (HDF5), or arrays by name, {name: array}; for several steps {step: {name: array}}, for
    several workers {step: {worker: {name: array}}}. Records with tensor "*" are about all tensors of a step together.
    """
    specs = [specs] if isinstance(specs, str) else list(specs)
    encoded = (c_char_p * max(1, len(specs)))(*[str(s).encode() for s in specs])
    want = Comparison(encoded, len(specs), integer("repeats", repeats, 1, 2**63 - 1), seed_of(seed), threads, int(bool(timed)), STOPPED(), None)
    out = c_void_p()
    if isinstance(source, (str, os.PathLike)):
        call(lib.atomo_compare_file, byref(want), os.fsencode(source), byref(out))
    else:
        held = []  # keeps the arrays alive during the call
        for name, array, step, worker in _gradients(source):
            values = as_floats(array)
            dims = (c_size_t * max(1, values.ndim))(*values.shape)
            held.append((Gradient(name.encode(), values.ndim, dims, values.ctypes.data, step_of(step), worker), values, dims))
        gradients = (Gradient * max(1, len(held)))(*[h[0] for h in held])
        call(lib.atomo_compare, byref(want), gradients, len(held), byref(out))
    try:
        return _records(json.loads(ctypes.string_at(out)))
    finally:
        lib.atomo_free(out)


def _records(document):
    records = Records(document["results"])
    records.meta, records.schema = document["meta"], document["schema"]
    return records


def _number(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text != "" else None


def read_result(path):
    """The records of a file that atomo-bench or atomo-train wrote with -o FILE.json or FILE.csv."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    if text.lstrip().startswith("{"):
        return _records(json.loads(text))
    records, lines = Records(), text.splitlines(keepends=True)
    facts = [line[1:].strip() for line in lines if line.startswith("#")]
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    records.extend({name: _number(value) for name, value in row.items()} for row in rows)
    records.meta = dict(fact.partition(": ")[::2] for fact in facts if ": " in fact)
    records.schema = facts[0] if facts else None
    return records
