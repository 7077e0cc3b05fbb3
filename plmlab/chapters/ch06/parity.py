"""The models that the notebook of chapter 06 builds, compared with PyTorch's layers and with plmlab's Transformer."""

from typing import Any

import torch
from torch import Tensor, nn

from plmlab.example import PairBatch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

PARTS = (("attention.", "attention."), ("cross_attention.", "cross_attention."), ("up.", "feed_forward.up."),
         ("down.", "feed_forward.down."), ("norm1.", "attention_residual.norm."),
         ("norm2.", "feed_forward_residual.norm."), ("norm3.", "cross_attention_residual.norm."))
"""Names of a layer's parts in the notebook, and in plmlab."""


def copy_attention(own: Any, theirs: nn.MultiheadAttention) -> None:
    """Copy the weights of PyTorch's attention, whose three input projections are one matrix."""
    rows = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for part, weight, bias in zip((own.q, own.k, own.v), *rows, strict=True):
        part.load_state_dict({"weight": weight, "bias": bias})
    own.out.load_state_dict(theirs.out_proj.state_dict())


def copy_layer(own: Any, theirs: Any) -> None:
    """Copy the weights of an `nn.TransformerEncoderLayer` or an `nn.TransformerDecoderLayer`."""
    copy_attention(own.attention, theirs.self_attn)
    names = {"up": "linear1", "down": "linear2", "norm1": "norm1", "norm2": "norm2"}
    if isinstance(theirs, nn.TransformerDecoderLayer):
        copy_attention(own.cross_attention, theirs.multihead_attn)
        names |= {"norm2": "norm3", "norm3": "norm2"}
    for name, their_name in names.items():
        getattr(own, name).load_state_dict(getattr(theirs, their_name).state_dict())


def copy_transformer(own: nn.Module, theirs: nn.Module) -> None:
    """Copy the weights of a `plmlab.models.transformer.Transformer` into the notebook's encoder–decoder."""
    weights = theirs.state_dict()
    own.load_state_dict({name: weights[plmlab_name(name)] for name in own.state_dict()})


def plmlab_name(name: str) -> str:
    """The name in plmlab of a parameter of the notebook's encoder–decoder."""
    side, *rest = name.split(".", 2)
    if side == "token":
        return name
    layer, part = rest
    own, theirs = next(pair for pair in PARTS if part.startswith(pair[0]))
    return f"{side}.layers.{layer}.{theirs}{part.removeprefix(own)}"


@torch.no_grad()
def perturb(*modules: nn.Module) -> None:
    """Add noise to every parameter, because layer norms are all equal at initialization and swapping two of them would
    have no effect."""
    for module in modules:
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))


def attention_equal(multihead_class: Any) -> dict[str, bool]:
    """Compare cross-attention under a mask with ``nn.MultiheadAttention`` and with plmlab's, with the same weights."""
    own, torchs = multihead_class(32, heads=4), nn.MultiheadAttention(32, 4, batch_first=True)
    perturb(torchs)  # also the biases, which are 0 at initialization
    copy_attention(own, torchs)
    plmlabs = MultiHeadAttention(32, heads=4)
    plmlabs.load_state_dict(own.state_dict())
    x, y, attn_mask = torch.randn(2, 5, 32), torch.randn(2, 7, 32), torch.ones(5, 7, dtype=torch.bool).tril(2)
    out = own(x, y, attn_mask)
    expected, _ = torchs(x, y, y, attn_mask=~attn_mask)
    return {"PyTorch's": _close(out, expected),
            "plmlab's": _close(out, plmlabs(x, AttentionMask(pairs=attn_mask.expand(2, -1, -1)), y))}


def layers_equal(encoder_class: Any, decoder_class: Any) -> dict[str, bool]:
    """Compare layers with the same weights as ``nn.TransformerEncoderLayer`` and ``nn.TransformerDecoderLayer``, the
    latter with a causal mask; and the decoder layer again with two norms swapped, which must differ."""
    sizes = {"d_model": 32, "nhead": 4, "dim_feedforward": 64, "dropout": 0.0, "batch_first": True}
    torch_encoder = nn.TransformerEncoderLayer(**sizes)  # type: ignore[arg-type]
    torch_decoder = nn.TransformerDecoderLayer(**sizes)  # type: ignore[arg-type]
    perturb(torch_encoder, torch_decoder)
    encoder, decoder = encoder_class(32, 4, 64), decoder_class(32, 4, 64)
    copy_layer(encoder, torch_encoder)
    copy_layer(decoder, torch_decoder)
    x, memory, causal = torch.randn(2, 5, 32), torch.randn(2, 7, 32), torch.ones(5, 5, dtype=torch.bool).tril()
    expected = torch_decoder(x, memory, tgt_mask=~causal)
    found = {"encoder layer": _close(encoder(memory), torch_encoder(memory)),
             "decoder layer": _close(decoder(x, memory, causal), expected)}
    decoder.norm2.load_state_dict(torch_decoder.norm2.state_dict())
    return found | {"two norms swapped": _close(decoder(x, memory, causal), expected)}


def transformers_equal(transformer_class: Any) -> dict[str, bool]:
    """Compare an encoder–decoder with plmlab's, with the same weights, on a padded batch; a row of the batch with the
    same text without padding; and the outputs with padding replaced by words, which must differ."""
    vocab, pairs = Vocabulary(60), [([40, 41, 42], [43, 44]), ([45], [46, 47, 48, 49]), ([50, 51, 52, 53, 54], [55])]
    pad = vocab.need("pad")
    reference = Transformer(TransformerConfig(vocab.size, layers=2, model=32, heads=4, inner=64, dropout=0.0)).eval()
    perturb(reference)
    own = transformer_class(vocab.size, layers=2, model=32, heads=4, inner=64)
    copy_transformer(own, reference)
    batch = PairBatch.of([sequence_to_sequence(*pair, vocab=vocab) for pair in pairs], pad=pad)
    one = PairBatch.of([sequence_to_sequence(*pairs[1], vocab=vocab)], pad=pad)
    source, target, real = batch.source.tokens, batch.target.tokens, batch.targets >= 0
    expected, alone = reference(batch)[real], own(one.source.tokens, one.target.tokens)[0]
    return {"padded batch": _close(own(source, target)[real], expected),
            "without padding": _close(own(source, target)[1, :len(alone)], alone),
            "padding replaced by words": _close(own(source.masked_fill(source == pad, 59), target)[real], expected)}


def _close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, atol=1e-5)
