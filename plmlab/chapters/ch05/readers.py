"""Who gives a word its vectors: ELMo's biLM, untrained or trained, and what it is held against, layer by layer."""

from collections.abc import Callable, Sequence
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab import transfer
from plmlab.chapters.ch05.pretrained import build, chinese, pretrained
from plmlab.checkpoints import load
from plmlab.example import PairBatch
from plmlab.interpret import watch
from plmlab.models.elmo import ELMo
from plmlab.models.seq2seq import TwoWaySeq2Seq
from plmlab.models.word2vec import Word2Vec
from plmlab.objectives import masked, sequence_to_sequence
from plmlab.text import Tokenizer
from plmlab.world.datasets.tokenizer import ids, spelling

Layers = list[Float[Tensor, "word width"]]
Reader = Callable[[Sequence[Sequence[str]]], Layers]
"""Sentences → a tensor a layer, a row a word, sentence by sentence."""
READERS = ("word vectors", "biLM, untrained", "biLM", "biLM of words", "CoVe", "elmo-world", "BERT")
SEEDED = ("biLM, untrained", "biLM", "biLM of words", "CoVe")
"""Those of which there are several seeds."""
TWO_SIDED = (*SEEDED, "elmo-world")
"""Those whose upper layers have what was read from the left and from the right side by side."""
ROWS = 256


def reader(name: str, folder: str, seed: int) -> Reader:
    """A reader by its name, one of ``READERS``; models that were pretrained for this chapter lie in ``folder``.
    ValueError for another name."""
    if name not in READERS:
        raise ValueError(f"a reader is one of {', '.join(READERS)}; {name!r} was given")
    if name == "word vectors":
        return of_table(*load("skipgram-world"))
    if name == "BERT":
        return of_bert()
    if name == "CoVe":
        return of_translator(pretrained(folder, "translation", seed))
    if name == "elmo-world":
        return of_elmo(load("elmo-world")[0])
    if name == "biLM, untrained":
        return of_elmo(build("characters", seed).eval())
    return of_elmo(pretrained(folder, "words" if name == "biLM of words" else "characters", seed))


def of_elmo(model: ELMo) -> Reader:
    """The layers of a biLM, from the words' own vectors, once, to the highest."""
    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        own, *upper = model.layers(sentences)
        return inside([own[..., :model.config.model], *upper], sentences)
    return by_rows(read)


def of_translator(model: TwoWaySeq2Seq) -> Reader:
    """CoVe (McCann et al. 2017): a translator's word vectors, and its encoder's layers."""
    words = chinese()

    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        examples = [sequence_to_sequence(words.encode(" ".join(one), plain=True), [], vocab=words.vocab)
                    for one in sentences]
        batch = PairBatch.of(examples, pad=words.vocab.need("pad")).source
        with watch(model) as seen:
            model.read(batch)
        layers = [seen[f"encoder.layers.{number}.hidden"] for number in range(model.config.layers)]
        return inside([model.embed(batch.tokens), *layers], sentences, 0)
    return by_rows(read)


def of_bert() -> Reader:
    """What comes with the course as ``bert-world``: the embeddings, and each layer."""
    model = load("bert-world")[0].bert

    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        with watch(model) as seen:
            model(transfer.batch_of(lambda one: masked(ids(one), vocab=spelling().vocab, rng=Random(0), select=()),
                                    sentences))
        return inside(seen.hidden(), sentences)
    return by_rows(read)


def of_table(model: Word2Vec, tokenizer: Tokenizer) -> Reader:
    """The vectors of chapter 02: one a word, whatever stands beside it."""
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        rows = [tokenizer.encode(" ".join(one), plain=True) for one in sentences]
        return [model.token.weight.detach()[[token for row in rows for token in row]]]
    return read


def inside(layers: Sequence[Float[Tensor, "batch time _"]], sentences: Sequence[Sequence[str]], before: int = 1,
           ) -> Layers:
    """The slots of words alone, where so many slots stand before each sentence."""
    return [torch.cat([row[before:before + len(words)] for row, words in zip(layer, sentences, strict=True)])
            for layer in layers]


def by_rows(read: Reader) -> Reader:
    """The same, some sentences at a time."""
    def whole(sentences: Sequence[Sequence[str]]) -> Layers:
        parts = [read(sentences[start:start + ROWS]) for start in range(0, len(sentences), ROWS)]
        return [torch.cat(layer) for layer in zip(*parts, strict=True)]
    return whole
