"""Autoregressive blank infilling (自回归填空): whole spans become blanks, which are filled one after the other (GLM).

Part A is the text with one [MASK] for each span; Part B holds the spans in shuffled order, each begun by [START], and
[END] is the last that is said of each. Part A is read to both sides and does not tell how long a blank is; what was
filled in is seen by what is filled in later. Each position has two positions: its place in Part A, counted from 1,
which in Part B is that of its [MASK]; and its place in its blank, [START] being 1, which in Part A is 0.

Where it differs from the authors' code: that puts [CLS] before a text and an end of text behind it, hides neither, and
counts both in the share to hide, which it rounds down ([CLS] has position 0 there, so that words have the positions
that they have here); it throws a text away that the drawn spans do not fit; its sentences end where a token holds a
full stop or the like; a blank of a document and one of a sentence have a [MASK] of their own kind; the texts of a batch
hide as much of a document, and where that reaches the end, the end of the text is said in the place of [END].
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
"""Spans are as long as Poisson(3) says where it says neither 0 nor more than 39 (§2.1.1 and the code): 3.16
words in the mean."""
ENDS = tuple(accumulate(MEAN ** length / factorial(length) for length in range(1, LONGEST + 1)))
"""The weights of lengths up to 1, 2, …, added up."""
TO_THE_END = 0.5
"""So often the one span of a document reaches its end (the authors' code; the paper does not say)."""
RATE = Choice("rate", "share of words to hide", 0.15, 0.05, 0.6, 0.05)
Span = tuple[int, int]
"""Where a span begins in the text, and behind which word it ends, as in a slice."""


@objective(
    title="blank infilling (GLM)", chinese="自回归填空", paper="Du et al. 2022, §2.1.1, fig. 2", choices=(RATE,),
    question="Hide more, until there are two blanks or more. What does the second see of the first, and what does "
             "either know of how long it is?",
    answer="The second sees the words of the first; of two of BERT's masks neither knows what is said at the other. Of "
           "its length a blank knows nothing: there is one [MASK] for all of it, and [END] must be said.",
)
def blank_infilling(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15,
                    spans: Sequence[Span] | None = None, order: Sequence[int] | None = None) -> Example:
    """The text with blanks, then the blanks, filled in a random order; each position of a blank says its next word.

    Spans are drawn until ``rate`` of the words are hidden, or no other fits; between two stands a word at least. A
    length that no longer fits is not drawn.

    ``spans`` gives the spans (begin, end), in the order of the text; () hides nothing. They may touch, and each has a
    [MASK] of its own. ``order`` gives the spans by their numbers in the order in which they are filled.
    """
    _check_text(tokens)
    if spans is None:
        spans = draw_spans(len(tokens), rate, rng)
    _check_spans(spans, len(tokens))
    return _infilled(tokens, spans, _ordered(spans, order, rng), vocab)


@objective(
    title="blank infilling, a document (GLM)", chinese="文档级填空", paper="Du et al. 2022, §2.1.2",
    question="Draw again, until the blank reaches the end of the text. Whose mask is this?",
    answer="That of a prefix language model: what stands before the blank is read to both sides, and the rest is "
           "written from left to right. With nothing before the blank it is GPT's, with a [MASK] in sight.",
)
def document_infilling(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, span: Span | None = None) -> Example:
    """As `blank_infilling`, with one span, half of the text to all of it, each length as likely.

    Half of the time it reaches the end, else it stands anywhere. ``span`` gives it.
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
    question="Whole sentences are hidden. What is left to read of a text that is one sentence?",
    answer="Nothing but a [MASK]: all of it is written from nothing. Of a longer text the sentences around are left, "
           "and what is learned is to write one that fits in there.",
)
def sentence_infilling(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15,
                       sentences: Sequence[int] | None = None, select: Sequence[int] | None = None,
                       order: Sequence[int] | None = None) -> Example:
    """As `blank_infilling`, with whole sentences for spans, drawn until ``rate`` of the words are hidden.

    ``sentences`` tells how many words each sentence has; where it is not given, the text is one. Sentences that stand
    side by side have a [MASK] each. ``select`` gives the hidden sentences by their numbers, and ``order`` the order in
    which they are filled, the first of the text among the hidden being 0.
    """
    check_rate(rate)
    _check_text(tokens)
    lengths = [len(tokens)] if sentences is None else list(sentences)
    if sum(lengths) != len(tokens) or min(lengths) < 1:
        raise ValueError(f"sentences of {lengths!s:.80} words are told, and the text has {len(tokens)} words; give for "
                         "each sentence how many it has, one at least")
    whole = list(pairwise(accumulate(lengths, initial=0)))
    if select is None:
        select, hidden = [], 0
        for sentence in shuffled(rng, range(len(whole))):
            if hidden >= rate * len(tokens):
                break
            select.append(sentence)
            hidden += lengths[sentence]
    elif not set(select) <= set(range(len(whole))):
        raise ValueError(f"sentences {list(select)!s:.80} are to be hidden; the text has {len(whole)}, counted from 0")
    return blank_infilling(tokens, vocab=vocab, rng=rng, spans=[whole[i] for i in sorted(set(select))], order=order)


def blanks_of_pair(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                   rate: float = 0.15) -> Example:
    """A pair as `blank_infilling` reads it: one text, where B follows A; where B is a stranger, A alone."""
    return blank_infilling([*first, *(second if follows else ())], vocab=vocab, rng=rng, rate=rate)


def blank_behind(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """A text, or two with [SEP] between them, nothing hidden, and a blank behind: … [MASK], and [START] to fill it.

    Segments, which label the texts and are not read: A is 0, B is 1, each with the [SEP] or [MASK] behind it; [START]
    is 2.
    """
    whole = _run_together(tokens, second, vocab)
    example = _infilled(whole, [(len(whole), len(whole))], [0], vocab)
    segments = torch.zeros_like(example.tokens)
    segments[len(tokens) + 1:] = 1 if second else 2
    segments[-1] = 2
    return replace(example, segments=segments, targets=torch.full_like(example.tokens, IGNORE))


def one_word_blanks(tokens: Sequence[int], second: Sequence[int], vocab: Vocabulary, hidden: Sequence[int],
                    ) -> tuple[Example, list[int]]:
    """Each hidden word is a blank of its own, which sees Part A and no other blank:
    `plmlab.objectives.layouts.ClozeInput`.

    The words are said at the [START] of each; two texts are read with [SEP] between them. So many words stand side by
    side as there are [MASK]s, which in pretraining a [MASK] does not tell.
    """
    whole = _run_together(tokens, second, vocab)
    for place in hidden:
        whole[place - 1] = vocab.need("mask")
    read, asked = len(whole), len(hidden)
    together = part_a_and_b(read, [1] * asked)
    example = Example(
        tokens=torch.tensor([*whole, *[vocab.need("start")] * asked]),
        position_ids=torch.tensor([[*range(1, read + 1), *hidden], [0] * read + [1] * asked]),
        segments=torch.zeros(read + asked, dtype=torch.long),
        visible=replace(together, rules=together.rules[:2],
                        otherwise="{query} knows nothing of {key}: each blank is asked by itself."),
        targets=torch.full((read + asked,), IGNORE),
    )
    return example, list(range(read, read + asked))


def infilled(text: Sequence[int], fillings: Sequence[Sequence[int]], order: Sequence[int], vocab: Vocabulary,
              ) -> Example:
    """A text with a [MASK] for each blank, and the words that fill each, perhaps none, in the order of the text.

    ``order`` gives the blanks by their numbers in the order in which they are filled. ValueError where there are more
    or fewer fillings than blanks.
    """
    mask = vocab.need("mask")
    if len(fillings) != (blanks := list(text).count(mask)):
        raise ValueError(f"fillings of {len(fillings)} blanks were given, and the text has {blanks}, a [MASK] each; "
                         "give the words of each, in the order of the text")
    check_order(order, blanks)
    left = iter(fillings)
    whole, spans = list[int](), list[Span]()
    for token in text:
        words = next(left) if token == mask else [token]
        if token == mask:
            spans.append((len(whole), len(whole) + len(words)))
        whole += words
    return _infilled(whole, spans, order, vocab)


def draw_spans(count: int, rate: float, rng: Random) -> list[Span]:
    """Spans of a text of ``count`` words, in its order, as the authors draw them: lengths, then places, a word between
    two."""
    check_rate(rate)
    lengths, hidden = list[int](), 0
    while hidden < rate * count and (room := count - hidden - len(lengths)) > 0:
        ends = ENDS[:room]
        lengths.append(bisect_left(ends, rng.random() * ends[-1]) + 1)
        hidden += lengths[-1]
    places = sorted(randint(rng, count - hidden - len(lengths) + 2) for _ in lengths)
    spans, behind = list[Span](), 0
    for place, length in zip(places, shuffled(rng, lengths), strict=True):
        spans.append((behind + place, behind + place + length))
        behind += length + 1
    return spans


def check_order(order: Sequence[int], blanks: int) -> None:
    """A ValueError where an order of filling does not name each of so many blanks once."""
    if sorted(order) != list(range(blanks)):
        raise ValueError(f"order is {list(order)!s:.80}, and there are blanks {list(range(blanks))}; give the number "
                         "of each once")


def part_a_and_b(read: int, blanks: Sequence[int]) -> Visibility:
    """Who may look at whom among so many positions of Part A and, in Part B, blanks of so many positions each."""
    time = read + sum(blanks)
    place, everyone = torch.arange(time), torch.ones(time, dtype=torch.bool)
    in_a, in_b = place < read, place >= read
    begins = [begin for begin, length in zip(accumulate(blanks, initial=read), blanks, strict=False)
              for _ in range(length)]
    return Visibility((
        Rule.between("Part A", "{key} is in Part A, which everyone may read.", everyone, in_a),
        RangeRule.of("before it in its blank", "{key} is there by the time it is the turn of {query}: a blank is "
                                               "filled "
                   "from left to right.", torch.tensor([time] * read + begins), place),
        Rule("blanks filled before", "the blank of {key} is filled by the time it is the turn of {query}.", in_b, in_b,
             place, place, unless="{key} is filled in after {query}: to see it would be to see what is to be said."),
    ), otherwise="{query} is in Part A, which is read before any blank is filled.")


def _infilled(tokens: Sequence[int], spans: Sequence[Span], order: Sequence[int], vocab: Vocabulary) -> Example:
    """Part A and Part B; the spans, some of them perhaps empty, in the order of the text, are filled in ``order``."""
    mask, start, end = (vocab.need(name) for name in ("mask", "start", "end"))
    read, masks, behind = list[int](), list[int](), 0
    for begin, stop in spans:
        read += [*tokens[behind:begin], mask]
        masks.append(len(read))
        behind = stop
    read += tokens[behind:]
    blanks = [list(tokens[slice(*spans[i])]) for i in order]
    places = [masks[i] for i, blank in zip(order, blanks, strict=True) for _ in (start, *blank)]
    inside = [place for blank in blanks for place in range(1, len(blank) + 2)]
    return Example(
        tokens=torch.tensor([*read, *(token for blank in blanks for token in (start, *blank))]),
        position_ids=torch.tensor([[*range(1, len(read) + 1), *places], [0] * len(read) + inside]),
        segments=torch.zeros(len(read) + len(inside), dtype=torch.long),
        visible=part_a_and_b(len(read), [len(blank) + 1 for blank in blanks]),
        targets=torch.tensor([IGNORE] * len(read) + [token for blank in blanks for token in (*blank, end)]),
    )


def _ordered(spans: Sequence[Span], order: Sequence[int] | None, rng: Random) -> Sequence[int]:
    """The numbers of the spans, in the order in which they are filled."""
    if order is None:
        return shuffled(rng, range(len(spans)))
    check_order(order, len(spans))
    return order


def _run_together(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> list[int]:
    """One text, or two with [SEP] between them."""
    return [*tokens, *([vocab.need("sep"), *second] if second else [])]


def _check_text(tokens: Sequence[int]) -> None:
    if not len(tokens):
        raise ValueError("the text is empty, so that nothing can be hidden of it; give one word or more")


def _check_spans(spans: Sequence[Span], count: int) -> None:
    ends = [0, *(place for span in spans for place in span), count]
    if ends != sorted(ends) or any(begin == stop for begin, stop in spans):
        raise ValueError(f"spans are {list(spans)!s:.80}, and the text has {count} words; give (begin, end) as in a "
                         "slice, in the order of the text, none empty and none over another")
