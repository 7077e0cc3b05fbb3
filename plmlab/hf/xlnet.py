"""Weight mapping between our XLNet and that of ``transformers``, whose projections have a separate axis for the
heads."""

from typing import TYPE_CHECKING, Any

from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, rearranged, require
from plmlab.models.xlnet import XLNet, XLNetConfig, XLNetPretraining

if TYPE_CHECKING:
    from transformers import XLNetConfig as TheirConfig


def encoder_links(size: XLNetConfig) -> list[Link]:
    """Links of the weights of the embeddings, the initial query vector and the layers.

    In the sinusoidal encoding of a distance, ``transformers`` has all sines before all cosines; in our model they
    alternate.
    """
    into = rearranged("model head width -> (head width) model", head=size.heads)
    out_of = rearranged("model head width -> model (head width)", head=size.heads)
    of_sinusoids = rearranged("(wave half) head width -> (head width) (half wave)", head=size.heads, wave=2)
    links = [
        Link("embeddings.token.weight", "transformer.word_embedding.weight"),
        Link("query", "transformer.mask_emb", rearranged("1 1 model -> model")),
    ]
    for i in range(size.layers):
        ours, theirs = f"layers.{i}", f"transformer.layer.{i}"
        links += [
            *(Link(f"{ours}.attention.{name}.weight", f"{theirs}.rel_attn.{name}", into) for name in "qkv"),
            Link(f"{ours}.attention.r.weight", f"{theirs}.rel_attn.r", of_sinusoids),
            Link(f"{ours}.attention.out.weight", f"{theirs}.rel_attn.o", out_of),
            Link(f"{ours}.attention.content_bias", f"{theirs}.rel_attn.r_w_bias"),
            Link(f"{ours}.attention.position_bias", f"{theirs}.rel_attn.r_r_bias"),
            Link(f"{ours}.attention.segment_bias", f"{theirs}.rel_attn.r_s_bias"),
            Link(f"{ours}.attention.segments", f"{theirs}.rel_attn.seg_embed"),
            *affine(f"{ours}.attention_residual.norm", f"{theirs}.rel_attn.layer_norm"),
            *affine(f"{ours}.feed_forward.up", f"{theirs}.ff.layer_1"),
            *affine(f"{ours}.feed_forward.down", f"{theirs}.ff.layer_2"),
            *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.ff.layer_norm"),
        ]
    return links


def our_size(config: "TheirConfig") -> XLNetConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support. Without ``mem_len`` the memory is unlimited, as in ``transformers``."""
    limits = {"clamp_len": -1, "reuse_len": None}
    require(config, attn_type="bi", bi_data=False, same_length=False, untie_r=True, ff_activation="gelu",
            tie_word_embeddings=True,
            **{name: none for name, none in limits.items() if (getattr(config, name) or 0) > 0})
    return XLNetConfig(
        vocab=config.vocab_size, layers=config.n_layer, model=config.d_model, heads=config.n_head,
        inner=config.d_inner, dropout=config.dropout, eps=config.layer_norm_eps,
        memory=config.mem_len or (None if config.use_mems_eval else 0),
    )


def their_size(ours: XLNetConfig, **more: Any) -> "TheirConfig":
    """Convert our configuration to that of ``transformers``; ``more`` holds additional arguments."""
    from transformers import XLNetConfig as TheirConfig

    return TheirConfig(
        vocab_size=ours.vocab, n_layer=ours.layers, d_model=ours.model, n_head=ours.heads, d_inner=ours.inner,
        dropout=ours.dropout, summary_last_dropout=ours.dropout, layer_norm_eps=ours.eps, mem_len=ours.memory,
        use_mems_eval=ours.memory != 0, pad_token_id=None, bos_token_id=None, eos_token_id=None, **more,
    )


XLNETS = Family(
    XLNet, XLNetPretraining, ("XLNetModel", "XLNetLMHeadModel"), "encoder", our_size, their_size, encoder_links,
    pooler=affine("pooler", "sequence_summary.summary"),
    head=[Link("bias", "lm_loss.bias")],
    others=[],
    tied=[Link("encoder.embeddings.token.weight", "lm_loss.weight")],
)
