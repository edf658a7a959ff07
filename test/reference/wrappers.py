"""wrappers.py -- an independent reader of the payloads of wrappers (codecs around another codec), written from
docs/FORMAT.md.

decode(spec, shape, rounds, address, state, plain)      state: a dict, kept for one worker and one tensor name
                                                        plain: a function that decodes a spec without wrappers
"""
import ctypes
import re

import numpy as np

from codes import F32, Bytes, floats
from container import need, size_of


def stages(spec):
    """Returns the first stage's name and keys, and the spec of the stages behind it."""
    first, *rest = re.split(r"\+(?=[A-Za-z])", spec, maxsplit=1)
    name, _, keys = first.partition(":")
    return name, keys, rest[0] if rest else None


def key_of(keys, name, usual):
    return dict(key.split("=", 1) for key in keys.split(",") if key).get(name, usual)


def shifted(name, keys, spec, shape, rounds, address, state, plain):
    """Decodes ef21 and diana, whose shift h is updated from earlier estimates."""
    alpha = key_of(keys, "alpha", "auto")
    gain = 1 if alpha == "auto" else float(alpha)
    h = state.setdefault("h", np.zeros(size_of(shape), F32)).astype(float)
    if not re.sub(r"(ef(:[^+]*)?\+)*none", "", spec):  # the payload of `none` in error feedback has no kind but raw
        need(len(rounds[-1]) > 0 and rounds[-1][0] == 0, "the kind")
        rounds = [*rounds[:-1], rounds[-1][1:]]
    q = decode(spec, shape, rounds, address, state.setdefault("behind", {}), plain).reshape(-1).astype(float)
    need(name == "ef21" or alpha != "auto" or not h.any(), "diana's own alpha is not known here")
    state["h"] = (h + gain * q).astype(F32)
    result = state["h"] if name == "ef21" else (h + q).astype(F32)
    need(bool(np.isfinite(result).all()), "beyond float32")
    return result.reshape(shape)


def unpacked(name, data, most):
    """Decompresses by the library itself (zstd, blosc), after checks of everything that a payload may not contain."""
    if name == "zstd":
        library = ctypes.CDLL("libzstd.so.1")
        library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
        for function in (library.ZSTD_findFrameCompressedSize, library.ZSTD_decompress):
            function.restype = ctypes.c_size_t
        need(data[:4] == bytes.fromhex("28b52ffd") and len(data) > 4 and data[4] & 31 == 0, "the head of a frame")
        need(library.ZSTD_findFrameCompressedSize(data, ctypes.c_size_t(len(data))) == len(data), "one frame")
        size = library.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    else:
        library = ctypes.CDLL("libblosc.so.1")
        need(len(data) >= 16 and data[0] == 2 and data[2] >> 5 == 0 and data[3] == 4, "the head of a chunk")
        need(int.from_bytes(data[12:16], "little") == len(data), "one chunk")
        size = int.from_bytes(data[4:8], "little")
    need(len(data) < size <= most, "the size of what is packed")
    room = ctypes.create_string_buffer(size)
    if name == "zstd":
        got = library.ZSTD_decompress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    else:
        got = library.blosc_decompress_ctx(data, room, ctypes.c_size_t(size), 1)
    need(got == size, "it does not unpack")
    return room.raw


def packed(name, spec, shape, rounds, address, state, plain):
    last = rounds[-1]
    need(len(last) > 0 and last[0] < 2, "a form")
    inner = unpacked(name, last[1:], 64 + 40 * size_of(shape)) if last[0] else last[1:]
    return decode(spec, shape, [*rounds[:-1], inner], address, state, plain)


def induced(keys, spec, shape, rounds, address, state, plain):
    """Decodes induced. Its keys end in a spec that has no wrappers and that, in these checks, needs no random numbers
    to decode."""
    last, n = rounds[-1], size_of(shape)
    need(len(last) > 0 and last[0] < 2, "a kind")
    if last[0] == 0:
        return floats(last[1:], n).reshape(shape)
    source = Bytes(last[1:])
    size = source.varint()
    first, second = source.take(size), source.data[source.at:]
    with_spec = re.split("(?:^|,)with=", keys)[1] if keys else "qsgd"
    result = (decode(spec, shape, [*rounds[:-1], first], address, state.setdefault("behind", {}), plain)
              + plain(with_spec, shape, [second], address))
    need(bool(np.isfinite(result).all()), "beyond float32")
    need(len(last) <= 4 * n + 1, "longer than floats")
    return result


def decode(spec, shape, rounds, address, state, plain):
    name, keys, behind = stages(spec)
    if behind is None:
        return plain(spec, shape, rounds, address)
    if name in ("ef21", "diana"):
        return shifted(name, keys, behind, shape, rounds, address, state, plain)
    if name in ("zstd", "blosc"):
        return packed(name, behind, shape, rounds, address, state, plain)
    if name == "induced":
        return induced(keys, behind, shape, rounds, address, state, plain)
    if name == "joint":
        return plain(spec, shape, rounds, address)
    return decode(behind, shape, rounds, address, state, plain)
