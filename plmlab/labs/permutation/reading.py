"""Run a two-stream model on a sentence, in one factorization order or in a batch of many."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, Example
from plmlab.interpret.readable import OurModel, inference, readable
from plmlab.models.registry import architecture_of
from plmlab.objectives.layouts import plm_input
from plmlab.objectives.permuted import predict_all_in_order, with_leak
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask
from plmlab.weights import device_of


def example(ids: Sequence[int], order: Sequence[int], vocab: Vocabulary, *, leak: bool = False) -> Example:
    """An example in which all words ``ids`` are targets, in the given order; with ``leak``, each target can attend to
    itself."""
    plain = predict_all_in_order(order, ids, vocab=vocab)
    return with_leak(plain) if leak else plain


def in_orders(ids: Sequence[int], orders: Sequence[Sequence[int]], vocab: Vocabulary, *, leak: bool = False,
              ) -> Batch:
    """A batch that contains one sentence in many orders, one row per order."""
    one = example(ids, orders[0], vocab)
    rank = ranks(orders, len(one.tokens))
    known = rank[:, None, :] <= rank[:, :, None]
    before = rank[:, None, :] < rank[:, :, None]

    def rows(positions: Int[Tensor, "time"]) -> Int[Tensor, "batch time"]:
        return positions.expand(len(orders), -1)

    return Batch(rows(one.tokens), one.position_ids[None], rows(one.segments), AttentionMask(pairs=known),
                 rows(one.targets), query_stream_mask=AttentionMask(pairs=known if leak else before))


def ranks(orders: Sequence[Sequence[int]], time: int) -> Int[Tensor, "batch time"]:
    """The rank of each position in each order; the positions after the words, [SEP] and [CLS], have the lowest
    ranks."""
    first = list(range(len(orders[0]), time))
    return torch.tensor([[*first, *order] for order in orders]).argsort(1)


def logits_of(model: nn.Module, batch: Batch) -> Float[Tensor, "batch time vocab"]:
    """The model's logits at each position, on the CPU."""
    with inference(model):
        return readable(model).logits(batch.to(device_of(model))).cpu()


def surprisals(model: nn.Module, batch: Batch) -> Float[Tensor, "batch time"]:
    """−log p of the target at each position, in nats; 0 at positions without a target."""
    return F.cross_entropy(logits_of(model, batch).transpose(1, 2), batch.targets, ignore_index=IGNORE,
                           reduction="none")


def check_two_streams(model: nn.Module, tokenizer: Tokenizer, name: str = "model") -> None:
    """Check that a model has a query stream and matches the tokenizer. Raises ValueError otherwise."""
    reads = readable(model)
    if reads.vocab is None or len(tokenizer) > reads.vocab:
        known = "no" if reads.vocab is None else f"{reads.vocab:,}"
        raise ValueError(f"{name} has a vocabulary of {known} tokens, but the tokenizer has {len(tokenizer):,}: does "
                         "the tokenizer belong to another model?")
    ours = isinstance(reads, OurModel) and reads.names_tokens
    if not (ours and architecture_of(model).cloze_input is plm_input):
        raise ValueError(f"{name} is a {type(model).__name__}, which has no query stream and so cannot predict words "
                         "in any order. Give an XLNetPretraining")
