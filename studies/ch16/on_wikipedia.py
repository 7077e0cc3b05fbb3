"""Retrieval from real text: the Wikipedia sample, cut into blocks, and the course's questions about it.

MiniLM was trained on over a billion pairs of related sentences; it is used without fine-tuning, with mean pooling over
a text. BM25 matches words. A block counts as relevant if it contains the sentence that a step of the question needs.
The second step of a bridge question is about a page that the question does not name: single-step retrieval does not
find this page, as chapter 14 explains, so no claim is made about it.

The rule was fixed before the run: MiniLM *beats BM25* if it finds the first step among four blocks for at least three
more questions, and vice versa; otherwise the 30 questions do not decide.
"""

from collections.abc import Sequence
from typing import Any

from plmlab.hf import minilm
from plmlab.hf.minilm_vectors import encoded
from plmlab.metrics import normalised
from plmlab.recipes import Parts
from plmlab.retrieval import BM25, FlatIndex
from plmlab.retrieval.blocks import Block, blocks
from plmlab.retrieval.wikipedia_questions import RealQuestion, Step, questions
from plmlab.text.wikipedia_pages import WikipediaPages

LONGEST = 128
"""Subwords per block, title included."""
MOST = (1, 4, 20)


def contains_evidence(block: Block, step: Step) -> bool:
    """Return whether a block contains what a step needs."""
    return block.page == step.page and step.sentence in block.text and step.found in block.text


def ranked(documents: Sequence[Block], queries: Sequence[RealQuestion]) -> dict[str, list[tuple[int, ...]]]:
    """For each question, the indices of the blocks that MiniLM and BM25 rank highest."""
    index = FlatIndex(384)
    index.add([block.text for block in documents], encoded([(block.title, block.text) for block in documents]))
    by_vector = index.search(encoded([(one.text, "") for one in queries]), max(MOST))
    words = BM25([normalised(f"{block.title} {block.text}").split() for block in documents])
    by_words = words.search([normalised(one.text).split() for one in queries], max(MOST))
    return {"MiniLM": by_vector.lists(), "BM25": by_words.lists()}


def found() -> dict[str, Any]:
    """The number of ``blocks``; and retriever → *first step* and *second step of a bridge question* → (k, number found
    among the top k blocks, number of questions)."""
    documents, queries = blocks(WikipediaPages(minilm()[1]), LONGEST), questions()
    made: dict[str, Any] = {"blocks": len(documents)}
    for name, rows in ranked(documents, queries).items():
        pairs = [*zip(rows, queries, strict=True)]
        steps = {"first step": [(row, one.steps[0]) for row, one in pairs],
                 "second step of a bridge question": [(row, one.steps[1]) for row, one in pairs
                                                      if one.form == "bridge"]}
        made[name] = {title: [(k, sum(any(contains_evidence(documents[number], step) for number in row[:k])
                                      for row, step in some), len(some)) for k in MOST]
                      for title, some in steps.items()}
    return made


def measure(parts: Parts) -> dict[str, Any]:
    """The results of `found`."""
    return parts(found, [()])[()]
