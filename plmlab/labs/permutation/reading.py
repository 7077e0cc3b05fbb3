"""A model of two streams that is asked for the words of a sentence, in one order or in many at once."""

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
    """The words ``ids``, each to be said, in an order of their places; with a ``leak`` each sees itself."""
    made = predict_all_in_order(order, ids, vocab=vocab)
    return with_leak(made) if leak else made


def in_orders(ids: Sequence[int], orders: Sequence[Sequence[int]], vocab: Vocabulary, *, leak: bool = False,
              ) -> Batch:
    """One sentence in many orders, a row each: the batch of their examples."""
    one = example(ids, orders[0], vocab)
    rank = ranks(orders, len(one.tokens))
    known = rank[:, None, :] <= rank[:, :, None]
    before = rank[:, None, :] < rank[:, :, None]

    def rows(positions: Int[Tensor, "time"]) -> Int[Tensor, "batch time"]:
        return positions.expand(len(orders), -1)

    return Batch(rows(one.tokens), one.position_ids[None], rows(one.segments), AttentionMask(pairs=known),
                 rows(one.targets), query_stream_mask=AttentionMask(pairs=known if leak else before))


def ranks(orders: Sequence[Sequence[int]], time: int) -> Int[Tensor, "batch time"]:
    """The place of each position in each order; the positions that an order does not name, behind the others, come
    first."""
    first = list(range(len(orders[0]), time))
    return torch.tensor([[*first, *order] for order in orders]).argsort(1)


def logits_of(model: nn.Module, batch: Batch) -> Float[Tensor, "batch time vocab"]:
    """What a model says at each position, on the CPU."""
    with inference(model):
        return readable(model).logits(batch.to(device_of(model))).cpu()


def surprisals(model: nn.Module, batch: Batch) -> Float[Tensor, "batch time"]:
    """−log p of each word that is to be said, in nats; 0 where none is."""
    return F.cross_entropy(logits_of(model, batch).transpose(1, 2), batch.targets, ignore_index=IGNORE,
                           reduction="none")


def check_two_streams(model: nn.Module, tokenizer: Tokenizer, name: str = "model") -> None:
    """A ValueError for a model that is not asked by a query stream, or whose tokenizer is another."""
    reads = readable(model)
    if reads.vocab is None or len(tokenizer) > reads.vocab:
        known = "no" if reads.vocab is None else f"{reads.vocab:,}"
        raise ValueError(f"{name} knows {known} tokens, and the tokenizer has {len(tokenizer):,}: is it that of "
                         "another model?")
    ours = isinstance(reads, OurModel) and reads.names_tokens
    if not (ours and architecture_of(model).gaps is plm_input):
        raise ValueError(f"{name} is a {type(model).__name__}, which is not asked by a query stream: it does not say "
                         "a word by what it may see and nothing else. Give an XLNetPretraining")
