"""How do other systems answer the questions of `studies.ch18.kbqa`? A measurement, not the test of a claim.

- *RAG*: the bundled one, which has been trained on one-hop and two-hop questions with full names, in both wordings.
- *First name*: the first name of the answer's kind in the documents that BM25 finds. The rule is given this kind and
  all names of this kind.
- *Most frequent*: the answer to the relation that is most frequent in the training questions, given the relation.

The documents are the articles that state all facts, as the knowledge base has all facts. Nothing is trained, so the
spread is that over the test worlds.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from statistics import fmean
from typing import Any

from plmlab.checkpoints import load
from plmlab.models.rag import TOP_K, RetrieveAndGenerate
from plmlab.recipes import Parts, seed_statistics
from plmlab.retrieval import BM25, Block, blocks
from plmlab.world.datasets.entity_questions import EntityQuestion, by_group, by_world
from plmlab.world.datasets.fact_documents import LONGEST, TEST_WORLDS
from plmlab.world.datasets.first_name import first_name
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch18.kbqa import BOTH, in_both_forms, questions, training, world

LENGTH, BEAM, CHUNK = 12, 4, 16
"""Maximum tokens of RAG's answers, [END] included; its beam size; questions per batch."""


@cache
def documents(seed: int) -> Sequence[Block]:
    """The articles of a world that state all its facts, as blocks."""
    return blocks(ArticlePages(world(seed), "facts", world_tokenizer()), LONGEST)


def rag(seed: int, some: Sequence[EntityQuestion]) -> list[bool]:
    """Whether the bundled RAG's most probable answer to each question about a world is correct."""
    model = load("rag-world", expect="rag-token")[0].eval()
    whole = RetrieveAndGenerate.of(model, model.question_encoder, world_tokenizer(), documents(seed))
    vocab, generated = whole.tokenizer.vocab, list[list[int]]()
    for first in range(0, len(some), CHUNK):
        texts = [" ".join(one.words) for one in some[first:first + CHUNK]]
        found = model.generate(whole.batch(texts, whole.retrieve(texts)), vocab, length=LENGTH, beam=BEAM)
        generated += [[token for token in best.tokens if token != vocab.end] for best, *_ in found]
    return [tokens == ids(one.answer_words) for tokens, one in zip(generated, some, strict=True)]


def first_name_of_kind(seed: int, some: Sequence[EntityQuestion]) -> list[bool]:
    """Whether the first name of the answer's kind in BM25's best documents is the answer."""
    names = defaultdict[str, set[tuple[str, ...]]](set)
    for one in questions(seed):
        names[kind_of(one.answer)].add(one.answer_words)
    texts = [f"{block.title} {block.text}" for block in documents(seed)]
    found = BM25([text.split() for text in texts]).search([one.words for one in some], TOP_K).lists()
    return [first_name(one.words, (documents(seed)[number].text for number in row), names[kind_of(one.answer)])
            == one.answer_words for one, row in zip(some, found, strict=True)]


def kind_of(key: str) -> str:
    """The kind of an entity, which is the first part of its key."""
    return key.split(":")[0]


def most_frequent(seed: int, some: Sequence[EntityQuestion]) -> list[bool]:
    """Whether the answer is the one that is most frequent among training questions with the same relation."""
    counts = defaultdict[str, Counter[str]](Counter)
    for one in training(BOTH, 0):
        counts[one.relation][one.answer] += 1
    return [counts[one.relation].most_common(1)[0][0] == one.answer for one in some]


SYSTEMS = {"RAG": rag, "first name": first_name_of_kind, "most frequent": most_frequent}
"""Name of a system → a function from a world's seed and questions about this world to whether each answer is
correct."""


def outcomes(system: str) -> list[bool]:
    """Whether a system answers each question about the test worlds correctly."""
    return by_world(in_both_forms(*TEST_WORLDS), SYSTEMS[system])


def measure(parts: Parts) -> dict[str, Any]:
    """System → group of questions → accuracy, with its spread over the test worlds."""
    correct, some = parts(outcomes, [(name,) for name in SYSTEMS]), in_both_forms(*TEST_WORLDS)

    def accuracy(name: str, seed: int) -> dict[str, float]:
        own = [pair for pair in zip(some, correct[name,], strict=True) if pair[0].world == seed]
        return by_group([one for one, _ in own], 0, [right for _, right in own], fmean)
    return {name: seed_statistics({seed: accuracy(name, seed) for seed in TEST_WORLDS}) for name in SYSTEMS}
