"""MemRecall on real text: the questions about the Wikipedia sample, with a judge that is not trained for them."""

from functools import cache
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch15.long_texts import bm25_matrix
from plmlab.draws import sample, shuffled
from plmlab.hf.minilm_vectors import encoded, pieces
from plmlab.models.memory_recall import Judge, MemoryBlock, Window, recall, single_blocks
from plmlab.retrieval.wikipedia_questions import RealQuestion, questions
from plmlab.text import articles
from plmlab.text.splitting import costs_by_id, split_at_punctuation
from plmlab.world.questions.chains import find_words

PAGES, WORDS, LONGEST = 10, 350, 63
"""Pages per text, words per page, and tokens per block: the page's title included, [SEP] not."""
ONE, TWO = (None,), (3, None)
"""``keep`` of one step, and of the authors' two rounds."""


@cache
def page_blocks() -> dict[str, list[tuple[int, ...]]]:
    """Title → MiniLM's token ids of the blocks of the first 350 words, for each page that a question needs."""
    words, found = {article.title: article.text.split()[:WORDS] for article in articles()}, {}
    for title in dict.fromkeys(step.page for question in questions() for step in question.steps):
        heading, page = pieces().encode_all([f"{title},", " ".join(words[title])])
        spans = split_at_punctuation(page, costs_by_id(pieces().id), LONGEST - len(heading))
        found[title] = [(*heading, *page[start:end], pieces().id("[SEP]")) for start, end in spans]
    return found


def real_text(question: RealQuestion, seed: int = 0) -> tuple[Window, list[int]]:
    """The question with the blocks of its text, and per step the position of the block with the supporting excerpt. The
    text is ten pages, drawn and ordered by ``seed``: those that the question needs, and some that others need."""
    rng, needed = Random(f"{seed} {question.text}"), dict.fromkeys(step.page for step in question.steps)
    others = sample(rng, [title for title in page_blocks() if title not in needed], PAGES - len(needed))
    blocks = [block for title in shuffled(rng, [*needed, *others]) for block in page_blocks()[title]]
    supports = [blocks.index(block) for step in question.steps for block in page_blocks()[step.page]
                if find_words(block, pieces().encode(step.sentence)) is not None]
    query = tuple(pieces().encode(f"[CLS] {question.text} [SEP]"))
    return Window(query, tuple(map(MemoryBlock, range(len(blocks)), blocks))), supports


def judge_by(similarity: Float[Tensor, "context block"]) -> Judge:
    """Score a block by its similarity to the question (row 0), plus its highest similarity to another block of its
    window (row 1 + i for block i; 0 if none is positive)."""
    def scores(window: Window) -> list[float]:
        row = window.positions
        return (similarity[0, row] + similarity[1:][row][:, row].fill_diagonal_(0).amax(0)).tolist()  # type: ignore
    return lambda windows: [*map(scores, windows)]


@cache
def vectors() -> dict[tuple[int, ...], Float[Tensor, " axis"]]:
    """Token ids → MiniLM's vector, of length 1, for all questions and for all blocks without [SEP]."""
    texts = [*(tuple(pieces().encode(question.text)) for question in questions()),
             *(block[:-1] for blocks in page_blocks().values() for block in blocks)]
    return dict(zip(texts, encoded([(pieces().decode(ids), "") for ids in texts]), strict=True))


def supports_read(question: RealQuestion, seed: int = 0) -> dict[str, list[bool]]:
    """Selection → per step of the question, whether the block with the excerpt is in the final memory of 512 tokens."""
    text, supports = real_text(question, seed)
    contexts = [text.query[1:-1], *(block.ids[:-1] for block in text.blocks)]
    bm25, rows = bm25_matrix(contexts, text.blocks), torch.stack([vectors()[ids] for ids in contexts])
    cosine, none = rows @ rows[1:].T, torch.zeros_like(bm25)
    ways = {"first 512 tokens": (none, ONE), "BM25, one step": (bm25, ONE), "BM25, two rounds": (bm25, TWO),
            "MiniLM, one step": (cosine, ONE), "MiniLM, two rounds": (cosine, TWO),
            "gold blocks": (none.index_fill(1, torch.tensor(supports), 1), ONE)}
    kept = {name: recall(text.query, text.blocks, judge_by(matrix), grouping=single_blocks, keep=keep)[-1].kept.blocks
            for name, (matrix, keep) in ways.items()}
    return {name: [text.blocks[place] in blocks for place in supports] for name, blocks in kept.items()}
