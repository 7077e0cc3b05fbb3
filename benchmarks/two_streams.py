"""XLNet and MPNet compared with those of ``transformers``, and the overhead of a second stream over BERT.

``python benchmarks/two_streams.py [rounds]``. 4 layers × 128, 4 heads, vocabulary 2,000, on the CPU with two threads:
32 texts of 64 positions, one word in six predicted; loss and gradients of an update, then a forward pass without a
query stream. The second table is for 2 layers × 64 and texts of 10 positions, as in chapter 11.
"""

import sys
from random import Random
from typing import Any

import torch
from rounds import race, table

from plmlab.example import IGNORE, Batch
from plmlab.hf import to_hf
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
from plmlab.models.xlnet import XLNetConfig, XLNetPretraining
from plmlab.objectives import masked, masked_and_permuted, permuted_targets
from plmlab.text.vocabulary import Vocabulary

TEXTS, VOCAB = 32, Vocabulary(2000)


def batch(objective: Any, positions: int) -> Batch:
    """A batch of random texts of ``positions`` positions, [SEP] and [CLS] included."""
    rng = Random(0)
    rows = [[VOCAB.words[int(rng.random() * len(VOCAB.words))] for _ in range(positions - 2)] for _ in range(TEXTS)]
    return Batch.of([objective(row, vocab=VOCAB, rng=rng) for row in rows], pad=0)


def asked_of_xlnet(given: Batch) -> dict[str, Any]:
    """The inputs of ``XLNetLMHeadModel`` for a batch; every text has the same number of targets."""
    asked = given.targets != IGNORE
    positions = asked.nonzero()[:, 1].view(TEXTS, -1)
    looks = given.query_stream_mask
    assert looks is not None and looks.pairs is not None
    return {"input_ids": given.tokens, "token_type_ids": given.segments, "perm_mask": (~looks.pairs).float(),
            "target_mapping": torch.nn.functional.one_hot(positions, given.size[1]).float(),
            "labels": given.targets[asked].view(TEXTS, -1)}


def side_by_side(layers: int, width: int, positions: int, rounds: int) -> None:
    """Print the tables for one size."""
    size = {"layers": layers, "model": width, "heads": 4, "inner": 4 * width, "dropout": 0.0}
    bert = BERTPretraining(BERTConfig(VOCAB.size, positions, attention_dropout=0.0, **size))
    xlnet = XLNetPretraining(XLNetConfig(VOCAB.size, **size))
    mpnet = MPNetPretraining(MPNetConfig(VOCAB.size, positions, attention_dropout=0.0, **size))
    theirs, their_mpnet = to_hf(xlnet).train(), to_hf(mpnet).train()
    masks, order, both = (batch(objective, positions) for objective in (masked, permuted_targets, masked_and_permuted))
    given = asked_of_xlnet(order)
    print(f"\n{layers} layers × {width}, {positions} tokens: an update\n\n" + table(race({
        "our XLNet": lambda: xlnet.loss(order).backward(),
        "transformers' XLNet": lambda: theirs(**given).loss.backward(),
        "our MPNet": lambda: mpnet.loss(both).backward(),
        "our BERT": lambda: bert.loss(masks).backward(),
    }, rounds=rounds), TEXTS * positions))
    tokens, segments = order.tokens, order.segments
    plain = Batch.of([objective_free(row) for row in tokens.tolist()], pad=0)
    xlnet.eval(), mpnet.eval(), theirs.eval(), their_mpnet.eval(), bert.eval()
    with torch.no_grad():
        print(f"\n{layers} layers × {width}, {positions} tokens: forward pass\n\n" + table(race({
            "our XLNet": lambda: xlnet(plain),
            "transformers' XLNet": lambda: theirs(input_ids=tokens, token_type_ids=segments),
            "our MPNet": lambda: mpnet(plain),
            "transformers' MPNet": lambda: their_mpnet(input_ids=tokens),
            "our BERT": lambda: bert(plain),
        }, rounds=rounds), TEXTS * positions))


def objective_free(tokens: list[int]) -> Any:
    """A text without targets, in which all positions attend to each other."""
    return masked(tokens[1:-1], vocab=VOCAB, rng=Random(0), select=())


def main(rounds: int) -> None:
    """Print all tables."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    side_by_side(4, 128, 64, rounds)
    side_by_side(2, 64, 10, rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
