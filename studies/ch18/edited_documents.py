"""Answers of REALM and RAG to the statements of `FactWorld.test`, from documents in which the same facts are changed.

`realm-world` and `rag-world`, one model each, were trained on many worlds, but not on the test worlds. REALM gets the
statements; RAG gets a question about the same fact with the same answer (None if there is none).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from plmlab.chapters.ch18.fact_edits import Figures, Words, edited
from plmlab.checkpoints import load
from plmlab.models.rag import RetrieveAndGenerate
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.objectives.retrieval_batches import Query
from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.changed_documents import Changes, changed_documents
from plmlab.world.datasets.fact_worlds import FactStatement, FactWorld, fact_world
from plmlab.world.datasets.linked_texts import names
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

LENGTH, BEAM, CHUNK = 8, 4, 16
"""Maximum tokens of RAG's answer, its [END] included; beam size; questions per batch."""


class Asked(NamedTuple):
    """A statement as words, the indices of its masked ones, and a question about the same fact, if there is one."""

    words: Words
    masked: tuple[int, ...]
    question: str | None


def asked(world: FactWorld) -> list[Asked]:
    """The statements of the test, and questions about their facts."""
    questions = {(world.documents.plain(one.facts[0]), one.answer_entity): one.text
                 for split in ("train", "test") for one in world.world.questions("one-hop", split)}

    def of(one: FactStatement) -> Asked:
        start, end, _ = [*names(world.world, one.sentence)][one.mention]
        return Asked(one.sentence.words, tuple(range(start, end)),
                     questions.get((world.documents.plain(one.fact), one.fact.object)))
    return [of(one) for one in world.test]


def realm(blocks: Sequence[Block], statements: Sequence[Asked]) -> list[Words | None]:
    """REALM's answers from these documents."""
    lookup = RetrieveAndRead.of(load("realm-world", expect="realm")[0].eval(), world_tokenizer(), blocks)
    readings = lookup.read([Query(tuple(ids(one.words)), one.masked) for one in statements])
    return [tuple(world_tokenizer().tokens(one.answers[0])) for one in readings]


def rag(blocks: Sequence[Block], statements: Sequence[Asked]) -> list[Words | None]:
    """RAG's answers from these documents, where there is a question."""
    model, tokenizer = load("rag-world", expect="rag-token")[0].eval(), world_tokenizer()
    whole = RetrieveAndGenerate.of(model, model.question_encoder, tokenizer, blocks)
    texts = list(dict.fromkeys(one.question for one in statements if one.question is not None))
    found, made = whole.retrieve(texts), dict[str | None, Words]()
    for first in range(0, len(texts), CHUNK):
        chunk = slice(first, first + CHUNK)
        best = model.generate(whole.batch(texts[chunk], found[chunk]), tokenizer.vocab, length=LENGTH, beam=BEAM)
        for text, (answer, *_) in zip(texts[chunk], best, strict=True):
            made[text] = tuple(tokenizer.tokens([token for token in answer.tokens if token != tokenizer.vocab.end]))
    return [made.get(one.question) for one in statements]


SYSTEMS: dict[str, Callable[[Sequence[Block], Sequence[Asked]], list[Words | None]]] = {"REALM": realm, "RAG": rag}


def figures(system: str, seed: int) -> Figures:
    """The figures of `edited` for a system and the world with this seed."""
    world = fact_world(seed)
    statements = asked(world)

    def answered(changes: Changes) -> list[Words | None]:
        return SYSTEMS[system](changed_documents(world.documents, changes).blocks, statements)
    return edited(world, answered)
