"""T5, T5 v1.1 and BART compared with those of ``transformers``: an update, and greedy generation, interleaved.

``python benchmarks/encoder_decoders.py [rounds]``. 3 + 3 layers × 128, 4 heads, vocabulary 2,000, no dropout, on the
CPU with one thread. An update is loss and gradients of 16 sources of 64 tokens with targets of 32; a generation is 32
tokens for each of 8 sources of 64, without [END]. Loss and generated tokens are first verified to be equal.
"""

import sys
from random import Random
from typing import Any, cast

import torch
from rounds import race, table
from transformers import logging

from plmlab.decode import ConditionedDecoder, greedy
from plmlab.example import PairBatch
from plmlab.hf import to_hf
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.registry import architecture_of
from plmlab.models.t5 import T5, T5Config, T5v11, T5v11Config
from plmlab.text.vocabulary import Vocabulary

TEXTS, SOURCE, TARGET, SOURCES = 16, 64, 32, 8
VOCAB = Vocabulary(2000)
END = VOCAB.need("end")
SIZE: dict[str, Any] = {"layers": 3, "model": 128, "heads": 4, "inner": 512, "dropout": 0.0}


def pairs(model: Any, count: int) -> PairBatch:
    """A batch of random pairs in the model's format, all of the same lengths and so without padding."""
    rng, example = Random(0), cast(Any, architecture_of(model).example)
    words = [[VOCAB.words[int(rng.random() * len(VOCAB.words))] for _ in range(SOURCE + TARGET)] for _ in range(count)]
    return PairBatch.of([example(row[:SOURCE], row[SOURCE:], VOCAB) for row in words], pad=0)


def compare(name: str, ours: Any, rounds: int) -> None:
    """Print the tables of a model: an update, and a generation."""
    theirs: Any = to_hf(ours).train()
    given = pairs(ours, TEXTS)
    inputs = {"input_ids": given.source.tokens, "decoder_input_ids": given.target.tokens,
              "labels": given.target.targets}
    torch.testing.assert_close(ours.loss(given), theirs(**inputs).loss, rtol=0, atol=1e-4)
    print(f"\n{name}: an update\n\n" + table(race({
        "plmlab": lambda: ours.loss(given).backward(),
        "transformers": lambda: theirs(**inputs).loss.backward(),
    }, rounds=rounds), given.source.tokens.numel() + given.target.tokens.numel()))

    ours.eval(), theirs.eval()
    sampled = pairs(ours, SOURCES)
    source = sampled.source
    starts = sampled.target.tokens[:, :2 if isinstance(ours, BART) else 1]  # BART: [END] [START]
    theirs.generation_config.eos_token_id = theirs.generation_config.forced_eos_token_id = None

    @torch.no_grad()
    def write() -> list[list[int]]:
        texts = greedy(ConditionedDecoder(ours, source), starts[:, -1:], VOCAB, length=TARGET, banned=(END,))
        return [list(text.tokens) for text in texts]

    def generate() -> list[list[int]]:
        texts = theirs.generate(source.tokens, attention_mask=torch.ones_like(source.tokens), decoder_input_ids=starts,
                                max_new_tokens=TARGET, do_sample=False, num_beams=1, use_cache=True, pad_token_id=0,
                                decoder_start_token_id=int(starts[0, 0]), suppress_tokens=[END])
        return texts[:, starts.shape[1]:].tolist()

    assert write() == generate()
    print(f"\n{name}: a generation\n\n" + table(race({"plmlab": write, "transformers": generate}, rounds=rounds),
                                                SOURCES * TARGET))


def main(rounds: int) -> None:
    """Print the tables of the three models."""
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    compare("BART", BART(BARTConfig(VOCAB.size, time=SOURCE + 4, **SIZE)), rounds)
    compare("T5", T5(T5Config(VOCAB.size, **SIZE)), rounds)
    compare("T5 v1.1", T5v11(T5v11Config(VOCAB.size, **SIZE)), rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
