"""Contextual word vectors by layer: ELMo's biLM, untrained and trained, and the models with which it is compared."""

from collections.abc import Sequence

import torch

from plmlab.chapters.ch05.readers import Layers, Reader, by_rows, inside, of_bert
from plmlab.checkpoints import load
from plmlab.example import PairBatch
from plmlab.interpret import watch
from plmlab.models.elmo import ELMo
from plmlab.models.seq2seq import BidirectionalSeq2Seq
from plmlab.models.word2vec import Word2Vec
from plmlab.objectives import sequence_to_sequence
from plmlab.text import Tokenizer
from studies.ch05.pretrained import build, chinese, pretrained

READERS = ("word vectors", "biLM, untrained", "biLM", "biLM of words", "CoVe", "elmo-world", "BERT")
SEEDED = ("biLM, untrained", "biLM", "biLM of words", "CoVe")
"""Readers with several seeds."""
TWO_SIDED = (*SEEDED, "elmo-world")
"""Readers whose upper layers concatenate a forward and a backward half."""


def reader(name: str, folder: str, seed: int) -> Reader:
    """Return a reader of ``READERS``; models pretrained for this chapter are loaded from ``folder``.

    Raises ValueError for any other name.
    """
    if name not in READERS:
        raise ValueError(f"unknown reader {name!r}; expected one of {', '.join(READERS)}")
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
    """Reader for a biLM, which returns the context-independent word vectors (one copy), then all layers."""
    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        own, *upper = model.layers(sentences)
        return inside([own[..., :model.config.model], *upper], sentences)
    return by_rows(read)


def of_translator(model: BidirectionalSeq2Seq) -> Reader:
    """Reader for CoVe (McCann et al. 2017), which returns the word embeddings and the encoder layers of a translation
    model."""
    words = chinese()

    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        examples = [sequence_to_sequence(words.encode(" ".join(sentence), plain=True), [], vocab=words.vocab)
                    for sentence in sentences]
        batch = PairBatch.of(examples, pad=words.vocab.need("pad")).source
        with watch(model) as seen:
            model.read(batch)
        layers = [seen[f"encoder.layers.{number}.hidden"] for number in range(model.config.layers)]
        return inside([model.embed(batch.tokens), *layers], sentences, 0)
    return by_rows(read)


def of_table(model: Word2Vec, tokenizer: Tokenizer) -> Reader:
    """Reader for the word vectors of chapter 02, which are independent of context."""
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        rows = [tokenizer.encode(" ".join(sentence), plain=True) for sentence in sentences]
        return [model.token.weight.detach()[[token for row in rows for token in row]]]
    return read
