"""Generation, training and search with an LSTM, compared with ``torch.nn.LSTM`` in a manual loop.

``python benchmarks/decoding.py [rounds]``. Width 180, two layers, 1,452 tokens, the size of lstm-world, with which the
searches are timed. One thread unless stated.
"""

import math
import sys
from collections.abc import Callable

import torch
from rounds import race, table
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.checkpoints import load
from plmlab.decode import beam_search, exact_search, greedy
from plmlab.example import Batch
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.text.vocabulary import Vocabulary

VOCAB, WIDTH, LAYERS, LENGTH = Vocabulary(1452, end=None), 180, 2, 40
PROMPTS = ("", "the", "he", "in the", "she went to", "the capital of")


class ByHand(nn.Module):
    """The same model made of PyTorch's own modules, with the weights of one of ours."""

    def __init__(self, ours: LSTMLanguageModel) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCAB.size, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, LAYERS, batch_first=True)
        self.bias = nn.Parameter(torch.zeros(VOCAB.size))
        with torch.no_grad():
            self.token.weight.copy_(ours.token.weight)
            for layer, cell in enumerate(ours.recurrent.cells):
                for name, weight in cell.named_parameters():
                    getattr(self.lstm, f"{name}_l{layer}").copy_(weight)

    def loss(self, batch: Batch) -> Tensor:
        logits = F.linear(self.lstm(self.token(batch.tokens))[0], self.token.weight, self.bias)
        return F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())

    @torch.no_grad()
    def write(self, prompts: Tensor) -> list[list[int]]:
        read, carried, written = prompts, None, []
        for _ in range(LENGTH):
            shown, carried = self.lstm(self.token(read), carried)
            read = F.linear(shown[:, -1], self.token.weight, self.bias).argmax(-1)[:, None]
            written.append(read)
        return torch.cat(written, 1).tolist()


def pair() -> tuple[LSTMLanguageModel, ByHand]:
    """One model of each kind with the same weights, large enough that its texts are not all alike."""
    ours = LSTMLanguageModel(RecurrentConfig(VOCAB.size, LAYERS, WIDTH, dropout=0.0))
    nn.init.normal_(ours.token.weight)
    return ours, ByHand(ours)


def writing(rounds: int) -> None:
    """Print the speed of greedy generation, for one text and for a batch of 32."""
    ours, theirs = (model.eval() for model in pair())
    for batch in (1, 32):
        prompts = torch.randint(100, VOCAB.size, (batch, 1))

        def write(prompts: Tensor = prompts) -> list[list[int]]:
            return [list(text.tokens) for text in greedy(ours, prompts, VOCAB, length=LENGTH, banned=())]

        assert write() == theirs.write(prompts)
        seconds = race({"manual loop": lambda prompts=prompts: theirs.write(prompts),
                        "plmlab": write}, rounds=rounds)
        print(f"\nGreedy, batch of {batch}\n\n{table(seconds, batch * LENGTH)}")


def update(model: nn.Module, batch: Batch) -> Callable[[], float]:
    """A function that makes one step of Adam and returns the loss before it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run() -> float:
        optimizer.zero_grad()
        loss = model.loss(batch)
        loss.backward()
        optimizer.step()
        return loss.item()
    return run


def training(rounds: int) -> None:
    """Print the speed of training updates (forward, backward, step) on 64 texts of 64 tokens."""
    for threads in (1, 2):
        torch.set_num_threads(threads)
        ours, theirs = pair()
        batch = Batch.causal(torch.randint(100, VOCAB.size, (64, 65)))
        runners = {"manual loop": update(theirs, batch), "plmlab": update(ours, batch)}
        for _ in range(3):
            first, second = (run() for run in runners.values())
            assert math.isclose(first, second, rel_tol=1e-4)
        print(f"\nTraining, {threads} thread{'s' if threads > 1 else ''}\n")
        print(table(race(runners, rounds=rounds), batch.tokens.numel()))
    torch.set_num_threads(1)


def beams(rounds: int) -> None:
    """Print the speed of beam search from 32 prompts, as a batch and one by one, to [END] or 20 tokens."""
    model, tokenizer = load("lstm-world")
    prompts = torch.tensor([[tokenizer.vocab.start, word] for word in tokenizer.vocab.words[:320:10]])
    for beam in (1, 4, 10):
        def together(beam: int = beam) -> list[tuple[int, ...]]:
            return [found[0].tokens for found in beam_search(model, prompts, tokenizer.vocab, length=20, beam=beam)]

        def alone(beam: int = beam) -> list[tuple[int, ...]]:
            return [beam_search(model, prompt[None], tokenizer.vocab, length=20, beam=beam)[0][0].tokens
                    for prompt in prompts]

        found = together()
        assert found == alone()
        seconds = race({"one by one": alone, "batch of 32": together}, rounds=rounds)
        print(f"\nBeam {beam}\n\n{table(seconds, sum(map(len, found)))}")


def exact(rounds: int) -> None:
    """Print the most probable text after some prompts, compared with the best of a beam of 10."""
    model, tokenizer = load("lstm-world")
    vocab = tokenizer.vocab
    print("\n| prompt | p of the best text | p of a beam of 10's | prefixes, widest depth | prefixes, total | ms |")
    print("|---|--:|--:|--:|--:|--:|")
    for words in PROMPTS:
        prompt = torch.tensor([[vocab.start, *tokenizer.encode(words, plain=True)]])
        found = exact_search(model, prompt, vocab, length=30)
        [[beamed, *_]] = beam_search(model, prompt, vocab, length=30, beam=10)
        turns = race({"": lambda prompt=prompt: exact_search(model, prompt, vocab, length=30)}, rounds=rounds)[""]
        print(f"| {words or '[START]'} | {math.exp(found.best[0].logprob):.5f} | {math.exp(beamed.logprob):.5f} | "
              f"{max(found.visited):,} | {sum(found.visited):,} | {1000 * sorted(turns)[len(turns) // 2]:.0f} |")


def main(rounds: int) -> None:
    """Print all tables."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    writing(rounds)
    training(rounds)
    beams(max(1, rounds // 4))
    exact(max(1, rounds // 4))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
