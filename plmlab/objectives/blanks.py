"""Autoregressive blank infilling (自回归填空): whole spans are blanked out and then generated one after another (GLM).

Part A is the text with one [MASK] per span. Part B holds the spans in shuffled order, each prefixed with [START]; the
last target of each span is [END]. Part A attends bidirectionally and does not reveal the length of a blank; each span
attends to Part A and to the spans generated before it. Every token has two position ids. The first is its position in
Part A, counted from 1; in Part B it is the position of the corresponding [MASK]. The second is the position within the
blank, 1 for [START]; in Part A it is 0.

Differences from the authors' code: it adds [CLS] before a text and an end-of-text token after it, masks neither, and
includes both in the length to which the rate applies, rounding down ([CLS] has position 0 there, so words have the same
positions as here); it discards a text if the sampled spans do not fit; it ends a sentence at any token that contains a
full stop or similar punctuation; document and sentence blanks have [MASK] tokens of their own; in document infilling,
all texts of a batch have the same proportion masked, and if a blank reaches the end, the end-of-text token replaces
[END].
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import factorial
from random import Random

import torch

from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives.masked import check_rate
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import RangeRule, Rule, Visibility

MEAN, LONGEST = 3, 39
"""Span lengths follow Poisson(3), truncated to 1–39 (§2.1.1 and the code); the mean is 3.16 words."""
ENDS = tuple(accumulate(MEAN ** length / factorial(length) for length in range(1, LONGEST + 1)))
"""Cumulative (unnormalized) probabilities of the span lengths 1, 2, …."""
TO_THE_END = 0.5
"""Probability that the span of a document extends to its end (from the authors' code; not in the paper)."""
RATE = Choice("rate", "proportion of words to mask", 0.15, 0.05, 0.6, 0.05)
Span = tuple[int, int]
"""Start and end of a span in the text, as in a slice (the end is exclusive)."""


@objective(
    title="blank infilling (GLM)", chinese="自回归填空", paper="Du et al. 2022, §2.1.1, fig. 2", choices=(RATE,),
    question="Raise the rate until there are two or more blanks. What can the second attend to in the first, and what "
             "does either know about its own length?",
    answer="The second attends to the words of the first, whereas BERT predicts masked tokens independently. A blank "
           "does not know its own length: one [MASK] stands for the whole span, and [END] has to be predicted.",
)
def blank_infilling(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15,
                    spans: Sequence[Span] | None = None, order: Sequence[int] | None = None) -> Example:
    """Part A, the text with blanks, then Part B, the spans in random order, predicted token by token.

    Spans are sampled until ``rate`` of the words are masked or no further span fits; at least one word remains between
    two spans. Lengths that no longer fit are not sampled.

    ``spans`` sets the spans (begin, end) in text order instead of sampling them; () masks nothing. Spans may be
    adjacent; each has its own [MASK]. ``order`` lists the indices of the spans in filling order.
    """
    _check_text(tokens)
    if spans is None:
        spans = draw_spans(len(tokens), rate, rng)
    check_spans(spans, len(tokens))
    return _infilled(tokens, spans, _ordered(spans, order, rng), vocab)


@objective(
    title="blank infilling, a document (GLM)", chinese="文档级填空", paper="Du et al. 2022, §2.1.2",
    question="Resample until the blank reaches the end of the text. Which model has this attention mask?",
    answer="A prefix language model: the text before the blank is encoded bidirectionally, and the rest is generated "
           "left to right. With nothing before the blank it is GPT's causal mask plus a visible [MASK].",
)
def document_infilling(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, span: Span | None = None) -> Example:
    """`blank_infilling` with a single span, whose length is uniform between half of the text and all of it.

    With probability ½ the span extends to the end of the text; otherwise its start is uniform. ``span`` sets the span
    instead of sampling it.
    """
    _check_text(tokens)
    if span is None:
        count = len(tokens)
        length = count - randint(rng, count // 2 + 1)
        begin = count - length if rng.random() < TO_THE_END else randint(rng, count - length + 1)
        span = begin, begin + length
    return blank_infilling(tokens, vocab=vocab, rng=rng, spans=[span])


@objective(
    title="blank infilling, sentences (GLM)", chinese="句子级填空", paper="Du et al. 2022, §2.1.2",
    question="Whole sentences are masked. What remains of a text that is a single sentence?",
    answer="Only a [MASK]: the sentence is generated without any context. In a longer text the other sentences remain, "
           "and the model learns to generate one that fits between them.",
)
def sentence_infilling(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15,
                       sentences: Sequence[int] | None = None, select: Sequence[int] | None = None,
                       order: Sequence[int] | None = None) -> Example:
    """`blank_infilling` with whole sentences as spans, sampled until ``rate`` of the words are masked.

    ``sentences`` gives the number of words of each sentence; by default the text is one sentence. Adjacent masked
    sentences have one [MASK] each. ``select`` sets the indices of the masked sentences. ``order`` is the filling order;
    its indices count only the masked sentences, from 0, in text order.
    """
    check_rate(rate)
    _check_text(tokens)
    lengths = [len(tokens)] if sentences is None else list(sentences)
    if sum(lengths) != len(tokens) or min(lengths) < 1:
        raise ValueError(f"sentences={lengths!s:.80}: the lengths must sum to the {len(tokens)} words of the text, and "
                         "each sentence needs at least one word")
    whole = list(pairwise(accumulate(lengths, initial=0)))
    if select is None:
        select, hidden = [], 0
        for sentence in shuffled(rng, range(len(whole))):
            if hidden >= rate * len(tokens):
                break
            select.append(sentence)
            hidden += lengths[sentence]
    elif not set(select) <= set(range(len(whole))):
        raise ValueError(f"select={list(select)!s:.80}: the text has {len(whole)} sentences, counted from 0")
    return blank_infilling(tokens, vocab=vocab, rng=rng, spans=[whole[i] for i in sorted(set(select))], order=order)


def blanks_of_pair(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                   rate: float = 0.15) -> Example:
    """`blank_infilling` of a sentence pair: of the concatenation if B follows A, otherwise of A alone."""
    return blank_infilling([*first, *(second if follows else ())], vocab=vocab, rng=rng, rate=rate)


def append_blank(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """Append a blank to an unmasked text, or to two texts joined by [SEP]: … [MASK], and [START] to fill it.

    Segments are set for reference; GLM does not use them. A has segment 0 and B segment 1, each including the [SEP] or
    [MASK] after it; [START] has segment 2.
    """
    whole = _run_together(tokens, second, vocab)
    example = _infilled(whole, [(len(whole), len(whole))], [0], vocab)
    segments = torch.zeros_like(example.tokens)
    segments[len(tokens) + 1:] = 1 if second else 2
    segments[-1] = 2
    return replace(example, segments=segments, targets=torch.full_like(example.tokens, IGNORE))


def independent_blanks(tokens: Sequence[int], second: Sequence[int], vocab: Vocabulary, hidden: Sequence[int],
                    ) -> tuple[Example, list[int]]:
    """Mask each hidden word as a separate blank that attends to Part A only; see
    `plmlab.objectives.layouts.ClozeInput`.

    Each word is predicted at its own [START]; two texts are joined by [SEP]. Unlike in pretraining, where a [MASK] does
    not reveal the number of words, each [MASK] stands for exactly one word.
    """
    whole = _run_together(tokens, second, vocab)
    for index in hidden:
        whole[index - 1] = vocab.need("mask")
    length, count = len(whole), len(hidden)
    sequential = part_a_and_b(length, [1] * count)
    example = Example(
        tokens=torch.tensor([*whole, *[vocab.need("start")] * count]),
        position_ids=torch.tensor([[*range(1, length + 1), *hidden], [0] * length + [1] * count]),
        segments=torch.zeros(length + count, dtype=torch.long),
        visible=replace(sequential, rules=sequential.rules[:2],
                        otherwise="{query} does not attend to {key}: the blanks are predicted independently."),
        targets=torch.full((length + count,), IGNORE),
    )
    return example, list(range(length, length + count))


def infilled(text: Sequence[int], fillings: Sequence[Sequence[int]], order: Sequence[int], vocab: Vocabulary,
              ) -> Example:
    """Build the Example of a text with one [MASK] per blank, and the words that fill the blanks, in text order.

    A filling may be empty. ``order`` lists the indices of the blanks in filling order. Raises ValueError if the number
    of fillings differs from the number of blanks.
    """
    mask = vocab.need("mask")
    if len(fillings) != (blanks := list(text).count(mask)):
        raise ValueError(f"got fillings for {len(fillings)} blanks, but the text has {blanks} ([MASK] tokens); "
                         "give the words of each, in text order")
    check_order(order, blanks)
    remaining = iter(fillings)
    whole, spans = list[int](), list[Span]()
    for token in text:
        words = next(remaining) if token == mask else [token]
        if token == mask:
            spans.append((len(whole), len(whole) + len(words)))
        whole += words
    return _infilled(whole, spans, order, vocab)


def draw_spans(count: int, rate: float, rng: Random) -> list[Span]:
    """Sample spans for a text of ``count`` words as the authors do: first lengths, then starts, with at least one word
    between two spans. Returns them in text order."""
    check_rate(rate)
    lengths, hidden = list[int](), 0
    while hidden < rate * count and (room := count - hidden - len(lengths)) > 0:
        ends = ENDS[:room]
        lengths.append(bisect_left(ends, rng.random() * ends[-1]) + 1)
        hidden += lengths[-1]
    gaps = sorted(randint(rng, count - hidden - len(lengths) + 2) for _ in lengths)
    spans, offset = list[Span](), 0
    for gap, length in zip(gaps, shuffled(rng, lengths), strict=True):
        spans.append((offset + gap, offset + gap + length))
        offset += length + 1
    return spans


def check_order(order: Sequence[int], blanks: int) -> None:
    """Raise ValueError unless ``order`` is a permutation of the indices of the blanks."""
    if sorted(order) != list(range(blanks)):
        raise ValueError(f"order={list(order)!s:.80}: give each of the blanks {list(range(blanks))} exactly "
                         "once")


def part_a_and_b(read: int, blanks: Sequence[int]) -> Visibility:
    """Build the attention mask for ``read`` positions in Part A and blanks of the given lengths in Part B."""
    time = read + sum(blanks)
    index, all_true = torch.arange(time), torch.ones(time, dtype=torch.bool)
    in_a, in_b = index < read, index >= read
    begins = [begin for begin, length in zip(accumulate(blanks, initial=read), blanks, strict=False)
              for _ in range(length)]
    return Visibility((
        Rule.between("Part A", "{key} is in Part A, which is visible to every position.", all_true, in_a),
        RangeRule.of("before it in its blank", "{key} is generated before or at {query}: a blank is generated left "
                     "to right.", torch.tensor([time] * read + begins), index),
        Rule("blanks filled before", "the blank of {key} is filled before that of {query}.", in_b, in_b, index,
             index, unless="{key} is generated after {query}: attending to it would leak a target."),
    ), otherwise="{query} is in Part A, which is encoded before any blank is filled.")


def _infilled(tokens: Sequence[int], spans: Sequence[Span], order: Sequence[int], vocab: Vocabulary) -> Example:
    """Build Part A and Part B. ``spans`` are in text order and may be empty; ``order`` is the filling order."""
    mask, start, end = (vocab.need(name) for name in ("mask", "start", "end"))
    part_a, masks, end_of_last = list[int](), list[int](), 0
    for begin, stop in spans:
        part_a += [*tokens[end_of_last:begin], mask]
        masks.append(len(part_a))
        end_of_last = stop
    part_a += tokens[end_of_last:]
    blanks = [list(tokens[slice(*spans[i])]) for i in order]
    # the two position ids of Part B: that of the [MASK], and the one within the blank
    of_mask = [masks[i] for i, blank in zip(order, blanks, strict=True) for _ in (start, *blank)]
    within_blank = [i for blank in blanks for i in range(1, len(blank) + 2)]
    return Example(
        tokens=torch.tensor([*part_a, *(token for blank in blanks for token in (start, *blank))]),
        position_ids=torch.tensor([[*range(1, len(part_a) + 1), *of_mask], [0] * len(part_a) + within_blank]),
        segments=torch.zeros(len(part_a) + len(within_blank), dtype=torch.long),
        visible=part_a_and_b(len(part_a), [len(blank) + 1 for blank in blanks]),
        targets=torch.tensor([IGNORE] * len(part_a) + [token for blank in blanks for token in (*blank, end)]),
    )


def _ordered(spans: Sequence[Span], order: Sequence[int] | None, rng: Random) -> Sequence[int]:
    """The indices of the spans in filling order, sampled unless given."""
    if order is None:
        return shuffled(rng, range(len(spans)))
    check_order(order, len(spans))
    return order


def _run_together(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> list[int]:
    """The ids of one text, or of two texts joined by [SEP]."""
    return [*tokens, *([vocab.need("sep"), *second] if second else [])]


def _check_text(tokens: Sequence[int]) -> None:
    if not len(tokens):
        raise ValueError("the text is empty, so nothing can be masked; give at least one word")


def check_spans(spans: Sequence[Span], count: int) -> None:
    """Raise ValueError unless the spans of a text of ``count`` tokens are in text order, not empty and not
    overlapping."""
    ends = [0, *(end for span in spans for end in span), count]
    if ends != sorted(ends) or any(begin == stop for begin, stop in spans):
        raise ValueError(f"spans={list(spans)!s:.80} in a text of {count} words: give (begin, end) as in a slice, in "
                         "text order, not empty and not overlapping")
