"""Comparisons of compressors as records, and files of results."""

from __future__ import annotations

import _thread
import csv
import ctypes
import json
import os
import time
from ctypes import byref, c_char_p, c_double, c_size_t, c_void_p
from typing import Any, Dict, Iterable, Iterator, List, SupportsIndex, overload

from ._library import (
    STOPPED,
    Comparison,
    CorruptError,
    FileError,
    Gradient,
    UsageError,
    call,
    int_of,
    integer,
    lib,
    path_of,
    seed_of,
    step_of,
    text_of,
)
from .codec import Array, Codec, _address, as_floats, table

FILTERED = "a list of some of their records is no longer one: take a slice or a level of them"
_SHOWN = 60  # rows that a notebook shows
_ASIDE = ("_se", "_p", "_z", "_freedom", "_min", "_max", "_holm")  # ends of fields that it leaves out


class Records(List[Dict[str, Any]]):
    """A list of dictionaries: pandas.DataFrame takes it as it is. `meta` has the facts of the run: versions, machine, seed.

    A comparison has records of several levels, which say so in their field "level": "tensor", one tensor; "step", all tensors of
    one step and worker together; "all", everything together. Fields that a level does not have, such as the step of "all", are None."""

    meta: dict[str, Any] = {}
    schema: str | None = None

    @overload
    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: Any) -> Any:
        """A record; for a slice Records, with the facts of the run."""
        found = super().__getitem__(index)
        return _with(self, found) if isinstance(index, slice) else found

    def level(self, name: str) -> Records:
        """The records of one level: "tensor", "step" or "all". Where there is one step only, "all" are those of the step."""
        if name not in ("tensor", "step", "all"):
            raise UsageError('level=%r: want "tensor", "step" or "all"' % (name,))
        found = [r for r in self if r["level"] == name]
        return _with(self, found or (r for r in self if name == "all" and r["level"] == "step"))

    def to_pandas(self) -> Any:
        """A DataFrame of pandas, one row a record."""
        try:
            import pandas
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError("%s; install it: pip install pandas" % missing, name=missing.name) from None
        return pandas.DataFrame(self)

    def _repr_html_(self) -> str:
        """The first records, with the fields in which one of them has a value, but without errors and bounds of others."""
        shown = self[:_SHOWN]
        every = dict.fromkeys(name for r in shown for name in r if not name.endswith(_ASIDE))
        names = [n for n in every if any(r.get(n) is not None for r in shown)]
        more = "<p>%d more records</p>" % (len(self) - _SHOWN) if len(self) > _SHOWN else ""
        return table(names, ([r.get(n) for n in names] for r in shown)) + more


def _with(run: Records, records: Iterable[dict[str, Any]]) -> Records:
    """These records, with the facts of a run."""
    some = Records(records)
    some.meta, some.schema = run.meta, run.schema
    return some


def measure(x: Array, y: Array, size: int = 0, threads: int = 0) -> dict[str, float | None]:
    """The metrics of an estimate y of x, by name; `size`: the payload's bytes. None: the metric does not follow from these."""
    x, y = as_floats(x), as_floats(y)
    if x.shape != y.shape:
        raise UsageError("shapes %s and %s differ" % (x.shape, y.shape))
    names: list[str] = []
    while True:
        name = lib.atomo_metric(len(names))
        if not name:
            break
        names.append(name.decode())
    values = (c_double * len(names))()
    size, threads = integer("size", size, 0, 2**63 - 1), int_of("threads", threads)
    call(lib.atomo_measure, _address(x), _address(y), x.size, size, threads, values, len(names))
    return {name: None if value != value else value for name, value in zip(names, values)}


def _items(arrays: Any, want: str) -> Any:
    try:
        return arrays.items()
    except AttributeError:
        raise UsageError("%s: want %s" % (type(arrays).__name__, want)) from None


def gradients_of(arrays: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
    """(name, array, step, worker) of every array: one array, {name: array}, {step: {name: array}} or
    {step: {worker: {name: array}}}."""
    if hasattr(arrays, "dtype"):
        arrays = {"tensor": arrays}
    for key, value in _items(arrays, "the path of a dump, an array, or a dictionary of arrays by name"):
        if not isinstance(value, dict):
            yield key, value, 0, 0
            continue
        for inner, deeper in value.items():
            if not isinstance(deeper, dict):
                yield inner, deeper, key, 0
                continue
            for name, array in deeper.items():
                yield name, array, key, inner


def _gradient(name: Any, array: Array, step: Any, worker: Any) -> tuple[Any, ...]:
    """A Gradient, and what must live as long as it."""
    values = as_floats(array, name if isinstance(name, str) else "")
    dims = (c_size_t * max(1, values.ndim))(*values.shape)
    step, worker = step_of(step), integer("worker", worker, -(2**63), 2**63 - 1)
    return Gradient(text_of("tensor", name), values.ndim, dims, values.ctypes.data, step, worker), values, dims


def _stoppable(function: Any, want: Comparison, *arguments: Any) -> None:
    """Calls a function of comparisons in a thread of its own, for Python raises KeyboardInterrupt in the main thread only, and
    only between its own instructions."""
    failed: list[Exception] = []
    stop: list[bool] = []
    ended: list[bool] = []
    lock = _thread.allocate_lock()
    want.stopped = STOPPED(lambda _: bool(stop))

    def work() -> None:
        try:
            call(function, byref(want), *arguments)
        except Exception as error:
            failed.append(error)
        finally:
            ended.append(True)
            lock.release()

    lock.acquire()
    try:  # no Thread and no Event: KeyboardInterrupt may leave those half-way, with a thread that nobody stops
        _thread.start_new_thread(work, ())
        while not ended:  # a signal just before a wait does not end it
            lock.acquire(timeout=0.1)
    finally:  # also where KeyboardInterrupt comes
        stop.append(True)
        while not ended:
            time.sleep(0.01)
    if failed:
        raise failed[0]


def specs_of(specs: str | Codec | Iterable[str | Codec]) -> list[Any]:
    """The texts of specs; a Codec stands for its spec."""
    try:
        some = [specs] if isinstance(specs, (str, Codec)) else list(specs)
    except TypeError:
        raise UsageError("specs=%r: want a list of specs" % (specs,)) from None
    return [s.spec if isinstance(s, Codec) else s for s in some]


def compare(
    source: Any, specs: str | Codec | Iterable[str | Codec], repeats: int = 10, seed: int = 1, threads: int = 0, timed: bool = True
) -> Records:
    """Applies every spec to every array and measures bytes, times and errors, as `atomo-bench compare` does.

    source: the path of a gradient dump (HDF5), an array, or arrays by name, {name: array}; for several steps {step: {name: array}},
    for several workers {step: {worker: {name: array}}}, where steps and workers are integers. specs: specs or Codecs. Records says
    what comes back.
    """
    specs = specs_of(specs)
    encoded = (c_char_p * max(1, len(specs)))(*[text_of("spec", s) for s in specs])
    repeats, threads = integer("repeats", repeats, 1, 2**63 - 1), int_of("threads", threads)
    want = Comparison(encoded, len(specs), repeats, seed_of(seed), threads, int(bool(timed)), STOPPED(), None)
    out = c_void_p()
    if isinstance(source, (str, os.PathLike)):
        _stoppable(lib.atomo_compare_file, want, path_of(source), byref(out))
    else:
        held = [_gradient(*g) for g in gradients_of(source)]
        gradients = (Gradient * max(1, len(held)))(*[h[0] for h in held])
        gradients.held = held  # type: ignore[attr-defined]  # even where a second KeyboardInterrupt leaves the thread alone
        _stoppable(lib.atomo_compare, want, gradients, len(held), byref(out))
    try:
        return records_of(json.loads(ctypes.string_at(out)))
    finally:
        lib.atomo_free(out)


def _name_level(record: dict[str, Any]) -> dict[str, Any]:
    """Says the level in a field; "*" stands for all steps, workers or tensors in atomo-bench's files."""
    if "tensor" in record:
        record["level"] = "all" if record.get("step") == "*" else "step" if record["tensor"] == "*" else "tensor"
        for name in ("step", "worker"):
            record[name] = None if record.get(name) == "*" else record.get(name)
    return record


def document_of(records: Records) -> dict[str, Any]:
    """What atomo-bench writes of these records."""
    if getattr(records, "schema", None) is None:
        raise UsageError("%s: want Records, as bench, compare and read_result return them" % type(records).__name__, FILTERED)
    return {"schema": records.schema, "meta": records.meta, "results": list(map(_unname_level, records))}


def _unname_level(record: dict[str, Any]) -> dict[str, Any]:
    everything = {"step": "*", "worker": "*"} if record.get("level") == "all" else {}
    return {name: value for name, value in {**record, **everything}.items() if name != "level"}


def records_of(document: dict[str, Any]) -> Records:
    records = Records(map(_name_level, document["results"]))
    records.meta, records.schema = document["meta"], document["schema"]
    return records


def _number(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text != "" else None


def _cell(column: str, text: str) -> Any:
    """The value of a cell. The writer puts an apostrophe before a text that a spreadsheet would take for a formula, or that has one."""
    if text[:1] == "'" and text[1:2] and text[1] in "=+-@\t\r\n'":
        return text[1:]
    return text or None if column in ("tensor", "compressor") else _number(text)


def _read_csv(text: str) -> Records:
    lines = text.splitlines(keepends=True)
    facts = [line[1:].strip() for line in lines if line.startswith("#")]
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), strict=True))
    if not rows or any(None in row or None in row.values() for row in rows):
        raise ValueError("want a heading, and rows with its columns")
    records = Records(_name_level({name: _cell(name, value) for name, value in row.items()}) for row in rows)
    records.meta = dict(fact.partition(": ")[::2] for fact in facts if ": " in fact)
    records.schema = facts[0] if facts else None
    return records


def _read_part(text: str) -> Records:
    """FILE.part: a line of JSON about the run, and one for each record; the last line may be incomplete."""
    head, *lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    own = ("place", "sums")
    rows = [{name: v for name, v in line.items() if name not in own} for line in lines]
    return records_of({"results": rows, "meta": head, "schema": head.pop("part")})


def read_result(path: str | os.PathLike[str]) -> Records:
    """The records of a file that atomo-bench or atomo-train wrote with -o FILE.json or FILE.csv, or of its FILE.part so far."""
    try:
        with open(path_of(path), encoding="utf-8", newline="") as file:
            text = file.read()
        if text.startswith('{"part": '):
            return _read_part(text)
        return records_of(json.loads(text)) if text.lstrip().startswith("{") else _read_csv(text)
    except OSError as error:
        raise FileError("%s: %s" % (path, error.strerror)) from None
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        hint = "results come from -o FILE.csv or -o FILE.json of atomo-bench or atomo-train"
        raise CorruptError("%s: not a result: %s" % (path, error), hint) from None
