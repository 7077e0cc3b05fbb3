"""The loss on the blanks of rows, and its floor: the sum of −log p over all predicted words and ends, divided by their
number.
"""

from collections.abc import Mapping, Sequence
from math import fsum, log
from random import Random
from statistics import fmean

import torch
from torch import nn

from plmlab import world
from plmlab.chapters.ch12.blank_arms import Arm
from plmlab.chapters.ch12.blank_test_set import Fillings, Row, encoded, filling_probs, how_drawn
from plmlab.example import IGNORE, Batch
from plmlab.objectives.blanks import blank_infilling
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.automaton import END
from plmlab.world.probability.infilling import infilling


def order_of(row: Row, ordered: bool) -> Sequence[int]:
    """The order in which a row's blanks are filled."""
    return range(len(row.spans)) if ordered else row.order


def token_and_end_loss(ends: Sequence[bool], over: Sequence[float], said: Sequence[float], blanks: int) -> dict[str,
                                                                                                                float]:
    """Return the loss per word or end (``nats``), and the loss of the binary decision between word and end, per blank
    (``ends``). The arguments hold, for each target: whether it is an end, the probability assigned to an end there, and
    the probability assigned to the target."""
    right = [chance if end else max(1 - chance, word) for end, chance, word in zip(ends, over, said, strict=True)]
    return {"nats": -fmean(map(log, said)), "ends": -sum(map(log, right)) / blanks}


@torch.no_grad()
def losses_of(model: nn.Module, arm: Arm, asked: Sequence[Row], ordered: bool) -> dict[str, float]:
    """The loss of a variant on the blanks of rows, in nats: both values of `token_and_end_loss`."""
    vocab, ends, over, target_probs = small_world_tokenizer().vocab, list[bool](), list[float](), list[float]()
    for begin in range(0, len(asked), 100):
        batch = Batch.of([arm.shown(blank_infilling(
            encoded(row.words), vocab=vocab, rng=Random(0), spans=row.spans,
            order=order_of(row, ordered)), None) for row in asked[begin:begin + 100]], pad=vocab.need("pad"))
        hidden = batch.targets != IGNORE
        probs, targets = model(batch)[hidden].double().softmax(-1), batch.targets[hidden]
        ends += (targets == vocab.need("end")).tolist()
        over += probs[:, vocab.need("end")].tolist()
        target_probs += probs.gather(1, targets[:, None])[:, 0].tolist()
    return token_and_end_loss(ends, over, target_probs, sum(len(row.spans) for row in asked))


def floor(asked: Sequence[Row], ordered: bool, length_known: bool) -> dict[str, float]:
    """The entropy lower bounds of these losses and of the loss on ``lengths``; with ``length_known``, given positions
    in the whole text."""
    automaton, ends, over, target_probs = world.small().automaton("test"), list[bool](), list[float](), list[float]()
    for row in asked:
        order = order_of(row, ordered)
        words = [word for blank in order for word in (*row.fillings[blank], END)]
        posteriors = infilling(automaton, row.words, row.spans, order, how_drawn(row, length_known))
        ends += [word == END for word in words]
        over += [posterior.get(END, 0.0) for posterior in posteriors]
        target_probs += [posterior[word] for posterior, word in zip(posteriors, words, strict=True)]
    return {**token_and_end_loss(ends, [min(chance, 1.0) for chance in over], target_probs,
                                 sum(len(row.spans) for row in asked)),
            "lengths": fmean(right_lengths(row, filling_probs(row, length_known)) for row in asked)}


def right_lengths(row: Row, shares: Mapping[Fillings, float]) -> float:
    """−log of the total probability of the fillings with the correct lengths."""
    hidden = [*map(len, row.fillings)]
    return -log(fsum(share for way, share in shares.items() if [*map(len, way)] == hidden))
