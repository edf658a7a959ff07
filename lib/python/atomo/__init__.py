"""atomo -- gradient compressors: ATOMO, QSGD, TernGrad, PowerSGD and the rest of the field, with real bytes.

    import atomo
    codec = atomo.Codec("qsgd:bits=4")
    payload = codec.encode(array, step=3)
    estimate = codec.decode(payload, array.shape, step=3)
    records = atomo.compare({"fc.weight": array}, ["qsgd:bits=2/4/8", "svd:rank=2"])

atomo.read_gradients reads files of gradients, atomo.dump writes them. atomo.torch has a communication hook for PyTorch's
DistributedDataParallel.
"""

from ._library import CorruptError, Error, FileError, NumericError, OutOfMemory, UsageError, lib
from .codec import Codec, Tensor, compressors
from .gradients import read_gradients
from .results import Records, compare, measure, read_result

for _kind in (Error, *Error.__subclasses__()):
    _kind.__module__ = __name__  # the name that users know
__version__ = lib.atomo_version().decode()
__all__ = [
    "Codec",
    "CorruptError",
    "Error",
    "FileError",
    "NumericError",
    "OutOfMemory",
    "Records",
    "Tensor",
    "UsageError",
    "compare",
    "compressors",
    "measure",
    "read_gradients",
    "read_result",
]
