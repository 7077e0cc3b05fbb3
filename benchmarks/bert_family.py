"""ALBERT and ELECTRA compared with those of ``transformers``, and ALBERT with and without shared layers.

``python benchmarks/bert_family.py [rounds]``. 4 layers × 128, 4 heads, vocabulary 2,000, 32 texts of 64 positions, 15 %
of them masked, no dropout, on the CPU with one thread: loss and gradients of an update, interleaved. Each pair is first
verified to have the same loss. ``transformers`` has no class that trains ELECTRA's two networks together; its generator
and its discriminator are run one after the other, with the same samples and without shared embeddings.
"""

import sys
from random import Random
from typing import Any

import torch
from rounds import race, table
from torch import Tensor
from torch.nn import functional as F
from transformers import AlbertForMaskedLM, logging

from plmlab.example import IGNORE, Batch
from plmlab.hf import to_hf
from plmlab.models.albert import ALBERTConfig, ALBERTPretraining, UnsharedALBERT
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.electra import ELECTRAPretraining, ELECTRAPretrainingConfig, replace_tokens, rtd_input, sample
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary

TEXTS, POSITIONS, VOCAB = 32, 64, Vocabulary(2000)
SIZE: dict[str, Any] = {"layers": 4, "model": 128, "heads": 4, "inner": 512, "dropout": 0.0, "attention_dropout": 0.0}


class UnsharedPretraining(ALBERTPretraining):
    """ALBERT with a layer for each depth."""

    encoder_class = UnsharedALBERT


def batch(objective: Any) -> Batch:
    """A batch of random texts, [CLS] and [SEP] included."""
    rng = Random(0)
    rows = [[VOCAB.words[int(rng.random() * len(VOCAB.words))] for _ in range(POSITIONS - 2)] for _ in range(TEXTS)]
    return Batch.of([objective(row, vocab=VOCAB, rng=rng) for row in rows], pad=0)


def compare_albert(rounds: int) -> None:
    """Print the table of ALBERT: ours, theirs, ours with a layer for each depth, and our BERT."""
    config, given = ALBERTConfig(VOCAB.size, POSITIONS, embedding=32, **SIZE), batch(masked)
    ours, unshared = ALBERTPretraining(config), UnsharedPretraining(config)
    bert = BERTPretraining(BERTConfig(VOCAB.size, POSITIONS, **SIZE))
    theirs = AlbertForMaskedLM(to_hf(ours).config).train()
    theirs.load_state_dict(to_hf(ours).state_dict(), strict=False)
    inputs = {"input_ids": given.tokens, "token_type_ids": given.segments, "labels": given.targets}
    torch.testing.assert_close(ours.loss(given), theirs(**inputs).loss, rtol=0, atol=1e-5)
    print("\nALBERT: an update\n\n" + table(race({
        "our ALBERT": lambda: ours.loss(given).backward(),
        "transformers' ALBERT": lambda: theirs(**inputs).loss.backward(),
        "our ALBERT, layers not shared": lambda: unshared.loss(given).backward(),
        "our BERT": lambda: bert.loss(given).backward(),
    }, rounds=rounds), TEXTS * POSITIONS))


def compare_electra(rounds: int) -> None:
    """Print the table of ELECTRA: our two networks, theirs, and our BERT."""
    given = batch(rtd_input)
    ours = ELECTRAPretraining(ELECTRAPretrainingConfig(VOCAB.size, POSITIONS, **SIZE))
    bert = BERTPretraining(BERTConfig(VOCAB.size, POSITIONS, **SIZE))
    generator, discriminator = to_hf(ours.generator).train(), to_hf(ours.discriminator).train()
    is_target, segments = given.targets != IGNORE, given.segments

    def their_loss() -> Tensor:
        logits = generator(input_ids=given.tokens, token_type_ids=segments).logits[is_target]
        corrupted, replaced = replace_tokens(given, sample(logits))
        found = discriminator(input_ids=corrupted.tokens, token_type_ids=segments, labels=replaced.long())
        return F.cross_entropy(logits, given.targets[is_target]) + ours.config.weight * found.loss

    losses = []
    for loss in (lambda: ours.loss(given), their_loss):
        torch.manual_seed(0)
        losses.append(loss())
    torch.testing.assert_close(*losses, rtol=0, atol=1e-3)
    print("\nELECTRA, both networks: an update\n\n" + table(race({
        "our ELECTRA": lambda: ours.loss(given).backward(),
        "transformers' ELECTRA": lambda: their_loss().backward(),
        "our BERT": lambda: bert.loss(given).backward(),
    }, rounds=rounds), TEXTS * POSITIONS))


def main(rounds: int) -> None:
    """Print both tables."""
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    compare_albert(rounds)
    compare_electra(rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
