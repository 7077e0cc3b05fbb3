"""Hook points for models of ``transformers``, named as in our models, for recording and changing activations.

Inside the context manager `hook_hf_model`, this module computes the model's attention, passing it through the
`HookPoint`s of each attention module; on exit the model is restored.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.hf.layouts import GPT1, LAYOUTS, Stack
from plmlab.layers.attention import masked_softmax
from plmlab.layers.hooks import HookPoint

NAME = "plmlab_points"
Mask = Bool[Tensor, "#batch #head query key"] | Float[Tensor, "#batch #head query key"] | None


class AttentionPoints(nn.Module):
    """Attention with hook points named as in ``MultiHeadAttention``."""

    def __init__(self) -> None:
        super().__init__()
        self.queries, self.keys, self.values = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.weights, self.mixed = HookPoint(), HookPoint(), HookPoint()

    def forward(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], mask: Mask, scale: float, dropout: float,
        bias: Float[Tensor, "#batch #head query key"] | None = None,
    ) -> tuple[Float[Tensor, "batch head query width"], Float[Tensor, "batch head query key"]]:
        """Compute the output and the attention weights of each head.

        ``scale`` multiplies q·k, ``bias`` is added to the scores, ``dropout`` is the rate applied to the weights. In a
        Boolean ``mask`` True means "can attend", as in our models; a float mask is added to the scores.
        """
        q, k, v = self.queries(q), self.keys(k), self.values(v)
        scores = q @ k.transpose(-2, -1) * scale
        scores = self.scores(scores if bias is None else scores + bias)
        weights = masked_softmax(scores, mask) if mask is None or not mask.is_floating_point() \
            else (scores + mask).softmax(-1)
        weights = self.weights(weights)
        return self.mixed(F.dropout(weights, dropout) @ v), weights


LENT: "WeakKeyDictionary[nn.Module, AttentionPoints]" = WeakKeyDictionary()
"""Attention module → its hook points while its model is hooked."""

LOANS: "WeakKeyDictionary[nn.Module, dict[str, HookPoint]]" = WeakKeyDictionary()
"""Base model → its hook points by name while it is hooked; nested ``with`` blocks share them."""


@contextmanager
def hook_hf_model(model: nn.Module) -> Iterator[dict[str, HookPoint]]:
    """Context manager that adds hook points to a model of ``transformers`` and yields them by name.

    Names are relative to the base model, so that they are the same with and without a head:
    ``layers.0.attention.weights`` (``.scores``, ``.queries``, ``.keys``, ``.values``, ``.mixed``), ``layers.0.hidden``
    and ``embedded``. In an encoder–decoder they begin with ``encoder.`` or ``decoder.``, and the decoder also has
    ``cross_attention``. Raises ValueError for a model whose layout is unknown.
    """
    base, stacks = _stacks(model)
    if base in LOANS:
        yield LOANS[base]
        return
    with ExitStack() as loan:
        points: dict[str, HookPoint] = {}
        for stack in stacks:
            points |= _lend_stack(base, stack, loan)
        _switch_attention(base, loan)
        LOANS[base] = points
        loan.callback(LOANS.pop, base, None)
        yield points


def _stacks(model: nn.Module) -> tuple[Any, tuple[Stack, ...]]:
    from transformers import PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        raise ValueError(f"{type(model).__name__} has no hook points: it is neither a model of plmlab with hook points "
                         "nor a model of transformers")
    base: Any = model.base_model
    stacks = LAYOUTS.get(base.config.model_type, ())
    if not stacks or any(stack.find(base) is None for stack in stacks):
        raise ValueError(f"hook points are not supported for {type(model).__name__} of type "
                         f"{base.config.model_type!r}; give a whole model (not a part) of one of the types "
                         f"{', '.join(LAYOUTS)}")
    return base, stacks


def _lend_stack(base: nn.Module, stack: Stack, loan: ExitStack) -> dict[str, HookPoint]:
    """Add hook points to one stack of layers, between the layers and inside each attention module."""
    layers = stack.find(base) or []
    embedded = HookPoint()
    points = {f"{stack.name}embedded": embedded}
    entering = _entering(embedded)
    if layers.count(layers[0]) > 1:
        entering = _first_of_pass(base, entering, loan)
    loan.enter_context(layers[0].register_forward_pre_hook(entering, with_kwargs=True))
    lent = {layer: _lend_layer(layer, stack, loan) for layer in layers}
    for i, layer in enumerate(layers):
        points |= {f"{stack.name}layers.{i}.{name}": point for name, point in lent[layer].items()}
    return points


def _lend_layer(layer: nn.Module, stack: Stack, loan: ExitStack) -> dict[str, HookPoint]:
    """Add hook points to one layer; their names are relative to the layer."""
    points: dict[str, HookPoint] = {}
    for kind, path in stack.attention.items():
        lent = AttentionPoints()
        _hook_attention(layer.get_submodule(path), lent, loan)
        points |= {f"{kind}.{name}": p for name, p in lent.named_children() if isinstance(p, HookPoint)}
    points["hidden"] = hidden = HookPoint()
    loan.enter_context(layer.register_forward_hook(_leaving(hidden)))
    return points


def _hook_attention(attention: Any, lent: AttentionPoints, loan: ExitStack) -> None:
    """Make one attention module compute its output through the hook points in ``lent``."""
    LENT[attention] = lent
    loan.callback(LENT.pop, attention, None)
    if type(attention).__module__ == GPT1:
        attention._attn = _gpt1_attention(attention, lent)
        loan.callback(delattr, attention, "_attn")


def _entering(point: HookPoint) -> Callable[..., tuple[tuple, dict]]:
    """Make a forward pre-hook that passes a layer's input through the hook point."""
    def hook(layer: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        if args:
            return (point(args[0]), *args[1:]), kwargs
        return args, kwargs | {"hidden_states": point(kwargs["hidden_states"])}
    return hook


def _first_of_pass(base: nn.Module, hook: Callable[..., tuple[tuple, dict]], loan: ExitStack,
                   ) -> Callable[..., tuple[tuple, dict]]:
    """Make a forward pre-hook that applies ``hook`` only to the first call in each forward pass of the base model: a
    shared layer is called several times per pass, or fewer times if the pass raises an exception."""
    is_first = True

    def begin(*_: Any) -> None:
        nonlocal is_first
        is_first = True

    def entering(layer: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        nonlocal is_first
        was_first, is_first = is_first, False
        return hook(layer, args, kwargs) if was_first else (args, kwargs)

    loan.enter_context(base.register_forward_pre_hook(begin))
    return entering


def _leaving(point: HookPoint) -> Callable[..., Any]:
    """Make a forward hook that passes a layer's output, a tensor or the first of several outputs, through the hook
    point."""
    def hook(layer: nn.Module, args: tuple, output: Any) -> Any:
        if isinstance(output, Tensor):
            return point(output)
        return type(output)([point(output[0]), *output[1:]])
    return hook


def _switch_attention(base: nn.Module, loan: ExitStack) -> None:
    """Make ``transformers`` call `attend`, with Boolean masks, in every submodule of the model."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, _explicit_mask)
    configs: list[Any] = [part.config for part in base.modules() if hasattr(part, "config")]
    for config in {id(config): config for config in configs}.values():
        loan.callback(setattr, config, "_attn_implementation", config._attn_implementation)
        config._attn_implementation = NAME


def attend(
    module: nn.Module, query: Float[Tensor, "batch head query width"], key: Float[Tensor, "batch head key width"],
    value: Float[Tensor, "batch head key width"], attention_mask: Mask, scaling: float | None = None,
    dropout: float = 0.0, position_bias: Float[Tensor, "#batch #head query key"] | None = None, **_: Any,
) -> tuple[Float[Tensor, "batch query head width"], Float[Tensor, "batch head query key"]]:
    """Attention function for ``transformers`` that passes activations through the hook points of ``module``.

    The arguments are those of `AttentionPoints.forward`; ``scaling`` is 1/√width if None.
    """
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    mixed, weights = LENT[module](query, key, value, attention_mask, scale, dropout, position_bias)
    return mixed.transpose(1, 2).contiguous(), weights


def _explicit_mask(*args: Any, **kwargs: Any) -> Bool[Tensor, "batch 1 query key"] | None:
    """The Boolean mask, materialized even where a fused kernel could use ``is_causal`` instead."""
    from transformers.masking_utils import sdpa_mask

    return sdpa_mask(*args, **{**kwargs, "allow_is_causal_skip": False})


def _gpt1_attention(module: Any, lent: AttentionPoints) -> Callable[..., list[Tensor]]:
    """Make a replacement for GPT-1's own attention function, which takes its causal mask from a buffer."""
    def attention(q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor | None = None,
                  output_attentions: bool = False) -> list[Tensor]:
        causal = module.bias[:, :, :q.shape[-2], :k.shape[-1]].bool()
        mask = causal if attention_mask is None else causal & (attention_mask > -1)
        dropout = module.attn_dropout.p if module.training else 0.0
        mixed, weights = lent(q, k.transpose(-2, -1), v, mask, q.shape[-1] ** -0.5, dropout)
        return [mixed, weights] if output_attentions else [mixed]
    return attention
