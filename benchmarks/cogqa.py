"""CogQA: System 1 compared with transformers' BERT with the same weights, and the speed of question answering.

``python benchmarks/cogqa.py [rounds]``, on the CPU with two threads. Loss and gradients of an update on the nodes of
eight questions: ours with both systems, ours with System 1 alone, and transformers' ``BertForTokenClassification`` with
four labels and the same loss. Then 90 test questions, a third each of one, two and three hops: ``cogqa-world``, and a
single-pass reader of the retrieved pages (whose weights do not affect its speed).
"""

import sys
import time
from random import Random
from typing import Any

import torch
from rounds import race, table
from torch import Tensor

from plmlab.chapters.ch14 import single_pass
from plmlab.chapters.ch14.answering import answer_question
from plmlab.chapters.ch14.gold_graphs import example
from plmlab.chapters.ch14.test_set import questions
from plmlab.chapters.ch14.training import KINDS, pages, pretrained, training_rows
from plmlab.checkpoints import load
from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.bert import BERT
from plmlab.models.cogqa import CogQA, span_losses
from plmlab.models.single_pass_reader import SinglePassReader
from plmlab.objectives.cognitive_graphs import CognitiveBatch
from plmlab.objectives.fine_tuning import label_of
from plmlab.objectives.single_pass_qa import with_support
from plmlab.world.questions.bank import Question

QUESTIONS = 8


def batch(vocab: Any, time: int) -> CognitiveBatch:
    """The nodes of some questions, starting with the first of each kind."""
    rng = Random(0)
    some = [training_rows(kind)[number] for number, kind in enumerate((*KINDS, *KINDS)[:QUESTIONS])]
    return CognitiveBatch.of([example(one, pages("train"), vocab, time, rng) for one in some], pad=vocab.need("pad"))


def their_system1(model: CogQA) -> Any:
    """transformers' BERT with the weights of ours, and an output layer of four labels."""
    from transformers import BertForTokenClassification

    bert: BERT = model.encoder
    base = to_hf(bert)
    base.config.num_labels = 4
    theirs = BertForTokenClassification(base.config)
    theirs.bert.load_state_dict(base.state_dict(), strict=False)
    theirs.classifier.load_state_dict(model.output.state_dict())
    return theirs.train()


def update(model: CogQA, vocab: Any, rounds: int) -> None:
    """Print the table of an update, after checking that both implementations have the same loss."""
    made = batch(vocab, model.encoder.config.time)
    theirs, reading = their_system1(model), made.reading
    mask, pointers = reading.padding_mask, label_of(reading, "pointers")

    def their_loss() -> Tensor:
        logits = theirs(reading.tokens, mask.long(), reading.segments).logits
        return span_losses(logits.masked_fill(~mask[..., None], float("-inf")), pointers).sum() / 2

    def our_loss() -> Tensor:
        losses = model.losses(made)
        return losses.hop + losses.answer

    assert torch.allclose(our_loss(), their_loss(), atol=1e-4), (our_loss(), their_loss())
    seconds = race({"both systems": lambda: model.loss(made).backward(),
                    "System 1, ours": lambda: (span_losses(model(reading), pointers).sum() / 2).backward(),
                    "System 1, transformers": lambda: their_loss().backward()}, rounds=rounds)
    print(f"\nan update, {reading.size[0]} nodes of {QUESTIONS} questions\n\n{table(seconds, int(mask.sum()))}")


def predicted_from_retrieved_pages(reader: SinglePassReader, question: Question) -> int:
    """Predict the answer to a question in a single pass over its retrieved pages; return how many pages were read."""
    articles = pages("test")
    text = single_pass.retrieved_text(question, "test", reader.encoder.config.time)
    reader.predict(Batch.of([with_support(articles.ids(question.words), single_pass.input_sentences(articles, text),
                                          None, (), vocab=articles.tokenizer.vocab)], pad=0))
    return len({clue.title for clue in text})


def answering(model: CogQA) -> None:
    """Print the number of questions answered per second, and the number of pages read per question."""
    reader, articles = SinglePassReader.from_pretrained(pretrained()).eval(), pages("test")
    some = [one for group in ("one hop", "2 hops", "3 hops") for one in questions("test")[group][:30]]
    ways = {"CogQA": lambda one: answer_question(model, articles, one).read,
            "single pass over the retrieved pages": lambda one: predicted_from_retrieved_pages(reader, one)}
    print("\n| | questions per second | pages per question |\n|---|--:|--:|")
    for name, answer in ways.items():
        answer(some[0])
        start = time.perf_counter()
        read = [answer(one) for one in some]
        speed = len(some) / (time.perf_counter() - start)
        print(f"| {name} | {speed:.0f} | {sum(read) / len(read):.1f} |")


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(2)
    model, spelled = load("cogqa-world")
    answering(model)
    update(model.train(), spelled.vocab, int(sys.argv[1]) if len(sys.argv) > 1 else 9)


if __name__ == "__main__":
    main()
