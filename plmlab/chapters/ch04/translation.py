"""Shared by the experiments of chapter 04: passages of the small world to translate, the models, and their evaluation.

A training batch contains passages of one length, with about 1,000 English words in total. This avoids padding (as in
Sutskever et al. 2014, §3.4) and means that short passages, from which alignments are learned first, come in larger
batches.
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
from plmlab.decode import ConditionedDecoder, greedy_texts
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
"""Range of passage lengths in training, in English words."""
AIMS = (10, 20, 30, 40, 50, 60)
"""Passage lengths in the test set, in English words."""
WORDS = 1000
"""Approximate number of English words in a batch."""
WARMUP = 50
STOPS = {".", "?", "。", "？"}
WRITTEN = 100
"""Maximum number of tokens in a translation; 60 English words have at most 90 Chinese words."""
RECURRENT: dict[str, type[Seq2Seq]] = {
    "fixed": Seq2Seq, "dot": DotSeq2Seq, "general": GeneralSeq2Seq, "two-way": BidirectionalSeq2Seq,
    "additive": AdditiveSeq2Seq, "end only": EndOnlySeq2Seq}
"""The recurrent models: without attention (last encoder state only); attention scores over a unidirectional and over a
bidirectional encoder; and the general score with only [END] visible."""


@dataclass(frozen=True)
class Variant:
    """A model configuration.

    Attributes:
        kind: a key of ``RECURRENT``, or "transformer".
        width: model dimension.
        order: the order of the English source: unchanged, reversed word by word, or with the last sentence first.
        delay: the number of padding tokens between the English words and [END].
        longest: maximum length of a training passage in words.
    """

    kind: str
    width: int = 128
    order: Literal["forwards", "backwards", "last sentence first"] = "forwards"
    delay: int = 0
    longest: int = LONGEST

    def reads(self, passage: Passage) -> Passage:
        """The passage with its English text in this configuration's order."""
        if self.order == "forwards":
            return passage
        return passage.reversed() if self.order == "backwards" else passage.last_sentence_first()


PLAIN = Variant("fixed")


@cache
def tokenizer() -> Tokenizer:
    """Tokenizer with one token per word of the small world's sentences, English and Chinese (cached)."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def ids() -> dict[str, int]:
    """Map each word to its token id (cached)."""
    english, chinese = sentence_words(world.small())
    return {word: tokenizer().encode(word, plain=True)[0] for word in sorted(english | chinese)}


def example(passage: Passage, arm: Variant = PLAIN) -> PairExample:
    """Convert a passage to an Example with an English source, in the configuration's order, and a Chinese target."""
    ordered = arm.reads(passage)
    source, target = ([ids()[word] for word in words] for words in (ordered.english, ordered.chinese))
    padding = [tokenizer().vocab.need("sep")] * arm.delay
    return sequence_to_sequence([*source, *padding], target, vocab=tokenizer().vocab)


def pairs(some: Sequence[Passage], arm: Variant = PLAIN) -> PairBatch:
    """Collate passages into a batch."""
    return PairBatch.of([example(passage, arm) for passage in some], pad=tokenizer().vocab.need("pad"))


def training_batches(seed: int | str, arm: Variant = PLAIN) -> ExampleBatches:
    """Training batches of random passages."""
    def drawn(rng: Random) -> list[PairExample]:
        aim = SHORTEST + randint(rng, arm.longest + 1 - SHORTEST)
        chosen = islice(passages(world.small(), "train", rng, range(aim, aim + 1)), round(WORDS / aim))
        return [example(passage, arm) for passage in chosen]
    return ExampleBatches(drawn, seed, tokenizer().vocab.need("pad"))


def test_set(aim: int, seed: int | str, count: int, split: str = "test") -> list[Passage]:
    """Test set of ``count`` new passages with ``aim`` English words each."""
    return list(islice(passages(world.small(), split, Random(f"exam {aim} {seed}"), range(aim, aim + 1)), count))


def new(arm: Variant, seed: int) -> Seq2Seq | Transformer:
    """Return an untrained model: a Seq2Seq with one recurrent layer in the encoder and one in the decoder, or a
    Transformer with 2 + 2 layers."""
    torch.manual_seed(seed)
    if arm.kind == "transformer":
        return Transformer(TransformerConfig(len(tokenizer()), model=arm.width, inner=4 * arm.width, dropout=0.0,
                                             smoothing=0.0))
    return RECURRENT[arm.kind](Seq2SeqConfig(len(tokenizer()), model=arm.width))


def train(model: Seq2Seq | Transformer, arm: Variant, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a model for ``updates`` steps and return the run's history."""
    return fit(model, training_batches(seed, arm), steps=updates, lr=lr, warmup=min(WARMUP, updates), **options)


def learn(arm: Variant, updates: int, lr: float, seed: int, **options: Any) -> tuple[Seq2Seq | Transformer, History]:
    """Build and train a model; return it with the run's history."""
    model = new(arm, seed)
    return model, train(model, arm, updates, lr, seed, **options)


@torch.no_grad()
def loss(model: Seq2Seq | Transformer, some: Sequence[Passage], arm: Variant = PLAIN) -> float:
    """Mean loss of the Chinese in nats per token ([END] included), with teacher forcing."""
    tokens = [len(passage.chinese) + 1 for passage in some]
    model.eval()
    parts = [slice(begin, begin + 50) for begin in range(0, len(some), 50)]
    return sum(float(model.loss(pairs(some[part], arm))) * sum(tokens[part]) for part in parts) / sum(tokens)


def translations(model: Seq2Seq | Transformer, some: Sequence[Passage], arm: Variant = PLAIN) -> list[Words]:
    """Translate each passage by greedy decoding; return the words without [END]."""
    vocab, outputs = tokenizer().vocab, []
    for begin in range(0, len(some), 50):
        source = pairs(some[begin:begin + 50], arm).source
        outputs += greedy_texts(ConditionedDecoder(model, source), len(source.tokens), vocab, length=WRITTEN)
    return [tuple(tokenizer().tokens(text)) for text in outputs]


def split_sentences(text: Sequence[str]) -> list[Words]:
    """Split a text in either language into sentences, after each full stop and question mark. Words after the last such
    mark form a sentence of their own."""
    cuts = [0, *(index + 1 for index, word in enumerate(text) if word in STOPS), len(text)]
    return [tuple(text[begin:end]) for begin, end in pairwise(cuts) if begin < end]


def evaluate_translations(written: Sequence[Words], some: Sequence[Passage]) -> dict[str, float]:
    """Quality of translations.

    ``exact``: fraction of passages translated without an error; ``sentences``: mean fraction of a passage's sentences
    that are correct and at the correct index (so an omitted sentence makes all later ones wrong); ``bleu``: BLEU over
    the segmented Chinese words, from 0 to 100, which is hardly sensitive to sentence order; ``length``: length relative
    to the reference.
    """
    correct = [[ours == theirs for ours, theirs in zip_longest(split_sentences(text), split_sentences(passage.chinese))]
               for text, passage in zip(written, some, strict=True)]
    return {"exact": fmean(map(all, correct)), "sentences": fmean(map(fmean, correct)),
            "bleu": bleu([" ".join(text) for text in written], [" ".join(passage.chinese) for passage in some]),
            "length": sum(map(len, written)) / sum(len(passage.chinese) for passage in some)}
