"""The checklist applied to the study note and to three papers of this course. All results are computed."""

from functools import cache, partial
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab.chapters.ch19 import cost, information, normalization, reproducibility
from plmlab.chapters.ch19.equations import NOTE, PAPERS, check_shapes
from plmlab.chapters.ch19.finding import Finding
from plmlab.example import Batch, PairBatch
from plmlab.layers.attention import MultiHeadAttention, masked_softmax
from plmlab.layers.slow_attention import SlowAttention
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.dual_encoder import DualEncoder, DualEncoderConfig
from plmlab.models.fat import FAT, FATConfig
from plmlab.models.realm import REALM
from plmlab.models.speed_transformer import SpeedTransformer
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.models.xlnet import XLNet, XLNetConfig, XLNetPretraining
from plmlab.objectives import sequence_to_sequence
from plmlab.objectives.permuted import permuted, with_leak
from plmlab.objectives.reader_inputs import reader_input
from plmlab.retrieval.retrieved import Retrieved
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(60)
SIZE: dict[str, Any] = {"vocab": 60, "layers": 2, "model": 8, "heads": 2, "inner": 12, "dropout": 0.0}
LARGE = XLNetConfig(vocab=32_000, layers=24, model=1024, heads=16, inner=4096)
"""XLNet-Large."""
SOURCE, TARGET, OTHER = (41, 45, 47, 52), (45, 50, 41, 51), 55
"""A source and its target, of which two tokens occur in the source, and a token that occurs in neither."""


def scattered(kind: Any, config: Any) -> nn.Module:
    """A model in float64 with random weights so large that every visible token changes the output."""
    generator = torch.Generator().manual_seed(0)
    model: nn.Module = kind(config).double().eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.8, generator=generator)
    return model


def pair() -> PairBatch:
    """The batch of one source and its target."""
    return PairBatch.of([sequence_to_sequence(SOURCE, TARGET, vocab=VOCAB)], pad=0)


def target_leaks(claim: str, kind: Any, config: Any, causal: bool = True, repair: str = "–") -> Finding:
    """The finding on leaks from the target of an encoder–decoder."""
    logits = information.of_target(scattered(kind, config), pair(), causal)
    return information.check_leaks(claim, information.dependence(logits, pair().target.tokens[0], OTHER), repair)


@cache
def audit_note() -> tuple[Finding, ...]:
    """The findings on the study note."""
    fat, bert_size = FATConfig(**SIZE), {"vocab": 30_522, "layers": 12, "model": 768, "heads": 12, "inner": 3072}
    unknown = "the note states neither layers nor widths"
    return (
        *map(check_shapes, NOTE), *normalization.note_findings(),
        target_leaks("§3.3, softmax over all positions, no mask", FAT, fat, causal=False, repair="a causal mask"),
        target_leaks("FAT with a causal mask", FAT, fat),
        target_leaks("§3.2, skipped positions", SpeedTransformer, fat),
        *information.check_sample("a very short text"),
        cost.check_slope("§2.3, both modules are O(n²)", partial(cost.attention_operations, SlowAttention), 2,
                         open="in which sense O(n²) is \"fast\" (title) and \"slow\" (§2.3)"),
        cost.check_factor("§5.2, its modules need little computation", SlowAttention),
        cost.check_fewer("§5.2, fewer than BERT, at BERT's size", partial(FAT, FATConfig(**bert_size)), unknown),
        cost.check_fewer("§5.2, fewer than BERT, 6 layers of width 512", partial(FAT, FATConfig.base()), unknown),
        *reproducibility.note_findings())


@cache
def audit_attention() -> tuple[Finding, ...]:
    """The findings on Vaswani et al. 2017."""
    layer = scattered(partial(MultiHeadAttention, heads=2), 8)
    return (*map(check_shapes, PAPERS["attention"]), causal_weights(),
            target_leaks("§3.1, no position attends to a later one", Transformer, TransformerConfig(**SIZE)),
            cost.check_slope("table 1, self-attention is O(n²·d)",
                             partial(cost.attention_operations, MultiHeadAttention), 2),
            cost.check_parameters("table 3, base model", partial(Transformer, TransformerConfig.base()), 65.0,
                                  open="§5.1 gives \"about 37,000\" tokens, which do not give 65 M"),
            same_as_torch(layer, nn.MultiheadAttention(8, 2, batch_first=True).double()))


def causal_weights() -> Finding:
    """The finding on masked attention weights."""
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    return normalization.check_weights("§3.2.3, −∞ before the softmax", masked_softmax(
        scores, torch.ones(4, 4, dtype=torch.bool).tril()))


@torch.no_grad()
def same_as_torch(ours: Any, theirs: nn.MultiheadAttention) -> Finding:
    """The finding on whether two implementations of multi-head attention agree, with the same weights."""
    x = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in (ours.q, ours.k, ours.v)]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in (ours.q, ours.k, ours.v)]))
    theirs.out_proj.load_state_dict(ours.out.state_dict())
    difference = float((ours(x, AttentionMask()) - theirs(x, x, x, need_weights=False)[0]).abs().max())
    return Finding("reproducibility", "two implementations agree", f"largest difference {difference:.0e}"
                   if difference > 1e-9 else "equal to torch.nn.MultiheadAttention", difference < 1e-9)


@cache
def audit_xlnet() -> tuple[Finding, ...]:
    """The findings on Yang et al. 2019. The factorization order is 2, 0, 3, 1, then [SEP] and [CLS]."""
    order, model = [2, 0, 3, 1, 4, 5], scattered(XLNetPretraining, XLNetConfig(**SIZE))

    def in_order(leaking: bool) -> Finding:
        example = permuted(SOURCE, vocab=VOCAB, rng=Random(0), order=order, predict=range(4))
        batch = Batch.of([with_leak(example) if leaking else example], pad=0)
        depends = information.dependence(lambda tokens: model(type(batch)(**vars(batch) | {"tokens": tokens[None]}))[0],
                                         batch.tokens[0], OTHER)
        claim = "control: the content stream's mask for both" if leaking else "§2.3, g does not see its own token"
        return information.check_leaks(claim, depends[order][:, order][:4, :4], "the query stream's mask" if leaking
                                       else "–", shift=0)

    first = masked_softmax(torch.zeros(1, 1, 4), torch.zeros(1, 1, 4, dtype=torch.bool))
    return (*map(check_shapes, PAPERS["XLNet"]), in_order(False), in_order(True),
            normalization.check_weights("§2.3, weights of the first target in the order", first, "zeros",
                                        "the paper does not define attention to an empty context"),
            cost.check_parameters("§3.1, large: a size similar to BERT-large", partial(XLNet, LARGE),
                                  cost.parameters(partial(BERT, BERTConfig.large())) / 1e6, within=0.1))


@cache
def audit_realm() -> tuple[Finding, ...]:
    """The findings on Guu et al. 2020."""
    generator = torch.Generator().manual_seed(0)
    scores = 2 * torch.randn(3, 50, generator=generator)
    top = Retrieved(scores.topk(8).indices, scores.topk(8).values).probs()
    outside = 1 - scores.softmax(1).topk(8).values.sum(1).min()
    example = reader_input((41, 45, 47), (45, 47, 52), vocab=VOCAB, rng=Random(0), hidden=[1])
    inside = int(example.targets.max()) in example.tokens.tolist()
    return (*map(check_shapes, PAPERS["REALM"]),
            normalization.check_weights("§3.3, softmax over the 8 best documents", top),
            Finding("normalization", "§3.3, the 8 best stand for the sum over all",
                    f"up to {100 * float(outside):.0f} % of p(z|x) is outside", float(outside) < 0.01,
                    open="random scores; a trained retriever is more certain"),
            Finding("information", "§3.4, a text's own document contains the answer",
                    f"the masked token is {'' if inside else 'not '}in the reader's input", inside,
                    "none: the paper excludes this document"),
            cost.check_parameters("table 1, two embedders and a reader", two_embedders, 330.0),
            cost.check_parameters("table 1, with one embedder as in this course",
                                  partial(REALM, DualEncoderConfig.base()), 330.0,
                                  open="the authors' code shares the embedder, too"))


def two_embedders() -> nn.ModuleList:
    """REALM's base model with separate embedders for queries and documents, as in the paper's §3.1."""
    config = DualEncoderConfig.base()
    return nn.ModuleList([DualEncoder(config), DualEncoder(config), BERTPretraining(config.encoder)])
