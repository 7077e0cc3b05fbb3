"""What does the reasoner need? The answers of `cogltx-world` if it reads the gold blocks alone, or among other blocks.

One trained model, so these numbers have no spread. *Linked articles* are selected without a neural network, by the
titles of the articles (`plmlab.chapters.ch15.baselines.linked_paragraphs`), and filled up with BM25's best blocks.
"""

from collections.abc import Mapping
from itertools import chain
from statistics import fmean

from plmlab.chapters.ch15.answering import Outcome, evaluation_documents
from plmlab.chapters.ch15.baselines import linked_paragraphs
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.chapters.ch15.selections import best_by_bm25, filled, gold_blocks, mem_recall, needed_blocks
from plmlab.checkpoints import load
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import Window
from plmlab.recipes import Parts
from studies.ch15.selection import TEST


def without_first(model: CogLTX, text: BlockedDocument) -> Window:
    """The blocks of the second supporting sentence and the start of the text, without those of the first one."""
    first, second = text.supports
    blocks = [block for block in text.blocks if block.position not in first or block.position in second]
    return filled(model, text, chain((text.blocks[position] for position in second), blocks))


def linked_articles(model: CogLTX, text: BlockedDocument) -> Window:
    """The articles that the title rule finds, then the blocks of `best_by_bm25`, each in the order of the text."""
    linked = [block for begin, end in linked_paragraphs(text.document)
              for block, (start, _) in zip(text.blocks, text.spans, strict=True) if begin <= start < end]
    return filled(model, text, chain(linked, best_by_bm25(model, text).blocks))


def selections(model: CogLTX, text: BlockedDocument) -> Mapping[str, Window]:
    """What the reasoner reads, by name."""
    memory = mem_recall(model, text)
    return {"gold blocks alone": filled(model, text, gold_blocks(text)), "gold blocks, start of the text":
            needed_blocks(model, text), "the same without the first sentence": without_first(model, text),
            "gold blocks, the judge's blocks": filled(model, text, chain(gold_blocks(text), memory.blocks)),
            "MemRecall": memory, "linked articles": linked_articles(model, text)}


def read(number: int = TEST) -> dict[str, dict[str, float]]:
    """Selection → exact match, and how often both supporting sentences were read."""
    model, _ = load("cogltx-world", expect="cogltx")
    found: dict[str, list[Outcome]] = {}
    for document in evaluation_documents("test", number):
        text = BlockedDocument.of(document, model.config.longest)
        for name, window in selections(model, text).items():
            found.setdefault(name, []).append(Outcome.of(text, model.answer(window).ids(text.blocks), [window]))
    return {name: {"exact match": fmean(one.answer for one in some),
                   "both": fmean(one.first and one.second for one in some)} for name, some in found.items()}


def measure(parts: Parts) -> dict[str, dict[str, float]]:
    """The result of `read`."""
    found: dict[str, dict[str, float]] = parts(read, [()])[()]
    return found
