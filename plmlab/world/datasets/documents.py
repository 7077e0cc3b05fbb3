"""Short documents (文档) of a world: several consecutive sentences, for objectives that need more than one."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

from plmlab.batches import ExampleBatches
from plmlab.draws import randint
from plmlab.text import Tokenizer
from plmlab.world.datasets.texts import chinese_document_text, document_text
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World

MOST = 4
"""Maximum number of grammar sentences in a document."""


def documents(world: World, split: str, rng: Random, longest: int, *, articles: float = 0.5, least: int = 1,
              ) -> Iterator[list[Sentence]]:
    """Endless iterator over documents of at least ``least`` sentences and at most ``longest`` words in each language; a
    longer document of one sentence is kept.

    With probability ``articles``, a document is a run of consecutive sentences of an article, from a random sentence
    on; otherwise 1 to `MOST` independent sentences of the grammar, because the articles only state facts. The split
    "test" has no articles of its own, so its documents contain none.
    """
    articles = articles if split == "train" else 0.0
    pages = list(world.paired(split))
    stream = world.sentences(split, seed=randint(rng, 2**31))
    while True:
        if rng.random() < articles:
            article = pages[randint(rng, len(pages))]
            sentences = article.sentences[randint(rng, len(article.sentences)):]
        else:
            sentences = tuple(islice(stream, 1 + randint(rng, MOST)))
        fitting, words = [sentences[0]], longest - _words(sentences[0])
        for sentence in sentences[1:]:
            if (words := words - _words(sentence)) < 0:
                break
            fitting.append(sentence)
        if len(fitting) >= least:
            yield fitting


def _words(sentence: Sentence) -> int:
    return max(len(sentence.words), len(sentence.chinese))


def document_batches(world: World, split: str, tokenizer: Tokenizer, objective: Any, batch: int, seed: int, *,
                     longest: int, bilingual: bool = False, **options: Any) -> ExampleBatches:
    """Batches of ``batch`` newly sampled `documents`, each turned into an Example by ``objective``; ``bilingual``:
    each document is in Chinese with probability ½, and in only one language. ``options`` are those of `documents`."""
    def draw(rng: Random) -> list[Any]:
        chosen = islice(documents(world, split, rng, longest, **options), batch)
        texts = [(chinese_document_text if bilingual and rng.random() < 0.5 else document_text)(sentences, tokenizer)
                 for sentences in chosen]
        return [objective(text, vocab=tokenizer.vocab, rng=rng) for text in texts]

    return ExampleBatches(draw, seed, tokenizer.vocab.need("pad"))
