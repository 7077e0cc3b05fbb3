"""Training batches of the single-pass baselines, with the same questions in the same updates as for CogQA, and their
answers.

*Gold pages* are the pages that a question needs, in random order. If they exceed the model's maximum length, the last
sentences that the question does not need are left out, so that the evidence is always in the input, which gives an
upper bound for reading. *Top pages* are those of the chapter (`plmlab.chapters.ch14.single_pass`).
"""

from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Literal

from plmlab.chapters.ch14.answering import Outcome, outcome, supporting
from plmlab.chapters.ch14.single_pass import (
    Text,
    answer_span,
    every_sentence,
    input_length,
    input_sentences,
    retrieved_text,
    truncated,
)
from plmlab.chapters.ch14.training import pages
from plmlab.draws import shuffled
from plmlab.example import Batch, Example
from plmlab.models.single_pass_reader import SinglePassReader
from plmlab.objectives.single_pass_qa import sentence_starts, with_support
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.questions.bank import Question
from studies.ch14.learning import sample_questions

InputPages = Literal["gold pages", "retrieved pages"]


def gold_text(question: Question, split: str, time: int, rng: Random) -> Text:
    """The sentences of the pages that a question needs. If there are too many for ``time`` positions, the last unneeded
    sentences are left out, but never the first sentence of a page, which names it."""
    articles = pages(split)
    text = every_sentence(articles, shuffled(rng, map(articles.title, question.needed)))
    needed = supporting(question, articles) | {clue for clue in text if clue.sentence == 0}
    for clue in [clue for clue in reversed(text) if clue not in needed]:
        if input_length(question, articles, text) > time:
            text.remove(clue)
    return truncated(question, articles, text, time)


def input_text(kind: InputPages, question: Question, split: str, time: int, rng: Random) -> Text:
    """The input text of a baseline of either kind."""
    return gold_text(question, split, time, rng) if kind == "gold pages" else retrieved_text(question, split, time)


def example(question: Question, articles: ArticlePages, text: Text) -> Example:
    """An Example of a question and its text, with the targets."""
    needed = supporting(question, articles)
    return with_support(articles.ids(question.words), input_sentences(articles, text),
                        answer_span(question, articles, text),
                        [number for number, clue in enumerate(text, 1) if clue in needed],
                        vocab=articles.tokenizer.vocab)


def batches(kind: InputPages, seed: int, time: int) -> Callable[[int], Batch]:
    """Return a function from a step to the questions of CogQA's update, each with its text."""
    def batch(step: int) -> Batch:
        rng, questions = sample_questions(seed, step)
        return Batch.of([example(question, pages("train"), input_text(kind, question, "train", time, rng))
                         for question in questions], pad=world_tokenizer().vocab.need("pad"))
    return batch


def answer_from_text(model: SinglePassReader, question: Question, split: str, text: Text) -> Outcome:
    """Answer a question from a text. The predicted supporting sentences are the sentence of the answer and all
    sentences with a predicted probability above ½."""
    articles = pages(split)
    ids = articles.ids(question.words)
    read = input_sentences(articles, text)
    batch = Batch.of([with_support(ids, read, None, (), vocab=articles.tokenizer.vocab)], pad=0)
    ((start, end), probs), = model.predict(batch.to(next(model.parameters()).device))
    positions = sentence_starts(ids, read)
    flat = [token for sentence in read for token in sentence]
    support = {clue for clue, (first, stop) in zip(text, pairwise(positions[1:]), strict=True)
               if probs[first] > 0.5 or first <= start < stop}
    return outcome(question, articles, articles.spelled(flat[start - positions[0]:end - positions[0]]), support,
                   len({clue.title for clue in text}))
