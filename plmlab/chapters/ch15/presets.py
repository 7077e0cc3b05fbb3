"""The chapter's example, and the presets of the Memory Recall Lab."""

from functools import cache
from itertools import accumulate, islice

from plmlab.chapters.ch15.long_texts import block_spans, memory_blocks, relevant_blocks
from plmlab.labs.memory_recall.presets import MemoryRecallPreset
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.world import full

EXAMPLE = 0
LONGEST = 23
"""Maximum length of a block of the bundled model."""
PRESETS = ((EXAMPLE, "two hops"),)
"""Indices of test documents, and their titles in the lab's menu; the first is the chapter's example."""


@cache
def documents() -> tuple[LongDocument, ...]:
    """Test documents up to the last preset."""
    return tuple(islice(long_documents(full(), "test"), max(index for index, _ in PRESETS) + 1))


def example() -> LongDocument:
    """The document of the chapter's example."""
    return documents()[EXAMPLE]


def presets() -> list[MemoryRecallPreset]:
    """The presets of the chapter's lab."""
    return [preset(documents()[index], title) for index, title in PRESETS]


def preset(document: LongDocument, title: str) -> MemoryRecallPreset:
    """A document as a preset with this title, one block per line."""
    tokenizer = world_tokenizer()
    spans = block_spans(document, LONGEST)
    blocks = [block.ids[:-1] for block in memory_blocks(document, spans)]
    starts = [0, *accumulate(map(len, blocks))]
    return MemoryRecallPreset(
        title, document.question.text, "\n".join(" ".join(tokenizer.tokens([*block])) for block in blocks),
        tuple((starts[position], starts[position + 1]) for position in relevant_blocks(document, spans)),
        " ".join(document.question.answer))
