"""Training of word vectors on sentences with skip-gram or CBOW, with snapshots of the vector space."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import torch

from plmlab.example import Batch
from plmlab.lists import refuse_string
from plmlab.models.word2vec import SkipGram, Word2Vec, Word2VecConfig
from plmlab.text.tokenizers import OURS, Tokenizer
from plmlab.text.words import word_sentences, word_tokenizer
from plmlab.train import History, fit
from plmlab.vectors.windows import WindowBatches
from plmlab.vectors.word_vectors import WordVectors

LEAST, MOST, ENOUGH = 3, 1500, 300_000


@dataclass(frozen=True)
class LearnedVectors:
    """Result of training word vectors: the model with its tokenizer, the history, and snapshots of the vector space.

    ``snapshots`` maps a number of updates to the vectors at that point; the last entry holds the final vectors.
    ``counts`` gives the frequency of each word in the text.
    """

    model: Word2Vec
    tokenizer: Tokenizer
    history: History
    snapshots: Mapping[int, WordVectors]
    counts: tuple[int, ...] = field(repr=False)

    @property
    def vectors(self) -> WordVectors:
        """The final vectors."""
        return self.snapshots[max(self.snapshots)]


def vectors_of(model: Word2Vec, tokenizer: Tokenizer, *, output: bool = False) -> WordVectors:
    """The vectors of a model's words, without special tokens; the output vectors if ``output`` is True."""
    ids = tokenizer.vocab.words
    table = (model.output if output else model.token).weight.detach().cpu()
    return WordVectors(tuple(str(tokenizer.backend.id_to_token(id)) for id in ids), table[torch.tensor(ids)])


@dataclass(frozen=True)
class EncodedText:
    """Sentences as ids, with the tokenizer of their vocabulary.

    ``counts`` gives the frequency of each word of the vocabulary, the most frequent word first; ``rows`` are the
    sentences as ids, without those that have fewer than two words of the vocabulary.
    """

    tokenizer: Tokenizer
    counts: tuple[int, ...] = field(repr=False)
    rows: Sequence[Sequence[int]] = field(repr=False)

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, least: int = 1, most: int | None = None) -> Self:
        """Encode sentences with a vocabulary of the words that occur at least ``least`` times, and of these the
        ``most`` most frequent. Raises ValueError if fewer than two words, or no sentence, are left."""
        texts = [*sentences]
        for sentence in texts:
            refuse_string(sentence, "a sentence")
        counts = Counter(word for sentence in texts for word in sentence)
        words = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
                 if count >= least and word not in OURS][:most]
        if len(words) < 2:
            raise ValueError(f"the text has {len(counts):,} different words, of which {len(words)} occur {least} times "
                             "or more; vectors need at least two: give a longer text, or a smaller least=")
        tokenizer = word_tokenizer(words)
        id = dict(zip(words, tokenizer.vocab.words, strict=True))
        rows = [row for sentence in texts if len(row := [id[word] for word in sentence if word in id]) > 1]
        if not rows:
            raise ValueError("no sentence of the text has two words of the vocabulary, so there is nothing to train on")
        return cls(tokenizer, tuple(counts[word] for word in words), rows)


class SnapshotBatches:
    """Batches for ``fit`` that record snapshots of a model's word vectors: ``count`` snapshots in ``steps`` updates,
    including the final one; they are denser at the beginning."""

    def __init__(self, batches: Callable[[int], Batch], model: Word2Vec, tokenizer: Tokenizer, *, steps: int,
                 count: int) -> None:
        self.batches, self.model, self.tokenizer = batches, model, tokenizer
        self.saved: dict[int, WordVectors] = {}
        self.wanted = moments(steps, count - 1)

    def __call__(self, step: int) -> Batch:
        """The batch of this step; records a snapshot first if this step has one."""
        if step in self.wanted:
            self.saved[step] = vectors_of(self.model, self.tokenizer)
        return self.batches(step)

    def finish(self, updates: int) -> Mapping[int, WordVectors]:
        """Record the final vectors, after ``updates`` updates, and return all snapshots: number of updates →
        vectors."""
        self.saved[updates] = vectors_of(self.model, self.tokenizer)
        return self.saved


def learn_vectors(
    sentences: Iterable[Sequence[str]], *, kind: type[Word2Vec] = SkipGram, size: int = 50, window: int = 5,
    negatives: int = 5, least: int = 1, most: int | None = None, sample: float = 0.0, rounds: int = 1, batch: int = 128,
    lr: float = 0.02, seed: int = 0, snapshots: int = 1, floor: float | None = None,
    show: bool | Literal["auto"] = "auto",
) -> LearnedVectors:
    """Train word vectors for ``rounds`` epochs with ``batch`` sentences per update; the learning rate decays from
    ``lr`` to 0.

    Words with fewer than ``least`` occurrences, and all but the ``most`` most frequent words, are removed before
    windows are formed, as in word2vec. ``snapshots`` is the number of snapshots of the vector space to keep, including
    the final one; they are denser at the beginning. ``floor`` is drawn in the plot of the learning curve. Raises
    ValueError if fewer than two words are left.
    """
    text = EncodedText.of(sentences, least=least, most=most)
    batches = WindowBatches(text.rows, len(text.tokenizer), batch=batch, window=window, seed=seed, sample=sample)
    torch.manual_seed(seed)
    model = kind(Word2VecConfig(len(text.tokenizer), size, negatives))
    model.word_loss.set_noise(batches.counts)
    steps = rounds * batches.batches_per_epoch
    recorder = SnapshotBatches(batches, model, text.tokenizer, steps=steps, count=snapshots)
    history = fit(model, recorder, steps=steps, lr=lr, weight_decay=0.0, clip=None, betas=(0.9, 0.999), show=show,
                  floor=floor)
    return LearnedVectors(model, text.tokenizer, history, recorder.finish(len(history.losses)), text.counts)


def learn_text(text: str) -> Mapping[int, WordVectors]:
    """Train word vectors on your own text, for ``VectorLab(train=learn_text)``. Returns update → vectors of the words
    that occur at least `LEAST` times, at most `MOST` words. A short text is repeated, up to about `ENOUGH` words in
    total. Raises ValueError if the text is too short."""
    sentences = list(word_sentences([text]))
    rounds = min(40, max(1, ENOUGH // max(1, sum(map(len, sentences)))))
    return learn_vectors(sentences, least=LEAST, most=MOST, rounds=rounds, batch=32, snapshots=12, show=False).snapshots


def moments(steps: int, count: int) -> set[int]:
    """The updates at which to take ``count`` snapshots, starting with the first update and excluding the last, denser
    at the start."""
    return {round(steps * (i / count) ** 2) for i in range(count)}
