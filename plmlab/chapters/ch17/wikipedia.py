"""Retrieval from real text: the pages of the Wikipedia sample that the course's questions need, with MiniLM and BM25.

MiniLM replaces DPR. It was trained on over a billion pairs of related texts, and has one encoder for questions and
documents, with mean pooling. The generator of this chapter only knows the Small World, so that no answers are
generated.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from plmlab.hf.minilm_vectors import encoded, pieces
from plmlab.metrics import normalised
from plmlab.retrieval import BM25, FlatIndex, Retrieved
from plmlab.retrieval.blocks import Block, blocks
from plmlab.retrieval.wikipedia_questions import RealQuestion, questions
from plmlab.text.pages import TitledPages
from plmlab.text.wikipedia_pages import sentences

WORDS, LONGEST, TOP_K = 350, 128, 5
"""Words of a page, at least; subwords per block, title included; and documents retrieved per question."""


@cache
def page_blocks() -> tuple[Block, ...]:
    """The beginning of every page that a question needs, in blocks."""
    texts = {}
    for title in dict.fromkeys(step.page for question in questions() for step in question.steps):
        page = sentences()[title]
        lengths = accumulate(len(sentence.split()) for sentence in page)
        texts[title] = page[:sum(length < WORDS for length in lengths) + 1]
    return tuple(blocks(TitledPages(texts, {}, pieces()), LONGEST))


def retrieved() -> dict[str, Retrieved]:
    """Retriever → the best blocks for each question."""
    index = FlatIndex(384)
    index.add([block.text for block in page_blocks()], encoded([(block.title, block.text) for block in page_blocks()]))
    by_words = BM25([normalised(f"{block.title} {block.text}").split() for block in page_blocks()])
    return {"MiniLM": index.search(encoded([(one.text, "") for one in questions()]), TOP_K),
            "BM25": by_words.search([normalised(one.text).split() for one in questions()], TOP_K)}


def steps_found(question: RealQuestion, numbers: Sequence[int]) -> list[bool]:
    """Whether one of these blocks contains the excerpt that a step of the question needs, for each step."""
    return [any(page_blocks()[number].page == step.page and step.sentence in page_blocks()[number].text
                for number in numbers) for step in question.steps]
