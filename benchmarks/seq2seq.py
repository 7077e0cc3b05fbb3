"""Our recurrent translation models compared with ``torch.nn.LSTM``: ``python benchmarks/seq2seq.py [ROUNDS]``.

An update (forward and backward pass) on source sentences of 30 words and translations of 36; and greedy generation of
40 tokens for a batch of 32. "torch, attention" is a typical implementation: two LSTMs, and ``nn.MultiheadAttention``
with one head between them, which has four projections where ours has one or two.
"""

import sys
from collections.abc import Callable
from random import Random

import torch
from rounds import race, table
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.decode import ConditionedDecoder, greedy
from plmlab.example import PairBatch
from plmlab.models.seq2seq import AdditiveSeq2Seq, DotSeq2Seq, GeneralSeq2Seq, Seq2Seq, Seq2SeqConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

BATCH, READ, WRITTEN, WORDS, WIDTH, LENGTH = 32, 30, 36, 300, 128, 40


class Torch(nn.Module):
    """An encoder–decoder made of PyTorch's LSTMs."""

    def __init__(self, vocab: int, attends: bool) -> None:
        super().__init__()
        self.token = nn.Embedding(vocab, WIDTH)
        self.encoder, self.decoder = (nn.LSTM(WIDTH, WIDTH, batch_first=True) for _ in range(2))
        self.attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True) if attends else None
        self.output = nn.Linear(2 * WIDTH if attends else WIDTH, vocab)

    def step(self, tokens: Tensor, state: tuple[Tensor, ...], memory: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Logits at some positions [batch time vocab], and the state after them."""
        hidden, state = self.decoder(self.token(tokens), state)
        if self.attention is not None:
            hidden = torch.cat([self.attention(hidden, memory, memory, need_weights=False)[0], hidden], -1)
        return self.output(hidden), state

    def loss(self, batch: PairBatch) -> Tensor:
        """Mean cross-entropy in nats per target."""
        memory, state = self.encoder(self.token(batch.source.tokens))
        logits, _ = self.step(batch.target.tokens, state, memory)
        return F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())

    @torch.no_grad()
    def write(self, source: Tensor, start: int) -> None:
        """Generate the most probable token, `LENGTH` times."""
        memory, state = self.encoder(self.token(source))
        tokens = torch.full((len(source), 1), start)
        for _ in range(LENGTH):
            logits, state = self.step(tokens, state, memory)
            tokens = logits[:, -1].argmax(-1, keepdim=True)


def update(model: nn.Module, batch: PairBatch) -> Callable[[], None]:
    """A function that computes all gradients for a batch."""
    def run() -> None:
        model.zero_grad()
        model.loss(batch).backward()
    return run


def main(rounds: int) -> None:
    """Print the speed of an update and of generation for each model."""
    torch.set_num_threads(1)
    rng, vocab = Random(0), Vocabulary(len(Vocabulary(0).special) + WORDS)

    def text(length: int) -> list[int]:
        return [vocab.words[int(rng.random() * WORDS)] for _ in range(length)]

    batch = PairBatch.of([sequence_to_sequence(text(READ), text(WRITTEN), vocab=vocab) for _ in range(BATCH)], pad=0)
    config = Seq2SeqConfig(vocab.size, model=WIDTH)
    theirs = {"torch": Torch(vocab.size, False), "torch, attention": Torch(vocab.size, True)}
    ours = {"plmlab, without attention": Seq2Seq(config), "plmlab, dot": DotSeq2Seq(config),
            "plmlab, general": GeneralSeq2Seq(config), "plmlab, additive": AdditiveSeq2Seq(config),
            "plmlab, Transformer": Transformer(TransformerConfig(vocab.size, model=WIDTH, inner=4 * WIDTH, dropout=0.0,
                                                                 smoothing=0.0))}
    runners = {name: update(model, batch) for name, model in (theirs | ours).items()}
    print("\nAn update\n")
    print(table(race(runners, rounds=rounds), BATCH * (READ + WRITTEN)))
    start = torch.full((BATCH, 1), vocab.need("start"))

    def writes(model: nn.Module) -> Callable[[], object]:
        never_ends(model.eval(), vocab)
        return lambda: greedy(ConditionedDecoder(model, batch.source), start, vocab, length=LENGTH)

    written = {name: (lambda model=model: model.write(batch.source.tokens, vocab.need("start")))
               for name, model in theirs.items()} | {name: writes(model) for name, model in ours.items()}
    print("\nGeneration\n")
    print(table(race(written, rounds=rounds), BATCH * LENGTH))


@torch.no_grad()
def never_ends(model: nn.Module, vocab: Vocabulary) -> None:
    """Keep a model from predicting [END]."""
    if isinstance(model, Seq2Seq):
        model.output.bias[vocab.end] = -1e9
    else:
        model.token.weight[vocab.end] = 0.0


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 16)
