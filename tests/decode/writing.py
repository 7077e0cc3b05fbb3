"""Models to write with: one of whims, whose every distribution is known, and small ones of ours."""

import itertools

import torch

from plmlab.decode import UncachedLM
from plmlab.example import Batch, Example
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

VOCAB = Vocabulary(60)
SMALL = Vocabulary(4, None, None, None, None, None, None, end=3, sentinels=())


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def whims(seed: int, size: int = 4, sharp: float = 1.5) -> UncachedLM:
    """A model whose next-token logits are arbitrary, but the same for the same text."""
    def logits(texts):
        rows = [torch.randn(size, generator=seeded(hash((seed, *text)) % 2**31), dtype=torch.float64)
                for text in texts.tolist()]
        return sharp * torch.stack(rows)
    return UncachedLM(logits)


def true_logprob(model: UncachedLM, prompt: torch.Tensor, tokens: tuple[int, ...]) -> float:
    total = 0.0
    for i, token in enumerate(tokens):
        before = torch.cat([prompt, torch.tensor([tokens[:i]], dtype=torch.long)], dim=1)
        total += float(model.logits(before).log_softmax(-1)[0, token])
    return total


def every_text(size: int, end: int, length: int) -> list[tuple[int, ...]]:
    """All texts that end by ``end``, and those of full length that do not."""
    words = [token for token in range(size) if token != end]
    ended = [(*text, end) for n in range(length) for text in itertools.product(words, repeat=n)]
    return ended + list(itertools.product(words, repeat=length))


def a_gpt2(time: int = 24, seed: int = 0, kind: type[GPT] = GPT2) -> GPT:
    """In double precision, in which no two texts are closer than rounding."""
    torch.manual_seed(seed)
    model = kind(GPTConfig(VOCAB.size, time=time, layers=2, model=32, heads=4, dropout=0.0)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5 if parameter.dim() > 1 else 1)
    return model.double()


def without_cache(model: GPT) -> UncachedLM:
    def logits(texts):
        return model(Batch.causal(torch.cat([texts, texts[:, :1]], dim=1)))[:, -1]
    return UncachedLM(logits)


def a_source(*texts: list[int]) -> Batch:
    examples = []
    for tokens in map(torch.tensor, texts):
        place = torch.arange(len(tokens))[None]
        examples.append(Example(tokens, place, torch.zeros_like(tokens), Visibility.full(len(tokens)), tokens))
    return Batch.of(examples, pad=0)
