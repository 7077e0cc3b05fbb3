"""Chapter 06: does it help that any two positions are one step apart? And how many heads does it take?

Agreement over a distance, "the *plate* under the beds behind the white doors *is* wet", learned from the same text by a
Transformer and by LSTMs of the same size, deep and shallow (Vaswani et al. 2017, §4: the shorter the path between two
places, the easier to learn what joins them); and letters written backwards, with 1 to 8 heads of one total width.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.draws import below
from plmlab.example import IGNORE, Batch, Example, PairBatch
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import causal, sequence_to_sequence
from plmlab.recipes import spread
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.world.grammar.sentence import Sentence

SEEDS = (0, 1, 2)
PILOT = 9
"""The seed that the learning rates are chosen with; it is not used for the results."""
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
STEPS, EVERY = 1000, 50
KINDS = ("Transformer", "LSTM, 1 layer", "LSTM, 3 layers")
NEAR, FAR = range(3, 5), range(9, 13)
"""Words between the noun and its verb."""
LETTERS = 26
PREPOSITIONS = {"near", "beside", "behind", "under"}


def chains(split: str, seed: int, count: int) -> list[Sentence]:
    """Sentences of the Small World in which a chain of places parts a noun from its verb."""
    full = world.full()
    found = (words for words in full.text(split, seed) if is_chain(words))
    return [full.parse(words, split) for words in islice(found, count)]


def is_chain(words: Sequence[str]) -> bool:
    """Whether a sentence has the form "the NOUN near … is/are ADJECTIVE .", without a relative clause."""
    return (len(words) > 6 and words[0] == "the" and words[2] in PREPOSITIONS and "that" not in words
            and words[-3] in ("is", "are"))


@cache
def material() -> tuple[list[Sentence], list[Sentence], dict[str, int]]:
    """Sentences to learn from and to test on, none in both; and word → id for each of their English words."""
    learn, test = chains("train", 1, 4000), chains("test", 2, 1000)
    words = sorted({word for sentence in learn + test for word in sentence.words})
    first = Vocabulary(0).sentinels[-1] + 1
    return learn, test, {word: id for id, word in enumerate(words, first)}


def examples(sentences: Sequence[Sentence]) -> list[Example]:
    """The sentences as Examples, each slot to say the next word."""
    _, _, ids = material()
    vocab = Vocabulary(len(ids) + min(ids.values()))
    return [causal([ids[word] for word in sentence.words], vocab=vocab, rng=Random(0)) for sentence in sentences]


def reading(sentences: Sequence[Sentence]) -> Batch:
    """The batch of some sentences, each slot to say the next word."""
    return Batch.of(examples(sentences), pad=Vocabulary(0).need("pad"))


def lessons(seed: int) -> ExampleBatches:
    """Batches of 64 sentences to learn from, drawn with the seed."""
    learn, _, _ = material()
    return ExampleBatches(lambda rng: examples([learn[below(rng, len(learn))] for _ in range(64)]), seed,
                          Vocabulary(0).need("pad"))


class LSTM(nn.Module):
    """A recurrent language model: what it knows of a word ten steps back has passed through ten steps."""

    def __init__(self, vocab: int, width: int, layers: int) -> None:
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        nn.init.normal_(self.token.weight, std=0.1)
        self.steps = nn.LSTM(width, width, layers, batch_first=True)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The logits of the next word at each slot."""
        return F.linear(self.steps(self.token(batch.tokens))[0], self.token.weight)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats a target."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)


def build(kind: str, seed: int) -> nn.Module:
    """A decoder-only Transformer of two layers, or an LSTM: each about 122,000 parameters."""
    _, _, ids = material()
    size = max(ids.values()) + 1
    torch.manual_seed(seed)
    if kind == "Transformer":
        return GPT2(GPTConfig(size, time=32, layers=2, model=64, heads=4, dropout=0.0))
    return LSTM(size, width=104, layers=1) if kind == "LSTM, 1 layer" else LSTM(size, width=64, layers=3)


def agreement(model: nn.Module) -> dict[int, float]:
    """Distance in words → how often the right one of "is" and "are" gets the higher probability."""
    _, test, ids = material()
    right: dict[int, list[bool]] = defaultdict(list)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(reading(test))
    model.train(was_training)
    for row, sentence in enumerate(test):
        verb = len(sentence.words) - 3
        other = "are" if sentence.words[verb] == "is" else "is"
        better = logits[row, verb, ids[sentence.words[verb]]] > logits[row, verb, ids[other]]
        right[verb - 2].append(bool(better))
    return {distance: sum(told) / len(told) for distance, told in sorted(right.items())}


def within(told: dict[int, float], distances: range) -> float:
    """The mean agreement over the distances of a range that occur; ``told`` is what `agreement` gives."""
    return sum(told[d] for d in distances if d in told) / sum(d in told for d in distances)


def learn(kind: str, seed: int, lr: float, steps: int = STEPS, **options: Any,
          ) -> tuple[list[dict[int, float]], History]:
    """Train a model of one kind, and give its agreement after every ``EVERY`` steps, and the history of the run."""
    model, seen = build(kind, seed), []
    _, test, _ = material()

    def look() -> list[Batch]:
        seen.append(agreement(model))
        return [reading(test[:200])]
    history = fit(model, lessons(seed), steps=steps, lr=lr, warmup=50, decay="none", evaluate=look,
                  evaluate_every=EVERY, **options)
    return seen, history


def best_rate(kind: str) -> float:
    """The learning rate that learns fastest: the lowest mean validation loss over a run with the pilot seed."""
    def slowness(lr: float) -> float:
        _, history = learn(kind, PILOT, lr, show=False)
        return sum(loss for _, loss in history.validation) / len(history.validation)
    return min(RATES, key=slowness)


def reversals(batch: int = 64, low: int = 4, high: int = 12) -> Callable[[int], PairBatch]:
    """A function from the step to its batch: letters drawn alike, and the same backwards. The best loss is 0."""
    vocab = Vocabulary(len(Vocabulary(0).special) + LETTERS)

    def draw(step: int) -> PairBatch:
        rng = Random(f"backwards {step}")
        texts = [[vocab.words[below(rng, LETTERS)] for _ in range(low + below(rng, high - low + 1))]
                 for _ in range(batch)]
        return PairBatch.of([sequence_to_sequence(text, text[::-1], vocab=vocab) for text in texts], pad=0)
    return draw


def backwards(heads: int, seed: int, steps: int = 200) -> float:
    """The loss on new letters, in nats a token, of a Transformer that has learned to reverse
    them for ``steps`` steps."""
    torch.manual_seed(seed)
    size = len(Vocabulary(0).special) + LETTERS
    model = Transformer(TransformerConfig(size, layers=1, heads=heads, dropout=0.0, smoothing=0.0))
    draw = reversals()
    held_out = [draw(-1 - i) for i in range(4)]
    history = fit(model, draw, steps=steps, lr=6e-3, warmup=50, evaluate=held_out, evaluate_every=steps, show=False)
    return history.validation[-1][1]


def compare(kind: str) -> dict[str, Any]:
    """How one kind learns: its agreement "near" and "far", step by step, each with its spread over the seeds; and its
    learning rate, parameters and steps a second."""
    lr = best_rate(kind)
    runs = {seed: learn(kind, seed, lr, show=False) for seed in SEEDS}
    curves = {
        name: [spread({seed: within(seen[i], reach) for seed, (seen, _) in runs.items()})
               for i in range(STEPS // EVERY)]
        for name, reach in (("near", NEAR), ("far", FAR))
    }
    return curves | {
        "lr": lr, "parameters": sum(p.numel() for p in build(kind, 0).parameters()),
        "steps a second": spread({seed: STEPS / (h.seconds - h.overhead) for seed, (_, h) in runs.items()}),
    }


def main() -> dict[str, Any]:
    """What chapter 06 records: agreement near and far, step by step, and the loss by the number of heads."""
    return {
        "steps": list(range(EVERY, STEPS + 1, EVERY)),
        "agreement": {kind: compare(kind) for kind in KINDS},
        "heads": {str(heads): spread({seed: backwards(heads, seed) for seed in SEEDS}) for heads in (1, 2, 4, 8)},
    }
