"""Word vectors learned from sentences: skip-gram or CBOW, with what the space looked like on the way."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
    """What came of a training: the model with its tokenizer, its history, and the space on the way.

    ``snapshots`` is updates made → the vectors then, the last those of the model; ``counts`` how often each of their
    words stood in the text.
    """

    model: Word2Vec
    tokenizer: Tokenizer
    history: History
    snapshots: Mapping[int, WordVectors]
    counts: tuple[int, ...] = field(repr=False)

    @property
    def vectors(self) -> WordVectors:
        """The vectors at the end."""
        return self.snapshots[max(self.snapshots)]


def vectors_of(model: Word2Vec, tokenizer: Tokenizer, *, output: bool = False) -> WordVectors:
    """The vectors of a model's words, special tokens left out; with ``output`` those of the words to be said."""
    ids = tokenizer.vocab.words
    table = (model.output if output else model.token).weight.detach().cpu()
    return WordVectors(tuple(str(tokenizer.backend.id_to_token(id)) for id in ids), table[torch.tensor(ids)])


def learn_vectors(
    sentences: Iterable[Sequence[str]], *, kind: type[Word2Vec] = SkipGram, size: int = 50, window: int = 5,
    negatives: int = 5, least: int = 1, most: int | None = None, sample: float = 0.0, rounds: int = 1, batch: int = 128,
    lr: float = 0.02, seed: int = 0, snapshots: int = 1, floor: float | None = None,
    show: bool | Literal["auto"] = "auto",
) -> LearnedVectors:
    """Go through the sentences ``rounds`` times, ``batch`` of them an update; the rate falls from ``lr`` to 0.

    Words that stand in the text fewer than ``least`` times, and the rarest beyond ``most``, are left out before windows
    are laid, as in word2vec. ``snapshots`` is how many states of the space are kept, the last among them, close
    together at the beginning. ``floor`` is drawn beside the curve. A ValueError where fewer than two words are left.
    """
    told = [*sentences]
    for sentence in told:
        refuse_string(sentence, "a sentence")
    counts = Counter(word for sentence in told for word in sentence)
    words = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
             if count >= least and word not in OURS][:most]
    if len(words) < 2:
        raise ValueError(f"the text has {len(counts):,} different words, of which {len(words)} stand in it {least} "
                         "times or more; vectors need at least two: give a longer text, or a smaller least=")
    tokenizer = word_tokenizer(words)
    id = dict(zip(words, tokenizer.vocab.words, strict=True))
    rows = [row for sentence in told if len(row := [id[word] for word in sentence if word in id]) > 1]
    if not rows:
        raise ValueError("no sentence of the text holds two of its words: there is nothing to learn from")
    batches = WindowBatches(rows, len(tokenizer), batch=batch, window=window, seed=seed, sample=sample)
    torch.manual_seed(seed)
    model = kind(Word2VecConfig(len(tokenizer), size, negatives))
    model.word_loss.set_noise(batches.counts)
    steps = rounds * batches.each_round
    kept: dict[int, WordVectors] = {}
    wanted = moments(steps, snapshots - 1)

    def watched(step: int) -> Batch:
        if step in wanted:
            kept[step] = vectors_of(model, tokenizer)
        return batches(step)

    history = fit(model, watched, steps=steps, lr=lr, weight_decay=0.0, clip=None, betas=(0.9, 0.999), show=show,
                  floor=floor)
    kept[len(history.losses)] = vectors_of(model, tokenizer)
    return LearnedVectors(model, tokenizer, history, kept, tuple(counts[word] for word in words))


def learn_text(text: str) -> Mapping[int, WordVectors]:
    """The space of a reader's own text as it forms, as ``VectorLab(train=learn_text)`` asks for it: update → vectors of
    its commonest words, `MOST` at most, that stand there `LEAST` times or more. Read once, or, a short text, as often
    as makes some `ENOUGH` words. A ValueError for a text that is too short."""
    sentences = list(word_sentences([text]))
    rounds = min(40, max(1, ENOUGH // max(1, sum(map(len, sentences)))))
    return learn_vectors(sentences, least=LEAST, most=MOST, rounds=rounds, batch=32, snapshots=12, show=False).snapshots


def moments(steps: int, count: int) -> set[int]:
    """``count`` updates between the first and the last, the last left out, closer together at the beginning."""
    return {round(steps * (i / count) ** 2) for i in range(count)}
