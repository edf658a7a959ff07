"""Finds libatomo and declares the functions of atomo.h to ctypes."""

from __future__ import annotations

import ctypes
import operator
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

INTERFACE = 1  # ATOMO_INTERFACE of atomo.h
NAME = "libatomo.so.%d" % INTERFACE


class Error(Exception):
    """A call that failed. `text` says what was found and what was expected; `hint` says what helps, and may be empty. Printed, an
    error is its text, and the hint in brackets."""

    status = 0

    def __init__(self, text: str = "", hint: str = "") -> None:
        super().__init__("%s (%s)" % (text, hint) if hint else text)
        self.text, self.hint = text, hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.text, self.hint)


class UsageError(Error, ValueError):
    """A wrong spec, a wrong argument, or something else that cannot be asked for."""

    status = 1


class FileError(Error, OSError):
    """A file, or a library, that cannot be read, written or loaded."""

    status = 2


class CorruptError(Error, ValueError):
    """A payload, a state or a file that nothing of atomo's writes."""

    status = 3


class NumericError(Error, ArithmeticError):
    """NaN or infinity in a tensor, or a result beyond float32."""

    status = 4


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""

    status = 5


_ERRORS = {kind.status: kind for kind in (UsageError, FileError, CorruptError, NumericError, OutOfMemory)}


def error_of(status: int, text: str, hint: str) -> Error:
    return _ERRORS.get(status, Error)(text, hint)


class ErrorText(ctypes.Structure):
    _fields_ = [("status", c_int), ("text", c_char * 600), ("hint", c_char * 300)]


class Layout(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("rank", c_int),
        ("dim", POINTER(c_size_t)),
        ("seed", c_uint64),
        ("worker", c_int),
        ("workers", c_int),
        ("threads", c_int),
        ("unchecked", c_int),
    ]


class Gradient(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("rank", c_int),
        ("dim", POINTER(c_size_t)),
        ("x", c_void_p),
        ("step", c_int64),
        ("worker", c_int64),
    ]


class Key(ctypes.Structure):
    _fields_ = [
        ("key", c_char_p),
        ("type", c_char_p),
        ("default", c_char_p),
        ("meaning", c_char_p),
        ("rate", c_int),
        ("range", c_char * 96),
    ]


STOPPED = ctypes.CFUNCTYPE(c_int, c_void_p)


class Comparison(ctypes.Structure):
    _fields_ = [
        ("spec", POINTER(c_char_p)),
        ("specs", c_size_t),
        ("repeats", c_size_t),
        ("seed", c_uint64),
        ("threads", c_int),
        ("timed", c_int),
        ("stopped", STOPPED),
        ("data", c_void_p),
    ]


# NAME: (result type, argument types). call() checks functions that return int and end with an error argument.
_FUNCTIONS = {
    "atomo_interface": (c_int, []),
    "atomo_version": (c_char_p, []),
    "atomo_codec_open": (c_int, [POINTER(c_void_p), c_char_p, c_void_p]),
    "atomo_codec_close": (None, [c_void_p]),
    "atomo_codec_spec": (c_char_p, [c_void_p]),
    "atomo_codec_complete": (c_char_p, [c_void_p]),
    "atomo_codec_traits": (c_uint, [c_void_p]),
    "atomo_codec_rounds": (c_int, [c_void_p]),
    "atomo_codec_caution": (c_char_p, [c_void_p]),
    "atomo_compressor": (c_char_p, [c_size_t, POINTER(c_char_p)]),
    "atomo_compressor_key": (c_int, [c_size_t, c_size_t, POINTER(Key)]),
    "atomo_tensor_open": (c_int, [POINTER(c_void_p), c_void_p, POINTER(Layout), c_void_p]),
    "atomo_tensor_close": (None, [c_void_p]),
    "atomo_encode_bound": (c_size_t, [c_void_p]),
    "atomo_encode": (c_int, [c_void_p, c_int64, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p]),  # plain addresses: the fastest to pass
    "atomo_decode": (c_int, [c_void_p, c_int64, c_int, c_void_p, c_size_t, c_void_p, c_void_p]),
    "atomo_advance": (c_int, [c_void_p, c_int64, c_void_p, c_void_p, c_size_t, c_void_p]),
    "atomo_merge_bound": (c_size_t, [c_void_p, c_size_t]),
    "atomo_merge": (
        c_int,
        [c_void_p, c_int64, POINTER(c_void_p), POINTER(c_size_t), c_size_t, c_void_p, c_size_t, POINTER(c_size_t), c_void_p],
    ),
    "atomo_train": (c_int, [c_void_p, c_int64, c_void_p, c_void_p]),
    "atomo_learned": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "atomo_learn": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "atomo_step_begin": (c_int, [c_void_p, c_int64, c_int, c_void_p, c_void_p]),
    "atomo_step_send": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_size_t), c_void_p]),
    "atomo_step_take": (c_int, [c_void_p, c_int, c_void_p, c_size_t, c_void_p]),
    "atomo_step_merge": (
        c_int,
        [c_void_p, POINTER(c_void_p), POINTER(c_size_t), c_size_t, c_void_p, c_size_t, POINTER(c_size_t), c_void_p],
    ),
    "atomo_step_take_merged": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "atomo_step_end_round": (c_int, [c_void_p, POINTER(c_int), c_void_p]),
    "atomo_shard": (c_size_t, [c_void_p, c_size_t, c_int, c_int]),
    "atomo_step_again": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), c_void_p]),
    "atomo_step_hear": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "atomo_step_finish": (c_int, [c_void_p, c_void_p, c_void_p]),
    "atomo_state_size": (c_size_t, [c_void_p]),
    "atomo_state_save": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "atomo_state_load": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "atomo_dump_open": (c_int, [POINTER(c_void_p), c_char_p, c_void_p]),
    "atomo_dump_close": (None, [c_void_p]),
    "atomo_dump_count": (c_size_t, [c_void_p]),
    "atomo_dump_gradient": (Gradient, [c_void_p, c_size_t]),
    "atomo_dump_read": (c_int, [c_void_p, c_size_t, c_void_p, c_void_p]),
    "atomo_metric": (c_char_p, [c_size_t]),
    "atomo_measure": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, c_int, POINTER(c_double), c_size_t, c_void_p]),
    "atomo_compare": (c_int, [POINTER(Comparison), POINTER(Gradient), c_size_t, POINTER(c_void_p), c_void_p]),
    "atomo_compare_file": (c_int, [POINTER(Comparison), c_char_p, POINTER(c_void_p), c_void_p]),
    "atomo_free": (None, [c_void_p]),
}


def _place() -> str:
    package = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(package, "..", "..", "..", NAME)  # PREFIX/lib, of PREFIX/lib/python3/dist-packages/atomo
    near = [path for path in (os.path.join(package, NAME), installed) if os.path.exists(path)]
    return os.environ.get("ATOMO_LIBRARY") or (near + [NAME])[0]


def _load(path: str) -> Any:
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            "%s cannot be loaded (%s); set ATOMO_LIBRARY to its path, or run `make install`" % (path, error)
        ) from None
    try:
        found = loaded.atomo_interface()
    except AttributeError:
        raise ImportError("%s is not libatomo" % path) from None
    if found != INTERFACE:
        raise ImportError("%s has interface %d, and this package needs %d" % (path, found, INTERFACE))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


path = _place()
lib = _load(path)


def failure(error: ErrorText) -> Error:
    """The exception that an error of the library stands for."""
    return error_of(error.status, error.text.decode("utf-8", "replace"), error.hint.decode("utf-8", "replace"))


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last argument describes errors, and raises what it describes."""
    error = ErrorText()
    if function(*arguments, byref(error)):
        raise failure(error)


def integer(name: str, value: Any, low: int, high: int) -> int:
    """The value as an int; ctypes would cut off the bits that do not fit."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError("%s=%r: want an integer" % (name, value)) from None
    if not low <= number <= high:
        raise UsageError("%s=%d: want %d to %d" % (name, number, low, high))
    return number


def text_of(name: str, value: Any) -> bytes:
    """Text for the library, which ends it at the first zero byte."""
    if not isinstance(value, str):
        raise UsageError("%s=%r: want text" % (name, value))
    if "\0" in value:
        raise UsageError("%s=%r: want text without zero bytes" % (name, value))
    return value.encode("utf-8", "surrogateescape")


def path_of(value: Any) -> bytes:
    try:
        path = os.fsencode(value)
    except TypeError:
        raise UsageError("%r: want a path" % (value,)) from None
    if b"\0" in path:
        raise UsageError("%r: want a path without zero bytes" % (value,))
    return path


def step_of(value: Any) -> int:
    return integer("step", value, -(2**63), 2**63 - 1)


def seed_of(value: Any) -> int:
    return integer("seed", value, 0, 2**64 - 1)


def int_of(name: str, value: Any) -> int:
    return integer(name, value, -(2**31), 2**31 - 1)
