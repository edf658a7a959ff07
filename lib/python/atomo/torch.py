"""A communication hook for PyTorch's DistributedDataParallel that compresses gradients with any codec.

    from atomo.torch import State, hook
    model = DistributedDataParallel(model)
    state = State("ef+topk:ratio=0.01", model)
    model.register_comm_hook(state, hook)

Every parameter is compressed by itself, in its own shape, with a codec state of its own; parameters of fewer than `min_elements`
elements travel as floats. All ranks end each step with the same bytes. It is the exchange of atomo-train, with its payloads: rank r is
worker r, and steps count from 1. A thread of the State exchanges one bucket after another while backward goes on.

LocalSteps trains with one exchange in many steps.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import queue
import re
import threading
import warnings
from typing import Any, Callable, Iterable, Sequence

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from ._library import UsageError, integer
from ._wire import Wire, pack
from .exchange import Bucket, Exchange, Part, Skip
from .transport import TorchTransport


# Messages beside backward need a group of their own, which the ranks of DDP can make by themselves from PyTorch 2.1 on.
_ALONGSIDE = "use_local_synchronization" in inspect.signature(dist.new_group).parameters


class _Line:
    """A thread that does one piece of work after another."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def put(self, work: Callable[[], Any]) -> None:
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            self._thread = threading.Thread(target=_Line._go, args=(self._queue,), daemon=True, name="atomo")
            self._thread.start()
        self._queue.put(work)

    @staticmethod
    def _go(line: queue.SimpleQueue[Any]) -> None:
        for work in iter(line.get, None):
            work()
            del work  # what it holds goes now, not when there is more to do

    def wait(self) -> None:
        """Waits until all is done."""
        done = threading.Event()
        self.put(done.set)
        done.wait()

    def __del__(self) -> None:
        self._queue.put(None)


def _names(model: Any) -> dict[int, str]:
    """The names of a model's parameters by id, without what torch.compile, activation checkpointing and DDP add to them."""
    try:
        names = {id(p): re.sub(r"\b(_orig_mod|_checkpoint_wrapped_module)\.", "", name) for name, p in model.named_parameters()}
    except AttributeError:
        raise UsageError("model=%r: want a module of PyTorch" % (model,)) from None
    prefix = len("module.") if all(name.startswith("module.") for name in names.values()) else 0
    return {key: name[prefix:] for key, name in names.items()}


class State(Exchange):
    """What the hook keeps between steps.

    spec          of the codec, such as "powersgd:rank=2"
    model         gives the parameters their names, which are part of their random address; without it they are numbered in the
                  order in which they first come, which is the same on all ranks
    min_elements  smaller parameters travel as floats
    process_group the group that carries payloads, and nothing else; by itself a new one of DDP's ranks, over gloo
    exchange      "gather": all ranks get all payloads; "reduce": payloads are merged on the way, which codecs whose payloads
                  add allow, and a power of two of ranks; "auto": reduce where it sends fewer bytes, but gather the floats of
                  small tensors where other tensors are gathered; "twoshot": as auto, but where payloads do not add, each rank
                  averages its shard of every tensor, encodes the mean again, and sends it to all
    nonfinite     "skip": where a gradient of any rank has NaN or infinity, all ranks get means of NaN, and the states stay as they
                  were, so that GradScaler skips the step; "raise": all ranks raise an error
    start         the first `start` steps travel as floats
    bytes_sent    bytes of the payloads that this rank has sent so far, each with its size (8 bytes); padding to one length and
                  that length, which go through gloo too, are left out

    A State serves one model. It cannot be copied or pickled; state_dict and load_state_dict carry it through a checkpoint.
    """

    def __init__(
        self,
        spec: str,
        model: torch.nn.Module | None = None,
        seed: int = 1,
        min_elements: int = 1000,
        process_group: Any = None,
        exchange: str = "auto",
        threads: int = 0,
        nonfinite: str = "skip",
        start: int = 0,
    ) -> None:
        super().__init__(spec, TorchTransport(process_group), seed, min_elements, exchange, threads, nonfinite, start)
        self._names = {} if model is None else _names(model)
        self._numbered = self._names_grow = model is None
        self._parameters = [] if model is None else list(model.parameters())  # alive, so that no other one gets an id of theirs
        self._results: dict[int, Any] = {}  # memory for the means of each bucket, reused: new memory would cost more time than the mean
        self._ferries: dict[int, _Ferry] = {}
        self._open: list[_Bucket] = []  # buckets of this step without a result
        self._greeted = self._skips = self._awaited = False
        self._line = _Line()
        self._error: Exception | None = None  # of this step

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        super().load_state_dict(saved)
        self._open, self._skips, self._error = [], False, None

    def _check_names(self, names: set[str]) -> None:
        if not self._numbered:
            self._refuse(names)

    def _refuse(self, names):
        """Refuses what is neither a parameter nor a shard of one, "NAME[0]"."""
        known = set(self._names.values())
        unknown = sorted(name for name in names if name not in known and name.rsplit("[", 1)[0] not in known)
        if unknown:
            raise UsageError("the checkpoint has states of %s, which the model does not have" % ", ".join(unknown))

    def _name(self, parameter):
        if id(parameter) not in self._names:
            if not self._names_grow:
                hint = "every model in DDP wants a State of its own, which is given this model"
                raise UsageError("a parameter of shape %s is not of this State's model" % (tuple(parameter.shape),), hint)
            self._names[id(parameter)] = "parameter%d" % len(self._names)
            self._parameters.append(parameter)
        return self._names[id(parameter)]

    def _result(self, bucket, like):
        """Memory for the means of a bucket's gradients."""
        result = self._results.get(bucket)
        if result is None or (result.shape, result.dtype, result.device) != (like.shape, like.dtype, like.device):
            result = self._results[bucket] = torch.empty_like(like)
        return result

    def _ferry(self, bucket: int, like: torch.Tensor) -> _Ferry:
        ferry = self._ferries.get(bucket)
        if ferry is None or (ferry.means.numel(), ferry.means.dtype) != (like.numel(), like.dtype):
            ferry = self._ferries[bucket] = _Ferry(like)
        return ferry

    def _skip(self, error):
        self._skips = True
        self._say_skip(error)

    def _close(self, bucket):
        """Gives results. Tensors with a state finish at the end of the step, when no rank can skip it any more."""
        self._open.append(bucket)
        late = [part for opened in self._open for part in opened.parts if part.late]
        if late and not (bucket.last or self._skips or self._failure):
            return
        if not self._skips:
            self._do(lambda: [part.finish() for part in late])
        if bucket.last and self._failure:
            failure = self._failure
            if failure.nonfinite:  # a mean beyond float32: all ranks have it
                self._failure = None
            if not failure.nonfinite or self.nonfinite == "raise":
                raise failure.error from failure.cause
            self._skip(failure.error)
        for opened in self._open:
            opened.deliver(bool(self._skips or self._failure))
        self._open = []
        if bucket.last:
            self._end_step()

    def _end_step(self):
        self.step += 1
        self._skips = self._names_grow = False
        if self._numbered:  # load_state_dict stored the states by number, as it had no names
            self._do(self._refuse, set(self._loaded))

    def _lose_step(self, bucket: _Bucket, error: Exception) -> None:
        """Gives the error to all that wait for a result."""
        for opened in [*self._open, bucket]:
            if not opened.done.done():
                opened.done.set_result(error)
        self._open, self._skips, self._error = [], False, error

    def _serve(self, bucket: _Bucket) -> None:
        """Exchanges a bucket. After an error the others of the step get the same error."""
        try:
            if bucket.index == 0:
                self._error = None
            if self._error:
                raise self._error
            if not self._skips:
                try:
                    _exchange(self, bucket)
                except Skip as skip:
                    self._skip(skip)
            self._close(bucket)
        except Exception as error:
            self._lose_step(bucket, error)

    def _await(self) -> None:
        """At the end of backward, before DDP looks at the results: raises an error as it is, which DDP would make a RuntimeError."""
        self._awaited = False
        self._line.wait()
        if self._error:
            raise self._error


def _real(tensor):
    """A complex tensor as a real one of one axis more."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


class _Part(Part):
    """One parameter's gradient in a bucket."""

    def __init__(self, state, parameter):
        super().__init__(state, "", parameter.numel() * (2 if parameter.is_complex() else 1))
        self.parameter = parameter

    def open(self, state, gradient, view):
        self.view = _real(view)
        super().open(state, _real(gradient), _as_mean(self.view))

    def finish(self):
        super().finish()
        if self.view.data_ptr() != self.mean.ctypes.data:
            self.view.copy_(torch.from_numpy(self.mean))


class _Ferry:
    """The way of a bucket from a GPU and back: one pinned buffer, half of it for gradients and half for means. Copies have a stream of
    their own, so that they do not wait for the rest of backward."""

    def __init__(self, like: torch.Tensor) -> None:
        memory = torch.empty(2 * like.numel(), dtype=like.dtype, pin_memory=like.is_cuda)
        self.gradients, self.means = memory.chunk(2)
        self.stream = torch.cuda.Stream(like.device)

    def fetch(self, whole: torch.Tensor) -> None:
        """Begins to copy gradients to the CPU; `wait` ends it."""
        self.stream.wait_stream(torch.cuda.current_stream(whole.device))
        with torch.cuda.stream(self.stream):
            self.gradients.copy_(whole, non_blocking=True)
            self.fetched = self.stream.record_event()

    def wait(self) -> None:
        self.fetched.synchronize()

    @contextlib.contextmanager
    def bring(self, result: torch.Tensor) -> Any:
        """Begins to copy means to the GPU; who waits for a future that is set within waits for the copy."""
        with torch.cuda.stream(self.stream):
            result.copy_(self.means, non_blocking=True)
            yield


def _is_far(whole: torch.Tensor) -> bool:
    return whole.is_cuda


class _Bucket(Bucket):
    """A bucket of DDP, and the future of its result."""

    def __init__(self, state: State, bucket: Any) -> None:
        self.index, self.last, self.whole, self.gradients = bucket.index(), bucket.is_last(), bucket.buffer(), bucket.gradients()
        self.parts = [_Part(state, p) for p in bucket.parameters()]
        self.result = state._result(self.index, self.whole)
        self.here, self.means, self.ferry = self.whole, self.result, None
        if _is_far(self.whole):
            self.ferry = state._ferry(self.index, self.whole)
            self.here, self.means = self.ferry.gradients, self.ferry.means
            self.ferry.fetch(self.whole)
        self.done: torch.futures.Future[Any] = torch.futures.Future(devices=[self.whole.device] if self.whole.is_cuda else None)

    def deliver(self, nan: bool) -> None:
        if nan:
            self.means.fill_(float("nan"))
        with self.ferry.bring(self.result) if self.ferry else contextlib.nullcontext():
            self.done.set_result(self.result)

    def told(self):
        return ["%s %s %s" % (part.name, part.parameter.dtype, "x".join(map(str, part.parameter.shape))) for part in self.parts]

    def describe(self, state):
        for part in self.parts:
            part.name = state._name(part.parameter)
        super().describe(state)

    def _cut(self, memory, part, like):
        """The part of the bucket's memory, or of memory like it, that a gradient of DDP has. PyTorch 2 makes the memory of complex
        gradients real, but leaves places and shapes as they were."""
        start = like.storage_offset() - self.whole.storage_offset()
        if part.parameter.is_complex() and not memory.is_complex():
            memory = torch.view_as_complex(memory.view(-1, 2))
        return memory.as_strided(like.shape, like.stride(), memory.storage_offset() + start)

    def open(self, state):
        if self.ferry:
            self.ferry.wait()
        if self.whole.layout != torch.strided:
            raise UsageError("%s: DDP hands out a sparse gradient" % self.parts[0].name, "make its module with sparse=False")
        for part, like in zip(self.parts, self.gradients):
            part.open(state, *(self._cut(memory, part, like) for memory in (self.here, self.means)))


def _groups_of(parameter):
    """The process groups of DistributedDataParallel that have the parameter; DDP tells a hook none of it."""
    models = [thing for thing in gc.get_objects() if issubclass(type(thing), DistributedDataParallel)]
    return [model.process_group for model in models if any(p is parameter for p in model.parameters())]


def _twin(group: Any) -> Any:
    """A gloo group of the same ranks, so that its messages do not mix with those of DDP, FSDP or the program."""
    return dist.new_group(TorchTransport(group).members, backend="gloo", use_local_synchronization=True) if _ALONGSIDE else group


def _greet(state, bucket):
    """Before the first message: the ranks of DDP's group, whatever their States have in common, tell each other what they must share.
    Then the payloads get a group of their own."""
    groups = _groups_of(bucket.parts[0].parameter)
    wire, theirs = state.wire, groups[0] if groups else state.wire.transport.group
    ours = wire.transport
    own = ours.group is not None and ours.group is not theirs
    far = "gloo" not in dist.get_backend(theirs)
    if far and not own:
        if not _ALONGSIDE:
            hint = "State(..., process_group=torch.distributed.new_group(backend='gloo'))"
            raise UsageError("the hook sends bytes over gloo, and the backend of DDP's group is %s" % dist.get_backend(theirs), hint)
        ours.group = _twin(theirs)
        if wire.rank == 0:
            says = "the backend of the process group is %s: payloads travel through a new group of its ranks, over gloo"
            warnings.warn(says % dist.get_backend(theirs), RuntimeWarning, stacklevel=2)
    elif not own:
        ours.group = theirs
    state._do(bucket.describe, state)
    meeting = wire if far else Wire(TorchTransport(theirs))
    meeting.digest = wire.digest
    state._arrived(meeting.gather("greeting", state._failure or pack([])), meeting, bucket)
    if groups and wire.members not in [TorchTransport(group).members for group in groups]:
        raise UsageError("process_group: its ranks are %s, those of DDP's group are %s" % (wire.members, TorchTransport(theirs).members))
    if groups and ours.group is theirs:
        ours.group = _twin(theirs)
    state._greeted = True


def _exchange(state, bucket):
    """Takes the payloads of all ranks; the mean of a tensor without a state is finished then."""
    if state._greeted:
        state._do(bucket.describe, state)
    else:
        _greet(state, bucket)
    state._swap(bucket)


def _as_mean(view):
    """The memory of a view as NumPy's, where means can be written; else memory of its own."""
    if view.device.type == "cpu" and view.dtype == torch.float32 and view.is_contiguous():
        return view.numpy()
    return np.empty(tuple(view.shape), np.float32)


def _value(done: torch.futures.Future[Any]) -> torch.Tensor:
    """The result of a bucket; an error is raised, as DDP takes no other from a future."""
    value = done.value()
    if isinstance(value, Exception):
        raise value
    return value


def hook(state, bucket):  # type: ignore[no-untyped-def]  # DDP refuses annotations that are text
    """The communication hook: DistributedDataParallel.register_comm_hook(state, hook). Returns at once: the State's thread
    exchanges buckets in the order in which backward makes them, which is the same on all ranks."""
    if not isinstance(state, State):
        raise UsageError("state=%r: want an atomo.torch.State" % (state,))
    opened = _Bucket(state, bucket)
    result = opened.done.then(_value)
    if opened.index == 0 or not state._awaited:  # once a step; again where parts of backward end by themselves
        with contextlib.suppress(RuntimeError):  # outside of backward: DDP's join stands in for a rank whose data are at an end
            torch.autograd.Variable._execution_engine.queue_callback(state._await)
            state._awaited = True
    if _ALONGSIDE and state._greeted:
        state._line.put(lambda: state._serve(opened))
    else:  # before the first message DDP's own group is used, by one thread at a time
        state._serve(opened)
    return result


# ---- local steps ----


class _Whole:
    """All pseudo-gradients as the one bucket of a step."""

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = parameters
        self._memory = torch.empty(sum(p.numel() for p in parameters), device=parameters[0].device)

    def index(self) -> int:
        return 0

    def is_last(self) -> bool:
        return True

    def buffer(self) -> torch.Tensor:
        return self._memory

    def gradients(self) -> list[torch.Tensor]:
        return _views(self._memory, self._parameters)

    def parameters(self) -> Sequence[torch.Tensor]:
        return self._parameters


def _views(flat: torch.Tensor, parameters: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Parts of a vector in the shapes of the parameters."""
    return [part.view(p.shape) for part, p in zip(flat.split([p.numel() for p in parameters]), parameters)]


class LocalSteps:
    """Training with local steps (DiLoCo, arXiv 2311.08105), as `atomo-train run --local-steps H`. Each rank takes `every` steps of
    its own optimizer from common weights. Then the ranks exchange D = common weights - own weights through the codec, and SGD with
    Nesterov's momentum applies the mean of D:

        v = outer_momentum v + D,    common weights -= outer_lr (D + outer_momentum v)

    All go on from the new common weights; the states of the inner optimizers stay.

        local = LocalSteps(model, torch.optim.AdamW(model.parameters()), every=16, spec="ef:decay=0.95+chunktopk")
        ...
        loss.backward()
        local.step()

    outer_lr 1 and outer_momentum 0 average the weights. The model is not in DDP. Rank 0's weights are the first common ones. Its
    buffers, such as the running means of BatchNorm, stay each rank's own. Other arguments are those of State. Pseudo-gradients that
    are not finite are an error.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        inner_optimizer: torch.optim.Optimizer,
        every: int,
        outer_lr: float = 1.0,
        outer_momentum: float = 0.0,
        spec: str = "none",
        **state: Any,
    ) -> None:
        if isinstance(model, DistributedDataParallel):
            raise UsageError("the model is in DistributedDataParallel, which exchanges gradients in every step", "give model.module")
        if not 0 <= outer_momentum < 1:
            raise UsageError("outer_momentum=%r: want 0 to less than 1" % outer_momentum)
        self.inner_optimizer, self.every = inner_optimizer, integer("every", every, 1, 2**31 - 1)
        self.outer_lr, self.outer_momentum, self.steps = outer_lr, outer_momentum, 0
        self.state = State(spec, model, **{"nonfinite": "raise", **state})
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._bucket: Any = _Whole(self._parameters)
        self._common = torch.cat([p.detach().reshape(-1).float() for p in self._parameters])
        self._velocity = torch.zeros_like(self._common)
        group = self.state.wire.transport.group
        dist.broadcast(self._common, 0 if group is None else dist.get_global_rank(group, 0), group=group)
        self._take_common()

    @torch.no_grad()
    def _take_common(self) -> None:
        for p, common in zip(self._parameters, _views(self._common, self._parameters)):
            p.copy_(common)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.inner_optimizer.zero_grad(set_to_none=set_to_none)

    def step(self, closure: Any = None) -> Any:
        """A step of the inner optimizer; behind every `every`-th the ranks exchange."""
        loss = self.inner_optimizer.step(closure)
        self.steps += 1
        if self.steps % self.every == 0:
            self._exchange()
        return loss

    @torch.no_grad()
    def _exchange(self) -> None:
        views = zip(self._parameters, self._bucket.gradients(), _views(self._common, self._parameters))
        for p, difference, common in views:
            difference.copy_(common.to(p.dtype)).sub_(p)
        self.state.step = self.steps - 1  # payloads have the number of the step that they follow, as in atomo-train
        bucket = _Bucket(self.state, self._bucket)
        self.state._serve(bucket)
        if self.state._error:
            raise self.state._error
        mean = bucket.done.wait()
        self._velocity.mul_(self.outer_momentum).add_(mean)
        self._common.sub_(mean.add_(self._velocity, alpha=self.outer_momentum), alpha=self.outer_lr)
        self._take_common()

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint, beside the model's own: every rank saves its own."""
        inner, codec = self.inner_optimizer.state_dict(), self.state.state_dict()
        return {"steps": self.steps, "common": self._common.clone(), "velocity": self._velocity.clone(), "inner": inner, "codec": codec}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Goes on from a checkpoint; the model loads its own."""
        self.steps = saved["steps"]
        self._common.copy_(saved["common"])
        self._velocity.copy_(saved["velocity"])
        self.inner_optimizer.load_state_dict(saved["inner"])
        self.state.load_state_dict(saved["codec"])
