"""What the experiments of chapter 04 share: passages of the small world to translate, the models, how one is judged.

A batch to learn from has passages of one length, some 1,000 English words in all: so no time goes into padding (as in
Sutskever et al. 2014, §3.4), and short passages, from which alignments are learned first, come in larger numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise, zip_longest
from random import Random
from statistics import fmean
from typing import Any, Literal

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch04.end_only import EndOnlySeq2Seq
from plmlab.decode import ConditionedDecoder, greedy
from plmlab.draws import randint
from plmlab.example import PairBatch, PairExample
from plmlab.metrics import bleu
from plmlab.models.seq2seq import (
    AdditiveSeq2Seq,
    BidirectionalSeq2Seq,
    DotSeq2Seq,
    GeneralSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.passages import Passage, Words, passages
from plmlab.world.datasets.tokenizer import build_world_tokenizer, sentence_words

SHORTEST, LONGEST = 8, 60
"""The lengths that are aimed at in training, in English words."""
AIMS = (10, 20, 30, 40, 50, 60)
"""The lengths of the exam."""
WORDS = 1000
"""English words in a batch, about."""
WARMUP = 50
STOPS = {".", "?", "。", "？"}
WRITTEN = 100
"""The most tokens of a translation; 60 English words have at most 90 Chinese ones."""
RECURRENT: dict[str, type[Seq2Seq]] = {
    "fixed": Seq2Seq, "dot": DotSeq2Seq, "general": GeneralSeq2Seq, "two-way": BidirectionalSeq2Seq,
    "additive": AdditiveSeq2Seq, "end only": EndOnlySeq2Seq}
"""The recurrent arms: nothing but the last state; the scores over an encoder of one direction, and of two; and the
general score with only [END] in sight."""


@dataclass(frozen=True)
class Arm:
    """A way to translate: the ``kind`` of model, one of ``RECURRENT`` or a "transformer"; its ``width``; in which
    ``order`` it reads the English, as it stands, from the last word to the first, or from the last sentence to the
    first; how many positions of nothing stand between the English and its [END], a ``delay``; and the ``longest``
    passage that it learns from, in words."""

    kind: str
    width: int = 128
    order: Literal["forwards", "backwards", "last sentence first"] = "forwards"
    delay: int = 0
    longest: int = LONGEST

    def reads(self, passage: Passage) -> Passage:
        """A passage with its English in the order in which this arm reads it."""
        if self.order == "forwards":
            return passage
        return passage.reversed() if self.order == "backwards" else passage.last_sentence_first()


PLAIN = Arm("fixed")


@cache
def tokenizer() -> Tokenizer:
    """One token for each word of the small world's sentences, English and Chinese."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def ids() -> dict[str, int]:
    """Word → its id."""
    english, chinese = sentence_words(world.small())
    return {word: tokenizer().encode(word, plain=True)[0] for word in sorted(english | chinese)}


def example(passage: Passage, arm: Arm = PLAIN) -> PairExample:
    """A passage as an Example, as an arm reads it: its English is read, its Chinese written."""
    read = arm.reads(passage)
    source, target = ([ids()[word] for word in words] for words in (read.english, read.chinese))
    nothing = [tokenizer().vocab.need("sep")] * arm.delay
    return sequence_to_sequence([*source, *nothing], target, vocab=tokenizer().vocab)


def pairs(some: Sequence[Passage], arm: Arm = PLAIN) -> PairBatch:
    """The batch of some passages."""
    return PairBatch.of([example(passage, arm) for passage in some], pad=tokenizer().vocab.need("pad"))


def lessons(seed: int | str, arm: Arm = PLAIN) -> ExampleBatches:
    """Batches to learn from."""
    def drawn(rng: Random) -> list[PairExample]:
        aim = SHORTEST + randint(rng, arm.longest + 1 - SHORTEST)
        told = islice(passages(world.small(), "train", rng, range(aim, aim + 1)), round(WORDS / aim))
        return [example(passage, arm) for passage in told]
    return ExampleBatches(drawn, seed, tokenizer().vocab.need("pad"))


def test_set(aim: int, seed: int | str, count: int, split: str = "test") -> list[Passage]:
    """So many new passages of a length."""
    return list(islice(passages(world.small(), split, Random(f"exam {aim} {seed}"), range(aim, aim + 1)), count))


def new(arm: Arm, seed: int) -> Seq2Seq | Transformer:
    """An untrained model: one recurrent layer a side, or the Transformer's 2 + 2 layers."""
    torch.manual_seed(seed)
    if arm.kind == "transformer":
        return Transformer(TransformerConfig(len(tokenizer()), model=arm.width, inner=4 * arm.width, dropout=0.0,
                                             smoothing=0.0))
    return RECURRENT[arm.kind](Seq2SeqConfig(len(tokenizer()), model=arm.width))


def train(model: Seq2Seq | Transformer, arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a model for so many updates; its history."""
    return fit(model, lessons(seed, arm), steps=updates, lr=lr, warmup=min(WARMUP, updates), **options)


def learn(arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> tuple[Seq2Seq | Transformer, History]:
    """A model after so many updates, and its history."""
    model = new(arm, seed)
    return model, train(model, arm, updates, lr, seed, **options)


@torch.no_grad()
def loss(model: Seq2Seq | Transformer, some: Sequence[Passage], arm: Arm = PLAIN) -> float:
    """The mean loss in nats a token of the Chinese, [END] included, the right words before it being given."""
    tokens = [len(passage.chinese) + 1 for passage in some]
    model.eval()
    parts = [slice(begin, begin + 50) for begin in range(0, len(some), 50)]
    return sum(float(model.loss(pairs(some[part], arm))) * sum(tokens[part]) for part in parts) / sum(tokens)


def translations(model: Seq2Seq | Transformer, some: Sequence[Passage], arm: Arm = PLAIN) -> list[Words]:
    """What a model writes for each passage, greedily: its words, [END] left out."""
    vocab, found = tokenizer().vocab, []
    for begin in range(0, len(some), 50):
        source = pairs(some[begin:begin + 50], arm).source
        start = torch.full((len(source.tokens), 1), vocab.need("start"))
        found += greedy(ConditionedDecoder(model, source), start, vocab, length=WRITTEN)
    return [tuple(tokenizer().tokens([token for token in text.tokens if token != vocab.end])) for text in found]


def pieces(text: Sequence[str]) -> list[Words]:
    """A text in either language cut behind each full stop and question mark; what stands behind the last is a piece
    too."""
    cuts = [0, *(place + 1 for place, word in enumerate(text) if word in STOPS), len(text)]
    return [tuple(text[begin:end]) for begin, end in pairwise(cuts) if begin < end]


def judged(written: Sequence[Words], some: Sequence[Passage]) -> dict[str, float]:
    """How good translations are: ``exact``, the share that is right to the last word; ``sentences``, the mean share of
    a text's pieces that stand as they should, the first at the first place, and so on (one that is left out makes all
    behind it wrong); ``bleu``, of the words of the segmented Chinese, from 0 to 100, which hardly sees in which order
    sentences stand; ``length``, the words written for each word of the right text."""
    right = [[ours == theirs for ours, theirs in zip_longest(pieces(text), pieces(one.chinese))]
             for text, one in zip(written, some, strict=True)]
    return {"exact": fmean(map(all, right)), "sentences": fmean(map(fmean, right)),
            "bleu": bleu([" ".join(text) for text in written], [" ".join(one.chinese) for one in some]),
            "length": sum(map(len, written)) / sum(len(one.chinese) for one in some)}
