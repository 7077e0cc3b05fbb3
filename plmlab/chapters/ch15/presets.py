"""The chapter's example, and the presets of the Memory Recall Lab."""

from itertools import accumulate

from plmlab.chapters.ch15.answering import evaluation_documents
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.labs.memory_recall.presets import MemoryRecallPreset
from plmlab.world.datasets.long_documents import LongDocument
from plmlab.world.datasets.tokenizer import world_tokenizer

EXAMPLE = 122
LONGEST = 23
"""Maximum length of a block of the bundled model."""
PRESETS = ((EXAMPLE, "The second sentence enters in round 2"), (94, "Both sentences enter in round 1"),
           (37, "The second sentence is not found"), (9, "Both are found, but the answer is wrong"))
"""Indices of test documents, and their titles in the lab's menu; the first is the chapter's example."""


def documents() -> tuple[LongDocument, ...]:
    """Test documents up to the last preset."""
    return evaluation_documents("test", max(index for index, _ in PRESETS) + 1)


def example() -> LongDocument:
    """The document of the chapter's example."""
    return documents()[EXAMPLE]


def presets() -> list[MemoryRecallPreset]:
    """The presets of the chapter's lab."""
    return [preset(documents()[index], title) for index, title in PRESETS]


def preset(document: LongDocument, title: str) -> MemoryRecallPreset:
    """A document as a preset with this title, one block per line."""
    tokenizer = world_tokenizer()
    made = BlockedDocument.of(document, LONGEST)
    blocks = [block.ids[:-1] for block in made.blocks]
    starts = [0, *accumulate(map(len, blocks))]
    return MemoryRecallPreset(
        title, document.question.text, "\n".join(" ".join(tokenizer.tokens([*block])) for block in blocks),
        tuple((starts[position], starts[position + 1]) for position in made.relevant),
        " ".join(document.question.answer))
