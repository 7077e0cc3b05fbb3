"""A fake GPU: tensors that say they lie on it, and refuse to meet any that do not.

Their numbers stay on the CPU. So a machine without a GPU can show that no tensor is forgotten on the one device or the
other; not whether a GPU's kernels are right, nor how fast they are.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
REPORTED: dict[Any, Any] = {Tensor.device.__get__: GPU, Tensor.is_cuda.__get__: True,  # type: ignore[attr-defined]
                        Tensor.is_cpu.__get__: False}  # type: ignore[attr-defined]
"""What a tensor there says of itself."""
SIZES = {torch._VF._pack_padded_sequence, torch._VF._pad_packed_sequence}  # type: ignore[attr-defined]
"""They take and give sizes, lengths of texts or of batches, on the CPU."""
PACKED = {*SIZES, torch._VF.lstm, torch._VF.gru, torch._VF.rnn_tanh, torch._VF.rnn_relu}  # type: ignore[attr-defined]
"""They take such sizes."""
MAY_MIX = {Tensor.copy_, Tensor.data.__set__, torch._has_compatible_shallow_copy_type}  # type: ignore[attr-defined]
"""What may be given tensors of both devices."""
INDEXED = {Tensor.__getitem__, Tensor.__setitem__}
"""A tensor on a GPU may be indexed by one on the CPU, but not the other way round."""
AS_ARRAY = {Tensor.numpy, Tensor.__array__}
NEW_PARAMETER = nn.Parameter.__new__
MOVES = {Tensor.to: None, Tensor.cpu: CPU, Tensor.cuda: GPU}


class FakeGPU(TorchFunctionMode):
    """While it is on, ``.to("cuda")`` and ``device="cuda"`` give tensors there, and so does what is made of them."""

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run ``func`` on the CPU, and note where what comes out lies. RuntimeError for tensors of both devices."""
        kwargs = dict(kwargs or {})
        given = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        there = any(map(lies_there, given))
        if there and func in REPORTED:
            return REPORTED[func]
        if there and func in AS_ARRAY:
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy it first")
        if func in MOVES:
            return moved(func, args, kwargs)
        if (device := kwargs.get("device")) is not None:
            there = torch.device(device).type == "cuda"
            kwargs["device"] = CPU if there else device
        elif there and not may_meet(func, args, given):
            places = [(GPU if lies_there(tensor) else CPU, tuple(tensor.shape)) for tensor in given]
            raise RuntimeError(f"{func.__name__}: all tensors should be on one device, and are {places}")
        made = func(*args, **kwargs)
        if func == Tensor.data.__set__:  # type: ignore[attr-defined]
            mark(args[0], lies_there(args[1]))
        if func is Tensor.__iter__:
            return iter([mark(row, there) for row in made])
        if func in SIZES:
            return mark(made[0], there), made[1]
        known = set(map(id, given))
        return pytree.tree_map_only(Tensor, lambda t: t if id(t) in known else mark(t, there), made)


def lies_there(tensor: Tensor) -> bool:
    """Whether it was noted to lie on the GPU."""
    return "_there" in tensor.__dict__


def mark(tensor: Tensor, there: bool) -> Tensor:
    """Note where it lies; returns it."""
    if there:
        tensor.__dict__["_there"] = True
    else:
        tensor.__dict__.pop("_there", None)
    return tensor


def may_meet(func: Any, args: Any, given: list[Tensor]) -> bool:
    """Whether a GPU would take these tensors together: all are there, or single numbers, or indices of one that is."""
    if func in MAY_MIX or (func in INDEXED and lies_there(args[0])):
        return True
    sizes = func in PACKED
    return all(lies_there(tensor) or tensor.dim() == 0 or (sizes and tensor.dtype == torch.long) for tensor in given)


def moved(func: Any, args: Any, kwargs: dict[str, Any]) -> Tensor:
    """``tensor.to(…)``, ``.cpu()`` or ``.cuda()``: the same object where it lies there already, else a copy."""
    tensor, *rest = args
    device, dtype, copy = MOVES[func], None, kwargs.pop("copy", False)
    if rest and isinstance(rest[0], Tensor):
        device, dtype = GPU if lies_there(rest[0]) else CPU, rest[0].dtype
    elif device is None:
        device, dtype, *_ = torch._C._nn._parse_to(*rest, **kwargs)
    there = lies_there(tensor) if device is None else device.type == "cuda"
    made = tensor if dtype is None else tensor.to(dtype)
    if made is tensor and (copy or there != lies_there(tensor)):
        made = tensor.clone()
    return mark(made, there)


def parameter(cls: type[nn.Parameter], data: Tensor, requires_grad: bool = True) -> Tensor:
    """A parameter, which lies where its data does."""
    return mark(NEW_PARAMETER(cls, data, requires_grad), lies_there(data))


@contextmanager
def fake_gpu() -> Iterator[None]:
    """A GPU is there: ``fit`` trains on it."""
    from accelerate import Accelerator

    with ExitStack() as stack:
        stack.enter_context(patch.object(Accelerator, "device", GPU))
        stack.enter_context(patch.object(nn.Parameter, "__new__", parameter))
        stack.enter_context(patch.object(torch.cuda, "get_rng_state", lambda device=None: torch.get_rng_state()))
        stack.enter_context(patch.object(torch.cuda, "set_rng_state", lambda state, device=None: None))
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", "(?i).*cuda is not available")
        warnings.filterwarnings("ignore", ".*without cuDNN")
        stack.enter_context(FakeGPU())
        yield
