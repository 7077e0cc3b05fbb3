"""Generation speed: our GPT-2 with and without its KV cache, compared with transformers, greedy decoding, interleaved.

``python benchmarks/generation.py [rounds]``. 4 layers × 128, 4 heads, 64 positions, vocabulary 2,000, on the CPU with
two threads. A round generates 56 tokens after a prompt of 8, for one text and for a batch of eight.
"""

import sys

import torch
from rounds import race, table

from plmlab.decode import AutoregressiveModel, UncachedLM, greedy
from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.text.vocabulary import Vocabulary

VOCAB, PROMPT, LENGTH = Vocabulary(2000, end=None), 8, 56


def main(rounds: int) -> None:
    """Print a table for each batch size, after checking that all implementations generate the same tokens."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    ours = GPT2(GPTConfig(VOCAB.size, time=64, layers=4, model=128, heads=4, dropout=0.0)).eval()
    theirs = to_hf(ours)
    theirs.generation_config.eos_token_id = None

    def reread(texts: torch.Tensor) -> torch.Tensor:
        return ours(Batch.causal(torch.nn.functional.pad(texts, (0, 1))))[:, -1]

    for batch in (1, 8):
        prompts = torch.randint(100, VOCAB.size, (batch, PROMPT))

        def write(model: AutoregressiveModel, prompts: torch.Tensor = prompts) -> list[list[int]]:
            return [list(text.tokens) for text in greedy(model, prompts, VOCAB, length=LENGTH, banned=())]

        def generate(prompts: torch.Tensor = prompts) -> list[list[int]]:
            written = theirs.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=LENGTH,
                                      do_sample=False, use_cache=True, pad_token_id=0)
            return written[:, PROMPT:].tolist()

        assert write(ours) == write(UncachedLM(reread)) == generate()
        seconds = race({"plmlab": lambda write=write: write(ours),
                        "plmlab, without its cache": lambda write=write: write(UncachedLM(reread)),
                        "transformers": generate}, rounds=rounds)
        print(f"\n{'one text' if batch == 1 else f'batch of {batch} texts'}\n\n{table(seconds, batch * LENGTH)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
