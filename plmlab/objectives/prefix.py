"""UniLM's objective (统一语言模型): one cloze test, and four masks that say what a hidden word may be told from.

Everything is said in place: a position that shows [MASK] must say its own word, never the next one. What the mask
leaves in sight makes of this one question a BERT, a language model of either direction, or an encoder-decoder in one
network.

The paper tells shares and rates; of the authors' code only fine-tuning was published. Inferred from that and followed
here: segments 0 and 1 tell both directions, 2 from the left, 3 from the right, 4 and 5 source and target; a bigram or a
trigram begins at a drawn position and goes on while the words do; what would be one too many is cut. Ours: how one text
alone, which the paper never reads as source and target, is cut in two.
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
"""The segments of a source and of a target."""
GRAMS, LONGEST_GRAM = 0.2, 3
"""One time in five a bigram or a trigram is hidden, not one word (Dong et al. 2019, §2.4)."""
TARGET_RATE = 0.7
"""The share of a target that is hidden in fine-tuning (the authors' commands)."""
RATE = Choice("rate", "share of positions to predict", 0.15, 0.05, 0.6, 0.05)
PAPER = "Dong et al. 2019, §2.3, fig. 1"


@objective(
    title="cloze, both directions (UniLM)", chinese="双向语言模型", paper=PAPER, choices=(RATE,),
    question="What is new against BERT?",
    answer="Of the mask nothing: everyone sees everyone. New is that one time in five two or three neighbours are "
           "hidden together, and that the segments, A and B, tell the network which of four masks it reads under.",
)
def both_directions(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (),
                    rate: float = 0.15, select: Sequence[int] | None = None,
                    corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; everyone sees everyone. Segments 0 and 1.

    As `masked`, with bigrams and trigrams among what is hidden; the arguments are those of `masked`.
    """
    return _cloze([[*tokens], [*pair]] if pair else [[*tokens]], (0, 1), _full, vocab, rng, rate, select, corrupt)


@objective(
    title="cloze, left to right (UniLM)", chinese="从左到右语言模型", paper=PAPER, choices=(RATE,),
    question="GPT's positions say the next word. What does a position of this triangle say, and what may it see of "
             "itself?",
    answer="Its own word. It sees itself, and all it finds there is [MASK]. So only the hidden words teach, where GPT "
           "learns from every position.",
)
def left_to_right(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (),
                  rate: float = 0.15, select: Sequence[int] | None = None,
                  corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP], a pair run together to one text; each position sees itself and what stands before. Segment 2. The
    arguments are those of `masked`."""
    return _cloze([[*tokens, *pair]], (2,), _from_the_left, vocab, rng, rate, select, corrupt)


@objective(
    title="cloze, right to left (UniLM)", chinese="从右到左语言模型", paper=PAPER, choices=(RATE,),
    question="Read from the right, does a position know how long the text is?",
    answer="It sees where the text ends, and its own position counts the words before it. So it knows the length, and "
           "of the words before it nothing else. Read from the left, a position knows no end.",
)
def right_to_left(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (),
                  rate: float = 0.15, select: Sequence[int] | None = None,
                  corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP], a pair run together to one text; each position sees itself and what stands behind. Segment 3. The
    arguments are those of `masked`."""
    return _cloze([[*tokens, *pair]], (3,), _from_the_right, vocab, rng, rate, select, corrupt)


@objective(
    title="cloze, sequence to sequence (UniLM)", chinese="序列到序列语言模型", paper=PAPER,
    choices=(RATE, Choice("cut", "share that is the source", 0.5, 0.0, 0.95, 0.05)),
    question="Is this an encoder-decoder? Which square of its mask would be missing if it were a GPT?",
    answer="It is one network with one set of weights. In the upper left square the source sees itself to both sides; "
           "in a GPT that square is a triangle too. The rest is the same: the target sees all of the source, and of "
           "itself what was written.",
)
def prefix(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
           cut: float = 0.5, select: Sequence[int] | None = None,
           corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] source [SEP] target [SEP]; the source sees itself, the target the source and what stands before. Segments
    4 and 5.

    A ``pair`` is source and target. One text is cut in two: ``cut`` is the share of it that is the source, of which the
    target keeps one word at least. The other arguments are those of `masked`; words of both are hidden.
    """
    if not 0 <= cut <= 1:
        raise ValueError(f"cut is the share of a text that is the source, from 0 to 1; {cut} was given")
    if not pair:
        end = max(0, min(round(cut * len(tokens)), len(tokens) - 1))
        tokens, pair = tokens[:end], tokens[end:]
    return _cloze([[*tokens], [*pair]], (SOURCE, TARGET), source_and_target, vocab, rng, rate, select, corrupt)


MASKS: dict[str, Callable[..., Example]] = {
    "both directions": both_directions, "sequence to sequence": prefix, "left to right": left_to_right,
    "right to left": right_to_left}
"""The four, by name."""
SHARES = {"both directions": 1 / 3, "sequence to sequence": 1 / 3, "left to right": 1 / 6, "right to left": 1 / 6}
"""How often a text is read under each (§2.4)."""


@objective(
    title="cloze under one of four masks (UniLM)", chinese="统一语言模型", paper=PAPER, choices=(RATE,),
    question="Draw again some times. How does the network know under which mask it reads?",
    answer="By the segments: A and B under no mask, C from the left, D from the right, E and F for source and target. "
           "And by what it finds when it looks.",
)
def mask_mixture(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
            shares: Mapping[str, float] = SHARES, corrupt: Corruption = bert_80_10_10) -> Example:
    """One of the four, drawn by its share. A text that is read alone as source and target is cut anywhere."""
    return _drawn(shares, rng)(tokens, vocab=vocab, rng=rng, pair=pair, rate=rate, corrupt=corrupt)


def mask_mixture_pair(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                 rate: float = 0.15, shares: Mapping[str, float] = SHARES,
                 corrupt: Corruption = bert_80_10_10) -> Example:
    """A pair under one of the four; under both directions it is asked whether B follows A (§2.3), label
    ``next_sentence`` as in `plmlab.objectives.next_sentence`, elsewhere IGNORE.

    The other three read a text that goes on. Of a stranger, they read the first segment alone.
    """
    make = _drawn(shares, rng)
    asked = make is both_directions
    example = make(first, pair=second if follows or asked else (), vocab=vocab, rng=rng, rate=rate,
                   corrupt=corrupt)
    label = (IS_NEXT if follows else NOT_NEXT) if asked else IGNORE
    return changed(example, labels={"next_sentence": torch.tensor(label)})


@objective(
    title="fine-tuning to write (UniLM)", chinese="生成任务微调", paper="Dong et al. 2019, §2.5",
    choices=(Choice("rate", "share of the target to predict", TARGET_RATE, 0.05, 1.0, 0.05),),
    question="How does the network learn to stop?",
    answer="The [SEP] behind the target may be hidden like any word of it. Who says [SEP] at a [MASK] says that "
           "nothing more is to come.",
    texts=2,
)
def masked_seq2seq_target(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary, rng: Random,
                  rate: float = TARGET_RATE, select: Sequence[int] | None = None,
                  corrupt: Corruption = bert_80_10_10) -> Example:
    """As `prefix`, with words of the target alone hidden, and the [SEP] that ends it: ``round(rate · length)`` of its
    positions, one at least, each by itself (the authors' commands hide no bigrams here; their code leaves the [SEP] out
    of the length).

    ``select`` counts positions of the whole.
    """
    check_rate(rate)
    if select is None:
        begin = len(source) + 2
        positions = range(begin, begin + len(target) + 1)
        select = shuffled(rng, positions)[:max(1, round(rate * len(positions)))]
    return _cloze([[*source], [*target]], (SOURCE, TARGET), source_and_target, vocab, rng, rate, select, corrupt)


def unmasked_input(make: Callable[..., Example], tokens: Sequence[int], second: Sequence[int] | None,
               vocab: Vocabulary) -> Example:
    """What is read of a text, or of two, under one of the four masks with nothing hidden."""
    return make(tokens, pair=second or (), vocab=vocab, rng=Random(0), select=())


def source_alone(tokens: Sequence[int], vocab: Vocabulary) -> Example:
    """[CLS] A [SEP] as `prefix` reads a source, before anything of a target is there."""
    return _cloze([[*tokens]], (SOURCE,), _full, vocab, Random(0), 1.0, (), always_mask)


def source_and_target(source: int, target: int) -> Visibility:
    """Who may look at whom among so many positions of a source and so many of a target."""
    time = source + target
    place, everyone = torch.arange(time), torch.ones(time, dtype=torch.bool)
    read, written = place < source, place >= source
    return Visibility((
        Rule.between("all of the source", "{key} is of the source, which everyone may read.", everyone, read),
        Rule("what was written before", "{key} is written by the time it is the turn of {query}.", written, written,
             place, place, unless="{key} is written after {query}: to see it would be to see what is to be written."),
    ), otherwise="{query} is of the source, which is read before anything of the target is written.")


def _full(*lengths: int) -> Visibility:
    return Visibility.full(sum(lengths))


def _from_the_left(time: int) -> Visibility:
    place, everyone = torch.arange(time), torch.ones(time, dtype=torch.bool)
    rule = Rule("what stands before", "{key} is read by the time it is the turn of {query}.", everyone, everyone, place,
                place, unless="{key} stands further on, and the text is read from the left.")
    return Visibility((rule,), pattern="causal")


def _from_the_right(time: int) -> Visibility:
    place, everyone = torch.arange(time), torch.ones(time, dtype=torch.bool)
    rule = Rule("what stands behind", "{key} is read by the time it is the turn of {query}.", everyone, everyone,
                -place, -place, unless="{key} stands further left, and the text is read from the right.")
    return Visibility((rule,))


def _cloze(texts: Sequence[Sequence[int]], segments: Sequence[int], sees: Callable[..., Visibility], vocab: Vocabulary,
           rng: Random, rate: float, select: Sequence[int] | None, corrupt: Corruption) -> Example:
    """[CLS] A [SEP] …, each text in its segment, ``sees(*lengths)`` saying who may look at whom; some positions
    hidden."""
    check_rate(rate)
    cls, sep = vocab.need("cls"), vocab.need("sep")
    parts = [[*([] if i else [cls]), *text, sep] for i, text in enumerate(texts)]
    whole = [token for part in parts for token in part]
    if select is None:
        words = [position for position, token in enumerate(whole) if token not in (cls, sep)]
        select = sample_ngrams(words, max(1, round(rate * len(whole))), rng)
    shown, targets = apply_masking(whole, sorted(select), vocab=vocab, rng=rng, corrupt=corrupt)
    return Example(
        tokens=shown,
        position_ids=torch.arange(len(whole))[None],
        segments=torch.tensor([segment for part, segment in zip(parts, segments, strict=False) for _ in part]),
        visible=sees(*map(len, parts)),
        targets=targets,
    )


def sample_ngrams(positions: Sequence[int], count: int, rng: Random) -> list[int]:
    """So many of the positions, or all: single ones, and one time in five two or three neighbours (§2.4)."""
    among, chosen = set(positions), dict[int, None]()
    for position in shuffled(rng, positions):
        if position in chosen:
            continue
        size = 2 + randint(rng, LONGEST_GRAM - 1) if rng.random() < GRAMS else 1
        for neighbour in range(position, position + size):
            if neighbour not in among or len(chosen) == count:
                break
            chosen[neighbour] = None
        if len(chosen) == count:
            break
    return list(chosen)


def _drawn(shares: Mapping[str, float], rng: Random) -> Callable[..., Example]:
    """One of the four by its share; of a text that is to be cut, where."""
    ends = list(accumulate(shares.values()))
    name = list(shares)[min(bisect_right(ends, rng.random() * ends[-1]), len(ends) - 1)]
    return partial(prefix, cut=rng.random()) if MASKS[name] is prefix else MASKS[name]
