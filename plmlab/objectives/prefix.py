"""UniLM's objectives (统一语言模型): one cloze task under four attention masks.

A masked position always predicts its own token, never the next one. The attention mask turns this one task into that of
BERT, of a unidirectional language model, or of a sequence-to-sequence model, all in a single network.

The paper gives proportions and rates; the authors published only the code for fine-tuning. We infer from that code that
segments 0 and 1 mark the bidirectional mask, 2 left-to-right, 3 right-to-left, 4 and 5 source and target, and that a
bigram or trigram starts at a sampled position and is cut short at the end of the words or when enough are masked. The
paper never uses a single text as source and target; how we split one is our own choice.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed
from functools import partial
from itertools import accumulate
from random import Random

import torch

from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives.masked import Corruption, always_mask, apply_masking, bert_80_10_10, check_rate
from plmlab.objectives.next_sentence import IS_NEXT, NOT_NEXT
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Rule, Visibility

SOURCE, TARGET = 4, 5
"""Segment ids of source and target."""
GRAMS, LONGEST_GRAM = 0.2, 3
"""With probability 20 % a bigram or trigram is masked instead of one word (Dong et al. 2019, §2.4)."""
TARGET_RATE = 0.7
"""Masking rate of the target in fine-tuning (the authors' commands)."""
RATE = Choice("rate", "proportion of tokens to predict", 0.15, 0.05, 0.6, 0.05)
PAPER = "Dong et al. 2019, §2.3, fig. 1"


@objective(
    title="cloze, bidirectional (UniLM)", chinese="双向语言模型", paper=PAPER, choices=(RATE,),
    question="What differs from BERT?",
    answer="Not the attention mask, which is bidirectional. With probability 20 % two or three adjacent words are "
           "masked together, and the segments, A and B, indicate which of the four masks is in use.",
)
def both_directions(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (),
                    rate: float = 0.15, select: Sequence[int] | None = None,
                    corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP], with bidirectional attention. Segments 0 and 1.

    Single words, bigrams and trigrams are masked; the arguments are those of `masked`.
    """
    return _cloze([[*tokens], [*pair]] if pair else [[*tokens]], (0, 1), _full, vocab, rng, rate, select, corrupt)


@objective(
    title="cloze, left to right (UniLM)", chinese="从左到右语言模型", paper=PAPER, choices=(RATE,),
    question="In GPT every position predicts the next word. What does a position predict here, and what is its "
             "own input?",
    answer="Its own word; the input there is [MASK]. So only the masked positions have a loss, whereas GPT learns from "
           "every position.",
)
def left_to_right(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (),
                  rate: float = 0.15, select: Sequence[int] | None = None,
                  corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP] with left-to-right (causal) attention; a pair is concatenated. Segment 2. The arguments are those
    of `masked`."""
    return _cloze([[*tokens, *pair]], (2,), _left_to_right, vocab, rng, rate, select, corrupt)


@objective(
    title="cloze, right to left (UniLM)", chinese="从右到左语言模型", paper=PAPER, choices=(RATE,),
    question="With right-to-left attention, does a position know the length of the text?",
    answer="Yes: the end of the text is visible, and the position's own index gives the number of words before it. It "
           "knows nothing else about those words. With left-to-right attention the end is unknown.",
)
def right_to_left(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (),
                  rate: float = 0.15, select: Sequence[int] | None = None,
                  corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP] with right-to-left attention; a pair is concatenated. Segment 3. The arguments are those of
    `masked`."""
    return _cloze([[*tokens, *pair]], (3,), _right_to_left, vocab, rng, rate, select, corrupt)


@objective(
    title="cloze, sequence to sequence (UniLM)", chinese="序列到序列语言模型", paper=PAPER,
    choices=(RATE, Choice("cut", "proportion that is the source", 0.5, 0.0, 0.95, 0.05)),
    question="Is this an encoder–decoder? Which block of its mask differs from GPT's?",
    answer="It is one network with one set of weights. In the upper left block the source attends to itself "
           "bidirectionally; in GPT that block is causal too. The rest is the same: the target attends to all of the "
           "source and to the earlier target positions.",
)
def prefix(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
           cut: float = 0.5, select: Sequence[int] | None = None,
           corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] source [SEP] target [SEP]: the source attends to itself, the target to the source and to its own left
    context. Segments 4 and 5.

    A ``pair`` is source and target. A single text is split in two: ``cut`` is the proportion that becomes the source;
    at least one word is left as the target. The other arguments are those of `masked`; words of both parts are masked.
    Raises ValueError unless 0 ≤ ``cut`` ≤ 1.
    """
    if not 0 <= cut <= 1:
        raise ValueError(f"cut={cut}: the proportion of the text that is the source must be from 0 to 1")
    if not pair:
        end = max(0, min(round(cut * len(tokens)), len(tokens) - 1))
        tokens, pair = tokens[:end], tokens[end:]
    return _cloze([[*tokens], [*pair]], (SOURCE, TARGET), source_and_target, vocab, rng, rate, select, corrupt)


MASKS: dict[str, Callable[..., Example]] = {
    "both directions": both_directions, "sequence to sequence": prefix, "left to right": left_to_right,
    "right to left": right_to_left}
"""The four objectives by name."""
SHARES = {"both directions": 1 / 3, "sequence to sequence": 1 / 3, "left to right": 1 / 6, "right to left": 1 / 6}
"""Proportion of training texts under each mask (§2.4)."""


@objective(
    title="cloze with a mask mixture (UniLM)", chinese="统一语言模型", paper=PAPER, choices=(RATE,),
    question="Resample several times. How does the network know which mask is in use?",
    answer="From the segments: A and B for the bidirectional mask, C for left-to-right, D for right-to-left, E and F "
           "for source and target. It can also infer it from which positions are visible.",
)
def mask_mixture(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
                 shares: Mapping[str, float] = SHARES, corrupt: Corruption = bert_80_10_10) -> Example:
    """Sample one of the four objectives for a text. As source and target, a single text is split at a uniform
    position."""
    return _sampled(shares, rng)(tokens, vocab=vocab, rng=rng, pair=pair, rate=rate, corrupt=corrupt)


def mask_mixture_pair(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                      rate: float = 0.15, shares: Mapping[str, float] = SHARES,
                      corrupt: Corruption = bert_80_10_10) -> Example:
    """Sample one of the four masks for a sentence pair, with next-sentence prediction under the bidirectional mask
    (§2.3).

    The label ``next_sentence`` is that of `plmlab.objectives.next_sentence`, or IGNORE under the other three masks.
    Those need consecutive text; if B does not follow A, they use A alone.
    """
    make = _sampled(shares, rng)
    with_nsp = make is both_directions
    example = make(first, pair=second if follows or with_nsp else (), vocab=vocab, rng=rng, rate=rate,
                   corrupt=corrupt)
    label = (IS_NEXT if follows else NOT_NEXT) if with_nsp else IGNORE
    return changed(example, labels={"next_sentence": torch.tensor(label)})


@objective(
    title="fine-tuning for generation (UniLM)", chinese="生成任务微调", paper="Dong et al. 2019, §2.5",
    choices=(Choice("rate", "proportion of the target to predict", TARGET_RATE, 0.05, 1.0, 0.05),),
    question="How does the network learn to stop?",
    answer="The [SEP] after the target can be masked like any of its words. Predicting [SEP] at a [MASK] means that "
           "the target is complete.",
    texts=2,
)
def masked_seq2seq_target(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary, rng: Random,
                          rate: float = TARGET_RATE, select: Sequence[int] | None = None,
                          corrupt: Corruption = bert_80_10_10) -> Example:
    """`prefix`, masking only the target, including its final [SEP].

    ``round(rate · length)`` target positions are masked, at least one, without bigrams or trigrams (as in the authors'
    commands; their code does not count the [SEP] in the length). ``select`` holds positions in the whole input.
    """
    check_rate(rate)
    if select is None:
        begin = len(source) + 2
        candidates = range(begin, begin + len(target) + 1)
        select = shuffled(rng, candidates)[:max(1, round(rate * len(candidates)))]
    return _cloze([[*source], [*target]], (SOURCE, TARGET), source_and_target, vocab, rng, rate, select, corrupt)


def unmasked_input(make: Callable[..., Example], tokens: Sequence[int], second: Sequence[int] | None,
                   vocab: Vocabulary) -> Example:
    """Unmasked input for one or two texts under one of the four attention masks."""
    return make(tokens, pair=second or (), vocab=vocab, rng=Random(0), select=())


def source_only(tokens: Sequence[int], vocab: Vocabulary) -> Example:
    """[CLS] A [SEP] as the source of `prefix`, without a target."""
    return _cloze([[*tokens]], (SOURCE,), _full, vocab, Random(0), 1.0, (), always_mask)


def source_and_target(source: int, target: int) -> Visibility:
    """Sequence-to-sequence mask for ``source`` and ``target`` positions: bidirectional source, causal target."""
    time = source + target
    index, all_true = torch.arange(time), torch.ones(time, dtype=torch.bool)
    in_source, in_target = index < source, index >= source
    return Visibility((
        Rule.between("all of the source", "{key} is in the source, visible to every position.", all_true, in_source),
        Rule("earlier target positions", "{key} is not after {query} in the target.", in_target, in_target, index,
             index, unless="{key} is generated after {query}: attending to it would leak a target."),
    ), otherwise="{query} is in the source, which is encoded before the target is generated.")


def _full(*lengths: int) -> Visibility:
    return Visibility.full(sum(lengths))


def _left_to_right(time: int) -> Visibility:
    index, all_true = torch.arange(time), torch.ones(time, dtype=torch.bool)
    rule = Rule("left context", "{key} is not to the right of {query}.", all_true, all_true, index, index,
                unless="{key} is to the right of {query}, and attention is left-to-right.")
    return Visibility((rule,), pattern="causal")


def _right_to_left(time: int) -> Visibility:
    index, all_true = torch.arange(time), torch.ones(time, dtype=torch.bool)
    rule = Rule("right context", "{key} is not to the left of {query}.", all_true, all_true, -index, -index,
                unless="{key} is to the left of {query}, and attention is right-to-left.")
    return Visibility((rule,))


def _cloze(texts: Sequence[Sequence[int]], segments: Sequence[int], sees: Callable[..., Visibility], vocab: Vocabulary,
           rng: Random, rate: float, select: Sequence[int] | None, corrupt: Corruption) -> Example:
    """[CLS] A [SEP] …, masked; each text has its own segment, and ``sees(*lengths)`` gives the attention mask."""
    check_rate(rate)
    cls, sep = vocab.need("cls"), vocab.need("sep")
    parts = [[*([] if i else [cls]), *text, sep] for i, text in enumerate(texts)]
    whole = [token for part in parts for token in part]
    if select is None:
        words = [i for i, token in enumerate(whole) if token not in (cls, sep)]
        select = sample_ngrams(words, max(1, round(rate * len(whole))), rng)
    corrupted, targets = apply_masking(whole, sorted(select), vocab=vocab, rng=rng, corrupt=corrupt)
    return Example(
        tokens=corrupted,
        position_ids=torch.arange(len(whole))[None],
        segments=torch.tensor([segment for part, segment in zip(parts, segments, strict=False) for _ in part]),
        visible=sees(*map(len, parts)),
        targets=targets,
    )


def sample_ngrams(positions: Sequence[int], count: int, rng: Random) -> list[int]:
    """Sample ``count`` of the positions: single positions, or with probability 20 % a bigram or trigram (§2.4)."""
    available, chosen = set(positions), dict[int, None]()
    for start in shuffled(rng, positions):
        if start in chosen:
            continue
        size = 2 + randint(rng, LONGEST_GRAM - 1) if rng.random() < GRAMS else 1
        for neighbour in range(start, start + size):
            if neighbour not in available or len(chosen) == count:
                break
            chosen[neighbour] = None
        if len(chosen) == count:
            break
    return list(chosen)


def _sampled(shares: Mapping[str, float], rng: Random) -> Callable[..., Example]:
    """Sample one of the four objectives according to ``shares``, and the cut if that objective needs one."""
    ends = list(accumulate(shares.values()))
    name = list(shares)[min(bisect_right(ends, rng.random() * ends[-1]), len(ends) - 1)]
    return partial(prefix, cut=rng.random()) if MASKS[name] is prefix else MASKS[name]
