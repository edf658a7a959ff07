"""atomo -- gradient compressors: ATOMO, QSGD, TernGrad, PowerSGD and the rest of the field, with real bytes.

    import atomo
    codec = atomo.Codec("qsgd:bits=4")
    payload = codec.encode(array, step=3)
    estimate = codec.decode(payload, array.shape, step=3)
    records = atomo.compare({"fc.weight": array}, ["qsgd:bits=2/4/8", "svd:rank=2"])
    atomo.plot(atomo.bench("sweep", "gradients.h5", codec=["qsgd", "svd"]), "pareto").save("pareto.pdf")

atomo.read_gradients reads files of gradients, atomo.dump writes them. atomo.torch has a communication hook for PyTorch's
DistributedDataParallel, and training with local steps.
"""

from __future__ import annotations

from ._library import CorruptError, Error, FileError, NumericError, OutOfMemory, UsageError, lib
from .codec import Codec, Compressors, Tensor, compressors
from .gradients import read_gradients
from .program import Figure, bench, plot, report
from .results import Records, compare, measure, read_result

for _kind in (Error, *Error.__subclasses__()):
    _kind.__module__ = __name__  # the name that users know
__version__: str = lib.atomo_version().decode()
__all__ = [
    "Codec",
    "Compressors",
    "CorruptError",
    "Error",
    "Figure",
    "FileError",
    "NumericError",
    "OutOfMemory",
    "Records",
    "Tensor",
    "UsageError",
    "bench",
    "compare",
    "compressors",
    "measure",
    "plot",
    "read_gradients",
    "read_result",
    "report",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
