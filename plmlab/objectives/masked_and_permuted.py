"""Masked and permuted at once (掩码加排列): XLNet's order, with BERT's masks where a word is still to come (MPNet)."""

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
    choices=(Choice("rate", "share of positions to predict", 0.15, 0.05, 0.6, 0.05),),
    question="Two words are to be said, one after the other. What does the second see of the first, and what the first "
             "of the second?",
    answer="The second sees the word that came first. The first sees a [MASK] where the second will stand: it knows "
           "that a word is missing there, and so, how long the sentence is. Of each place every position sees exactly "
           "one: "
           "the word, or its mask.",
)
def masked_and_permuted(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    predict: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP], and behind it a mask for each word that is predicted, in their order.

    ``round(rate · time)`` positions are predicted, one at least, never a special token. The text itself is whole; the
    masks stand behind it, at the positions of their words, and have them as targets. The mask of z_t sees, in the query
    stream (``query_stream_mask``), all that is not predicted, the words of z_1 … z_{t−1}, and the masks of z_t and all
    later ones: each position once, as a word or as a mask (position compensation). ``corrupt`` says what stands in a
    mask's place; as in BERT's text, it may be another word, or the word itself. Positions count from 0.

    ``predict`` gives the positions of the text that are predicted, in their order.

    Where it differs from the authors' code: that writes the words in the order in which they are said; here they stay
    where they are, which no position can tell.
    """
    check_rate(rate)
    cls, sep = vocab.need("cls"), vocab.need("sep")
    whole = [cls, *tokens, sep, *([*pair, sep] if pair else [])]
    words = [position for position in range(len(whole)) if position not in (0, len(tokens) + 1, len(whole) - 1)]
    if predict is None:
        predict = shuffled(rng, words)[:max(1, round(rate * len(whole)))]
    elif not set(predict) <= set(words) or len(set(predict)) < len(predict):
        raise ValueError(f"predict is {list(predict)!s:.80}; give positions of words, 1 to {len(whole) - 2}, each once")
    chosen = list(predict)
    masks = [corrupt(whole[position], vocab, rng) for position in chosen]
    place, answers = torch.arange(len(whole)), torch.tensor(whole)[chosen]
    segment = torch.tensor([0] * (len(tokens) + 2) + ([1] * (len(pair) + 1) if pair else []))
    content, query = _streams(len(whole), chosen)
    return Example(
        tokens=torch.tensor([*whole, *masks]),
        position_ids=torch.cat([place, place[chosen]])[None],
        segments=torch.cat([segment, segment[chosen]]),
        visible=content,
        targets=torch.cat([torch.full((len(whole),), IGNORE), answers]),
        query_stream_mask=query,
    )


def _streams(time: int, predict: Sequence[int]) -> tuple[Visibility, Visibility]:
    """Who may look at whom in the content stream, and in the query stream, over a text and its masks."""
    said, count = list(predict), len(predict)
    context, words, masks = (torch.zeros(time + count, dtype=torch.bool) for _ in range(3))
    context[:time], words[said], masks[time:] = True, True, True
    context &= ~words
    rank = torch.zeros(time + count, dtype=torch.long)
    rank[said] = rank[time:] = torch.arange(count)
    content = (
        _given(context | words | masks, context),
        _said(words, words, rank, rank),
        _to_come(words, masks, rank + 1, rank),
        Rule.between("masks", "{key} keeps a place: {query} knows that a word is missing there.", context | masks,
                     masks),
    )
    query = (_given(masks, context), _said(masks, words, rank - 1, rank), _to_come(masks, masks, rank, rank))
    return (Visibility(content, otherwise="{query} is not predicted, so that it may see no answer: it sees the mask."),
            Visibility(query, otherwise="only the masks ask for a word: {query} is in the content stream alone."))


def _given(queries: Bool[Tensor, "time"], context: Bool[Tensor, "time"]) -> Rule:
    return Rule.between("context", "{key} is not predicted, and everybody sees it.", queries, context)


def _said(queries: Bool[Tensor, "time"], words: Bool[Tensor, "time"], last: Int[Tensor, "time"],
          rank: Int[Tensor, "time"]) -> Rule:
    return Rule("said before", "{key} has been said by the time it is the turn of {query}.", queries, words, last, rank,
                unless="{key} is still to be said when it is the turn of {query}: its mask is seen instead.")


def _to_come(queries: Bool[Tensor, "time"], masks: Bool[Tensor, "time"], first: Int[Tensor, "time"],
             rank: Int[Tensor, "time"]) -> Rule:
    return Rule("masks of what is to come", "{key} keeps the place of a word that is still to be said.", queries, masks,
                -first, -rank, unless="the word of this {key} has been said: it is seen itself.")
