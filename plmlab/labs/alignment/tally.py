"""Statistics over many texts: how a prediction changes if the attention moves to the aligned word or to another one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from plmlab.decode import ConditionedDecoder
from plmlab.draws import choice, shuffled
from plmlab.example import Batch
from plmlab.interpret.alignments import ACROSS, mean_attention
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene, watch
from plmlab.objectives import sequence_to_sequence
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.world import World
from plmlab.world.datasets.passages import Passage, passages

TEXTS, SEED = 100, 7
LENGTHS = range(5, 41)
MOST = 300
"""The maximum number of words of a kind to intervene on, sampled from all of them."""
ROWS = 128


@dataclass(frozen=True)
class Case:
    """A target word at ``step`` of a text, aligned with the source position ``partner``."""

    text: int
    step: int
    partner: int


@dataclass(frozen=True)
class Predictions:
    """A model's predictions under teacher forcing, ``[batch time]`` each: the most probable word (``best``), the
    log-probability of the correct word in nats (``right``), and the source position with the largest weight
    (``attended``)."""

    best: Tensor
    right: Tensor
    attended: Tensor


def tally(model: nn.Module, tokenizer: Tokenizer, world: World, split: str = "test", *, texts: int = TEXTS,
          lengths: range = LENGTHS, seed: int = SEED) -> dict[str, Any]:
    """Move the attention in ``texts`` passages under teacher forcing, and count the changed predictions.

    Returns a JSON-serializable dict, deterministic for a given seed. ``words`` counts the words with a gold link,
    ``wrong`` the wrong predictions among them, and ``missed`` those wrong predictions whose largest weight is not on
    the aligned word. If the attention of a missed word moves to the aligned word, the prediction becomes correct
    (``fixed``), or the correct word becomes more (``closer``) or less (``worse``) likely; ``other`` counts the
    predictions that become correct if the attention moves to a random other word. ``stay`` counts the correct
    predictions (``right``) that stay correct if the attention moves to a random other word.
    """
    rng = Random(seed)
    sampled = list(islice(passages(world, split, rng, lengths), texts))
    pairs = [(tokenizer.encode(" ".join(one.english), plain=True), tokenizer.encode(" ".join(one.chinese), plain=True))
             for one in sampled]
    cases = [Case(text, step, partner) for text, one in enumerate(sampled) for step, partner in one.partners]
    free = predictions(model, pairs, tokenizer.vocab)
    right = [case for case in cases if free.best[case.text, case.step] == pairs[case.text][1][case.step]]
    wrong = [case for case in cases if case not in set(right)]
    missed = _some([case for case in wrong if free.attended[case.text, case.step] != case.partner], rng)
    some = _some(right, rng)
    moved = _outcomes(model, pairs, tokenizer.vocab, missed, [case.partner for case in missed])
    astray = _outcomes(model, pairs, tokenizer.vocab, missed, [_another(case, sampled, rng) for case in missed])
    shaken = _outcomes(model, pairs, tokenizer.vocab, some, [_another(case, sampled, rng) for case in some])
    before = [float(free.right[case.text, case.step]) for case in missed]
    closer = [now > then for (said, now), then in zip(moved, before, strict=True) if not said]
    return {
        "texts": len(sampled), "words": len(cases), "wrong": len(wrong),
        "missed": {"count": len(missed), "fixed": sum(said for said, _ in moved), "closer": sum(closer),
                   "worse": len(closer) - sum(closer), "other": sum(said for said, _ in astray)},
        "right": {"count": len(some), "stay": sum(said for said, _ in shaken)},
    }


def predictions(model: nn.Module, pairs: Sequence[tuple[list[int], list[int]]], vocab: Vocabulary,
                moves: Sequence[tuple[int, int]] | None = None) -> Predictions:
    """A model's predictions under teacher forcing for (source, target) ``pairs``. ``moves`` gives one (step, position)
    per pair: at that step, all attention moves to that source position."""
    source = Batch.of([sequence_to_sequence(one, [], vocab=vocab).source for one, _ in pairs], pad=vocab.need("pad"))
    length = max(len(target) for _, target in pairs)
    targets = torch.tensor([[*target, *[vocab.need("end")] * (length - len(target))] for _, target in pairs])
    steps = torch.tensor([step for step, _ in moves] if moves else [-1] * len(pairs))
    positions = torch.tensor([position for _, position in moves] if moves else [0] * len(pairs))
    step = 0

    def move(weights: Tensor) -> Tensor:
        rows = (steps == step).nonzero()[:, 0]
        if not len(rows):
            return weights
        changed = weights.clone()
        changed[rows] = 0
        changed[rows, ..., positions[rows]] = 1
        return changed

    best, right = [], []
    with inference(model), watch(model, ACROSS) as seen, intervene(model, {ACROSS: move}):
        given = ConditionedDecoder(model, source)
        state = given.start()
        read = torch.full((len(pairs), 1), vocab.need("start"))
        for step in range(length):
            ahead = given.step(read, state).log_softmax(-1)
            read = targets[:, step:step + 1]
            best.append(ahead.argmax(-1))
            right.append(ahead.gather(1, read)[:, 0])
    return Predictions(torch.stack(best, 1), torch.stack(right, 1), mean_attention(seen).argmax(-1))


def _outcomes(model: nn.Module, pairs: Sequence[tuple[list[int], list[int]]], vocab: Vocabulary, cases: Sequence[Case],
              positions: Sequence[int]) -> list[tuple[bool, float]]:
    """For each case, with its attention moved to the given position: whether the prediction is correct, and the
    log-probability of the correct word."""
    outcomes = []
    for first in range(0, len(cases), ROWS):
        some, to = cases[first:first + ROWS], positions[first:first + ROWS]
        chosen = [(pairs[case.text][0], pairs[case.text][1][:case.step + 1]) for case in some]
        predicted = predictions(model, chosen, vocab,
                                [(case.step, position) for case, position in zip(some, to, strict=True)])
        outcomes += [(int(predicted.best[row, case.step]) == pairs[case.text][1][case.step],
                      float(predicted.right[row, case.step])) for row, case in enumerate(some)]
    return outcomes


def _some(cases: Sequence[Case], rng: Random) -> list[Case]:
    return shuffled(rng, cases)[:MOST]


def _another(case: Case, texts: Sequence[Passage], rng: Random) -> int:
    """A random source position other than the aligned one."""
    return choice(rng, [position for position in range(len(texts[case.text].english)) if position != case.partner])
