"""A second index of a world, in which some facts are different (hot-swapping the index, Lewis et al. 2020, §4.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import eq
from random import Random
from statistics import fmean

from plmlab.chapters.ch17.arms import answers
from plmlab.chapters.ch17.questions import ONE_FACT, PhraseQuestion, documents, questions
from plmlab.chapters.ch17.training import dense
from plmlab.models.rag import RetrieveAndGenerate
from plmlab.models.text_retriever import TextCorpus
from plmlab.retrieval.blocks import Block
from plmlab.world.questions.bank import PLURAL
from plmlab.world.questions.chains import find_words


@dataclass(frozen=True)
class OtherIndex:
    """The ``blocks`` of a world after some facts were changed, the ``questions`` about these facts, and the new
    ``answers``; those of the questions are the old ones."""

    blocks: tuple[Block, ...]
    questions: tuple[PhraseQuestion, ...]
    answers: tuple[tuple[str, ...], ...]


@cache
def other_index(world: int) -> OtherIndex:
    """Change facts that questions ask for, at most one per block, in all blocks that state it. No changed block still
    contains the old answer."""
    corpus, rng = documents(world), Random(world)
    blocks, changed, asked, answers = [*corpus.blocks], set[int](), list[PhraseQuestion](), list[tuple[str, ...]]()
    for question in questions(world)[ONE_FACT]:
        part, = question.parts
        fact, = part.facts
        entity = corpus.world.facts[str(part.answer_entity)]
        where = corpus.tellers[corpus.plain(fact)]
        if where & changed or entity.kind in PLURAL:
            continue
        genders = {one.words: one.traits.get("gender") for one in corpus.world.facts.kind(entity.kind)}
        made = corpus.edited(fact, entity, part.answer, rng)
        if made is None or any(find_words(f"{block.title} {block.text}".split(), part.answer) is not None
                               for block in made.blocks.values()):
            continue
        if genders[made.words] == genders[entity.words]:  # no "wife Leo Harlow"
            changed |= where
            asked.append(question)
            answers.append(made.words)
            for number, block in made.blocks.items():
                blocks[number] = block
    return OtherIndex(tuple(blocks), tuple(asked), tuple(answers))


def swapped(with_documents: Callable[[int], RetrieveAndGenerate], worlds: Sequence[int]) -> dict[str, dict[str, float]]:
    """Index → facts → exact match with the answers that follow from these facts. Only the documents change, and their
    vectors, which are computed again; ``with_documents(world)`` is the RAG with the original ones."""
    correct: dict[str, dict[str, list[bool]]] = {name: {"original": [], "other": []} for name in ("original", "other")}
    for world in worlds:
        whole, other = with_documents(world), other_index(world)
        swap = whole.with_corpus(TextCorpus(whole.corpus.retriever, other.blocks))
        for name, rag in (("original", whole), ("other", swap)):
            words = answers(rag, other.questions, dense(rag, world, other.questions))
            for facts, expected in (("original", [one.answer for one in other.questions]), ("other", other.answers)):
                correct[name][facts] += map(eq, words, expected)
    return {index: {facts: fmean(found) for facts, found in by_facts.items()} for index, by_facts in correct.items()}
