"""Hook points in a model of ``transformers``, under the names of our own: it can be watched and intervened in.

While `hook_hf_model` lasts, the model's attention is computed here, through `HookPoint`s of the module that calls;
afterwards the model is as it was.
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
    """The hook points of one attention module, and the attention through them; named as in ``MultiHeadAttention``."""

    def __init__(self) -> None:
        super().__init__()
        self.queries, self.keys, self.values = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.weights, self.mixed = HookPoint(), HookPoint(), HookPoint()

    def forward(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], mask: Mask, scale: float, dropout: float,
        bias: Float[Tensor, "#batch #head query key"] | None = None,
    ) -> tuple[Float[Tensor, "batch head query width"], Float[Tensor, "batch head query key"]]:
        """What each head gives, and its attention weights.

        ``scale`` multiplies q·k, ``bias`` is added to the scores, ``dropout`` is the rate for the weights. A ``mask``
        of truth values says who may look, as ours do; one of numbers is added to the scores.
        """
        q, k, v = self.queries(q), self.keys(k), self.values(v)
        scores = q @ k.transpose(-2, -1) * scale
        scores = self.scores(scores if bias is None else scores + bias)
        weights = masked_softmax(scores, mask) if mask is None or not mask.is_floating_point() \
            else (scores + mask).softmax(-1)
        weights = self.weights(weights)
        return self.mixed(F.dropout(weights, dropout) @ v), weights


LENT: "WeakKeyDictionary[nn.Module, AttentionPoints]" = WeakKeyDictionary()
"""Attention module → its hook points, for as long as its model is hooked."""

LOANS: "WeakKeyDictionary[nn.Module, dict[str, HookPoint]]" = WeakKeyDictionary()
"""Base model → its hook points by name, for as long as it is hooked: one ``with`` inside another shares them."""


@contextmanager
def hook_hf_model(model: nn.Module) -> Iterator[dict[str, HookPoint]]:
    """Give a model of ``transformers`` hook points, by name, for as long as the ``with`` lasts.

    Names count from the base model, so that a model has the same with and without a head:
    ``layers.0.attention.weights`` (``.scores``, ``.queries``, ``.keys``, ``.values``, ``.mixed``), ``layers.0.hidden``
    and ``embedded``; of an encoder-decoder, behind ``encoder.`` or ``decoder.``, where there is also
    ``cross_attention``. A ValueError for a model whose parts are not known here.
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
        raise ValueError(f"a {type(model).__name__} has no points to watch: it is neither a model of plmlab that "
                         "names some, nor a model of transformers")
    base: Any = model.base_model
    stacks = LAYOUTS.get(base.config.model_type, ())
    if not stacks or any(stack.find(base) is None for stack in stacks):
        raise ValueError(f"a {type(model).__name__} of type {base.config.model_type!r} cannot be looked into; these "
                         f"types can: {', '.join(LAYOUTS)} (the whole model, not a part of it)")
    return base, stacks


def _lend_stack(base: nn.Module, stack: Stack, loan: ExitStack) -> dict[str, HookPoint]:
    """The hook points of one stack of layers: for what passes between the layers, and inside each attention."""
    layers = list(stack.find(base) or ())
    embedded = HookPoint()
    points = {f"{stack.name}embedded": embedded}
    loan.enter_context(layers[0].register_forward_pre_hook(_entering(embedded), with_kwargs=True))
    for i, layer in enumerate(layers):
        prefix = f"{stack.name}layers.{i}."
        for kind, path in stack.attention.items():
            lent = AttentionPoints()
            _place(layer.get_submodule(path), lent, loan)
            points |= {f"{prefix}{kind}.{name}": p for name, p in lent.named_children() if isinstance(p, HookPoint)}
        points[f"{prefix}hidden"] = hidden = HookPoint()
        loan.enter_context(layer.register_forward_hook(_leaving(hidden)))
    return points


def _place(attention: Any, lent: AttentionPoints, loan: ExitStack) -> None:
    """Let one attention module compute through these hook points."""
    LENT[attention] = lent
    loan.callback(LENT.pop, attention, None)
    if type(attention).__module__ == GPT1:
        attention._attn = _gpt1_attention(attention, lent)
        loan.callback(delattr, attention, "_attn")


def _entering(point: HookPoint) -> Callable[..., tuple[tuple, dict]]:
    """Let what the first layer reads pass through the hook point."""
    def hook(layer: nn.Module, given: tuple, named: dict) -> tuple[tuple, dict]:
        if given:
            return (point(given[0]), *given[1:]), named
        return given, named | {"hidden_states": point(named["hidden_states"])}
    return hook


def _leaving(point: HookPoint) -> Callable[..., Any]:
    """Let what a layer gives pass through the hook point; some give it alone, some as the first of several."""
    def hook(layer: nn.Module, given: tuple, output: Any) -> Any:
        if isinstance(output, Tensor):
            return point(output)
        return type(output)([point(output[0]), *output[1:]])
    return hook


def _switch_attention(base: nn.Module, loan: ExitStack) -> None:
    """Have ``transformers`` call `attend`, with masks of truth values, in every part of the model."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, _written_mask)
    configs: list[Any] = [part.config for part in base.modules() if hasattr(part, "config")]
    for config in {id(config): config for config in configs}.values():
        loan.callback(setattr, config, "_attn_implementation", config._attn_implementation)
        config._attn_implementation = NAME


def attend(
    module: nn.Module, query: Float[Tensor, "batch head query width"], key: Float[Tensor, "batch head key width"],
    value: Float[Tensor, "batch head key width"], attention_mask: Mask, scaling: float | None = None,
    dropout: float = 0.0, position_bias: Float[Tensor, "#batch #head query key"] | None = None, **_: Any,
) -> tuple[Float[Tensor, "batch query head width"], Float[Tensor, "batch head query key"]]:
    """The attention function that ``transformers`` calls for ``module``, computed through the module's hook points.

    The arguments are those of `AttentionPoints.forward`; ``scaling`` is 1/√width if None.
    """
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    mixed, weights = LENT[module](query, key, value, attention_mask, scale, dropout, position_bias)
    return mixed.transpose(1, 2).contiguous(), weights


def _written_mask(*args: Any, **kwargs: Any) -> Bool[Tensor, "batch 1 query key"] | None:
    """The mask of truth values, written down even where a fused kernel would know that it is causal."""
    from transformers.masking_utils import sdpa_mask

    return sdpa_mask(*args, **{**kwargs, "allow_is_causal_skip": False})


def _gpt1_attention(module: Any, lent: AttentionPoints) -> Callable[..., list[Tensor]]:
    """GPT-1's attention has a function of its own, which knows that it is causal by a buffer."""
    def attention(q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor | None = None,
                  output_attentions: bool = False) -> list[Tensor]:
        before = module.bias[:, :, :q.shape[-2], :k.shape[-1]].bool()
        mask = before if attention_mask is None else before & (attention_mask > -1)
        dropout = module.attn_dropout.p if module.training else 0.0
        mixed, weights = lent(q, k.transpose(-2, -1), v, mask, q.shape[-1] ** -0.5, dropout)
        return [mixed, weights] if output_attentions else [mixed]
    return attention
