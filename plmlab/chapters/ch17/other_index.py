"""A second index of a world, in which some facts are different (hot-swapping the index, Lewis et al. 2020, §4.5)."""

from dataclasses import dataclass
from functools import cache
from random import Random

from plmlab.chapters.ch17.questions import ONE_FACT, PhraseQuestion, documents, questions
from plmlab.retrieval.blocks import Block
from plmlab.world.questions.bank import PLURAL


@dataclass(frozen=True)
class OtherIndex:
    """The ``blocks`` of a world after some facts were changed, the ``questions`` about these facts, and the new
    ``answers``; those of the questions are the old ones."""

    blocks: tuple[Block, ...]
    questions: tuple[PhraseQuestion, ...]
    answers: tuple[tuple[str, ...], ...]


@cache
def other_index(world: int) -> OtherIndex:
    """Change facts that questions ask for, at most one per block, in all blocks that state it."""
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
        if made is not None and genders[made.words] == genders[entity.words]:  # no "wife Leo Harlow"
            changed |= where
            asked.append(question)
            answers.append(made.words)
            for number, block in made.blocks.items():
                blocks[number] = block
    return OtherIndex(tuple(blocks), tuple(asked), tuple(answers))
