"""RAG compared with that of ``transformers``: both losses with their gradients, thorough decoding and beam search.

``OMP_WAIT_POLICY=PASSIVE python benchmarks/rag.py [rounds]``, on the CPU with two threads. Question encoder and BART of
4 layers × 128, 4 heads, vocabulary 2,000, no dropout; 8 questions of 14 to 18 tokens, 5 documents each (56 to 64 tokens
per pair), answers of 8 targets; generation with a beam of 4 and at most 8 tokens. Each run includes the question
encoder; the document vectors are given. Losses and answers are first verified to be equal in float64; the timed runs
are in float32. Both decoders' input is [START] and the answer. The losses are equal only for two targets or more: their
RAG-Sequence adds log p(z|x) to the second. It searches without an attention mask; here it gets one.
"""

import sys
from dataclasses import dataclass, replace
from random import Random
from statistics import median
from typing import Any, cast

import torch
from rounds import race, relative_speed
from torch import Tensor
from torch.nn import functional as F
from transformers import logging

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.hf import to_hf
from plmlab.models.bart import BART, BART_ENCODER_DECODER, BARTConfig
from plmlab.models.dpr import DPRConfig, QuestionEncoder
from plmlab.models.rag import RAGSequence, RAGToken
from plmlab.objectives.answer_generation import AnswerBatch
from plmlab.objectives.reader_inputs import query_input
from plmlab.retrieval import Retrieved
from plmlab.text.vocabulary import Vocabulary

QUESTIONS, DOCS, BEAM, LENGTH, TIME, VOCAB = 8, 5, 4, 8, 64, Vocabulary(2000)
START, END, PAD = (VOCAB.need(name) for name in ("start", "end", "pad"))
IDS = {"eos_token_id": END, "pad_token_id": PAD, "decoder_start_token_id": END, "forced_bos_token_id": START}
SIZE: dict[str, Any] = {"layers": 4, "model": 128, "heads": 4, "inner": 512, "dropout": 0.0, "attention_dropout": 0.0}


def questions(width: int, dtype: torch.dtype) -> AnswerBatch:
    """Random questions, pairs of a question and a document, answers, and document vectors."""
    rng, example = Random(0), cast(Any, BART_ENCODER_DECODER.example)
    def words(least: int, more: int = 0) -> list[int]:
        return [VOCAB.words[int(rng.random() * len(VOCAB.words))] for _ in range(least + int(rng.random() * more))]
    queries = [query_input(tuple(words(12, 5)), (), VOCAB) for _ in range(QUESTIONS)]  # and [CLS], [SEP]
    answers = [words(LENGTH - 1) for _ in queries]
    pairs = PairBatch.of([example(words(54, 9), answer, VOCAB) for answer in answers for _ in range(DOCS)], pad=PAD)
    labels = pairs.target.targets  # [START], the answer, [END]
    target = replace(pairs.target, tokens=labels, targets=F.pad(labels[:, 1:], (0, 1), value=IGNORE))
    vectors = torch.randn(QUESTIONS * DOCS, width, generator=torch.Generator().manual_seed(0)) / width ** 0.5
    found = Retrieved.of(torch.arange(len(vectors)).view(QUESTIONS, DOCS).tolist())
    return AnswerBatch(Batch.of(queries, pad=PAD), found, vectors.to(dtype), replace(pairs, target=target))


@dataclass
class Both:
    """Our RAG and theirs with the same weights, and the input of both."""

    ours: RAGSequence
    theirs: Any
    batch: AnswerBatch

    @classmethod
    def of(cls, kind: type[RAGSequence], dtype: torch.dtype) -> "Both":
        """Random weights. The output bias keeps special tokens except [END] out of the answers of theirs, as ours."""
        torch.manual_seed(0)
        ours = kind.from_pretrained(QuestionEncoder(DPRConfig(VOCAB.size, TIME, **SIZE)),
                                    BART(BARTConfig(VOCAB.size, time=TIME, **SIZE)))
        ours.generator.output_bias.data[[*VOCAB.special - {END}]] = -40.0
        theirs: Any = to_hf(ours.to(dtype)).to(dtype)
        theirs.config.n_docs, theirs.config.bos_token_id, theirs.config.generator.pad_token_id = DOCS, START, PAD
        if kind is RAGSequence:
            search = theirs.generator.generate
            theirs.generator.generate = lambda tokens, **how: search(tokens, **how | {"attention_mask": tokens != PAD})
        return cls(ours, theirs, questions(ours.config.width, dtype))

    def told(self) -> dict[str, Tensor]:
        asked, source = self.batch.queries, self.batch.reader_inputs.source.tokens
        vectors = self.theirs.question_encoder(asked.tokens, asked.padding_mask.long(), asked.segments)[0]
        scores = torch.einsum("qw,qdw->qd", vectors, self.batch.documents.view(QUESTIONS, DOCS, -1))
        return {"context_input_ids": source, "context_attention_mask": (source != PAD).long(), "doc_scores": scores}

    def their_loss(self) -> Tensor:
        return self.theirs(**self.told(), labels=self.batch.reader_inputs.target.tokens[::DOCS]).loss.mean()

    def our_answers(self) -> list[list[int]]:
        found = self.ours.generate(self.batch, VOCAB, length=LENGTH, beam=BEAM)
        return [[*text.tokens] for row in found for text in row[:BEAM]]

    @torch.no_grad()
    def their_answers(self) -> list[list[int]]:
        rows = self.theirs.generate(**self.told(), num_beams=BEAM, num_return_sequences=BEAM, max_length=LENGTH + 2,
                                    do_sample=False, length_penalty=0.0, early_stopping="never", **IDS)[:, 2:].tolist()
        return [row[:row.index(END) + 1] if END in row else row for row in rows]


def line(name: str, seconds: dict[str, list[float]]) -> str:
    """A row of the table; the relative speed is the median over rounds, with its quartiles in parentheses."""
    ours, theirs = seconds.values()
    return f"| {name} | {median(ours):.3f} | {median(theirs):.3f} | {relative_speed(ours, theirs)} |"


def compare(kind: type[RAGSequence], names: tuple[str, str], rounds: int) -> None:
    """Print the rows of a RAG, after verifying that losses and answers are equal."""
    exact, both = Both.of(kind, torch.float64), Both.of(kind, torch.float32)
    torch.testing.assert_close(exact.ours.loss(exact.batch), exact.their_loss(), rtol=0, atol=1e-9)
    print(line(names[0], race({"plmlab": lambda: both.ours.loss(both.batch).backward(),
                               "transformers": lambda: both.their_loss().backward()}, rounds=rounds)), flush=True)
    for model in (exact.ours, exact.theirs, both.ours, both.theirs):
        model.eval()
    assert exact.our_answers() == exact.their_answers()
    print(line(names[1], race({"plmlab": both.our_answers, "transformers": both.their_answers}, rounds=rounds)))


if __name__ == "__main__":
    logging.set_verbosity_error()
    torch.set_num_threads(2)
    print("| | plmlab, s | transformers, s | relative speed of transformers |\n|---|--:|--:|--:|")
    for kind, name, how in (RAGSequence, "RAG-Sequence", "thorough decoding"), (RAGToken, "RAG-Token", "beam search"):
        compare(kind, (f"{name}: loss and gradients", f"{name}: {how}"), int([*sys.argv, "15"][1]))
