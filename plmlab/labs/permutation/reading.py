"""A model of two streams that is asked for the words of a sentence, in one order or in many at once."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, Example
from plmlab.interpret.readable import inference, readable
from plmlab.objectives import permuted
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask


def example(ids: Sequence[int], order: Sequence[int], vocab: Vocabulary, *, leaking: bool = False) -> Example:
    """The words ``ids``, each to be said, in an order of their places. [SEP] and [CLS], which stand behind the
    sentence, come first in the order, so that its length is known. With ``leaking`` the query stream sees what the
    content stream sees: the word that it is to say, too."""
    count = len(ids)
    made = permuted(ids, vocab=vocab, rng=Random(0), order=[count, count + 1, *order], predict=range(count))
    return replace(made, query_visible=made.visible) if leaking else made


def in_orders(ids: Sequence[int], orders: Sequence[Sequence[int]], vocab: Vocabulary, *,
              leaking: bool = False) -> Batch:
    """One sentence in many orders, a row each: the batch of their examples."""
    one = example(ids, orders[0], vocab)
    rank = ranks(orders, len(one.tokens))
    known = rank[:, None, :] <= rank[:, :, None]
    before = rank[:, None, :] < rank[:, :, None]

    def rows(slots: Int[Tensor, "time"]) -> Int[Tensor, "batch time"]:
        return slots.expand(len(orders), -1)

    return Batch(rows(one.tokens), one.positions[None], rows(one.segments), AttentionMask(pairs=known),
                 rows(one.targets), query_visible=AttentionMask(pairs=known if leaking else before))


def ranks(orders: Sequence[Sequence[int]], time: int) -> Int[Tensor, "batch time"]:
    """The place of each slot in each order; the slots that an order does not name, behind the others, come first."""
    first = list(range(len(orders[0]), time))
    return torch.tensor([[*first, *order] for order in orders]).argsort(1)


def logits_of(model: nn.Module, batch: Batch) -> Float[Tensor, "batch time vocab"]:
    """What a model says at each slot, on the CPU."""
    with inference(model):
        return readable(model).logits(batch.to(device_of(model))).cpu()


def surprisals(model: nn.Module, batch: Batch) -> Float[Tensor, "batch time"]:
    """−log p of each word that is to be said, in nats; 0 where none is."""
    return F.cross_entropy(logits_of(model, batch).transpose(1, 2), batch.targets, ignore_index=IGNORE,
                           reduction="none")


def device_of(model: nn.Module) -> torch.device:
    """Where a model's weights are."""
    return next((weight.device for weight in model.parameters()), torch.device("cpu"))


def two_stream_model(model: nn.Module, tokenizer: Tokenizer, name: str = "model") -> int:
    """How many tokens a model of two streams chooses among; a ValueError for one that has no query stream, or whose
    tokenizer is another."""
    size = readable(model).vocab
    if size is None or len(tokenizer) > size:
        raise ValueError(f"{name} knows {'no' if size is None else f'{size:,}'} tokens, and the tokenizer has "
                         f"{len(tokenizer):,}: is it that of another model?")
    words = [len(tokenizer) - 1] * 3
    said = []
    for leaking in (False, True):
        batch = Batch.of([example(words, (2, 0, 1), tokenizer.vocab, leaking=leaking)], pad=0)
        try:
            said.append(logits_of(model, batch))
        except (AttributeError, IndexError, RuntimeError, TypeError) as error:
            raise ValueError(_no_query_stream(model, name)) from error
    if said[0].shape != (1, 5, size) or torch.equal(*said):
        raise ValueError(_no_query_stream(model, name))
    return size


def _no_query_stream(model: nn.Module, name: str) -> str:
    return (f"{name} is a {type(model).__name__}, which has no query stream: it does not say a word by what it may see "
            "and nothing else. Give an XLNetPretraining")
