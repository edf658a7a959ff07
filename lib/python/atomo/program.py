"""atomo-bench from Python: its commands on files and on arrays, its figures and its pages."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any, Iterable, Iterator

from ._library import Error, FileError, UsageError, path
from .codec import as_floats
from .results import FILTERED, Records, document_of, gradients_of, read_result, records_of, specs_of

_REPEATED = ("tensor", "label", "where")  # options that are given once for each value; values of others stand between commas


def _program() -> str:
    """atomo-bench: beside the library's folder, among the scripts of this Python, or where PATH says."""
    places = [os.path.join(os.path.dirname(path), "..", "bin")] if os.sep in path else []
    found = shutil.which("atomo-bench", path=os.pathsep.join([*places, sysconfig.get_path("scripts"), os.environ.get("PATH", "")]))
    if not found:
        raise FileError("atomo-bench is not found", "the wheel and `make install` bring it; or add its folder to PATH")
    return found


# ---- arguments ----


def _options(options: dict[str, Any]) -> list[str]:
    """min_elements=100 is --min-elements=100, and True an option without a value."""
    arguments = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        some = ["%s=%s" % pair for pair in value.items()] if isinstance(value, dict) else value
        some = list(some) if isinstance(some, (list, tuple, range)) else [some]
        if value is True:
            arguments.append(flag)
        elif name in _REPEATED:
            arguments += ["%s=%s" % (flag, one) for one in some]
        elif value is not None and value is not False:
            arguments.append("%s=%s" % (flag, ",".join(map(str, some))))
    return arguments


def _write_arrays(arrays: Any, file: str) -> None:
    """A .safetensors file: the size of a heading, the heading, and the floats. Arrays without a step are those of step 0, as in `compare`."""
    tensors = [(name, as_floats(array, str(name)), step, worker) for name, array, step, worker in gradients_of(arrays)]
    heading, at = {}, 0
    for name, x, step, worker in tensors:
        heading["step_%d/worker_%d/%s" % (step, worker, name)] = {"dtype": "F32", "shape": x.shape, "data_offsets": [at, at + x.nbytes]}
        at += x.nbytes
    text = json.dumps(heading).encode()
    with open(file, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, x, _, _ in tensors:
            out.write(x.astype("<f4", copy=False).tobytes())


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


@contextlib.contextmanager
def _files(sources: Iterable[Any]) -> Iterator[list[str]]:
    """Paths of files with these sources: files, Records, or arrays as `compare` takes them."""
    with tempfile.TemporaryDirectory(prefix="atomo-") as folder:
        paths = []
        for number, source in enumerate(sources):
            file = os.fspath(source) if _is_path(source) else ""
            if isinstance(source, Records):
                file = os.path.join(folder, "records%d.json" % number)
                with open(file, "w", encoding="utf-8") as out:
                    json.dump(document_of(source), out, default=float)
            elif not _is_path(source):
                file = os.path.join(folder, "arrays%d.safetensors" % number)
                _write_arrays(source, file)
            paths.append(file)
        yield paths


# ---- running ----


def _watched() -> bool:
    """Whether somebody sees a progress bar: in a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _draw(bar: str) -> None:
    print("\r" + bar.ljust(79), end="\r", file=sys.stderr, flush=True)


def _said(reading: int, show: bool) -> str:
    """All that the program says but its progress bar, which is drawn here; the program writes a bar at once, behind a \\r."""
    said, drawn = b"", False
    while True:
        try:
            chunk = os.read(reading, 4096)
        except OSError:  # the end of a terminal
            chunk = b""
        if not chunk:
            break
        if chunk.startswith(b"\r") and not chunk.startswith(b"\r\n"):
            bar, _, note = chunk.rpartition(b"\x1b[K")
            said += note
            bars = [b for b in bar.decode("utf-8", "replace").replace("\x1b[K", "").split("\r") if b]
            if show and bars:
                _draw(bars[-1])
                drawn = True
        else:
            said += chunk
    if drawn:
        _draw("")
    return said.decode("utf-8", "replace").replace("\r\n", "\n")


def _failed(code: int, said: str) -> Error:
    lines = said.strip().split("\n")
    text = next((line.partition(": ")[2] for line in lines if line.startswith("atomo-bench: ")), "atomo-bench ended with %d" % code)
    hint = next((line[6:] for line in lines if line.startswith("hint: ")), "")
    return (UsageError if code == 2 else Error)(text, hint)


def _run(arguments: list[str], progress: bool | None = False) -> bytes:
    """What atomo-bench prints. KeyboardInterrupt ends it in good order."""
    show = _watched() if progress is None else progress
    reading, writing = pty.openpty() if show else os.pipe()  # on a terminal the program draws its progress
    with tempfile.TemporaryFile() as out, os.fdopen(reading, "rb", buffering=0):
        command = [_program(), *arguments[:1], *([] if show else ["--quiet"]), *arguments[1:]]
        environment = {**os.environ, "TERM": "xterm"} if show else None
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=writing, env=environment, start_new_session=True)
        finally:
            os.close(writing)
        try:
            said = _said(reading, show)
            code = child.wait()
        except BaseException:  # KeyboardInterrupt
            child.send_signal(signal.SIGINT)
            child.wait()
            raise
        out.seek(0)
        printed = out.read()
    if code and not (code == 1 and printed):
        raise _failed(code, said)
    if said:
        print(said, end="", file=sys.stderr)
    return printed


def bench(command: str, *sources: Any, codec: Any = None, progress: bool | None = None, **options: Any) -> Records:
    """The records of `atomo-bench COMMAND`: sweep, compare, merge, advise, cost, inspect, verify and others that print a table.

    sources   files of gradients, or arrays as `compare` takes them
    codec     a spec, a Codec, or a list of them
    progress  whether to draw a progress bar; by itself in a terminal and in a notebook
    options   those of the command, as `atomo-bench COMMAND --help` lists them: min_elements=1000, repeats=5, workers=[4, 8],
              unbiased=True

    What the command says beside its records, as that a statement of `verify` fails, is printed to stderr.
    """
    specs = [] if codec is None else ["--codec=%s" % spec for spec in specs_of(codec)]
    with _files(sources) as files:
        printed = _run([command, *specs, *_options(options), "--format=json", "--", *files], progress)
    return records_of(json.loads(printed))


class Figure:
    """A figure: notebooks show it, `save` writes it, and `data` has the numbers that it shows, as Records."""

    def __init__(self, kind: str, sources: list[Any], options: dict[str, Any]) -> None:
        self._kind, self._sources, self._options = kind, sources, options
        with tempfile.TemporaryDirectory(prefix="atomo-") as folder:
            with open(self.save(os.path.join(folder, "figure.svg"), data=True), encoding="utf-8") as file:
                self._svg = file.read()
            self.data = read_result(os.path.join(folder, "figure.plot.csv"))

    def _repr_svg_(self) -> str:
        return self._svg

    def save(self, path: str | os.PathLike[str], data: bool = False) -> str:
        """Writes the figure (.pdf, .svg, .png or .tex), and with data beside it its numbers (.plot.csv). Returns the path."""
        beside = ["--data"] if data else []
        with _files(self._sources) as files:
            _run(["plot", "--output=%s" % os.fspath(path), *beside, *_options(self._options), "--", self._kind, *files])
        return os.fspath(path)


def plot(results: Any, kind: str, **options: Any) -> Figure:
    """The figure that `atomo-bench plot KIND` draws of results: Records, the path of a file, or a list of these. Needs gnuplot.
    options: those of the command, as label={"svd": "ATOMO"}, x="time", width="6.75in"."""
    some = list(results) if isinstance(results, (list, tuple)) and not isinstance(results, Records) else [results]
    if not all(_is_path(one) or isinstance(one, Records) for one in some):
        raise UsageError("results=%s: want Records, the path of a result, or a list of these" % type(results).__name__, FILTERED)
    return Figure(kind, some, options)


def report(results: Any, output: str | os.PathLike[str], **options: Any) -> str:
    """Writes one HTML page of results, as `atomo-bench report` does: of a folder, or of {name: Records}. Returns the path."""
    with tempfile.TemporaryDirectory(prefix="atomo-") as folder:
        source = os.fspath(results) if _is_path(results) else folder
        for name, records in {} if _is_path(results) else results.items():
            with open(os.path.join(folder, "%s.json" % name), "w", encoding="utf-8") as out:
                json.dump(document_of(records), out, default=float)
        _run(["report", "--output=%s" % os.fspath(output), *_options(options), "--", source])
    return os.fspath(output)
