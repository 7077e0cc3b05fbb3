"""EaE and BERT on the statements of a world, and how each fills in a masked entity (Févry et al. 2020)."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.batches import collate
from plmlab.example import Batch
from plmlab.mentions import Mentions
from plmlab.models.bert import BERTConfig, MaskedLM
from plmlab.models.eae import EaEConfig, EaEPretraining
from plmlab.objectives.entity_mentions import entity_mentions
from plmlab.objectives.masked import always_mask
from plmlab.train import History, fit
from plmlab.world.datasets.linked_statements import EntityCloze, Statements

SIZE: dict[str, Any] = {"time": 48, "layers": 2, "model": 64, "heads": 4, "dropout": 0.0, "attention_dropout": 0.0}
INNER, ENTITY_WIDTH, TOP_K = 256, 64, 100
ENTITY_STD = 0.2
"""Standard deviation of the initial entity vectors. With BERT's 0.02, the attention to the entities is uniform at
first, and so small a model takes long to leave this state."""


def eae(data: Statements, kind: type[EaEPretraining] = EaEPretraining) -> EaEPretraining:
    """An EaE with one entity vector per named entity of the world, with random weights."""
    return kind(EaEConfig(**SIZE, vocab=len(data.tokenizer), inner=INNER, entities=len(data.ids),
                          entity_width=ENTITY_WIDTH, entity_std=ENTITY_STD, top_k=TOP_K))


def bert(data: Statements, inner: int = INNER) -> MaskedLM:
    """A BERT of the same layers without a memory, whose feed-forward layers have the width ``inner``."""
    return MaskedLM(BERTConfig(**SIZE, vocab=len(data.tokenizer), inner=inner))


def train(model: nn.Module, data: Statements, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train on the statements; ``options`` are passed to `fit`."""
    return fit(model, data.batches(seed), steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)


def masked_batch(data: Statements, clozes: Sequence[EntityCloze]) -> tuple[Batch, Mentions]:
    """The clozes as a batch without labels, in which EaE has to detect the mentions itself; and the masked mentions."""
    batch = collate([entity_mentions(cloze.text.text, vocab=data.tokenizer.vocab, rng=Random(0),
                                     select=[cloze.mention], corrupt=always_mask) for cloze in clozes],
                    data.tokenizer.vocab.need("pad"))
    assert isinstance(batch, Batch)
    first, end = (1 + torch.tensor([cloze.span for cloze in clozes])).unbind(1)
    return replace(batch, labels={}), Mentions(torch.arange(len(clozes)), first, end - 1)


def name_logprobs(logits: Float[Tensor, "mention time vocab"], masked: Mentions, names: Sequence[Sequence[int]],
                  ) -> Float[Tensor, "mention entity"]:
    """The sum of log p(token) over the tokens of each entity's name at the masked positions; −∞ for a name with another
    number of tokens."""
    logprobs, lengths = logits.log_softmax(-1), torch.tensor([len(name) for name in names])
    sums = logits.new_zeros(len(masked), len(names))
    for i in range(int(lengths.max())):
        tokens = torch.tensor([name[min(i, len(name) - 1)] for name in names])
        at = (masked.first + i).clamp(max=logits.shape[1] - 1)
        sums += logprobs[masked.rows, at][:, tokens] * (i < lengths)
    return sums.masked_fill((masked.last - masked.first + 1)[:, None] != lengths, -torch.inf)


@torch.no_grad()
def predictions(model: Any, data: Statements, clozes: Sequence[EntityCloze]) -> dict[str, Int[Tensor, "mention"]]:
    """The predicted entity of each cloze, in each way that a model has: the most probable of all ``names`` with this
    number of tokens and, with EntityPred, the most probable of all ``entities``."""
    batch, masked = masked_batch(data, clozes)
    hidden = model.eval().encoder(batch)
    found = {"names": name_logprobs(model.token_logits(hidden), masked, data.names).argmax(1)}
    return found | ({"entities": model.entity_logits(hidden, masked).argmax(1)}
                    if hasattr(model, "entity_logits") else {})


def accuracies(model: Any, data: Statements, clozes: Sequence[EntityCloze]) -> dict[str, float]:
    """The fraction of correct entities in each way of `predictions`."""
    gold = torch.tensor([cloze.entity for cloze in clozes])
    return {way: (found == gold).double().mean().item()
            for way, found in predictions(model, data, clozes).items()}
