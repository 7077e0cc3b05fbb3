"""Masked and permuted language modelling (掩码加排列): XLNet's factorization order plus BERT's masks (MPNet)."""

from collections.abc import Sequence
from random import Random

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from plmlab.draws import shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives.masked import Corruption, bert_80_10_10, check_rate
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Rule, Visibility


@objective(
    title="masked and permuted language model (MPNet)",
    chinese="掩码与排列语言模型",
    paper="Song et al. 2020, §2.3, fig. 2",
    choices=(Choice("rate", "proportion of tokens to predict", 0.15, 0.05, 0.6, 0.05),),
    question="Two words are predicted, one after the other. What can the second attend to at the position of the "
             "first, and the first at that of the second?",
    answer="The second attends to the first word. The first attends to a [MASK] at the position of the second, so that "
           "it knows the length of the sentence. Each prediction sees every position exactly once: as the word, or as "
           "its mask.",
)
def masked_and_permuted(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    predict: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP], followed by one mask per predicted word, in the order of prediction.

    ``round(rate · time)`` words are predicted, at least one, never a special token. The text itself is unmasked; each
    appended mask has the position id of its word, and that word as its target. In the query stream
    (``query_stream_mask``), the mask of z_t attends to everything that is not predicted, to the words z_1 … z_{t−1},
    and to the masks of z_t and all later words. It thus sees each position once, as a word or as a mask (position
    compensation). ``corrupt`` replaces the [MASK]; as in BERT, it may give a random word or the word itself. Position
    ids count from 0.

    ``predict`` sets the predicted positions of the text, in the order of prediction, instead of sampling them.

    Difference from the authors' code: it permutes the words into the order of prediction; here they keep their order,
    which is equivalent.
    """
    check_rate(rate)
    cls, sep = vocab.need("cls"), vocab.need("sep")
    whole = [cls, *tokens, sep, *([*pair, sep] if pair else [])]
    words = [i for i in range(len(whole)) if i not in (0, len(tokens) + 1, len(whole) - 1)]
    if predict is None:
        predict = shuffled(rng, words)[:max(1, round(rate * len(whole)))]
    elif not set(predict) <= set(words) or len(set(predict)) < len(predict):
        raise ValueError(f"predict={list(predict)!s:.80}: give positions of words, 1 to {len(whole) - 2}, each once")
    chosen = list(predict)
    masks = [corrupt(whole[i], vocab, rng) for i in chosen]
    index, answers = torch.arange(len(whole)), torch.tensor(whole)[chosen]
    segment = torch.tensor([0] * (len(tokens) + 2) + ([1] * (len(pair) + 1) if pair else []))
    content, query = _streams(len(whole), chosen)
    return Example(
        tokens=torch.tensor([*whole, *masks]),
        position_ids=torch.cat([index, index[chosen]])[None],
        segments=torch.cat([segment, segment[chosen]]),
        visible=content,
        targets=torch.cat([torch.full((len(whole),), IGNORE), answers]),
        query_stream_mask=query,
    )


def _streams(time: int, predict: Sequence[int]) -> tuple[Visibility, Visibility]:
    """Attention masks of the content stream and of the query stream, over a text and its appended masks."""
    predicted, count = list(predict), len(predict)
    context, words, masks = (torch.zeros(time + count, dtype=torch.bool) for _ in range(3))
    context[:time], words[predicted], masks[time:] = True, True, True
    context &= ~words
    rank = torch.zeros(time + count, dtype=torch.long)
    rank[predicted] = rank[time:] = torch.arange(count)  # [time + count], order of prediction
    content = (
        _context(context | words | masks, context),
        _predicted_before(words, words, rank, rank),
        _later_masks(words, masks, rank + 1, rank),
        Rule.between("masks", "{key} marks the position of a masked word: {query} knows that there is one.",
                     context | masks, masks),
    )
    query = (_context(masks, context), _predicted_before(masks, words, rank - 1, rank),
             _later_masks(masks, masks, rank, rank))
    return (Visibility(content, otherwise="{query} is not predicted, so it attends to the mask and not to the target."),
            Visibility(query, otherwise="only the masks predict a word: {query} is in the content stream only."))


def _context(queries: Bool[Tensor, "time"], context: Bool[Tensor, "time"]) -> Rule:
    return Rule.between("context", "{key} is not predicted, and is visible to every position.", queries, context)


def _predicted_before(queries: Bool[Tensor, "time"], words: Bool[Tensor, "time"], last: Int[Tensor, "time"],
                      rank: Int[Tensor, "time"]) -> Rule:
    return Rule("predicted before", "{key} is known at the prediction step of {query}.", queries, words, last, rank,
                unless="{key} is not known yet at the prediction step of {query}: its mask is visible instead.")


def _later_masks(queries: Bool[Tensor, "time"], masks: Bool[Tensor, "time"], first: Int[Tensor, "time"],
                 rank: Int[Tensor, "time"]) -> Rule:
    return Rule("masks of later words", "{key} marks the position of a word that is not predicted yet.", queries, masks,
                -first, -rank, unless="the word of this {key} is already predicted: the word itself is visible.")
